/// Why a server's bytes are not a reply. The connection cannot be read any further.
public enum ReplyError: Error, Equatable, Sendable {
    /// No type of reply starts with this byte.
    case unknownType(UInt8)
    /// A length, integer, double, boolean or null that is spelt wrong.
    case malformedLine(type: UInt8)
    /// The bytes after a bulk string are not CR LF, or a verbatim string has no format.
    case malformedBulk
    /// Text that is not UTF-8, in a line or a verbatim string.
    case notUTF8
    /// More than `ReplyLimits` allow.
    case tooLarge
}
