/// A statement that each connection prepares when it first executes it.
public struct Statement: Sendable {
    /// What the server knows it by; a connection uses one name for one statement.
    public let name: String
    /// One SQL statement, with parameters `$1`, `$2`, …
    public let sql: String
    /// The types of the parameters, in order.
    public let parameterTypes: [PostgresType]

    /// A statement of this name.
    public init(_ name: String, _ sql: String, _ parameterTypes: [PostgresType] = []) {
        self.name = name
        self.sql = sql
        self.parameterTypes = parameterTypes
    }
}
