package import Domain

// What an outlet's clocks make of its hours and dayparts.

/// What an outlet's hours say at a moment, and when they say something else.
package struct HoursNow: Equatable {
    /// Whether they have it open.
    package let isOpen: Bool
    /// When they open it, if they have it closed; nil if not within a year.
    package let opensAt: Timestamp?
    /// Which dayparts are on.
    package let dayparts: DaypartTimes
    /// When any of this is otherwise; nil if not within a year.
    package let changes: Timestamp?
}

extension OutletDetails {
    /// The hours of orders that are had in a way: its own, or else the outlet's. Special days are the same for all.
    package func times(of service: ServiceKind? = nil, in rules: ZoneRules) -> OpeningTimes {
        OpeningTimes(hours: service.flatMap { services[$0]?.hours } ?? hours, specialDays: specialDays, in: rules)
    }

    /// What its hours say at a moment.
    package func hours(at now: Timestamp, in rules: ZoneRules) -> HoursNow {
        let times = times(in: rules)
        let (isOpen, next) = (times.isOpen(at: now), times.nextChange(after: now))
        var changes = follows == .hours ? next : nil
        let dayparts = daypartTimes(at: now, in: rules) { moment in
            changes = [changes, moment].compactMap(\.self).min()
        }
        return HoursNow(isOpen: isOpen, opensAt: isOpen ? nil : next, dayparts: dayparts, changes: changes)
    }

    /// Which dayparts are on at a moment.
    package func daypartTimes(at moment: Timestamp, in rules: ZoneRules) -> DaypartTimes {
        daypartTimes(at: moment, in: rules) { _ in }
    }

    private func daypartTimes(
        at moment: Timestamp, in rules: ZoneRules, noting note: (_ change: Timestamp?) -> Void
    ) -> DaypartTimes {
        var result = DaypartTimes.none
        for daypart in dayparts {
            let times = OpeningTimes(hours: daypart.hours, in: rules)
            let next = times.nextChange(after: moment)
            note(next)
            if times.isOpen(at: moment) {
                result.active.append(daypart.id)
            } else {
                result.later.append(DaypartTimes.Later(daypart.id, begins: next))
            }
        }
        return result
    }

    /// What outlets' hours and slots say of times; nil where a time zone is not known.
    ///
    /// - Parameters:
    ///   - rules: those of a time zone.
    ///   - taken: how many orders a slot has.
    package static func hours(
        at now: Timestamp, rules: @escaping (_ zone: Text) -> ZoneRules?, taken: @escaping (Timestamp) -> Int64
    ) -> HoursSource {
        { details, service, time in
            rules(details.timeZone).map { details.answer(of: service, for: time, at: now, in: $0, taken: taken) }
        }
    }

    /// What its hours say of a time that an order is wanted for.
    ///
    /// - Parameter taken: how many orders a slot has. It is only asked where there is a most.
    package func answer(
        of service: ServiceKind?, for time: Timestamp, at now: Timestamp, in rules: ZoneRules,
        taken: (Timestamp) -> Int64
    ) -> HoursAnswer {
        let times = times(of: service, in: rules)
        let isOpen = times.isOpen(at: time)
        var answer = HoursAnswer(
            now: now, end: endOfOrders(at: now, in: rules), isOpen: isOpen,
            opensAt: isOpen ? nil : times.nextChange(after: time))
        guard isOpen, let slots else { return answer }
        answer.isSlot = times.slots(on: rules.day(at: time), every: slots.minutes).contains(time)
        answer.isFull = left(in: time, taken: taken) == 0
        if !answer.isSlot || answer.isFull {
            answer.nextSlot = nextSlot(after: time, of: service, before: answer.end, in: rules, taken: taken)
        }
        return answer
    }

    /// How many orders a slot still takes; nil for any number.
    package func left(in slot: Timestamp, taken: (Timestamp) -> Int64) -> Int64? {
        slots?.orders.map { max(0, Int64($0) - taken(slot)) }
    }

    /// The first slot with room after a time.
    package func nextSlot(
        after time: Timestamp, of service: ServiceKind?, before end: Timestamp, in rules: ZoneRules,
        taken: (Timestamp) -> Int64
    ) -> Timestamp? {
        guard let slots else { return nil }
        let (times, day) = (times(of: service, in: rules), rules.day(at: time))
        for days in 0...orderAheadDays {
            for slot in times.slots(on: day.advanced(by: days), every: slots.minutes)
            where slot > time && slot < end && left(in: slot, taken: taken) != 0 {
                return slot
            }
        }
        return nil
    }

    /// The moment before which orders can be wanted: the end of the last day.
    package func endOfOrders(at now: Timestamp, in rules: ZoneRules) -> Timestamp {
        rules.moment(atLocal: (rules.day(at: now).number + Int64(orderAheadDays) + 1) * 86_400)
    }
}
