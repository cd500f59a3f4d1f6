/// Why a client's bytes are not a request, in Redis's own words. The connection cannot be read any further, so the
/// server answers and closes.
public enum ProtocolError: Error, Equatable, Sendable {
    case tooBigInlineRequest
    case tooBigMultibulkCountString
    case tooBigBulkCountString
    case invalidMultibulkLength
    case invalidBulkLength
    case unauthenticatedMultibulkLength
    case unauthenticatedBulkLength
    case unbalancedQuotes
    /// Something else where the `$` of a bulk string should be.
    case expectedBulk(got: UInt8)
    /// The bytes after a bulk string are not CR LF: its length was wrong. (Redis does not look.)
    case unterminatedBulk
    /// The arguments together exceed `RequestLimits.requestLength`. (Redis closes without a word.)
    case tooBigRequest

    /// The text after the `ERR` code of the reply, such as `Protocol error: invalid bulk length`.
    public var message: String {
        "Protocol error: \(reason)"
    }

    private var reason: String {
        switch self {
        case .tooBigInlineRequest: "too big inline request"
        case .tooBigMultibulkCountString: "too big mbulk count string"
        case .tooBigBulkCountString: "too big bulk count string"
        case .invalidMultibulkLength: "invalid multibulk length"
        case .invalidBulkLength: "invalid bulk length"
        case .unauthenticatedMultibulkLength: "unauthenticated multibulk length"
        case .unauthenticatedBulkLength: "unauthenticated bulk length"
        case .unbalancedQuotes: "unbalanced quotes in request"
        case .expectedBulk(let byte): "expected '$', got '\(ProtocolError.printable(byte))'"
        case .unterminatedBulk: "expected CRLF after bulk string"
        case .tooBigRequest: "too big request"
        }
    }

    /// The byte as a character, or as `\xHH` if it is invisible or would break the line.
    private static func printable(_ byte: UInt8) -> String {
        if (0x20...0x7E).contains(byte) { return String(UnicodeScalar(byte)) }
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "\\x0\(digits)" : "\\x\(digits)"
    }
}
