internal import Domain
internal import EventLog
public import TextFormats

/// The outlet-home document. The count of a cart can be put in front of its last brace.
public enum HomeDocument {
    /// The tag bar's height in points.
    static let tagBarHeight = 36
    /// The tag bar appears when less than this of the outlet's header is visible, in points …
    static let tagBarShowBelow = 36
    /// … and goes when more than this is: the gap keeps it from flickering.
    static let tagBarHideAbove = 72

    /// The document, without the count of a cart.
    public static func bytes(of record: OutletRecord) -> [UInt8] {
        guard let (details, _) = record.details else { preconditionFailure("an unregistered outlet has no home") }
        // A section without items is not shown.
        let sections = record.menu.sections.filter { !$0.items.isEmpty }
        var writer = JSONWriter(reservingCapacity: 512 + 300 * record.menu.entries.count + record.menu.bytes)
        writer.beginObject()
        writer.key("outlet")
        OutletDocument.write(record, to: &writer, accessibilityID: "outlet_scroll")
        writer.field("revision", record.revision)
        writer.field("state", state(of: record.menu, isEmpty: sections.isEmpty))
        FeedDocument.writeField(record.menu.feed, to: &writer)
        writer.key("tagBar")
        writeTagBar(sections, to: &writer)
        writer.key("sections")
        writer.beginArray()
        var ids = AccessibilityIDs()
        for section in sections { write(section, of: record, details.currency, &ids, to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    /// What a screen can show. A menu that never matched its source is not empty, but unknown.
    private static func state(of menu: MenuState, isEmpty: Bool) -> String {
        guard isEmpty else { return "ready" }
        guard let feed = menu.feed, feed.state == .malformed, feed.refreshedAt == nil else { return "empty" }
        return "malformed"
    }

    /// The tag bar alone.
    public static func tagBar(of record: OutletRecord) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 512)
        writeTagBar(record.menu.sections.filter { !$0.items.isEmpty }, to: &writer)
        return writer.bytes
    }

    private static func writeTagBar(_ sections: [MenuState.Section], to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("height", tagBarHeight)
        writer.field("showBelow", tagBarShowBelow)
        writer.field("hideAbove", tagBarHideAbove)
        writer.key("chips")
        writer.beginArray()
        for section in sections {
            writer.beginObject()
            writer.field("id", "tag_\(section.header.id)")
            writer.field("section", section.header.id.rawValue)
            writer.field("title", section.header.title.string)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }

    private static func write(
        _ section: MenuState.Section, of record: OutletRecord, _ currency: Currency,
        _ ids: inout AccessibilityIDs, to writer: inout JSONWriter
    ) {
        let header = section.header
        writer.beginObject()
        writer.field("id", header.id.rawValue)
        writer.field("kind", header.kind.string)
        writer.field("headerTitle", header.title.string)
        writer.key("layout")
        MenuDocumentJSON.write(header.layout, to: &writer)
        writer.field("sticky", header.sticky)
        if let daypart = header.daypart { writer.field("daypart", daypart.rawValue) }
        writer.field("accessibilityId", ids.scroller(of: header))
        writer.field("itemAccessibilityPrefix", ids.itemPrefix(of: header))
        writer.key("items")
        writer.beginArray()
        for id in section.items {
            guard let entry = record.menu.entries[id] else { continue }
            // Unpacked once.
            let item = entry.item
            writer.beginObject()
            writer.field("id", id.rawValue)
            writer.field("kind", item.kind.string)
            writer.key("model")
            writeModel(item, entry, of: record, currency, to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }

    private static func writeModel(
        _ item: MenuItem, _ entry: MenuState.Entry, of record: OutletRecord, _ currency: Currency,
        to writer: inout JSONWriter
    ) {
        writer.beginObject()
        writer.field("name", item.name.string)
        writer.field("description", item.description?.string)
        ItemDocument.writePrice(of: entry, to: &writer)
        writer.field("currency", currency.code)
        writer.field("cuisine", item.cuisine?.string)
        writer.field("tags", item.tags.lazy.map(\.string))
        writer.field("imageSmall", item.imageSmall?.string)
        if !item.links.isEmpty { writer.field("hasLinks", true) }
        if let daypart = item.daypart { writer.field("daypart", daypart.rawValue) }
        if let promotion = item.promotion {
            writer.key("promotion")
            PromotionsDocument.writeCard(promotion, of: record.promotions, to: &writer)
        }
        ItemDocument.writeAvailability(record.suspension(of: entry), to: &writer)
        if let kind = ItemKind.named(item.kind) {
            if let button = kind.addButtonID { writer.field("addButtonAccessibilityId", button) }
            for required in kind.attributes { writer.field(required.name, item.attributes[required.name]) }
        }
        writer.endObject()
    }
}

/// Assigns accessibility ids: the same for the same menu, and each only once in a document.
///
/// Items have none of their own, only a place after their section's prefix: where one is added or removed, all others
/// stay the same.
private struct AccessibilityIDs {
    private var taken: Set<String> = []

    mutating func scroller(of header: SectionHeader) -> String {
        if let id = SectionKind.named(header.kind)?.accessibilityID, taken.insert(id).inserted { return id }
        return "section_\(header.id)"
    }

    mutating func itemPrefix(of header: SectionHeader) -> String {
        // Kinds that are no longer registered share a prefix.
        let prefix = SectionKind.named(header.kind)?.itemAccessibilityPrefix ?? "item_"
        return taken.insert(prefix).inserted ? prefix : "\(prefix)\(header.id)_"
    }
}

// MARK: Schemas

extension HomeDocument {
    /// The tag bar.
    public static let tagBarSchema = JSONSchema.object([
        .member("height", .integer, "in points"), .member("showBelow", .integer), .member("hideAbove", .integer),
        .member(
            "chips",
            .list(
                of: .object([.member("id", .string), .member("section", .identifier), .member("title", .string)])
                    .named("Chip"))),
    ]).named("TagBar")

    /// The schema of the document, with the count of a cart.
    public static let schema = JSONSchema.object([
        .member("outlet", OutletDocument.homeSchema), .member("revision", .count),
        .member("state", .words(["ready", "empty", "malformed"])), .optional("feed", FeedDocument.shownSchema),
        .member("tagBar", tagBarSchema), .member("sections", .list(of: section)),
        .optional("cartCount", .count, "where a cart was asked for"),
    ]).named("Home")

    private static let section = JSONSchema.oneOf(SectionKind.all.map(\.homeSchema), by: "kind").named("HomeSection")
}

extension SectionKind {
    /// A section of this kind in a home. Its items may be of any kind.
    fileprivate var homeSchema: JSONSchema {
        .object([
            .member("id", .identifier), .member("kind", .words([name.string])), .member("headerTitle", .string),
            .member("layout", MenuDocumentJSON.layoutSchema), .member("sticky", .boolean),
            .optional("daypart", .identifier), .member("accessibilityId", .string),
            .member("itemAccessibilityPrefix", .string),
            .member("items", .list(of: JSONSchema.oneOf(ItemKind.all.map(\.homeSchema), by: "kind").named("HomeItem"))),
        ]).named("\(name.string.capitalizedFirst)Section")
    }
}

extension ItemKind {
    /// An item of this kind in a home.
    fileprivate var homeSchema: JSONSchema {
        var members: [JSONSchema.Member] = [.member("name", .string), .member("description", .string.orNull)]
        members += ItemDocument.price
        members += [
            .member("currency", .string), .member("cuisine", .string.orNull), .member("tags", .list(of: .string)),
            .member("imageSmall", .string.orNull), .optional("hasLinks", .boolean), .optional("daypart", .identifier),
            .optional("promotion", PromotionsDocument.cardSchema),
        ]
        members += ItemDocument.availability
        if addButtonID != nil { members.append(.member("addButtonAccessibilityId", .string)) }
        members += attributes.map { .member($0.name.rawValue, $0.values.schema.orNull) }
        let title = name.string.capitalizedFirst
        return .object([
            .member("id", .identifier), .member("kind", .words([name.string])),
            .member("model", .object(members).named("\(title)Model")),
        ]).named("\(title)Card")
    }
}
