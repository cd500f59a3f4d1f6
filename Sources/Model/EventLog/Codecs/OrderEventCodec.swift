internal import Domain
internal import TextFormats

enum OrderEventCodec {
    static func encode(_ event: Order.Event, to writer: inout JSONWriter) -> String {
        switch event {
        case .placed(let placement):
            writer.field("cart", placement.cart.rawValue)
            writer.field("outlet", placement.outlet.rawValue)
            writer.field("currency", placement.currency.code)
            CartLineCodec.encode(placement.lines, to: &writer)
            ChargeCodec.encodeField(placement.charges, to: &writer)
            writer.field("total", placement.total.minorUnits)
            if let customer = placement.customer { writer.field("customer", customer.rawValue) }
            if let name = placement.name { writer.field("sealedName", name.ciphertext.string) }
            HandoverCodec.encode(placement.handover, to: &writer)
            OrderTermsCodec.encode(placement.terms, to: &writer)
            OrderTermsCodec.encode(placement.missing, placement.pricing, to: &writer)
            ClaimCodec.encodeField(placement.claims, to: &writer)
            return "order.placed"
        case .scheduled: return "order.scheduled"
        case .claimsReturned: return "order.claimsReturned"
        case .paymentReported(let payment, let isInDoubt):
            PaymentCodec.encode(payment, to: &writer)
            if isInDoubt { writer.field("doubt", true) }
            return "order.paymentReported"
        case .coverLost(let payBy):
            writer.field("payBy", payBy.millisecondsSinceEpoch)
            return "order.coverLost"
        case .refunded(let refund):
            writer.field("amount", refund.amount.minorUnits)
            if !refund.taxes.isEmpty {
                writer.key("taxes")
                ChargeCodec.encode(refund.taxes, to: &writer)
            }
            writer.field("code", refund.reason.rawValue)
            if let units = refund.units {
                writer.field("line", units.line.string)
                writer.field("quantity", units.quantity)
            }
            return "order.refunded"
        case .released(let acceptBy):
            if let acceptBy { writer.field("acceptBy", acceptBy.millisecondsSinceEpoch) }
            return "order.released"
        case .accepted(let readyBy, let party):
            writer.field("by", party.rawValue)
            if let readyBy { writer.field("readyBy", readyBy.millisecondsSinceEpoch) }
            return "order.accepted"
        case .rejected(let ending):
            encode(ending, to: &writer)
            return "order.rejected"
        case .preparationStarted: return "order.preparationStarted"
        case .readied: return "order.readied"
        case .completed(let party):
            writer.field("by", party.rawValue)
            return "order.completed"
        case .delayed(let readyBy, let text):
            writer.field("readyBy", readyBy.millisecondsSinceEpoch)
            encode(text, to: &writer)
            return "order.delayed"
        case .cancelled(let ending):
            encode(ending, to: &writer)
            return "order.cancelled"
        case .changeProposed(let change, let until):
            OrderChangeCodec.encode(change, to: &writer)
            writer.field("until", until.millisecondsSinceEpoch)
            return "order.changeProposed"
        case .changed(let change):
            OrderChangeCodec.encode(change, to: &writer)
            return "order.changed"
        case .changeDeclined(let party):
            writer.field("by", party.rawValue)
            return "order.changeDeclined"
        case .changeExpired: return "order.changeExpired"
        case .changesNoted: return "order.changesNoted"
        }
    }

    private static func encode(_ ending: Order.Ending, to writer: inout JSONWriter) {
        writer.field("by", ending.by.rawValue)
        writer.field("code", ending.reason.rawValue)
        encode(ending.text, to: &writer)
        ClaimCodec.encodeField(ending.claims, to: &writer)
        guard let price = ending.price else { return }
        writer.field("total", price.total.minorUnits)
        ChargeCodec.encodeField(price.charges, to: &writer)
    }

    private static func encode(_ reason: PersonalText?, to writer: inout JSONWriter) {
        switch reason {
        case nil: break
        case .plain(let text): writer.field("reason", text.string)
        case .sealed(let text): writer.field("sealedReason", text.ciphertext.string)
        }
    }

