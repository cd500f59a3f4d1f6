public import Domain
public import EventLog

/// The projection `cart_counts`: how much of every cart is still to be ordered. That is the sum of its quantities,
/// and 0 once the cart has been checked out.
public struct CartCounts: Projection {
    public static let name = "cart_counts"
    public static let version = 3
    public static let table = "cart_count_rows"

    @inlinable
    public static func follows(_ category: StreamName.Category) -> Bool { category == .cart }

    public static func streams(of key: Identifier) -> [StreamName] { [StreamName(.cart, key)] }

    private let notesChanges: Bool

    /// No carts.
    ///
    /// - Parameter notesChanges: whether the counts are to be saved.
    public init(notesChanges: Bool = false) {
        self.notesChanges = notesChanges
    }

    /// Carts that are not shown.
    public var quarantine = Quarantine()

    /// What is known of a cart.
    public struct Standing: BitwiseCopyable, Equatable, Sendable {
        /// The sum of its quantities.
        var count: Int32
        /// The version of its last event; -1 if that is unknown.
        var version: Int32
    }

    private var carts = IdentifierTable<Standing>()
    private var changes = ValueChanges<CartCountRow>()

    /// Stands for the version in rows of an earlier version of the projection, which had none.
    static let unknownVersion: Int32 = -1

    /// The sum of quantities; 0 for an unknown cart, and for one that has been checked out.
    public func count(of cart: Identifier) -> Int { Int(carts[cart]?.count ?? 0) }

    /// The version of a cart's last event; 0 if that is unknown.
    func version(of cart: Identifier) -> Int64 { Int64(max(carts[cart]?.version ?? 0, 0)) }

    // MARK: Folding

    public func mayExist(_ stream: StreamName) -> Bool {
        carts.place(of: stream.id) != nil || quarantine[stream] != nil
    }

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
            case .lineEdited, .tipSet, .serviceChosen: (0, 0, false)
            case .checkedOut: (0, 0, true)
            }
        // A damaged log may hold any number: none is added before it is known to be small.
        guard let added = Int32(exactly: added), let removed = Int32(exactly: removed) else {
            throw ImpossibleEvent("a cart with an impossible count")
        }
        // One look-up for the count and one for the change: a fold of the whole log spends its time in these two.
        guard let place = carts.place(of: cart) else {
            // If nothing of a cart can be folded, it has no row.
            let after = try CartCounts.fold(nil, by: Int(added) - Int(removed), isPlaced: isPlaced, version)
            carts.insert(cart, after)
            if notesChanges { changes.note(cart, before: nil, after: after) }
            return
        }
        let before = carts[place]
        let after = try CartCounts.fold(before, by: Int(added) - Int(removed), isPlaced: isPlaced, version)
        carts[place] = after
        if notesChanges { changes.note(cart, before: before, after: after) }
    }

    private static func fold(
        _ before: Standing?, by change: Int, isPlaced: Bool, _ version: Int64
    ) throws(ImpossibleEvent) -> Standing {
        let last = before?.version ?? 0
        if last != unknownVersion, version != Int64(last) + 1 {
            throw ImpossibleEvent("version \(version) after \(last)")
        }
        guard let version = Int32(exactly: version) else { throw ImpossibleEvent("an impossible version") }
        let count = isPlaced ? 0 : Int(before?.count ?? 0) + change
        guard let count = Int32(exactly: count), count >= 0 else {
            throw ImpossibleEvent("a cart with an impossible count")
        }
        return Standing(count: count, version: version)
    }

    #if DEBUG
        public mutating func skip(_ event: DecodedEvent) {
            guard let place = carts.place(of: event.stream.id) else { return }
            let before = carts[place]
            carts[place].version = Int32(clamping: event.version)
            if notesChanges { changes.note(event.stream.id, before: before, after: carts[place]) }
        }
    #endif

    // MARK: Rows

    /// Every cart's id.
    public var keys: some Sequence<Identifier> { carts.entries.lazy.map(\.key) }

    /// The number of carts.
    public var rowCount: Int { carts.count }

    /// Every cart with its count.
    public var rows: some Sequence<CartCountRow> {
        carts.entries.lazy.map { CartCountRow(key: $0.key, value: $0.standing) }
    }

    public func row(of key: Identifier) -> CartCountRow? {
        carts[key].map { CartCountRow(key: key, value: $0) }
    }

    public mutating func restore(_ stored: StoredRow) throws(UnreadableValue) -> Digest {
        // The row as a value would have a string for its key: with millions of rows, a start would spend its time there.
        let count = stored.int32(1)
        guard count >= 0 else { throw UnreadableValue("a count of \(count)") }
        let version = stored.int32(2)
        guard version > 0 || version == CartCounts.unknownVersion else {
            throw UnreadableValue("a version of \(version)")
        }
        let standing = Standing(count: count, version: version)
        guard carts.load(stored.keyBytes, standing) else { throw StoredRow.keyIsNoIdentifier }
        return CartCountRow.digest(stored.keyBytes, standing)
    }

    public mutating func endRestoring() -> Identifier? { carts.index() }

    // MARK: Checkpoints

    public mutating func takeChanges() -> ValueChanges<CartCountRow> {
        defer { changes = ValueChanges() }
        return changes
    }

    public mutating func putBack(_ taken: ValueChanges<CartCountRow>) { changes.merge(older: taken) }
}

/// A row of `cart_counts`.
public struct CartCountRow: ValueRow {
    public static let columns = [
        Column("cart", .text), Column("count", .int32), Column("version", .int32, isPrinted: false),
    ]

    /// The cart.
    public var cart: Identifier
    private let standing: CartCounts.Standing

    /// What ``CartCounts/count(of:)`` gives.
    public var count: Int32 { standing.count }

    public init(key: Identifier, value: CartCounts.Standing) {
        cart = key
        standing = value
    }

    public init(_ stored: StoredRow) throws(UnreadableValue) {
        self.init(
            key: try stored.key(), value: CartCounts.Standing(count: stored.int32(1), version: stored.int32(2)))
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
