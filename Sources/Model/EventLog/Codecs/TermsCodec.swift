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
                writer.endObject()
            }
            writer.endArray()
        }
        guard terms.service != nil || terms.smallOrder != nil || terms.delivery != nil else { return }
        writer.key("charges")
        writer.beginObject()
        if let service = terms.service {
            writer.key("service")
            writer.beginObject()
            writer.field("rate", service.rate.thousandths)
            if let tax = service.tax { writer.field("tax", tax.rawValue) }
            writer.endObject()
        }
        encode("smallOrder", terms.smallOrder, to: &writer)
        encode("delivery", terms.delivery, to: &writer)
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
                    terms.taxes.append(PricingTerms.Tax(id: id, name: name, rate: rate))
                }
            case "charges":
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    let fields = try Fields(from: &reader)
                    switch key {
                    case "service":
                        guard let rate = fields.rate else { throw reader.failure("a rate") }
                        terms.service = PricingTerms.Service(rate: rate, tax: fields.tax)
                    case "smallOrder", "delivery":
                        guard let fee = fields.fee else { throw reader.failure("a fee") }
                        if key == "delivery" { terms.delivery = fee } else { terms.smallOrder = fee }
                    default: break
                    }
                }
            default: _ = try reader.rawValue()
            }
        }
        return terms
    }

    private struct Fields {
        var id: Identifier?
        var name: Text?
        var rate: Rate?
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
                case "rate":
                    rate = Rate(thousandths: Int(try reader.integer()))
                    if rate == nil { throw reader.failure("a rate") }
                case "fee": amount = Amount(minorUnits: try reader.integer())
                case "freeFrom": freeFrom = Amount(minorUnits: try reader.integer())
                case "tax": tax = try reader.identifier()
                default: _ = try reader.rawValue()
                }
            }
            if let amount { fee = PricingTerms.Fee(amount, freeFrom: freeFrom, tax: tax) }
        }
    }
}
