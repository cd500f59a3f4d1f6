/// The head of a section: everything but its items.
public struct SectionHeader: Equatable, Sendable {
    /// Unique in the menu.
    public var id: Identifier
    /// What stands above it, and on its chip in the tag bar.
    public var title: Text
    /// The registered name of its ``SectionKind``.
    public var kind: Text
    /// How its items are laid out.
    public var layout: Layout
    /// Whether its header stays on the screen while its items scroll.
    public var sticky: Bool
    /// The part of the day in which its items can be had, unless they name another; nil for any time.
    public var daypart: Identifier?

    /// The head of a section.
    public init(
        id: Identifier, title: Text, kind: Text, layout: Layout, sticky: Bool = false, daypart: Identifier? = nil
    ) {
        self.id = id
        self.title = title
        self.kind = kind
        self.layout = layout
        self.sticky = sticky
        self.daypart = daypart
    }

    /// The bytes of all its texts.
    var bytes: Int {
        id.rawValue.utf8.count + title.utf8.count + kind.utf8.count + layout.style.utf8.count
            + (daypart?.rawValue.utf8.count ?? 0)
    }

    /// Rejects a header with a value out of range, naming the field below `path` (empty, or ending in a dot).
    func validate(at path: String) throws(Rejection) {
        try TextRules.check(title, "\(path)title", TextRules.name)
        try TextRules.check(kind, "\(path)kind", TextRules.name)
        guard SectionKind.named(kind) != nil else {
            let known = SectionKind.all.map(\.name.string).joined(separator: ", ")
            throw .invalid("\(path)kind", "unknown section kind '\(kind)'; known are \(known)")
        }
        try TextRules.check(layout.style, "\(path)layout.style", TextRules.name)
        guard let style = LayoutStyle.named(layout.style) else {
            let known = LayoutStyle.all.map(\.name.string).joined(separator: ", ")
            throw .invalid("\(path)layout.style", "unknown style '\(layout.style)'; known are \(known)")
        }
        let (fits, needs) =
            switch style.cards {
            case .none: (layout.cardSize == nil && layout.minimumWidth == nil, "has no width, height or minimumWidth")
            case .size: (layout.cardSize != nil && layout.minimumWidth == nil, "needs a width and a height alone")
            case .minimumWidth: (layout.cardSize == nil && layout.minimumWidth != nil, "needs a minimumWidth alone")
            }
        guard fits else { throw .invalid("\(path)layout", "style '\(style.name)' \(needs)") }
        if let width = layout.minimumWidth, !Layout.CardSize.range.contains(width) {
            let range = Layout.CardSize.range
            throw .invalid(
                "\(path)layout.minimumWidth", "must be from \(range.lowerBound) to \(range.upperBound) points")
        }
    }
}

/// A section with its items: a part of a ``MenuDocument``.
public struct MenuSection: Equatable, Sendable {
    /// Everything but the items.
    public var header: SectionHeader
    /// The items in their order.
    public var items: [MenuItem]

    /// A section with its items.
    public init(header: SectionHeader, items: [MenuItem]) {
        self.header = header
        self.items = items
    }
}

/// A whole menu, as a merchant writes it.
public struct MenuDocument: Equatable, Sendable {
    /// The sections in their order.
    public var sections: [MenuSection]
    /// The groups of options that its items offer, in any order.
    public var groups: [OptionGroup]

    /// A menu of these sections.
    public init(sections: [MenuSection], groups: [OptionGroup] = []) {
        self.sections = sections
        self.groups = groups
    }

    /// The bytes of all its texts.
    var bytes: Int {
        sections.reduce(groups.reduce(0) { $0 + $1.bytes }) {
            $0 + $1.header.bytes + $1.items.reduce(0) { $0 + $1.bytes }
        }
    }

    /// The menu with prices of sizes where its groups have sizes that are called as ways to have an order.
    var sizesTakingPrices: MenuDocument {
        let sizes = groups.reduce(into: Set<Identifier>()) { $0.formUnion($1.sizes) }
        guard ServiceKind.allCases.contains(where: { Identifier($0.rawValue).map(sizes.contains) ?? false }) else {
            return self
        }
        return MenuDocument(sections: sections, groups: groups.map { $0.taking(sizes) })
    }

    /// Rejects a menu with values out of range, or ids used twice, naming the fields.
    func validate() throws(Rejection) {
        var problems = ProblemList()
        var sectionIDs: Set<Identifier> = []
        var itemIDs: Set<Identifier> = []
        for (s, section) in sections.enumerated() {
            let path = "sections[\(s)]."
            try problems.note { () throws(Rejection) in try section.header.validate(at: path) }
            if !sectionIDs.insert(section.header.id).inserted {
                problems.add("\(path)id: '\(section.header.id)' is used by another section")
            }
            for (i, item) in section.items.enumerated() {
                let path = "\(path)items[\(i)]."
                try item.check(at: path, &problems)
                if !itemIDs.insert(item.id).inserted {
                    problems.add("\(path)id: '\(item.id)' is used by another item")
                }
            }
        }
        try Menu.checkSize(sections: sectionIDs.count, items: itemIDs.count)
        try Menu.checkAttributes(
            names: sections.reduce(into: Set()) { names, section in
                for item in section.items { names.formUnion(item.attributes.list.lazy.map(\.name)) }
            }.count)
        try optionRules(hasItem: itemIDs.contains)?.check(&problems)
        try problems.finish()
    }

    /// The rules for its options; nil where it has none.
    private func optionRules(hasItem: @escaping (Identifier) -> Bool) -> OptionRules? {
        let items = sections.enumerated().flatMap { s, section in
            section.items.enumerated().filter { !$1.options.isEmpty }.map { i, item in
                OptionRules.Item(item, at: "sections[\(s)].items[\(i)].")
            }
        }
        if items.isEmpty, groups.isEmpty { return nil }
        return OptionRules(
            groups: groups.enumerated().map { ($1, "groups[\($0)].") }, items: items, hasItem: hasItem)
    }
}
