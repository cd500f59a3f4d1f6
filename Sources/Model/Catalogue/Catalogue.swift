public import Domain
internal import Parallelism
public import Projections
internal import SeededRandom
public import TextFormats

/// The projection `catalogue`: every item and every outlet, found by any combination of filters, in any order.
///
/// It belongs to one thread, and searches by text only after ``load(_:revision:)``. Questions are answered immediately,
/// from bitmaps and sorted lists that every event updates.
public final class Catalogue {
    /// The name it has in the database.
    public static let name = "catalogue"
    /// The most saved queries.
    public static let maximumSaved = 250
    /// The most of them for one owner.
    public static let maximumSavedOfOwner = 50
    /// If more changes times saved queries than this come at once, saved queries are asked again instead of
    /// following.
    private static let followedAtOnce = 2_000

    private let loadedAtOnce: Int
    private let analyser = TextAnalyser()
    private let outlets = OutletTable()
    private let items: ItemTable
    private let outletIndex: SearchIndex
    private let itemIndex: SearchIndex
    private var saved: [SavedName: SavedQuery] = [:]
    /// How many questions were named.
    private var questions: Int64 = 0
    /// The saved queries whose answers may have changed.
    private var touched: Set<SavedName> = []
    /// How often saved queries have followed a change since ``revision`` was set.
    private var followed = 0
    /// The number of events folded in, of all partitions. Set it before reporting their changes.
    public var revision: Int64 = 0 {
        didSet { followed = 0 }
    }

    /// An empty catalogue.
    public convenience init() { self.init(loadedAtOnce: 4_096) }

    /// - Parameter loadedAtOnce: so many items are taken in at once, at least, when it is loaded.
    init(loadedAtOnce: Int) {
        self.loadedAtOnce = loadedAtOnce
        items = ItemTable(outlets)
        itemIndex = SearchIndex(analyser, items)
        outletIndex = SearchIndex(analyser, outlets, items: (itemIndex, items.outlets(of:), outlets.items(of:)))
    }

    /// The number of items.
    public var itemCount: Int { itemIndex.all.count }

    /// The number of outlets.
    public var outletCount: Int { outletIndex.all.count }

    /// The number of saved queries.
    public var savedCount: Int { saved.count }

    private func savedCount(of owner: Int) -> Int { saved.values.count { $0.owner == owner } }

    // MARK: Loading

    /// Takes in every outlet with its menu. The catalogue must be empty.
    ///
    /// - Parameter progress: is given the number of items taken in so far, now and then.
    public func load(_ records: [OutletRecord], revision: Int64, progress: (Int) -> Void = { _ in }) {
        precondition(outletCount == 0, "a catalogue is loaded once")
        self.revision = revision
        outletIndex.beginMoves(at: revision)
        itemIndex.beginMoves(at: revision)
        var waiting: [(entry: MenuState.Entry, outlet: UInt32)] = []
        for record in records.sorted(by: { $0.id < $1.id }) {
            guard let (details, status) = record.details else { continue }
            let outlet = CatalogueOutlet(record.id, details, status)
            outlet.items.reserveCapacity(record.menu.entries.count)
            let row = outlets.add(outlet)
            for entry in record.menu.entries.values { waiting.append((entry, row)) }
            guard waiting.count >= loadedAtOnce else { continue }
            loadItems(waiting)
            waiting.removeAll(keepingCapacity: true)
            progress(itemCount)
        }
        loadItems(waiting)
        // An outlet is found by its items, too.
        outletIndex.load(outlets.outlets.indices.map { outlets.listing(at: UInt32($0)) }, from: 0)
        outletIndex.finishLoading()
        itemIndex.finishLoading()
    }

    private func loadItems(_ entries: [(entry: MenuState.Entry, outlet: UInt32)]) {
        let listings = entries.indices.concurrentMap { index in
            items.listing(of: entries[index].entry, at: outlets[entries[index].outlet])
        }
        let first = UInt32(itemCount)
        for ((entry, outlet), listing) in zip(entries, listings) { _ = items.add(entry, listing, at: outlet) }
        itemIndex.load(listings, from: first)
    }

    // MARK: Following events

