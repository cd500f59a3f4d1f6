public import Domain
public import TextFormats

/// What an outlet has counted, as `STOCK` answers it.
public enum StockDocument {
    /// The document.
    ///
    /// - Parameters:
    ///   - supply: what is left, and which orders hold how much.
    ///   - status: how far an order has come; nil before it is placed.
    public static func bytes(
        of outlet: Identifier, _ supply: Supply.State, version: Int64,
        status: (_ order: Identifier) -> Order.Status?
    ) -> [UInt8] {
        var held: [Claim.Key: Int64] = [:]
        for (order, answer) in supply.answers {
            guard case .held(let claims) = answer, status(order)?.isBeforeKitchen ?? true else { continue }
            for claim in claims { held[claim.key] = held[claim.key, default: 0].addingReportingOverflow(claim.count).0 }
        }
        var writer = JSONWriter(reservingCapacity: 64 * supply.left.count)
        writer.beginObject()
        writer.field("outlet", outlet.rawValue)
        writer.field("version", version)
        writer.key("stock")
        writer.beginArray()
        for key in supply.left.keys.sorted() {
            writer.beginObject()
            writer.field("kind", key.kind.rawValue)
            writer.field("id", key.id.string)
            writer.field("left", supply.left[key])
            writer.field("held", held[key] ?? 0)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}

extension Order.Status {
    /// Whether the kitchen has not begun with the order, so that it holds what it took.
    fileprivate var isBeforeKitchen: Bool {
        switch self {
        case .awaitingPayment, .scheduled, .placed, .accepted: true
        case .preparing, .ready, .completed, .rejected, .cancelled: false
        }
    }
}

extension StockDocument {
    /// The schema of the document.
    public static let schema = JSONSchema.object([
        .member("outlet", .identifier), .member("version", .count),
        .member(
            "stock",
            .list(
                of: .object([
                    .member("kind", .words(of: Claim.Kind.self)), .member("id", .string),
                    .member("left", .integer), .member("held", .integer, "by orders that the kitchen has not begun"),
                ]).named("StockRow"))),
    ]).named("Stock")
}
