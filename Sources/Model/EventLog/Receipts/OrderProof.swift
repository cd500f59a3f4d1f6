public import Domain
public import TextFormats

/// A proof, independent of the log, of all that is recorded of an order: a receipt for each of its events, all of them in
/// one tree. docs/audit.md describes it as JSON.
public struct OrderProof: Equatable, Sendable {
    /// The most events of an order that are proven.
    public static let maximumEvents = 1_000

    /// The order.
    public var order: Identifier
    /// A receipt for each event, in the order of their versions.
    public var receipts: [Receipt]

    /// A proof of an order.
    public init(of order: Identifier, _ receipts: [Receipt]) {
        self.order = order
        self.receipts = receipts
    }

    /// Checks each receipt, and that they are of all events of the order, from the first on, in one tree.
    ///
    /// - Throws: the first step that fails.
    public func verify() throws(Receipt.Fault) {
        guard let first = receipts.first else { throw Receipt.Fault(.order, "there is no event") }
        var last: Int64 = 0
        for (index, receipt) in receipts.enumerated() {
            _ = try receipt.verified()
            let event = receipt.event
            guard let tree = receipt.tree, tree.size == first.tree?.size, tree.root == first.tree?.root,
                receipt.partitioning == first.partitioning, receipt.signedHead == first.signedHead
            else { throw Receipt.Fault(.order, "the receipts are not of one tree") }
            guard Text(event.stream) == Text("\(StreamName(.order, order))"), event.version == Int64(index + 1),
                event.position > last
            else { throw Receipt.Fault(.order, "receipt \(index + 1) is not that of event \(index + 1) of the order") }
            last = event.position
        }
    }
}

extension OrderProof {
    /// The proof as JSON text, in one line.
    public var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("proof", 1)
        writer.field("order", order.rawValue)
        writer.key("receipts")
        writer.beginArray()
        for receipt in receipts { writer.raw(receipt.json) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    /// The proof that a JSON text holds; nil if it is something else, such as a receipt.
    ///
    /// - Throws: if it says that it is a proof, and is not.
    public init?(json text: [UInt8]) throws(JSONReadingError) {
        guard try JSONValue(text)["receipts"] != nil else { return nil }
        self = try JSONReader.read(text) { reader throws(JSONReadingError) in
            var order: Identifier?
            var receipts: [Receipt] = []
            try reader.members(["proof", "order", "receipts"]) { (reader, key) throws(JSONReadingError) in
                switch key {
                case "proof": _ = try reader.integer(in: 1...1)
                case "order": order = try reader.identifier()
                default:
                    try reader.beginArray()
                    while try reader.nextElement() {
                        guard receipts.count < OrderProof.maximumEvents else {
                            throw reader.failure("at most \(OrderProof.maximumEvents) receipts")
                        }
                        receipts.append(try Receipt(json: Array(try reader.rawValue())))
                    }
                }
            }
            guard let order else { throw reader.failure("an order") }
            return OrderProof(of: order, receipts)
        }
    }

    /// The schema of ``json``.
    public static let schema = JSONSchema.object([
        .member("proof", .integer, "the version of this form"), .member("order", .identifier),
        .member("receipts", .list(of: Receipt.treeSchema), "of each event of the order, in one tree"),
    ]).named("OrderProof")
}
