public import Domain
public import TextFormats

enum CartEventCodec {
    static func encode(_ event: Cart.Event, to writer: inout JSONWriter) -> String {
        switch event {
        case .itemAdded(let line, let outlet, let currency, let customer):
            writer.field("outlet", outlet.rawValue)
            writer.field("currency", currency.code)
            if let customer { writer.field("customer", customer.rawValue) }
            CartLineCodec.encode(line, to: &writer)
            return "cart.itemAdded"
        case .quantityChanged(let line, let from, let to):
            writer.field("line", line.string)
            writer.field("from", from)
            writer.field("to", to)
            return "cart.quantityChanged"
        case .lineRemoved(let line, let quantity):
            writer.field("line", line.string)
            writer.field("quantity", quantity)
            return "cart.lineRemoved"
        case .cleared(let count):
            writer.field("count", count)
            return "cart.cleared"
        case .lineEdited(let line, let to, let customer):
            writer.field("from", line.string)
            if let customer { writer.field("customer", customer.rawValue) }
            CartLineCodec.encode(to, to: &writer)
            return "cart.lineEdited"
        case .tipSet(let amount):
            writer.field("tip", amount.minorUnits)
            return "cart.tipSet"
        case .codeAdded(let code):
            writer.field("code", code.string)
            return "cart.codeAdded"
        case .codeRemoved(let code):
            writer.field("code", code.string)
            return "cart.codeRemoved"
        case .serviceChosen(let service, let table, let wanted):
            writer.field("service", service.rawValue)
            if let table { writer.field("table", table.string) }
            if let wanted { writer.field("for", wanted.millisecondsSinceEpoch) }
            return "cart.serviceChosen"
        case .checkedOut(let order, let lines, let charges, let total, let customer, let name, let handover):
            writer.field("order", order.rawValue)
            CartLineCodec.encode(lines, to: &writer)
            ChargeCodec.encodeField(charges, to: &writer)
            writer.field("total", total.minorUnits)
            if let customer { writer.field("customer", customer.rawValue) }
            if let name { writer.field("sealedName", name.ciphertext.string) }
            HandoverCodec.encode(handover, to: &writer)
            return "cart.checkedOut"
        case .checkoutBegun(let checkout):
            writer.field("order", checkout.order.rawValue)
            writer.field("outlet", checkout.outlet.rawValue)
            ClaimCodec.encodeField(checkout.claims, to: &writer)
            writer.field("at", checkout.at.millisecondsSinceEpoch)
            CartLineCodec.encode(checkout.lines, to: &writer)
            ChargeCodec.encodeField(checkout.charges, to: &writer)
            writer.field("total", checkout.total.minorUnits)
            if let customer = checkout.customer { writer.field("customer", customer.rawValue) }
            if let name = checkout.name { writer.field("sealedName", name.ciphertext.string) }
            HandoverCodec.encode(checkout.handover, to: &writer)
            OrderTermsCodec.encode(checkout.terms, to: &writer)
            OrderTermsCodec.encode(checkout.missing, checkout.pricing, to: &writer)
            return "cart.checkoutBegun"
        case .checkoutRefused(let order, let refusal):
            writer.field("order", order.rawValue)
            SupplyEventCodec.encode(refusal, to: &writer)
            return "cart.checkoutRefused"
        }
    }

