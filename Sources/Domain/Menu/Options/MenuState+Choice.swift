/// What comes of choosing options with an item.
public enum Choice: Equatable, Sendable {
    /// What one costs, and the options in the order of their ids.
    case priced(Amount, [LineOption])
    /// The item and its groups do not have the option, or not where its parent is not chosen.
    case gone(Identifier)
    /// The option is sold out.
    case soldOut(Identifier)
    /// More units of the option than it allows.
    case tooMany(Identifier, maximum: Int)
    /// A group with fewer units than its minimum, or more than its maximum.
    case units(ofGroup: OptionGroup, chosen: Int)
    /// The item has no price.
    case notForSale
}

extension MenuState {
    /// A group that can be chosen from, and what was chosen of it.
    private struct OpenGroup {
        let group: OptionGroup
        var picked: [Picked] = []
    }

    private struct Picked {
        /// The option's index in its group.
        let option: Int
        let units: Int
    }

    /// What an item costs with these options.
    ///
    /// A group counts once, even if several of the chosen options open it.
    ///
    /// - Parameter chosen: ``Swift/Array/normalized``.
    func choice(of chosen: [ChosenOption], for entry: Entry, now: Timestamp) -> Choice {
        var open = openGroups(entry.options, chosen)
        guard !open.isEmpty else {
            if let option = chosen.first { return .gone(option.id) }
            return entry.price.map { .priced($0, []) } ?? .notForSale
        }
        var suspensions = GroupSuspensions()
        var size: MenuOption?
        for choice in chosen {
            guard let home = groups.home(of: choice.id), let place = open.firstIndex(where: { $0.group.id == home }),
                let index = open[place].group.options.firstIndex(where: { $0.id == choice.id })
            else { return .gone(choice.id) }
            let option = open[place].group.options[index]
            guard (1...option.maximum).contains(choice.units) else {
                return .tooMany(choice.id, maximum: option.maximum)
            }
            if suspension(of: option, &suspensions)?.holds(at: now) ?? false { return .soldOut(choice.id) }
            if open[place].group.setsPrice { size = option }
            open[place].picked.append(Picked(option: index, units: choice.units))
        }
        for open in open {
            let units = open.picked.reduce(0) { $0 + $1.units }
            guard (open.group.minimum...open.group.maximum).contains(units) else {
                return .units(ofGroup: open.group, chosen: units)
            }
        }
        guard let base = size?.price ?? (entry.isPriceFrom ? nil : entry.price), base.isRecordable else {
            return .notForSale
        }
        return priced(base, open, with: size?.id)
    }

    private func priced(_ base: Amount, _ open: [OpenGroup], with size: Identifier?) -> Choice {
        // Units and prices are so bounded that no sum overflows.
        var price = base.minorUnits
        var options: [LineOption] = []
        for open in open where !open.picked.isEmpty {
            let first = options.count
            for picked in open.picked {
                let option = open.group.options[picked.option]
                options.append(
                    LineOption(option.id, name: option.name, units: picked.units, price: option.price(with: size)))
            }
            var free = open.group.free
            if free > 0 { options[first...].sort { ($0.price, $0.id) < ($1.price, $1.id) } }
            for index in first..<options.count {
                options[index].free = min(free, options[index].units)
                free -= options[index].free
                if !open.group.setsPrice {
                    let paid = options[index].units - options[index].free
                    price += Int64(paid) * options[index].price.minorUnits
                }
            }
        }
        options.sort { $0.id < $1.id }
        return .priced(Amount(minorUnits: price), options)
    }

    /// The groups that the item offers, and those that the chosen options open, each once.
    private func openGroups(_ offered: [Identifier], _ chosen: [ChosenOption]) -> [OpenGroup] {
        var open: [OpenGroup] = []
        open.reserveCapacity(offered.count)
        for id in offered {
            if let group = groups[id] { open.append(OpenGroup(group: group)) }
        }
        var index = 0
        while index < open.count {
            let opening = open[index].group.options.filter { !$0.groups.isEmpty }
            for option in opening where chosen.contains(where: { $0.id == option.id }) {
                for id in option.groups where !open.contains(where: { $0.group.id == id }) {
                    if let group = groups[id] { open.append(OpenGroup(group: group)) }
                }
            }
            index += 1
        }
        return open
    }

