internal import EventLoop
internal import Postgres

/// What went wrong in the database, in two texts.
struct DatabaseTrouble {
    static let damaged = "the log in the database is damaged"
    static let full = "the database's disk is full"
    static let forked = "the log has lost what was read of it, and is read again"

    /// For clients, who may be anybody: it names no host, path or constraint.
    let plain: String
    /// For the operator.
    let whole: String

    init(_ error: PostgresError) {
        plain =
            error.sqlState.inPlainWords
            ?? (error.kind == .connection ? "the database cannot be reached" : "the database refused")
        whole = "\(error)"
    }
}

extension DatabaseTrouble {
    /// Tells an operator about troubles, and about the same one only now and then.
    struct Report {
        /// How long the same trouble is not told again, in nanoseconds.
        private static let silence: UInt64 = 10_000_000_000

        private let tell: @LoopActor (String) -> Void
        private var last: (plain: String, at: UInt64)?

        init(_ tell: @escaping @LoopActor (String) -> Void) { self.tell = tell }

        @LoopActor
        mutating func take(_ trouble: DatabaseTrouble, _ connection: String) {
            let now = LoopActor.now
            if let last, last.plain == trouble.plain, now - last.at < Report.silence { return }
            last = (trouble.plain, now)
            tell("\(connection): \(trouble.whole)")
        }
    }
}

extension SQLState {
    /// What it means, for somebody who knows nothing of the database; nil where it is one of the rest.
    ///
    /// Source of the codes: PostgreSQL's manual, appendix A.
    fileprivate var inPlainWords: String? {
        switch rawValue {
        case SQLState.noAnswer.rawValue, "57014": "the database did not answer in time"
        case SQLState.connectionFailure.rawValue: "the connection to the database was lost"
        case SQLState.readOnly.rawValue: "the database is read-only"
        case "40P01", "55P03": "somebody else holds a lock in the database"
        case "53100": DatabaseTrouble.full
        case "53300": "the database takes no more connections"
        case "58030": "the database's disk fails"
        case "XX001", "XX002": DatabaseTrouble.damaged
        default:
            switch classCode {
            case "08", "57": "the database cannot be reached"
            case "22", "23": DatabaseTrouble.damaged
            case "28", "3D", "3F", "42": "the database does not have what the server needs, or does not let it"
            case "53", "58": "the database lacks memory, disk or the like"
            default: nil
            }
        }
    }
}
