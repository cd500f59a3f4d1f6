public import Domain
public import TextFormats

/// Groups of options, as events and menus have them.
public enum OptionGroupCodec {
    /// Writes the fields of a group. Default values are left out.
    ///
    /// - Parameter more: writes further fields of an option.
    public static func encode(
        _ group: OptionGroup, to writer: inout JSONWriter,
        more: (_ option: MenuOption, _ writer: inout JSONWriter) -> Void
    ) {
        encode(group, to: &writer, option: encodeShown, more: more)
    }

    /// Writes the fields of a group for an event. Default values are left out.
    static func encode(_ group: OptionGroup, to writer: inout JSONWriter) {
        encode(group, to: &writer, option: encodeRecorded) { _, _ in }
    }

    private static func encode(
        _ group: OptionGroup, to writer: inout JSONWriter,
        option write: (_ option: MenuOption, _ writer: inout JSONWriter) -> Void,
        more: (_ option: MenuOption, _ writer: inout JSONWriter) -> Void
    ) {
        writer.field("id", group.id.rawValue)
        writer.field("title", group.title.string)
        writer.field("min", group.minimum)
        writer.field("max", group.maximum)
        if group.free != 0 { writer.field("free", group.free) }
        if group.setsPrice { writer.field("setsPrice", true) }
        writer.key("options")
        writer.beginArray()
        for option in group.options {
            writer.beginObject()
            write(option, &writer)
            more(option, &writer)
            writer.endObject()
        }
        writer.endArray()
    }

    /// In an event, prices with sizes stand apart from those of ways to have an order: a size can have any id.
    private static func encodeRecorded(_ option: MenuOption, to writer: inout JSONWriter) {
        encodeName(of: option, to: &writer)
        if !option.sizePrices.isEmpty {
            writer.key("prices")
            writer.beginObject()
            encode(option.sizePrices, to: &writer)
            writer.endObject()
        }
        if !option.servicePrices.isEmpty {
            writer.key("servicePrices")
            option.servicePrices.encode(to: &writer)
        }
        encodeRest(of: option, to: &writer)
    }

    /// In a document, all prices are in one object, as merchants write them.
    private static func encodeShown(_ option: MenuOption, to writer: inout JSONWriter) {
        encodeName(of: option, to: &writer)
        if !option.sizePrices.isEmpty || !option.servicePrices.isEmpty {
            writer.key("prices")
            writer.beginObject()
            encode(option.sizePrices, to: &writer)
            option.servicePrices.encodeMembers(to: &writer)
            writer.endObject()
        }
        encodeRest(of: option, to: &writer)
    }

    private static func encode(_ prices: [MenuOption.SizePrice], to writer: inout JSONWriter) {
        for price in prices {
            writer.key(dynamic: price.size.rawValue)
            writer.integer(price.price.minorUnits)
        }
    }

    private static func encodeName(of option: MenuOption, to writer: inout JSONWriter) {
        writer.field("id", option.id.rawValue)
        writer.field("name", option.name.string)
        writer.field("price", option.price.minorUnits)
    }

    private static func encodeRest(of option: MenuOption, to writer: inout JSONWriter) {
        if let item = option.item { writer.field("item", item.rawValue) }
        if let tax = option.tax { writer.field("tax", tax.rawValue) }
        if option.standard != 0 { writer.field("default", option.standard) }
        if option.maximum != 1 { writer.field("max", option.maximum) }
        if !option.groups.isEmpty { writer.field("groups", option.groups.lazy.map(\.rawValue)) }
    }

    static func decode(from reader: inout JSONReader) throws(JSONReadingError) -> OptionGroup {
        var id: Identifier?
        var title: Text?
        var minimum: Int?
        var maximum: Int?
        var free = 0
        var setsPrice = false
        var options: [MenuOption]?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "id": id = try reader.identifier()
            case "title": title = try reader.text()
            case "min": minimum = Int(try reader.integer())
            case "max": maximum = Int(try reader.integer())
            case "free": free = Int(try reader.integer())
            case "setsPrice": setsPrice = try reader.bool()
            case "options":
                var list: [MenuOption] = []
                try reader.beginArray()
                while try reader.nextElement() { list.append(try option(from: &reader)) }
                options = list
            default: _ = try reader.rawValue()
            }
        }
        guard let id, let title, let minimum, let maximum, let options else {
            throw reader.failure("a group with all its fields")
        }
        return OptionGroup(
            id: id, title: title, minimum: minimum, maximum: maximum, free: free, setsPrice: setsPrice,
            options: options)
    }

    private static func option(from reader: inout JSONReader) throws(JSONReadingError) -> MenuOption {
        var id: Identifier?
        var name: Text?
        var price: Amount?
        var prices: [MenuOption.SizePrice] = []
        var servicePrices = ByService<Amount>()
        var (item, tax): (Identifier?, Identifier?)
        var (standard, maximum) = (0, 1)
        var groups: [Identifier] = []
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "id": id = try reader.identifier()
            case "name": name = try reader.text()
            case "price": price = Amount(minorUnits: try reader.integer())
            case "prices":
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    guard let size = Identifier(key.description) else { throw reader.failure("a size") }
                    prices.append(MenuOption.SizePrice(size, Amount(minorUnits: try reader.integer())))
                }
                if prices.isEmpty { throw reader.failure("prices with sizes") }
            case "servicePrices": servicePrices = try .decode(from: &reader)
            case "item": item = try reader.identifier()
            case "tax": tax = try reader.identifier()
            case "default": standard = Int(try reader.integer())
            case "max": maximum = Int(try reader.integer())
            case "groups": groups = try reader.identifiers()
            default: _ = try reader.rawValue()
            }
        }
        guard let id, let name, let price else { throw reader.failure("an option with all its fields") }
        return MenuOption(
            id: id, name: name, price: price, sizePrices: prices, item: item, standard: standard, maximum: maximum,
            groups: groups, servicePrices: servicePrices, tax: tax)
    }
}

extension OptionGroupCodec {
    /// The members of a group.
    ///
    /// - Parameter option: an option, as it is written there.
    public static func members(option: JSONSchema) -> [JSONSchema.Member] {
        [
            .member("id", .identifier), .member("title", .string),
            .member("min", .integer, "the fewest units to choose"), .member("max", .integer, "the most"),
            .optional("free", .integer, "how many units cost nothing"),
            .optional("setsPrice", .boolean, "whether the options are the item's sizes, and have its prices"),
            .member("options", .list(of: option)),
        ]
    }

    private static let name: [JSONSchema.Member] = [
        .member("id", .identifier), .member("name", .string), .member("price", .money),
    ]
    private static let rest: [JSONSchema.Member] = [
        .optional("item", .identifier, "the item that it is, in a combo"), .optional("tax", .identifier),
        .optional("default", .integer, "how many units are chosen at first"),
        .optional("max", .integer, "the most units; 1 where it is left out"),
        .optional("groups", .list(of: .identifier), "groups that it opens"),
    ]

    /// The members of an option in an event.
    static let recordedMembers = JSONSchema.members(
        name,
        [
            .optional("prices", .object(others: .money), "by the size"),
            .optional("servicePrices", ServiceKind.prices),
        ], rest)

    /// The members of an option in a document.
    public static let shownMembers = JSONSchema.members(
        name, [.optional("prices", .object(others: .money), "by the size or the way to have the order")], rest)
}
