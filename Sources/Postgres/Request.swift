/// A statement or script that the server has not finished answering.
struct Request {
    enum Kind {
        /// Answered up to its own synchronisation point.
        case statement
        /// Answered outside pipeline mode, up to the end of its results.
        case script
    }

    let kind: Kind
    /// The name of the statement that is being prepared with this request, until the server has.
    var preparing: String?
    /// What the statement, or a script's latest one, returned.
    var rows: Rows?
    /// The first failure; those after it are only its consequences.
    var failure: PostgresError?
    let completion: PostgresConnection.Completion
}
