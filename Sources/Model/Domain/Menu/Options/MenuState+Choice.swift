/// What comes of choosing options with an item.
public enum Choice: Equatable, Sendable {
    /// It can be had.
    case priced(Price)
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

    /// What an item costs with some options.
    public struct Price: Equatable, Sendable {
        /// What one costs.
        public var one: Amount
        /// The options, in the order of their ids.
        public var options: [LineOption] = []
        /// The tax on it; nil for the outlet's first.
        var tax: Identifier?
        /// What the price is divided among, where not all of it has that tax.
        var parts: [Bill.Part] = []
    }
}

extension MenuState {
    /// A group that can be chosen from.
    private struct OpenGroup {
        /// Its place among all groups of the menu.
        let place: Int
        /// How many units of its options were chosen.
        var units = 0
    }

    /// Where a chosen option stands.
    private struct Picked {
        /// The index of its group among those that are open.
        let group: Int
        /// Its index in the group.
        let option: Int
    }

    /// What an item costs with these options.
    ///
    /// A group counts once, even if several of the chosen options open it.
    ///
    /// - Parameters:
    ///   - chosen: ``Swift/Array/normalized``.
    ///   - own: what belongs to the item's options.
    ///   - service: how the order is had; nil where there is nothing to choose.
    func choice(
        of chosen: [ChosenOption], from own: Entry.Options, for entry: Entry, _ service: ServiceKind?, now: Timestamp
    ) -> Choice {
        var open = openGroups(own.groups, chosen)
        guard !open.isEmpty else {
            if let option = chosen.first { return .gone(option.id) }
            return entry.price(for: service).map { .priced(Choice.Price(one: $0, tax: own.tax)) } ?? .notForSale
        }
        var suspensions = GroupSuspensions()
        var picked: [Picked] = []
        picked.reserveCapacity(chosen.count)
        var size: (id: Identifier, price: Amount)?
        for choice in chosen {
            guard let home = groups.home(of: choice.id),
                let index = open.firstIndex(where: { groups.list[$0.place].id == home.group })
            else { return .gone(choice.id) }
            let place = open[index].place
            // Not copied: it has five references to count.
            let maximum = groups.list[place].options[home.index].maximum
            guard choice.units >= 1, choice.units <= maximum else { return .tooMany(choice.id, maximum: maximum) }
            if suspension(of: groups.list[place].options[home.index], &suspensions)?.holds(at: now) ?? false {
                return .soldOut(choice.id)
            }
            if groups.list[place].setsPrice {
                size = (choice.id, groups.list[place].options[home.index].price(for: service))
            }
            picked.append(Picked(group: index, option: home.index))
            open[index].units += choice.units
        }
        for group in open {
            let (minimum, maximum) = (groups.list[group.place].minimum, groups.list[group.place].maximum)
            guard group.units >= minimum, group.units <= maximum else {
                return .units(ofGroup: groups.list[group.place], chosen: group.units)
            }
        }
        guard let base = size?.price ?? (entry.isPriceFrom ? nil : entry.price(for: service)), base.isRecordable else {
            return .notForSale
        }
        let options = lineOptions(chosen, picked, open, with: size?.id, service)
        // Units and prices are so bounded that no sum overflows.
        var price = base.minorUnits
        for (option, place) in zip(options, picked) where !groups.list[open[place.group].place].setsPrice {
            price += Int64(option.units - option.free) * option.price.minorUnits
        }
        var result = Choice.Price(one: Amount(minorUnits: price), options: options, tax: own.tax)
        if groups.mayHaveTaxes {
            if let tax = size.flatMap({ groups.option($0.id)?.tax }) { result.tax = tax }
            result.parts = parts(of: result, base, own.isCombo, picked, open, service)
        }
        return .priced(result)
    }

