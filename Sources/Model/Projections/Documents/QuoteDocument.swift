public import Domain
public import EventLog
public import TextFormats

/// What a cart costs now, as `CART.QUOTE` answers it.
public enum QuoteDocument {
    /// The document.
    ///
    /// - Parameters:
    ///   - texts: decrypts the notes.
    ///   - offers: what the catalogue says of lines of the cart.
    ///   - details: what the cart's outlet says of itself; nil where there is none.
    ///   - promotions: the promotions of the cart's outlet.
    ///   - now: when.
    ///   - hours: what its hours say of a time.
    public static func bytes(
        of cart: Identifier, state: Cart.State, version: Int64, texts: TextOpener, offers: OfferSource,
        promotions: PromotionSource = { _, _ in [] }, at now: Timestamp = Timestamp(millisecondsSinceEpoch: 0),
        details: (_ cart: Cart.Contents) -> OutletDetails?, hours: HoursSource = { _, _, _ in nil }
    ) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 512 + 512 * (state.contents?.lines.count ?? 0))
        writer.beginObject()
        writer.field("cart", cart.rawValue)
        writer.field("outlet", state.contents?.outlet.rawValue)
        writer.field("version", version)
        writer.field("currency", state.contents?.currency.code)
        switch state {
        case .filled(let contents):
            write(
                contents, offers(contents.lines, contents), promotions(contents.lines, contents), now,
                details(contents), hours, texts, to: &writer)
        case .empty: write([], charges: [], total: 0, texts, to: &writer)
        case .checkingOut(let contents, let checkout):
            // What was agreed.
            writeHandover(checkout.handover.service, of: contents, to: &writer)
            write(checkout.lines, charges: checkout.charges, total: checkout.total.minorUnits, texts, to: &writer)
            writer.field("order", checkout.order.rawValue)
        case .checkedOut(let contents, let order):
            // What it cost: an order is never priced again.
            writeHandover(contents.service, of: contents, to: &writer)
            write(
                contents.lines, charges: contents.charges, total: (try? contents.payable())?.minorUnits, texts,
                to: &writer)
            writer.field("order", order.rawValue)
        }
        writer.endObject()
        return writer.bytes
    }

    /// How the order is had, where there is anything to choose.
    private static func writeHandover(
        _ service: ServiceKind?, of contents: Cart.Contents, to writer: inout JSONWriter
    ) {
        if let service { writer.field("service", service.rawValue) }
        if let table = contents.table { writer.field("table", table.string) }
        if let wanted = contents.wanted { writer.field("for", wanted.rfc3339) }
    }

    /// Writes a document without a quote to agree to.
    private static func write(
        _ lines: [CartLine], charges: [Charge], total: Int64?, _ texts: TextOpener, to writer: inout JSONWriter
    ) {
        writer.key("lines")
        LineDocument.write(lines, .none, texts, to: &writer)
        writer.field("subtotal", (try? lines.total())?.minorUnits)
        writer.key("charges")
        ChargeCodec.encode(charges, to: &writer)
        writer.field("total", total)
        writer.field("quote", nil as String?)
    }

    private static func write(
        _ contents: Cart.Contents, _ offers: [Offer], _ promotions: [Promotion.Candidate], _ now: Timestamp,
        _ details: OutletDetails?, _ hours: HoursSource,
        _ texts: TextOpener, to writer: inout JSONWriter
    ) {
        let offered = details.flatMap { try? $0.service(contents.service) } ?? contents.service
        writeHandover(offered, of: contents, to: &writer)
        let kinds = details?.services.kinds ?? []
        if !kinds.isEmpty { writer.field("services", kinds.lazy.map(\.rawValue)) }
        let priced = Result { () throws(Rejection) -> (Quote, ServiceKind?) in
            let service = try details?.service(contents.service)
            return (
                try Quote(
                    of: contents, offers: offers, terms: details?.pricing(for: service) ?? .none, for: service,
                    prepMinutes: details?.prepMinutes(for: service), promotions: promotions, at: now), service
            )
        }
        writer.key("lines")
        LineDocument.write((try? priced.get())?.0.lines ?? contents.lines, .of(offers), texts, to: &writer)
        switch priced {
        case .success((let quote, let service)):
            writer.field("subtotal", quote.bill.subtotal.minorUnits)
            writer.key("charges")
            ChargeCodec.encode(quote.bill.charges, to: &writer)
            CodeDocument.write(quote.codes, to: &writer)
            writer.field("total", quote.bill.total.minorUnits)
            if let minimum = details?.minimumOrder(for: service) { writer.field("minimumOrder", minimum.minorUnits) }
            if let wanted = contents.wanted {
                writer.field("promisedFor", wanted.rfc3339)
            } else if let minutes = details?.prepMinutes(for: service) {
                writer.field("prepMinutes", minutes)
            }
            let requirements = details?.requirements(for: service) ?? []
            if !requirements.isEmpty { writer.field("requires", requirements.lazy.map(\.rawValue)) }
            let refusal = details?.refusal(of: contents.wanted, for: service, hours)
            // To agree to a quote is to agree to an order, so there is no quote if an item cannot be had, or not then.
            let canBeHad = refusal == nil && offers.allSatisfy { if case .available = $0 { true } else { false } }
            writer.field("quote", canBeHad ? quote.digest.string : nil)
            if let refusal { writer.field("problem", "\(refusal.code.rawValue) \(refusal.message)") }
        case .failure(let rejection):
            writer.field("subtotal", nil as Int64?)
            writer.field("charges", EmptyCollection<String>())
            writer.field("total", nil as Int64?)
            writer.field("quote", nil as String?)
            writer.field("problem", "\(rejection.code.rawValue) \(rejection.message)")
        }
    }
}

extension QuoteDocument {
    /// The schema of the document.
    public static let schema = JSONSchema.object([
        .member("cart", .identifier), .member("outlet", .identifier.orNull), .member("version", .count),
        .member("currency", .string.orNull), .optional("service", .words(of: ServiceKind.self)),
        .optional("table", .string), .optional("for", .time, "when the order is wanted"),
        .optional("services", .list(of: .words(of: ServiceKind.self)), "the ways to choose from"),
        .member("lines", .list(of: LineDocument.schema), "at today's prices"), .member("subtotal", .money.orNull),
        .member("charges", .list(of: ChargeCodec.schema)), .optional("codes", CodeDocument.schema),
        .member("total", .money.orNull), .optional("minimumOrder", .money), .optional("promisedFor", .time),
        .optional("prepMinutes", .integer),
        .optional("requires", .list(of: .words(of: OfferedService.Requirement.self)), "what the checkout has to have"),
        .member("quote", .string.orNull, "what to check out with; null where that cannot be"),
        .optional("problem", .string, "why, as a code and a text"),
        .optional("order", .identifier, "what the cart was checked out as"),
    ]).named("Quote")
}
