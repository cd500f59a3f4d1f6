internal import Domain

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// How far each cart has come, by its identifier: what a dictionary would be, in less than half of its memory.
///
/// An entry is the bytes of the identifier with two numbers, one entry after the other on pages. Slots, spread by the
/// identifier's hash over many small tables, say where the entries lie. So there is no object for each cart, nothing
/// is moved but slots, and growing one of the tables takes microseconds, however many carts there are. Nothing is ever
/// removed.
struct CartTable: Sendable {
    /// What is known of a cart.
    struct Standing: Equatable, Sendable {
        /// The sum of its quantities.
        var count: Int32
        /// The version of its last event; -1 if that is unknown.
        var version: Int32
    }

    /// Where an entry lies, from the beginning of the first page. An entry stays where it is.
    struct Place {
        fileprivate let offset: Int
    }

    private static let tableBits = 10

    /// The number of carts.
    private(set) var count = 0
    private var tables = [CartSlots](repeating: CartSlots(), count: 1 << tableBits)
    private var pages = CartPages()

    // MARK: One cart

    /// Where a cart's entry lies; nil if it has none.
    func place(of cart: Identifier) -> Place? {
        cart.withBytes { bytes in
            tables[CartTable.table(cart.hash)].place(CartTable.tag(cart.hash)) { pages.holds(bytes, at: $0) }
        }
    }

    /// What is known of a cart; nil if there is none.
    subscript(cart: Identifier) -> Standing? { place(of: cart).map { self[$0] } }

    /// What is known of the cart at a place.
    subscript(place: Place) -> Standing {
        get { pages[place] }
        set { pages[place] = newValue }
    }

    /// Adds a cart that has no entry.
    mutating func insert(_ cart: Identifier, _ standing: Standing) {
        let place = cart.withBytes { pages.append($0, standing) }
        count += 1
        tables[CartTable.table(cart.hash)].insert(CartTable.tag(cart.hash), place, pages)
    }

    // MARK: Many carts

    /// Adds one of many carts, none of which has an entry. None can be found before ``index()``.
    ///
    /// - Returns: false if the bytes are not those of an identifier.
    mutating func load(_ cart: UnsafeRawBufferPointer, _ standing: Standing) -> Bool {
        guard let hash = Identifier.hash(of: cart) else { return false }
        count += 1
        tables[CartTable.table(hash)].load(CartTable.tag(hash), pages.append(cart, standing))
        return true
    }

    /// Makes carts that were loaded ones that can be found. One table is filled after the other, so that each is in the
    /// processor's cache while it is: if a cart is put into its slot at once, most of the time is spent waiting for
    /// memory.
    ///
    /// - Returns: a cart that was loaded twice, if there is one.
    mutating func index() -> Identifier? {
        var twice: Place?
        for table in tables.indices { twice = tables[table].index(pages) ?? twice }
        return twice.map { pages.cart(at: $0) }
    }

    /// Every cart with what is known of it, in the order in which they came.
    var entries: CartPages.Entries { CartPages.Entries(pages) }

    /// The table of a hash, by its uppermost bits.
    private static func table(_ hash: UInt64) -> Int { Int(hash >> (64 - tableBits)) }

    /// The part of a hash that is kept in its slot: the bits after those that say in which table it is.
    private static func tag(_ hash: UInt64) -> UInt64 { (hash << tableBits) >> (64 - CartSlots.tagBits) }
}

/// Says where entries lie, by the tags of their hashes.
private struct CartSlots: Sendable {
    static let tagBits = 24
    private static let placeBits = 64 - tagBits
    private static let fewest = 8

    /// A slot is a tag, and the place plus one; 0 is an empty slot. At most three quarters of them are taken, except
    /// while carts are loaded: then there is no order, and no slot is empty.
    private var slots: [UInt64] = []
    private var count = 0

    private static func tag(of slot: UInt64) -> UInt64 { slot >> placeBits }

    private static func place(of slot: UInt64) -> CartTable.Place {
        CartTable.Place(offset: Int((slot << tagBits) >> tagBits) - 1)
    }

    private static func slot(_ tag: UInt64, _ place: CartTable.Place) -> UInt64 {
        tag << placeBits | UInt64(place.offset + 1)
    }

    /// The first place with this tag that is the right one; nil if there is none.
    @inline(__always)
    func place(_ tag: UInt64, isRight: (CartTable.Place) -> Bool) -> CartTable.Place? {
        guard !slots.isEmpty else { return nil }
        let slot = slots.withUnsafeBufferPointer { $0[CartSlots.search($0, tag, isRight: isRight)] }
        return slot == 0 ? nil : CartSlots.place(of: slot)
    }

    mutating func insert(_ tag: UInt64, _ place: CartTable.Place, _ pages: CartPages) {
        if (count + 1) * 4 > slots.count * 3 { _ = spread(over: slots.count + slots.count / 2, pages) }
        count += 1
        slots.withUnsafeMutableBufferPointer { slots in
            slots[CartSlots.search(UnsafeBufferPointer(slots), tag) { _ in false }] = CartSlots.slot(tag, place)
        }
    }

