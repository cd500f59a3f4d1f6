/// A command line that cannot be understood; the text tells the user what to change.
public struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public let description: String

    /// A command line with that fault.
    public init(_ description: String) {
        self.description = description
    }
}
