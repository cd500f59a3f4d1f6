public import Domain
public import EventLog

/// The projection `cart_counts`: how much of every cart is still to be ordered. That is the sum of its quantities,
/// and 0 once the cart has been checked out.
///
/// A replay holds every cart. A server holds those that were changed or asked for lately (``limit``), and those whose
/// changes are not saved; the rows of all others are in the database, and read one by one (``read(_:of:)``). Until a
/// row is read, changes are counted from what it will be. A row that does not fit to an event is not believed: the cart
/// is in doubt until its stream was folded (``settle(_:with:upTo:savedUpTo:)``).
public struct CartCounts: Projection {
    public static let name = "cart_counts"
    public static let version = 3
    public static let table = "cart_count_rows"
    public static let isReadByKey = true

    @inlinable
    public static func follows(_ category: StreamName.Category) -> Bool { category == .cart }

    public static func streams(of key: Identifier) -> [StreamName] { [StreamName(.cart, key)] }

    /// What is known of a cart.
    public struct Standing: BitwiseCopyable, Equatable, Sendable {
        /// The sum of its quantities.
        var count: Int32
        /// The version of its last event; -1 if that is unknown.
        var version: Int32
    }

    private let notesChanges: Bool
    /// About the most carts that are held without changes to be saved; nil to hold all.
    let limit: Int?

    /// Carts that are not shown.
    public var quarantine = Quarantine()

    /// The carts that are held. Half of the limit is filled with those that come, and then takes the place of the other
    /// half.
    private var carts = IdentifierTable<Standing>()
    private var older: IdentifierTable<Standing>?
    /// What is to be saved, and what is being saved.
    private var changes = CartChanges()
    private var saving = CartChanges()
    /// Every cart that is known to exist, where not all are held.
    private var filter = BloomFilter()
    /// How many carts are in each slot, where not all are held.
    private var slots: [Int: Int] = [:]
    /// Whether rows may be stored of carts that are not held.
    private var hasStoredRows = false
    /// Whether no cart exists beside those that this knows of. Not so before the stored rows were gone through.
    public private(set) var knowsAll = true
    /// Carts whose rows contradict the log, with the last version that was seen of each.
    private(set) var doubts: [Identifier: Int64] = [:]

    /// No carts, of which all will be held.
    ///
    /// - Parameter notesChanges: whether the counts are to be saved.
    public init(notesChanges: Bool = false) { self.init(notesChanges: notesChanges, limit: nil) }

    /// No carts.
    ///
    /// - Parameter limit: about the most that are held without changes to be saved; nil to hold all.
    init(notesChanges: Bool, limit: Int?) {
        self.notesChanges = notesChanges
        self.limit = limit
    }

    /// Stands for the version in rows of an earlier version of the projection, which had none.
    static let unknownVersion: Int32 = -1

    // MARK: Questions

    /// The sum of quantities; 0 for an unknown cart, and for one that has been checked out. nil where the cart's row has
    /// to be read first.
    public func count(of cart: Identifier) -> Int? {
        if let held = held(cart) { return Int(held.count) }
        return isStored(cart) ? nil : 0
    }

    /// The version of a cart's last event; 0 if that is unknown.
    func version(of cart: Identifier) -> Int64 {
        if let last = doubts[cart] { return last }
        return Int64(max(held(cart)?.version ?? unsaved(cart)?.after.version ?? 0, 0))
    }

    /// How many carts have ids in a slot, of those that are known.
    public func count(inSlot slot: HashSlot) -> Int {
        limit == nil ? carts.entries.count { HashSlot(of: $0.key) == slot } : slots[slot.number] ?? 0
    }

    public func mayExist(_ stream: StreamName) -> Bool {
        if quarantine[stream] != nil { return true }
        return limit == nil ? carts.place(of: stream.id) != nil : isStored(stream.id)
    }

    /// What is known of a cart without reading its row; nil where it cannot be known, or there is none.
    private func held(_ cart: Identifier) -> Standing? {
        if let place = carts.place(of: cart), doubts.isEmpty || doubts[cart] == nil { return carts[place] }
        guard limit != nil, doubts[cart] == nil else { return nil }
        if let standing = older?[cart] { return standing }
        guard let change = unsaved(cart), change.isCounted else { return nil }
        return change.after
    }