    static func decode(_ name: EventName, _ reader: inout JSONReader) throws(JSONReadingError) -> Order.Event? {
        var cart: Identifier?
        var outlet: Identifier?
        var currency: Currency?
        var lines: [CartLine]?
        var charges: [Charge] = []
        var total: Amount?
        var customer: Identifier?
        var sealedName: SealedText?
        var terms = Order.Terms()
        var handover = Handover()
        var claims: [Claim] = []
        var party: Order.Party?
        var readyBy: Timestamp?
        var reason: Order.Reason?
        var text: PersonalText?
        var reference: Text?
        var kind: Order.PaymentKind?
        var parent = Order.Payment.Parent.own
        var isInDoubt = false
        var amount: Amount?
        var taxes: [Order.Refund.Tax] = []
        var line: Text?
        var quantity: Int?
        var missing = Order.Missing.ask
        var pricing = PricingTerms.none
        var change = OrderChangeCodec.Fields()
        var until: Timestamp?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "cart": cart = Identifier(try reader.string())
            case "outlet": outlet = Identifier(try reader.string())
            case "currency": currency = Currency(try reader.string())
            case "lines": lines = try CartLineCodec.decode(from: &reader)
            case "charges": charges = try ChargeCodec.decode(from: &reader)
            case "total": total = Amount(minorUnits: try reader.integer())
            case "customer": customer = try reader.identifier()
            case "sealedName": sealedName = SealedText(ciphertext: try reader.text())
            case "claims": claims = try ClaimCodec.decode(from: &reader)
            case "ref": reference = try reader.text()
            case "state": kind = Order.PaymentKind(rawValue: try reader.string())
            case "of": parent = try PaymentCodec.parent(from: &reader)
            case "doubt": isInDoubt = try reader.bool()
            case "line": line = try reader.text()
            case "quantity": quantity = Int(try reader.integer())
            case "amount": amount = Amount(minorUnits: try reader.integer())
            case "taxes": taxes = try ChargeCodec.decodeTaxes(from: &reader)
            case "tax": taxes = [Order.Refund.Tax(Amount(minorUnits: try reader.integer()))]
            case "by": party = Order.Party(rawValue: try reader.string())
            case "readyBy": readyBy = try reader.timestamp()
            case "code": reason = Order.Reason(rawValue: try reader.string())
            case "reason": text = .plain(try reader.text())
            case "sealedReason": text = .sealed(SealedText(ciphertext: try reader.text()))
            case "change": change.lines = try OrderChangeCodec.lines(from: &reader)
            case "before": change.before = try reader.text()
            case "gone": change.gone = try ClaimCodec.decode(from: &reader)
            case "after": change.after = try reader.text()
            case "until": until = try reader.timestamp()
            default:
                if try OrderTermsCodec.read(key, into: &terms, from: &reader) { continue }
                if try OrderTermsCodec.read(key, into: &missing, &pricing, from: &reader) { continue }
                if try !HandoverCodec.read(key, into: &handover, from: &reader) { _ = try reader.rawValue() }
            }
        }
        var ending: Order.Ending? {
            guard let party, let reason else { return nil }
            return Order.Ending(
                by: party, reason, text: text, price: total.map { Order.Price($0, charges) }, claims: claims)
        }
        var changed: Order.Change? {
            guard let party, let lines, let total else { return nil }
            return change.change(by: party, ordered: lines, price: Order.Price(total, charges))
        }
        switch name {
        case "order.placed":
            guard let cart, let outlet, let currency, let lines, let total else { return nil }
            return .placed(
                Order.Placement(
                    cart: cart, outlet: outlet, currency: currency, lines: lines, charges: charges, total: total,
                    customer: customer, name: sealedName, terms: terms, handover: handover, missing: missing,
                    pricing: pricing, claims: claims))
        case "order.scheduled": return .scheduled
        case "order.claimsReturned": return .claimsReturned
        case "order.paymentReported":
            guard let reference, let kind, let amount else { return nil }
            return .paymentReported(
                Order.Payment(reference: reference, kind, amount, of: parent), isInDoubt: isInDoubt)
        case "order.coverLost": return terms.payBy.map(Order.Event.coverLost)
        case "order.refunded":
            guard let amount, let reason, (line == nil) == (quantity == nil) else { return nil }
            var refund = Order.Refund(amount, taxes: taxes, reason)
            if let line, let quantity { refund.units = Order.Refund.Units(line: line, quantity: quantity) }
            return .refunded(refund)
        case "order.released": return .released(acceptBy: terms.acceptBy)
        case "order.accepted": return party.map { .accepted(readyBy: readyBy, by: $0) }
        case "order.rejected": return ending.map(Order.Event.rejected)
        case "order.preparationStarted": return .preparationStarted
        case "order.readied": return .readied
        case "order.completed": return party.map(Order.Event.completed)
        case "order.delayed": return readyBy.map { .delayed(readyBy: $0, text: text) }
        case "order.cancelled": return ending.map(Order.Event.cancelled)
        case "order.changeProposed":
            guard let changed, let until else { return nil }
            return .changeProposed(changed, until: until)
        case "order.changed": return changed.map(Order.Event.changed)
        case "order.changeDeclined": return party.map { .changeDeclined(by: $0) }
        case "order.changeExpired": return .changeExpired
        case "order.changesNoted": return .changesNoted
        default: return nil
        }
    }
}

