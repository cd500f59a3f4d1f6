internal import CommandHandling
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
    static func cart(_ id: Identifier) -> StreamName { StreamName(.cart, id) }
    static func outlet(_ id: Identifier) -> StreamName { StreamName(.outlet, id) }
    static func menu(_ id: Identifier) -> StreamName { StreamName(.menu, id) }
}

extension Offer {
    static let tea = Offer.available(Item(name: "Tea", unitPrice: 250, currency: Currency("INR")!, maxQuantity: 99))
}

extension Cart.Command {
    static func add(_ quantity: Int, of item: Identifier = "tea", note: Text? = nil) -> Cart.Command {
        .add(
            Cart.Addition(outlet: "o", item: item, quantity: quantity, note: note.map(PersonalText.plain), offer: .tea))
    }
}

extension OutletDetails {
    static func named(_ name: Text) -> OutletDetails {
        OutletDetails(name: name, currency: Currency("INR")!, timeZone: "Asia/Kolkata")
    }
}

extension MenuDocument {
    /// A menu of one section with this many items.
    static func items(_ count: Int) -> MenuDocument {
        MenuDocument(sections: [
            MenuSection(
                header: SectionHeader(id: "all", title: "All", kind: "menuItems", layout: .list),
                items: (0..<count).map {
                    MenuItem(id: Identifier("item-\($0)")!, kind: "menuItem", name: "Item \($0)", price: 100)
                })
        ])
    }
}

extension CommandOutcome {
    static func count(_ count: Int) -> CommandOutcome { .accepted(.count(count)) }
    static func version(_ version: Int64) -> CommandOutcome { .accepted(.version(version)) }

    /// The code of a rejection; nil for other outcomes.
    var rejectionCode: Rejection.Code? {
        guard case .rejected(let rejection) = self else { return nil }
        return rejection.code
    }

    var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
    var isUnknown: Bool { if case .unknown = self { true } else { false } }
}

extension [CommandOutcome] {
    /// The outcomes in a fixed order, for commands of several streams.
    var unordered: [String] { map { "\($0)" }.sorted() }
}
