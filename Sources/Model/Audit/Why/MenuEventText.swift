internal import Domain
internal import Projections

/// Descriptions of the events of menus.
enum MenuEventText {
    /// - Parameters:
    ///   - before: the menu before the event.
    ///   - currency: that of the outlet; without one, amounts are in minor units.
    static func words(for event: Menu.Event, in before: MenuState, _ currency: Currency?) -> String {
        func price(_ amount: Amount?) -> String {
            guard let amount else { return "no price" }
            return currency.map { amount.words(in: $0) } ?? "\(amount.minorUnits)"
        }
        func item(_ id: Identifier) -> String { before.entries[id].map { "\($0.name) (\(id))" } ?? "\(id)" }
        func option(_ id: Identifier) -> String { before.groups.option(id).map { "\($0.name) (\(id))" } ?? "\(id)" }
        func section(_ id: Identifier) -> String { "section \(id)" }
        func place(_ next: Identifier?) -> String { next.map { ", before \($0)" } ?? "" }

        switch event {
        case .sectionAdded(let header, let next):
            return "added \(section(header.id)), \(header.title.quoted), of \(header.kind)\(place(next))"
        case .sectionChanged(let header):
            let old = before.sections.first { $0.header.id == header.id }?.header
            var changes: [String] = []
            if let old, old.title != header.title {
                changes.append("title from \(old.title.quoted) to \(header.title.quoted)")
            }
            if let old, old.kind != header.kind { changes.append("kind from \(old.kind) to \(header.kind)") }
            if old?.layout != header.layout { changes.append("layout") }
            if old?.sticky != header.sticky { changes.append(header.sticky ? "sticky now" : "not sticky now") }
            return "changed \(section(header.id)): \(changes.joined(separator: ", "))"
        case .sectionMoved(let id, let next): return "moved \(section(id))\(next == nil ? " to the end" : place(next))"
        case .sectionRemoved(let id):
            let count = before.sections.first { $0.header.id == id }?.items.count ?? 0
            return "removed \(section(id)) with \(count.counted("item"))"
        case .itemAdded(let new, let target, let next):
            return "added \(new.name) (\(new.id)) at \(price(new.price)) to \(section(target))\(place(next))"
        case .itemChanged(let new):
            return "changed \(item(new.id)): " + changes(to: new, from: before.entries[new.id]?.item, price)
        case .itemMoved(let id, let target, let next): return "moved \(item(id)) to \(section(target))\(place(next))"
        case .itemRemoved(let id): return "removed \(item(id))"
        case .itemRepriced(let id, let amount):
            return "repriced \(item(id)) from \(price(before.entries[id]?.price)) to \(price(amount))"
        case .itemSuspended(let id, let until, let party):
            return "suspended \(item(id))" + (until.map { " until \($0.rfc3339)" } ?? "") + party.words
        case .itemResumed(let id, let party): return "resumed \(item(id))" + party.words
        case .groupPut(let group):
            let options = group.options.map { "\($0.name) at \(price($0.price))" }.joined(separator: ", ")
            return "\(before.groups[group.id] == nil ? "added" : "changed") options \(group.id), "
                + "\(group.title.quoted): \(group.minimum) to \(group.maximum) of \(options)"
        case .groupRemoved(let id): return "removed options \(id)"
        case .optionRepriced(let id, let amount, let size):
            return "repriced option \(option(id)) to \(price(amount))" + (size.map { " with \($0)" } ?? "")
        case .optionSuspended(let id, let until, let party):
            return "suspended option \(option(id))" + (until.map { " until \($0.rfc3339)" } ?? "") + party.words
        case .optionResumed(let id, let party): return "resumed option \(option(id))" + party.words
        case .feedChecked(let check):
            let source = check.source.map { " \($0.quoted)" } ?? ""
            let more = check.problems.count > 1 ? ", and \((check.problems.count - 1).counted("more problem"))" : ""
            let problems = check.problems.first.map { ": \($0)\(more)" } ?? ""
            return "found the feed\(source) \(check.state.rawValue)\(problems)"
        }
    }

    private static func changes(to new: MenuItem, from old: MenuItem?, _ price: (Amount?) -> String) -> String {
        guard let old else { return "everything" }
        var changes: [String] = []
        if old.name != new.name { changes.append("name to \(new.name.quoted)") }
        if old.price != new.price { changes.append("price from \(price(old.price)) to \(price(new.price))") }
        if old.kind != new.kind { changes.append("kind from \(old.kind) to \(new.kind)") }
        let rest: [(String, Bool)] = [
            ("description", old.description != new.description), ("cuisine", old.cuisine != new.cuisine),
            ("tags", old.tags != new.tags), ("imageSmall", old.imageSmall != new.imageSmall),
            ("imageLarge", old.imageLarge != new.imageLarge), ("images", old.images != new.images),
            ("links", old.links != new.links), ("maxQuantity", old.maxQuantity != new.maxQuantity),
            ("attributes", old.attributes != new.attributes), ("options", old.options != new.options),
            ("tax", old.tax != new.tax), ("combo", old.isCombo != new.isCombo),
            ("prices", old.servicePrices != new.servicePrices), ("daypart", old.daypart != new.daypart),
            ("promotion", old.promotion != new.promotion),
        ]
        return (changes + rest.filter(\.1).map(\.0)).joined(separator: ", ")
    }
}

extension Menu.Suspender {
    /// Who it was, behind what they did; nothing of a merchant.
    fileprivate var words: String {
        switch self {
        case .merchant: ""
        case .stock: ", by its stock"
        }
    }
}
