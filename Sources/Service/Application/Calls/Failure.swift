internal import CommandHandling
internal import Domain
internal import EventLog

/// Why a call failed: a stable code and a text for people, which is safe to show to strangers.
package struct Failure: Error, Sendable {
    /// The code, as docs/protocol.md lists them.
    package var code: String
    /// What went wrong.
    package var message: String

    /// A failure.
    package init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }

    init(_ rejection: Rejection) {
        self.init(rejection.code.rawValue, rejection.message)
    }

    init(_ corruption: CorruptEvent) {
        self.init(
            "CORRUPT",
            "stream '\(corruption.stream)' is quarantined since position \(corruption.position) "
                + "of partition \(corruption.partition)")
    }

    init(_ failure: ReadFailure) {
        switch failure {
        case .corrupt(let corruption): self.init(corruption)
        case .unavailable(let reason): self = .unavailable(reason)
        case .busy: self = .busy
        }
    }

    /// Why a command was not accepted.
    init(_ outcome: CommandOutcome) {
        switch outcome {
        case .accepted, .recordable: preconditionFailure("an accepted command is no failure")
        case .rejected(let rejection): self.init(rejection)
        case .corrupt(let corruption): self.init(corruption)
        case .busy: self = .busy
        case .unavailable(let reason): self = .unavailable(reason)
        case .unknown(let reason): self = .unknown(reason)
        }
    }

    /// A call with too few or too many arguments. A subcommand is named as `config|get`.
    ///
    /// - Parameter help: what a right call looks like.
    package static func argumentCount(of command: String, _ help: String) -> Failure {
        let name = command.lowercased().replacing(" ", with: "|")
        return Failure("ERR", "wrong number of arguments for '\(name)' command; \(help)")
    }

    /// Words that make no sense where they stand.
    package static func syntax(_ detail: String) -> Failure { Failure("ERR", "syntax error: \(detail)") }

    /// There is no such outlet, or it was removed.
    static func noOutlet(_ outlet: some CustomStringConvertible) -> Failure {
        Failure("NOTFOUND", "no outlet '\(outlet)'")
    }
    /// In Redis's words, for whom an id is a key.
    package static let noPermissionForKey = Failure("NOPERM", "No permissions to access a key")
    /// The same, of a channel.
    package static let noPermissionForChannel = Failure("NOPERM", "No permissions to access a channel")
    static let busy = Failure("BUSY", "too much is waiting; nothing was accepted, try again")

    static let forgotten = Failure(
        "FORGOTTEN",
        "this customer was forgotten, and no command in their name is accepted any more; nothing was accepted")

    static func invalid(_ field: String, _ reason: String) -> Failure { Failure(.invalid(field, reason)) }

    static func tooLarge(_ count: Int, limit: Int) -> Failure {
        Failure("LIMIT", "the document has \(count) bytes, and at most \(limit) can be sent")
    }

    static func unavailable(_ reason: String) -> Failure {
        Failure("UNAVAILABLE", "nothing was accepted: \(reason)")
    }

    static func unknown(_ reason: String) -> Failure {
        Failure("UNKNOWN", "the outcome could not be learnt, send again with the same ID: \(reason)")
    }
}
