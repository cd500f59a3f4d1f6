/// What a menu's events amount to: sections in order, and items by their id.
public struct MenuState: Equatable, Sendable {
    /// A section's place: its head, and the ids of its items in order.
    public struct Section: Equatable, Sendable {
        /// Everything but the items.
        public var header: SectionHeader
        /// The ids of its items, in order.
        public var items: [Identifier]
    }

    /// An item that is sold out, until a moment or until somebody resumes it.
    public struct Suspension: Equatable, Sendable {
        /// When it can be had again by itself.
        public var until: Timestamp?

        /// Sold out until that moment, or until resumed.
        public init(until: Timestamp?) {
            self.until = until
        }

        /// Whether it still holds.
        public func holds(at now: Timestamp) -> Bool { until.map { now < $0 } ?? true }
    }

    /// The sections in their order.
    public internal(set) var sections: [Section] = []
    /// Every item of every section.
    public internal(set) var entries = Entries()
    /// The groups of options that the items offer.
    public internal(set) var groups = OptionGroups()
    /// Items of which nothing is left.
    public internal(set) var usedUpItems: Set<Identifier> = []
    /// The result of the last check of the source that it is imported from, if there is one.
    public internal(set) var feed: FeedCheck?
    /// Everything of which nothing is left.
    public var usedUp: [Claim.Key] { usedUpItems.map(Claim.Key.item) + groups.usedUp.map(Claim.Key.option) }

    /// The bytes of the texts of the sections, without their items.
    var sectionBytes = 0

    /// The bytes of all texts of the sections, items and groups: their ids and everything that a merchant describes
    /// them with.
    public var bytes: Int { sectionBytes + entries.bytes + groups.bytes }

    /// The menu as a merchant would write it.
    public var document: MenuDocument {
        MenuDocument(
            sections: sections.map { section in
                MenuSection(header: section.header, items: section.items.compactMap { entries[$0]?.item })
            }, groups: groups.list)
    }

    func sectionIndex(_ id: Identifier) -> Int? { sections.firstIndex { $0.header.id == id } }

    func sectionIndex(holding item: Identifier) -> Int? { entries[item].flatMap { sectionIndex($0.section) } }
}
