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
        case required = "REQUIRED"
        case promo = "PROMO"
        case noSlot = "NOSLOT"
    }

    /// What a rejection of a value is about.
    public enum Subject: Equatable, Sendable {
        /// A place in a document, such as `sections[0].items[2].price`, or a value of that name.
        case field(String)
        /// An argument of a command, which clients may call otherwise.
        case address, amount, before, name, note, partOf, phone, quantity, readyBy, reason, service, size, table, until,
            wanted
    }

    /// What can be done instead, or helps.
    public enum Action: Equatable, Sendable {
        case openOutlet, priceOption
        case addToCart, showCart, countCart, chooseService
        case acceptOrder, rejectOrder, prepareOrder, readyOrder, completeOrder, delayOrder, cancelOrder, refundOrder
        case agreeChange, declineChange
        case showOrder
    }

    /// What kind of rejection it is.
    public let code: Code
    /// What it is about, if it is about one value.
    public let subject: Subject?
    /// Why, in words for a person; the name of an argument is not among them.
    public let message: String
    /// What can be done instead, if that can be said.
    public let allowed: [Action]
    /// Whether it is about all of the aggregate, whose id a decider does not know: see ``naming(_:)``.
    private let isAboutAll: Bool

    /// A rejection with its code and reason.
    ///
    /// - Parameter isAboutAll: whether the aggregate itself is not there.
    public init(
        _ code: Code, _ message: String, about subject: Subject? = nil, allowed: [Action] = [], isAboutAll: Bool = false
    ) {
        self.code = code
        self.subject = subject
        self.message = if case .field(let field) = subject { "\(field): \(message)" } else { message }
        self.allowed = allowed
        self.isAboutAll = isAboutAll
    }

    /// The same rejection. If it is about an aggregate as a whole, it also names that aggregate.
    public func naming(_ id: Identifier) -> Rejection { isAboutAll ? Rejection(code, "\(message): '\(id)'") : self }

    /// A value out of range or malformed.
    public static func invalid(_ subject: Subject, _ reason: String) -> Rejection {
        Rejection(.invalid, reason, about: subject)
    }
}

extension Rejection.Subject: ExpressibleByStringInterpolation {
    /// A field.
    public init(stringLiteral field: String) { self = .field(field) }
}
