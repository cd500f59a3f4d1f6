/// The menu of an outlet: sections of items, changed as a whole or piece by piece.
public enum Menu: Decider {
    /// The most sections of a menu.
    public static let maximumSections = 100
    /// The most items of a menu.
    public static let maximumItems = 5_000
    /// The most bytes of the document of a whole menu, wherever it comes from: enough for every menu within the other
    /// limits, also as programs write it that escape whatever is not ASCII.
    public static let maximumDocumentBytes = 32 << 20
    /// The most bytes that the texts and attributes of a menu's sections and items have together: few enough for the
    /// home to be sent as one reply.
    public static let maximumBytes = 8 << 20
    /// The most different names that the attributes of a menu's items have: each has indexes of its own.
    public static let maximumAttributeNames = 200

    // MARK: Commands

    /// What a merchant asks of a menu.
    public enum Command: Equatable, Sendable {
        /// Makes the menu read like this, by the smallest set of changes. Suspensions stay as they are. Items and
        /// options name no tax but one of the outlet's, and items and sections no daypart; nil where these are not known.
        case put(MenuDocument, taxes: Set<Identifier>? = nil, dayparts: Set<Identifier>? = nil)
        /// Adds or changes a section; `before` moves it in front of another. For its daypart see
        /// ``put(_:taxes:dayparts:)``.
        case putSection(SectionHeader, before: Identifier?, dayparts: Set<Identifier>? = nil)
        /// Removes a section with its items.
        case removeSection(Identifier)
        /// Adds or changes an item; `before` moves it in front of another of the section. For its tax and daypart see
        /// ``put(_:taxes:dayparts:)``.
        case putItem(
            MenuItem, section: Identifier, before: Identifier?, taxes: Set<Identifier>? = nil,
            dayparts: Set<Identifier>? = nil)
        case removeItem(Identifier)
        case reprice(Identifier, Amount)
        /// Marks an item as sold out, until a moment after `now` or until it is resumed.
        case suspend(Identifier, until: Timestamp?, now: Timestamp)
        case resume(Identifier)
        /// Adds a group of options, or puts it in the place of the one of that id. For its options' taxes see
        /// ``put(_:taxes:dayparts:)``.
        case putGroup(OptionGroup, taxes: Set<Identifier>? = nil)
        /// Removes a group that nothing names.
        case removeGroup(Identifier)
        /// Sets what one unit of an option costs, or costs with a size.
        case repriceOption(Identifier, Amount, size: Identifier?)
        /// Marks an option as sold out, until a moment after `now` or until it is resumed.
        case suspendOption(Identifier, until: Timestamp?, now: Timestamp)
        case resumeOption(Identifier)
        /// Marks as sold out what nothing is left of, and takes that back. What the menu does not have is passed over.
        case followStock([StockChange])
        /// Says what came of looking at the menu's source.
        case checkFeed(FeedCheck)
    }

    // MARK: Events

    /// What happened to a menu. Where `before` is absent, the place is the last.
    public enum Event: Equatable, Sendable {
        case sectionAdded(SectionHeader, before: Identifier?)
        case sectionChanged(SectionHeader)
        case sectionMoved(Identifier, before: Identifier?)
        case sectionRemoved(Identifier)
        case itemAdded(MenuItem, section: Identifier, before: Identifier?)
        case itemChanged(MenuItem)
        case itemMoved(Identifier, section: Identifier, before: Identifier?)
        case itemRemoved(Identifier)
        case itemRepriced(Identifier, Amount)
        case itemSuspended(Identifier, until: Timestamp?, by: Suspender = .merchant)
        case itemResumed(Identifier, by: Suspender = .merchant)
        case groupPut(OptionGroup)
        case groupRemoved(Identifier)
        case optionRepriced(Identifier, Amount, size: Identifier?)
        case optionSuspended(Identifier, until: Timestamp?, by: Suspender = .merchant)
        case optionResumed(Identifier, by: Suspender = .merchant)
        case feedChecked(FeedCheck)
    }

    /// Who says that something is sold out. Each takes back only what it has said itself.
    public enum Suspender: String, Sendable {
        case merchant
        /// Nothing is left of what the outlet has counted.
        case stock
    }

    // MARK: State

    public typealias State = MenuState

    /// No sections.
    public static let initial = MenuState()

    // MARK: Decide