    /// What an item costs with these options, even while it is sold out.
    ///
    /// - Parameter chosen: ``Swift/Array/normalized``.
    public func price(of item: Identifier, with chosen: [ChosenOption], now: Timestamp) -> Choice {
        entries[item].map { choice(of: chosen, for: $0, now: now) } ?? .notForSale
    }

    // MARK: What can be had

    /// Until when groups cannot be filled, by their ids, as far as that was worked out. One group can be reached by many
    /// options, and is looked at once.
    public struct GroupSuspensions {
        fileprivate var known: [Identifier: Suspension?] = [:]

        /// Nothing yet.
        public init() {}
    }

    /// Until when an option cannot be had: because it or the item that it is is sold out, or because a group that it
    /// opens cannot be filled.
    public func suspension(of option: MenuOption, _ groups: inout GroupSuspensions) -> Suspension? {
        var result = self.groups.suspensions.isEmpty ? nil : self.groups.suspensions[option.id]
        if let item = option.item {
            result = .both(result, entries[item].map(\.ownSuspension) ?? Suspension(until: nil))
        }
        for id in option.groups { result = .both(result, suspension(ofGroup: id, &groups)) }
        return result
    }

    /// Until when a group has fewer units than its minimum.
    private func suspension(ofGroup id: Identifier, _ groups: inout GroupSuspensions) -> Suspension? {
        if let suspension = groups.known[id] { return suspension }
        // A circle, which only a damaged log can have, ends here.
        groups.known.updateValue(nil, forKey: id)
        guard let group = self.groups[id], group.minimum > 0 else { return nil }
        var missing = group.minimum
        var later: [(until: Timestamp, units: Int)] = []
        for option in group.options {
            switch suspension(of: option, &groups) {
            case nil: missing -= option.maximum
            case let suspension?: if let until = suspension.until { later.append((until, option.maximum)) }
            }
        }
        guard missing > 0 else { return nil }
        var result = Suspension(until: nil)
        for (until, units) in later.sorted(by: { $0.until < $1.until }) where missing > 0 {
            missing -= units
            if missing <= 0 { result = Suspension(until: until) }
        }
        groups.known.updateValue(result, forKey: id)
        return result
    }

    /// The groups that an item offers and those that their options open, each once, in the order of their ids.
    public func groups(of entry: Entry) -> [OptionGroup] {
        var reached: Set<Identifier> = []
        var level = entry.options
        while !level.isEmpty {
            let new = level.filter { reached.insert($0).inserted }
            level = new.flatMap { groups[$0]?.options.flatMap(\.groups) ?? [] }
        }
        return reached.sorted().compactMap { groups[$0] }
    }

    /// The items that look different if these do: those that offer them as options.
    public func dependents(of items: Set<Identifier>) -> Set<Identifier> {
        if groups.isEmpty { return [] }
        return groups.items(offering: items.reduce(into: []) { $0.formUnion(groups.groups(with: $1)) })
    }

    /// What follows for an item from the groups that it offers.
    func consequences(of item: MenuItem, _ suspensions: inout GroupSuspensions) -> Entry.Consequences {
        var result = Entry.Consequences()
        for id in item.options {
            guard let group = groups[id] else { continue }
            if group.setsPrice { result.lowestPrice = group.options.map(\.price).min() }
            result.suspension = .both(result.suspension, suspension(ofGroup: id, &suspensions))
        }
        return result
    }
}

extension MenuState.Suspension? {
    /// What cannot be had as long as either holds.
    static func both(_ a: Self, _ b: Self) -> Self {
        switch (a, b) {
        case (nil, let only), (let only, nil): only
        case (let a?, let b?):
            if let first = a.until, let second = b.until {
                MenuState.Suspension(until: max(first, second))
            } else {
                MenuState.Suspension(until: nil)
            }
        }
    }
}