    /// An outlet has changed.
    ///
    /// - Parameters:
    ///   - record: the outlet as it is now; nil if it is not to be shown, or no longer.
    ///   - touched: the items that may have changed; nil for all.
    public func update(_ id: Identifier, to record: OutletRecord?, items touched: Set<Identifier>?) {
        guard let record, let (details, status) = record.details else {
            if let row = outlets.row(of: id) { remove(row) }
            return
        }
        guard let row = outlets.row(of: id) else {
            let outlet = CatalogueOutlet(id, details, status)
            let row = outlets.add(outlet)
            update(itemsOf: outlet, row, to: record.menu, nil)
            insert(outlets.listing(at: row), .outlets, at: row)
            return
        }
        let outlet = outlets[row]
        if outlet.details != details || outlet.status != status {
            // Where it is another part of the day, and nothing else is new, only what is had in parts of the day changes.
            let isOfDay = outlet.status == status && outlet.details.isSame(as: details)
            let rows = isOfDay ? outlet.items.filter { items[$0].hasDaypart } : outlet.items
            let listings = rows.map(items.listing(at:))
            let new = outlets.listing(of: outlet, details, status)
            changed(.outlets, from: outlets.listing(at: row), to: new, at: row) {
                outlet.details = details
                outlet.status = status
            }
            for (itemRow, old) in zip(rows, listings) {
                changed(.items, from: old, to: items.listing(at: itemRow), at: itemRow) {}
            }
        }
        let before = outlets.listing(at: row)
        update(itemsOf: outlet, row, to: record.menu, touched)
        changed(.outlets, from: before, to: outlets.listing(at: row), at: row) {}
    }

    /// The items of an outlet that can be found; nil where it cannot.
    public func itemIDs(of outlet: Identifier) -> Set<Identifier>? {
        outlets.row(of: outlet).map { row in Set(outlets[row].items.map { items[$0].id }) }
    }

    private func update(
        itemsOf outlet: CatalogueOutlet, _ outletRow: UInt32, to menu: MenuState, _ touched: Set<Identifier>?
    ) {
        let touched = touched ?? Set(menu.entries.values.map(\.id)).union(outlet.items.map { items[$0].id })
        for id in touched {
            switch (items.row(of: id, at: outlet), menu.entries[id]) {
            case (let row?, let entry?):
                guard items[row] != entry else { continue }
                let old = items.listing(at: row)
                let new = items.listing(of: entry, at: outlet)
                changed(.items, from: old, to: new, at: row) {
                    items.replace(row, old, with: entry, new)
                }
            case (let row?, nil): remove(itemAt: row)
            case (nil, let entry?):
                let listing = items.listing(of: entry, at: outlet)
                insert(listing, .items, at: items.add(entry, listing, at: outletRow))
            case (nil, nil): break
            }
        }
    }

    private func remove(_ row: UInt32) {
        // The outlet comes first: it is found by the kinds and tags of its items.
        let listing = outlets.listing(at: row)
        outletIndex.remove(listing, at: row)
        for item in outlets[row].items { remove(itemAt: item) }
        outlets.remove(row)
        outletIndex.record(listing, revision: revision)
        follow(.outlets, from: listing, to: nil)
    }

    private func remove(itemAt row: UInt32) {
        let listing = items.listing(at: row)
        itemIndex.remove(listing, at: row)
        items.remove(row, listing)
        itemIndex.record(listing, revision: revision)
        follow(.items, from: listing, to: nil)
    }

    private func insert(_ listing: Listing, _ kind: ListingKind, at row: UInt32) {
        index(of: kind).insert(listing, at: row)
        follow(kind, from: nil, to: listing)
    }

    private func changed(
        _ kind: ListingKind, from old: Listing, to new: Listing, at row: UInt32, change: () -> Void
    ) {
        if index(of: kind).update(from: old, to: new, at: row, change: change) {
            index(of: kind).record(old, revision: revision)
        }
        follow(kind, from: old, to: new)
    }

    func index(of kind: ListingKind) -> SearchIndex {
        switch kind {
        case .items: itemIndex
        case .outlets: outletIndex
        }
    }

