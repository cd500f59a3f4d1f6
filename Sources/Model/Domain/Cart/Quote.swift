/// What a cart costs now: its lines at today's prices, and the bill. Nothing is promised by it.
public struct Quote: Sendable {
    /// The lines at today's prices. One that cannot be had now keeps the price that it was added at.
    public let lines: [CartLine]
    /// What they cost with everything that is charged.
    public let bill: Bill
    /// What has become of the codes that the customer has said.
    public let codes: [(code: Text, state: Discounts.CodeState)]
    /// Another one whenever anything that is priced or promised differs, even if the totals are equal.
    public let digest: Text
    /// How many hexadecimal digits it has.
    public static let digestDigits = 16

    /// The quote for a cart.
    ///
    /// - Parameters:
    ///   - offers: what the catalogue says now of each line, in their order.
    ///   - terms: what the outlet charges beside the prices, for orders that are had in that way.
    ///   - service: how the order is had; nil where there is nothing to choose.
    ///   - prepMinutes: how soon it is promised, if it is.
    ///   - promotions: those of the outlet, in the order of their ids.
    ///   - now: when.
    /// - Throws: as ``Bill/init(for:on:tip:)``, and `INVALID` for an item with a tax that the outlet does not have.
    public init(
        of contents: Cart.Contents, offers: [Offer], terms: PricingTerms, for service: ServiceKind? = nil,
        prepMinutes: Int? = nil, promotions: [Promotion.Candidate] = [],
        at now: Timestamp = Timestamp(millisecondsSinceEpoch: 0)
    ) throws(Rejection) {
        var lines = contents.lines
        var billed: [Bill.Line] = []
        billed.reserveCapacity(lines.count)
        for (index, offer) in zip(lines.indices, offers) {
            var (tax, parts): (Identifier?, [Bill.Part]) = (nil, [])
            if case .available(let item) = offer {
                lines[index].unitPrice = item.unitPrice
                lines[index].options = item.options
                (tax, parts) = (item.tax, item.parts)
            } else if case .taxGone = offer {
                _ = try offer.item(lines[index].item, of: contents.outlet)
            }
            billed.append(Bill.Line(try lines[index].total(), tax: tax, parts: parts))
        }
        self.lines = lines
        var discounts: Discounts?
        if !promotions.isEmpty || !contents.codes.isEmpty {
            let subtotal = try lines.total()
            let delivery = terms.delivery.flatMap { $0.isDue(for: subtotal) ? $0.amount : nil } ?? .zero
            discounts = Discounts(
                promotions,
                off: Discounts.Basket(
                    lines, subtotal: subtotal, delivery: delivery, codes: contents.codes, service: service, at: now))
        }
        codes = discounts?.codes ?? []
        bill = try Bill(for: billed, on: terms, discounts: discounts?.list ?? [], tip: contents.tip)
        digest = Quote.digest(
            of: lines, Order.Price(bill.total, bill.charges), at: contents.outlet, in: contents.currency, for: service,
            // An order for a time is promised for that time, however long it takes.
            promise: contents.wanted?.millisecondsSinceEpoch ?? prepMinutes.map { Int64($0) }, codes)
    }

    /// The digest of a bill for lines at an outlet, and of what is promised.
    static func digest(
        of lines: [CartLine], _ price: Order.Price, at outlet: Identifier, in currency: Currency,
        for service: ServiceKind?, promise: Int64? = nil, _ codes: [(code: Text, state: Discounts.CodeState)] = []
    ) -> Text {
        var hash = StableHash()
        hash.add(outlet.text)
        hash.add(Text(currency.code))
        if let service { hash.add(Text(service.rawValue)) }
        for line in lines {
            hash.add(line.id)
            hash.add(Int64(line.quantity))
            hash.add(line.unitPrice.minorUnits)
            for option in line.options {
                hash.add(option.id.text)
                hash.add(Int64(option.units))
                hash.add(option.price.minorUnits)
                hash.add(Int64(option.free))
            }
        }
        for charge in price.charges {
            hash.add(Text(charge.kind.rawValue))
            hash.add(charge.id?.text ?? "")
            hash.add(Int64(charge.rate?.thousandths ?? 0))
            hash.add(charge.amount.minorUnits)
            hash.add(charge.isIncluded ? 1 : 0)
            for share in charge.shares { hash.add(share.minorUnits) }
            if let discount = charge.discount {
                hash.add(discount.title)
                hash.add(Text(discount.payer.rawValue))
            }
        }
        hash.add(price.total.minorUnits)
        if let promise { hash.add(promise) }
        for (code, state) in codes {
            hash.add(code)
            hash.add(Text(state.rawValue))
        }
        return Text(hash.text)
    }
}
