public import Domain
public import JSONText

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
            writer.field("amount", charge.amount.minorUnits)
            writer.field("included", charge.isIncluded)
            writer.key("shares")
            writer.beginArray()
            for share in charge.shares { writer.integer(share.minorUnits) }
            writer.endArray()
            writer.endObject()
        }
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
        var amount: Amount?
        var isIncluded: Bool?
        var shares: [Amount]?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "kind": kind = Charge.Kind(rawValue: try reader.string())
            case "id": id = try reader.identifier()
            case "name": name = try reader.text()
            case "amount": amount = Amount(minorUnits: try reader.integer())
            case "included": isIncluded = try reader.bool()
            case "shares":
                var amounts: [Amount] = []
                try reader.beginArray()
                while try reader.nextElement() { amounts.append(Amount(minorUnits: try reader.integer())) }
                shares = amounts
            default: _ = try reader.rawValue()
            }
        }
        guard let kind, let amount, let isIncluded, let shares else {
            throw reader.failure("a charge with all its fields")
        }
        return Charge(kind, id: id, name: name, amount, isIncluded: isIncluded, shares: shares)
    }
}
