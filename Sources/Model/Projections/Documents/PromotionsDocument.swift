public import Domain
internal import EventLog
public import TextFormats

/// The promotions of an outlet, as `PROMO.GET` answers them.
public enum PromotionsDocument {
    /// The document.
    ///
    /// - Parameter taken: how much orders have of something that has a limit.
    public static func bytes(of record: OutletRecord, taken: (Claim.Key) -> Int64) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 512)
        writer.beginObject()
        writer.field("outlet", record.id.rawValue)
        writer.field("version", record.promotionsVersion)
        writer.key("promotions")
        writer.beginArray()
        for promotion in record.promotions.list {
            writer.beginObject()
            PromotionCodec.encodeShown(promotion, to: &writer)
            if promotion.limit != nil { writer.field("used", taken(.promotion(promotion.id))) }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    /// Writes what a card says of its promotion. Times are left to the client: a home does not change by itself.
    static func writeCard(_ id: Identifier, of promotions: Promotions.State, to writer: inout JSONWriter) {
        let promotion = promotions[id]
        writer.beginObject()
        writer.field("id", id.rawValue)
        if let code = promotion?.code { writer.field("code", code.string) }
        if let from = promotion?.from { writer.field("from", from.rfc3339) }
        if let until = promotion?.until { writer.field("until", until.rfc3339) }
        writer.field("state", promotion == nil ? "ended" : promotions.spent.contains(id) ? "spent" : "open")
        writer.endObject()
    }
}

extension PromotionsDocument {
    /// The schema of the document.
    public static let schema = JSONSchema.object([
        .member("outlet", .identifier), .member("version", .count),
        .member(
            "promotions",
            .list(
                of: .object(
                    PromotionCodec.members(time: .time),
                    [.optional("used", .integer, "how often, where it has a limit")]
                ).named("Promotion"))),
    ]).named("Promotions")

    /// What a card says of its promotion.
    static let cardSchema = JSONSchema.object([
        .member("id", .identifier), .optional("code", .string), .optional("from", .time), .optional("until", .time),
        .member("state", .words(["open", "spent", "ended"])),
    ]).named("CardPromotion")
}
