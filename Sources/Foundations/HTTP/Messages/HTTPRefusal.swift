/// Why bytes are no request that a server should answer. The connection has to be closed.
public enum HTTPRefusal: Error, Equatable, Sendable {
    /// A line ends in LF alone, or a CR stands by itself.
    case bareLineEnd
    /// The first line is no request line.
    case malformedRequestLine
    /// The target is no path that begins with `/`, or has characters that have to be written as `%20` and so on.
    case malformedTarget
    /// The version is neither HTTP/1.1 nor HTTP/1.0.
    case unsupportedVersion
    /// A field has no name, or a blank or another character where none belongs.
    case malformedField
    /// A line begins with a blank, and so would belong to the one before it.
    case foldedField
    /// There are more fields than ``HTTPLimits/fieldCount``.
    case tooManyFields
    /// The head is longer than ``HTTPLimits/headBytes``.
    case headTooLarge
    /// There is not exactly one `Host`, or it is no host.
    case malformedHost
    /// There is more than one `Content-Length`, or it is no length.
    case malformedLength
    /// The body has a transfer coding.
    case transferCoding
    /// The body is longer than ``HTTPLimits/bodyBytes``.
    case bodyTooLarge
    /// The client expects something other than `100-continue`.
    case unknownExpectation

    /// The status that says so.
    public var status: HTTPStatus {
        switch self {
        case .bareLineEnd, .malformedRequestLine, .malformedTarget, .malformedField, .foldedField, .malformedHost,
            .malformedLength:
            .badRequest
        case .unsupportedVersion: .versionNotSupported
        case .tooManyFields, .headTooLarge: .fieldsTooLarge
        case .transferCoding: .notImplemented
        case .bodyTooLarge: .contentTooLarge
        case .unknownExpectation: .expectationFailed
        }
    }

    /// What is wrong, for people.
    public var message: String {
        switch self {
        case .bareLineEnd: "every line of a head ends in CR LF"
        case .malformedRequestLine: "the first line must be a method, a target and a version, such as GET / HTTP/1.1"
        case .malformedTarget: "the target must be a path that begins with /, with other characters as %20 and so on"
        case .unsupportedVersion: "the version must be HTTP/1.1 or HTTP/1.0"
        case .malformedField: "a field must be a name, a colon and a value"
        case .foldedField: "a field must be in one line"
        case .tooManyFields: "there are too many fields"
        case .headTooLarge: "the head is too long"
        case .malformedHost: "there must be one Host"
        case .malformedLength: "Content-Length must be one number"
        case .transferCoding: "a body must have a Content-Length and no Transfer-Encoding"
        case .bodyTooLarge: "the body is too long"
        case .unknownExpectation: "nothing but 100-continue can be expected"
        }
    }
}
