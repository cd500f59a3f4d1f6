package import CommandHandling
package import Domain
package import EventLog

/// Why a call failed: a stable code and a text for people, which is safe to show to strangers.
package struct Failure: Error, Sendable {
    /// A code that stays the same. docs/protocol.md lists what each means.
    package enum Code: Hashable, Sendable {
        /// A call that makes no sense, in Redis's word.
        case error
        /// A decider said no.
        case rejected(Rejection.Code)
        case busy, unavailable, unknown, corrupt, forgotten
        case noPermission, noAuthentication, wrongPassword, noProtocol, aborted, moved
        case readOnly, behind, forked, loading

        /// A value that may not be.
        package static let invalid = Code.rejected(.invalid)
        /// There is no such thing.
        package static let notFound = Code.rejected(.notFound)
        /// Too much, too long or too many.
        package static let limit = Code.rejected(.limit)

        private static let others: [Code] = [
            .error, .busy, .unavailable, .unknown, .corrupt, .forgotten, .noPermission, .noAuthentication,
            .wrongPassword, .noProtocol, .aborted, .moved, .readOnly, .behind, .forked,
            .loading,
        ]

        /// The code that clients read as this word; nil where none is.
        package init?(word: String) {
            guard
                let code = Rejection.Code(rawValue: word).map(Code.rejected)
                    ?? Code.others.first(where: { $0.word == word })
            else { return nil }
            self = code
        }

        /// The code as clients read it.
        package var word: String {
            switch self {
            case .error: "ERR"
            case .rejected(let code): code.rawValue
            case .busy: "BUSY"
            case .unavailable: "UNAVAILABLE"
            case .unknown: "UNKNOWN"
            case .corrupt: "CORRUPT"
            case .forgotten: "FORGOTTEN"
            case .noPermission: "NOPERM"
            case .noAuthentication: "NOAUTH"
            case .wrongPassword: "WRONGPASS"
            case .noProtocol: "NOPROTO"
            case .aborted: "EXECABORT"
            case .moved: "MOVED"
            case .readOnly: "READONLY"
            case .behind: "BEHIND"
            case .forked: "FORKED"
            case .loading: "LOADING"
            }
        }
    }

    /// What kind of failure it is.
    package var code: Code
    /// What went wrong.
    package var message: String
    /// The order of a checkout that has begun, and whose end is not known yet.
    package var begun: Identifier?

    /// A failure.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// A rejection, in the words of the calls: what arguments and commands are named.
    package init(_ rejection: Rejection) {
        var message = rejection.message
        if let argument = rejection.subject?.argument { message = "\(argument): \(message)" }
        let commands = rejection.allowed.map(\.command)
        if let last = commands.last {
            let list = commands.count == 1 ? last : "\(commands.dropLast().joined(separator: ", ")) and \(last)"
            message +=
                rejection.code != .state ? "; see \(list)" : "; allowed \(commands.count == 1 ? "is" : "are") \(list)"
        }
        self.init(.rejected(rejection.code), message)
    }

    package init(_ corruption: CorruptEvent) {
        self.init(
            .corrupt,
            "stream '\(corruption.stream)' is quarantined since position \(corruption.position) "
                + "of partition \(corruption.partition)")
    }

    package init(_ failure: ReadFailure) {
        switch failure {
        case .corrupt(let corruption): self.init(corruption)
        case .unavailable(let reason): self = .unavailable(reason)
        case .busy: self = .busy
        }
    }

    /// Why a command was not accepted.
    package init(_ outcome: CommandOutcome) {
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
        return Failure(.error, "wrong number of arguments for '\(name)' command; \(help)")
    }

    /// Words that make no sense where they stand.
    package static func syntax(_ detail: String) -> Failure { Failure(.error, "syntax error: \(detail)") }

    /// There is no such outlet, or it was removed.
    package static func noOutlet(_ outlet: some CustomStringConvertible) -> Failure {
        Failure(.notFound, "no outlet '\(outlet)'")
    }

    /// There is no such order, or the caller may not see it.
    package static func noOrder(_ order: Identifier) -> Failure { Failure(.notFound, "no order '\(order)'") }

    /// In Redis's words, for whom an id is a key.
    package static let noPermissionForKey = Failure(.noPermission, "No permissions to access a key")
    /// The same, of a channel.
    package static let noPermissionForChannel = Failure(.noPermission, "No permissions to access a channel")
    /// In Redis's words, which its clients look for.
    package static let readOnly = Failure(
        .readOnly, "You can't write against a read only replica: this server follows the log of others")
    package static let busy = Failure(.busy, "too much is waiting; nothing was accepted, try again")

    package static let forgotten = Failure(
        .forgotten,
        "this customer was forgotten, and no command in their name is accepted any more; nothing was accepted")

    package static func invalid(_ field: String, _ reason: String) -> Failure {
        Failure(.invalid, "\(field): \(reason)")
    }

    package static func tooLarge(_ count: Int, limit: Int) -> Failure {
        Failure(.limit, "the document has \(count) bytes, and at most \(limit) can be sent")
    }

    package static func unavailable(_ reason: String) -> Failure {
        Failure(.unavailable, "nothing was accepted: \(reason)")
    }

    /// A checkout has begun, and waits for the outlet's supply.
    package static func checkingOut(_ order: Identifier) -> Failure {
        var failure = unknown("the checkout has begun, and waits for what the outlet has left")
        failure.begun = order
        return failure
    }

    package static func unknown(_ reason: String) -> Failure {
        Failure(.unknown, "the outcome could not be learnt, send again with the same ID: \(reason)")
    }
}