    /// The last change of a cart that is not known to be saved.
    private func unsaved(_ cart: Identifier) -> CartChanges.Change? { changes[cart] ?? saving[cart] }

    /// Whether a cart that is not held may have a row, or has changes that are counted from one.
    private func isStored(_ cart: Identifier) -> Bool { limit != nil && (!knowsAll || filter.contains(cart.hash)) }

    // MARK: Holding some

    /// Holds a cart that is not held, and lets go of others.
    private mutating func hold(_ cart: Identifier, _ standing: Standing) {
        if let limit, carts.count >= max(1, limit / 2) {
            older = carts
            carts = IdentifierTable()
        }
        carts.insert(cart, standing)
    }

    /// Knows from now on that a cart exists.
    private mutating func note(_ cart: Identifier, isNew: Bool) {
        guard limit != nil, isNew || !filter.contains(cart.hash) else { return }
        filter.insert(cart.hash)
        slots[HashSlot(of: cart).number, default: 0] += 1
    }

    /// The rows up to the present position are in the database. They are read one by one.
    mutating func leaveRowsStored() {
        precondition(limit != nil, "not every cart is held")
        (hasStoredRows, knowsAll) = (true, false)
    }

    /// Learns which carts exist, from one that all stored rows were restored into. This continues from the same
    /// position.
    mutating func learn(from restored: CartCounts) {
        (filter, slots, knowsAll) = (restored.filter, restored.slots, true)
        for unsaved in [saving, changes] {
            for cart in unsaved.all.keys { note(cart, isNew: false) }
        }
    }

    /// Takes what is stored of a cart; nil if there is no row. Returns the count; nil if only the cart's stream tells it.
    mutating func read(_ row: CartCountRow?, of cart: Identifier) -> Int? {
        if let count = count(of: cart) { return count }
        guard var standing = row?.standing, doubts[cart] == nil else { return nil }
        if var change = saving[cart] {
            guard change.read(standing) else { return doubt(cart) }
            standing = change.after
        }
        if var change = changes[cart] {
            guard change.read(standing) else { return doubt(cart) }
            changes[cart] = change
            standing = change.after
        }
        hold(cart, standing)
        return Int(standing.count)
    }

    // MARK: Doubt

    /// What is stored of a cart contradicts the log. Its count is not known until that is settled.
    @discardableResult
    mutating func doubt(_ cart: Identifier) -> Int? {
        doubts[cart] = version(of: cart)
        changes[cart] = nil
        note(cart, isNew: false)
        return nil
    }

    /// Ends the doubt about a cart.
    ///
    /// - Parameters:
    ///   - history: the cart's stream from its beginning.
    ///   - position: up to where events have been folded.
    ///   - saved: up to where rows are saved.
    /// - Returns: the event that puts the cart into quarantine, if there is one.
    mutating func settle(
        _ cart: Identifier, with history: [RecordedEvent], upTo position: Int64, savedUpTo saved: Int64
    ) -> CorruptEvent? {
        var folded = CartCounts()
        var before: Standing?
        for event in history where event.position <= position {
            folded.fold(Result { () throws(CorruptEvent) in try event.decoded() })
            if event.position <= saved { before = folded.carts[cart] }
        }
        doubts[cart] = nil
        let corruption = folded.quarantine.streams.values.first
        if let corruption { quarantine.insert(corruption) }
        guard let after = folded.carts[cart] else { return corruption }
        if let place = carts.place(of: cart) { carts[place] = after } else { hold(cart, after) }
        if notesChanges { changes.note(cart, before: before, after: after) }
        return corruption
    }

    // MARK: Folding

    public mutating func apply(_ event: DecodedEvent) throws(ImpossibleEvent) {
        guard case .cart(let change) = event.event else { return }
        try apply(change, event.version, of: event.stream.id)
    }

