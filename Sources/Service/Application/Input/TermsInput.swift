internal import Domain
internal import EventLog
internal import TextFormats

/// What an outlet charges beside its items' prices: the fields `taxIncluded`, `taxes` and `charges` of `OUTLET.PUT`.
extension PricingTerms {
    init(_ fields: InputFields) throws(InputError) {
        let taxes: [TaxInput] = try fields.optional("taxes") ?? []
        let charges: ChargesInput? = try fields.optional("charges")
        self.init(taxIncluded: try fields.optional("taxIncluded"), taxes: taxes.map(\.tax))
        self.charges = charges?.charges ?? .none
    }
}

struct TaxInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("id", .identifier), .member("name", .string), .member("rate", .rate),
        .optional("rates", ServiceKind.schema(of: .rate.orNull)),
    ]

    let tax: PricingTerms.Tax

    init(_ fields: InputFields) throws(InputError) {
        let rates: ByService<Rate>? = try fields.optional("rates")
        tax = PricingTerms.Tax(
            id: try fields.required("id"), name: try fields.required("name"), rate: try Rate(fields),
            rates: rates ?? ByService())
    }
}

struct ChargesInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .optional("service", ServiceInput.schema), .optional("smallOrder", FeeInput.schema),
        .optional("delivery", FeeInput.schema),
    ]

    let charges: PricingTerms.Charges

    init(_ fields: InputFields) throws(InputError) {
        let service: ServiceInput? = try fields.optional("service")
        let smallOrder: FeeInput? = try fields.optional("smallOrder")
        let delivery: FeeInput? = try fields.optional("delivery")
        charges = PricingTerms.Charges(
            service: service?.service, smallOrder: smallOrder?.fee, delivery: delivery?.fee)
    }
}

private struct ServiceInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("rate", .rate), .optional("tax", .identifier),
    ]

    let service: PricingTerms.Service

    init(_ fields: InputFields) throws(InputError) {
        service = PricingTerms.Service(rate: try Rate(fields), tax: try fields.optional("tax"))
    }
}

private struct FeeInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("fee", .money), .optional("freeFrom", .money), .optional("tax", .identifier),
    ]

    let fee: PricingTerms.Fee

    init(_ fields: InputFields) throws(InputError) {
        let amount: Int64 = try fields.required("fee")
        fee = PricingTerms.Fee(
            Amount(minorUnits: amount), freeFrom: try fields.optional("freeFrom").map(Amount.init),
            tax: try fields.optional("tax"))
    }
}

extension Rate {
    /// The field `rate`, in thousandths of a percent.
    fileprivate init(_ fields: InputFields) throws(InputError) {
        self = try fields.required("rate")
    }
}

extension Rate: InputValue {
    static var expectation: String { Int.expectation }

    init?(input: JSONValue) throws(InputError) {
        guard let thousandths = Int(input: input) else { return nil }
        guard let rate = Rate(thousandths: thousandths) else {
            throw InputError("", "must be from 0 to 100000 thousandths of a percent")
        }
        self = rate
    }
}
