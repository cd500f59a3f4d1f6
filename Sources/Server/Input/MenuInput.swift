internal import Domain
internal import Foundation

/// The document of `MENU.PUT`: also as `MENU.GET` gives it, so that what was read can be changed and put back.
struct MenuInput: Decodable {
    var document: MenuDocument

    init(from decoder: any Decoder) throws {
        let fields = try InputFields(decoder, "sections", "outlet", "version")
        let sections: [SectionInput] = try fields.required("sections")
        document = MenuDocument(
            sections: try sections.enumerated().map { index, section in
                guard let id = section.id else {
                    throw fields.failure("sections[\(index)].id", "is missing")
                }
                return MenuSection(header: section.header(id), items: try section.menuItems(at: index, fields))
            })
    }
}

/// A section of `MENU.PUT`, or the document of `MENU.SECTION.PUT`.
struct SectionInput: Decodable {
    var id: Identifier?
    var items: [ItemInput]?
    private var title: String
    private var kind: String
    private var layout: Layout
    private var sticky: Bool

    init(from decoder: any Decoder) throws {
        let fields = try InputFields(decoder, "id", "title", "kind", "layout", "sticky", "items")
        id = try fields.identifier("id")
        title = try fields.required("title")
        kind = try fields.required("kind")
        let input: LayoutInput? = try fields.optional("layout")
        let standard = SectionKind.named(kind)?.defaultLayout ?? .list
        layout = input.map { $0.layout(standard) } ?? standard
        sticky = try fields.optional("sticky") ?? false
        items = try fields.optional("items")
    }

    func header(_ id: Identifier) -> SectionHeader {
        SectionHeader(id: id, title: title, kind: kind, layout: layout, sticky: sticky)
    }

    fileprivate func menuItems(at section: Int, _ fields: InputFields) throws -> [MenuItem] {
        try (items ?? []).enumerated().map { index, item in
            guard let id = item.id else {
                throw fields.failure("sections[\(section)].items[\(index)].id", "is missing")
            }
            return item.item(id)
        }
    }
}

private struct LayoutInput: Decodable {
    var style: String
    var size: Layout.CardSize?

    init(from decoder: any Decoder) throws {
        let fields = try InputFields(decoder, "style", "width", "height")
        style = try fields.required("style")
        let width: Int? = try fields.optional("width")
        let height: Int? = try fields.optional("height")
        guard (width == nil) == (height == nil) else {
            throw fields.failure(width == nil ? "width" : "height", "is missing")
        }
        if let width, let height {
            guard let size = Layout.CardSize(width: width, height: height) else {
                throw fields.failure("width", "and height must be from 1 to 10000 points")
            }
            self.size = size
        }
    }

    /// Cards without a size have that of the section's kind.
    func layout(_ standard: Layout) -> Layout {
        Layout(style: style, cardSize: size ?? (standard.style == style ? standard.cardSize : nil))
    }
}

/// An item of `MENU.PUT`, or the document of `MENU.ITEM.PUT`.
struct ItemInput: Decodable {
    var id: Identifier?
    private var make: @Sendable (Identifier) -> MenuItem

    init(from decoder: any Decoder) throws {
        let fields = try InputFields(
            decoder, "id", "kind", "name", "description", "price", "cuisine", "tags", "imageSmall", "imageLarge",
            "maxQuantity", "options", "available", "availableFrom")
        id = try fields.identifier("id")
        if let options: [OptionInput] = try fields.optional("options"), !options.isEmpty {
            throw fields.failure("options", "are not supported yet: leave them out, or empty")
        }
        let kind: String = try fields.required("kind")
        let name: String = try fields.required("name")
        let description: String? = try fields.optional("description")
        let price: Int64? = try fields.optional("price")
        let cuisine: String? = try fields.optional("cuisine")
        let tags: [String] = try fields.optional("tags") ?? []
        let imageSmall: String? = try fields.optional("imageSmall")
        let imageLarge: String? = try fields.optional("imageLarge")
        let maxQuantity: Int? = try fields.optional("maxQuantity")
        make = { id in
            MenuItem(
                id: id, kind: kind, name: name, description: description, price: price.map(Amount.init),
                cuisine: cuisine, tags: tags, imageSmall: imageSmall, imageLarge: imageLarge, maxQuantity: maxQuantity)
        }
    }

    func item(_ id: Identifier) -> MenuItem { make(id) }

    private struct OptionInput: Decodable {}
}

extension InputFields {
    fileprivate func identifier(_ key: String) throws -> Identifier? {
        guard let text: String = try optional(key) else { return nil }
        guard let identifier = Identifier(text) else {
            throw failure(key, "must be 1–64 bytes of A–Z a–z 0–9 . _ : -")
        }
        return identifier
    }
}