    private mutating func apply(
        _ event: Cart.Event, _ version: Int64, of cart: Identifier
    ) throws(ImpossibleEvent) {
        guard quarantine[StreamName(.cart, cart)] == nil else { return }
        let (added, removed, isPlaced) =
            switch event {
            case .itemAdded(let line, _, _, _): (line.quantity, 0, false)
            case .quantityChanged(_, let from, let to): (to, from, false)
            case .lineRemoved(_, let quantity): (0, quantity, false)
            case .cleared(let count): (0, count, false)
            case .lineEdited, .tipSet, .serviceChosen, .codeAdded, .codeRemoved, .checkoutBegun, .checkoutRefused:
                (0, 0, false)
            case .checkedOut: (0, 0, true)
            }
        // A damaged log may hold any number: none is added before it is known to be small.
        guard let added = Int32(exactly: added), let removed = Int32(exactly: removed) else {
            throw ImpossibleEvent("a cart with an impossible count")
        }
        let step = Step(change: Int(added) - Int(removed), isPlaced: isPlaced, version: version)
        if !doubts.isEmpty, doubts[cart] != nil {
            doubts[cart] = version
            return
        }
        do throws(ImpossibleEvent) {
            try take(step, of: cart)
        } catch {
            // The log decides, and not the row that the cart was read from.
            guard hasStoredRows else { throw error }
            doubt(cart)
            doubts[cart] = version
        }
    }

    /// What an event does to a cart.
    private struct Step {
        let change: Int
        let isPlaced: Bool
        let version: Int64

        func taken(after before: Standing?, isCounted: Bool = true) throws(ImpossibleEvent) -> Standing {
            let last = before?.version ?? 0
            if last != unknownVersion, version != Int64(last) + 1 {
                throw ImpossibleEvent("version \(version) after \(last)")
            }
            guard let version = Int32(exactly: version) else { throw ImpossibleEvent("an impossible version") }
            let count = isPlaced ? 0 : Int(before?.count ?? 0) + change
            guard let count = Int32(exactly: count), count >= 0 || !isCounted else {
                throw ImpossibleEvent("a cart with an impossible count")
            }
            return Standing(count: count, version: version)
        }
    }

    private mutating func take(_ step: Step, of cart: Identifier) throws(ImpossibleEvent) {
        // One look-up for the count and one for the change: a fold of the whole log spends its time in these two.
        if let place = carts.place(of: cart) {
            let before = carts[place]
            carts[place] = try step.taken(after: before)
            if notesChanges { changes.note(cart, before: before, after: carts[place]) }
        } else if limit == nil {
            // If nothing of a cart can be folded, it has no row.
            let after = try step.taken(after: nil)
            carts.insert(cart, after)
            if notesChanges { changes.note(cart, before: nil, after: after) }
        } else {
            try takeWhatIsNotHeld(step, of: cart)
        }
    }

    private mutating func takeWhatIsNotHeld(_ step: Step, of cart: Identifier) throws(ImpossibleEvent) {
        let before = held(cart)
        if before == nil, unsaved(cart) != nil || step.version > 1 && hasStoredRows {
            // Counted from the row, which is read when it is needed.
            let last = saving[cart]?.after.version ?? Int32(clamping: step.version - 1)
            let row = Standing(count: 0, version: last)
            let after = try step.taken(after: changes[cart]?.after ?? row, isCounted: false)
            changes.note(cart, unread: row, after: after, isCounted: step.isPlaced)
            if step.isPlaced { hold(cart, after) }
            return note(cart, isNew: false)
        }
        let after = try step.taken(after: before)
        // There must be no row of a new cart, which the filter alone cannot tell.
        let isRead = before != nil || !hasStoredRows || !isStored(cart)
        hold(cart, after)
        if notesChanges { changes.note(cart, before: before, after: after, isRead: isRead) }
        if before == nil { note(cart, isNew: true) }
    }

    #if DEBUG
        public mutating func skip(_ event: DecodedEvent) {
            guard let before = held(event.stream.id) else { return }
            let after = Standing(count: before.count, version: Int32(clamping: event.version))
            if let place = carts.place(of: event.stream.id) {
                carts[place] = after
            } else {
                hold(event.stream.id, after)
            }
            if notesChanges { changes.note(event.stream.id, before: before, after: after) }
        }
    #endif

    // MARK: Rows

    /// About how many carts are held.
    public var rowCount: Int { carts.count + (older?.count ?? 0) }

    /// Every cart with its count, where all are held.
    public var rows: some Sequence<CartCountRow> {
        carts.entries.lazy.map { CartCountRow(key: $0.key, value: $0.standing) }
    }

    public func row(of key: Identifier) -> CartCountRow? {
        held(key).map { CartCountRow(key: key, value: $0) }
    }

