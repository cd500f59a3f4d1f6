// What a cart asks of the catalogue before it decides.

/// What the catalogue says of an item with chosen options at an outlet.
public typealias OfferSource = (_ item: Identifier, _ chosen: [ChosenOption], _ outlet: Identifier) -> Offer

extension CartLine {
    /// The chosen options, in the order of their ids.
    public var chosen: [ChosenOption] { options.map(\.chosen) }
}

extension Cart.State {
    /// The most that a line takes, where the catalogue still has its item.
    ///
    /// - Parameter offer: what the catalogue says of an item with options at an outlet.
    public func maximum(ofLine id: Text, offer: OfferSource) -> Int? {
        guard let contents, let line = line(id),
            case .available(let item) = offer(line.item, line.chosen, contents.outlet)
        else { return nil }
        return item.maxQuantity
    }

    /// The line of that id, if there is one.
    public func line(_ id: Text) -> CartLine? { contents?.lines.first { $0.id == id } }
}

extension Cart.Command {
    /// The outlet whose status and menu decide about the command, beside the cart; nil where none does.
    public func outlet(for cart: Cart.State) -> Identifier? {
        switch self {
        case .add(let addition): addition.outlet
        case .set, .edit, .checkOut: cart.contents?.outlet
        case .remove, .clear, .tip: nil
        }
    }
}

extension Cart.CheckOut {
    /// A checkout with what the catalogue says now of everything in the cart.
    ///
    /// - Parameters:
    ///   - offer: what the catalogue says of an item with options at an outlet.
    ///   - details: those of an outlet: what it charges, the least that it accepts, and what its orders wait for.
    ///   - now: when it is checked out.
    public init(
        order: Identifier, agreement: Cart.Agreement, of cart: Cart.State, offer: OfferSource,
        details: (_ outlet: Identifier) -> OutletDetails?, now: Timestamp
    ) {
        self.init(order: order, agreement: agreement, offers: [:])
        guard case .filled(let contents) = cart else { return }
        offers = contents.offers(offer)
        guard let details = details(contents.outlet) else { return }
        minimumOrder = details.minimumOrder
        pricing = details.pricing
        terms = Order.Terms(of: details, at: now)
    }
}

extension Cart.Contents {
    /// What the catalogue says now, line by line.
    public func offers(_ offer: OfferSource) -> [Text: Offer] {
        Dictionary(lines.map { ($0.id, offer($0.item, $0.chosen, outlet)) }) { first, _ in first }
    }
}