    /// Makes items and outlets available again when their suspension or pause has ended.
    public func advance(to now: Timestamp) {
        for kind in [ListingKind.items, .outlets] {
            let index = index(of: kind)
            for availability in index.availabilities {
                let back = availability.advance(to: now)
                for query in saved.values where query.query.kind == kind && index.usesAvailability(query.query) {
                    if index.excludesAvailability(query.query), !back.isEmpty {
                        // What they were before is not known any more.
                        query.forget()
                        touched.insert(query.name)
                        continue
                    }
                    for row in back { follow(query, from: nil, to: index.source.listing(at: row)) }
                }
            }
        }
    }

    // MARK: Saved queries

    /// Keeps a query's answer up to date from now on. Returns false if there are too many already.
    ///
    /// - Parameter owner: whose it is, as a number. One that takes the place of another stays that one's owner's.
    public func save(_ query: CatalogueQuery, as name: SavedName, for owner: Int) -> Bool {
        let known = saved[name]
        guard known != nil || saved.count < Self.maximumSaved && savedCount(of: owner) < Self.maximumSavedOfOwner else {
            return false
        }
        if let known, known.query.asksTheSame(as: query) {
            move(known, to: query.window)
            return true
        }
        // A new query under the same name is a new document, but its revisions continue.
        saved[name] = SavedQuery(
            name, query, owner: known?.owner ?? owner, revision: max((known?.revision ?? 0) + 1, revision))
        touched.insert(name)
        return true
    }

    /// Keeps the answer to a question up to date from now on, once for everybody who asks the same: the same filters,
    /// however they are written, the same order and as many listings. Ends with ``drop(_:)``.
    ///
    /// - Parameter owner: the owner whose share this counts for, unless the same question is followed already.
    /// - Returns: what it is called; nil if there are too many already.
    public func follow(_ question: CatalogueQuery, for owner: Int) -> SavedName? {
        let known = saved.values.first {
            $0.name.isOfQuestion && $0.window == question.window && $0.query.asksTheSame(as: question)
        }
        if let known { return known.name }
        guard let id = Identifier("question-\(questions + 1)") else { return nil }
        let name = SavedName(question: id)
        guard save(question, as: name, for: owner) else { return nil }
        questions += 1
        return name
    }

    /// Has a saved query show others of its matches. Returns whether there is such a query.
    public func move(_ name: SavedName, to window: Range<Int>) -> Bool {
        guard let query = saved[name] else { return false }
        move(query, to: window)
        return true
    }

    private func move(_ query: SavedQuery, to window: Range<Int>) {
        query.move(to: window)
        touched.insert(query.name)
    }

    /// Forgets a saved query. Returns whether there was one.
    public func drop(_ name: SavedName) -> Bool {
        guard saved.removeValue(forKey: name) != nil else { return false }
        touched.insert(name)
        return true
    }

    /// Forgets the saved queries of a connection that has ended.
    public func dropAll(of client: Int64) {
        for name in saved.keys where name.client == client { saved[name] = nil }
    }

    /// The answer to a saved query, as of now; nil if none is saved under that name.
    public func answer(toSaved name: SavedName) -> SavedAnswer? {
        guard let query = saved[name] else { return nil }
        return query.answer(in: index(of: query.query.kind), revision: revision) { id, writer in
            guard let row = row(of: id) else { preconditionFailure("a saved query knows a listing that is gone") }
            write(row, query.query.kind, to: &writer)
        }
    }

    /// The saved queries whose answers may have changed since this was last called.
    public func takeTouched() -> Set<SavedName> {
        defer { touched = [] }
        return touched
    }

    private func follow(_ kind: ListingKind, from old: Listing?, to new: Listing?) {
        for query in saved.values where query.query.kind == kind || asksItems(query) {
            follow(query, from: old, to: new)
        }
    }

    private func asksItems(_ query: SavedQuery) -> Bool { index(of: query.query.kind).asksItems(query.query) }

    private func follow(_ query: SavedQuery, from old: Listing?, to new: Listing?) {
        followed += 1
        // Whether an outlet matched before by its items can no longer be told.
        if followed > Self.followedAtOnce || asksItems(query) {
            query.forget()
            touched.insert(query.name)
        } else if query.follow(from: old, to: new, in: index(of: query.query.kind)) {
            touched.insert(query.name)
        }
    }

    // MARK: Queries

