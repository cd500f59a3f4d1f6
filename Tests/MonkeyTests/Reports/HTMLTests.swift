import SeededRandom
import Testing

@testable import Monkey

/// What the page shows is for `Tests/Browser/test_report.py`.
@Suite("The page of a run")
struct ReportsHTMLTests {
    @Test("has the report in it, which cannot break out, and is small", arguments: SeededGenerator.seeds)
    func contents(seed: UInt64) throws {
        let report = SampleRun.any(seed).report()
        let html = try report.html()
        let parts = html.split(separator: "<script type=\"application/json\" id=\"report\">", maxSplits: 1)
        let rest = try #require(parts.last).split(separator: "</script>", maxSplits: 1)
        #expect(!rest[0].contains("<"))
        #expect(try RunReport(json: String(rest[0])) == report)
        #expect(html.utf8.count < 350_000)
    }

    @Test("takes nothing from elsewhere, and makes markup of no text")
    func alone() throws {
        let page = try SampleRun(seed: 1).report().html()
        for word in ["src=", "href=", "url(", "@import", "innerHTML", "insertAdjacent", "document.write", "eval("] {
            #expect(!page.contains(word), "\(word)")
        }
        #expect(page.contains("default-src 'none'"))
    }
}
