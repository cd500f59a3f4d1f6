package import Domain

/// Days of an outlet that follow one another. Each lasts until the next one begins: 23 or 25 hours where clocks change.
package struct BusinessDays: Sendable {
    /// The most days at once.
    package static let maximum = 100
    /// The most days at once that are divided into hours.
    package static let maximumWithHours = 7

    /// What they can be divided into.
    enum Part: String, CaseIterable, Sendable { case hour }

    /// The days.
    package let days: [CalendarDay]
    /// When each begins, and when the last one ends.
    package let moments: [Timestamp]

    /// - Parameter start: the minute after midnight at which a day begins.
    package init(from first: CalendarDay, through last: CalendarDay, startingAt start: Int, in rules: ZoneRules) {
        days = (first.number...last.number).map(CalendarDay.init)
        moments = (first.number...last.number + 1).map { rules.moment(atLocal: $0 * 86_400 + Int64(start) * 60) }
    }

    /// When each hour of a day begins, and when the last one ends: that one is shorter where clocks change by less.
    func hours(ofDay index: Int) -> [Timestamp] {
        let (begins, ends) = (moments[index].millisecondsSinceEpoch, moments[index + 1].millisecondsSinceEpoch)
        return stride(from: begins, to: ends, by: 3_600_000).map(Timestamp.init(millisecondsSinceEpoch:))
            + [moments[index + 1]]
    }

    /// The day that a moment is in; nil beyond all calendars.
    package init?(of moment: Timestamp, startingAt start: Int, in rules: ZoneRules) {
        // Clocks are at most a day ahead of UTC or behind it, and a day begins within its own.
        guard let today = CalendarDay(Text(String(moment.rfc3339.prefix(10)))) else { return nil }
        for days in -2...1 {
            let day = today.advanced(by: days)
            let candidate = BusinessDays(from: day, through: day, startingAt: start, in: rules)
            guard candidate.moments[0] <= moment, moment < candidate.moments[1] else { continue }
            self = candidate
            return
        }
        return nil
    }
}
