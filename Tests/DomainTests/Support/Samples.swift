package import Domain
import SeededRandom

extension Identifier: ExpressibleByStringLiteral {
    /// The identifier as a literal.
    package init(stringLiteral text: String) {
        self.init(text)!
    }
}

extension Amount: ExpressibleByIntegerLiteral {
    /// Minor units as a literal.
    package init(integerLiteral minorUnits: Int64) {
        self.init(minorUnits: minorUnits)
    }
}

extension Timestamp: ExpressibleByIntegerLiteral {
    /// Milliseconds since the epoch as a literal.
    package init(integerLiteral milliseconds: Int64) {
        self.init(millisecondsSinceEpoch: milliseconds)
    }
}

extension PersonalText: ExpressibleByStringLiteral {
    /// A text without a customer, as a literal.
    package init(stringLiteral text: String) {
        self = .plain(Text(text))
    }
}

extension SealedText: ExpressibleByStringLiteral {
    /// A ciphertext as a literal.
    package init(stringLiteral text: String) {
        self.init(ciphertext: Text(text))
    }
}

extension Currency {
    static let inr = Currency("INR")!
    static let usd = Currency("USD")!
}

extension OutletDetails {
    static let sample = OutletDetails(
        name: "Spice Route", city: "Pune", currency: .inr, timeZone: "Asia/Kolkata", cuisines: ["Indian"],
        minimumOrder: 100)

    func with<Value>(_ path: WritableKeyPath<OutletDetails, Value>, _ value: Value) -> OutletDetails {
        var copy = self
        copy[keyPath: path] = value
        return copy
    }
}

extension MenuItem {
    static func sample(_ id: Identifier, price: Amount = 250) -> MenuItem {
        MenuItem(id: id, kind: "menuItem", name: "Item \(id)", price: price)
    }

    func with<Value>(_ path: WritableKeyPath<MenuItem, Value>, _ value: Value) -> MenuItem {
        var copy = self
        copy[keyPath: path] = value
        return copy
    }
}

extension ItemAttributes {
    /// What an item of a kind needs.
    static func sample(of kind: ItemKind) -> ItemAttributes {
        ItemAttributes(
            kind.attributes.map { required in
                switch required.values {
                case .number(let range): Attribute(required.name, .number(range.upperBound))
                case .text(let range):
                    Attribute(required.name, .text(Text(String(repeating: "x", count: range.upperBound))))
                case .boolean: Attribute(required.name, .boolean(true))
                case .texts(let range):
                    Attribute(required.name, .texts(Array(repeating: "x", count: range.upperBound)))
                }
            })
    }
}

extension SeededGenerator {
    /// Attributes of a few names and all types, and those that an item of the kind needs.
    mutating func attributes(of kind: ItemKind? = nil) -> ItemAttributes {
        let names: [Identifier] = ["allergens", "bloodType", "shoeSize", "vegan"]
        let values: [AttributeValue] = [
            .number(0), .number(AttributeNumber("-42.5")!), .number(AttributeNumber("1000000000000")!), .text("A"),
            .text(Text(String(repeating: "é", count: 150))), .boolean(true), .boolean(false), .texts([]),
            .texts(["nuts", "milk"]),
        ]
        let own = names.filter { _ in chance(30) }.map { ItemAttributes.Attribute($0, pick(values)) }
        return ItemAttributes(own + (kind.map(ItemAttributes.sample)?.list ?? []))
    }
}

extension SectionHeader {
    static func sample(_ id: Identifier, title: Text = "Section") -> SectionHeader {
        SectionHeader(id: id, title: title, kind: "menuItems", layout: .list)
    }
}

extension MenuDocument {
    /// A menu of sample items: the ids, section by section.
    init(_ sections: KeyValuePairs<Identifier, [Identifier]>) {
        self.init(
            sections: sections.map { id, items in
                MenuSection(header: .sample(id), items: items.map { .sample($0) })
            })
    }

    /// The events that lead from an empty menu to this one.
    var history: [Menu.Event] {
        get throws { try Menu.decide(.put(self), in: Menu.initial) }
    }
}

extension Rate {
    static func sample(_ thousandths: Int) -> Rate { Rate(thousandths: thousandths)! }
}

extension Offer {
    static func sample(price: Amount = 250, currency: Currency = .inr, maxQuantity: Int = 99) -> Offer {
        .available(Item(name: "Tea", unitPrice: price, currency: currency, maxQuantity: maxQuantity))
    }

    /// The same offer with options, which cost nothing.
    func with(_ options: [Identifier]) -> Offer {
        guard case .available(var item) = self else { return self }
        item.options = options.map { LineOption($0, name: Text($0.rawValue)) }
        return .available(item)
    }
}
