internal import Domain
internal import TextFormats

enum MenuEventCodec {
    static func encode(_ event: Menu.Event, to writer: inout JSONWriter) -> String {
        switch event {
        case .sectionAdded(let header, let before):
            encode(header, to: &writer)
            encode(before: before, to: &writer)
            return "menu.sectionAdded"
        case .sectionChanged(let header):
            encode(header, to: &writer)
            return "menu.sectionChanged"
        case .sectionMoved(let id, let before):
            writer.field("id", id.rawValue)
            encode(before: before, to: &writer)
            return "menu.sectionMoved"
        case .sectionRemoved(let id):
            writer.field("id", id.rawValue)
            return "menu.sectionRemoved"
        case .itemAdded(let item, let section, let before):
            encode(item, to: &writer)
            writer.field("section", section.rawValue)
            encode(before: before, to: &writer)
            return "menu.itemAdded"
        case .itemChanged(let item):
            encode(item, to: &writer)
            return "menu.itemChanged"
        case .itemMoved(let id, let section, let before):
            writer.field("id", id.rawValue)
            writer.field("section", section.rawValue)
            encode(before: before, to: &writer)
            return "menu.itemMoved"
        case .itemRemoved(let id):
            writer.field("id", id.rawValue)
            return "menu.itemRemoved"
        case .itemRepriced(let id, let price):
            writer.field("id", id.rawValue)
            writer.field("price", price.minorUnits)
            return "menu.itemRepriced"
        case .itemSuspended(let id, let until, let party):
            encode(id, party, to: &writer)
            if let until { writer.field("until", until.millisecondsSinceEpoch) }
            return "menu.itemSuspended"
        case .itemResumed(let id, let party):
            encode(id, party, to: &writer)
            return "menu.itemResumed"
        case .groupPut(let group):
            OptionGroupCodec.encode(group, to: &writer)
            return "menu.groupPut"
        case .groupRemoved(let id):
            writer.field("id", id.rawValue)
            return "menu.groupRemoved"
        case .optionRepriced(let id, let price, let size):
            writer.field("id", id.rawValue)
            writer.field("price", price.minorUnits)
            if let size { writer.field("size", size.rawValue) }
            return "menu.optionRepriced"
        case .optionSuspended(let id, let until, let party):
            encode(id, party, to: &writer)
            if let until { writer.field("until", until.millisecondsSinceEpoch) }
            return "menu.optionSuspended"
        case .optionResumed(let id, let party):
            encode(id, party, to: &writer)
            return "menu.optionResumed"
        case .feedChecked(let check):
            encode(check, to: &writer)
            return "menu.feedChecked"
        }
    }

    static func decode(_ name: EventName, _ reader: inout JSONReader) throws(JSONReadingError) -> Menu.Event? {
        if name == "menu.groupPut" { return .groupPut(try OptionGroupCodec.decode(from: &reader)) }
        let fields = try Fields(from: &reader)
        if name == "menu.feedChecked" { return fields.check.map(Menu.Event.feedChecked) }
        guard let id = fields.id else { return nil }
        switch name {
        case "menu.sectionAdded": return fields.header.map { .sectionAdded($0, before: fields.before) }
        case "menu.sectionChanged": return fields.header.map(Menu.Event.sectionChanged)
        case "menu.sectionMoved": return .sectionMoved(id, before: fields.before)
        case "menu.sectionRemoved": return .sectionRemoved(id)
        case "menu.itemAdded":
            guard let item = fields.item, let section = fields.section else { return nil }
            return .itemAdded(item, section: section, before: fields.before)
        case "menu.itemChanged": return fields.item.map(Menu.Event.itemChanged)
        case "menu.itemMoved": return fields.section.map { .itemMoved(id, section: $0, before: fields.before) }
        case "menu.itemRemoved": return .itemRemoved(id)
        case "menu.itemRepriced": return fields.price.map { .itemRepriced(id, $0) }
        case "menu.itemSuspended": return .itemSuspended(id, until: fields.until, by: fields.suspender)
        case "menu.itemResumed": return .itemResumed(id, by: fields.suspender)
        case "menu.groupRemoved": return .groupRemoved(id)
        case "menu.optionRepriced": return fields.price.map { .optionRepriced(id, $0, size: fields.size) }
        case "menu.optionSuspended": return .optionSuspended(id, until: fields.until, by: fields.suspender)
        case "menu.optionResumed": return .optionResumed(id, by: fields.suspender)
        default: return nil
        }
    }

