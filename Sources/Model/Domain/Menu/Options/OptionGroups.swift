/// The groups of options of a menu, by their ids.
public struct OptionGroups: Equatable, Sendable {
    /// The most groups of a menu.
    public static let maximumCount = 500
    /// The most groups that an item offers.
    public static let maximumOfItem = 20
    /// How many groups can follow one another: an option of the last opens no further group.
    public static let maximumDepth = 3

    /// Where an option stands.
    struct Home: Equatable, Sendable {
        let group: Identifier
        /// Its index in the group.
        let index: Int
    }

    /// The groups, in the order of their ids.
    public private(set) var list: [OptionGroup] = []
    private var homes: [Identifier: Home] = [:]
    /// Options that are sold out.
    public private(set) var suspensions: [Identifier: MenuState.Suspension] = [:]
    /// Options of which nothing is left.
    public private(set) var usedUp: Set<Identifier> = []
    /// The items that offer each group.
    private var users: [Identifier: Set<Identifier>] = [:]
    /// The groups with an option that is this item.
    private var links: [Identifier: Set<Identifier>] = [:]
    /// About the bytes of them all as JSON.
    private(set) var bytes = 0
    /// The options that may have another tax than what they are chosen with.
    private var taxedOptions = 0

    /// Whether there are none.
    public var isEmpty: Bool { list.isEmpty }

    /// Whether an option may have another tax than what it is chosen with.
    var mayHaveTaxes: Bool { taxedOptions > 0 }

    /// The group of that id, if there is one.
    public subscript(id: Identifier) -> OptionGroup? {
        place(of: id).map { list[$0] }
    }

    /// The place of a group in ``list``, if there is one of that id.
    func place(of id: Identifier) -> Int? {
        let index = index(of: id)
        return index < list.count && list[index].id == id ? index : nil
    }

    /// The option of that id, if there is one.
    public func option(_ id: Identifier) -> MenuOption? {
        homes[id].flatMap { home in self[home.group]?.options[home.index] }
    }

    /// Where an option stands, if there is one of that id.
    func home(of option: Identifier) -> Home? { homes[option] }

    /// Whether an option is one of a group that sets the price.
    func isSize(_ option: Identifier) -> Bool { homes[option].flatMap { self[$0.group] }?.setsPrice ?? false }

    /// The options of all other groups that set the price.
    func sizes(besides group: Identifier) -> Set<Identifier> {
        list.reduce(into: []) { if $1.id != group { $0.formUnion($1.sizes) } }
    }

    private func index(of id: Identifier) -> Int {
        var (low, high) = (0, list.count)
        while low < high {
            let middle = (low + high) / 2
            if list[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Changes

    /// Adds a group, or puts it in the place of the one of that id. Options that it no longer has are no longer sold
    /// out.
    mutating func put(_ group: OptionGroup) {
        let old = self[group.id]
        bytes += group.bytes - (old?.bytes ?? 0)
        if let old { forget(old) }
        for (index, option) in group.options.enumerated() {
            homes[option.id] = Home(group: group.id, index: index)
            if let item = option.item { links[item, default: []].insert(group.id) }
            if option.mayHaveTax { taxedOptions += 1 }
        }
        for option in old?.options ?? [] where homes[option.id] == nil { resume(option.id) }
        let index = index(of: group.id)
        if old == nil { list.insert(group, at: index) } else { list[index] = group }
    }

    mutating func remove(_ id: Identifier) {
        guard let old = self[id] else { return }
        bytes -= old.bytes
        list.remove(at: index(of: id))
        forget(old)
        for option in old.options { resume(option.id) }
    }

    private mutating func resume(_ option: Identifier) {
        suspensions[option] = nil
        usedUp.remove(option)
    }

    private mutating func forget(_ group: OptionGroup) {
        for option in group.options {
            homes[option.id] = nil
            if let item = option.item { links.remove(group.id, at: item) }
            if option.mayHaveTax { taxedOptions -= 1 }
        }
    }

    mutating func reprice(_ option: Identifier, _ price: Amount, with size: Identifier?) {
        change(option) { option in
            guard let size else {
                option.price = price
                return
            }
            option.sizePrices.removeAll { $0.size == size }
            option.sizePrices.append(MenuOption.SizePrice(size, price))
            option.sizePrices.sort { $0.size < $1.size }
        }
    }

    private mutating func change(_ id: Identifier, _ body: (inout MenuOption) -> Void) {
        guard let home = homes[id], var group = self[home.group] else { return }
        body(&group.options[home.index])
        put(group)
    }

    mutating func suspend(_ option: Identifier, _ suspension: MenuState.Suspension?, by party: Menu.Suspender) {
        switch party {
        case .merchant: suspensions[option] = suspension
        case .stock: if suspension == nil { usedUp.remove(option) } else { usedUp.insert(option) }
        }
    }

    /// Notes which groups an item offers now, and which before.
    mutating func note(_ item: Identifier, offers groups: [Identifier], before: [Identifier]) {
        for group in before { users.remove(item, at: group) }
        for group in groups { users[group, default: []].insert(item) }
    }

    // MARK: Who depends on whom

    /// The items that offer some of these groups, directly or behind an option.
    func items(offering groups: Set<Identifier>) -> Set<Identifier> {
        var reached = groups
        // Each round reaches one level further up.
        for _ in 1..<OptionGroups.maximumDepth {
            let above = list.filter { group in
                !reached.contains(group.id)
                    && group.options.contains { option in option.groups.contains { reached.contains($0) } }
            }
            if above.isEmpty { break }
            reached.formUnion(above.map(\.id))
        }
        return reached.reduce(into: []) { $0.formUnion(users[$1] ?? []) }
    }

    /// The groups with an option that is this item.
    func groups(with item: Identifier) -> Set<Identifier> { links[item] ?? [] }

    /// Whether an item, an option or the price of an option names the group.
    func isNamed(_ group: OptionGroup) -> Bool {
        if users[group.id] != nil { return true }
        let options = Set(group.options.map(\.id))
        return list.contains { other in
            other.id != group.id
                && other.options.contains { option in
                    option.groups.contains(group.id) || option.sizePrices.contains { options.contains($0.size) }
                }
        }
    }
}

extension MenuOption {
    /// Whether it may have another tax than what it is chosen with.
    fileprivate var mayHaveTax: Bool { tax != nil || item != nil }
}

extension [Identifier: Set<Identifier>] {
    /// Removes one of the ids at a key, and the key with the last of them.
    fileprivate mutating func remove(_ id: Identifier, at key: Identifier) {
        self[key]?.remove(id)
        if self[key]?.isEmpty == true { self[key] = nil }
    }
}
