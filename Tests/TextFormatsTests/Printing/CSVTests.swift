import Testing
import TextFormats

@Suite("Comma-separated values") struct CSVTests {
    @Test(
        arguments: [
            ("tea", "tea"), ("", "\"\""), ("tea, hot", "\"tea, hot\""), ("the \"best\"", "\"the \"\"best\"\"\""),
            (" tea", "\" tea\""), ("tea ", "\"tea \""), ("naïve 茶", "naïve 茶"), ("a\nb", "a\\u{a}b"),
        ])
    func `A text is one cell on one line`(_ text: String, _ cell: String) { #expect(CSV.cell(text) == cell) }

    @Test(
        arguments: [
            ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(A1)", "'@SUM(A1)"), ("'quoted'", "''quoted'"),
            ("=\"a\",b", "\"'=\"\"a\"\",b\""), ("a=b", "a=b"), ("\t=1", "\\u{9}=1"), ("=\u{301}1", "'=\u{301}1"),
        ])
    func `A text that spreadsheets would calculate begins with an apostrophe`(_ text: String, _ cell: String) {
        #expect(CSV.cell(text) == cell)
    }

    @Test func `JSON stays JSON`() {
        #expect(CSV.cell("{\"a\":\"\u{202e}\"}", .json) == "\"{\"\"a\"\":\"\"\\u202e\"\"}\"")
        #expect(CSV.record(["1", "", "a"]) == "1,,a")
    }
}
