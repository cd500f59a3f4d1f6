import Domain
import Testing

@testable import Application

@Suite("Hours that an outlet follows")
struct OpeningTimesTests {
    private static func time(_ text: String) -> Timestamp { Timestamp(rfc3339: text)! }

    private static func details(
        _ zone: Text, _ hours: [OpeningHours], special: [OutletDetails.SpecialDay] = []
    ) -> OutletDetails {
        OutletDetails(
            name: "O", currency: Currency("EUR")!, timeZone: zone, hours: hours, specialDays: special, follows: .hours)
    }

    /// When an outlet opens and closes, from one moment to another.
    private static func changes(_ details: OutletDetails, from: String, until: String) -> [String] {
        let times = details.times(in: ZoneRules(details.timeZone)!)
        var changes: [String] = []
        var now = time(from)
        while let next = times.nextChange(after: now), next < time(until) {
            #expect(
                times.isOpen(at: next)
                    != times.isOpen(at: Timestamp(millisecondsSinceEpoch: next.millisecondsSinceEpoch - 1)))
            changes.append((times.isOpen(at: next) ? "opens " : "closes ") + next.rfc3339)
            now = next
        }
        return changes
    }

    private static func every(_ opens: Int, _ closes: Int) -> [OpeningHours] {
        OpeningHours.Day.allCases.map { OpeningHours(day: $0, opens: opens, closes: closes)! }
    }

    @Test(
        arguments: [
            // Clocks go from 2:00 to 3:00 in that night: it is open for four hours, not five.
            (
                "Europe/Berlin", [OpeningHours(day: .saturday, opens: 22 * 60, closes: 27 * 60)!], "2026-03-28",
                ["opens 2026-03-28T21:00:00Z", "closes 2026-03-29T01:00:00Z"]
            ),
            // And from 3:00 to 2:00 in this one: until it is 3:00 for the last time.
            (
                "Europe/Berlin", [OpeningHours(day: .saturday, opens: 22 * 60, closes: 27 * 60)!], "2026-10-24",
                ["opens 2026-10-24T20:00:00Z", "closes 2026-10-25T02:00:00Z"]
            ),
            // It is 1:45 twice: open from the first until the last 1:50.
            (
                "Australia/Lord_Howe", [OpeningHours(day: .sunday, opens: 105, closes: 110)!], "2026-04-04",
                ["opens 2026-04-04T14:45:00Z", "closes 2026-04-04T15:20:00Z"]
            ),
            // It is never 2:15, so it opens when it is 2:30.
            (
                "Australia/Lord_Howe", [OpeningHours(day: .sunday, opens: 135, closes: 180)!], "2026-10-03",
                ["opens 2026-10-03T15:30:00Z", "closes 2026-10-03T16:00:00Z"]
            ),
            // There was no midnight.
            (
                "America/Sao_Paulo", [OpeningHours(day: .sunday, opens: 0, closes: 120)!], "2018-11-03",
                ["opens 2018-11-04T03:00:00Z", "closes 2018-11-04T04:00:00Z"]
            ),
            // A period that is over when clocks are put forward is none.
            ("Europe/Berlin", [OpeningHours(day: .sunday, opens: 130, closes: 170)!], "2026-03-28", []),
            // Periods that touch are one.
            (
                "UTC",
                [
                    OpeningHours(day: .friday, opens: 60, closes: 120)!,
                    OpeningHours(day: .friday, opens: 120, closes: 180)!,
                ],
                "2026-11-27", ["opens 2026-11-27T01:00:00Z", "closes 2026-11-27T03:00:00Z"]
            ),
        ] as [(Text, [OpeningHours], String, [String])])
    func `both ends of a period are moments of their own`(
        zone: Text, hours: [OpeningHours], day: String, changes: [String]
    ) {
        let next = CalendarDay(number: CalendarDay(Text(day))!.number + 2).text
        #expect(
            Self.changes(Self.details(zone, hours), from: day + "T00:00:00Z", until: next + "T12:00:00Z") == changes)
    }

    /// The slots of a day, as its clocks show them.
    private static func slots(_ zone: Text, _ hours: [OpeningHours], _ day: String, every minutes: Int) -> [String] {
        let rules = ZoneRules(zone)!
        let times = details(zone, hours).times(in: rules)
        let slots = times.slots(on: CalendarDay(Text(day))!, every: minutes)
        for (one, next) in zip(slots, slots.dropFirst()) {
            #expect(next == one.adding(seconds: minutes * 60), "a step of real time")
        }
        for slot in slots { #expect(times.isOpen(at: slot)) }
        return slots.map { String(rules.rfc3339($0).dropFirst(11)) }
    }

    @Test(
        arguments: [
            // It is never 2:30.
            (
                "Europe/Berlin", [OpeningHours(day: .saturday, opens: 22 * 60, closes: 27 * 60 + 30)!], "2026-03-29",
                60,
                ["00:00:00+01:00", "01:00:00+01:00", "03:00:00+02:00"]
            ),
            // It is 2:30 twice, and both can be had.
            (
                "Europe/Berlin", [OpeningHours(day: .sunday, opens: 90, closes: 210)!], "2026-10-25", 30,
                [
                    "01:30:00+02:00", "02:00:00+02:00", "02:30:00+02:00", "02:00:00+01:00", "02:30:00+01:00",
                    "03:00:00+01:00",
                ]
            ),
            // Half an hour is repeated, and the steps go on in real time.
            (
                "Australia/Lord_Howe", [OpeningHours(day: .sunday, opens: 75, closes: 135)!], "2026-04-05", 20,
                ["01:15:00+11:00", "01:35:00+11:00", "01:55:00+11:00", "01:45:00+10:30", "02:05:00+10:30"]
            ),
            // There was no midnight.
            (
                "America/Sao_Paulo", [OpeningHours(day: .saturday, opens: 23 * 60, closes: 26 * 60)!], "2018-11-04", 30,
                ["01:00:00-02:00", "01:30:00-02:00"]
            ),
            // The last hour before midnight came twice, on the day before.
            (
                "America/Sao_Paulo", [OpeningHours(day: .saturday, opens: 23 * 60, closes: 25 * 60)!], "2018-02-17", 30,
                ["23:00:00-02:00", "23:30:00-02:00", "23:00:00-03:00", "23:30:00-03:00"]
            ),
            (
                "America/Sao_Paulo", [OpeningHours(day: .saturday, opens: 23 * 60, closes: 25 * 60)!], "2018-02-18", 30,
                ["00:00:00-03:00", "00:30:00-03:00"]
            ),
        ] as [(Text, [OpeningHours], String, Int, [String])])
    func `slots are steps of real time, and what clocks show twice has slots twice`(
        zone: Text, hours: [OpeningHours], day: String, minutes: Int, slots: [String]
    ) {
        #expect(Self.slots(zone, hours, day, every: minutes) == slots)
    }

    @Test func `the slots of an outlet that is always open do not depend on the day they are asked for`() {
        let details = Self.details("Australia/Lord_Howe", Self.every(0, 1_440))
        let rules = ZoneRules("Australia/Lord_Howe")!
        let first = CalendarDay("2026-03-30")!
        for days in 0..<14 {
            let slots = details.times(in: rules).slots(on: first.advanced(by: days), every: 60)
            // On the day with half an hour more there is one more.
            #expect(slots.count == (days == 6 ? 25 : 24))
        }
    }

    @Test func `a time is answered by the hours of its service, and special days hold for all`() {
        var details = Self.details(
            "UTC", Self.every(600, 1_200), special: [.init(CalendarDay("2026-12-25")!, [])])
        details.services[.pickup] = OfferedService()
        details.services[.delivery] = OfferedService(hours: Self.every(1_080, 1_140))
        (details.orderAheadDays, details.slots) = (2, .init(minutes: 15))
        let (rules, now) = (ZoneRules("UTC")!, Self.time("2026-12-24T12:00:00Z"))
        func answer(_ service: ServiceKind, _ text: String) -> HoursAnswer {
            details.answer(of: service, for: Self.time(text), at: now, in: rules)
        }
        let pickup = answer(.pickup, "2026-12-24T16:30:00Z")
        #expect(pickup.isOpen && pickup.isSlot && pickup.end == Self.time("2026-12-27T00:00:00Z"))
        #expect(answer(.delivery, "2026-12-24T16:30:00Z").opensAt == Self.time("2026-12-24T18:00:00Z"))
        #expect(answer(.pickup, "2026-12-25T12:00:00Z").opensAt == Self.time("2026-12-26T10:00:00Z"))
        let between = answer(.pickup, "2026-12-24T16:31:00Z")
        #expect(!between.isSlot && between.nextSlot == Self.time("2026-12-24T16:45:00Z"))
        // The last slot of a day is followed by the first one of the next day that has any.
        #expect(answer(.pickup, "2026-12-24T19:46:00Z").nextSlot == Self.time("2026-12-26T10:00:00Z"))
    }

    @Test func `dayparts change with the clocks`() {
        var details = Self.details("Europe/Berlin", Self.every(0, 1_440))
        details.dayparts = [
            Daypart(id: Identifier("breakfast")!, hours: Self.every(420, 660)),
            Daypart(id: Identifier("lunch")!, hours: Self.every(660, 900)),
        ]
        let rules = ZoneRules("Europe/Berlin")!
        let morning = details.hours(at: Self.time("2026-03-29T05:00:00Z"), in: rules)
        #expect(morning.dayparts.active == [Identifier("breakfast")!])
        #expect(
            morning.dayparts.later == [.init(Identifier("lunch")!, begins: Self.time("2026-03-29T09:00:00Z"))])
        #expect(morning.changes == Self.time("2026-03-29T09:00:00Z"))
        // In the night before, clocks were an hour behind.
        let night = details.daypartTimes(at: Self.time("2026-03-28T23:30:00Z"), in: rules)
        #expect(night.later.first?.begins == Self.time("2026-03-29T05:00:00Z"))
    }

    @Test func `a special day replaces the periods that begin on it`() {
        let special: [OutletDetails.SpecialDay] = [
            .init(CalendarDay("2026-12-24")!, [OpeningPeriod(opens: 540, closes: 840)!]),
            .init(CalendarDay("2026-12-25")!, []),
        ]
        let details = Self.details("UTC", Self.every(1_320, 1_560), special: special)
        #expect(
            Self.changes(details, from: "2026-12-24T00:00:00Z", until: "2026-12-27T00:00:00Z") == [
                // What began on the day before goes on.
                "closes 2026-12-24T02:00:00Z", "opens 2026-12-24T09:00:00Z", "closes 2026-12-24T14:00:00Z",
                "opens 2026-12-26T22:00:00Z",
            ])
    }

    @Test func `a change is found within a year, and one that never comes is none`() {
        let late = Self.details(
            "UTC", [],
            special: [
                .init(CalendarDay("2027-10-01")!, [OpeningPeriod(opens: 0, closes: 60)!])
            ])
        let times = late.times(in: ZoneRules("UTC")!)
        #expect(times.nextChange(after: Self.time("2026-11-26T00:00:00Z")) == Self.time("2027-10-01T00:00:00Z"))
        #expect(times.nextChange(after: Self.time("2027-10-01T01:00:00Z")) == nil)
    }

    @Test func `an outlet that is always open never closes`() {
        let times = Self.details("Europe/Berlin", Self.every(0, 1_440)).times(in: ZoneRules("Europe/Berlin")!)
        var now = Self.time("2026-03-01T00:00:00Z")
        for _ in 0..<100 {
            #expect(times.isOpen(at: now))
            now = times.nextChange(after: now)!
        }
    }
}
