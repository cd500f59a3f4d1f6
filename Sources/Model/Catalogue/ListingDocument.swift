internal import Domain
internal import Projections
internal import TextFormats

/// An item or outlet as it appears in a list.
enum ListingDocument {
    static func write(_ entry: MenuState.Entry, at outlet: CatalogueOutlet, to writer: inout JSONWriter) {
        let item = entry.item
        writer.beginObject()
        writer.field("outlet", outlet.id.rawValue)
        writer.field("item", item.id.rawValue)
        writer.field("kind", item.kind.string)
        writer.field("name", item.name.string)
        writer.field("description", item.description?.string)
        ItemDocument.writePrice(of: entry, to: &writer)
        writer.field("currency", outlet.details.currency.code)
        writer.field("cuisine", item.cuisine?.string)
        writer.field("tags", item.tags.lazy.map(\.string))
        writer.field("imageSmall", item.imageSmall?.string)
        if !item.links.isEmpty { writer.field("hasLinks", true) }
        ItemDocument.writeAvailability(outlet.suspension(of: entry), to: &writer)
        writer.field("outletName", outlet.details.name.string)
        writer.field("city", outlet.details.city?.string)
        writer.field("area", outlet.details.area?.string)
        writer.key("rating")
        if let rating = outlet.details.rating { writer.decimal(rating.hundredths, digits: 2) } else { writer.null() }
        writer.field("deliveryMinutes", outlet.details.deliveryMinutes)
        OutletDocument.writeStatus(outlet.status, to: &writer)
        writer.endObject()
    }

    static func write(_ outlet: CatalogueOutlet, to writer: inout JSONWriter) {
        writer.beginObject()
        OutletDocument.writeFields(outlet.id, outlet.details, outlet.status, to: &writer)
        writer.endObject()
    }
}

extension ListingDocument {
    /// An item in a list.
    static let itemSchema = JSONSchema.object(
        [
            .member("outlet", .identifier), .member("item", .identifier),
            .member("kind", .words(ItemKind.all.map(\.name.string))), .member("name", .string),
            .member("description", .string.orNull),
        ], ItemDocument.price,
        [
            .member("currency", .string), .member("cuisine", .string.orNull), .member("tags", .list(of: .string)),
            .member("imageSmall", .string.orNull), .optional("hasLinks", .boolean),
        ], ItemDocument.availability,
        [
            .member("outletName", .string), .member("city", .string.orNull), .member("area", .string.orNull),
            .member("rating", .number.orNull, "from 0 to 5"), .member("deliveryMinutes", .integer.orNull),
        ], OutletDocument.statusMembers
    ).named("FoundItem")

    /// An outlet in a list.
    static let outletSchema = JSONSchema.object(OutletDocument.members).named("FoundOutlet")
}
