/// Why the embedded PostgreSQL does not run, and what can be done about it.
package struct EmbeddedPostgresError: Error, CustomStringConvertible {
    /// One or several sentences for whoever started the program.
    package let description: String

    init(_ description: String) { self.description = description }
}
