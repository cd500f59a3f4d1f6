public import Domain
public import EventLog
internal import TextFormats

/// A row of `takings`: what an outlet took in a quarter of an hour.
public struct TakingsRow: ProjectionRow {
    public static let columns = [
        Column("period", .text), Column("outlet", .text), Column("starts_at", .int64), Column("sums", .json),
    ]

    /// The number of the period, and that of the outlet in the partition, with a dot between them.
    public let key: Identifier
    /// The outlet.
    public let outlet: Identifier
    /// The sums.
    public let sums: TakingsSums
    /// The quarter of an hour, counted from the Unix epoch.
    let quarter: Int64
    /// The number of the outlet, from 1.
    let number: UInt32

    init(_ outlet: Identifier, _ number: UInt32, quarter: Int64, _ sums: TakingsSums) {
        guard let key = Identifier("\(quarter).\(number)") else { preconditionFailure("numbers and a dot are a key") }
        self.key = key
        self.outlet = outlet
        self.sums = sums
        self.quarter = quarter
        self.number = number
    }

    public init(_ stored: StoredRow) throws(UnreadableValue) {
        let words = try stored.key().rawValue.split(separator: ".", maxSplits: 1)
        guard words.count == 2, let quarter = Int64(words[0]), let number = UInt32(words[1]), number > 0,
            let outlet = Identifier(String(decoding: stored.bytes(1), as: UTF8.self)),
            stored.int64(2) == Takings.start(ofQuarter: quarter)
        else { throw UnreadableValue("its period or outlet") }
        do {
            self.init(outlet, number, quarter: quarter, try TakingsSums(json: stored.bytes(3)))
        } catch {
            throw UnreadableValue("its sums: \(error)")
        }
        guard try key == stored.key() else { throw UnreadableValue("its period") }
    }

    public func write(to columns: inout some RowWriter) {
        columns.text(key.rawValue)
        columns.text(outlet.rawValue)
        columns.int64(Takings.start(ofQuarter: quarter))
        columns.json(sums.json)
    }

    public var size: Int { 100 + sums.entries.count * 80 }

    /// The row's digest: over its period, its outlet and its sums as they are, with a zero byte between two.
    public var digest: Digest { Digest.of(Array("\(key.rawValue)\0\(outlet.rawValue)\0".utf8) + sums.json) }
}

extension TakingsSums {
    /// The sums as the database has them.
    var json: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 20 + entries.count * 80)
        writer.beginArray()
        for (subject, sum) in entries {
            writer.beginObject()
            writer.field("of", subject.movement.rawValue)
            writer.field("kind", subject.kind.name)
            if let service = subject.service { writer.field("service", service.rawValue) }
            if let tax = subject.tax { writer.field("tax", tax.rawValue) }
            if let rate = subject.rate { writer.field("rate", rate) }
            writer.field("count", sum.count)
            if sum.base != 0 { writer.field("base", sum.base) }
            writer.field("amount", sum.amount)
            writer.endObject()
        }
        writer.endArray()
        return writer.bytes
    }

    /// Sums as the database has them.
    fileprivate init(json: [UInt8]) throws(JSONReadingError) {
        self.init()
        self = try JSONReader.read(json) { reader throws(JSONReadingError) in
            var sums = TakingsSums()
            try reader.beginArray()
            while try reader.nextElement() {
                let (subject, sum) = try TakingsSums.entry(from: &reader)
                if let last = sums.entries.last, !(last.subject < subject) {
                    throw reader.failure("a sum in its place")
                }
                sums.add(subject, sum)
            }
            return sums
        }
    }

    private static func entry(from reader: inout JSONReader) throws(JSONReadingError) -> (Subject, Sum) {
        var movement: Movement?
        var kind: String?
        var service: ServiceKind?
        var tax: Identifier?
        var rate: Int?
        var sum = Sum()
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "of": movement = Movement(rawValue: try reader.string())
            case "kind": kind = try reader.string()
            case "service": service = ServiceKind(rawValue: try reader.string())
            case "tax":
                tax = Identifier(try reader.string())
                if tax == nil { throw reader.failure("the id of a tax") }
            case "rate": rate = Int(try reader.integer())
            case "count": sum.count = try reader.integer()
            case "base": sum.base = try reader.integer()
            case "amount": sum.amount = try reader.integer()
            default: _ = try reader.rawValue()
            }
        }
        guard let movement, rate.map({ Rate(thousandths: $0) != nil }) ?? true,
            let kind = Kind.all.first(where: { $0.name == kind && $0.isPayment == (movement == .paid) })
        else { throw reader.failure("a sum of something") }
        return (Subject(movement, kind, service, tax: tax, rate: rate), sum)
    }
}

extension TakingsSums.Kind {
    fileprivate var isPayment: Bool { if case .payment = self { true } else { false } }
}
