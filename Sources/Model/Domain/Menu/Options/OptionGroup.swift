/// Options that belong together, such as the sizes of a drink or what can be put on a burger. Items name the groups
/// that they offer; one group can belong to many items.
public struct OptionGroup: Equatable, Sendable {
    /// The most options of a group.
    public static let maximumOptions = 50
    /// The most units that a group can ask for or allow.
    public static let maximumUnits = 99

    /// Unique among the groups of the menu.
    public var id: Identifier
    /// What stands above its options.
    public var title: Text
    /// The fewest units of its options that are to be chosen.
    public var minimum: Int
    /// The most units of its options that can be chosen.
    public var maximum: Int
    /// How many units cost nothing: those that cost the least.
    public var free: Int
    /// Whether the chosen option's price takes the place of the item's: its options are sizes.
    public var setsPrice: Bool
    /// The options, in their order.
    public var options: [MenuOption]

    /// A group of options.
    public init(
        id: Identifier, title: Text, minimum: Int = 0, maximum: Int = 1, free: Int = 0, setsPrice: Bool = false,
        options: [MenuOption]
    ) {
        self.id = id
        self.title = title
        self.minimum = minimum
        self.maximum = maximum
        self.free = free
        self.setsPrice = setsPrice
        self.options = options
    }

    /// Whether an option names a tax.
    public var namesTax: Bool { options.contains { $0.tax != nil } }

    /// Its options, if they are sizes.
    var sizes: Set<Identifier> { setsPrice ? Set(options.lazy.map(\.id)) : [] }

    /// The group with the options that ``MenuOption/taking(_:)`` makes of its own.
    func taking(_ sizes: Set<Identifier>) -> OptionGroup {
        var group = self
        group.options = options.map { $0.taking(sizes) }
        return group
    }

    /// About the bytes of the group as JSON.
    var bytes: Int { options.reduce(60 + id.rawValue.utf8.count + title.utf8.count) { $0 + $1.bytes } }
}

/// Something that can be chosen with an item.
public struct MenuOption: Equatable, Sendable {
    /// The most groups that open with an option.
    public static let maximumGroups = 20

    /// A price that the option has where a size is chosen.
    public struct SizePrice: Equatable, Sendable {
        /// The option that is the size.
        public var size: Identifier
        /// What one unit costs with it.
        public var price: Amount

        /// A price with a size.
        public init(_ size: Identifier, _ price: Amount) {
            self.size = size
            self.price = price
        }
    }

    /// Unique among all options of the menu.
    public var id: Identifier
    /// What it is called.
    public var name: Text
    /// What one unit costs; of a size, what the item costs in it.
    public var price: Amount
    /// Other prices where a size is chosen, in the order of the sizes' ids.
    public var sizePrices: [SizePrice]
    /// What one unit costs where orders are had in some ways. A price with a size goes before it.
    public var servicePrices: ByService<Amount>
    /// The item of the menu that it is: while that is sold out, so is the option, and its tax is the option's.
    public var item: Identifier?
    /// The tax of its outlet that is on what it costs; nil for that of ``item``, or else of the item that it is chosen with.
    public var tax: Identifier?
    /// The units that a client chooses before the customer does.
    public var standard: Int
    /// The most units of it.
    public var maximum: Int
    /// The groups that open where it is chosen, in their order.
    public var groups: [Identifier]

    /// An option.
    public init(
        id: Identifier, name: Text, price: Amount = .zero, sizePrices: [SizePrice] = [], item: Identifier? = nil,
        standard: Int = 0, maximum: Int = 1, groups: [Identifier] = [],
        servicePrices: ByService<Amount> = ByService(), tax: Identifier? = nil
    ) {
        self.id = id
        self.name = name
        self.price = price
        self.sizePrices = sizePrices.sorted { $0.size < $1.size }
        self.servicePrices = servicePrices
        self.item = item
        self.standard = standard
        self.maximum = maximum
        self.groups = groups
        self.tax = tax
    }

    /// What one unit costs with a size, or without one, where an order is had in a way.
    func price(with size: Identifier?, for service: ServiceKind?) -> Amount {
        size.flatMap { size in sizePrices.first { $0.size == size }?.price } ?? price(for: service)
    }

    /// What one unit costs where an order is had in a way, or in any way if that is nil.
    func price(for service: ServiceKind?) -> Amount { service.flatMap { servicePrices[$0] } ?? price }

    /// The option with a price for each of these sizes that is called as a way to have an order: prices have the ids of
    /// sizes and the names of ways in one object, and an id goes before a name.
    func taking(_ sizes: Set<Identifier>) -> MenuOption {
        var option = self
        for (service, price) in servicePrices.list {
            guard let size = Identifier(service.rawValue), sizes.contains(size) else { continue }
            option.servicePrices[service] = nil
            option.sizePrices.append(SizePrice(size, price))
        }
        option.sizePrices.sort { $0.size < $1.size }
        return option
    }

    fileprivate var bytes: Int {
        let texts =
            60 + id.rawValue.utf8.count + name.utf8.count + (item?.rawValue.utf8.count ?? 0)
            + (tax?.rawValue.utf8.count ?? 0)
        return groups.reduce(texts) { $0 + $1.rawValue.utf8.count } + sizePrices.count * 30
            + servicePrices.kinds.count * 30
    }
}

/// Some units of an option, as a customer chooses them.
public struct ChosenOption: Hashable, Sendable {
    /// The option.
    public var id: Identifier
    /// How many units, from 1.
    public var units: Int

    /// Some units of an option.
    public init(_ id: Identifier, units: Int = 1) {
        self.id = id
        self.units = units
    }
}

/// Some units of an option on the line of a cart or an order.
public struct LineOption: Equatable, Sendable {
    /// The option.
    public var id: Identifier
    /// What it was called.
    public var name: Text
    /// How many units, from 1.
    public var units: Int
    /// What one unit cost; of a size, what the item cost in it.
    public var price: Amount
    /// How many of the units cost nothing.
    public var free: Int

    /// Some units of an option.
    public init(_ id: Identifier, name: Text, units: Int = 1, price: Amount = .zero, free: Int = 0) {
        self.id = id
        self.name = name
        self.units = units
        self.price = price
        self.free = free
    }

    /// What was chosen.
    public var chosen: ChosenOption { ChosenOption(id, units: units) }
}

extension [ChosenOption] {
    /// The same choice as every other that says the same: each option once, in the order of the ids.
    public var normalized: [ChosenOption] {
        guard count > 1 else { return self }
        var result: [ChosenOption] = []
        for option in sorted(by: { $0.id < $1.id }) {
            if let last = result.last, last.id == option.id {
                let (units, overflow) = last.units.addingReportingOverflow(option.units)
                result[result.count - 1].units = overflow ? .max : units
            } else {
                result.append(option)
            }
        }
        return result
    }
}