    public mutating func restore(_ stored: StoredRow) throws(UnreadableValue) -> Digest {
        // The row as a value would have a string for its key: with millions of rows, a start would spend its time there.
        let standing = try CartCountRow.standing(stored)
        if limit == nil {
            guard carts.load(stored.keyBytes, standing) else { throw StoredRow.keyIsNoIdentifier }
        } else {
            guard let hash = Identifier.hash(of: stored.keyBytes) else { throw StoredRow.keyIsNoIdentifier }
            filter.insert(hash)
            slots[HashSlot(of: stored.keyBytes).number, default: 0] += 1
        }
        return CartCountRow.digest(stored.keyBytes, standing)
    }

    public mutating func endRestoring() -> Identifier? { carts.index() }

    // MARK: Checkpoints

    public mutating func takeChanges() -> CartChanges {
        saving = changes
        changes = CartChanges()
        return saving
    }

    public mutating func putBack(_ taken: CartChanges) {
        saving = CartChanges()
        changes.merge(older: taken)
        for cart in doubts.keys { changes[cart] = nil }
    }

    public mutating func saved(_ taken: CartChanges) {
        saving = CartChanges()
        hasStoredRows = limit != nil
    }
}

/// A row of `cart_counts`.
public struct CartCountRow: ValueRow {
    public static let columns = [
        Column("cart", .text), Column("count", .int32), Column("version", .int32, isPrinted: false),
    ]

    /// The cart.
    public var cart: Identifier
    let standing: CartCounts.Standing

    /// What ``CartCounts/count(of:)`` gives.
    public var count: Int32 { standing.count }

    /// The version of the cart's last event; -1 if that is unknown.
    public var version: Int32 { standing.version }

    public init(key: Identifier, value: CartCounts.Standing) {
        cart = key
        standing = value
    }

    public init(_ stored: StoredRow) throws(UnreadableValue) {
        self.init(
            key: try stored.key(), value: CartCounts.Standing(count: stored.int32(1), version: stored.int32(2)))
    }

    /// What a stored row says of its cart, if a server can have written it.
    fileprivate static func standing(_ stored: StoredRow) throws(UnreadableValue) -> CartCounts.Standing {
        let count = stored.int32(1)
        guard count >= 0 else { throw UnreadableValue("a count of \(count)") }
        let version = stored.int32(2)
        guard version > 0 || version == CartCounts.unknownVersion else {
            throw UnreadableValue("a version of \(version)")
        }
        return CartCounts.Standing(count: count, version: version)
    }

    public func write(to columns: inout some RowWriter) {
        columns.text(cart.rawValue)
        columns.int32(standing.count)
        columns.int32(standing.version)
    }

    public var key: Identifier { cart }

    public var size: Int { cart.rawValue.utf8.count + 8 }

    public var digest: Digest {
        var cart = cart.rawValue
        return cart.withUTF8 { CartCountRow.digest(UnsafeRawBufferPointer($0), standing) }
    }

    /// A row's digest: over the cart, a zero byte, the count in decimal, another zero byte, and the version in decimal.
    static func digest(_ cart: UnsafeRawBufferPointer, _ standing: CartCounts.Standing) -> Digest {
        // Neither an array nor a string: a start with millions of carts spends much of its time here.
        let longest = cart.count + 2 * (1 + CartCountRow.maximumDigits)
        return withUnsafeTemporaryAllocation(byteCount: longest, alignment: 1) { bytes in
            bytes.copyMemory(from: cart)
            var end = cart.count
            CartCountRow.write(standing.count, to: bytes, at: &end)
            CartCountRow.write(standing.version, to: bytes, at: &end)
            return Digest.of(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        }
    }

    /// The most characters of a number: those of -2147483648.
    private static let maximumDigits = 11

    /// Writes a zero byte and a number in decimal.
    private static func write(_ number: Int32, to bytes: UnsafeMutableRawBufferPointer, at end: inout Int) {
        bytes[end] = 0
        end += 1
        if number < 0 {
            bytes[end] = UInt8(ascii: "-")
            end += 1
        }
        var power: UInt32 = 1
        while number.magnitude / power >= 10 { power *= 10 }
        while power > 0 {
            bytes[end] = UInt8(ascii: "0") + UInt8(number.magnitude / power % 10)
            end += 1
            power /= 10
        }
    }
}
