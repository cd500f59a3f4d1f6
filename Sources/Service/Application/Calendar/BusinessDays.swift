package import Domain

/// Days of an outlet that follow one another. Each lasts until the next one begins: 23 or 25 hours where clocks change.
package struct BusinessDays: Sendable {
    /// The most days at once.
    package static let maximum = 100

    /// The days.
    package let days: [CalendarDay]
    /// When each begins, and when the last one ends.
    package let moments: [Timestamp]

    /// - Parameter start: the minute after midnight at which a day begins.
    package init(from first: CalendarDay, through last: CalendarDay, startingAt start: Int, in rules: ZoneRules) {
        days = (first.number...last.number).map(CalendarDay.init)
        moments = (first.number...last.number + 1).map { rules.moment(atLocal: $0 * 86_400 + Int64(start) * 60) }
    }
}
