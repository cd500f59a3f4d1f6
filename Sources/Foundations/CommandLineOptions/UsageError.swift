/// A command line that cannot be understood; the text tells whoever typed it what to change.
package struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong.
    package let description: String

    /// A command line with that fault.
    package init(_ description: String) {
        self.description = description
    }
}