    private static func encode(_ id: Identifier, _ party: Menu.Suspender, to writer: inout JSONWriter) {
        writer.field("id", id.rawValue)
        if party != .merchant { writer.field("by", party.rawValue) }
    }

    private static func encode(before: Identifier?, to writer: inout JSONWriter) {
        if let before { writer.field("before", before.rawValue) }
    }

    private static func encode(_ header: SectionHeader, to writer: inout JSONWriter) {
        writer.field("id", header.id.rawValue)
        writer.field("title", header.title.string)
        writer.field("kind", header.kind.string)
        writer.field("style", header.layout.style.string)
        if let size = header.layout.cardSize {
            writer.field("width", size.width)
            writer.field("height", size.height)
        }
        if let width = header.layout.minimumWidth { writer.field("minimumWidth", width) }
        if header.sticky { writer.field("sticky", true) }
        if let daypart = header.daypart { writer.field("daypart", daypart.rawValue) }
    }

    private static func encode(_ item: MenuItem, to writer: inout JSONWriter) {
        writer.field("id", item.id.rawValue)
        writer.field("kind", item.kind.string)
        writer.field("name", item.name.string)
        if let description = item.description { writer.field("description", description.string) }
        if let price = item.price { writer.field("price", price.minorUnits) }
        if let cuisine = item.cuisine { writer.field("cuisine", cuisine.string) }
        if !item.tags.isEmpty { writer.field("tags", item.tags.lazy.map(\.string)) }
        if let image = item.imageSmall { writer.field("imageSmall", image.string) }
        if let image = item.imageLarge { writer.field("imageLarge", image.string) }
        if !item.images.isEmpty { writer.field("images", item.images, leavingOutNull: true) }
        if !item.links.isEmpty { writer.field("links", item.links, leavingOutNull: true) }
        if let quantity = item.maxQuantity { writer.field("maxQuantity", quantity) }
        if !item.attributes.isEmpty { writer.field("attributes", item.attributes) }
        if !item.options.isEmpty { writer.field("options", item.options.lazy.map(\.rawValue)) }
        if let tax = item.tax { writer.field("tax", tax.rawValue) }
        if item.isCombo { writer.field("combo", true) }
        if !item.servicePrices.isEmpty {
            writer.key("prices")
            item.servicePrices.encode(to: &writer)
        }
        if let daypart = item.daypart { writer.field("daypart", daypart.rawValue) }
        if let promotion = item.promotion { writer.field("promotion", promotion.rawValue) }
    }

    private static func encode(_ check: FeedCheck, to writer: inout JSONWriter) {
        writer.field("state", check.state.rawValue)
        writer.field("at", check.at.millisecondsSinceEpoch)
        if let time = check.refreshedAt { writer.field("refreshedAt", time.millisecondsSinceEpoch) }
        if let source = check.source { writer.field("source", source.string) }
        if !check.problems.isEmpty { writer.field("problems", check.problems.lazy.map(\.string)) }
        guard let validators = check.validators else { return }
        if let etag = validators.etag { writer.field("etag", etag.string) }
        if let modified = validators.modified { writer.field("modified", modified.string) }
        writer.field("key", validators.key.string)
    }

    /// Every field that any event of a menu has.
    private struct Fields {
        var id: Identifier?
        var kind: Text?
        var title: Text?
        var style: Text?
        var width: Int?
        var height: Int?
        var minimumWidth: Int?
        var sticky = false
        var section: Identifier?
        var before: Identifier?
        var name: Text?
        var description: Text?
        var price: Amount?
        var cuisine: Text?
        var tags: [Text] = []
        var imageSmall: Text?
        var imageLarge: Text?
        var images: [ItemImage] = []
        var links: [ItemLink] = []
        var maxQuantity: Int?
        var attributes = ItemAttributes()
        var options: [Identifier] = []
        var tax: Identifier?
        var isCombo = false
        var servicePrices = ByService<Amount>()
        var daypart: Identifier?
        var promotion: Identifier?
        var size: Identifier?
        var until: Timestamp?
        var suspender = Menu.Suspender.merchant
        var state: FeedCheck.State?
        var at: Timestamp?
        var refreshedAt: Timestamp?
        var source: Text?
        var problems: [Text] = []
        var etag: Text?
        var modified: Text?
        var feedKey: Text?

