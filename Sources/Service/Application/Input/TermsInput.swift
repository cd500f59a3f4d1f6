internal import Domain

/// What an outlet charges beside its items' prices: the fields `taxIncluded`, `taxes` and `charges` of `OUTLET.PUT`.
extension PricingTerms {
    init(_ fields: InputFields) throws(InputError) {
        let taxes: [TaxInput] = try fields.optional("taxes") ?? []
        let charges: ChargesInput? = try fields.optional("charges")
        self.init(
            taxIncluded: try fields.optional("taxIncluded"), taxes: taxes.map(\.tax),
            service: charges?.service?.service, smallOrder: charges?.smallOrder?.fee, delivery: charges?.delivery?.fee)
    }
}

private struct TaxInput: InputObject {
    static let fields: [String] = ["id", "name", "rate"]
    static let required: [String] = fields

    let tax: PricingTerms.Tax

    init(_ fields: InputFields) throws(InputError) {
        tax = PricingTerms.Tax(
            id: try fields.required("id"), name: try fields.required("name"), rate: try Rate(fields))
    }
}

private struct ChargesInput: InputObject {
    static let fields: [String] = ["service", "smallOrder", "delivery"]
    static let required: [String] = []

    let service: ServiceInput?
    let smallOrder: FeeInput?
    let delivery: FeeInput?

    init(_ fields: InputFields) throws(InputError) {
        service = try fields.optional("service")
        smallOrder = try fields.optional("smallOrder")
        delivery = try fields.optional("delivery")
    }
}

private struct ServiceInput: InputObject {
    static let fields: [String] = ["rate", "tax"]
    static let required: [String] = ["rate"]

    let service: PricingTerms.Service

    init(_ fields: InputFields) throws(InputError) {
        service = PricingTerms.Service(rate: try Rate(fields), tax: try fields.optional("tax"))
    }
}

private struct FeeInput: InputObject {
    static let fields: [String] = ["fee", "freeFrom", "tax"]
    static let required: [String] = ["fee"]

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
        guard let rate = Rate(thousandths: try fields.required("rate")) else {
            throw InputError("rate", "must be from 0 to 100000 thousandths of a percent")
        }
        self = rate
    }
}
