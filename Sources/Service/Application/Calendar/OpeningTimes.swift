package import Domain

/// When an outlet is open by its hours.
///
/// Both ends of a period become moments by themselves. Where clocks are put back, a period begins when they show its
/// beginning first, and ends when they show its end last.
package struct OpeningTimes {
    /// How many days ahead a change is looked for, first and then.
    private static let horizons: [Int64] = [1, 8, 64, 370]

    private let hours: [OpeningHours.Day: [OpeningHours]]
    private let specialDays: [CalendarDay: [OpeningPeriod]]
    private let rules: ZoneRules

    /// - Parameters:
    ///   - specialDays: days with other hours.
    ///   - rules: those of the outlet's time zone.
    package init(
        hours: [OpeningHours], specialDays: [OutletDetails.SpecialDay] = [], in rules: ZoneRules
    ) {
        self.hours = Dictionary(grouping: hours, by: \.day)
        self.specialDays = Dictionary(specialDays.map { ($0.day, $0.hours) }) { $1 }
        self.rules = rules
    }

    /// Whether it is open at a moment.
    package func isOpen(at moment: Timestamp) -> Bool {
        periods(near: rules.day(at: moment), days: 0).contains { $0.contains(moment) }
    }

    /// When that changes next; nil if it does not within a year. One that is always open may be said to change.
    package func nextChange(after moment: Timestamp) -> Timestamp? {
        let today = rules.day(at: moment)
        for days in OpeningTimes.horizons {
            for period in periods(near: today, days: days) {
                if period.contains(moment) { return period.upperBound }
                if period.lowerBound > moment { return period.lowerBound }
            }
        }
        return nil
    }

    /// The slots of a day, in their order: the opening of each period, and then every so many minutes of real time until
    /// it closes. What clocks show twice has slots twice.
    package func slots(on day: CalendarDay, every minutes: Int) -> [Timestamp] {
        var slots: Set<Timestamp> = []
        for period in spans(near: day, days: 0) {
            var slot = period.lowerBound
            while slot < period.upperBound {
                if rules.day(at: slot) == day { slots.insert(slot) }
                slot = slot.adding(seconds: minutes * 60)
            }
        }
        return slots.sorted()
    }

    /// The periods that begin shortly before a day, or within so many days of it, as they follow one another. Those that
    /// touch are one.
    private func periods(near day: CalendarDay, days: Int64) -> [Range<Timestamp>] {
        spans(near: day, days: days).sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, period in
            if let last = merged.last, period.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, period.upperBound)
            } else {
                merged.append(period)
            }
        }
    }

    /// The same, each by itself.
    private func spans(near day: CalendarDay, days: Int64) -> [Range<Timestamp>] {
        var all: [Range<Timestamp>] = []
        // A period can last into the second day.
        for number in day.number - 2...day.number + days {
            let day = CalendarDay(number: number)
            for period in specialDays[day] ?? hours[day.weekday]?.map(\.period) ?? [] {
                func moment(_ minutes: Int, last: Bool) -> Timestamp {
                    rules.moment(atLocal: number * 86_400 + Int64(minutes) * 60, last: last)
                }
                let (opens, closes) = (moment(period.opens, last: false), moment(period.closes, last: true))
                if opens < closes { all.append(opens..<closes) }
            }
        }
        return all
    }
}