    public static func decide(_ command: Command, in state: MenuState) throws(Rejection) -> [Event] {
        switch command {
        case .put(let document, let taxes, let dayparts):
            let document = document.sizesTakingPrices
            try document.validate()
            for (index, section) in document.sections.enumerated() {
                try check(daypart: section.header.daypart, "sections[\(index)].daypart", among: dayparts)
                for (place, item) in section.items.enumerated() {
                    try check(item.tax, "sections[\(index)].items[\(place)].tax", among: taxes)
                    try check(daypart: item.daypart, "sections[\(index)].items[\(place)].daypart", among: dayparts)
                }
            }
            for (index, group) in document.groups.enumerated() {
                try check(group, "groups[\(index)].", among: taxes)
            }
            try checkBytes(document.bytes, in: state)
            return state.events(leadingTo: document)

        case .putSection(let header, let before, let dayparts):
            try header.validate(at: "")
            try check(daypart: header.daypart, "daypart", among: dayparts)
            return try put(header, before: before, in: state)

        case .removeSection(let id):
            guard let index = state.sectionIndex(id) else { throw noSuchSection(id) }
            for item in state.sections[index].items { try checkUnlinked(item, in: state) }
            return [.sectionRemoved(id)]

        case .putItem(let item, let section, let before, let taxes, let dayparts):
            try item.validate()
            try check(item.tax, "tax", among: taxes)
            try check(daypart: item.daypart, "daypart", among: dayparts)
            return try put(item, section: section, before: before, in: state)

        case .removeItem(let id):
            guard state.entries[id] != nil else { throw noSuchItem(id) }
            try checkUnlinked(id, in: state)
            return [.itemRemoved(id)]

        case .reprice(let id, let price):
            guard let entry = state.entries[id] else { throw noSuchItem(id) }
            try price.check("price")
            guard !entry.isPriceFrom else {
                throw Rejection(
                    .state, "item '\(id)' has sizes, which have the prices", allowed: [.priceOption])
            }
            return entry.item.price == price ? [] : [.itemRepriced(id, price)]

        case .suspend(let id, let until, let now):
            guard let entry = state.entries[id] else { throw noSuchItem(id) }
            if let until, until <= now { throw .invalid(.until, "must lie in the future") }
            return entry.ownSuspension == MenuState.Suspension(until: until) ? [] : [.itemSuspended(id, until: until)]

        case .resume(let id):
            guard let entry = state.entries[id] else { throw noSuchItem(id) }
            return entry.ownSuspension == nil ? [] : [.itemResumed(id)]

        case .putGroup(let group, let taxes):
            try check(group, "", among: taxes)
            let sizes = state.groups.sizes(besides: group.id).union(group.sizes)
            return try put(group.taking(sizes), in: state)
        case .removeGroup(let id): return try removeGroup(id, in: state)
        case .repriceOption(let id, let price, let size):
            return try repriceOption(id, price, with: size, in: state)
        case .suspendOption(let id, let until, let now):
            return try suspendOption(id, until: until, now: now, in: state)
        case .resumeOption(let id): return try resumeOption(id, in: state)
        case .followStock(let changes): return changes.compactMap { follow($0, in: state) }

        case .checkFeed(let check):
            try check.validate()
            let check = check.recorded(after: state.feed, menuIsEmpty: state.entries.count == 0)
            if let last = state.feed, check.repeats(last) { return [] }
            return [.feedChecked(check)]
        }
    }

    private static func put(
        _ header: SectionHeader, before: Identifier?, in state: MenuState
    ) throws(Rejection) -> [Event] {
        if let before {
            guard before != header.id else { throw .invalid(.before, "names the section itself") }
            guard state.sectionIndex(before) != nil else { throw noSuchSection(before) }
        }
        let index = state.sectionIndex(header.id)
        let oldBytes = index.map { state.sections[$0].header.bytes } ?? 0
        try checkBytes(state.bytes - oldBytes + header.bytes, in: state)
        guard let index else {
            try checkSize(sections: state.sections.count + 1, items: state.entries.count)
            return [.sectionAdded(header, before: before)]
        }
        var events: [Event] = []
        if state.sections[index].header != header { events.append(.sectionChanged(header)) }
        if let before, !state.sections.map(\.header.id).has(header.id, rightBefore: before) {
            events.append(.sectionMoved(header.id, before: before))
        }
        return events
    }

