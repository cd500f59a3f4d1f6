import Application
import Foundation
import Testing
import Users

@testable import LineServer

/// The commands in docs/reference/ are those of the table. `Scripts/reference` writes them.
@Suite struct ProtocolDocumentTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../docs/reference").standardized
    private static let commands = LineCommandTable.shared.commands.map(\.declaration)

    /// What stands between the markers with a name.
    private static func generated(_ name: String, in file: String) throws -> Substring {
        let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        let begin = try #require(text.range(of: "<!-- generated: \(name) -->\n")?.upperBound)
        return text[begin..<(try #require(text.range(of: "<!-- end -->", range: begin..<text.endIndex)?.lowerBound))]
    }

    @Test func `docs/reference/README.md has the same commands as the table`() throws {
        let index = CommandDeclaration.Group.allCases.map { group in
            let rows = Self.commands.filter { $0.group == group }
                .map { "| [`\($0.name)`](\(group.rawValue).md#\($0.anchor)) | \($0.role.rawValue) | \($0.summary) |\n" }
            return "## [\(group.rawValue.capitalized)](\(group.rawValue).md)\n\n"
                + "| command | for | |\n| --- | --- | --- |\n\(rows.joined())"
        }
        let text = try Self.generated("commands", in: "README.md")
        #expect(text == index.joined(separator: "\n"), "to write it: Scripts/reference")
    }

    @Test(arguments: commands.map(\.name))
    func `the page of its group has the usage and the summary of a command`(name: String) throws {
        let command = try #require(Self.commands.first { $0.name == name })
        let text = try Self.generated(name, in: "\(command.group.rawValue).md")
        let words = text.split { $0.isWhitespace }.joined(separator: " ")
        #expect(words.hasPrefix("``` \(command.usage) ``` \(command.summary) "), "to write it: Scripts/reference")
    }
}

extension CommandDeclaration {
    /// What a link to the command's heading ends in.
    fileprivate var anchor: String { name.lowercased().replacing(".", with: "").replacing(" ", with: "-") }
}
