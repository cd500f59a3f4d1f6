// What a cart asks of the catalogue before it decides.

/// What the catalogue says of lines of a cart, in their order, where its order is had as was chosen.
public typealias OfferSource = (_ lines: [CartLine], _ cart: Cart.Contents) -> [Offer]

/// The promotions of a cart's outlet, in the order of their ids, which lines each of them is about, and whether the
/// cart's customer can use it.
public typealias PromotionSource = (_ lines: [CartLine], _ cart: Cart.Contents) -> [Promotion.Candidate]

extension CartLine {
    /// The chosen options, in the order of their ids.
    public var chosen: [ChosenOption] { options.map(\.chosen) }
}

extension Cart.State {
    /// The most that a line takes, where the catalogue still has its item.
    ///
    /// - Parameter offers: what the catalogue says of lines of the cart.
    public func maximum(ofLine id: Text, offers: OfferSource) -> Int? {
        guard let contents, let line = line(id),
            case .available(let item)? = offers([line], contents).first
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
        case .set, .edit, .checkOut, .chooseService, .addCode: cart.contents?.outlet
        case .remove, .clear, .tip, .removeCode, .conclude: nil
        }
    }
}

extension Cart.CheckOut {
    /// A checkout with what the catalogue says now of everything in the cart.
    ///
    /// - Parameters:
    ///   - offers: what the catalogue says of lines of the cart.
    ///   - claims: what lines take of what an outlet has counted.
    ///   - promotions: the promotions of the cart's outlet.
    ///   - details: those of the cart's outlet: what it charges, the least that it accepts, and what its orders wait for.
    ///   - hours: what an outlet's hours say of a time.
    ///   - now: when it is checked out.
    public init(
        order: Identifier, agreement: Cart.Agreement, of cart: Cart.State, offers source: OfferSource,
        claims: (_ lines: [CartLine], _ outlet: Identifier) -> [Claim] = { _, _ in [] },
        promotions: PromotionSource = { _, _ in [] }, details: (_ cart: Cart.Contents) -> OutletDetails?,
        hours: HoursSource = { _, _, _ in nil }, now: Timestamp
    ) {
        self.init(order: order, agreement: agreement, offers: [:])
        time = now
        guard case .filled(let contents) = cart else { return }
        let list = source(contents.lines, contents)
        offers = Dictionary(zip(contents.lines.lazy.map(\.id), list)) { first, _ in first }
        self.claims = claims(contents.lines, contents.outlet)
        self.promotions = promotions(contents.lines, contents)
        guard let details = details(contents) else { return }
        let service: ServiceKind?
        do throws(Rejection) {
            service = try details.service(contents.service)
            if let wanted = contents.wanted {
                try details.check(wanted, for: service, hours(details, service, wanted))
            }
        } catch {
            refusal = error
            return
        }
        if let slot = details.claim(of: contents.wanted) { self.claims = (self.claims + [slot]).summed }
        handover.service = service
        handover.table = contents.table
        requirements = details.requirements(for: service)
        minimumOrder = details.minimumOrder(for: service)
        prepMinutes = details.prepMinutes(for: service)
        pricing = details.pricing(for: service)
        terms = Order.Terms(of: details, for: service, at: now, wanted: contents.wanted)
    }
}