    /// The options as a line shows them.
    ///
    /// - Parameter picked: where each of the chosen options stands.
    private func lineOptions(
        _ chosen: [ChosenOption], _ picked: [Picked], _ open: [OpenGroup], with size: Identifier?,
        _ service: ServiceKind?
    ) -> [LineOption] {
        var options: [LineOption] = []
        options.reserveCapacity(chosen.count)
        for (choice, place) in zip(chosen, picked) {
            let group = open[place.group].place
            options.append(
                LineOption(
                    choice.id, name: groups.list[group].options[place.option].name, units: choice.units,
                    price: groups.list[group].options[place.option].price(with: size, for: service)))
        }
        for index in open.indices where open[index].units > 0 {
            var free = groups.list[open[index].place].free
            // The cheapest first, and of equals the first by its id.
            while free > 0,
                let cheapest = options.indices.lazy
                    .filter({ picked[$0].group == index && options[$0].free == 0 })
                    .min(by: { options[$0].price < options[$1].price })
            {
                options[cheapest].free = min(free, options[cheapest].units)
                free -= options[cheapest].free
            }
        }
        return options
    }

    /// What a price is divided among, if not all of it has one tax. An ordinary item costs what it costs, and each option
    /// what it adds. A combo costs less than its parts, and is divided by what these cost alone.
    ///
    /// - Parameter picked: where each of the options stands.
    private func parts(
        of price: Choice.Price, _ base: Amount, _ isCombo: Bool, _ picked: [Picked], _ open: [OpenGroup],
        _ service: ServiceKind?
    ) -> [Bill.Part] {
        var parts = isCombo ? [] : [Bill.Part(base.minorUnits, tax: price.tax)]
        for (chosen, place) in zip(price.options, picked) {
            let group = groups.list[open[place.group].place]
            guard !group.setsPrice else { continue }
            let option = group.options[place.option]
            let item = option.item.flatMap { entries[$0] }
            // A damaged log may have other prices.
            let alone = isCombo ? item?.price(for: service).flatMap { $0.isRecordable ? $0 : nil } : nil
            parts.append(
                Bill.Part(
                    Int64(isCombo ? chosen.units : chosen.units - chosen.free) * (alone ?? chosen.price).minorUnits,
                    tax: option.tax ?? (item == nil ? price.tax : item?.tax)))
        }
        parts.removeAll { $0.weight <= 0 }
        return parts.allSatisfy { $0.tax == price.tax } ? [] : parts
    }

    /// The groups that the item offers, and those that the chosen options open, each once.
    private func openGroups(_ offered: [Identifier], _ chosen: [ChosenOption]) -> [OpenGroup] {
        var open: [OpenGroup] = []
        open.reserveCapacity(offered.count)
        func add(_ group: Identifier) {
            guard let place = groups.place(of: group) else { return }
            open.append(OpenGroup(place: place))
        }
        for group in offered { add(group) }
        var index = 0
        while index < open.count {
            let options = groups.list[open[index].place].options
            for option in options.indices where !options[option].groups.isEmpty {
                guard chosen.contains(where: { $0.id == options[option].id }) else { continue }
                for id in options[option].groups where !open.contains(where: { groups.list[$0.place].id == id }) {
                    add(id)
                }
            }
            index += 1
        }
        return open
    }

    /// What an item costs with these options, even while it is sold out.
    ///
    /// - Parameter chosen: ``Swift/Array/normalized``.
    public func price(
        of item: Identifier, with chosen: [ChosenOption], for service: ServiceKind? = nil, now: Timestamp
    ) -> Choice {
        entries[item].map { choice(of: chosen, from: $0.unpackedOptions, for: $0, service, now: now) } ?? .notForSale
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
        if self.groups.usedUp.contains(option.id) { result = Suspension(until: nil) }
        if let item = option.item {
            result = .both(result, entries[item].map(\.ownSuspension) ?? Suspension(until: nil))
            if usedUpItems.contains(item) { result = Suspension(until: nil) }
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
        if usedUpItems.contains(item.id) { (result.suspension, result.isUsedUp) = (Suspension(until: nil), true) }
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
    public static func both(_ a: Self, _ b: Self) -> Self {
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
