/// A currency by its ISO 4217 code, such as `INR`.
public struct Currency: Hashable, Sendable, CustomStringConvertible {
    /// The three-letter code.
    public let code: String

    /// A currency, or nil where the text is not three capital letters.
    public init?(_ code: String) {
        guard code.utf8.count == 3, code.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else { return nil }
        self.code = code
    }

    /// The three-letter code.
    public var description: String { code }
}
