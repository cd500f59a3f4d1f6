internal import Domain
internal import EventLog
internal import TextFormats

/// The document of `PROMO.PUT`.
struct PromotionInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .optional("id", .identifier), .member("title", .string), .member("on", .words(of: Promotion.Target.self)),
        .member("give", GiftInput.schema, "one of its members"), .optional("of", ScopeInput.schema),
        .optional("buy", .integer), .optional("get", .integer), .optional("minimum", .money),
        .optional("code", .string), .optional("from", .time), .optional("until", .time),
        .optional("service", .words(of: ServiceKind.self)), .optional("limit", .integer),
        .optional("perCustomer", .integer), .optional("cap", .money), .optional("alone", .boolean),
        .optional("by", .words(of: Promotion.Payer.self)),
    ]

    let id: Identifier?
    private let promotion: Promotion

    init(_ fields: InputFields) throws(InputError) {
        id = try fields.optional("id")
        let give: GiftInput = try fields.required("give")
        let scope: ScopeInput? = try fields.optional("of")
        let minimum: Int64? = try fields.optional("minimum")
        let code: Text? = try fields.optional("code")
        let cap: Int64? = try fields.optional("cap")
        promotion = Promotion(
            id: Identifier("_")!, title: try fields.required("title"), on: try fields.required("on"), give.gift,
            of: scope?.scope ?? .all, buy: try fields.optional("buy") ?? 0, get: try fields.optional("get") ?? 1,
            minimum: minimum.map(Amount.init), code: code.map(Promotion.code), from: try fields.optional("from"),
            until: try fields.optional("until"), service: try fields.optional("service"),
            limit: try fields.optional("limit"), perCustomer: try fields.optional("perCustomer"),
            cap: cap.map(Amount.init),
            isAlone: try fields.optional("alone") ?? false, by: try fields.optional("by") ?? .outlet)
    }

    func promotion(_ id: Identifier) -> Promotion {
        var promotion = promotion
        promotion.id = id
        return promotion
    }
}

private struct GiftInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .optional("percent", .rate), .optional("amount", .money), .optional("price", .money),
    ]

    let gift: Promotion.Gift

    init(_ fields: InputFields) throws(InputError) {
        let percent: Rate? = try fields.optional("percent")
        let amount: Int64? = try fields.optional("amount")
        let price: Int64? = try fields.optional("price")
        switch (percent, amount, price) {
        case (let percent?, nil, nil): gift = .percent(percent)
        case (nil, let amount?, nil): gift = .amount(Amount(minorUnits: amount))
        case (nil, nil, let price?): gift = .price(Amount(minorUnits: price))
        default: throw InputError("", "must have one of percent, amount and price")
        }
    }
}

private struct ScopeInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .optional("items", .list(of: .identifier)), .optional("sections", .list(of: .identifier)),
        .optional("tags", .list(of: .string)),
    ]

    let scope: Promotion.Scope

    init(_ fields: InputFields) throws(InputError) {
        scope = Promotion.Scope(
            items: try fields.optional("items") ?? [], sections: try fields.optional("sections") ?? [],
            tags: try fields.optional("tags") ?? [])
        guard scope != .all else { throw InputError("", "names nothing; leave it out for everything") }
    }
}

extension Promotion.Target: InputValue {
    static var expectation: String { "items, order or delivery" }

    init?(input: JSONValue) throws(InputError) {
        guard let word = Text(input: input)?.string, let target = Promotion.Target(rawValue: word) else { return nil }
        self = target
    }
}

extension Promotion.Payer: InputValue {
    static var expectation: String { "outlet or platform" }

    init?(input: JSONValue) throws(InputError) {
        guard let word = Text(input: input)?.string, let payer = Promotion.Payer(rawValue: word) else { return nil }
        self = payer
    }
}

extension ServiceKind: InputValue {
    static var expectation: String { allCases.map(\.rawValue).joined(separator: ", ") }

    init?(input: JSONValue) throws(InputError) {
        guard let word = Text(input: input)?.string, let service = ServiceKind(rawValue: word) else { return nil }
        self = service
    }
}

extension Timestamp: InputValue {
    static var expectation: String { "a time such as 2026-11-23T18:00:00Z" }

    init?(input: JSONValue) throws(InputError) {
        guard let text = Text(input: input), let time = Timestamp(rfc3339: text.string) else { return nil }
        self = time
    }
}
