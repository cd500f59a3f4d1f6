public import Domain
public import TextFormats

/// What is charged beside the lines of an order, as objects in an array.
public enum ChargeCodec {
    /// Writes the field `charges`, unless there are none.
    static func encodeField(_ charges: [Charge], to writer: inout JSONWriter) {
        if charges.isEmpty { return }
        writer.key("charges")
        encode(charges, to: &writer)
    }

    /// Writes the array.
    public static func encode(_ charges: [Charge], to writer: inout JSONWriter) {
        writer.beginArray()
        for charge in charges {
            writer.beginObject()
            writer.field("kind", charge.kind.rawValue)
            if let id = charge.id { writer.field("id", id.rawValue) }
            if let name = charge.name { writer.field("name", name.string) }
            if let payer = charge.payer { writer.field("by", payer.rawValue) }
            if let rate = charge.rate { writer.field("rate", rate.thousandths) }
            if let base = charge.base { writer.field("base", base.minorUnits) }
            writer.field("amount", charge.amount.minorUnits)
            writer.field("included", charge.isIncluded)
            write("shares", charge.shares, to: &writer)
            if !charge.bases.isEmpty { write("bases", charge.bases, to: &writer) }
            writer.endObject()
        }
        writer.endArray()
    }

    private static func write(_ key: StaticString, _ amounts: [Amount], to writer: inout JSONWriter) {
        writer.key(key)
        writer.beginArray()
        for amount in amounts { writer.integer(amount.minorUnits) }
        writer.endArray()
    }

    static func decode(from reader: inout JSONReader) throws(JSONReadingError) -> [Charge] {
        var charges: [Charge] = []
        try reader.beginArray()
        while try reader.nextElement() { charges.append(try charge(from: &reader)) }
        return charges
    }

    private static func charge(from reader: inout JSONReader) throws(JSONReadingError) -> Charge {
        var kind: Charge.Kind?
        var id: Identifier?
        var name: Text?
        var payer: Promotion.Payer?
        var rate: Rate?
        var base: Amount?
        var amount: Amount?
        var isIncluded: Bool?
        var shares: [Amount]?
        var bases: [Amount] = []
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "kind": kind = Charge.Kind(rawValue: try reader.string())
            case "id": id = try reader.identifier()
            case "name": name = try reader.text()
            case "by": payer = Promotion.Payer(rawValue: try reader.string())
            case "rate": rate = try self.rate(from: &reader)
            case "base": base = Amount(minorUnits: try reader.integer())
            case "amount": amount = Amount(minorUnits: try reader.integer())
            case "included": isIncluded = try reader.bool()
            case "shares": shares = try amounts(from: &reader)
            case "bases": bases = try amounts(from: &reader)
            default: _ = try reader.rawValue()
            }
        }
        guard let kind, let amount, let isIncluded, let shares else {
            throw reader.failure("a charge with all its fields")
        }
        let charge = Charge(
            kind, id: id, name: name, by: payer, rate: rate, amount, isIncluded: isIncluded, shares: shares,
            bases: bases)
        guard charge.base == base else { throw reader.failure("a base that is the sum of the bases") }
        return charge
    }

    private static func amounts(from reader: inout JSONReader) throws(JSONReadingError) -> [Amount] {
        var amounts: [Amount] = []
        try reader.beginArray()
        while try reader.nextElement() { amounts.append(Amount(minorUnits: try reader.integer())) }
        return amounts
    }

    private static func rate(from reader: inout JSONReader) throws(JSONReadingError) -> Rate {
        guard let rate = Rate(thousandths: Int(try reader.integer())) else { throw reader.failure("a rate") }
        return rate
    }

    // MARK: Taxes that are given back

    /// Writes the array.
    public static func encode(_ taxes: [Order.Refund.Tax], to writer: inout JSONWriter) {
        writer.beginArray()
        for tax in taxes {
            writer.beginObject()
            if let id = tax.id { writer.field("id", id.rawValue) }
            if let rate = tax.rate { writer.field("rate", rate.thousandths) }
            if let base = tax.base { writer.field("base", base.minorUnits) }
            writer.field("amount", tax.amount.minorUnits)
            writer.endObject()
        }
        writer.endArray()
    }

    static func decodeTaxes(from reader: inout JSONReader) throws(JSONReadingError) -> [Order.Refund.Tax] {
        var taxes: [Order.Refund.Tax] = []
        try reader.beginArray()
        while try reader.nextElement() {
            var tax = Order.Refund.Tax(.zero)
            var amount: Amount?
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "id": tax.id = try reader.identifier()
                case "rate": tax.rate = try rate(from: &reader)
                case "base": tax.base = Amount(minorUnits: try reader.integer())
                case "amount": amount = Amount(minorUnits: try reader.integer())
                default: _ = try reader.rawValue()
                }
            }
            guard let amount else { throw reader.failure("a tax with its amount") }
            tax.amount = amount
            taxes.append(tax)
        }
        return taxes
    }
}

extension ChargeCodec {
    /// A charge.
    public static let schema = JSONSchema.object([
        .member("kind", .words(of: Charge.Kind.self)),
        .optional("id", .identifier, "of a tax, its id; of a discount, that of its promotion"),
        .optional("name", .string, "what receipts call it"),
        .optional("by", .words(of: Promotion.Payer.self), "who pays for a discount"),
        .optional("rate", .rate),
        .optional("base", .money, "what a tax was taken of"),
        .member("amount", .money, "below 0 for a discount"),
        .member("included", .boolean, "whether other prices have it already"),
        .member("shares", .list(of: .money), "what falls on each line, then on each charge before the taxes"),
        .optional("bases", .list(of: .money), "what a tax was taken of, of each line and charge"),
    ]).named("Charge")

    /// A tax that is given back.
    public static let refundedTaxSchema = JSONSchema.object([
        .optional("id", .identifier), .optional("rate", .rate),
        .optional("base", .money, "what the tax was taken of"), .member("amount", .money),
    ]).named("RefundedTax")
}
