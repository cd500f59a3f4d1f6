public import Domain

extension Identifier: ExpressibleByStringLiteral {
    /// The identifier as a literal.
    public init(stringLiteral text: String) {
        self.init(text)!
    }
}

extension Timestamp: ExpressibleByIntegerLiteral {
    /// Milliseconds since the epoch as a literal.
    public init(integerLiteral milliseconds: Int64) {
        self.init(millisecondsSinceEpoch: milliseconds)
    }
}
