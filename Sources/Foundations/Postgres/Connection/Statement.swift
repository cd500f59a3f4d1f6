/// A statement that each connection prepares when it first executes it.
public struct Statement: Sendable {
    /// The server's name for it. A connection uses a name for one statement only.
    public let name: String
    /// One SQL statement, with parameters `$1`, `$2`, …
    public let sql: String
    /// The types of the parameters, in order.
    public let parameterTypes: [PostgresType]

    /// A statement with this name.
    public init(_ name: String, _ sql: String, _ parameterTypes: [PostgresType] = []) {
        self.name = name
        self.sql = sql
        self.parameterTypes = parameterTypes
    }
}
