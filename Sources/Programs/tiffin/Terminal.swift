internal import Foundation
internal import TextFormats

/// Standard output and standard error. No text that a terminal would take for a command reaches them, whatever its
/// source.
enum Terminal {
    /// Prints one line at once. Returns false once the reader is gone.
    @discardableResult
    static func print(_ line: String) -> Bool { write(TerminalText.line(line)) }

    /// Prints a line of comma-separated values at once; they end in CR LF. Returns false once the reader is gone.
    @discardableResult
    static func print(record: String) -> Bool { write(TerminalText.line(record) + "\r") }

    /// Prints lines of our own, such as a help text.
    static func print(lines text: String) { write(TerminalText.lines(text)) }

    /// Prints a message on standard error, and does not wait for a reader.
    static func printError(_ message: String) {
        LineOutput.standardError.add(TerminalText.lines(message, indent: "  ") + "\n") { _ in "" }
    }

    @discardableResult
    private static func write(_ text: String) -> Bool {
        LineOutput.write(Array("\(text)\n".utf8), to: STDOUT_FILENO).isEmpty
    }
}
