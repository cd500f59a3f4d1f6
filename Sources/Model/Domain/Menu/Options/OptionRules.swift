/// The rules that the groups and the items of a menu must meet for every choice to have one price.
///
/// A change of a menu is checked on the menu that would result: a group that is right by itself can be wrong beside
/// another.
struct OptionRules {
    /// An item, as far as options matter.
    struct Item {
        var id: Identifier
        var hasPrice: Bool
        var options: [Identifier]
        /// Where it stands in the document, for errors: `sections[0].items[2].`.
        var path: String

        init(_ item: MenuItem, at path: String) {
            id = item.id
            hasPrice = item.price != nil
            options = item.options
            self.path = path
        }
    }

    /// The groups with where each stands in the document, for errors: `groups[1].`.
    var groups: [(group: OptionGroup, path: String)]
    /// Every item that has options.
    var items: [Item]
    /// Whether the menu has an item.
    var hasItem: (Identifier) -> Bool

    /// Rejects a menu whose options are not in order, naming the fields.
    func validate() throws(Rejection) {
        var problems = ProblemList()
        try check(&problems)
        try problems.finish()
    }

    /// Notes what is not in order. How the parts belong together is looked at when each is right by itself.
    func check(_ problems: inout ProblemList) throws(Rejection) {
        guard groups.count <= OptionGroups.maximumCount else {
            throw Rejection(.limit, "a menu has at most \(OptionGroups.maximumCount) groups of options")
        }
        var byID: [Identifier: OptionGroup] = [:]
        var sizes: Set<Identifier> = []
        for (group, path) in groups {
            if byID.updateValue(group, forKey: group.id) != nil {
                problems.add("\(path)id: '\(group.id)' is used by another group")
            }
            if group.setsPrice { sizes.formUnion(group.options.lazy.map(\.id)) }
        }
        var taken: Set<Identifier> = []
        for (group, path) in groups {
            try group.check(at: path, &problems)
            for (index, option) in group.options.enumerated() {
                let path = "\(path)options[\(index)]."
                if !taken.insert(option.id).inserted {
                    problems.add("\(path)id: '\(option.id)' is used by another option of the menu")
                }
                try problems.note { () throws(Rejection) in
                    try check(option, of: group, at: path, byID, sizes)
                }
            }
        }
        guard problems.isEmpty else { return }
        for (group, path) in groups where depth(of: group, byID) == nil {
            problems.add(
                "\(path)options: open further groups in a circle, or more than \(OptionGroups.maximumDepth) deep")
        }
        for item in items { try problems.note { () throws(Rejection) in try check(item, byID) } }
    }

    private func check(
        _ option: MenuOption, of group: OptionGroup, at path: String, _ byID: [Identifier: OptionGroup],
        _ sizes: Set<Identifier>
    ) throws(Rejection) {
        for price in option.sizePrices {
            guard !group.setsPrice else { throw .invalid("\(path)prices", "must be left out: the option is a size") }
            guard sizes.contains(price.size) else {
                throw .invalid("\(path)prices.\(price.size)", "is no option of a group that sets the price")
            }
        }
        for service in option.servicePrices.kinds {
            guard let size = Identifier(service.rawValue), sizes.contains(size) else { continue }
            throw .invalid(
                "\(path)prices.\(size)", "is a price of a way to have an order, and the menu has a size of that id")
        }
        if let item = option.item, !hasItem(item) { throw .invalid("\(path)item", "no item '\(item)' in the menu") }
        for (index, id) in option.groups.enumerated() {
            guard let nested = byID[id] else {
                throw .invalid("\(path)groups[\(index)]", "no group '\(id)' in the menu")
            }
            guard !nested.setsPrice else {
                throw .invalid("\(path)groups[\(index)]", "'\(id)' sets the price, which only a group of an item can")
            }
            guard !option.groups[..<index].contains(id) else {
                throw .invalid("\(path)groups[\(index)]", "'\(id)' is there twice")
            }
        }
    }

    private func check(_ item: Item, _ byID: [Identifier: OptionGroup]) throws(Rejection) {
        guard item.options.count <= OptionGroups.maximumOfItem else {
            throw .invalid("\(item.path)options", "must have at most \(OptionGroups.maximumOfItem) entries")
        }
        var sizes: Identifier?
        for (index, id) in item.options.enumerated() {
            let path = "\(item.path)options[\(index)]"
            guard let group = byID[id] else { throw .invalid(.field(path), "no group '\(id)' in the menu") }
            guard !item.options[..<index].contains(id) else { throw .invalid(.field(path), "'\(id)' is there twice") }
            guard group.setsPrice else { continue }
            if let sizes { throw .invalid(.field(path), "both '\(sizes)' and '\(id)' set the price") }
            sizes = id
        }
        if let sizes, item.hasPrice {
            throw .invalid("\(item.path)price", "must be left out: the options of group '\(sizes)' have the prices")
        }
        if sizes == nil, !item.hasPrice, !item.options.isEmpty {
            throw .invalid("\(item.path)options", "need a price, of the item or of a group that sets it")
        }
    }

