// What a cart asks of the catalogue before it decides.

extension Cart.State {
    /// The most that a line takes, where the catalogue still has its item.
    ///
    /// - Parameter offer: what the catalogue says of an item at an outlet.
    public func maximum(
        ofLine id: Text, offer: (_ item: Identifier, _ outlet: Identifier) -> Offer
    ) -> Int? {
        guard let contents, let line = contents.lines.first(where: { $0.id == id }),
            case .available(let item) = offer(line.item, contents.outlet)
        else { return nil }
        return item.maxQuantity
    }
}

extension Cart.Command {
    /// The outlet whose status and menu decide about the command, beside the cart; nil where none does.
    public func outlet(for cart: Cart.State) -> Identifier? {
        switch self {
        case .add(let addition): addition.outlet
        case .set, .checkOut: cart.contents?.outlet
        case .remove, .clear: nil
        }
    }
}

extension Cart.CheckOut {
    /// A checkout with what the catalogue says now of everything in the cart.
    ///
    /// - Parameters:
    ///   - offer: what the catalogue says of an item at an outlet.
    ///   - details: those of an outlet: the smallest total that it accepts, and what its orders wait for.
    ///   - now: when it is checked out.
    public init(
        order: Identifier, agreedTotal: Amount, of cart: Cart.State,
        offer: (_ item: Identifier, _ outlet: Identifier) -> Offer, details: (_ outlet: Identifier) -> OutletDetails?,
        now: Timestamp
    ) {
        self.init(order: order, agreedTotal: agreedTotal, offers: [:])
        guard case .filled(let contents) = cart else { return }
        if let details = details(contents.outlet) {
            minimumOrder = details.minimumOrder
            terms = Order.Terms(of: details, at: now)
        }
        for line in contents.lines { offers[line.id] = offer(line.item, contents.outlet) }
    }
}