    mutating func load(_ tag: UInt64, _ place: CartTable.Place) {
        count += 1
        slots.append(CartSlots.slot(tag, place))
    }

    /// Ends loading. Returns the place of an entry whose cart has another one.
    mutating func index(_ pages: CartPages) -> CartTable.Place? {
        count > 0 ? spread(over: count + count / 2, pages) : nil
    }

    /// Puts everything where it is found among so many slots. Returns the place of an entry whose cart has another one.
    private mutating func spread(over slotCount: Int, _ pages: CartPages) -> CartTable.Place? {
        let old = slots
        var twice: CartTable.Place?
        slots = [UInt64](repeating: 0, count: max(CartSlots.fewest, slotCount))
        slots.withUnsafeMutableBufferPointer { slots in
            for slot in old where slot != 0 {
                let place = CartSlots.place(of: slot)
                let index = CartSlots.search(UnsafeBufferPointer(slots), CartSlots.tag(of: slot)) { other in
                    pages.withCart(at: place) { pages.holds($0, at: other) }
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
        _ slots: UnsafeBufferPointer<UInt64>, _ tag: UInt64, isRight: (CartTable.Place) -> Bool
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

/// The entries of a ``CartTable``: the length of the identifier, the two numbers, and the identifier.
struct CartPages: Sendable {
    fileprivate static let pageBytes = 1 << 16
    private static let headerBytes = 9

    private var pages: [[UInt8]] = []

    /// What an entry says besides the identifier.
    subscript(place: CartTable.Place) -> CartTable.Standing {
        get { pages[place.page].withUnsafeBytes { CartPages.standing(in: $0, at: place.start) } }
        set { pages[place.page].withUnsafeMutableBytes { CartPages.set(newValue, in: $0, at: place.start) } }
    }

    /// Whether an entry's identifier has these bytes.
    fileprivate func holds(_ cart: UnsafeRawBufferPointer, at place: CartTable.Place) -> Bool {
        withCart(at: place) { found in
            guard found.count == cart.count, let one = found.baseAddress, let other = cart.baseAddress else {
                return false
            }
            return memcmp(one, other, cart.count) == 0
        }
    }

    fileprivate func withCart<Result>(
        at place: CartTable.Place, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        pages[place.page].withUnsafeBytes { body(CartPages.cart(in: $0, at: place.start)) }
    }

    fileprivate mutating func append(
        _ cart: UnsafeRawBufferPointer, _ standing: CartTable.Standing
    ) -> CartTable.Place {
        let size = CartPages.headerBytes + cart.count
        if pages.isEmpty || pages[pages.count - 1].count + size > CartPages.pageBytes {
            // The first page grows with its entries: most tables in tests, and those of new shops, are small.
            var page: [UInt8] = []
            if !pages.isEmpty { page.reserveCapacity(CartPages.pageBytes) }
            pages.append(page)
        }
        let page = pages.count - 1
        let place = CartTable.Place(offset: page * CartPages.pageBytes + pages[page].count)
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { entry in
            entry[0] = UInt8(cart.count)
            CartPages.set(standing, in: entry, at: 0)
            UnsafeMutableRawBufferPointer(rebasing: entry[CartPages.headerBytes...]).copyMemory(from: cart)
            pages[page].append(contentsOf: entry)
        }
        return place
    }

    private static func cart(in page: UnsafeRawBufferPointer, at start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: page[(start + headerBytes)...].prefix(Int(page[start])))
    }

    private static func standing(in page: UnsafeRawBufferPointer, at start: Int) -> CartTable.Standing {
        CartTable.Standing(
            count: page.loadUnaligned(fromByteOffset: start + 1, as: Int32.self),
            version: page.loadUnaligned(fromByteOffset: start + 5, as: Int32.self))
    }

    private static func set(_ standing: CartTable.Standing, in page: UnsafeMutableRawBufferPointer, at start: Int) {
        page.storeBytes(of: standing.count, toByteOffset: start + 1, as: Int32.self)
        page.storeBytes(of: standing.version, toByteOffset: start + 5, as: Int32.self)
    }

    /// The entries, one after the other.
    struct Entries: Sequence, IteratorProtocol {
        private let pages: CartPages
        private var page = 0
        private var start = 0

        fileprivate init(_ pages: CartPages) { self.pages = pages }

        /// The next entry.
        mutating func next() -> (cart: Identifier, standing: CartTable.Standing)? {
            if page < pages.pages.count, start == pages.pages[page].count { (page, start) = (page + 1, 0) }
            guard page < pages.pages.count else { return nil }
            let place = CartTable.Place(offset: page * CartPages.pageBytes + start)
            let cart = pages.cart(at: place)
            start += CartPages.headerBytes + cart.rawValue.utf8.count
            return (cart, pages[place])
        }
    }

    fileprivate func cart(at place: CartTable.Place) -> Identifier {
        guard let cart = withCart(at: place, Identifier.init(utf8:)) else {
            preconditionFailure("an entry has an identifier")
        }
        return cart
    }
}

extension CartTable.Place {
    fileprivate var page: Int { offset / CartPages.pageBytes }
    fileprivate var start: Int { offset % CartPages.pageBytes }
}
