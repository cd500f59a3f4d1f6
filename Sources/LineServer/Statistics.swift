internal import Measurement

/// What the line server counts, since its start or the last `CONFIG RESETSTAT`.
struct Statistics {
    /// How the calls of one command went.
    struct Calls {
        /// Nanoseconds from where a command began to be executed until its reply was made.
        private(set) var latency = Histogram()
        /// How many were answered with an error.
        private(set) var failed: Int64 = 0

        fileprivate mutating func count(nanoseconds: UInt64, hasFailed: Bool) {
            latency.record(nanoseconds)
            if hasFailed { failed += 1 }
        }
    }

    /// Connections accepted.
    var connections: Int64 = 0
    /// Error replies, whatever they answered.
    var errors: Int64 = 0
    /// Of each command, in the order of the table.
    private(set) var calls: [Calls]

    init(commandCount: Int) {
        calls = Array(repeating: Calls(), count: commandCount)
    }

    /// A command has been answered.
    mutating func count(_ command: Int, nanoseconds: UInt64, hasFailed: Bool) {
        calls[command].count(nanoseconds: nanoseconds, hasFailed: hasFailed)
    }

    /// Commands answered.
    var commands: UInt64 { calls.reduce(0) { $0 + $1.latency.count } }
}
