import SeededRandom
import Testing

@testable import Monkey

@Suite("The JSON of a run")
struct ReportsJSONTests {
    @Test("is read as what was written", arguments: SeededGenerator.seeds)
    func roundTrip(seed: UInt64) throws {
        var report = SampleRun.any(seed).report()
        report.sending.busy = .infinity
        let text = try report.json()
        let again = try RunReport(json: text)
        #expect(again == report)
        #expect(try again.json() == text)
    }

    @Test("of another format is refused")
    func otherFormat() throws {
        var report = SampleRun(seed: 1, seconds: 1).report()
        report.format = 2
        let text = try report.json()
        let error = #expect(throws: ReportError.self) { try RunReport(json: text) }
        #expect(error?.description.hasPrefix("is a report of format 2, and format 1 is the only one") == true)
    }

    @Test(
        "is refused if it is not one, with what is wrong",
        arguments: [
            ("", "is not JSON"), ("{\"format\": 1", "is not JSON"), ("[]", "is not the report of a run"),
            ("{}", "it has no `format`"), ("{\"format\": \"one\"}", "`format` has the wrong type"),
            ("{\"format\": 1}", "it has no `"),
        ])
    func noReport(text: String, message: String) {
        let error = #expect(throws: ReportError.self) { try RunReport(json: text) }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
    }

    @Test(
        "is refused if a part of it is wrong",
        arguments: [
            ("\"accepted\" : ", "\"accepted\" : \"x\", \"_\" : ", "`calls[0].accepted` has the wrong type"),
            ("\"isWrite\" : ", "\"isWritten\" : ", "`calls[0]` has no `isWrite`"),
            ("\"outcome\" : 0", "\"outcome\" : 9", "`outcome` has a value that it cannot have"),
        ])
    func brokenReport(old: String, new: String, message: String) throws {
        let text = try SampleRun(seed: 1, seconds: 2).report().json().replacing(old, with: new)
        let error = #expect(throws: ReportError.self) { try RunReport(json: text) }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
    }
}
