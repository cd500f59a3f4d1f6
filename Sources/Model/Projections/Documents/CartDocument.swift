public import Domain
public import EventLog
public import TextFormats

/// A cart as `CART.GET` answers it.
public enum CartDocument {
    /// The document.
    ///
    /// - Parameters:
    ///   - texts: decrypts the notes.
    ///   - promotions: the promotions of the cart's outlet.
    ///   - now: when.
    ///   - details: what the cart's outlet says of itself; nil where there is none.
    ///   - offers: what the catalogue says of lines of the cart; nil where that is not known. Then each
    ///     line has something for its problem that no problem is.
    public static func bytes(
        of cart: Identifier, state: Cart.State, version: Int64, updatedAt: Timestamp, texts: TextOpener,
        promotions: PromotionSource = { _, _ in [] }, at now: Timestamp = Timestamp(millisecondsSinceEpoch: 0),
        details: (_ cart: Cart.Contents) -> OutletDetails? = { _ in nil }, offers: OfferSource?
    ) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 512)
        let contents: Cart.Contents?
        let status: String
        switch state {
        case .empty: (contents, status) = (nil, "empty")
        case .filled(let filled): (contents, status) = (filled, "open")
        case .checkingOut(let filled, _): (contents, status) = (filled, "checkingOut")
        case .checkedOut(let filled, _): (contents, status) = (filled, "checkedOut")
        }
        writer.beginObject()
        writer.field("cart", cart.rawValue)
        writer.field("outlet", contents?.outlet.rawValue)
        if let customer = contents?.customer { writer.field("customer", customer.rawValue) }
        writer.field("version", version)
        writer.field("status", status)
        writer.field("count", state.count)
        writer.field("currency", contents?.currency.code)
        if let service = contents?.service { writer.field("service", service.rawValue) }
        if let table = contents?.table { writer.field("table", table.string) }
        if let wanted = contents?.wanted { writer.field("for", wanted.rfc3339) }
        writer.key("lines")
        switch state {
        case .empty: LineDocument.write([], .none, texts, to: &writer)
        case .filled(let contents):
            let problems = offers.map { LineDocument.Problems.of($0(contents.lines, contents)) }
            LineDocument.write(contents.lines, problems ?? .unknown, texts, to: &writer)
        case .checkingOut(let contents, _), .checkedOut(let contents, _):
            LineDocument.write(contents.lines, .none, texts, to: &writer)
        }
        if case .filled(let contents) = state, !contents.codes.isEmpty {
            if let offers {
                let details = details(contents)
                let service = details.flatMap { try? $0.service(contents.service) }
                let quote = try? Quote(
                    of: contents, offers: offers(contents.lines, contents),
                    terms: details?.pricing(for: service) ?? .none, for: service,
                    promotions: promotions(contents.lines, contents), at: now)
                CodeDocument.write(quote?.codes ?? contents.codes.map { ($0, .nothing) }, to: &writer)
            } else {
                // As with problems: something that it cannot be.
                writer.field("codes", false)
            }
        }
        // A sum beyond what the domain accepts cannot be checked out, and is shown as 0.
        writer.field("subtotal", contents.map { try? $0.total().minorUnits } ?? 0)
        if let charges = contents?.charges, !charges.isEmpty {
            writer.key("charges")
            ChargeCodec.encode(charges, to: &writer)
        }
        writer.field("total", contents.map { try? $0.payable().minorUnits } ?? 0)
        if let tip = contents?.tip, tip > .zero { writer.field("tip", tip.minorUnits) }
        writer.field("updatedAt", updatedAt.rfc3339)
        switch state {
        case .empty, .filled: break
        case .checkingOut(_, let checkout): writer.field("order", checkout.order.rawValue)
        case .checkedOut(_, let order): writer.field("order", order.rawValue)
        }
        writer.endObject()
        return writer.bytes
    }
}

/// What has become of the codes of a cart.
enum CodeDocument {
    /// Writes the field `codes`, unless there are none.
    static func write(_ codes: [(code: Text, state: Discounts.CodeState)], to writer: inout JSONWriter) {
        if codes.isEmpty { return }
        writer.key("codes")
        writer.beginArray()
        for (code, state) in codes {
            writer.beginObject()
            writer.field("code", code.string)
            writer.field("state", state.rawValue)
            writer.endObject()
        }
        writer.endArray()
    }
}

