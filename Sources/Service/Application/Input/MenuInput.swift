internal import Domain
internal import EventLog
internal import TextFormats

/// The document of `MENU.PUT`: also as `MENU.GET` gives it, so that a client can read it, change it and put it back.
struct MenuInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("sections", .list(of: SectionInput.schema)), .optional("groups", .list(of: GroupInput.schema)),
        .ignored("outlet"), .ignored("version"), .ignored("feed"),
    ]

    let document: MenuDocument

    init(_ fields: InputFields) throws(InputError) {
        let sections: [SectionInput] = try fields.required("sections")
        let groups: [GroupInput] = try fields.optional("groups") ?? []
        document = MenuDocument(
            sections: try InputError.all(sections, within: "sections") { section throws(InputError) in
                try section.section()
            },
            groups: try InputError.all(groups, within: "groups") { group throws(InputError) in
                guard let id = group.id else { throw InputError("id", "is missing") }
                return group.group(id)
            })
    }
}

/// A section of `MENU.PUT`, or the document of `MENU.SECTION.PUT`.
struct SectionInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .optional("id", .identifier, "needed in a menu"), .member("title", .string),
        .member("kind", .words(SectionKind.all.map(\.name.string))),
        .optional("layout", LayoutInput.schema, "that of the kind where it is left out"), .optional("sticky", .boolean),
        .optional("daypart", .identifier), .optional("items", .list(of: ItemInput.schema)),
    ]

    let id: Identifier?
    let items: [ItemInput]
    private let title: Text
    private let kind: Text
    private let layout: Layout
    private let sticky: Bool
    private let daypart: Identifier?

    init(_ fields: InputFields) throws(InputError) {
        id = try fields.optional("id")
        title = try fields.required("title")
        kind = try fields.required("kind")
        let standard = SectionKind.named(kind)?.defaultLayout ?? .list
        let layout: LayoutInput? = try fields.optional("layout")
        self.layout = layout?.layout(standard) ?? standard
        sticky = try fields.optional("sticky") ?? false
        daypart = try fields.optional("daypart")
        items = try fields.optional("items") ?? []
    }

    func header(_ id: Identifier) -> SectionHeader {
        SectionHeader(id: id, title: title, kind: kind, layout: layout, sticky: sticky, daypart: daypart)
    }

    fileprivate func section() throws(InputError) -> MenuSection {
        guard let id else { throw InputError("id", "is missing") }
        return MenuSection(
            header: header(id),
            items: try InputError.all(items, within: "items") { item throws(InputError) in
                guard let id = item.id else { throw InputError("id", "is missing") }
                return item.item(id)
            })
    }
}

private struct LayoutInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("style", .words(LayoutStyle.all.map(\.name.string))), .optional("width", .integer, "of a card"),
        .optional("height", .integer, "of a card"), .optional("minimumWidth", .integer, "of a card"),
    ]

    private let style: Text
    private let size: Layout.CardSize?
    private let minimumWidth: Int?

    init(_ fields: InputFields) throws(InputError) {
        style = try fields.required("style")
        let width: Int? = try fields.optional("width")
        let height: Int? = try fields.optional("height")
        minimumWidth = try fields.optional("minimumWidth")
        switch (width, height) {
        case (nil, nil): size = nil
        case (nil, _): throw InputError("width", "is missing")
        case (_, nil): throw InputError("height", "is missing")
        case (let width?, let height?):
            guard let size = Layout.CardSize(width: width, height: height) else {
                throw InputError("", "width and height must be from 1 to 10000 points")
            }
            self.size = size
        }
    }

    /// Cards without a size have that of the section's kind.
    func layout(_ standard: Layout) -> Layout {
        Layout(
            style: style, cardSize: size ?? (standard.style == style ? standard.cardSize : nil),
            minimumWidth: minimumWidth)
    }
}

