internal import Domain
public import EventLog

/// What is to be saved of a read model: the rows that changed since the last save, as they were when it was
/// taken, in slices small enough to be made between other work.
public struct Checkpoint: Sendable {
    /// The most rows of a slice.
    public static let sliceRows = 2_000
    /// About how many bytes of documents a slice holds.
    public static let sliceBytes = 200_000

    /// Rows of one projection.
    public enum Slice: Sendable {
        case outletHome([OutletHomeRow])
        case cartCounts([CartCountRow])
    }

    /// The partition.
    public let partition: Int
    /// The position of the last event in the rows.
    public let position: Int64
    /// Streams that were quarantined, with the projection that did it.
    public let quarantined: [(projection: String, event: CorruptEvent)]
    /// The digests of the projections' rows once every slice is taken.
    public private(set) var digests: ReadModel.Digests

    private var outlets: [OutletRecord]
    private var outletDigests: [(Identifier, Digest)] = []
    private var carts: [Identifier: CartCounts.Change]
    private var nextCart: Dictionary<Identifier, CartCounts.Change>.Index
    private var nextOutlet = 0

    init(
        partition: Int, position: Int64, quarantined: [(projection: String, event: CorruptEvent)],
        digests: ReadModel.Digests, outlets: [OutletRecord], carts: [Identifier: CartCounts.Change]
    ) {
        self.partition = partition
        self.position = position
        self.quarantined = quarantined
        self.digests = digests
        self.outlets = outlets
        self.carts = carts
        nextCart = carts.startIndex
    }

    /// The next rows to be written, or nil when there are no more.
    public mutating func nextSlice() -> Slice? {
        var bytes = 0
        var homes: [OutletHomeRow] = []
        while nextOutlet < outlets.count, bytes < Checkpoint.sliceBytes {
            let record = outlets[nextOutlet]
            let row = OutletHomeRow(record)
            if let old = record.savedDigest { digests.outletHome.remove(old) }
            digests.outletHome.insert(row.digest)
            outletDigests.append((record.id, row.digest))
            homes.append(row)
            bytes += row.document.count + row.snapshot.count
            nextOutlet += 1
        }
        if !homes.isEmpty { return .outletHome(homes) }

        var counts: [CartCountRow] = []
        while nextCart != carts.endIndex, counts.count < Checkpoint.sliceRows {
            let (cart, change) = carts[nextCart]
            let row = CartCountRow(cart: cart, count: change.after)
            if let before = change.before {
                digests.cartCounts.remove(CartCountRow(cart: cart, count: before).digest)
            }
            digests.cartCounts.insert(row.digest)
            counts.append(row)
            carts.formIndex(after: &nextCart)
        }
        return counts.isEmpty ? nil : .cartCounts(counts)
    }

    fileprivate var taken: ([OutletRecord], [Identifier: CartCounts.Change], [(Identifier, Digest)]) {
        (outlets, carts, outletDigests)
    }
}

extension ReadModel {
    /// The digests of the projections' rows.
    public struct Digests: Equatable, Sendable {
        /// Of `outlet_home`.
        public var outletHome = SetDigest()
        /// Of `cart_counts`.
        public var cartCounts = SetDigest()

        /// The digests of no rows.
        public init() {}

        /// Of the rows of a projection.
        public subscript(projection: ProjectionName) -> SetDigest {
            get {
                switch projection {
                case .outletHome: outletHome
                case .cartCounts: cartCounts
                }
            }
            set {
                switch projection {
                case .outletHome: outletHome = newValue
                case .cartCounts: cartCounts = newValue
                }
            }
        }
    }

    /// The digests of all rows, made anew.
    public var digests: Digests {
        var digests = Digests()
        for record in outletHome.all { digests.outletHome.insert(OutletHomeRow(record).digest) }
        for row in cartCounts.all { digests.cartCounts.insert(row.digest) }
        return digests
    }

    /// Takes what changed since the last checkpoint. Say what became of it: ``saved(_:)`` or ``notSaved(_:)``.
    public mutating func takeCheckpoint(since digests: Digests) -> Checkpoint {
        precondition(cartCounts.notesChanges, "a read model that does not know what changed has no checkpoints")
        return Checkpoint(
            partition: partition, position: position,
            quarantined: outletHome.quarantine.takeUnsaved().map { (OutletHome.name, $0) }
                + cartCounts.quarantine.takeUnsaved().map { (CartCounts.name, $0) },
            digests: digests, outlets: outletHome.takeChanges(), carts: cartCounts.takeChanges())
    }

    /// The checkpoint's rows are in the database.
    public mutating func saved(_ checkpoint: Checkpoint) {
        for (outlet, digest) in checkpoint.taken.2 { outletHome.saved(outlet, digest: digest) }
    }

    /// The checkpoint's rows are not in the database: they are due again.
    public mutating func notSaved(_ checkpoint: Checkpoint) {
        let (outlets, carts, _) = checkpoint.taken
        outletHome.putBack(outlets)
        cartCounts.putBack(carts)
        outletHome.quarantine.putBack(checkpoint.quarantined.filter { $0.projection == OutletHome.name }.map(\.event))
        cartCounts.quarantine.putBack(checkpoint.quarantined.filter { $0.projection == CartCounts.name }.map(\.event))
    }

    /// Continues from a saved position, once the saved rows are restored.
    public mutating func restore(position: Int64, quarantined: [(projection: String, event: CorruptEvent)]) {
        self.position = position
        for (projection, event) in quarantined {
            switch projection {
            case OutletHome.name: outletHome.quarantine.restore(event)
            case CartCounts.name: cartCounts.quarantine.restore(event)
            default: break
            }
        }
    }

    /// Restores saved rows.
    public mutating func restore(_ slice: Checkpoint.Slice) throws(CorruptSnapshot) {
        switch slice {
        case .outletHome(let rows): for row in rows { try outletHome.restore(row) }
        case .cartCounts(let rows): for row in rows { cartCounts.restore(row) }
        }
    }
}
