/// A period of some day, by an outlet's clocks.
public struct OpeningPeriod: Hashable, Sendable {
    /// Minutes after midnight at which it starts, 0–1,439.
    public let opens: Int
    /// Minutes after midnight at which it ends, 1–2,880: past 1,440 it ends on the next day.
    public let closes: Int

    /// A period, or nil where it does not end after it starts, within a day.
    public init?(opens: Int, closes: Int) {
        guard (0..<1_440).contains(opens), closes > opens, closes - opens <= 1_440 else { return nil }
        self.opens = opens
        self.closes = closes
    }
}

/// One period of the week in which an outlet usually serves, in the outlet's time zone.
public struct OpeningHours: Hashable, Sendable {
    /// A day of the week.
    public enum Day: String, CaseIterable, Sendable {
        case monday, tuesday, wednesday, thursday, friday, saturday, sunday
    }

    /// The day it starts on.
    public let day: Day
    /// When it is on that day.
    public let period: OpeningPeriod

    /// A period of a day of the week.
    public init(_ day: Day, _ period: OpeningPeriod) {
        self.day = day
        self.period = period
    }

    /// The same, or nil where it does not end after it starts, within a day.
    public init?(day: Day, opens: Int, closes: Int) {
        guard let period = OpeningPeriod(opens: opens, closes: closes) else { return nil }
        self.init(day, period)
    }

    /// Minutes after midnight at which it starts.
    public var opens: Int { period.opens }
    /// Minutes after midnight at which it ends.
    public var closes: Int { period.closes }
}
