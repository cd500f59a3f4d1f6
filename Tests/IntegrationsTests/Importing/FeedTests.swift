import Domain
import HTTP
import LineProtocol
import Testing

@testable import Integrations

@Suite struct `What an import is told to read` {
    @Test(arguments: [
        ("menu.json", "menu.json", "menu.json", nil), ("/home/me/menu.json", "/home/me/menu.json", "menu.json", nil),
        ("-", "standard input", "standard input", nil), ("httpx", "httpx", "httpx", nil),
        ("http://a/b", "http://a/b", "http://a/b", "http://a/b"),
        ("HTTPS://me:secret@a:8/b?key=secret#c", "HTTPS://a:8/b", "HTTPS://a:8/b", "HTTPS://a:8/b?key=secret#c"),
        ("https://a@b@c", "https://c", "https://c", "https://c"),
        ("https://a?b@c/d", "https://a", "https://a", "https://a?b@c/d"),
        ("https://a/b@c", "https://a/b@c", "https://a/b@c", "https://a/b@c"),
        ("http://", "http://", "http://", "http://"),
    ])
    func `Neither messages nor the log show a user or a query`(
        operand: String, label: String, source: String, address: String?
    ) {
        let input = ImportInput(operand)
        #expect(input.label == label)
        #expect(input.source == source)
        #expect(input.address == address)
    }

    @Test func `A key differs for another address and for options that make another menu`() {
        let recipes = RecipeImportOptions(outlet: "o", currency: "USD", timeZone: "UTC", price: 1, name: "o")
        var dearer = recipes
        dearer.price = 2
        var partial = recipes
        partial.isPartial = true
        let keys = [
            FeedKey.key(of: "http://a/b", .recipes(recipes)), FeedKey.key(of: "http://a/c", .recipes(recipes)),
            FeedKey.key(of: "http://a/b", .recipes(dearer)), FeedKey.key(of: "http://a/b", .recipes(partial)),
            FeedKey.key(of: "http://a/b", .menu(MenuImportOptions(outlet: "o"))),
        ]
        #expect(Set(keys).count == keys.count)
        #expect(keys[0] == FeedKey.key(of: "http://a/b", .recipes(recipes)))
        #expect(keys.allSatisfy { (1...8).contains($0.count) })
    }
}

@Suite struct `What is recorded of a feed` {
    @Test func `Problems are as many and as long as a server takes`() throws {
        let long = Problem(row: 1, field: "name", reason: "\u{1}é" + String(repeating: "ü", count: 500))
        let report = FeedReport(
            .malformed, source: String(repeating: "s", count: 3_000), problems: Array(repeating: long, count: 1_025))
        #expect(report.problems.count == 20)
        #expect(report.problems.last == "and 1,006 more")
        #expect(report.problems[0].utf8.count <= 300)
        #expect(report.problems[0].hasPrefix("1: name:  éü") && report.problems[0].hasSuffix("ü…"))
        #expect(report.source.utf8.count == 2_000)
        #expect(FeedReport(.malformed, source: "s", problems: Array(repeating: long, count: 20)).problems.count == 20)
    }

    @Test func `A report is read as it was written`() throws {
        var report = FeedReport(.empty, source: "menu.json", problems: [Problem(row: 2, field: "name", reason: "\"")])
        #expect(FeedReport(.bulk(Array(report.document.utf8))) == report)
        report.set(HTTPValidators(), "unused")
        #expect(report.key == nil, "without validators there is nothing that a key is for")
        report.set(HTTPValidators(etag: "\"a\"", modified: "today"), "k")
        #expect(FeedReport(.bulk(Array(report.document.utf8))) == report)
    }

    @Test(arguments: ["null", "{}", #"{"state":"fine","problems":[]}"#, #"{"state":"ready"}"#, "["])
    func `Anything else is no report`(text: String) {
        #expect(FeedReport(.bulk(Array(text.utf8))) == nil)
        #expect(FeedReport(.null) == nil)
    }
}
