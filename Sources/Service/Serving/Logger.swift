internal import Domain
internal import Foundation
package import TextFormats

/// Writes messages to the operator on standard error, whatever they quote: nothing in them can look like another
/// message, or reach a terminal. The caller does not wait.
package struct Logger: Sendable {
    /// How much is written.
    package enum Level: String, CaseIterable, Sendable, Comparable {
        case error, info, debug

        /// Orders by how much is written.
        package static func < (a: Level, b: Level) -> Bool {
            allCases.firstIndex(of: a)! < allCases.firstIndex(of: b)!
        }
    }

    /// How it is written.
    package enum Format: String, CaseIterable, Sendable {
        /// For people.
        case text
        /// For programs: an object a line, with `time`, `level` and `message`.
        case json
    }

    /// The level up to which messages are written.
    package let level: Level
    private let format: Format
    private let output: LineOutput

    /// A logger that writes messages up to a level.
    package init(level: Level, format: Format = .text, output: LineOutput = .standardError) {
        self.level = level
        self.format = format
        self.output = output
    }

    /// How many lines were dropped because no reader took them.
    package var droppedLines: Int64 { output.droppedLines }

    /// Something that an operator has to know.
    package func error(_ message: @autoclosure () -> String) { say(.error, message) }
    /// Something that an operator may want to know.
    package func info(_ message: @autoclosure () -> String) { say(.info, message) }
    /// Something that a developer may want to know.
    package func debug(_ message: @autoclosure () -> String) { say(.debug, message) }

    private func say(_ level: Level, _ message: () -> String) {
        guard level <= self.level else { return }
        output.add(format.line(level, message())) { [format] count in
            format.line(.error, "\(count) line\(count == 1 ? " was" : "s were") dropped here: nobody read the log")
        }
    }
}

extension Logger.Format {
    fileprivate func line(_ level: Logger.Level, _ message: String) -> String {
        switch self {
        case .text:
            return
                "tiffin: \(level == .info ? "" : "\(level.rawValue): ")\(TerminalText.lines(message, indent: "  "))\n"
        case .json:
            var writer = JSONWriter()
            writer.beginObject()
            writer.field(
                "time", Timestamp(millisecondsSinceEpoch: Int64(Date().timeIntervalSince1970 * 1_000)).rfc3339)
            writer.field("level", level.rawValue)
            writer.field("message", message)
            writer.endObject()
            return TerminalText.line(String(decoding: writer.bytes, as: UTF8.self), .json) + "\n"
        }
    }
}
