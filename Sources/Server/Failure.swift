internal import CommandHandling
internal import Domain
internal import EventLog

/// An error reply: a stable code and a text for people.
struct Failure: Error {
    var code: String
    var message: String

    init(_ code: String, _ message: String) {
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

    /// A call with too few words, or too many. A subcommand is named as `config|get`.
    static func wordCount(of command: String) -> Failure {
        Failure("ERR", "wrong number of arguments for '\(command.lowercased())' command")
    }

    static let syntax = Failure("ERR", "syntax error")
    static let busy = Failure("BUSY", "too much is waiting; nothing was accepted, try again")

    static let forgotten = Failure(
        "FORGOTTEN", "this customer was forgotten, and nothing is taken in this name any more; nothing was accepted")

    static func invalid(_ field: String, _ reason: String) -> Failure { Failure(.invalid(field, reason)) }

    static func unavailable(_ reason: String) -> Failure {
        Failure("UNAVAILABLE", "the database cannot be reached, nothing was accepted: \(reason)")
    }

    static func unknown(_ reason: String) -> Failure {
        Failure("UNKNOWN", "the outcome could not be learnt, send again with the same ID: \(reason)")
    }
}
