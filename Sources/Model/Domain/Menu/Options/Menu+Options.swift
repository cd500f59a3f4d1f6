// What a merchant asks of groups of options.

extension Menu {
    static func put(_ group: OptionGroup, in state: MenuState) throws(Rejection) -> [Event] {
        let old = state.groups[group.id]
        if old == group { return [] }
        try state.optionRules(for: state.itemsWithOptions, putting: group).validate()
        try checkBytes(state.bytes - (old?.bytes ?? 0) + group.bytes, in: state)
        return [.groupPut(group)]
    }

    static func removeGroup(_ id: Identifier, in state: MenuState) throws(Rejection) -> [Event] {
        guard let group = state.groups[id] else { throw Rejection(.notFound, "no group '\(id)' in the menu") }
        guard !state.groups.isNamed(group) else {
            throw Rejection(.state, "items or options of the menu name group '\(id)'; change them first")
        }
        return [.groupRemoved(id)]
    }

    static func repriceOption(
        _ id: Identifier, _ price: Amount, with size: Identifier?, in state: MenuState
    ) throws(Rejection) -> [Event] {
        let option = try option(id, in: state)
        try price.check("price")
        guard let size else { return option.price == price ? [] : [.optionRepriced(id, price, size: nil)] }
        guard state.groups.isSize(size) else {
            throw .invalid(.size, "'\(size)' is no option of a group that sets the price")
        }
        guard !state.groups.isSize(id) else { throw .invalid(.size, "must be left out: '\(id)' is a size itself") }
        let old = option.sizePrices.first { $0.size == size }
        guard old != nil || option.sizePrices.count < OptionGroup.maximumOptions else {
            throw Rejection(.limit, "an option has at most \(OptionGroup.maximumOptions) prices")
        }
        return old?.price == price ? [] : [.optionRepriced(id, price, size: size)]
    }

    static func suspendOption(
        _ id: Identifier, until: Timestamp?, now: Timestamp, in state: MenuState
    ) throws(Rejection) -> [Event] {
        _ = try option(id, in: state)
        if let until, until <= now { throw .invalid(.until, "must lie in the future") }
        let suspension = MenuState.Suspension(until: until)
        return state.groups.suspensions[id] == suspension ? [] : [.optionSuspended(id, until: until)]
    }

    static func resumeOption(_ id: Identifier, in state: MenuState) throws(Rejection) -> [Event] {
        _ = try option(id, in: state)
        return state.groups.suspensions[id] == nil ? [] : [.optionResumed(id)]
    }

    /// What follows for the menu where something is sold out because nothing is left of it, or no longer.
    static func follow(_ change: StockChange, in state: MenuState) -> Event? {
        guard let id = Identifier(change.key.id.string) else { return nil }
        switch change.key.kind {
        case .item:
            guard state.entries[id] != nil, state.usedUpItems.contains(id) != change.isSoldOut else { return nil }
            return change.isSoldOut ? .itemSuspended(id, until: nil, by: .stock) : .itemResumed(id, by: .stock)
        case .option:
            guard state.groups.home(of: id) != nil, state.groups.usedUp.contains(id) != change.isSoldOut
            else { return nil }
            return change.isSoldOut ? .optionSuspended(id, until: nil, by: .stock) : .optionResumed(id, by: .stock)
        case .slot, .promotion, .customer: return nil
        }
    }

    private static func option(_ id: Identifier, in state: MenuState) throws(Rejection) -> MenuOption {
        guard let option = state.groups.option(id) else { throw Rejection(.notFound, "no option '\(id)' in the menu") }
        return option
    }

    /// Refuses to remove an item that is an option.
    static func checkUnlinked(_ item: Identifier, in state: MenuState) throws(Rejection) {
        guard let group = state.groups.groups(with: item).min() else { return }
        throw Rejection(.state, "item '\(item)' is an option of group '\(group)'; change the group first")
    }
}

extension MenuState {
    /// Every item that offers options.
    fileprivate var itemsWithOptions: [OptionRules.Item] {
        entries.values.lazy.filter(\.hasOptions).map { OptionRules.Item($0.item, at: "items.\($0.id).") }
    }

    /// The rules for the options of this menu.
    ///
    /// - Parameters:
    ///   - items: those that are to be checked.
    ///   - item: one that the menu has, too.
    ///   - group: one that takes the place of the group of its id.
    func optionRules(
        for items: [OptionRules.Item], adding item: Identifier? = nil, putting group: OptionGroup? = nil
    ) -> OptionRules {
        var groups = groups.list.filter { $0.id != group?.id }.map { ($0, "groups.\($0.id).") }
        if let group { groups.append((group, "")) }
        return OptionRules(groups: groups, items: items, hasItem: { $0 == item || entries[$0] != nil })
    }
}
