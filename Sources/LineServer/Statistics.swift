internal import Application
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
    /// Logins that failed or were refused.
    var failedLogins: Int64 = 0
    /// Commands refused because the client had not logged in, or its user may not use them.
    var deniedCommands: Int64 = 0
    /// Commands refused because of what they were about.
    var deniedKeys: Int64 = 0
    /// Subscriptions refused because of what they were to.
    var deniedChannels: Int64 = 0
    /// Of each command, in the order of the table.
    private(set) var calls: [Calls]

    init(commandCount: Int) {
        calls = Array(repeating: Calls(), count: commandCount)
    }

    /// A command has been answered.
    mutating func count(_ command: Int, nanoseconds: UInt64, hasFailed: Bool) {
        calls[command].count(nanoseconds: nanoseconds, hasFailed: hasFailed)
    }

    /// A command has failed.
    mutating func count(_ failure: Failure) {
        switch failure.message {
        case Failure.noPermissionForKey.message: deniedKeys += 1
        case Failure.noPermissionForChannel.message: deniedChannels += 1
        default: break
        }
    }

    /// Commands answered.
    var commands: UInt64 { calls.reduce(0) { $0 + $1.latency.count } }
}
