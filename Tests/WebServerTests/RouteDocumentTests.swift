import Foundation
import HTTP
import Testing
import TextFormats

@testable import WebServer

/// The routes in docs/http.md, docs/openapi.json and docs/asyncapi.json are those of this version.
@Suite struct RouteDocumentTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../docs").standardized
    private static let begin = "<!-- routes: written by WebServerTests from the table of routes -->\n"
    private static let end = "<!-- end of routes -->"
    private static let writes = ProcessInfo.processInfo.environment["TIFFIN_WRITE_DOCS"] == "1"
    private static let advice: Comment = "to write it: TIFFIN_WRITE_DOCS=1 Scripts/check RouteDocumentTests"

    @Test func `docs/http.md has the same routes as the table`() throws {
        let file = Self.folder.appending(path: "http.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let begin = try #require(text.range(of: Self.begin)?.upperBound)
        let end = try #require(text.range(of: Self.end, range: begin..<text.endIndex)?.lowerBound)
        if Self.writes {
            let written = text[..<begin] + Route.markdown + text[end...]
            try String(written).write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(text[begin..<end] == Route.markdown, Self.advice)
        }
    }

    @Test(arguments: [("openapi.json", Descriptions.openAPI), ("asyncapi.json", Descriptions.asyncAPI)])
    func `the descriptions for programs are those of this version`(_ name: String, _ description: String) throws {
        let file = Self.folder.appending(path: name)
        let document = try JSONSerialization.jsonObject(with: Data(description.utf8))
        let pretty = try JSONSerialization.data(
            withJSONObject: document, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        let text = String(decoding: pretty, as: UTF8.self) + "\n"
        if Self.writes {
            try text.write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(try String(contentsOf: file, encoding: .utf8) == text, Self.advice)
        }
    }

    @Test func `every operation has a name of its own, a typed answer and its codes`() {
        let operations = Route.all.map(\.operation) + Operation.besideTable
        #expect(Set(operations.map(\.name)).count == operations.count)
        for operation in operations {
            #expect(!operation.answers.isEmpty && !operation.codes.isEmpty, "\(operation.name)")
            for (status, _, schema) in operation.answers where status != .noContent {
                #expect(schema != nil && schema != .any, "\(operation.name)")
            }
            let unlisted = operation.codes.filter { Problem.statuses(of: [$0]).isEmpty }
            #expect(unlisted == [], "\(operation.name)")
        }
    }

    @Test func `docs/http.md gives each code the status that it has`() throws {
        let text = try String(contentsOf: Self.folder.appending(path: "http.md"), encoding: .utf8)
        for (codes, status) in Problem.statuses {
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("| \(status.rawValue)") })
            for code in codes { #expect(line.contains("`\(code)`")) }
        }
    }
}