// MARK: Schemas

extension OrderEventCodec {
    private static let party = JSONSchema.Member.member("by", .words(of: Order.Party.self))
    private static let code = JSONSchema.Member.member("code", .words(of: Order.Reason.self))
    private static let charges = JSONSchema.Member.optional("charges", .list(of: ChargeCodec.schema))
    private static let reason: [JSONSchema.Member] = [
        .optional("reason", .string, "of an order without a customer"), .optional("sealedReason", .sealed),
    ]
    private static let ending = JSONSchema.members(
        [party, code], reason,
        [
            .optional("claims", ClaimCodec.schema, "what it gives back"),
            .optional("total", .money, "what is not charged any more"), charges,
        ])

    static let schemas = [
        EventSchema(
            "order.placed",
            "The order exists: `awaitingPayment` with `payBy`, or else `scheduled` with `releaseAt`, or else `placed`.",
            [
                .member("cart", .identifier), .member("outlet", .identifier), .member("currency", .string),
                CartLineCodec.lines, charges, .member("total", .money), .optional("customer", .identifier),
                .optional("sealedName", .sealed),
            ], HandoverCodec.members, OrderTermsCodec.members,
            [.optional("claims", ClaimCodec.schema, "what it took of what is counted")]),
        EventSchema("order.scheduled", "The order is paid, and `scheduled`.", []),
        EventSchema(
            "order.released", "The order is `placed`: the kitchen sees it.",
            [.optional("acceptBy", .moment)]),
        EventSchema(
            "order.accepted", "The order is `accepted`, and will be ready then, if a time is said.",
            [party, .optional("readyBy", .moment)]),
        EventSchema("order.rejected", "The order is `rejected`, and an open proposal is over.", ending),
        EventSchema("order.preparationStarted", "The order is `preparing`.", []),
        EventSchema("order.readied", "The order is `ready`.", []),
        EventSchema("order.completed", "The order is `completed`.", [party]),
        EventSchema(
            "order.delayed", "The order will be ready then instead.", [.member("readyBy", .moment)], reason),
        EventSchema("order.cancelled", "The order is `cancelled`, and an open proposal is over.", ending),
        EventSchema(
            "order.paymentReported", "The report is one more of the order's; the status stays.", PaymentCodec.members,
            [.optional("doubt", .boolean, "whether something that was reported by then cannot be")]),
        EventSchema(
            "order.coverLost",
            "The order is `awaitingPayment` again, until then, and has no time at which it will be ready.",
            [.member("payBy", .moment)]),
        EventSchema(
            "order.refunded", "So much more is given back, of units of a line if one is named.",
            [
                .member("amount", .money), .optional("taxes", .list(of: ChargeCodec.refundedTaxSchema)), code,
                .optional("line", .string), .optional("quantity", .integer),
            ]),
        EventSchema(
            "order.changeProposed", "The other party can agree to the change until then; the order stays as it is.",
            OrderChangeCodec.members, [.member("until", .moment)]),
        EventSchema(
            "order.changed", "The order has these lines, charges and total; an open proposal is agreed to.",
            OrderChangeCodec.members),
        EventSchema("order.changeDeclined", "The open proposal is declined.", [party]),
        EventSchema("order.changeExpired", "The open proposal has expired.", []),
        EventSchema("order.changesNoted", "The kitchen has seen every change that was agreed to.", []),
        EventSchema("order.claimsReturned", "The outlet's supply has what the ended order gave back.", []),
    ]
}
