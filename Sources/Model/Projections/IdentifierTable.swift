internal import Domain

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Where an entry of an ``IdentifierTable`` lies, from the beginning of the first page. An entry stays where it is.
struct TablePlace: Equatable, Sendable {
    fileprivate let offset: Int
}

/// How far each cart or order has come, by its identifier: what a dictionary would be, in less than half of its memory.
///
/// An entry is the bytes of the identifier with a few numbers, one entry after the other on pages. Slots, spread by the
/// identifier's hash over many small tables, say where the entries lie. So there is no object for each entry, nothing
/// is moved but slots, and growing one of the tables takes microseconds, however many entries there are. Nothing is
/// ever removed.
struct IdentifierTable<Standing: BitwiseCopyable & Equatable & Sendable>: Sendable {
    private static var tableBits: Int { 10 }

    /// The number of entries.
    private(set) var count = 0
    private var tables = [TableSlots](repeating: TableSlots<Standing>(), count: 1 << tableBits)
    private var pages = TablePages<Standing>()

    // MARK: One entry

    /// Where an identifier's entry lies; nil if it has none.
    func place(of key: Identifier) -> TablePlace? {
        key.withBytes { bytes in
            tables[IdentifierTable.table(key.hash)].place(IdentifierTable.tag(key.hash)) { pages.holds(bytes, at: $0) }
        }
    }

    /// The numbers of an identifier; nil if it has no entry.
    subscript(key: Identifier) -> Standing? { place(of: key).map { self[$0] } }

    /// The numbers at a place.
    subscript(place: TablePlace) -> Standing {
        get { pages[place] }
        set { pages[place] = newValue }
    }

    /// Adds an identifier that has no entry.
    @discardableResult
    mutating func insert(_ key: Identifier, _ standing: Standing) -> TablePlace {
        let place = key.withBytes { pages.append($0, standing) }
        count += 1
        tables[IdentifierTable.table(key.hash)].insert(IdentifierTable.tag(key.hash), place, pages)
        return place
    }

    // MARK: Many entries

    /// Adds one of many identifiers, none of which has an entry. None can be found before ``index()``.
    ///
    /// - Returns: false if the bytes are not those of an identifier.
    mutating func load(_ key: UnsafeRawBufferPointer, _ standing: Standing) -> Bool {
        guard let hash = Identifier.hash(of: key) else { return false }
        count += 1
        tables[IdentifierTable.table(hash)].load(IdentifierTable.tag(hash), pages.append(key, standing))
        return true
    }

    /// Makes what was loaded ready to be found. One table is filled after the other, so that each is in the
    /// processor's cache while it is: if an entry is put into its slot at once, most of the time is spent waiting for
    /// memory.
    ///
    /// - Returns: an identifier that was loaded twice, if there is one.
    mutating func index() -> Identifier? {
        var twice: TablePlace?
        for table in tables.indices { twice = tables[table].index(pages) ?? twice }
        return twice.map { pages.key(at: $0) }
    }

    /// Every identifier with its numbers, in the order in which they came.
    var entries: TablePages<Standing>.Entries { TablePages.Entries(pages) }

    /// Where every entry lies, in the order in which they came.
    var places: [TablePlace] { pages.places }

    /// The identifier of the entry at a place.
    func key(at place: TablePlace) -> Identifier { pages.key(at: place) }

    /// The table of a hash, by its uppermost bits.
    private static func table(_ hash: UInt64) -> Int { Int(hash >> (64 - tableBits)) }

    /// The part of a hash that is kept in its slot: the bits after those that say in which table it is.
    private static func tag(_ hash: UInt64) -> UInt64 { (hash << tableBits) >> (64 - TableSlots<Standing>.tagBits) }
}

/// Says where entries lie, by the tags of their hashes.
private struct TableSlots<Standing: BitwiseCopyable & Equatable & Sendable>: Sendable {
    static var tagBits: Int { 24 }
    private static var placeBits: Int { 64 - tagBits }
    private static var fewest: Int { 8 }

    /// A slot is a tag, and the place plus one; 0 is an empty slot. At most three quarters of them are taken, except
    /// while entries are loaded: then there is no order, and no slot is empty.
    private var slots: [UInt64] = []
    private var count = 0

    private static func tag(of slot: UInt64) -> UInt64 { slot >> placeBits }

    private static func place(of slot: UInt64) -> TablePlace {
        TablePlace(offset: Int((slot << tagBits) >> tagBits) - 1)
    }

    private static func slot(_ tag: UInt64, _ place: TablePlace) -> UInt64 {
        tag << placeBits | UInt64(place.offset + 1)
    }

    /// The first place with this tag that is the right one; nil if there is none.
    @inline(__always)
    func place(_ tag: UInt64, isRight: (TablePlace) -> Bool) -> TablePlace? {
        guard !slots.isEmpty else { return nil }
        let slot = slots.withUnsafeBufferPointer { $0[TableSlots.search($0, tag, isRight: isRight)] }
        return slot == 0 ? nil : TableSlots.place(of: slot)
    }

    mutating func insert(_ tag: UInt64, _ place: TablePlace, _ pages: TablePages<Standing>) {
        if (count + 1) * 4 > slots.count * 3 { _ = spread(over: slots.count + slots.count / 2, pages) }
        count += 1
        slots.withUnsafeMutableBufferPointer { slots in
            slots[TableSlots.search(UnsafeBufferPointer(slots), tag) { _ in false }] = TableSlots.slot(tag, place)
        }
    }

    mutating func load(_ tag: UInt64, _ place: TablePlace) {
        count += 1
        slots.append(TableSlots.slot(tag, place))
    }

