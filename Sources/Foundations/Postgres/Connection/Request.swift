/// A statement, script or copy that the server has not finished answering.
struct Request {
    enum Kind {
        /// Answered up to its own synchronisation point.
        case statement
        /// Answered outside pipeline mode, up to the end of its results: a script or a copy.
        case script
    }

    let kind: Kind
    /// The name of the statement that is being prepared with this request, until the server has.
    var preparing: String?
    /// What takes the rows, if it is a copy.
    var copy: CopyOut?
    /// Whether the next that comes are rows of a copy.
    var isCopying = false
    /// What the statement, or a script's latest one, returned.
    var rows: Rows?
    /// The first failure; those after it are only its consequences.
    var failure: PostgresError?
    let completion: PostgresConnection.Completion
}
