import Foundation
import SeededRandom
import Testing

@testable import Application
@testable import Serving

@Suite struct LoggerTests {
    private static let unsafe: [Unicode.Scalar] = [
        "\n", "\r", "\u{1b}", "\u{7f}", "\u{9b}", "\u{202e}", "\u{2066}", "\u{2028}", "\u{200b}", "\u{feff}",
        "\u{e0041}",
    ]

    private static func logged(_ format: Logger.Format, _ messages: [String]) throws -> String {
        let lines = LoggedLines(format)
        for message in messages {
            lines.logger.debug(message)
            lines.logger.error(message)
        }
        return try lines.text()
    }

    private static func messages(_ seed: UInt64) -> [String] {
        var random = SeededGenerator(seed: seed)
        return (0..<50).map { _ in
            (0..<random.below(10)).map { _ in
                random.chance(50) ? String(random.pick(unsafe)) : random.pick(["a", "\"", "\\", "é", "tiffin: "])
            }.joined()
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `A message is one object a line, and says the same`(_ seed: UInt64) throws {
        let messages = Self.messages(seed)
        let lines = try Self.logged(.json, messages).split(separator: "\n")
        #expect(lines.count == messages.count)
        for (line, message) in zip(lines, messages) {
            #expect(!line.unicodeScalars.contains { Self.unsafe.contains($0) })
            let fields = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
            #expect(fields.keys.sorted() == ["level", "message", "time"])
            #expect(fields["level"] == "error")
            #expect(try #require(fields["message"]).utf8.elementsEqual(message.utf8))
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Nothing in a message looks like another one`(_ seed: UInt64) throws {
        let messages = Self.messages(seed)
        let text = try Self.logged(.text, messages)
        #expect(!text.unicodeScalars.contains { $0 != "\n" && Self.unsafe.contains($0) })
        #expect(text.split(separator: "\n").count { $0.hasPrefix("tiffin: ") } == messages.count)
    }
}
