public import Domain
public import EventLog

/// What the sealed texts of a history say, as far as the reader may know.
public struct DecryptedTexts: Sendable {
    private var texts: [SealedText: String] = [:]

    /// No text is known.
    public init() {}

    /// What a text says, or what is shown instead.
    public subscript(text: SealedText) -> String? {
        get { texts[text] }
        set { texts[text] = newValue }
    }

    func text(of text: PersonalText) -> String {
        switch text {
        case .plain(let text): text.string
        case .sealed(let text): texts[text] ?? TextOpener.sealed
        }
    }

    func text(of text: SealedText) -> String { texts[text] ?? TextOpener.sealed }
}

/// A sealed text of a history, and where readers with the right to it can see it.
public struct SealedTextUse: Sendable {
    /// The text.
    public var text: SealedText
    /// What it is.
    public var kind: TextKind
    /// Whose it is.
    public var owner: TextOwner
    /// The position of the last event that has it.
    public var position: Int64
    /// The line of the cart that it is a note on; nil for any other text.
    public var line: Text?
    /// The order that has it; nil for a note on a cart.
    public var order: Identifier?

    /// The sealed texts of carts and orders, each once, ordered by their last use.
    public static func all(in events: [RecordedEvent]) -> [SealedTextUse] {
        var passages: [SealedTextUse] = []
        var known: Set<SealedText> = []
        let decoded = events.compactMap { try? $0.decoded() }
        var owners: [Identifier: TextOwner] = [:]
        for case (let order, .order(.placed(let placement))) in decoded.map({ ($0.stream.id, $0.event) }) {
            owners[order] = placement.owner
        }
        for event in decoded.reversed() {
            for passage in all(in: event, ofOrders: owners) where known.insert(passage.text).inserted {
                passages.append(passage)
            }
        }
        return passages
    }

    /// The sealed texts of an event, in which each may be several times.
    ///
    /// - Parameter owners: of what is sealed on orders that were placed before.
    static func all(in event: DecodedEvent, ofOrders owners: [Identifier: TextOwner] = [:]) -> [SealedTextUse] {
        switch event.event {
        case .cart(.itemAdded(let line, _, _, let customer?)):
            let owner = TextOwner(customer: customer, cart: event.stream.id)
            return notes(on: [line], of: owner, event.position)
        case .cart(.lineEdited(_, let line, let customer?)):
            return notes(on: [line], of: TextOwner(customer: customer, cart: event.stream.id), event.position)
        case .cart(.checkedOut(let order, let lines, _, _, let customer?, let name, let handover)):
            let owner = TextOwner(customer: customer, cart: event.stream.id)
            return notes(on: lines, of: owner, event.position)
                + texts(name, handover, on: order, of: owner, event.position)
        case .cart(.checkoutBegun(let checkout)):
            guard let customer = checkout.customer else { return [] }
            let owner = TextOwner(customer: customer, cart: event.stream.id)
            return notes(on: checkout.lines, of: owner, event.position)
                + texts(checkout.name, checkout.handover, on: checkout.order, of: owner, event.position)
        case .order(.placed(let placement)):
            guard let owner = placement.owner else { return [] }
            return notes(on: placement.lines, of: owner, event.position, order: event.stream.id)
                + texts(placement.name, placement.handover, on: event.stream.id, of: owner, event.position)
        case .order(.rejected(let ending)), .order(.cancelled(let ending)):
            return reason(ending.text, on: event, owners)
        case .order(.delayed(_, let text)): return reason(text, on: event, owners)
        case .cart, .order, .outlet, .menu, .supply, .promotions, .deed: return []
        }
    }

    private static func reason(
        _ text: PersonalText?, on event: DecodedEvent, _ owners: [Identifier: TextOwner]
    ) -> [SealedTextUse] {
        guard case .sealed(let text) = text, let owner = owners[event.stream.id] else { return [] }
        return [
            SealedTextUse(text: text, kind: .reason, owner: owner, position: event.position, order: event.stream.id)
        ]
    }

    private static func notes(
        on lines: [CartLine], of owner: TextOwner, _ position: Int64, order: Identifier? = nil
    ) -> [SealedTextUse] {
        lines.compactMap { line in
            guard case .sealed(let note) = line.note else { return nil }
            return SealedTextUse(
                text: note, kind: .note, owner: owner, position: position, line: line.id, order: order)
        }
    }

    private static func texts(
        _ name: SealedText?, _ handover: Handover, on order: Identifier, of owner: TextOwner, _ position: Int64
    ) -> [SealedTextUse] {
        [(name, TextKind.name), (handover.phone, .phone), (handover.address, .address)].compactMap { text, kind in
            text.map {
                SealedTextUse(text: $0, kind: kind, owner: owner, position: position, line: nil, order: order)
            }
        }
    }
}