    static func decode(_ name: EventName, _ reader: inout JSONReader) throws(JSONReadingError) -> Cart.Event? {
        var line = CartLineCodec.Fields()
        var outlet: Identifier?
        var currency: Currency?
        var from: Int?
        var to: Int?
        var count: Int?
        var order: Identifier?
        var lines: [CartLine]?
        var charges: [Charge] = []
        var total: Amount?
        var tip: Amount?
        var wanted: Timestamp?
        var edited: Text?
        var said: Text?
        var customer: Identifier?
        var sealedName: SealedText?
        var handover = Handover()
        var terms = Order.Terms()
        var missing = Order.Missing.ask
        var pricing = PricingTerms.none
        var claims: [Claim] = []
        var at: Timestamp?
        var code: Rejection.Code?
        var text: Text?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            if try line.read(key, from: &reader) { continue }
            switch key {
            case "outlet": outlet = Identifier(try reader.string())
            case "currency": currency = Currency(try reader.string())
            case "from":
                if name == "cart.lineEdited" { edited = try reader.text() } else { from = Int(try reader.integer()) }
            case "tip": tip = Amount(minorUnits: try reader.integer())
            case "for": wanted = try reader.timestamp()
            case "charges": charges = try ChargeCodec.decode(from: &reader)
            case "to": to = Int(try reader.integer())
            case "count": count = Int(try reader.integer())
            case "order": order = Identifier(try reader.string())
            case "lines": lines = try CartLineCodec.decode(from: &reader)
            case "total": total = Amount(minorUnits: try reader.integer())
            case "customer": customer = try reader.identifier()
            case "sealedName": sealedName = SealedText(ciphertext: try reader.text())
            case "claims": claims = try ClaimCodec.decode(from: &reader)
            case "at": at = try reader.timestamp()
            case "code" where name == "cart.codeAdded" || name == "cart.codeRemoved": said = try reader.text()
            case "code": code = Rejection.Code(rawValue: try reader.string())
            case "text": text = try reader.text()
            default:
                if try OrderTermsCodec.read(key, into: &terms, from: &reader) { continue }
                if try OrderTermsCodec.read(key, into: &missing, &pricing, from: &reader) { continue }
                if try !HandoverCodec.read(key, into: &handover, from: &reader) { _ = try reader.rawValue() }
            }
        }
        switch name {
        case "cart.itemAdded":
            guard let line = line.line, let outlet, let currency else { return nil }
            return .itemAdded(line, outlet: outlet, currency: currency, customer: customer)
        case "cart.quantityChanged":
            guard let line = line.id, let from, let to, to > 0 else { return nil }
            return .quantityChanged(line: line, from: from, to: to)
        case "cart.lineRemoved":
            guard let id = line.id, let quantity = line.quantity else { return nil }
            return .lineRemoved(line: id, quantity: quantity)
        case "cart.cleared":
            guard let count else { return nil }
            return .cleared(count: count)
        case "cart.checkedOut":
            guard let order, let lines, let total else { return nil }
            return .checkedOut(
                order: order, lines: lines, charges: charges, total: total, customer: customer, name: sealedName,
                handover: handover)
        case "cart.checkoutBegun":
            guard let order, let outlet, let at, let lines, let total else { return nil }
            return .checkoutBegun(
                Cart.Checkout(
                    order: order, outlet: outlet, claims: claims, at: at, lines: lines, charges: charges, total: total,
                    customer: customer, name: sealedName, handover: handover, terms: terms, missing: missing,
                    pricing: pricing))
        case "cart.checkoutRefused":
            guard let order, let code, let text else { return nil }
            return .checkoutRefused(order: order, Supply.Refusal(code, text))
        case "cart.lineEdited":
            guard let edited, let line = line.line else { return nil }
            return .lineEdited(line: edited, to: line, customer: customer)
        case "cart.codeAdded": return said.map(Cart.Event.codeAdded)
        case "cart.codeRemoved": return said.map(Cart.Event.codeRemoved)
        case "cart.tipSet": return tip.map(Cart.Event.tipSet)
        case "cart.serviceChosen":
            return handover.service.map { .serviceChosen($0, table: handover.table, wanted: wanted) }
        default: return nil
        }
    }
}

/// The lines of carts and orders, as fields of an event or as objects in an array.
public enum CartLineCodec {
    static func encode(_ line: CartLine, to writer: inout JSONWriter) {
        writer.field("line", line.id.string)
        writer.field("item", line.item.rawValue)
        writer.field("name", line.name.string)
        writer.field("quantity", line.quantity)
        writer.field("unitPrice", line.unitPrice.minorUnits)
        if !line.options.isEmpty {
            writer.key("options")
            encode(line.options, to: &writer)
        }
        switch line.note {
        case nil: break
        case .plain(let note): writer.field("note", note.string)
        case .sealed(let note): writer.field("sealedNote", note.ciphertext.string)
        }
    }

    /// Writes the array of chosen options.
    public static func encode(_ options: [LineOption], to writer: inout JSONWriter) {
        writer.beginArray()
        for option in options {
            writer.beginObject()
            writer.field("id", option.id.rawValue)
            writer.field("name", option.name.string)
            writer.field("units", option.units)
            writer.field("price", option.price.minorUnits)
            writer.field("free", option.free)
            writer.endObject()
        }
        writer.endArray()
    }

    /// Objects, or ids alone as older events have them.
    fileprivate static func options(from reader: inout JSONReader) throws(JSONReadingError) -> [LineOption] {
        var options: [LineOption] = []
        try reader.beginArray()
        while try reader.nextElement() {
            if reader.nextByte() == UInt8(ascii: "\"") {
                let id = try reader.identifier()
                options.append(LineOption(id, name: Text(id.rawValue)))
            } else {
                options.append(try option(from: &reader))
            }
        }
        return options
    }

