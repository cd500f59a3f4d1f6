import Domain
import Foundation
import Projections
import SeededRandom
import Testing

@Suite("RFC 3339")
struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1, "1970-01-01T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (1_772_366_400_000, "2026-03-01T12:00:00Z"), (1_709_164_800_000, "2024-02-29T00:00:00Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"), (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func `moments have one text`(milliseconds: Int64, text: String) {
        let moment = Timestamp(millisecondsSinceEpoch: milliseconds)
        #expect(moment.rfc3339 == text)
        #expect(Timestamp(rfc3339: text) == moment)
    }

    @Test(
        arguments: [
            (.min, "0000-01-01T00:00:00Z"), (-62_167_219_200_001, "0000-01-01T00:00:00Z"),
            (253_402_300_800_000, "9999-12-31T23:59:59.999Z"), (.max, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func `moments beyond the range of RFC 3339 become its last one`(milliseconds: Int64, text: String) {
        #expect(Timestamp(millisecondsSinceEpoch: milliseconds).rfc3339 == text)
    }

    @Test(arguments: [
        ("2026-03-01T17:30:00+05:30", "2026-03-01T12:00:00Z"), ("2026-03-01T00:00:00-00:30", "2026-03-01T00:30:00Z"),
        ("2026-03-01t12:00:00z", "2026-03-01T12:00:00Z"), ("2026-03-01T12:00:00.5Z", "2026-03-01T12:00:00.500Z"),
        ("2026-03-01T12:00:00.1239999Z", "2026-03-01T12:00:00.123Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"), ("2026-03-01T12:00:00.000-00:00", "2026-03-01T12:00:00Z"),
    ])
    func `every form is understood`(text: String, plain: String) {
        #expect(Timestamp(rfc3339: text)?.rfc3339 == plain)
    }

    @Test(arguments: [
        "", "Z", "2026-03-01", "2026-03-01T12:00:00", "2026-03-01 12:00:00Z", "2026-03-01T12:00Z",
        "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "1900-02-29T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Zx", "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+0530", "2026-01-01T00:00:00+05", "10000-01-01T00:00:00Z", "-001-01-01T00:00:00Z",
        "+026-01-01T00:00:00Z", "2026-1-1T0:0:0Z", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
        "２０２６-01-01T00:00:00Z", "2026-01-01T00:00:00.000000000000000000000000000000000000000000Z",
    ])
    func `other texts are not moments`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `text and moment lead to one another, and agree with Foundation since 1583`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let milliseconds = Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &generator)
            let moment = Timestamp(millisecondsSinceEpoch: milliseconds)
            #expect(Timestamp(rfc3339: moment.rfc3339) == moment)
            guard milliseconds > -12_212_553_600_000 else { continue }
            let seconds = (milliseconds - (milliseconds % 1_000 + 1_000) % 1_000) / 1_000
            let text = Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
            #expect(moment.rfc3339.prefix(19) == text.prefix(19))
        }
        _ = Timestamp(millisecondsSinceEpoch: Int64(bitPattern: generator.next())).rfc3339
    }
}
