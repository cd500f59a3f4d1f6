/// A command that the domain does not accept: a stable code for programs, and a text for people.
///
/// Rejections are answers, not failures: nothing has changed, and the text is safe to show to anybody.
public struct Rejection: Error, Equatable, Sendable {
    /// The stable codes of the domain, as they appear on the wire.
    public enum Code: String, Sendable {
        case invalid = "INVALID"
        case notFound = "NOTFOUND"
        case conflict = "CONFLICT"
        case idMismatch = "IDMISMATCH"
        case closed = "CLOSED"
        case soldOut = "SOLDOUT"
        case wrongOutlet = "WRONGOUTLET"
        case limit = "LIMIT"
        case state = "STATE"
        case totalChanged = "TOTALCHANGED"
        case choice = "CHOICE"
    }

    /// What kind of rejection it is.
    public let code: Code
    /// Why, in words for a person.
    public let message: String
    /// Whether it is about all of the aggregate, whose id a decider does not know: see ``naming(_:)``.
    private let isAboutAll: Bool

    /// A rejection with its code and reason.
    ///
    /// - Parameter isAboutAll: whether the aggregate itself is not there.
    public init(_ code: Code, _ message: String, isAboutAll: Bool = false) {
        self.code = code
        self.message = message
        self.isAboutAll = isAboutAll
    }

    /// The same rejection. If it is about an aggregate as a whole, it also names that aggregate.
    public func naming(_ id: Identifier) -> Rejection { isAboutAll ? Rejection(code, "\(message): '\(id)'") : self }

    /// A value out of range or malformed.
    ///
    /// - Parameter field: where the value stands, such as `sections[0].items[2].price`.
    public static func invalid(_ field: String, _ reason: String) -> Rejection {
        Rejection(.invalid, "\(field): \(reason)")
    }
}
