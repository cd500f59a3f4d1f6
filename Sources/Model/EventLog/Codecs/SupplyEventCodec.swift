internal import Domain
internal import TextFormats

enum SupplyEventCodec {
    static func encode(_ event: Supply.Event, to writer: inout JSONWriter) -> String {
        switch event {
        case .stocked(let key, let left):
            ClaimCodec.encode(key, to: &writer)
            if let left { writer.field("left", left) }
            return "supply.stocked"
        case .held(let claims, let order, let time):
            writer.field("order", order.rawValue)
            ClaimCodec.encodeField(claims, to: &writer)
            writer.field("at", time.millisecondsSinceEpoch)
            return "supply.held"
        case .refused(let refusal, let order, let time):
            writer.field("order", order.rawValue)
            encode(refusal, to: &writer)
            writer.field("at", time.millisecondsSinceEpoch)
            return "supply.refused"
        case .returned(let claims, let order):
            writer.field("order", order.rawValue)
            ClaimCodec.encodeField(claims, to: &writer)
            return "supply.returned"
        }
    }

    static func encode(_ refusal: Supply.Refusal, to writer: inout JSONWriter) {
        writer.field("code", refusal.code.rawValue)
        writer.field("text", refusal.text.string)
    }

    static func decode(_ name: EventName, _ reader: inout JSONReader) throws(JSONReadingError) -> Supply.Event? {
        var kind: Claim.Kind?
        var id: Text?
        var left: Int64?
        var order: Identifier?
        var claims: [Claim] = []
        var at: Timestamp?
        var code: Rejection.Code?
        var text: Text?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "kind": kind = Claim.Kind(rawValue: try reader.string())
            case "id": id = try reader.text()
            case "left": left = try reader.integer()
            case "order": order = try reader.identifier()
            case "claims": claims = try ClaimCodec.decode(from: &reader)
            case "at": at = try reader.timestamp()
            case "code": code = Rejection.Code(rawValue: try reader.string())
            case "text": text = try reader.text()
            default: _ = try reader.rawValue()
            }
        }
        switch name {
        case "supply.stocked":
            guard let kind, let id else { return nil }
            return .stocked(Claim.Key(kind, id), left: left)
        case "supply.held":
            guard let order, let at else { return nil }
            return .held(claims, order: order, at: at)
        case "supply.refused":
            guard let order, let code, let text, let at else { return nil }
            return .refused(Supply.Refusal(code, text), order: order, at: at)
        case "supply.returned": return order.map { .returned(claims, order: $0) }
        default: return nil
        }
    }
}

extension SupplyEventCodec {
    private static let order = JSONSchema.Member.member("order", .identifier)
    private static let claims = JSONSchema.Member.optional("claims", ClaimCodec.schema)
    private static let at = JSONSchema.Member.member("at", .moment)

    /// Why an order gets nothing.
    static let refusal: [JSONSchema.Member] = [
        .member("code", .string, "of an error"), .member("text", .string, "for people"),
    ]

    static let schemas = [
        EventSchema(
            "supply.stocked", "So much is left; without `left` it is no longer counted.", ClaimCodec.key,
            [.optional("left", .integer)]),
        EventSchema(
            "supply.held", "The order has its claims: each is taken from what is left, or added to what is used.",
            [order, claims, at]),
        EventSchema("supply.refused", "The order gets nothing.", [order], refusal, [at]),
        EventSchema("supply.returned", "The order has given these back, and they are left again.", [order, claims]),
    ]
}
