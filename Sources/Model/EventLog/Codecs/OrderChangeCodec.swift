public import Domain
public import TextFormats

/// A change of an order, as members of an object.
public enum OrderChangeCodec {
    static func encode(_ change: Order.Change, to writer: inout JSONWriter) {
        writer.field("by", change.by.rawValue)
        writer.key("change")
        encode(change.lines, to: &writer)
        writer.field("before", change.before.string)
        writer.field("after", change.after.string)
        CartLineCodec.encode(change.ordered, to: &writer)
        ChargeCodec.encodeField(change.price.charges, to: &writer)
        writer.field("total", change.price.total.minorUnits)
        if !change.gone.isEmpty {
            writer.key("gone")
            ClaimCodec.encode(change.gone, to: &writer)
        }
    }

    /// Writes what is different as an array.
    public static func encode(_ lines: [Order.LineChange], to writer: inout JSONWriter) {
        writer.beginArray()
        for line in lines {
            writer.beginObject()
            writer.field("line", line.line.string)
            writer.field("name", line.name.string)
            writer.field("from", line.from)
            writer.field("to", line.to)
            if let replaced = line.replaces { writer.field("replaces", replaced.string) }
            writer.endObject()
        }
        writer.endArray()
    }

    static func lines(from reader: inout JSONReader) throws(JSONReadingError) -> [Order.LineChange] {
        var lines: [Order.LineChange] = []
        try reader.beginArray()
        while try reader.nextElement() { lines.append(try line(from: &reader)) }
        return lines
    }

    private static func line(from reader: inout JSONReader) throws(JSONReadingError) -> Order.LineChange {
        var line: Text?
        var name: Text?
        var from: Int?
        var to: Int?
        var replaced: Text?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "line": line = try reader.text()
            case "name": name = try reader.text()
            case "from": from = Int(try reader.integer())
            case "to": to = Int(try reader.integer())
            case "replaces": replaced = try reader.text()
            default: _ = try reader.rawValue()
            }
        }
        guard let line, let name, let from, let to else { throw reader.failure("a changed line with all its fields") }
        return Order.LineChange(line: line, name: name, from: from, to: to, replaces: replaced)
    }

    /// What of a change an event has beside its bill.
    struct Fields {
        var lines: [Order.LineChange]?
        var before: Text?
        var after: Text?
        var gone: [Claim] = []

        func change(by party: Order.Party, ordered: [CartLine], price: Order.Price) -> Order.Change? {
            guard let lines, let before, let after else { return nil }
            return Order.Change(
                by: party, lines, before: before, after: after, ordered: ordered, price: price, gone: gone)
        }
    }

    // MARK: Changes that are kept with an order

    /// Writes an array of changes without their bills.
    public static func encode(_ records: [Order.ChangeRecord], to writer: inout JSONWriter) {
        writer.beginArray()
        for record in records {
            writer.beginObject()
            encode(record.change.summary, to: &writer)
            writer.field("totalBefore", record.totalBefore.minorUnits)
            if let until = record.until { writer.field("until", until.millisecondsSinceEpoch) }
            writer.field("state", record.outcome.rawValue)
            if let party = record.declinedBy { writer.field("declinedBy", party.rawValue) }
            writer.field("noted", record.isNoted)
            writer.endObject()
        }
        writer.endArray()
    }

    /// Reads such an array.
    public static func records(from reader: inout JSONReader) throws(JSONReadingError) -> [Order.ChangeRecord] {
        var records: [Order.ChangeRecord] = []
        try reader.beginArray()
        while try reader.nextElement() { records.append(try record(from: &reader)) }
        return records
    }

    private static func record(from reader: inout JSONReader) throws(JSONReadingError) -> Order.ChangeRecord {
        var fields = Fields()
        var party: Order.Party?
        var total: Amount?
        var totalBefore: Amount?
        var until: Timestamp?
        var outcome: Order.ChangeRecord.Outcome?
        var declinedBy: Order.Party?
        var isNoted = false
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "by": party = Order.Party(rawValue: try reader.string())
            case "change": fields.lines = try lines(from: &reader)
            case "before": fields.before = try reader.text()
            case "after": fields.after = try reader.text()
            case "gone": fields.gone = try ClaimCodec.decode(from: &reader)
            case "total": total = Amount(minorUnits: try reader.integer())
            case "totalBefore": totalBefore = Amount(minorUnits: try reader.integer())
            case "until": until = try reader.timestamp()
            case "state": outcome = Order.ChangeRecord.Outcome(rawValue: try reader.string())
            case "declinedBy": declinedBy = Order.Party(rawValue: try reader.string())
            case "noted": isNoted = try reader.bool()
            default: _ = try reader.rawValue()
            }
        }
        guard let party, let total, let totalBefore, let outcome,
            let change = fields.change(by: party, ordered: [], price: Order.Price(total, []))
        else { throw reader.failure("a change of an order") }
        var record = Order.ChangeRecord(change, totalBefore: totalBefore, until: until)
        (record.outcome, record.declinedBy, record.isNoted) = (outcome, declinedBy, isNoted)
        return record
    }
}

extension OrderChangeCodec {
    /// A line that is different.
    public static let lineSchema = JSONSchema.object([
        .member("line", .string), .member("name", .string), .member("from", .integer), .member("to", .integer),
        .optional("replaces", .string, "the line in whose place it is"),
    ]).named("LineChange")

    /// The members of a change.
    static let members: [JSONSchema.Member] = [
        .member("by", .words(of: Order.Party.self)), .member("change", .list(of: lineSchema)),
        .member("before", .string, "the digest of the bill before it"),
        .member("after", .string, "the digest of the bill after it"), CartLineCodec.lines,
        .optional("charges", .list(of: ChargeCodec.schema)), .member("total", .money),
        .optional("gone", ClaimCodec.schema, "what of the order's claims never comes back"),
    ]
}
