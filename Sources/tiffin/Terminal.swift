internal import Audit

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Standard output and standard error. No text reaches them that a terminal would take for a command, whoever wrote it.
enum Terminal {
    /// Prints one line at once. Returns false where nobody reads any more.
    @discardableResult
    static func print(_ line: String) -> Bool { write(TerminalText.line(line), to: 1) }

    /// Prints lines of our own, such as a help text.
    static func print(lines text: String) { write(lines(of: text).joined(separator: "\n"), to: 1) }

    /// Prints a message on standard error. The lines after its first are indented, so that none looks like another
    /// message.
    static func printError(_ message: String) {
        write(lines(of: message).joined(separator: "\n  "), to: 2)
    }

    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { TerminalText.line(String($0)) }
    }

    @discardableResult
    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var bytes = Array("\(text)\n".utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { platformWrite(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            bytes.removeFirst(count)
        }
        return true
    }
}

private func platformWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
