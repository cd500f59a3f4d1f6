/// A part of the day in which some of a menu can be had, such as breakfast.
public struct Daypart: Equatable, Sendable {
    /// The most of an outlet.
    public static let maximumCount = 20

    /// Unique among the outlet's dayparts.
    public var id: Identifier
    /// When it is on.
    public var hours: [OpeningHours]

    /// A daypart with its hours.
    public init(id: Identifier, hours: [OpeningHours]) {
        self.id = id
        self.hours = hours
    }
}

extension OutletDetails {
    /// Whether it says the same of itself as others, at whatever time of the day.
    public func isSame(as other: OutletDetails) -> Bool {
        var other = other
        other.daypartTimes = daypartTimes
        return self == other
    }
}

/// Which dayparts are on at some moment, and when the others begin.
public struct DaypartTimes: Equatable, Sendable {
    /// A daypart that is not on.
    public struct Later: Equatable, Sendable {
        /// The daypart.
        public var id: Identifier
        /// When it begins; nil if that is not within a year.
        public var begins: Timestamp?

        /// A daypart that begins at a moment, if ever.
        public init(_ id: Identifier, begins: Timestamp?) {
            self.id = id
            self.begins = begins
        }
    }

    /// There are none, or nothing is known of them yet: then each counts as on.
    public static let none = DaypartTimes()

    /// Those that are on.
    public var active: [Identifier]
    /// Those that are not.
    public var later: [Later]

    /// Dayparts that are on, and others.
    public init(active: [Identifier] = [], later: [Later] = []) {
        self.active = active
        self.later = later
    }

    /// Until when what is had in a daypart cannot be had; nil while it can.
    public func suspension(of daypart: Identifier?) -> MenuState.Suspension? {
        guard !later.isEmpty, let daypart else { return nil }
        return later.first { $0.id == daypart }.map { MenuState.Suspension(until: $0.begins) }
    }

    /// Forgets all but these.
    mutating func keep(_ dayparts: [Identifier]) {
        active.removeAll { !dayparts.contains($0) }
        later.removeAll { !dayparts.contains($0.id) }
    }

    /// Whether it says something of these dayparts alone, and of each once.
    func isOf(_ dayparts: [Daypart]) -> Bool {
        let ids = active + later.map(\.id)
        return Set(ids).count == ids.count && ids.allSatisfy { id in dayparts.contains { $0.id == id } }
    }
}
