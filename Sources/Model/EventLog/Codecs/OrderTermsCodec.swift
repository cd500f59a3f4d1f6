internal import Domain
internal import TextFormats

/// What an order waits for, as fields of an event.
enum OrderTermsCodec {
    static func encode(_ terms: Order.Terms, to writer: inout JSONWriter) {
        func time(_ name: StaticString, _ time: Timestamp?, to writer: inout JSONWriter) {
            if let time { writer.field(name, time.millisecondsSinceEpoch) }
        }
        time("placedAt", terms.placedAt, to: &writer)
        time("promisedFor", terms.promisedFor, to: &writer)
        time("releaseAt", terms.releaseAt, to: &writer)
        time("acceptBy", terms.acceptBy, to: &writer)
        time("payBy", terms.payBy, to: &writer)
        if let seconds = terms.acceptWithin { writer.field("acceptWithin", seconds) }
    }

    /// What changes of the order follow from: what the customer wants if something is missing, and the outlet's charges.
    static func encode(_ missing: Order.Missing, _ pricing: PricingTerms, to writer: inout JSONWriter) {
        if missing != .ask { writer.field("missing", missing.rawValue) }
        guard pricing != .none else { return }
        writer.key("pricing")
        TermsCodec.encode(pricing, to: &writer)
    }

    /// Reads the value of the key if changes of the order follow from it.
    static func read(
        _ key: JSONKey, into missing: inout Order.Missing, _ pricing: inout PricingTerms, from reader: inout JSONReader
    ) throws(JSONReadingError) -> Bool {
        switch key {
        case "missing":
            guard let known = Order.Missing(rawValue: try reader.string()) else {
                throw reader.failure("what to do if something is missing")
            }
            missing = known
        case "pricing": pricing = try TermsCodec.decode(from: &reader)
        default: return false
        }
        return true
    }

    /// Reads the value of the key if it is one of the terms'.
    static func read(
        _ key: JSONKey, into terms: inout Order.Terms, from reader: inout JSONReader
    ) throws(JSONReadingError) -> Bool {
        switch key {
        case "placedAt": terms.placedAt = try reader.timestamp()
        case "promisedFor": terms.promisedFor = try reader.timestamp()
        case "releaseAt": terms.releaseAt = try reader.timestamp()
        case "acceptBy": terms.acceptBy = try reader.timestamp()
        case "payBy": terms.payBy = try reader.timestamp()
        case "acceptWithin": terms.acceptWithin = Int(try reader.integer())
        default: return false
        }
        return true
    }
}

extension OrderTermsCodec {
    /// What an outlet charges beside prices.
    static let pricing = JSONSchema.object(TermsCodec.members).named("Pricing")

    static let members: [JSONSchema.Member] = [
        .optional("placedAt", .moment), .optional("promisedFor", .moment, "what the customer was told"),
        .optional("releaseAt", .moment, "when the kitchen sees it"), .optional("acceptBy", .moment),
        .optional("payBy", .moment), .optional("acceptWithin", .integer.counted(in: "seconds"), "once it is released"),
        .optional(
            "missing", .words(of: Order.Missing.self), "what to do if something is missing; ask where it is left out"),
        .optional("pricing", pricing, "what changes of the order follow from"),
    ]
}