    private static func option(from reader: inout JSONReader) throws(JSONReadingError) -> LineOption {
        var id: Identifier?
        var name: Text?
        var units: Int?
        var price: Amount?
        var free: Int?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "id": id = try reader.identifier()
            case "name": name = try reader.text()
            case "units": units = Int(try reader.integer())
            case "price": price = Amount(minorUnits: try reader.integer())
            case "free": free = Int(try reader.integer())
            default: _ = try reader.rawValue()
            }
        }
        guard let id, let name, let units, let price, let free, units > 0, (0...units).contains(free) else {
            throw reader.failure("an option with all its fields")
        }
        return LineOption(id, name: name, units: units, price: price, free: free)
    }

    static func encode(_ lines: [CartLine], to writer: inout JSONWriter) {
        writer.key("lines")
        writer.beginArray()
        for line in lines {
            writer.beginObject()
            encode(line, to: &writer)
            writer.endObject()
        }
        writer.endArray()
    }

    static func decode(from reader: inout JSONReader) throws(JSONReadingError) -> [CartLine] {
        var lines: [CartLine] = []
        try reader.beginArray()
        while try reader.nextElement() {
            var fields = Fields()
            try reader.beginObject()
            while let key = try reader.nextKey() {
                if try !fields.read(key, from: &reader) { _ = try reader.rawValue() }
            }
            guard let line = fields.line else { throw reader.failure("a line with all its fields") }
            lines.append(line)
        }
        return lines
    }

    struct Fields {
        var id: Text?
        var item: Identifier?
        var name: Text?
        var quantity: Int?
        var unitPrice: Amount?
        var options: [LineOption] = []
        var note: PersonalText?

        /// Reads the value of the key if it is one of a line's.
        mutating func read(_ key: JSONKey, from reader: inout JSONReader) throws(JSONReadingError) -> Bool {
            switch key {
            case "line": id = try reader.text()
            case "item": item = Identifier(try reader.string())
            case "name": name = try reader.text()
            case "quantity": quantity = Int(try reader.integer())
            case "unitPrice": unitPrice = Amount(minorUnits: try reader.integer())
            case "options": options = try CartLineCodec.options(from: &reader)
            case "note": note = .plain(try reader.text())
            case "sealedNote": note = .sealed(SealedText(ciphertext: try reader.text()))
            default: return false
            }
            return true
        }

        var line: CartLine? {
            guard let id, let item, let name, let quantity, quantity > 0, let unitPrice else { return nil }
            return CartLine(
                id: id, item: item, name: name, quantity: quantity, unitPrice: unitPrice, options: options,
                note: note)
        }
    }
}

extension CartLineCodec {
    /// A chosen option.
    public static let optionSchema = JSONSchema.object([
        .member("id", .identifier), .member("name", .string), .member("units", .integer),
        .member("price", .money, "of one unit"), .member("free", .integer, "how many units cost nothing"),
    ]).named("LineOption")
}

extension CartLineCodec {
    /// The members of a line in an event.
    static let members: [JSONSchema.Member] = [
        .member("line", .string, "its id in the cart"), .member("item", .identifier), .member("name", .string),
        .member("quantity", .integer), .member("unitPrice", .money), .optional("options", .list(of: optionSchema)),
        .optional("note", .string, "of a cart without a customer"), .optional("sealedNote", .sealed),
    ]

    /// Lines, as they are in an event.
    static let lines = JSONSchema.Member.member("lines", .list(of: .object(members).named("RecordedLine")))
}

extension CartEventCodec {
    private static let outlet = JSONSchema.Member.member("outlet", .identifier)
    private static let order = JSONSchema.Member.member("order", .identifier)
    private static let customer = JSONSchema.Member.optional("customer", .identifier)
    private static let bill: [JSONSchema.Member] = [
        CartLineCodec.lines, .optional("charges", .list(of: ChargeCodec.schema)), .member("total", .money),
    ]
    private static let person: [JSONSchema.Member] = [customer, .optional("sealedName", .sealed)]
    private static let line = JSONSchema.Member.member("line", .string)

    static let schemas = [
        EventSchema(
            "cart.itemAdded",
            "The quantity is added to the line with that id, which gets this name, price and options, or the line is new; "
                + "an empty cart gets the outlet and currency.",
            [outlet, .member("currency", .string), customer], CartLineCodec.members),
        EventSchema(
            "cart.quantityChanged", "The line has the quantity `to`.",
            [line, .member("from", .integer), .member("to", .integer)]),
        EventSchema(
            "cart.lineRemoved",
            "The line is gone. Without lines the cart is empty, and has no outlet, tip, service and codes any more.",
            [line, .member("quantity", .integer, "what it had")]),
        EventSchema(
            "cart.cleared", "All lines are gone, and everything else that the cart had.",
            [.member("count", .integer, "what it held")]),
        EventSchema(
            "cart.lineEdited",
            "This line is in the place of the line `from`, or of the one that has its id already, with the quantity of both.",
            [.member("from", .string, "a line's id"), customer], CartLineCodec.members),
        EventSchema("cart.tipSet", "The tip is this, and what it was no more.", [.member("tip", .money)]),
        EventSchema(
            "cart.codeAdded", "The code counts, in the order in which codes were said.", [.member("code", .string)]),
        EventSchema("cart.codeRemoved", "The code does not count any more.", [.member("code", .string)]),
        EventSchema(
            "cart.serviceChosen", "Table and time are these, or none; the order will be had so.",
            [
                .member("service", .words(of: ServiceKind.self)), .optional("table", .string),
                .optional("for", .moment, "when the order is wanted"),
            ]),
        EventSchema(
            "cart.checkedOut", "The cart is an order, with these lines and charges, and no event of it follows.",
            [order], bill, person, HandoverCodec.members),
        EventSchema(
            "cart.checkoutBegun",
            "The cart waits for its outlet's supply, and takes nothing else; `cart.checkedOut` or "
                + "`cart.checkoutRefused` follows.",
            [order, outlet, .optional("claims", ClaimCodec.schema), .member("at", .moment)], bill, person,
            HandoverCodec.members, OrderTermsCodec.members),
        EventSchema("cart.checkoutRefused", "The cart is open again, as it was.", [order], SupplyEventCodec.refusal),
    ]
}