    /// Parses the words of a query.
    public func query(
        _ words: [String], of kind: ListingKind, options: Set<CatalogueQuery.Option>
    ) throws(CatalogueError) -> CatalogueQuery {
        try CatalogueQuery(words.map { Text($0) }, of: kind, options: options, analyser: analyser) { narrowings in
            outletIndex.words(of: Filter.currency, among: narrowings).compactMap { Currency($0.string) }
        }
    }

    /// A page of the matches: `{"total","items","next","facets","state"}`, and `suggestions` if nothing matches a text.
    ///
    /// - Parameter emptyState: the state of an empty answer.
    public func page(_ query: CatalogueQuery, emptyState: String = "empty") -> PageDocument {
        let index = index(of: query.kind)
        let matches = index.matches(query)
        let page = page(query, matches)
        var writer = JSONWriter(reservingCapacity: 256 + 512 * page.rows.count)
        writer.beginObject()
        writer.field("total", matches.all.count)
        writer.key("items")
        writer.beginArray()
        for row in page.rows { write(row, query.kind, to: &writer) }
        writer.endArray()
        let beforeCursor = writer.count
        writer.field("next", page.next?.text)
        let behindCursor = writer.count
        writer.key("facets")
        if let facets = query.facets {
            Facets(facets, of: matches.all, query, in: index).write(to: &writer)
        } else {
            writer.null()
        }
        writer.field("state", matches.all.isEmpty ? emptyState : "ready")
        if matches.all.isEmpty, let suggestions = index.suggestions(query) {
            writer.field("suggestions", suggestions)
        }
        writer.endObject()
        return PageDocument(bytes: writer.bytes, cursor: beforeCursor..<behindCursor)
    }

    private func page(_ query: CatalogueQuery, _ matches: Matches) -> Page {
        let index = index(of: query.kind)
        let moved = query.after.flatMap { index.moves.listings(at: $0.revision) } ?? [:]
        return index.page(
            of: matches, query, after: query.after, limit: query.limit, revision: revision, moved: moved, row: row)
    }

    private func row(of id: ListingID) -> UInt32? {
        guard let outlet = outlets.row(of: id.outlet) else { return nil }
        guard let item = id.item else { return outlet }
        return items.row(of: item, at: outlets[outlet])
    }

    /// One of the matches, each equally likely; nil if there are none.
    public func surprise(_ query: CatalogueQuery) -> [UInt8]? {
        let index = index(of: query.kind)
        let matches = index.matches(query).all
        let row: UInt32?
        if let seed = query.seed {
            var generator = SeededGenerator(seed: seed)
            row = index.choose(matches, using: &generator)
        } else {
            row = index.choose(matches)
        }
        return row.map { row in
            var writer = JSONWriter(reservingCapacity: 512)
            write(row, query.kind, to: &writer)
            return writer.bytes
        }
    }

    private func write(_ row: UInt32, _ kind: ListingKind, to writer: inout JSONWriter) {
        switch kind {
        case .items: ListingDocument.write(items[row], at: items.outlet(at: row), to: &writer)
        case .outlets: ListingDocument.write(outlets[row], to: &writer)
        }
    }
}

// MARK: Schemas

extension Catalogue {
    /// A page of what matches.
    public static func pageSchema(of kind: ListingKind) -> JSONSchema {
        JSONSchema.object([
            .member("total", .count, "how many match"), .member("items", .list(of: schema(of: kind))),
            .member("next", .string.orNull, "what to send as after; null at the end"),
            .member("facets", Facets.schema.orNull), .member("state", .words(["ready", "empty", "noMenu"])),
            .optional("suggestions", .list(of: .string), "texts that would match"),
        ]).named(kind == .items ? "ItemPage" : "OutletPage")
    }

    /// The answer to a saved query.
    public static func savedSchema(of kind: ListingKind) -> JSONSchema {
        JSONSchema.object([
            .member("browse", .identifier), .member("revision", .count), .member("total", .count, "how many match"),
            .member("from", .count, "the place of the first of them, from 0"),
            .member("items", .list(of: schema(of: kind))), .member("state", .words(["ready", "empty"])),
        ]).named(kind == .items ? "SavedItems" : "SavedOutlets")
    }

    /// An item or an outlet in a list.
    public static func schema(of kind: ListingKind) -> JSONSchema {
        switch kind {
        case .items: ListingDocument.itemSchema
        case .outlets: ListingDocument.outletSchema
        }
    }
}
