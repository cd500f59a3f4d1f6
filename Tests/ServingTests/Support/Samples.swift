package import Domain
internal import EventLog

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

extension StreamName {
    static func outlet(_ id: Identifier) -> StreamName { StreamName(.outlet, id) }
    static func menu(_ id: Identifier) -> StreamName { StreamName(.menu, id) }
    static func cart(_ id: Identifier) -> StreamName { StreamName(.cart, id) }
    static func order(_ id: Identifier) -> StreamName { StreamName(.order, id) }
}

extension OutletDetails {
    static func named(_ name: Text) -> OutletDetails {
        OutletDetails(name: name, currency: Currency("INR")!, timeZone: "Asia/Kolkata")
    }
}

extension MenuDocument {
    /// A menu of one section with so many items.
    static func items(_ count: Int, named name: String = "Item", price: Amount = 100) -> MenuDocument {
        MenuDocument(sections: [
            MenuSection(
                header: SectionHeader(id: "all", title: "All", kind: "menuItems", layout: .list),
                items: (0..<count).map {
                    MenuItem(
                        id: Identifier("item-\($0)")!, kind: "menuItem", name: Text("\(name) \($0)"), price: price)
                })
        ])
    }
}
