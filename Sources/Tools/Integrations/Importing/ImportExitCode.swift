/// How an import ended, as the exit code of the process.
package enum ImportExitCode: Int32, CaseIterable, Sendable {
    case fine = 0
    case malformed = 3
    case empty = 4
    case unreadable = 5
    case disconnected = 6
    case usage = 64

    /// What the code says, for the help.
    package var summary: String {
        switch self {
        case .fine: "everything in the file is taken"
        case .malformed: "something is malformed or refused: of outlets the others are taken, of a menu nothing"
        case .empty: "the file is valid and holds nothing; a menu stays as it was"
        case .unreadable: "the file cannot be read or fetched, or is not of its format"
        case .disconnected: "the server cannot be reached, refuses, or the connection was lost"
        case .usage: "wrong options"
        }
    }
}