        init(from reader: inout JSONReader) throws(JSONReadingError) {
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "id": id = Identifier(try reader.string())
                case "kind": kind = try reader.text()
                case "title": title = try reader.text()
                case "style": style = try reader.text()
                case "width": width = Int(try reader.integer())
                case "height": height = Int(try reader.integer())
                case "minimumWidth": minimumWidth = Int(try reader.integer())
                case "sticky": sticky = try reader.bool()
                case "section": section = try reader.identifier()
                case "before": before = try reader.identifier()
                case "name": name = try reader.text()
                case "description": description = try reader.text()
                case "price": price = Amount(minorUnits: try reader.integer())
                case "cuisine": cuisine = try reader.text()
                case "tags": tags = try reader.texts()
                case "imageSmall": imageSmall = try reader.text()
                case "imageLarge": imageLarge = try reader.text()
                case "images": images = try reader.images()
                case "links": links = try reader.links()
                case "maxQuantity": maxQuantity = Int(try reader.integer())
                case "attributes": attributes = try reader.attributes()
                case "options": options = try reader.identifiers()
                case "tax": tax = try reader.identifier()
                case "combo": isCombo = try reader.bool()
                case "prices": servicePrices = try .decode(from: &reader)
                case "daypart": daypart = try reader.identifier()
                case "promotion": promotion = try reader.identifier()
                case "size": size = try reader.identifier()
                case "until": until = Timestamp(millisecondsSinceEpoch: try reader.integer())
                case "by":
                    guard let party = Menu.Suspender(rawValue: try reader.string()) else {
                        throw reader.failure("one who suspends")
                    }
                    suspender = party
                case "state": state = FeedCheck.State(rawValue: try reader.string())
                case "at": at = Timestamp(millisecondsSinceEpoch: try reader.integer())
                case "refreshedAt": refreshedAt = Timestamp(millisecondsSinceEpoch: try reader.integer())
                case "source": source = try reader.text()
                case "problems": problems = try reader.texts()
                case "etag": etag = try reader.text()
                case "modified": modified = try reader.text()
                case "key": feedKey = try reader.text()
                default: _ = try reader.rawValue()
                }
            }
        }

        var header: SectionHeader? {
            guard let id, let title, let kind, let style else { return nil }
            var layout = Layout(style: style, minimumWidth: minimumWidth)
            switch (width, height) {
            case (nil, nil): break
            case (let width?, let height?):
                guard let size = Layout.CardSize(width: width, height: height) else { return nil }
                layout = Layout(style: style, cardSize: size, minimumWidth: minimumWidth)
            case (nil, _?), (_?, nil): return nil
            }
            return SectionHeader(id: id, title: title, kind: kind, layout: layout, sticky: sticky, daypart: daypart)
        }

        var check: FeedCheck? {
            guard let state, let at, feedKey != nil || (etag == nil && modified == nil) else { return nil }
            let validators = feedKey.map { FeedCheck.Validators(etag: etag, modified: modified, key: $0) }
            return FeedCheck(
                state, at: at, refreshedAt: refreshedAt, source: source, problems: problems, validators: validators)
        }

        var item: MenuItem? {
            guard let id, let kind, let name else { return nil }
            return MenuItem(
                id: id, kind: kind, name: name, description: description, price: price, cuisine: cuisine,
                tags: tags, imageSmall: imageSmall, imageLarge: imageLarge, images: images, links: links,
                maxQuantity: maxQuantity, attributes: attributes, options: options, tax: tax,
                servicePrices: servicePrices, isCombo: isCombo, daypart: daypart,
                promotion: promotion)
        }
    }
}

// MARK: Schemas