    private static func put(
        _ item: MenuItem, section: Identifier, before: Identifier?, in state: MenuState
    ) throws(Rejection) -> [Event] {
        guard let target = state.sectionIndex(section) else { throw noSuchSection(section) }
        if let before {
            guard before != item.id else { throw .invalid(.before, "names the item itself") }
            guard state.sections[target].items.contains(before) else {
                throw Rejection(.notFound, "no item '\(before)' in section '\(section)'")
            }
        }
        let entry = state.entries[item.id]
        if !item.options.isEmpty {
            try state.optionRules(for: [OptionRules.Item(item, at: "")], adding: item.id).validate()
        }
        try checkBytes(state.bytes - (entry?.bytes ?? 0) + item.bytes, in: state)
        try checkAttributes(names: state.entries.attributeNames(replacing: entry, with: item))
        guard let old = entry?.item else {
            try checkSize(sections: state.sections.count, items: state.entries.count + 1)
            return [.itemAdded(item, section: section, before: before)]
        }
        var events = old.events(changingTo: item)
        let moves =
            state.sectionIndex(holding: item.id) != target
            || before.map { !state.sections[target].items.has(item.id, rightBefore: $0) } ?? false
        if moves { events.append(.itemMoved(item.id, section: section, before: before)) }
        return events
    }

    private static func check(
        _ tax: Identifier?, _ field: @autoclosure () -> String, among taxes: Set<Identifier>?
    ) throws(Rejection) {
        guard let tax, let taxes, !taxes.contains(tax) else { return }
        throw .invalid(.field(field()), "the outlet has no tax '\(tax)'")
    }

    private static func check(
        daypart: Identifier?, _ field: @autoclosure () -> String, among dayparts: Set<Identifier>?
    ) throws(Rejection) {
        guard let daypart, let dayparts, !dayparts.contains(daypart) else { return }
        throw .invalid(.field(field()), "the outlet has no daypart '\(daypart)'")
    }

    private static func check(
        _ group: OptionGroup, _ path: @autoclosure () -> String, among taxes: Set<Identifier>?
    ) throws(Rejection) {
        for (index, option) in group.options.enumerated() {
            try check(option.tax, "\(path())options[\(index)].tax", among: taxes)
        }
    }

    static func checkSize(sections: Int, items: Int) throws(Rejection) {
        guard sections <= maximumSections else {
            throw Rejection(.limit, "a menu has at most \(maximumSections) sections")
        }
        guard items <= maximumItems else { throw Rejection(.limit, "a menu has at most \(maximumItems) items") }
    }

    static func checkAttributes(names: Int) throws(Rejection) {
        guard names <= maximumAttributeNames else {
            throw Rejection(
                .limit, "the items of a menu have at most \(maximumAttributeNames) different attributes together")
        }
    }

    /// A menu that has more, from before there was this limit, may become smaller.
    static func checkBytes(_ bytes: Int, in state: MenuState) throws(Rejection) {
        guard bytes <= max(maximumBytes, state.bytes) else {
            throw Rejection(
                .limit, "the texts of a menu have at most \(maximumBytes) bytes together, and would have \(bytes)")
        }
    }

    private static func noSuchSection(_ id: Identifier) -> Rejection {
        Rejection(.notFound, "no section '\(id)' in the menu")
    }

    static func noSuchItem(_ id: Identifier) -> Rejection {
        Rejection(.notFound, "no item '\(id)' in the menu")
    }

    // MARK: Evolve

