/// A refusal, or that no answer came.
///
/// With ``Code/lost`` nobody answered in time, and the status is 0. After ``Code/lost`` and ``Code/unknown`` nobody
/// knows whether a write was done; after every other code it was not.
public struct TiffinError: Error, Hashable, Sendable, CustomStringConvertible {
    /// For programs; it does not change.
    public var code: Code
    /// For people.
    public var message: String
    /// The status of HTTP; 0 if there was no answer.
    public var status: Int
    /// The shortest wait before the next attempt.
    var retryAfter = Duration.zero

    /// An error with its code.
    public init(_ code: Code, _ message: String, status: Int = 0) {
        self.code = code
        self.message = message
        self.status = status
    }

    public var description: String { "\(code) \(message)" }

    /// Whether a write may have been done all the same.
    public var leavesDoubt: Bool { code == .lost || code == .unknown }

    /// Whether the same may succeed later.
    public var isTemporary: Bool {
        leavesDoubt || [.busy, .loading, .unavailable].contains(code) || [429, 502, 503, 504].contains(status)
    }

    /// Why there is no answer: what the server says, and ``lost`` of this client. docs/protocol.md says when each is;
    /// there may be more one day.
    public struct Code: Word {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let error: Code = "ERR"
        public static let invalid: Code = "INVALID"
        public static let noAuthentication: Code = "NOAUTH"
        public static let wrongPassword: Code = "WRONGPASS"
        public static let denied: Code = "DENIED"
        public static let noPermission: Code = "NOPERM"
        public static let readOnly: Code = "READONLY"
        public static let notFound: Code = "NOTFOUND"
        public static let conflict: Code = "CONFLICT"
        public static let soldOut: Code = "SOLDOUT"
        public static let closed: Code = "CLOSED"
        public static let wrongOutlet: Code = "WRONGOUTLET"
        public static let state: Code = "STATE"
        public static let limit: Code = "LIMIT"
        public static let totalChanged: Code = "TOTALCHANGED"
        public static let choice: Code = "CHOICE"
        public static let required: Code = "REQUIRED"
        public static let noSlot: Code = "NOSLOT"
        public static let promotion: Code = "PROMO"
        public static let forgotten: Code = "FORGOTTEN"
        public static let otherArguments: Code = "IDMISMATCH"
        public static let corrupt: Code = "CORRUPT"
        public static let busy: Code = "BUSY"
        public static let loading: Code = "LOADING"
        public static let unavailable: Code = "UNAVAILABLE"
        public static let unknown: Code = "UNKNOWN"
        public static let lost: Code = "LOST"
    }
}

/// One of some words, of which there may be more one day.
public protocol Word: RawRepresentable<String>, Codable, Hashable, Sendable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    init(rawValue: String)
}

extension Word {
    public init(stringLiteral word: String) { self.init(rawValue: word) }
    public var description: String { rawValue }
}
