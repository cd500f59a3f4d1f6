public import Domain
public import TextFormats

/// Promotions, as events and documents have them, and what happens to them.
public enum PromotionCodec {
    static func encode(_ event: Promotions.Event, to writer: inout JSONWriter) -> String {
        switch event {
        case .put(let promotion):
            encode(promotion, to: &writer) { $0.millisecondsSinceEpoch.description }
            return "promotions.put"
        case .ended(let id):
            writer.field("id", id.rawValue)
            return "promotions.ended"
        case .spent(let id):
            writer.field("id", id.rawValue)
            return "promotions.spent"
        case .resumed(let id):
            writer.field("id", id.rawValue)
            return "promotions.resumed"
        }
    }

    /// Writes the fields of a promotion for people. What was not said is left out.
    public static func encodeShown(_ promotion: Promotion, to writer: inout JSONWriter) {
        encode(promotion, to: &writer) { "\"\($0.rfc3339)\"" }
    }

    private static func encode(
        _ promotion: Promotion, to writer: inout JSONWriter, time: (Timestamp) -> String
    ) {
        writer.field("id", promotion.id.rawValue)
        writer.field("title", promotion.title.string)
        writer.field("on", promotion.target.rawValue)
        writer.key("give")
        writer.beginObject()
        switch promotion.gift {
        case .percent(let rate): writer.field("percent", rate.thousandths)
        case .amount(let amount): writer.field("amount", amount.minorUnits)
        case .price(let price): writer.field("price", price.minorUnits)
        }
        writer.endObject()
        let scope = promotion.scope
        if scope != .all {
            writer.key("of")
            writer.beginObject()
            if !scope.items.isEmpty { writer.field("items", scope.items.lazy.map(\.rawValue)) }
            if !scope.sections.isEmpty { writer.field("sections", scope.sections.lazy.map(\.rawValue)) }
            if !scope.tags.isEmpty { writer.field("tags", scope.tags.lazy.map(\.string)) }
            writer.endObject()
        }
        if promotion.buy != 0 { writer.field("buy", promotion.buy) }
        if promotion.get != 1 { writer.field("get", promotion.get) }
        if let minimum = promotion.minimum { writer.field("minimum", minimum.minorUnits) }
        if let code = promotion.code { writer.field("code", code.string) }
        for case let (key, moment?) in [("from", promotion.from), ("until", promotion.until)] {
            writer.key(dynamic: key)
            writer.raw(Array(time(moment).utf8))
        }
        if let service = promotion.service { writer.field("service", service.rawValue) }
        if let limit = promotion.limit { writer.field("limit", limit) }
        if let perCustomer = promotion.perCustomer { writer.field("perCustomer", perCustomer) }
        if let cap = promotion.cap { writer.field("cap", cap.minorUnits) }
        if promotion.isAlone { writer.field("alone", true) }
        if promotion.payer != .outlet { writer.field("by", promotion.payer.rawValue) }
    }

