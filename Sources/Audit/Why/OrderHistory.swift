public import Domain
public import EventLog

/// The history of an order: that of its cart, and what was agreed.
public struct OrderHistory: Sendable {
    private let order: Identifier
    private let partition: Int
    private var reading = StreamReader()
    private var placement: Order.Placement?
    private let cart: CartHistory?
    private let texts: DecryptedTexts

    /// The history of an order.
    ///
    /// - Parameters:
    ///   - events: every event of the order's stream.
    ///   - cart: the history of ``cart(of:)``.
    ///   - texts: the sealed texts of the events.
    public init(
        _ order: Identifier, _ events: [RecordedEvent], _ cart: CartHistory?, _ texts: DecryptedTexts = DecryptedTexts()
    ) {
        self.order = order
        self.cart = cart
        self.texts = texts
        partition = events.first?.partition ?? 0
        var state = Order.initial
        for event in events {
            reading.take(event) { event in
                guard case .order(let change) = event.event else { throw ImpossibleEvent("no event of an order") }
                try Order.evolve(&state, change)
                guard case .placed(let placement) = change else { return "" }
                return "placed with outlet \(placement.outlet): \(placement.count.counted("item")) for "
                    + placement.total.words(in: placement.currency)
            }
        }
        if case .placed(let placement) = state { self.placement = placement }
    }

    /// The cart that an order was placed from.
    public static func cart(of events: [RecordedEvent]) -> Identifier? {
        for event in events {
            if case .order(.placed(let placement)) = (try? event.decoded())?.event { return placement.cart }
        }
        return nil
    }

    /// The history as lines of text.
    ///
    /// - Parameter last: the number of events shown, counted from the end.
    public func text(last: Int) -> [String] {
        let origin = placement.map { ", from cart \($0.cart)" } ?? ""
        let lines = (reading.lines + (cart?.lines ?? [])).sorted { $0.position < $1.position }
        return ["order \(order)\(origin), in partition \(partition) of the log"]
            + lines.text(last: last, namingStreams: true) + [""] + agreement
    }

    private var agreement: [String] {
        guard let placement else { return ["agreed: unknown, the order cannot be read"] }
        let name = placement.name.map { " under the name \(texts.text(ofName: $0).quoted)" } ?? ""
        return ["agreed\(name):"]
            + CartHistory.text(
                of: placement.lines, placement.currency, total: placement.total, cart?.origins ?? [:], texts
            ) { _ in "" }
    }
}
