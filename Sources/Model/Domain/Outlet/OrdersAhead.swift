/// What an outlet's hours say of a time that an order is wanted for. Domain knows no time zones, so it comes from
/// outside.
public struct HoursAnswer: Equatable, Sendable {
    /// When it was asked for.
    public var now: Timestamp
    /// The moment before which orders can be wanted: the end of the last day.
    public var end: Timestamp
    /// Whether it is open at the time.
    public var isOpen: Bool
    /// When it opens after the time, if it is not open then.
    public var opensAt: Timestamp?
    /// Whether the time is a slot's, or there are none.
    public var isSlot: Bool
    /// The first slot after the time.
    public var nextSlot: Timestamp?

    /// An answer.
    public init(
        now: Timestamp, end: Timestamp, isOpen: Bool, opensAt: Timestamp? = nil, isSlot: Bool = true,
        nextSlot: Timestamp? = nil
    ) {
        self.now = now
        self.end = end
        self.isOpen = isOpen
        self.opensAt = opensAt
        self.isSlot = isSlot
        self.nextSlot = nextSlot
    }
}

/// What an outlet's hours say of a time, for orders that are had in a way; nil where its time zone is not known.
public typealias HoursSource = (_ details: OutletDetails, _ service: ServiceKind?, _ time: Timestamp) -> HoursAnswer?

/// A time that an order is wanted for, with the dayparts that are on then.
public struct TimeAhead: Equatable, Sendable {
    /// The time.
    public var time: Timestamp
    /// The dayparts at that time.
    public var dayparts: DaypartTimes

    /// A time with its dayparts.
    public init(_ time: Timestamp, _ dayparts: DaypartTimes = .none) {
        self.time = time
        self.dayparts = dayparts
    }
}

extension OutletDetails {
    /// Rejects a time that no order can be had at, naming it.
    ///
    /// - Parameters:
    ///   - service: how the order is had; nil where there is nothing to choose.
    ///   - answer: what the hours say of the time; nil where that cannot be known.
    func check(
        _ time: Timestamp, for service: ServiceKind?, _ answer: HoursAnswer?
    ) throws(Rejection) {
        guard orderAheadDays > 0, follows == .hours else {
            throw .invalid(.wanted, "the outlet takes no orders for later")
        }
        guard let answer else { throw .invalid(.wanted, "the time zone \(timeZone) is not known here") }
        guard time > answer.now else { throw .invalid(.wanted, "must lie in the future") }
        let minutes = prepMinutes(for: service) ?? 0
        guard time >= answer.now.adding(minutes: minutes) else {
            throw .invalid(.wanted, "must lie at least \(minutes) minutes ahead, which the kitchen needs")
        }
        guard time < answer.end else {
            throw .invalid(
                .wanted, "must not lie more than \(orderAheadDays) \(orderAheadDays == 1 ? "day" : "days") ahead")
        }
        guard answer.isOpen else {
            throw Rejection(
                .closed,
                "the outlet is closed then"
                    + (answer.opensAt.map { "; it opens at \($0.rfc3339)" } ?? ", and does not open within a year"),
                about: .wanted)
        }
        guard answer.isSlot else {
            throw Rejection(
                .noSlot, "no slot begins then" + (answer.nextSlot.map { "; the next one is \($0.rfc3339)" } ?? ""),
                about: .wanted)
        }
    }

    /// Why no order can be had at a time; nil if it can, or if no time is wanted.
    public func refusal(of time: Timestamp?, for service: ServiceKind?, _ hours: HoursSource) -> Rejection? {
        guard let time else { return nil }
        do throws(Rejection) {
            try check(time, for: service, hours(self, service, time))
            return nil
        } catch {
            return error
        }
    }

    /// Rejects times, slots and dayparts out of range, naming the field.
    func validateTimes() throws(Rejection) {
        try Self.check(orderAheadDays, "orderAheadDays", 0...OutletDetails.maximumDaysAhead)
        if orderAheadDays > 0 {
            guard follows == .hours else {
                throw .invalid("orderAheadDays", "needs an outlet that follows its hours")
            }
            guard !services.isEmpty else {
                throw .invalid("orderAheadDays", "needs services, as a cart's time comes with its service")
            }
        }
        if let slots {
            guard orderAheadDays > 0 else { throw .invalid("slots", "needs orderAheadDays") }
            try Self.check(slots.minutes, "slots.minutes", Slots.minutes)
        }
        guard dayparts.count <= Daypart.maximumCount else {
            throw .invalid("dayparts", "must have at most \(Daypart.maximumCount) entries")
        }
        for (index, daypart) in dayparts.enumerated() {
            guard !dayparts[..<index].contains(where: { $0.id == daypart.id }) else {
                throw .invalid("dayparts[\(index)].id", "'\(daypart.id)' is used by another daypart")
            }
            guard !daypart.hours.isEmpty else { throw .invalid("dayparts[\(index)].hours", "must have an entry") }
            try Self.check(daypart.hours.count, "dayparts[\(index)].hours")
        }
    }
}