    public static func evolve(_ state: inout MenuState, _ event: Event) throws(ImpossibleEvent) {
        switch event {
        case .sectionAdded(let header, let before):
            guard state.sectionIndex(header.id) == nil else { throw impossible("a section added twice", header.id) }
            let place = try state.place(before: before)
            state.sections.insert(MenuState.Section(header: header, items: []), at: place)
            state.sectionBytes += header.bytes

        case .sectionChanged(let header):
            let index = try state.requiredSection(header.id)
            let before = state.sections[index].header
            state.sectionBytes += header.bytes - before.bytes
            state.sections[index].header = header
            if header.daypart != before.daypart {
                for item in state.sections[index].items { try state.changeEntry(item) { _ in } }
            }

        case .sectionMoved(let id, let before):
            guard before != id else { throw impossible("a section placed before itself", id) }
            let old = try state.requiredSection(id)
            let new = try state.place(before: before)
            let section = state.sections.remove(at: old)
            state.sections.insert(section, at: new > old ? new - 1 : new)

        case .sectionRemoved(let id):
            let section = state.sections.remove(at: try state.requiredSection(id))
            for item in section.items { state.removeEntry(item) }
            state.sectionBytes -= section.header.bytes

        case .itemAdded(let item, let section, let before):
            guard state.entries[item.id] == nil else { throw impossible("an item added twice", item.id) }
            let place = try state.place(in: section, before: before)
            state.sections[place.section].items.insert(item.id, at: place.index)
            var suspensions = MenuState.GroupSuspensions()
            state.setEntry(item, section, nil, &suspensions)
            state.refresh(after: item.id)

        case .itemChanged(let item):
            try state.changeEntry(item.id) { $0.item = item }
            state.refresh(after: item.id)

        case .itemMoved(let id, let section, let before):
            guard before != id else { throw impossible("an item placed before itself", id) }
            let old = try state.place(of: id)
            var new = try state.place(in: section, before: before)
            if new.section == old.section, new.index > old.index { new.index -= 1 }
            state.sections[old.section].items.remove(at: old.index)
            state.sections[new.section].items.insert(id, at: new.index)
            try state.changeEntry(id) { $0.section = section }

        case .itemRemoved(let id):
            let place = try state.place(of: id)
            state.sections[place.section].items.remove(at: place.index)
            state.removeEntry(id)

        case .itemRepriced(let id, let price):
            try state.changeEntry(id) { $0.item.price = price }

        case .itemSuspended(let id, let until, .merchant):
            try state.changeEntry(id) { $0.suspension = MenuState.Suspension(until: until) }
            state.refresh(after: id)

        case .itemResumed(let id, .merchant):
            try state.changeEntry(id) { $0.suspension = nil }
            state.refresh(after: id)

        case .itemSuspended(let id, _, .stock), .itemResumed(let id, .stock):
            guard state.entries[id] != nil else { throw impossible("an event on an unknown item", id) }
            if case .itemSuspended = event { state.usedUpItems.insert(id) } else { state.usedUpItems.remove(id) }
            try state.changeEntry(id) { _ in }
            state.refresh(after: id)

        case .groupPut(let group):
            let isFree = group.options.allSatisfy { (state.groups.home(of: $0.id)?.group ?? group.id) == group.id }
            guard group.isRecordable, isFree else { throw impossible("a group that cannot be", group.id) }
            state.groups.put(group)
            state.refresh([group.id])

        case .groupRemoved(let id):
            guard state.groups[id] != nil else { throw impossible("an event on an unknown group", id) }
            state.groups.remove(id)
            state.refresh([id])

        case .optionRepriced(let id, let price, let size):
            let group = try state.requiredGroup(ofOption: id)
            guard price.isRecordable else { throw impossible("a price out of range", id) }
            state.groups.reprice(id, price, with: size)
            state.refresh([group])

        case .optionSuspended(let id, let until, let party):
            let group = try state.requiredGroup(ofOption: id)
            state.groups.suspend(id, MenuState.Suspension(until: until), by: party)
            state.refresh([group])

        case .optionResumed(let id, let party):
            let group = try state.requiredGroup(ofOption: id)
            state.groups.suspend(id, nil, by: party)
            state.refresh([group])

        case .feedChecked(let check):
            state.feed = check
        }
        if event.changesDocument { state.feed?.validators = nil }
    }

    static func impossible(_ what: String, _ id: Identifier) -> ImpossibleEvent {
        ImpossibleEvent("\(what): '\(id)'")
    }
}

extension Menu.Command {
    /// Whether the outlet's details decide about the command, too: an item names one of its taxes or dayparts.
    public var restsOnOutlet: Bool {
        switch self {
        case .put(let document, _, _):
            document.sections.contains {
                $0.header.daypart != nil || $0.items.contains { $0.tax != nil || $0.daypart != nil }
            } || document.groups.contains(where: \.namesTax)
        case .putSection(let header, _, _): header.daypart != nil
        case .putItem(let item, _, _, _, _): item.tax != nil || item.daypart != nil
        case .putGroup(let group, _): group.namesTax
        case .removeSection, .removeItem, .reprice, .suspend, .resume, .removeGroup, .repriceOption,
            .suspendOption, .resumeOption, .followStock, .checkFeed:
            false
        }
    }
}

