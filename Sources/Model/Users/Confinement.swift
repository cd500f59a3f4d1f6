public import Domain

/// What the id in an argument names, as far as it matters who may use it.
public enum Subject: Sendable {
    case cart
    case outlet
    /// An order's id does not say whose it is: that is decided when the order has been read.
    case order
    /// A stream of which an event is proven. Whoever is confined may prove those of orders, and whose they are is decided
    /// when they have been read.
    case proof
    case customer
    case savedQuery
    /// The answer to a question about everything that can be found.
    case catalogue
    /// What an outlet's kitchen sees.
    case kitchen
}

/// The part of everything that a user is confined to.
///
/// A customer may use the carts, customer ids and saved queries that carry one of its ids, and orders from such carts;
/// outlets are there for every customer. A merchant may use the outlets that it was granted, and their orders.
public final class Confinement: Sendable {
    private let role: Role
    private let ids: [Identifier]

    /// - Parameter ids: what the user was granted; not empty.
    init(_ role: Role, _ ids: [Identifier]) {
        self.role = role
        self.ids = ids
    }

    /// The role and the ids, as another server is told them.
    public var words: [String] { [role.rawValue] + ids.map(\.rawValue) }

    /// What ``words`` say; nil where they say nothing that confines.
    public convenience init?(words: [String]) {
        guard words.count > 1, let role = Role(rawValue: words[0]) else { return nil }
        let ids = words.dropFirst().compactMap { Identifier($0) }
        guard ids.count == words.count - 1 else { return nil }
        self.init(role, ids)
    }

    /// What a customer known by this id alone may use.
    public convenience init(ofCustomer id: Identifier) { self.init(.customer, [id]) }

    /// Whether the user may use what has this id.
    public func allows(_ id: Identifier, as subject: Subject) -> Bool {
        switch (role, subject) {
        case (_, .order), (_, .proof), (.customer, .outlet), (.customer, .catalogue): true
        case (.customer, .cart), (.customer, .customer), (.customer, .savedQuery):
            ids.contains { $0.isCarried(by: id) }
        case (.merchant, .outlet), (.merchant, .kitchen): ids.contains(id)
        default: false
        }
    }

    /// Whether the user may see an order from a cart, at an outlet.
    public func allowsOrder(from cart: Identifier, at outlet: Identifier) -> Bool {
        role == .merchant ? allows(outlet, as: .outlet) : allows(cart, as: .cart)
    }

    /// Whether it is a customer, not a merchant.
    public var isOfCustomer: Bool { role == .customer }

    /// Whether the user may ask for whatever is in the catalogue: what comes back can be of any outlet.
    public var allowsCatalogue: Bool { role == .customer }
}

extension Identifier {
    /// Whether an id is this one, or begins with it and one of the characters that end a part of an id.
    public func isCarried(by id: Identifier) -> Bool {
        let (own, other) = (rawValue.utf8, id.rawValue.utf8)
        guard other.starts(with: own) else { return false }
        return other.count == own.count
            || [UInt8]("-:.".utf8).contains(other[other.index(other.startIndex, offsetBy: own.count)])
    }
}
