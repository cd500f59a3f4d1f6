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
        let times = OpeningTimes(of: details, in: ZoneRules(details.timeZone)!)
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

    @Test func `a special day replaces the periods that begin on it`() {
        let special: [OutletDetails.SpecialDay] = [
            .init(CalendarDay("2026-12-24")!, [OpeningHours(day: .thursday, opens: 540, closes: 840)!]),
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
                .init(CalendarDay("2027-10-01")!, [OpeningHours(day: .friday, opens: 0, closes: 60)!])
            ])
        let times = OpeningTimes(of: late, in: ZoneRules("UTC")!)
        #expect(times.nextChange(after: Self.time("2026-11-26T00:00:00Z")) == Self.time("2027-10-01T00:00:00Z"))
        #expect(times.nextChange(after: Self.time("2027-10-01T01:00:00Z")) == nil)
    }

    @Test func `an outlet that is always open never closes`() {
        let times = OpeningTimes(
            of: Self.details("Europe/Berlin", Self.every(0, 1_440)), in: ZoneRules("Europe/Berlin")!)
        var now = Self.time("2026-03-01T00:00:00Z")
        for _ in 0..<100 {
            #expect(times.isOpen(at: now))
            now = times.nextChange(after: now)!
        }
    }
}
