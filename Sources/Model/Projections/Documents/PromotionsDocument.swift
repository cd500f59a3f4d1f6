internal import Domain
internal import EventLog
internal import TextFormats

/// The promotions of an outlet, as `PROMO.GET` answers them.
public enum PromotionsDocument {
    /// The document.
    public static func bytes(of record: OutletRecord) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 512)
        writer.beginObject()
        writer.field("outlet", record.id.rawValue)
        writer.field("version", record.promotionsVersion)
        writer.key("promotions")
        writer.beginArray()
        for promotion in record.promotions.list {
            writer.beginObject()
            PromotionCodec.encodeShown(promotion, to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}
