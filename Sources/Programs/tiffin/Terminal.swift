internal import Foundation
internal import TextFormats

/// Standard output and standard error. No text reaches them that a terminal would take for a command, whoever wrote it.
enum Terminal {
    /// Prints one line at once. Returns false where nobody reads any more.
    @discardableResult
    static func print(_ line: String) -> Bool { write(TerminalText.line(line)) }

    /// Prints a line of comma-separated values at once; they end in CR LF. Returns false where nobody reads any more.
    @discardableResult
    static func print(record: String) -> Bool { write(TerminalText.line(record) + "\r") }

    /// Prints lines of our own, such as a help text.
    static func print(lines text: String) { write(TerminalText.lines(text)) }

    /// Prints a message on standard error, and waits for nobody who does not read it.
    static func printError(_ message: String) {
        LineOutput.standardError.add(TerminalText.lines(message, indent: "  ") + "\n") { _ in "" }
    }

    @discardableResult
    private static func write(_ text: String) -> Bool {
        LineOutput.write(Array("\(text)\n".utf8), to: STDOUT_FILENO).isEmpty
    }
}
