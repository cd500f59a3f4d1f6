public import Domain
public import EventLog

/// An order in words: the history of the cart behind it, and what was agreed.
public struct OrderStory: Sendable {
    private let order: Identifier
    private let partition: Int
    private var reading = StreamReading()
    private var placement: Order.Placement?
    private let cart: CartStory?
    private let texts: OpenedTexts

    /// The story of an order.
    ///
    /// - Parameters:
    ///   - events: every event of the order's stream.
    ///   - cart: the story of ``cart(of:)``.
    ///   - texts: what is sealed in the events.
    public init(
        _ order: Identifier, _ events: [RecordedEvent], _ cart: CartStory?, _ texts: OpenedTexts = OpenedTexts()
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

    /// The story, a line of text each.
    ///
    /// - Parameter last: the most events that are told, counted from the end.
    public func text(last: Int) -> [String] {
        let origin = placement.map { ", from cart \($0.cart)" } ?? ""
        let lines = (reading.lines + (cart?.lines ?? [])).sorted { $0.position < $1.position }
        return ["order \(order)\(origin), in partition \(partition) of the log"]
            + lines.text(last: last, namingStreams: true) + [""] + agreement
    }

    private var agreement: [String] {
        guard let placement else { return ["agreed: nothing that can be understood"] }
        let name = placement.name.map { " in the name \(texts.text(ofName: $0).quoted)" } ?? ""
        return ["agreed\(name):"]
            + CartStory.text(
                of: placement.lines, placement.currency, total: placement.total, cart?.origins ?? [:], texts
            ) { _ in "" }
    }
}