    /// Ends loading. Returns the place of an entry whose identifier has another one.
    mutating func index(_ pages: TablePages<Standing>) -> TablePlace? {
        count > 0 ? spread(over: count + count / 2, pages) : nil
    }

    /// Puts everything where it is found among so many slots. Returns the place of an entry whose identifier has another one.
    private mutating func spread(over slotCount: Int, _ pages: TablePages<Standing>) -> TablePlace? {
        let old = slots
        var twice: TablePlace?
        slots = [UInt64](repeating: 0, count: max(TableSlots.fewest, slotCount))
        slots.withUnsafeMutableBufferPointer { slots in
            for slot in old where slot != 0 {
                let place = TableSlots.place(of: slot)
                let index = TableSlots.search(UnsafeBufferPointer(slots), TableSlots.tag(of: slot)) { other in
                    pages.withKey(at: place) { pages.holds($0, at: other) }
                }
                if slots[index] != 0 { twice = place }
                slots[index] = slot
            }
        }
        return twice
    }

    /// The index of the first slot with this tag whose place is the right one, or of the empty slot where the search
    /// ends.
    @inline(__always)
    private static func search(
        _ slots: UnsafeBufferPointer<UInt64>, _ tag: UInt64, isRight: (TablePlace) -> Bool
    ) -> Int {
        // The search begins at a slot that rises with the tag. So the number of slots can be any.
        var index = Int((tag &* UInt64(slots.count)) >> UInt64(tagBits))
        while slots[index] != 0 {
            if self.tag(of: slots[index]) == tag, isRight(place(of: slots[index])) { break }
            index += 1
            if index == slots.count { index = 0 }
        }
        return index
    }
}

/// The entries of an ``IdentifierTable``: the length of the identifier, the numbers, and the identifier.
struct TablePages<Standing: BitwiseCopyable & Equatable & Sendable>: Sendable {
    private static var headerBytes: Int { 1 + MemoryLayout<Standing>.size }

    private var pages: [[UInt8]] = []

    /// What an entry says besides the identifier.
    subscript(place: TablePlace) -> Standing {
        get { pages[place.page].withUnsafeBytes { TablePages.standing(in: $0, at: place.start) } }
        set { pages[place.page].withUnsafeMutableBytes { TablePages.set(newValue, in: $0, at: place.start) } }
    }

    /// Whether an entry's identifier has these bytes.
    fileprivate func holds(_ key: UnsafeRawBufferPointer, at place: TablePlace) -> Bool {
        withKey(at: place) { found in
            guard found.count == key.count, let one = found.baseAddress, let other = key.baseAddress else {
                return false
            }
            return memcmp(one, other, key.count) == 0
        }
    }

    fileprivate func withKey<Result>(
        at place: TablePlace, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        pages[place.page].withUnsafeBytes { body(TablePages.key(in: $0, at: place.start)) }
    }

    fileprivate mutating func append(
        _ key: UnsafeRawBufferPointer, _ standing: Standing
    ) -> TablePlace {
        let size = TablePages.headerBytes + key.count
        if pages.isEmpty || pages[pages.count - 1].count + size > TablePlace.pageBytes {
            // The first page grows with its entries: most tables in tests, and those of new shops, are small.
            var page: [UInt8] = []
            if !pages.isEmpty { page.reserveCapacity(TablePlace.pageBytes) }
            pages.append(page)
        }
        let page = pages.count - 1
        let place = TablePlace(offset: page * TablePlace.pageBytes + pages[page].count)
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { entry in
            entry[0] = UInt8(key.count)
            TablePages.set(standing, in: entry, at: 0)
            UnsafeMutableRawBufferPointer(rebasing: entry[TablePages.headerBytes...]).copyMemory(from: key)
            pages[page].append(contentsOf: entry)
        }
        return place
    }

    private static func key(in page: UnsafeRawBufferPointer, at start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: page[(start + headerBytes)...].prefix(Int(page[start])))
    }

    private static func standing(in page: UnsafeRawBufferPointer, at start: Int) -> Standing {
        page.loadUnaligned(fromByteOffset: start + 1, as: Standing.self)
    }

    private static func set(_ standing: Standing, in page: UnsafeMutableRawBufferPointer, at start: Int) {
        page.storeBytes(of: standing, toByteOffset: start + 1, as: Standing.self)
    }

    /// The entries, one after the other.
    struct Entries: Sequence, IteratorProtocol {
        private let pages: TablePages
        private var page = 0
        private var start = 0

        fileprivate init(_ pages: TablePages<Standing>) { self.pages = pages }

        /// The next entry.
        mutating func next() -> (key: Identifier, standing: Standing)? {
            if page < pages.pages.count, start == pages.pages[page].count { (page, start) = (page + 1, 0) }
            guard page < pages.pages.count else { return nil }
            let place = TablePlace(offset: page * TablePlace.pageBytes + start)
            let key = pages.key(at: place)
            start += TablePages.headerBytes + key.rawValue.utf8.count
            return (key, pages[place])
        }
    }

    fileprivate var places: [TablePlace] {
        var places: [TablePlace] = []
        for page in pages.indices {
            var start = 0
            while start < pages[page].count {
                places.append(TablePlace(offset: page * TablePlace.pageBytes + start))
                start += TablePages.headerBytes + Int(pages[page][start])
            }
        }
        return places
    }

    fileprivate func key(at place: TablePlace) -> Identifier {
        guard let key = withKey(at: place, Identifier.init(utf8:)) else {
            preconditionFailure("an entry has an identifier")
        }
        return key
    }
}

extension TablePlace {
    fileprivate static let pageBytes = 1 << 16
    fileprivate var page: Int { offset / TablePlace.pageBytes }
    fileprivate var start: Int { offset % TablePlace.pageBytes }
}
