import Domain
import Testing

@testable import Application

@Suite("Business days")
struct BusinessDaysTests {
    private static func moments(_ first: Text, _ last: Text, _ zone: Text, startingAt start: Int = 0) -> [String] {
        let days = BusinessDays(
            from: CalendarDay(first)!, through: CalendarDay(last)!, startingAt: start, in: ZoneRules(zone)!)
        #expect(days.days.map(\.text).first == first.string)
        return days.moments.map(\.rfc3339)
    }

    @Test(arguments: [
        // 23 and 25 hours.
        ("Europe/Berlin", "2026-03-29", 0, ["2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"]),
        ("Europe/Berlin", "2026-10-25", 0, ["2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"]),
        // Clocks go from 2:00 to 3:00, so the day begins at 3:00; the other way, at the first 2:30.
        ("Europe/Berlin", "2026-03-29", 150, ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]),
        ("Europe/Berlin", "2026-10-25", 150, ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]),
        // Half an hour: from 2:00 to 2:30 and from 2:00 to 1:30.
        ("Australia/Lord_Howe", "2026-10-04", 0, ["2026-10-03T13:30:00Z", "2026-10-04T13:00:00Z"]),
        ("Australia/Lord_Howe", "2026-04-05", 105, ["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"]),
        // There was no midnight, and one was there twice.
        ("America/Sao_Paulo", "2018-11-04", 0, ["2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"]),
        ("America/Sao_Paulo", "2018-02-17", 0, ["2018-02-17T02:00:00Z", "2018-02-18T03:00:00Z"]),
        ("America/Sao_Paulo", "2018-02-17", 1_425, ["2018-02-18T01:45:00Z", "2018-02-19T02:45:00Z"]),
        ("Asia/Kolkata", "2026-11-26", 240, ["2026-11-25T22:30:00Z", "2026-11-26T22:30:00Z"]),
        ("UTC", "2028-02-29", 0, ["2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z"]),
    ])
    func `a day lasts until the next one begins`(zone: String, day: String, start: Int, moments: [String]) {
        #expect(Self.moments(Text(day), Text(day), Text(zone), startingAt: start) == moments)
    }

    @Test(arguments: ["Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia", "Asia/Kathmandu"])
    func `no moment of two years is in no day or in two`(zone: String) {
        let moments = Self.moments("2018-01-01", "2019-12-31", Text(zone), startingAt: 135)
        #expect(moments.count == 731 && moments == moments.sorted() && Set(moments).count == 731)
    }

    @Test(arguments: [
        ("Europe/Berlin", 240, "2026-03-29T00:30:00Z", "2026-03-28"),
        ("Pacific/Kiritimati", 0, "2026-03-01T10:00:00Z", "2026-03-02"),
        ("Pacific/Pago_Pago", 1_425, "2026-03-02T10:59:59Z", "2026-03-01"),
        ("UTC", 0, "2026-03-01T00:00:00Z", "2026-03-01"),
    ])
    func `a moment is in one day`(zone: String, start: Int, moment: String, day: String) throws {
        let days = BusinessDays(
            of: try #require(Timestamp(rfc3339: moment)), startingAt: start, in: ZoneRules(Text(zone))!)
        #expect(days?.days.map(\.text) == [day])
    }

    @Test(arguments: ["2026-02-29", "2026-13-01", "2026-1-1", "26-01-01", "", "2026-01-01T", "+026-01-01"])
    func `what is no day is not read`(text: String) { #expect(CalendarDay(Text(text)) == nil) }
}