extension Menu.Event {
    /// Whether the menu reads differently afterwards: what is sold out is no part of it.
    fileprivate var changesDocument: Bool {
        switch self {
        case .sectionAdded, .sectionChanged, .sectionMoved, .sectionRemoved, .itemAdded, .itemChanged, .itemMoved,
            .itemRemoved, .itemRepriced, .groupPut, .groupRemoved, .optionRepriced:
            true
        case .itemSuspended, .itemResumed, .optionSuspended, .optionResumed, .feedChecked: false
        }
    }
}

extension MenuState {
    fileprivate func requiredSection(_ id: Identifier) throws(ImpossibleEvent) -> Int {
        guard let index = sectionIndex(id) else { throw Menu.impossible("an event on an unknown section", id) }
        return index
    }

    /// The place in front of a section, or behind the last.
    fileprivate func place(before section: Identifier?) throws(ImpossibleEvent) -> Int {
        try section.map(requiredSection) ?? sections.count
    }

    fileprivate func place(of item: Identifier) throws(ImpossibleEvent) -> (section: Int, index: Int) {
        guard let section = sectionIndex(holding: item), let index = sections[section].items.firstIndex(of: item)
        else { throw Menu.impossible("an event on an unknown item", item) }
        return (section, index)
    }

    /// The place in a section in front of one of its items, or behind the last.
    fileprivate func place(
        in section: Identifier, before item: Identifier?
    ) throws(ImpossibleEvent) -> (section: Int, index: Int) {
        let section = try requiredSection(section)
        guard let item else { return (section, sections[section].items.count) }
        guard let index = sections[section].items.firstIndex(of: item) else {
            throw Menu.impossible("an item placed before one of another section", item)
        }
        return (section, index)
    }

    fileprivate func requiredGroup(ofOption option: Identifier) throws(ImpossibleEvent) -> Identifier {
        guard let home = groups.home(of: option) else {
            throw Menu.impossible("an event on an unknown option", option)
        }
        return home.group
    }

    /// What an entry is made of.
    fileprivate struct EntryParts {
        var item: MenuItem
        var section: Identifier
        var suspension: Suspension?
    }

    fileprivate mutating func changeEntry(
        _ item: Identifier, _ change: (inout EntryParts) -> Void
    ) throws(ImpossibleEvent) {
        guard let entry = entries[item] else { throw Menu.impossible("an event on an unknown item", item) }
        var parts = EntryParts(item: entry.item, section: entry.section, suspension: entry.ownSuspension)
        change(&parts)
        var suspensions = GroupSuspensions()
        setEntry(parts.item, parts.section, parts.suspension, &suspensions)
    }

    fileprivate mutating func setEntry(
        _ item: MenuItem, _ section: Identifier, _ suspension: Suspension?, _ groups: inout GroupSuspensions
    ) {
        let before = entries[item.id]?.options ?? []
        if before != item.options { self.groups.note(item.id, offers: item.options, before: before) }
        var consequences = consequences(of: item, &groups)
        consequences.daypart = item.daypart ?? sectionIndex(section).flatMap { sections[$0].header.daypart }
        entries[item.id] = Entry(item, section, suspension, consequences)
    }

    fileprivate mutating func removeEntry(_ item: Identifier) {
        usedUpItems.remove(item)
        groups.note(item, offers: [], before: entries[item]?.options ?? [])
        entries[item] = nil
        refresh(after: item)
    }

    /// Works out anew what follows for the items with an option that is the item.
    fileprivate mutating func refresh(after item: Identifier) {
        if !groups.isEmpty { refresh(groups.groups(with: item)) }
    }

    /// Works out anew what follows from these groups for the items that offer them.
    fileprivate mutating func refresh(_ changed: Set<Identifier>) {
        if changed.isEmpty { return }
        var suspensions = GroupSuspensions()
        for id in groups.items(offering: changed) {
            guard let entry = entries[id] else { continue }
            setEntry(entry.item, entry.section, entry.ownSuspension, &suspensions)
        }
    }
}

extension [Identifier] {
    fileprivate func has(_ element: Identifier, rightBefore next: Identifier) -> Bool {
        guard let index = firstIndex(of: next), index > 0 else { return false }
        return self[index - 1] == element
    }
}