/// An item of `MENU.PUT`, or the document of `MENU.ITEM.PUT`.
struct ItemInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .optional("id", .identifier, "needed in a menu"), .member("kind", .words(ItemKind.all.map(\.name.string))),
        .member("name", .string), .optional("description", .string), .optional("price", .money),
        .optional("prices", ServiceKind.schema(of: .money.orNull)), .optional("cuisine", .string),
        .optional("tags", .list(of: .string)), .optional("imageSmall", .string), .optional("imageLarge", .string),
        .optional("images", .list(of: ItemImage.schema)), .optional("links", .list(of: ItemLink.schema)),
        .optional("maxQuantity", .integer), .optional("options", .list(of: .identifier), "its groups"),
        .optional("tax", .identifier), .optional("combo", .boolean), .optional("daypart", .identifier),
        .optional("promotion", .identifier),
        .optional("attributes", .object(others: .any), "as docs/menus.md has them"),
        .optional("from", .boolean, "as an item shows it: then its price is not read"), .ignored("hasOptions"),
        .ignored("groups"), .ignored("available"), .ignored("availableFrom"),
    ]

    let id: Identifier?
    /// The item under an identifier that is yet to be set.
    private let make: @Sendable (Identifier) -> MenuItem

    init(_ fields: InputFields) throws(InputError) {
        id = try fields.optional("id")
        let options: [Identifier] = try fields.optional("options") ?? []
        let tax: Identifier? = try fields.optional("tax")
        let isCombo: Bool = try fields.optional("combo") ?? false
        let daypart: Identifier? = try fields.optional("daypart")
        let promotion: Identifier? = try fields.optional("promotion")
        // Of an item with sizes, a document shows the lowest of their prices.
        let isPriceShown: Bool = try fields.optional("from") ?? false
        let kind: Text = try fields.required("kind")
        let name: Text = try fields.required("name")
        let description: Text? = try fields.optional("description")
        let price: Int64? = try fields.optional("price")
        let prices: ByService<Int64>? = try fields.optional("prices")
        let cuisine: Text? = try fields.optional("cuisine")
        let tags: [Text] = try fields.optional("tags") ?? []
        let imageSmall: Text? = try fields.optional("imageSmall")
        let imageLarge: Text? = try fields.optional("imageLarge")
        let images: [ItemImage] = try fields.optional("images") ?? []
        let links: [ItemLink] = try fields.optional("links") ?? []
        let maxQuantity: Int? = try fields.optional("maxQuantity")
        let attributes: ItemAttributes = try fields.optional("attributes") ?? ItemAttributes()
        make = { id in
            MenuItem(
                id: id, kind: kind, name: name, description: description,
                price: isPriceShown ? nil : price.map(Amount.init),
                cuisine: cuisine, tags: tags, imageSmall: imageSmall, imageLarge: imageLarge, images: images,
                links: links, maxQuantity: maxQuantity, attributes: attributes, options: options, tax: tax,
                servicePrices: prices.map(ByService.init) ?? ByService(), isCombo: isCombo, daypart: daypart,
                promotion: promotion)
        }
    }

    func item(_ id: Identifier) -> MenuItem { make(id) }
}

extension ItemImage: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("url", .string), .optional("alt", .string),
    ]

    init(_ fields: InputFields) throws(InputError) {
        self.init(url: try fields.required("url"), alternative: try fields.optional("alt"))
    }
}

extension ItemLink: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("rel", .identifier), .member("url", .string), .optional("title", .string),
    ]

    init(_ fields: InputFields) throws(InputError) {
        self.init(
            rel: try fields.required("rel"), url: try fields.required("url"), title: try fields.optional("title"))
    }
}

extension ItemAttributes: InputValue {
    static var expectation: String { "an object" }

    /// Null is the same as absent, as for every other field.
    init?(input: JSONValue) throws(InputError) {
        guard case .object(let members) = input else { return nil }
        var list: [Attribute] = []
        for member in members {
            if case .null = member.value { continue }
            guard let name = Identifier(member.key) else {
                throw InputError("", "a name must have 1–64 bytes of \(Identifier.characters)")
            }
            do throws(InputError) {
                list.append(Attribute(name, try AttributeValue.read(member.value)))
            } catch {
                throw error.within(member.key)
            }
        }
        self.init(list)
    }
}

extension AttributeValue: InputValue {
    static var expectation: String { "a number, a string, true or false, or an array of strings" }

    init?(input: JSONValue) throws(InputError) {
        switch input {
        case .number(let text):
            guard let number = AttributeNumber(text) else { throw InputError("", AttributeNumber.rule) }
            self = .number(number)
        case .string(let text): self = .text(Text(text))
        case .bool(let value): self = .boolean(value)
        case .array: self = .texts(try [Text].read(input))
        case .null, .object: return nil
        }
    }
}

extension Identifier: InputValue {
    static var expectation: String { Text.expectation }

    init?(input: JSONValue) throws(InputError) {
        guard let text = Text(input: input) else { return nil }
        guard let identifier = Identifier(text.string) else {
            throw InputError("", "must be 1–64 bytes of \(Identifier.characters)")
        }
        self = identifier
    }
}
