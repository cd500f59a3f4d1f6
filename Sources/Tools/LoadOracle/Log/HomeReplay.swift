/// An outlet as it follows from its events and its menu's, and its home.
struct HomeReplay {
    private let outlet: Outlet
    /// Sections by their ids, in the order of the menu; items by their indexes.
    private var sections: [(id: Text, items: [Int])] = []
    private var offers: [Int: (price: Int64, isAvailable: Bool)] = [:]
    private var isOpen = false
    private var isHidden = false
    private(set) var revision: Int64 = 0

    init(_ outlet: Outlet) {
        self.outlet = outlet
    }

    mutating func apply(_ event: LogEvent) {
        revision = event.position
        let item = event.payload["id"]?.string.flatMap { ItemPlan.index(of: $0) }
        switch event.kind {
        case "outlet.opened": isOpen = true
        case "outlet.closed": isOpen = false
        case "outlet.hidden": isHidden = true
        case "outlet.shown": isHidden = false
        case "menu.sectionAdded":
            let place = sections.firstIndex { $0.id == event.payload["before"]?.text } ?? sections.count
            sections.insert((event.payload["id"]?.text ?? "", []), at: place)
        case "menu.itemAdded", "menu.itemMoved":
            guard let item else { return }
            for index in sections.indices { sections[index].items.removeAll { $0 == item } }
            if event.kind == "menu.itemAdded" {
                // An item with sizes has no price of its own.
                let plan = outlet.menu.item(item)
                offers[item] = (plan.hasSizes ? plan.price : event.number("price"), true)
            }
            guard let section = sections.firstIndex(where: { $0.id == event.payload["section"]?.text }) else { return }
            let before = event.payload["before"]?.string.flatMap { ItemPlan.index(of: $0) }
            let place = before.flatMap { sections[section].items.firstIndex(of: $0) }
            sections[section].items.insert(item, at: place ?? sections[section].items.count)
        case "menu.itemRemoved":
            for index in sections.indices { sections[index].items.removeAll { $0 == item } }
        case "menu.itemChanged", "menu.itemRepriced": if let item { offers[item]?.price = event.number("price") }
        case "menu.itemSuspended": if let item { offers[item]?.isAvailable = false }
        case "menu.itemResumed": if let item { offers[item]?.isAvailable = true }
        default: break
        }
    }

    /// An item whose state after the events differs from what the owner's replies said; nil if there is none.
    func difference() -> Int? {
        let listed = Set(sections.flatMap(\.items))
        return outlet.menu.everyItem.first { index in
            let current = outlet.current(item: index)
            guard current.isListed, let offer = offers[index] else { return listed.contains(index) != current.isListed }
            let isAvailable = index == outlet.countedItem ? current.isAvailable : offer.isAvailable
            return !listed.contains(index) || offer.price != current.price || isAvailable != current.isAvailable
        }
    }

    /// The home, as the server shows outlets like `shown`, a home of the same outlet that was read whole; null before
    /// the first event.
    func document(like shown: HomeTemplate) -> JSON {
        guard revision > 0 else { return .null }
        var document = shown.frame
        document["outlet"]?["status"] = .string(isOpen ? "open" : "closed")
        document["outlet"]?["hidden"] = isHidden ? JSON.bool(true) : nil
        document["revision"] = .number(Double(revision))
        document["sections"] = .array(
            sections.filter { !$0.items.isEmpty }.map { id, items in
                var section = shown.sections[id] ?? .object(["id": .string(id)])
                section["items"] = .array(
                    items.map { index in
                        let offer = offers[index] ?? (0, false)
                        return shown.item(outlet.menu.item(index), price: offer.price, isAvailable: offer.isAvailable)
                    })
                return section
            })
        return document
    }
}

/// How a server shows the home of an outlet, apart from what its owner changes.
struct HomeTemplate {
    /// Without sections.
    let frame: JSON
    /// Without items.
    let sections: [Text: JSON]
    private let items: [Text: JSON]
    /// One item of each kind.
    private let kinds: [Text: JSON]

    init(_ home: JSON) {
        var frame = home
        frame["sections"] = .array([])
        self.frame = frame
        var sections: [Text: JSON] = [:]
        var items: [Text: JSON] = [:]
        var kinds: [Text: JSON] = [:]
        for shown in home["sections"]?.array ?? [] {
            var section = shown
            section["items"] = .array([])
            sections[shown["id"]?.text ?? ""] = section
            for item in shown["items"]?.array ?? [] {
                items[item["id"]?.text ?? ""] = item
                kinds[item["kind"]?.text ?? ""] = item
            }
        }
        (self.sections, self.items, self.kinds) = (sections, items, kinds)
    }

    /// An item with what its owner changes.
    func item(_ plan: ItemPlan, price: Int64, isAvailable: Bool) -> JSON {
        var item = items[Text(plan.id)] ?? extra(plan)
        item["model"]?["price"] = .number(Double(price))
        item["model"]?["available"] = .bool(isAvailable)
        return item
    }

    /// An item that was not in the home that was read: it looks like another of its kind.
    private func extra(_ plan: ItemPlan) -> JSON {
        var item = kinds[Text(plan.kind)] ?? .object([:])
        for key: Text in ["from", "hasOptions"] { item["model"]?[key] = nil }
        item["id"] = .string(Text(plan.id))
        item["model"]?["name"] = .string(Text(plan.name))
        item["model"]?["description"] = .string(Text(plan.description))
        item["model"]?["tags"] = .array(plan.tags.map { .string(Text($0)) })
        item["model"]?["imageSmall"] = .string(Text(plan.imageSmall))
        return item
    }
}
