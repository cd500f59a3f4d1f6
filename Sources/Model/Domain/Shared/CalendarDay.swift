/// A day of the calendar.
public struct CalendarDay: Hashable, Comparable, Sendable {
    private static let milliseconds: Int64 = 86_400_000

    /// Days since 1970-01-01.
    public let number: Int64

    /// A day as `2026-11-26`; nil where there is no such day.
    public init?(_ text: Text) {
        guard text.utf8.count == 10, let midnight = Timestamp(rfc3339: text.string + "T00:00:00Z") else { return nil }
        number = midnight.millisecondsSinceEpoch / CalendarDay.milliseconds
    }

    /// The day so many days after 1970-01-01.
    public init(number: Int64) { self.number = number }

    /// The day so many days later.
    public func advanced(by days: Int) -> CalendarDay { CalendarDay(number: number + Int64(days)) }

    /// Which day of the week it is.
    public var weekday: OpeningHours.Day {
        // 1970 began on a Thursday.
        let all = OpeningHours.Day.allCases
        return all[Int((number % 7 + 10) % 7)]
    }

    /// The day as `2026-11-26`.
    public var text: String {
        String(Timestamp(millisecondsSinceEpoch: number * CalendarDay.milliseconds).rfc3339.prefix(10))
    }

    /// Orders by time.
    public static func < (a: CalendarDay, b: CalendarDay) -> Bool { a.number < b.number }
}
