/// A statement that each connection prepares when it first executes it.
package struct Statement: Sendable {
    /// The server's name for it. A connection uses a name for one statement only.
    package let name: String
    /// One SQL statement, with parameters `$1`, `$2`, …
    package let sql: String
    /// The types of the parameters, in order.
    package let parameterTypes: [PostgresType]

    /// A statement with this name.
    package init(_ name: String, _ sql: String, _ parameterTypes: [PostgresType] = []) {
        self.name = name
        self.sql = sql
        self.parameterTypes = parameterTypes
    }
}
