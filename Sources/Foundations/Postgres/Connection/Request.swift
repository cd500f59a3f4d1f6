/// A statement, perhaps with several lists of parameters, a script or a copy that the server has not finished answering.
struct Request {
    enum Kind {
        /// Answered up to its own synchronisation point.
        case statement
        /// Answered outside pipeline mode, up to the end of its results: a script or a copy.
        case script
    }

    let kind: Kind
    /// How many results it has: one for each list of parameters.
    var count = 1
    /// The name of the statement that is being prepared with this request, until the server has.
    var preparing: String?
    /// What takes the rows, if it is a copy.
    var copy: CopyOut?
    /// Whether the next that comes are rows of a copy.
    var isCopying = false
    /// What the statement returned for each list of parameters up to a failure, or a script's latest one.
    var rows: [Rows] = []
    /// The first failure; those after it are only its consequences.
    var failure: PostgresError?
    let completion: PostgresConnection.TransactionCompletion
}
