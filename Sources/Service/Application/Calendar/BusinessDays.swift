package import Domain

/// A day of the calendar.
package struct CalendarDay: Comparable, Sendable {
    private static let milliseconds: Int64 = 86_400_000

    /// Days since 1970-01-01.
    package let number: Int64

    /// A day as `2026-11-26`; nil where there is no such day.
    package init?(_ text: Text) {
        guard text.utf8.count == 10, let midnight = Timestamp(rfc3339: text.string + "T00:00:00Z") else { return nil }
        number = midnight.millisecondsSinceEpoch / CalendarDay.milliseconds
    }

    fileprivate init(number: Int64) { self.number = number }

    /// The day so many days later.
    package func advanced(by days: Int) -> CalendarDay { CalendarDay(number: number + Int64(days)) }

    /// The day as `2026-11-26`.
    package var text: String {
        String(Timestamp(millisecondsSinceEpoch: number * CalendarDay.milliseconds).rfc3339.prefix(10))
    }

    package static func < (a: CalendarDay, b: CalendarDay) -> Bool { a.number < b.number }
}

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
