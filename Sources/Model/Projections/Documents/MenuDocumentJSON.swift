public import Domain
internal import EventLog
public import TextFormats

/// A menu as `MENU.GET` answers it: what `MENU.PUT` takes, with what is sold out and the version.
public enum MenuDocumentJSON {
    /// The document.
    public static func bytes(of record: OutletRecord) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256 + 400 * record.menu.entries.count)
        writer.beginObject()
        writer.field("outlet", record.id.rawValue)
        writer.field("version", record.menuVersion)
        FeedDocument.writeField(record.menu.feed, to: &writer)
        writer.key("sections")
        writer.beginArray()
        for section in record.menu.sections {
            writer.beginObject()
            writer.field("id", section.header.id.rawValue)
            writer.field("title", section.header.title.string)
            writer.field("kind", section.header.kind.string)
            writer.key("layout")
            write(section.header.layout, to: &writer)
            writer.field("sticky", section.header.sticky)
            if let daypart = section.header.daypart { writer.field("daypart", daypart.rawValue) }
            writer.key("items")
            writer.beginArray()
            for id in section.items {
                guard let entry = record.menu.entries[id] else { continue }
                writer.beginObject()
                ItemDocument.writeFields(of: entry, record.suspension(of: entry), to: &writer)
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
        }
        writer.endArray()
        write(record.menu.groups.list, of: record.menu, to: &writer)
        writer.endObject()
        return writer.bytes
    }

    /// Writes the field `groups`, unless there are none.
    static func write(_ groups: [OptionGroup], of menu: MenuState, to writer: inout JSONWriter) {
        if groups.isEmpty { return }
        var suspensions = MenuState.GroupSuspensions()
        writer.key("groups")
        writer.beginArray()
        for group in groups {
            writer.beginObject()
            OptionGroupCodec.encode(group, to: &writer) { option, writer in
                ItemDocument.writeAvailability(menu.suspension(of: option, &suspensions), to: &writer)
            }
            writer.endObject()
        }
        writer.endArray()
    }

    static func write(_ layout: Layout, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("style", layout.style.string)
        if let size = layout.cardSize {
            writer.field("width", size.width)
            writer.field("height", size.height)
        }
        if let width = layout.minimumWidth { writer.field("minimumWidth", width) }
        writer.endObject()
    }
}

/// An item as `ITEM.GET` answers it: in full.
public enum ItemDocument {
    /// The document, or nil if the menu has no such item.
    public static func bytes(of item: Identifier, in record: OutletRecord) -> [UInt8]? {
        guard let entry = record.menu.entries[item], let (details, _) = record.details,
            let section = record.menu.sections.first(where: { $0.items.contains(item) })
        else { return nil }
        var writer = JSONWriter(reservingCapacity: 512)
        writer.beginObject()
        writer.field("outlet", record.id.rawValue)
        writer.field("section", section.header.id.rawValue)
        writeFields(of: entry, record.suspension(of: entry), to: &writer)
        MenuDocumentJSON.write(record.menu.groups(of: entry), of: record.menu, to: &writer)
        writer.field("currency", details.currency.code)
        writer.endObject()
        return writer.bytes
    }

    /// - Parameter suspension: until when it cannot be had.
    static func writeFields(
        of entry: MenuState.Entry, _ suspension: MenuState.Suspension?, to writer: inout JSONWriter
    ) {
        let item = entry.item
        writer.field("id", item.id.rawValue)
        writer.field("kind", item.kind.string)
        writer.field("name", item.name.string)
        writer.field("description", item.description?.string)
        writePrice(of: entry, to: &writer)
        writer.field("cuisine", item.cuisine?.string)
        writer.field("tags", item.tags.lazy.map(\.string))
        writer.field("imageSmall", item.imageSmall?.string)
        writer.field("imageLarge", item.imageLarge?.string)
        writer.field("images", item.images)
        writer.field("links", item.links)
        writer.field("maxQuantity", item.maxQuantity)
        writer.field("options", item.options.lazy.map(\.rawValue))
        if let tax = item.tax { writer.field("tax", tax.rawValue) }
        if item.isCombo { writer.field("combo", true) }
        if let daypart = item.daypart { writer.field("daypart", daypart.rawValue) }
        if let promotion = item.promotion { writer.field("promotion", promotion.rawValue) }
        writer.field("attributes", item.attributes)
        writeAvailability(suspension, to: &writer)
    }

    /// What one costs. Of an item with sizes, it is the lowest of their prices, and `from` says so.
    public static func writePrice(of entry: MenuState.Entry, to writer: inout JSONWriter) {
        writer.field("price", entry.price?.minorUnits)
        if entry.isPriceFrom { writer.field("from", true) }
        let prices = entry.servicePrices
        if !prices.isEmpty {
            writer.key("prices")
            prices.encode(to: &writer)
        }
        if entry.hasOptions { writer.field("hasOptions", true) }
    }

    /// Whether the item can be ordered. If not, the time from which it can be again lets a client know by itself.
    public static func writeAvailability(_ suspension: MenuState.Suspension?, to writer: inout JSONWriter) {
        writer.field("available", suspension == nil)
        writer.field("availableFrom", suspension?.until?.rfc3339)
    }
}