/// An order as `ORDER.GET` answers it.
public enum OrderDocument {
    /// The document.
    ///
    /// - Parameter texts: decrypts the notes and the name.
    public static func bytes(
        of order: Identifier, book: Order.Book, version: Int64, updatedAt: Timestamp, texts: TextOpener
    ) -> [UInt8] {
        let placement = book.placement
        var writer = JSONWriter(reservingCapacity: 512)
        writer.beginObject()
        writer.field("order", order.rawValue)
        writer.field("cart", placement.cart.rawValue)
        writer.field("outlet", placement.outlet.rawValue)
        if let customer = placement.customer { writer.field("customer", customer.rawValue) }
        if let name = placement.name { writer.field("name", texts.text(of: name, .name)) }
        write(placement.handover, texts, to: &writer)
        writer.field("version", version)
        writer.field("status", book.status.rawValue)
        writeLife(of: book, texts, to: &writer)
        writePromise(of: book, texts, to: &writer)
        writer.field("count", placement.count)
        writer.field("currency", placement.currency.code)
        writer.key("lines")
        writer.beginArray()
        for line in placement.lines {
            writer.beginObject()
            LineDocument.writeFields(of: line, texts, to: &writer)
            if let units = book.refunds.units[line.id] { writer.field("refunded", units) }
            writer.endObject()
        }
        writer.endArray()
        writer.field("subtotal", (try? placement.subtotal())?.minorUnits)
        writer.key("charges")
        ChargeCodec.encode(placement.charges, to: &writer)
        writer.field("total", placement.total.minorUnits)
        if book.refunds.amount > 0 {
            writer.field("refunded", book.refunds.amount)
            if book.refunds.tax > 0 { writer.field("refundedTax", book.refunds.tax) }
            let taxes = placement.taxes.compactMap { $0.id.flatMap { book.refunds.taxes[$0] } }
            if !taxes.isEmpty {
                writer.key("refundedTaxes")
                ChargeCodec.encode(taxes, to: &writer)
            }
        }
        writePayment(of: book, to: &writer)
        if let proposal = book.proposal {
            writer.key("proposal")
            write(proposal, with: placement, texts, to: &writer)
        }
        write(changes: book.changes.filter { $0.outcome != .open }, to: &writer)
        writer.field("updatedAt", updatedAt.rfc3339)
        writer.endObject()
        return writer.bytes
    }

    /// Changes, where there are any.
    private static func write(changes: [Order.ChangeRecord], to writer: inout JSONWriter) {
        guard !changes.isEmpty else { return }
        writer.key("changes")
        writer.beginArray()
        for change in changes { write(change, to: &writer) }
        writer.endArray()
    }

    /// A change.
    ///
    /// - Parameter placement: the order before a change that is proposed, where the whole bill after it is shown.
    private static func write(
        _ record: Order.ChangeRecord, with placement: Order.Placement? = nil, _ texts: TextOpener = .none,
        to writer: inout JSONWriter
    ) {
        let change = record.change
        writer.beginObject()
        writer.field("by", change.by.rawValue)
        if record.outcome != .open { writer.field("state", record.outcome.rawValue) }
        if let party = record.declinedBy { writer.field("declinedBy", party.rawValue) }
        if let until = record.until { writer.field("until", until.rfc3339) }
        writer.key("change")
        OrderChangeCodec.encode(change.lines, to: &writer)
        writer.key("before")
        writer.beginObject()
        writer.field("total", record.totalBefore.minorUnits)
        writer.field("digest", change.before.string)
        writer.endObject()
        writer.key("after")
        writer.beginObject()
        writer.field("total", change.price.total.minorUnits)
        writer.field("digest", change.after.string)
        if let after = try? placement?.after(change) {
            writer.key("lines")
            writer.beginArray()
            for line in after.lines {
                writer.beginObject()
                LineDocument.writeFields(of: line, texts, to: &writer)
                writer.endObject()
            }
            writer.endArray()
            writer.key("charges")
            ChargeCodec.encode(after.charges, to: &writer)
        }
        writer.endObject()
        writer.endObject()
    }