extension MenuEventCodec {
    private static let id = JSONSchema.Member.member("id", .identifier)
    private static let before = JSONSchema.Member.optional(
        "before", .identifier, "what it stands in front of; at the end where it is left out")
    private static let suspender = JSONSchema.Member.optional(
        "by", .words([Menu.Suspender.stock.rawValue]), "where the last of it was ordered; the merchant otherwise")

    private static let header: [JSONSchema.Member] = [
        id, .member("title", .string), .member("kind", .string), .member("style", .string, "of its layout"),
        .optional("width", .integer, "of a card"), .optional("height", .integer, "of a card"),
        .optional("minimumWidth", .integer, "of a card"), .optional("sticky", .boolean),
        .optional("daypart", .identifier),
    ]

    private static let item: [JSONSchema.Member] = [
        id, .member("kind", .string), .member("name", .string), .optional("description", .string),
        .optional("price", .money), .optional("cuisine", .string), .optional("tags", .list(of: .string)),
        .optional("imageSmall", .string), .optional("imageLarge", .string),
        .optional(
            "images",
            .list(of: .object([.member("url", .string), .optional("alt", .string)]).named("RecordedImage"))),
        .optional(
            "links",
            .list(
                of: .object([.member("rel", .identifier), .member("url", .string), .optional("title", .string)])
                    .named("RecordedLink"))),
        .optional("maxQuantity", .integer), .optional("attributes", ItemAttributes.schema),
        .optional("options", .list(of: .identifier), "its groups"), .optional("tax", .identifier),
        .optional("combo", .boolean), .optional("prices", ServiceKind.prices, "where they differ by service"),
        .optional("daypart", .identifier), .optional("promotion", .identifier),
    ]

    static let schemas = [
        EventSchema("menu.sectionAdded", "The menu has the section, without items.", header, [before]),
        EventSchema("menu.sectionChanged", "The section has this header; its items stay.", header),
        EventSchema("menu.sectionMoved", "The section stands in another place.", [id, before]),
        EventSchema("menu.sectionRemoved", "The section and its items are gone.", [id]),
        EventSchema(
            "menu.itemAdded", "The section has the item, which can be ordered.", item,
            [.member("section", .identifier), before]),
        EventSchema(
            "menu.itemChanged", "The item is this; its place, and whether it can be ordered, stay.", item),
        EventSchema(
            "menu.itemMoved", "The item stands in another place.", [id, .member("section", .identifier), before]),
        EventSchema("menu.itemRemoved", "The item is gone.", [id]),
        EventSchema("menu.itemRepriced", "The item costs this.", [id, .member("price", .money)]),
        EventSchema(
            "menu.itemSuspended",
            "The item cannot be ordered until then, or until it is resumed by the same: merchant and stock count apart.",
            [id, suspender, .optional("until", .moment)]),
        EventSchema("menu.itemResumed", "What the merchant, or the stock, suspended is over.", [id, suspender]),
        EventSchema(
            "menu.groupPut",
            "The group is this, in place of one with its id; options that stay keep whether they can be ordered.",
            OptionGroupCodec.members(
                option: .object(OptionGroupCodec.recordedMembers).named("RecordedOption"))),
        EventSchema("menu.groupRemoved", "The group and its options are gone.", [id]),
        EventSchema(
            "menu.optionRepriced", "The option costs this, with a size if one is named.",
            [id, .member("price", .money), .optional("size", .identifier)]),
        EventSchema(
            "menu.optionSuspended",
            "The option cannot be chosen until then, or until it is resumed by the same.",
            [id, suspender, .optional("until", .moment)]),
        EventSchema("menu.optionResumed", "What the merchant, or the stock, suspended is over.", [id, suspender]),
        EventSchema(
            "menu.feedChecked",
            "This is known of the source of the menu; any later change of the menu drops `etag`, `modified` and `key`.",
            [
                .member("state", .words(of: FeedCheck.State.self)), .member("at", .moment),
                .optional("refreshedAt", .moment, "when the menu last was what its source says"),
                .optional("source", .string), .optional("problems", .list(of: .string)), .optional("etag", .string),
                .optional("modified", .string), .optional("key", .string, "of how it was read"),
            ]),
    ]
}
