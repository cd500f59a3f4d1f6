internal import EventLoop
internal import Postgres

/// Says what goes wrong in the database. If there is a listener, it learns the whole, and of the same trouble only now
/// and then; callers then learn only what clients may know. Without a listener, callers learn the whole.
@LoopActor
struct DatabaseTrouble {
    nonisolated static let damaged = "the log in the database is damaged"
    nonisolated static let full = "the database's disk is full"
    nonisolated static let forked = "the log has lost what was read of it, and is read again"
    nonisolated static let archiveAway = "old events were archived, and the archive cannot be read"
    nonisolated static let moved = "the partition is on its way to another database"

    /// How long the same trouble is not told again, in nanoseconds.
    private static let silence: UInt64 = 10_000_000_000

    private let listener: (@LoopActor (String) -> Void)?
    private var last: (words: String, at: UInt64)?

    init(listener: (@LoopActor (String) -> Void)?) { self.listener = listener }

    /// What a caller learns of an error on a connection.
    ///
    /// - Parameter isKnown: whether who listens knows of it already.
    mutating func told(_ error: PostgresError, on connection: String, isKnown: Bool = false) -> String {
        let words =
            error.sqlState.inPlainWords
            ?? (error.kind == .connection ? "the database cannot be reached" : "the database refused")
        return told("\(error)", as: words, on: connection, isKnown: isKnown)
    }

    /// The same of what went wrong elsewhere.
    ///
    /// - Parameter words: what clients may know of it.
    mutating func told(_ error: String, as words: String, on connection: String, isKnown: Bool = false) -> String {
        guard let listener else { return error }
        let now = LoopActor.now
        let isRepeated = last.map { $0.words == words && now - $0.at < DatabaseTrouble.silence } ?? false
        if !isKnown, !isRepeated {
            last = (words, now)
            listener("\(connection): \(error)")
        }
        return words
    }
}

extension SQLState {
    /// What it means, for clients, who may be anybody: it names no host, path or constraint. nil where it is one of the
    /// rest.
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
