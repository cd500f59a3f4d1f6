internal import Application
internal import LineProtocol
internal import Measurement

/// Why the server ended a connection, or did not take it. The name is that of its count in `INFO`.
enum Disconnection: String, CaseIterable {
    /// There were as many clients as there may be, or it came from another machine and there are no users.
    case rejected = "rejected_connections"
    /// Too much waited for the client to read.
    case output = "client_output_buffer_limit_disconnections"
    /// All clients, or those of its address, took too much memory, and this one the most.
    case evicted = "evicted_clients"
    /// A request was too long.
    case request = "client_query_buffer_limit_disconnections"
    /// The bytes were no request.
    case malformed = "client_protocol_error_disconnections"
    /// It spoke HTTP.
    case http = "client_http_disconnections"
    /// It was silent.
    case idle = "client_idle_disconnections"
    /// A command took long to arrive.
    case partial = "client_partial_command_disconnections"
    /// It did not log in.
    case lateLogin = "client_login_timeout_disconnections"
    /// It failed to log in too often.
    case failedLogins = "client_failed_login_disconnections"
    /// It had not logged in, and another client needed its place.
    case crowded = "client_before_login_disconnections"
    /// Its user was removed or disabled.
    case user = "client_user_disconnections"

    /// Why bytes were rejected.
    init(_ error: ProtocolError) {
        switch error {
        case .tooBigInlineRequest, .tooBigRequest, .unauthenticatedMultibulkLength, .unauthenticatedBulkLength:
            self = .request
        case .tooBigMultibulkCountString, .tooBigBulkCountString, .invalidMultibulkLength, .invalidBulkLength,
            .unbalancedQuotes, .expectedBulk, .unterminatedBulk:
            self = .malformed
        }
    }
}

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
    /// Connections whose TLS handshake failed.
    var refusedHandshakes: Int64 = 0
    /// Connections that the system did not let the server accept.
    var failedAccepts: Int64 = 0
    /// How often a client had used up its time, and others had their turn.
    var timePauses: Int64 = 0
    /// How often a client had sent all the commands that it may send for now.
    var ratePauses: Int64 = 0
    /// How often nothing more was read from a client because too much of it waited.
    var readingPauses: Int64 = 0
    /// Error replies, by their codes: of these there are few.
    private(set) var errors: [String: Int64] = [:]
    private var disconnections: [Disconnection: Int64] = [:]
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

    /// An error reply is made.
    mutating func count(_ failure: Failure) {
        errors[failure.code.word, default: 0] += 1
        guard failure.code == Failure.noPermissionForKey.code else { return }
        switch failure.message {
        case Failure.noPermissionForKey.message: deniedKeys += 1
        case Failure.noPermissionForChannel.message: deniedChannels += 1
        default: break
        }
    }

    /// The server ends a connection.
    mutating func count(_ disconnection: Disconnection) { disconnections[disconnection, default: 0] += 1 }

    /// How many connections ended for a reason.
    func count(of disconnection: Disconnection) -> Int64 { disconnections[disconnection] ?? 0 }

    /// Commands answered.
    var commands: UInt64 { calls.reduce(0) { $0 + $1.latency.count } }
}