    /// How the promise changed, where it did.
    private static func writePromise(of book: Order.Book, _ texts: TextOpener, to writer: inout JSONWriter) {
        if book.promiseChanges.isEmpty { return }
        writer.key("promise")
        writer.beginArray()
        for change in book.promiseChanges {
            writer.beginObject()
            writer.field("from", change.from?.rfc3339)
            writer.field("to", change.to?.rfc3339)
            writer.field("reason", change.text.map { texts.text(of: $0, .reason) })
            writer.endObject()
        }
        writer.endArray()
    }

    /// Who has the money, where a payment was reported or has to be.
    private static func writePayment(of book: Order.Book, to writer: inout JSONWriter) {
        guard !book.payments.reports.isEmpty || book.placement.terms.payBy != nil else { return }
        let (payments, (due, owed)) = (book.payments, book.balance)
        writer.key("payment")
        writer.beginObject()
        writer.field("state", payments.state?.rawValue)
        writer.field("authorised", payments.authorised)
        writer.field("captured", payments.captured)
        writer.field("refunded", payments.refunded)
        writer.field("chargedBack", payments.chargedBack)
        writer.field("paid", payments.paid)
        writer.field("secured", payments.secured)
        writer.field("due", due)
        writer.field("owed", owed)
        // Before the end it may still be paid, or kept for what is captured next.
        if book.status.isEnd, due > 0 || owed > 0 {
            writer.key("debt")
            writer.beginObject()
            writer.field("by", owed > 0 ? "outlet" : "customer")
            writer.field("to", owed > 0 ? "customer" : "outlet")
            writer.field("amount", max(due, owed))
            writer.endObject()
        }
        let doubts = payments.doubts
        if !doubts.isEmpty {
            writer.key("doubt")
            writer.beginArray()
            for doubt in doubts {
                writer.beginObject()
                writer.field("ref", doubt.report.reference.string)
                writer.field("kind", doubt.report.kind.rawValue)
                writer.field("why", doubt.reason.rawValue)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.endObject()
    }

    /// An order as its kitchen sees it.
    static func write(_ order: KitchenOrder, _ now: Timestamp, _ texts: TextOpener, to writer: inout JSONWriter) {
        let placement = order.book.placement
        writer.beginObject()
        writer.field("order", order.id.rawValue)
        if let customer = placement.customer { writer.field("customer", customer.rawValue) }
        if let name = placement.name { writer.field("name", texts.text(of: name, .name)) }
        write(placement.handover, texts, to: &writer)
        writer.field("version", order.version)
        writer.field("status", order.book.status.rawValue)
        writeLife(of: order.book, texts, to: &writer)
        writer.field("late", order.isLate(at: now))
        writer.field("uncovered", order.book.isUncovered)
        if let proposal = order.book.proposal {
            writer.key("proposal")
            write(proposal, to: &writer)
        }
        // Until somebody takes note.
        write(changes: order.book.unnoted, to: &writer)
        writer.field("count", placement.count)
        writer.key("lines")
        writer.beginArray()
        for line in placement.lines {
            writer.beginObject()
            writer.field("line", line.id.string)
            writer.field("item", line.item.rawValue)
            writer.field("name", line.name.string)
            writer.field("quantity", line.quantity)
            writer.key("options")
            CartLineCodec.encode(line.options, to: &writer)
            writer.field("note", line.note.map { texts.text(of: $0) })
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }

    /// How an order is handed over. What does not apply is left out.
    private static func write(_ handover: Handover, _ texts: TextOpener, to writer: inout JSONWriter) {
        if let phone = handover.phone { writer.field("phone", texts.text(of: phone, .phone)) }
        if let address = handover.address { writer.field("address", texts.text(of: address, .address)) }
        if let service = handover.service { writer.field("service", service.rawValue) }
        if let table = handover.table { writer.field("table", table.string) }
    }

    /// When something was promised, what an order waits for and how it ended. What does not apply is left out.
    private static func writeLife(of book: Order.Book, _ texts: TextOpener, to writer: inout JSONWriter) {
        let terms = book.placement.terms
        if let time = terms.placedAt { writer.field("placedAt", time.rfc3339) }
        if let time = terms.promisedFor { writer.field("promisedFor", time.rfc3339) }
        if let time = book.readyBy { writer.field("readyBy", time.rfc3339) }
        if book.status == .awaitingPayment, let time = book.payBy { writer.field("payBy", time.rfc3339) }
        if book.status == .scheduled, let time = terms.releaseAt { writer.field("releaseAt", time.rfc3339) }
        if let time = book.acceptBy { writer.field("acceptBy", time.rfc3339) }
        if book.placement.missing != .ask { writer.field("missing", book.placement.missing.rawValue) }
        if let ending = book.ending {
            writer.key("ending")
            writer.beginObject()
            writer.field("by", ending.by.rawValue)
            writer.field("code", ending.reason.rawValue)
            writer.field("reason", ending.text.map { texts.text(of: $0, .reason) })
            writer.endObject()
        }
    }
}

enum LineDocument {
    /// What has become of lines.
    enum Problems {
        /// Nothing that matters any more.
        case none
        /// What the catalogue says of each line.
        case of([Offer])
        /// That is not known.
        case unknown
    }

    /// Writes lines with what has become of them.
    static func write(_ lines: [CartLine], _ problems: Problems, _ texts: TextOpener, to writer: inout JSONWriter) {
        writer.beginArray()
        for index in lines.indices {
            writer.beginObject()
            writeFields(of: lines[index], texts, to: &writer)
            writer.key("problem")
            switch problems {
            case .none: writer.null()
            case .of(let offers): LineProblem.write(of: lines[index], offers[index], to: &writer)
            case .unknown: writer.bool(false)
            }
            writer.endObject()
        }
        writer.endArray()
    }

    static func writeFields(of line: CartLine, _ texts: TextOpener, to writer: inout JSONWriter) {
        writer.field("line", line.id.string)
        writer.field("item", line.item.rawValue)
        writer.field("name", line.name.string)
        writer.field("quantity", line.quantity)
        writer.field("unitPrice", line.unitPrice.minorUnits)
        writer.key("options")
        CartLineCodec.encode(line.options, to: &writer)
        writer.field("note", line.note.map { texts.text(of: $0) })
        writer.field("total", (try? line.total())?.minorUnits)
    }
}

// MARK: Schemas

extension LineDocument {
    /// The members of every line.
    static let members: [JSONSchema.Member] = [
        .member("line", .string, "its id in the cart"), .member("item", .identifier), .member("name", .string),
        .member("quantity", .integer), .member("unitPrice", .money),
        .member("options", .list(of: CartLineCodec.optionSchema)), .member("note", .string.orNull),
        .member("total", .money.orNull),
    ]

    /// A line of a cart.
    static let schema = JSONSchema.object(
        members, [.member("problem", LineProblem.schema.orNull, "what keeps it from being ordered as it is")]
    ).named("CartLine")
}

extension CodeDocument {
    /// The codes of a cart.
    static let schema = JSONSchema.list(
        of: .object([.member("code", .string), .member("state", .words(of: Discounts.CodeState.self))])
            .named("CartCode"))
}

extension CartDocument {
    /// The schema of the document.
    public static let schema = JSONSchema.object([
        .member("cart", .identifier), .member("outlet", .identifier.orNull), .optional("customer", .identifier),
        .member("version", .count), .member("status", .words(["empty", "open", "checkingOut", "checkedOut"])),
        .member("count", .count), .member("currency", .string.orNull),
        .optional("service", .words(of: ServiceKind.self)), .optional("table", .string),
        .optional("for", .time, "when the order is wanted"), .member("lines", .list(of: LineDocument.schema)),
        .optional("codes", CodeDocument.schema, "what the customer said, and what became of it"),
        .member("subtotal", .money), .optional("charges", .list(of: ChargeCodec.schema), "once it is checked out"),
        .member("total", .money), .optional("tip", .money), .member("updatedAt", .time),
        .optional("order", .identifier, "what it was checked out as"),
    ]).named("Cart")
}

extension OrderDocument {
    private static let line = JSONSchema.object(
        LineDocument.members, [.optional("refunded", .integer, "of how many the money was given back")]
    ).named("OrderLine")

    private static let handover: [JSONSchema.Member] = [
        .optional("phone", .string), .optional("address", .string), .optional("service", .words(of: ServiceKind.self)),
        .optional("table", .string),
    ]

    private static let life: [JSONSchema.Member] = [
        .optional("placedAt", .time), .optional("promisedFor", .time, "what the customer was told"),
        .optional("readyBy", .time, "what the kitchen said"), .optional("payBy", .time),
        .optional("releaseAt", .time, "when the kitchen sees it"), .optional("acceptBy", .time),
        .optional(
            "missing", .words(of: Order.Missing.self), "what to do if something is missing; ask where it is left out"),
        .optional(
            "ending",
            .object([
                .member("by", .words(of: Order.Party.self)), .member("code", .words(of: Order.Reason.self)),
                .member("reason", .string.orNull),
            ]).named("Ending")),
    ]

    private static let promise = JSONSchema.object([
        .member("from", .time.orNull), .member("to", .time.orNull), .member("reason", .string.orNull),
    ]).named("PromiseChange")

    private static let bill = JSONSchema.object([
        .member("total", .money), .member("digest", .string),
        .optional("lines", .list(of: JSONSchema.object(LineDocument.members).named("BillLine"))),
        .optional("charges", .list(of: ChargeCodec.schema)),
    ]).named("Bill")

    private static let change = JSONSchema.object([
        .member("by", .words(of: Order.Party.self)),
        .optional("state", .words(of: Order.ChangeRecord.Outcome.self), "what became of it; left out of a proposal"),
        .optional("declinedBy", .words(of: Order.Party.self)), .optional("until", .time),
        .member("change", .list(of: OrderChangeCodec.lineSchema)), .member("before", bill), .member("after", bill),
    ]).named("OrderChange")

    private static let payment = JSONSchema.object([
        .member("state", .words(of: Order.PaymentKind.self).orNull), .member("authorised", .money),
        .member("captured", .money), .member("refunded", .money), .member("chargedBack", .money),
        .member("paid", .money), .member("secured", .money), .member("due", .money, "what the customer has to pay"),
        .member("owed", .money, "what the outlet has to give back"),
        .optional(
            "debt",
            .object([
                .member("by", .words(["outlet", "customer"])), .member("to", .words(["outlet", "customer"])),
                .member("amount", .money),
            ]).named("Debt")),
        .optional(
            "doubt",
            .list(
                of: .object([
                    .member("ref", .string), .member("kind", .words(of: Order.PaymentKind.self)),
                    .member("why", .words(of: Order.PaymentDoubt.Reason.self)),
                ]).named("PaymentDoubt")), "reports that cannot be"),
    ]).named("OrderPayment")

    /// The schema of the document.
    public static let schema = JSONSchema.object(
        [
            .member("order", .identifier), .member("cart", .identifier), .member("outlet", .identifier),
            .optional("customer", .identifier), .optional("name", .string),
        ], handover, [.member("version", .count), .member("status", .words(of: Order.Status.self))], life,
        [
            .optional("promise", .list(of: promise), "how it changed"), .member("count", .count),
            .member("currency", .string), .member("lines", .list(of: line)), .member("subtotal", .money.orNull),
            .member("charges", .list(of: ChargeCodec.schema)), .member("total", .money),
            .optional("refunded", .money, "what was given back"), .optional("refundedTax", .money),
            .optional("refundedTaxes", .list(of: ChargeCodec.refundedTaxSchema)), .optional("payment", payment),
            .optional("proposal", change, "a change that somebody has to agree to"),
            .optional("changes", .list(of: change)), .member("updatedAt", .time),
        ]
    ).named("Order")

    private static let kitchenLine = JSONSchema.object([
        .member("line", .string), .member("item", .identifier), .member("name", .string), .member("quantity", .integer),
        .member("options", .list(of: CartLineCodec.optionSchema)), .member("note", .string.orNull),
    ]).named("KitchenLine")

    /// An order as its kitchen sees it.
    static let kitchenSchema = JSONSchema.object(
        [.member("order", .identifier), .optional("customer", .identifier), .optional("name", .string)], handover,
        [.member("version", .count), .member("status", .words(of: Order.Status.self))], life,
        [
            .member("late", .boolean), .member("uncovered", .boolean, "whether its payment fell away"),
            .optional("proposal", change), .optional("changes", .list(of: change), "of which nobody took note yet"),
            .member("count", .count), .member("lines", .list(of: kitchenLine)),
        ]
    ).named("KitchenOrder")
}
