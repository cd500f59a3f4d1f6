import Application
import Foundation
import Testing
import Users

@testable import LineServer

/// The commands in docs/protocol.md are those of the table.
@Suite struct ProtocolDocumentTests {
    private static let file = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../docs/protocol.md").standardized
    private static let begin = "<!-- commands: written by LineServerTests from the command table -->\n"
    private static let end = "<!-- end of commands -->"

    @Test func `docs/protocol.md has the same commands as the table`() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let begin = try #require(text.range(of: Self.begin)?.upperBound)
        let end = try #require(text.range(of: Self.end, range: begin..<text.endIndex)?.lowerBound)
        if ProcessInfo.processInfo.environment["TIFFIN_WRITE_DOCS"] == "1" {
            let written = text[..<begin] + LineCommandTable.shared.markdown + text[end...]
            try String(written).write(to: Self.file, atomically: true, encoding: .utf8)
        } else {
            #expect(
                text[begin..<end] == LineCommandTable.shared.markdown,
                "to write it: TIFFIN_WRITE_DOCS=1 swift test --filter ProtocolDocumentTests")
        }
    }
}

extension LineCommandTable {
    /// A table for each group.
    fileprivate var markdown: String {
        CommandDeclaration.Group.allCases.map { group in
            let rows = commands.map(\.declaration).filter { $0.group == group }
                .map { "| `\($0.usage)` | \($0.role.rawValue) | \($0.summary) |\n" }
            return "\n### \(group.rawValue.capitalized)\n\n| command | for | |\n| --- | --- | --- |\n\(rows.joined())"
        }.joined() + "\n"
    }
}
