/// Why the embedded PostgreSQL does not run, and what can be done about it.
public struct EmbeddedPostgresError: Error, CustomStringConvertible {
    /// One or several sentences for the user who started the program.
    public let description: String

    init(_ description: String) { self.description = description }
}
