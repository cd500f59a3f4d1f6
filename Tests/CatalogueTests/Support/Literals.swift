package import Domain

extension Identifier: ExpressibleByStringLiteral {
    /// The identifier as a literal.
    package init(stringLiteral text: String) {
        self.init(text)!
    }
}

extension Timestamp: ExpressibleByIntegerLiteral {
    /// Milliseconds since the epoch as a literal.
    package init(integerLiteral milliseconds: Int64) {
        self.init(millisecondsSinceEpoch: milliseconds)
    }
}
