internal import Domain
internal import JSONText

enum OrderEventCodec {
    static func encode(_ event: Order.Event, to writer: inout JSONWriter) -> String {
        switch event {
        case .placed(let placement):
            writer.field("cart", placement.cart.rawValue)
            writer.field("outlet", placement.outlet.rawValue)
            writer.field("currency", placement.currency.code)
            CartLineCodec.encode(placement.lines, to: &writer)
            writer.field("total", placement.total.minorUnits)
            if let customer = placement.customer { writer.field("customer", customer.rawValue) }
            if let name = placement.name { writer.field("sealedName", name.ciphertext.string) }
            return "order.placed"
        }
    }

    static func decode(_ name: EventName, _ reader: inout JSONReader) throws(JSONReadingError) -> Order.Event? {
        var cart: Identifier?
        var outlet: Identifier?
        var currency: Currency?
        var lines: [CartLine]?
        var total: Amount?
        var customer: Identifier?
        var sealedName: SealedText?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "cart": cart = Identifier(try reader.string())
            case "outlet": outlet = Identifier(try reader.string())
            case "currency": currency = Currency(try reader.string())
            case "lines": lines = try CartLineCodec.decode(from: &reader)
            case "total": total = Amount(minorUnits: try reader.integer())
            case "customer": customer = try reader.identifier()
            case "sealedName": sealedName = SealedText(ciphertext: try reader.text())
            default: _ = try reader.rawValue()
            }
        }
        guard name == "order.placed", let cart, let outlet, let currency, let lines, let total else { return nil }
        return .placed(
            Order.Placement(
                cart: cart, outlet: outlet, currency: currency, lines: lines, total: total, customer: customer,
                name: sealedName))
    }
}
