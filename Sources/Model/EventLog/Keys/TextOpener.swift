public import Domain

/// Decrypts the texts on a cart, or on the order made from it, for people.
public struct TextOpener: Sendable {
    /// Stands for a text whose key was destroyed.
    public static let erased = "[erased]"
    /// Stands for a text whose key is missing, or may not be read here.
    public static let sealed = "[sealed]"
    /// Stands for a text that its key does not open.
    public static let damaged = "[damaged]"

    /// Opens nothing.
    public static let none = TextOpener(nil, .unknown)
    /// Stands for any text by one that none is: for a document whose reader may have been shown any of them.
    public static let blank = TextOpener(nil, .unknown, sealed: "")

    private let owner: TextOwner?
    private let key: CustomerKey
    /// What stands for a text whose key is missing.
    private let missing: String

    /// Opens what is sealed with the owner's key.
    public init(_ owner: TextOwner?, _ key: CustomerKey) { self.init(owner, key, sealed: TextOpener.sealed) }

    private init(_ owner: TextOwner?, _ key: CustomerKey, sealed: String) {
        self.owner = owner
        self.key = key
        missing = sealed
    }

    /// What opened the texts of an earlier document with this owner, as far as that is known: once a key is gone, its
    /// texts may have been shown before.
    public func before(_ owner: TextOwner?) -> TextOpener {
        if case .known = key, owner == self.owner { self } else { .blank }
    }

    /// A text as it is shown.
    public func text(of text: PersonalText, _ kind: TextKind = .note) -> String {
        switch text {
        case .plain(let text): text.string
        case .sealed(let text): self.text(of: text, kind)
        }
    }

    /// A sealed text as it is shown.
    public func text(of text: SealedText, _ kind: TextKind) -> String {
        guard let owner else { return missing }
        return switch key {
        case .unknown: missing
        case .known(let key): key.open(text, kind, of: owner) ?? TextOpener.damaged
        case .destroyed: TextOpener.erased
        }
    }
}

extension Cart.Contents {
    /// Whose key opens the texts in it; nil if nothing is sealed.
    public func textOwner(of cart: Identifier) -> TextOwner? {
        guard let customer, lines.contains(where: \.hasSealedNote) else { return nil }
        return TextOwner(customer: customer, cart: cart)
    }
}

extension Order.Placement {
    /// Whose key seals texts of the order; nil if it has no customer.
    public var owner: TextOwner? { customer.map { TextOwner(customer: $0, cart: cart) } }
}

extension Order.Book {
    /// Whose key opens the texts in it; nil if nothing is sealed.
    public var textOwner: TextOwner? {
        let isSealed =
            placement.name != nil || placement.handover.isPersonal || ending?.text?.isSealed ?? false
            || placement.lines.contains(where: \.hasSealedNote)
            || promiseChanges.contains { $0.text?.isSealed ?? false }
        return isSealed ? placement.owner : nil
    }
}

extension CartLine {
    fileprivate var hasSealedNote: Bool { note?.isSealed ?? false }
}

extension PersonalText {
    fileprivate var isSealed: Bool {
        if case .sealed = self { true } else { false }
    }
}