    static func decode(_ name: EventName, _ reader: inout JSONReader) throws(JSONReadingError) -> Promotions.Event? {
        var id: Identifier?
        var title: Text?
        var target: Promotion.Target?
        var gift: Promotion.Gift?
        var scope = Promotion.Scope.all
        var (buy, get) = (0, 1)
        var minimum: Amount?
        var code: Text?
        var from: Timestamp?
        var until: Timestamp?
        var service: ServiceKind?
        var limit: Int64?
        var perCustomer: Int64?
        var cap: Amount?
        var isAlone = false
        var payer: Promotion.Payer? = .outlet
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "id": id = try reader.identifier()
            case "title": title = try reader.text()
            case "on": target = Promotion.Target(rawValue: try reader.string())
            case "give": gift = try self.gift(from: &reader)
            case "of": scope = try self.scope(from: &reader)
            case "buy": buy = Int(try reader.integer())
            case "get": get = Int(try reader.integer())
            case "minimum": minimum = Amount(minorUnits: try reader.integer())
            case "code": code = try reader.text()
            case "from": from = try reader.timestamp()
            case "until": until = try reader.timestamp()
            case "service":
                service = ServiceKind(rawValue: try reader.string())
                if service == nil { return nil }
            case "limit": limit = try reader.integer()
            case "perCustomer": perCustomer = try reader.integer()
            case "cap": cap = Amount(minorUnits: try reader.integer())
            case "alone": isAlone = try reader.bool()
            case "by": payer = Promotion.Payer(rawValue: try reader.string())
            default: _ = try reader.rawValue()
            }
        }
        switch name {
        case "promotions.put":
            guard let id, let title, let target, let gift, let payer else { return nil }
            return .put(
                Promotion(
                    id: id, title: title, on: target, gift, of: scope, buy: buy, get: get, minimum: minimum, code: code,
                    from: from, until: until, service: service, limit: limit, perCustomer: perCustomer, cap: cap,
                    isAlone: isAlone, by: payer))
        case "promotions.ended": return id.map(Promotions.Event.ended)
        case "promotions.spent": return id.map(Promotions.Event.spent)
        case "promotions.resumed": return id.map(Promotions.Event.resumed)
        default: return nil
        }
    }

    private static func gift(from reader: inout JSONReader) throws(JSONReadingError) -> Promotion.Gift? {
        var gift: Promotion.Gift?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "percent": gift = Rate(thousandths: Int(try reader.integer())).map(Promotion.Gift.percent)
            case "amount": gift = .amount(Amount(minorUnits: try reader.integer()))
            case "price": gift = .price(Amount(minorUnits: try reader.integer()))
            default: _ = try reader.rawValue()
            }
        }
        return gift
    }

    private static func scope(from reader: inout JSONReader) throws(JSONReadingError) -> Promotion.Scope {
        var scope = Promotion.Scope.all
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "items": scope.items = try identifiers(from: &reader)
            case "sections": scope.sections = try identifiers(from: &reader)
            case "tags":
                try reader.beginArray()
                while try reader.nextElement() { scope.tags.append(try reader.text()) }
            default: _ = try reader.rawValue()
            }
        }
        return scope
    }

    private static func identifiers(from reader: inout JSONReader) throws(JSONReadingError) -> [Identifier] {
        var ids: [Identifier] = []
        try reader.beginArray()
        while try reader.nextElement() { ids.append(try reader.identifier()) }
        return ids
    }
}

extension PromotionCodec {
    /// The members of a promotion.
    ///
    /// - Parameter time: a time, as it is written there.
    public static func members(time: JSONSchema) -> [JSONSchema.Member] {
        [
            .member("id", .identifier), .member("title", .string), .member("on", .words(of: Promotion.Target.self)),
            .member(
                "give",
                .object([
                    .optional("percent", .rate), .optional("amount", .money),
                    .optional("price", .money),
                ]).named("Gift"), "one of its members"),
            .optional(
                "of",
                .object([
                    .optional("items", .list(of: .identifier)), .optional("sections", .list(of: .identifier)),
                    .optional("tags", .list(of: .string)),
                ]).named("Scope"), "what of the menu it is for; everything where it is left out"),
            .optional("buy", .integer, "how many units are paid for"),
            .optional("get", .integer, "how many more it is for; 1 where it is left out"),
            .optional("minimum", .money, "the least subtotal"),
            .optional("code", .string, "what a customer has to say"), .optional("from", time), .optional("until", time),
            .optional("service", .words(of: ServiceKind.self)), .optional("limit", .integer, "how often in all"),
            .optional("perCustomer", .integer, "how often for one customer"),
            .optional("cap", .money, "the most that it takes off"),
            .optional("alone", .boolean, "whether it excludes others"),
            .optional("by", .words(of: Promotion.Payer.self), "who pays; the outlet where it is left out"),
        ]
    }
}

extension PromotionCodec {
    private static let id = JSONSchema.Member.member("id", .identifier)

    static let schemas = [
        EventSchema(
            "promotions.put",
            "The outlet has the promotion, in place of one with its id; with another `limit` it is no longer used up.",
            members(time: .moment)),
        EventSchema("promotions.ended", "The promotion is gone.", [id]),
        EventSchema("promotions.spent", "The promotion is used up.", [id]),
        EventSchema("promotions.resumed", "The promotion can be used again.", [id]),
    ]
}