    /// How many groups follow one another from this one on; nil for more than there may be, as in a circle.
    private func depth(of group: OptionGroup, _ byID: [Identifier: OptionGroup]) -> Int? {
        var level = [group.id] as Set
        for depth in 1...OptionGroups.maximumDepth {
            var next: Set<Identifier> = []
            for id in level {
                for option in byID[id]?.options ?? [] { next.formUnion(option.groups) }
            }
            if next.isEmpty { return depth }
            level = next
        }
        return nil
    }
}

extension OptionGroup {
    /// Whether every number is one that can be worked with, whatever today's bounds are, and no option is there twice.
    var isRecordable: Bool {
        let units = 0...1_000
        return minimum >= 0 && minimum <= maximum && units.contains(maximum) && units.contains(free)
            && options.allSatisfy { option in
                units.contains(option.maximum) && option.maximum > 0 && option.price.isRecordable
                    && option.sizePrices.allSatisfy(\.price.isRecordable)
                    && option.servicePrices.list.allSatisfy(\.value.isRecordable)
            } && Set(options.lazy.map(\.id)).count == options.count
    }

    /// Notes every value out of range by its field below `path` (empty, or ending in a dot).
    fileprivate func check(at path: String, _ problems: inout ProblemList) throws(Rejection) {
        try problems.note { () throws(Rejection) in try TextRules.check(title, "\(path)title", TextRules.name) }
        try problems.note { () throws(Rejection) in try checkNumbers(at: path) }
        let others = problems.count
        for (index, option) in options.enumerated() {
            try problems.note { () throws(Rejection) in
                try option.validate(at: "\(path)options[\(index)].", in: self)
            }
        }
        // Numbers that are out of range may have a sum that there is not.
        guard problems.count == others else { return }
        try problems.note { () throws(Rejection) in try checkSums(at: path) }
    }

    private func checkNumbers(at path: String) throws(Rejection) {
        guard (1...OptionGroup.maximumOptions).contains(options.count) else {
            throw .invalid("\(path)options", "must have 1–\(OptionGroup.maximumOptions) entries")
        }
        try Self.check(maximum, "\(path)max", 1...OptionGroup.maximumUnits)
        try Self.check(minimum, "\(path)min", 0...maximum)
        try Self.check(free, "\(path)free", 0...maximum)
        if setsPrice {
            guard minimum == 1, maximum == 1, free == 0 else {
                throw .invalid("\(path)setsPrice", "needs min 1, max 1 and nothing free: an item has one size")
            }
        }
    }

    private func checkSums(at path: String) throws(Rejection) {
        guard options.reduce(0, { $0 + $1.maximum }) >= minimum else {
            throw .invalid("\(path)min", "cannot be reached: the options allow fewer units together")
        }
        guard options.reduce(0, { $0 + $1.standard }) <= maximum else {
            throw .invalid("\(path)options", "have more units by default than max allows")
        }
    }

    fileprivate static func check(_ value: Int, _ field: @autoclosure () -> String, _ range: ClosedRange<Int>)
        throws(Rejection)
    {
        guard range.contains(value) else {
            throw .invalid(.field(field()), "must be from \(range.lowerBound) to \(range.upperBound), is \(value)")
        }
    }
}

extension MenuOption {
    fileprivate func validate(at path: String, in group: OptionGroup) throws(Rejection) {
        try TextRules.check(name, "\(path)name", TextRules.name)
        try price.check("\(path)price")
        for (index, price) in sizePrices.enumerated() {
            guard !sizePrices[..<index].contains(where: { $0.size == price.size }) else {
                throw .invalid("\(path)prices.\(price.size)", "is there twice")
            }
            try price.price.check("\(path)prices.\(price.size)")
        }
        for (service, price) in servicePrices.list { try price.check("\(path)prices.\(service.rawValue)") }
        guard sizePrices.count <= OptionGroup.maximumOptions else {
            throw .invalid("\(path)prices", "must have at most \(OptionGroup.maximumOptions) entries")
        }
        try OptionGroup.check(maximum, "\(path)max", 1...OptionGroup.maximumUnits)
        try OptionGroup.check(standard, "\(path)default", 0...maximum)
        guard groups.count <= MenuOption.maximumGroups else {
            throw .invalid("\(path)groups", "must have at most \(MenuOption.maximumGroups) entries")
        }
    }
}
