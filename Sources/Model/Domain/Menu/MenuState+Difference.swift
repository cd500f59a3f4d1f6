extension MenuState {
    /// The smallest set of events that makes this menu read like `target`.
    ///
    /// Additions, changes and removals are given by the two menus; what can be saved is moves. Of the entries
    /// that stay in their list, those of a longest increasing subsequence stay where they are, and every other
    /// one moves once: no set of single moves is smaller. Removing a section removes its items with it, so an
    /// item that leaves it for another section moves before.
    func events(leadingTo target: MenuDocument) -> [Menu.Event] {
        var events: [Menu.Event] = []
        let targetSections = Dictionary(uniqueKeysWithValues: target.sections.map { ($0.header.id, $0) })
        let targetItems = Set(target.sections.flatMap { $0.items.map(\.id) })

        // Before the items, so that whatever they offer is there.
        for group in target.groups.sorted(by: { $0.id < $1.id }) where groups[group.id] != group {
            events.append(.groupPut(group))
        }
        for section in sections {
            if let new = targetSections[section.header.id]?.header, new != section.header {
                events.append(.sectionChanged(new))
            }
        }
        let order = Arrangement(from: sections.map(\.header.id), to: target.sections.map(\.header.id))
        for step in order.steps {
            let header = target.sections[step.index].header
            let isNew = sectionIndex(header.id) == nil
            events.append(
                isNew ? .sectionAdded(header, before: step.next) : .sectionMoved(header.id, before: step.next))
        }

        for section in target.sections {
            let oldItems = sectionIndex(section.header.id).map { sections[$0].items } ?? []
            for item in section.items {
                if let old = entries[item.id]?.item { events += old.events(changingTo: item) }
            }
            for step in Arrangement(from: oldItems, to: section.items.map(\.id)).steps {
                let item = section.items[step.index]
                events.append(
                    entries[item.id] == nil
                        ? .itemAdded(item, section: section.header.id, before: step.next)
                        : .itemMoved(item.id, section: section.header.id, before: step.next))
            }
        }

        for section in sections {
            guard targetSections[section.header.id] != nil else {
                events.append(.sectionRemoved(section.header.id))
                continue
            }
            events += section.items.filter { !targetItems.contains($0) }.map(Menu.Event.itemRemoved)
        }
        let targetGroups = Set(target.groups.map(\.id))
        events += groups.list.map(\.id).filter { !targetGroups.contains($0) }.map(Menu.Event.groupRemoved)
        return events
    }
}

extension MenuItem {
    /// The event that turns this item into `new`, if they differ: a change of price alone has its own.
    func events(changingTo new: MenuItem) -> [Menu.Event] {
        guard self != new else { return [] }
        var repriced = self
        repriced.price = new.price
        if repriced == new, let price = new.price { return [.itemRepriced(id, price)] }
        return [.itemChanged(new)]
    }
}

/// How one list of ids becomes another with the fewest insertions and moves.
private struct Arrangement {
    /// Puts the id at `index` of the new list in front of `next`, or last.
    struct Step {
        var index: Int
        var next: Identifier?
    }

    /// In order from the end of the list, so that `next` already stands in its place.
    var steps: [Step] = []

    init(from old: [Identifier], to new: [Identifier]) {
        let oldPlaces = Dictionary(uniqueKeysWithValues: old.enumerated().map { ($1, $0) })
        let staying = Arrangement.longestIncreasingSubsequence(new.map { oldPlaces[$0] })
        for index in new.indices.reversed() where !staying.contains(index) {
            steps.append(Step(index: index, next: index + 1 < new.count ? new[index + 1] : nil))
        }
    }

    /// The indices of a longest subsequence of increasing places, passing over what has none (patience sorting).
    private static func longestIncreasingSubsequence(_ places: [Int?]) -> Set<Int> {
        var tails: [Int] = []  // tails[k]: the index of the smallest place that ends a subsequence of k + 1
        var previous = [Int?](repeating: nil, count: places.count)
        for (index, place) in places.enumerated() {
            guard let place else { continue }
            var low = 0
            var high = tails.count
            while low < high {
                let middle = (low + high) / 2
                if places[tails[middle]]! < place { low = middle + 1 } else { high = middle }
            }
            previous[index] = low > 0 ? tails[low - 1] : nil
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var result: Set<Int> = []
        var next = tails.last
        while let index = next {
            result.insert(index)
            next = previous[index]
        }
        return result
    }
}
