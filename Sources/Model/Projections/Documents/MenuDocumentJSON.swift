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

// MARK: Schemas

extension LayoutStyle {
    /// A layout of this style.
    var schema: JSONSchema {
        let sizes: [JSONSchema.Member] =
            switch cards {
            case .none: []
            case .size: [.member("width", .integer, "of a card"), .member("height", .integer, "of a card")]
            case .minimumWidth: [.member("minimumWidth", .integer, "of a card")]
            }
        return .object([.member("style", .words([name.string]))], sizes).named("\(name.string.capitalizedFirst)Layout")
    }
}

extension String {
    /// With a capital letter first, as schemas are named.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension MenuDocumentJSON {
    /// How a section's items are laid out.
    static let layoutSchema = JSONSchema.oneOf(LayoutStyle.all.map(\.schema), by: "style").named("Layout")

    private static let option = JSONSchema.object(OptionGroupCodec.shownMembers + ItemDocument.availability)
        .named("MenuOption")

    /// Groups of options.
    static let groups = JSONSchema.list(
        of: .object(OptionGroupCodec.members(option: option)).named("OptionGroup"))

    private static let section = JSONSchema.object([
        .member("id", .identifier), .member("title", .string),
        .member("kind", .words(SectionKind.all.map(\.name.string))), .member("layout", layoutSchema),
        .member("sticky", .boolean), .optional("daypart", .identifier),
        .member("items", .list(of: JSONSchema.object(ItemDocument.members).named("MenuItem"))),
    ]).named("MenuSection")

    /// The schema of the document.
    public static let schema = JSONSchema.object([
        .member("outlet", .identifier), .member("version", .count),
        .optional("feed", FeedDocument.shownSchema, "the source that it is imported from"),
        .member("sections", .list(of: section)), .optional("groups", groups),
    ]).named("Menu")
}

extension ItemDocument {
    /// The members that say what one costs.
    public static let price: [JSONSchema.Member] = [
        .member("price", .money.orNull, "null where it cannot be ordered"),
        .optional("from", .boolean, "whether it is the lowest of several"),
        .optional("prices", ServiceKind.prices, "where they differ by the way to have the order"),
        .optional("hasOptions", .boolean),
    ]

    /// The members that say whether it can be ordered.
    public static let availability: [JSONSchema.Member] = [
        .member("available", .boolean),
        .member("availableFrom", .time.orNull, "when it can be again, if that is known"),
    ]

    /// The members of an item in full.
    static let members = JSONSchema.members(
        [
            .member("id", .identifier), .member("kind", .words(ItemKind.all.map(\.name.string))),
            .member("name", .string), .member("description", .string.orNull),
        ], price,
        [
            .member("cuisine", .string.orNull), .member("tags", .list(of: .string)),
            .member("imageSmall", .string.orNull), .member("imageLarge", .string.orNull),
            .member("images", .list(of: ItemImage.schema)), .member("links", .list(of: ItemLink.schema)),
            .member("maxQuantity", .integer.orNull), .member("options", .list(of: .identifier), "its groups"),
            .optional("tax", .identifier), .optional("combo", .boolean), .optional("daypart", .identifier),
            .optional("promotion", .identifier), .member("attributes", ItemAttributes.schema),
        ], availability)

    /// The schema of the document.
    public static let schema = JSONSchema.object(
        [.member("outlet", .identifier), .member("section", .identifier)], members,
        [
            .optional("groups", MenuDocumentJSON.groups), .member("currency", .string),
        ]
    ).named("Item")
}
