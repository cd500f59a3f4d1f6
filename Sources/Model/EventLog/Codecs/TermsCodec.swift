public import Domain
public import TextFormats

/// What an outlet charges beside its items' prices, as an object.
public enum TermsCodec {
    static func encode(_ terms: PricingTerms, to writer: inout JSONWriter) {
        writer.beginObject()
        encodeFields(terms, to: &writer)
        writer.endObject()
    }

    /// Writes the fields, and leaves out what there is not.
    public static func encodeFields(_ terms: PricingTerms, to writer: inout JSONWriter) {
        if let taxIncluded = terms.taxIncluded { writer.field("taxIncluded", taxIncluded) }
        if !terms.taxes.isEmpty {
            writer.key("taxes")
            writer.beginArray()
            for tax in terms.taxes {
                writer.beginObject()
                writer.field("id", tax.id.rawValue)
                writer.field("name", tax.name.string)
                writer.field("rate", tax.rate.thousandths)
                if !tax.rates.isEmpty {
                    writer.key("rates")
                    writer.beginObject()
                    for (service, rate) in tax.rates.list {
                        writer.key(dynamic: service.rawValue)
                        writer.integer(Int64(rate.thousandths))
                    }
                    writer.endObject()
                }
                writer.endObject()
            }
            writer.endArray()
        }
        guard terms.charges != .none else { return }
        writer.key("charges")
        encode(terms.charges, to: &writer)
    }

    static func encode(_ charges: PricingTerms.Charges, to writer: inout JSONWriter) {
        writer.beginObject()
        if let service = charges.service {
            writer.key("service")
            writer.beginObject()
            writer.field("rate", service.rate.thousandths)
            if let tax = service.tax { writer.field("tax", tax.rawValue) }
            writer.endObject()
        }
        encode("smallOrder", charges.smallOrder, to: &writer)
        encode("delivery", charges.delivery, to: &writer)
        writer.endObject()
    }

    private static func encode(_ key: StaticString, _ fee: PricingTerms.Fee?, to writer: inout JSONWriter) {
        guard let fee else { return }
        writer.key(key)
        writer.beginObject()
        writer.field("fee", fee.amount.minorUnits)
        if let limit = fee.freeFrom { writer.field("freeFrom", limit.minorUnits) }
        if let tax = fee.tax { writer.field("tax", tax.rawValue) }
        writer.endObject()
    }

    static func decode(from reader: inout JSONReader) throws(JSONReadingError) -> PricingTerms {
        var terms = PricingTerms()
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "taxIncluded": terms.taxIncluded = try reader.bool()
            case "taxes":
                try reader.beginArray()
                while try reader.nextElement() {
                    let fields = try Fields(from: &reader)
                    guard let id = fields.id, let name = fields.name, let rate = fields.rate else {
                        throw reader.failure("a tax with all its fields")
                    }
                    terms.taxes.append(PricingTerms.Tax(id: id, name: name, rate: rate, rates: fields.rates))
                }
            case "charges": terms.charges = try decodeCharges(from: &reader)
            default: _ = try reader.rawValue()
            }
        }
        return terms
    }

    static func decodeCharges(from reader: inout JSONReader) throws(JSONReadingError) -> PricingTerms.Charges {
        var charges = PricingTerms.Charges()
        try reader.beginObject()
        while let key = try reader.nextKey() {
            let fields = try Fields(from: &reader)
            switch key {
            case "service":
                guard let rate = fields.rate else { throw reader.failure("a rate") }
                charges.service = PricingTerms.Service(rate: rate, tax: fields.tax)
            case "smallOrder", "delivery":
                guard let fee = fields.fee else { throw reader.failure("a fee") }
                if key == "delivery" { charges.delivery = fee } else { charges.smallOrder = fee }
            default: break
            }
        }
        return charges
    }

    private struct Fields {
        var id: Identifier?
        var name: Text?
        var rate: Rate?
        var rates = ByService<Rate>()
        var fee: PricingTerms.Fee?
        var tax: Identifier?

        init(from reader: inout JSONReader) throws(JSONReadingError) {
            var amount: Amount?
            var freeFrom: Amount?
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "id": id = try reader.identifier()
                case "name": name = try reader.text()
                case "rate": rate = try Fields.rate(from: &reader)
                case "rates":
                    try reader.beginObject()
                    while let key = try reader.nextKey() {
                        guard let service = ServiceKind(rawValue: key.description) else {
                            throw reader.failure("a way to have orders")
                        }
                        rates[service] = try Fields.rate(from: &reader)
                    }
                    if rates.isEmpty { throw reader.failure("rates with ways to have orders") }
                case "fee": amount = Amount(minorUnits: try reader.integer())
                case "freeFrom": freeFrom = Amount(minorUnits: try reader.integer())
                case "tax": tax = try reader.identifier()
                default: _ = try reader.rawValue()
                }
            }
            if let amount { fee = PricingTerms.Fee(amount, freeFrom: freeFrom, tax: tax) }
        }

        private static func rate(from reader: inout JSONReader) throws(JSONReadingError) -> Rate {
            guard let rate = Rate(thousandths: Int(try reader.integer())) else { throw reader.failure("a rate") }
            return rate
        }
    }
}

extension TermsCodec {
    private static let fee = JSONSchema.object([
        .member("fee", .money), .optional("freeFrom", .money, "from what subtotal on it is not charged"),
        .optional("tax", .identifier),
    ]).named("Fee")

    /// What is charged for service and by fees.
    public static let chargesSchema = JSONSchema.object([
        .optional("service", .object([.member("rate", .rate), .optional("tax", .identifier)]).named("ServiceCharge")),
        .optional("smallOrder", fee), .optional("delivery", fee),
    ]).named("OutletCharges")

    /// The members of what an outlet charges.
    public static let members: [JSONSchema.Member] = [
        .optional("taxIncluded", .boolean, "whether prices have the taxes already"),
        .optional(
            "taxes",
            .list(
                of: .object([
                    .member("id", .identifier), .member("name", .string), .member("rate", .rate),
                    .optional("rates", ServiceKind.schema(of: .rate), "where they differ by service"),
                ]).named("Tax"))),
        .optional("charges", chargesSchema),
    ]
}
