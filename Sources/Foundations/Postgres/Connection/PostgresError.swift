/// Why a statement or a connection failed, without passwords.
public struct PostgresError: Error, Sendable, CustomStringConvertible {
    /// What is known about the outcome.
    public enum Kind: Sendable {
        /// The connection could not be made or is gone: whether the statement took effect is unknown.
        case connection
        /// The statement was refused: it had no effect.
        case server
    }

    /// What is known about the outcome.
    public let kind: Kind
    /// The stable code.
    public let sqlState: SQLState
    /// What happened, in a sentence.
    public let message: String
    /// More about it, where the server says more; may quote values.
    public let detail: String?
    /// The constraint that was violated, if one was.
    public let constraint: String?

    init(
        _ kind: Kind, _ sqlState: SQLState, _ message: String, detail: String? = nil,
        constraint: String? = nil
    ) {
        self.kind = kind
        self.sqlState = sqlState
        self.message = message
        self.detail = detail
        self.constraint = constraint
    }

    /// Message and code on one line; no detail, which may quote values.
    public var description: String { "\(message) (SQLSTATE \(sqlState))" }
}
