#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Writes messages to the operator, a line each, on standard error.
public struct Logger: Sendable {
    /// How much is written.
    public enum Level: String, CaseIterable, Sendable, Comparable {
        case error, info, debug

        /// Orders by how much is written.
        public static func < (a: Level, b: Level) -> Bool {
            allCases.firstIndex(of: a)! < allCases.firstIndex(of: b)!
        }
    }

    /// The level up to which lines are written.
    public let level: Level

    /// A logger that writes lines up to a level.
    public init(level: Level) {
        self.level = level
    }

    /// Something that an operator has to know.
    public func error(_ message: @autoclosure () -> String) { say(.error, message) }
    /// Something that an operator may want to know.
    public func info(_ message: @autoclosure () -> String) { say(.info, message) }
    /// Something that a developer may want to know.
    public func debug(_ message: @autoclosure () -> String) { say(.debug, message) }

    private func say(_ level: Level, _ message: () -> String) {
        guard level <= self.level else { return }
        let line = "tiffin: \(level == .info ? "" : "\(level.rawValue): ")\(message())\n"
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}
