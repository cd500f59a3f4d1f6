import Domain
import EventLog
import Projections

@testable import Catalogue

extension Catalogue {
    /// A catalogue of one open outlet, `o`, with these items.
    static func with(_ items: [MenuItem], _ change: (inout OutletDetails) -> Void = { _ in }) -> Catalogue {
        let catalogue = Catalogue()
        catalogue.load([.with(items, change)], revision: 0)
        return catalogue
    }

    /// A catalogue of one open outlet, `o`, with items that have these names, by their ids.
    static func with(items names: [String: Text]) -> Catalogue {
        with(names.sorted { $0.key < $1.key }.map { MenuItem.named($0.value, id: $0.key) })
    }
}

extension MenuItem {
    /// An item with nothing but a name and a price.
    static func named(_ name: Text, id: String, price: Int64 = 100) -> MenuItem {
        MenuItem(
            id: Identifier(id)!, kind: "menuItem", name: name, price: Amount(minorUnits: price))
    }
}

extension OutletRecord {
    /// An open outlet with these items, and these events of its menu after that; perhaps paused since.
    static func with(
        id: Identifier = "o", _ items: [MenuItem], events more: [Menu.Event] = [], pausedUntil: Timestamp? = nil,
        _ change: (inout OutletDetails) -> Void = { _ in }
    ) -> OutletRecord {
        var details = OutletDetails(name: "Outlet", currency: Currency("LKR")!, timeZone: "UTC")
        change(&details)
        let header = SectionHeader(id: "s", title: "S", kind: "menuItems", layout: .list)
        let menu = MenuDocument(sections: [MenuSection(header: header, items: items)])
        guard let changes = try? Menu.decide(.put(menu), in: Menu.initial) else {
            preconditionFailure("an impossible menu")
        }
        var model = ReadModel(partition: 0)
        let events =
            [DomainEvent.outlet(.registered(details)), .outlet(.opened)] + (changes + more).map(DomainEvent.menu)
            + (pausedUntil.map { [.outlet(.paused(until: $0, reason: nil))] } ?? [])
        var versions: [StreamName.Category: Int64] = [:]
        for (index, event) in events.enumerated() {
            let category: StreamName.Category = if case .menu = event { .menu } else { .outlet }
            versions[category, default: 0] += 1
            model.apply([
                .success(
                    DecodedEvent(
                        partition: 0, position: Int64(index) + 1, stream: StreamName(category, id),
                        version: versions[category]!, event: event, metadata: .none, recordedAt: 0))
            ])
        }
        guard let record = model.outletHome[id] else { preconditionFailure("an outlet that was not registered") }
        return record
    }
}
