internal import Domain
internal import EventLog
internal import Projections

/// Checks the histories of a partition: every stream belongs there and its versions have no gaps, every cart could
/// happen by its aggregate's own rules, and every order is what its cart held.
struct HistoryCheck {
    private enum CartStatus {
        case open(Cart.State)
        /// Nothing more can happen to it, so its contents are not kept.
        case checkedOut
        /// Its history cannot be understood.
        case corrupt
    }

    private struct CartEntry {
        var status = CartStatus.open(Cart.initial)
        var version: Int64 = 0

        var isOpen: Bool { if case .open = status { true } else { false } }

        /// What the next event did to a cart.
        enum Step {
            case folded
            case checkedOut(Cart.Contents, order: Identifier)
            case alreadyCheckedOut
            case impossible(ImpossibleEvent)
        }

        /// Takes the next event. Also returns the version that the cart had before.
        mutating func take(_ change: Cart.Event, _ version: Int64) -> (last: Int64, Step) {
            defer { self.version = version }
            return (self.version, evolve(change))
        }

        private mutating func evolve(_ change: Cart.Event) -> Step {
            // Moved out of the entry, so that adding to the lines copies nothing.
            var taken = CartStatus.corrupt
            swap(&taken, &status)
            switch consume taken {
            case .corrupt: return .folded
            case .checkedOut: return .alreadyCheckedOut
            case .open(var state):
                do throws(ImpossibleEvent) {
                    try Cart.evolve(&state, change)
                } catch {
                    return .impossible(error)
                }
                if case .checkedOut(let contents, let order) = state {
                    status = .checkedOut
                    return .checkedOut(contents, order: order)
                }
                status = .open(state)
                return .folded
            }
        }
    }

    /// What is kept of an order, so that its next event can be checked. It has lines only as long as it can be changed:
    /// nothing else that happens to an order depends on them.
    private struct OrderEntry {
        private enum Status {
            case unplaced
            /// It was placed without terms, and nothing has happened to it since. Its next event can depend on this
            /// alone.
            case untouched(Amount, Currency, of: Identifier?)
            case followed(Order.State)
            /// Its history cannot be understood.
            case corrupt
        }

        private var status = Status.unplaced
        private(set) var version: Int64 = 0

        /// The outlet of one that is followed, or claims something.
        var outlet: Identifier? {
            if case .followed(let state) = status { state.book?.placement.outlet } else { nil }
        }

        /// An order with an event that cannot be understood.
        static func corrupt(_ version: Int64) -> OrderEntry {
            var entry = OrderEntry()
            (entry.status, entry.version) = (.corrupt, version)
            return entry
        }

        /// Whether its charges follow from its lines, and from the terms that were recorded when it was placed.
        var followsFromTerms: Bool {
            guard case .followed(.placed(let book)) = status else { return true }
            return book.placement.follows(from: book.placement.pricing)
        }

        /// Takes the next event.
        mutating func take(_ change: Order.Event, _ version: Int64, of order: Identifier) throws(ImpossibleEvent) {
            self.version = version
            var state: Order.State
            switch status {
            case .corrupt: return
            case .unplaced: state = .unplaced
            case .untouched(let total, let currency, let customer):
                let placement = Order.Placement(
                    cart: order, outlet: order, currency: currency, lines: [], total: total, customer: customer)
                state = .placed(Order.Book(placement))
            case .followed(let known): state = known
            }
            status = .corrupt
            try Order.evolve(&state, change)
            guard case .placed(var book) = state else { return }
            if book.placement.terms.placedAt == nil || book.status.isEnd {
                book.placement.lines = []
                book.placement.handover = .none
                book.placement.pricing = .none
                book.changes = []
            }
            book.placement.name = nil
            book.placement.handover.phone = nil
            book.placement.handover.address = nil
            let placement = book.placement
            if placement.terms == .none, placement.claims.isEmpty, book == Order.Book(placement) {
                status = .untouched(placement.total, placement.currency, of: placement.customer)
            } else {
                status = .followed(.placed(book))
            }
        }
    }

    /// How many streams are kept to find out what partitions there are.
    private static let sampleSize = 64

    /// The most carts whose contents are kept. If more are open at once, half of all carts are left for another pass
    /// over the log.
    static let maximumOpenCarts = 1_000_000

    private let partition: Int
    private let partitioning: Partitioning
    private let openCartLimit: Int
    /// The carts that are checked in this pass.
    private var share = CartShare()
    /// Up to where the passes before have reported on these carts and their orders; 0 in the first pass.
    private var reportedUpTo: Int64 = 0
    /// What is left for other passes.
    private var left: [(share: CartShare, reportedUpTo: Int64)] = []
    /// The first streams of the partition.
    private(set) var streams: [StreamName] = []
    /// The streams that belong to another partition: the first one, and how many there are.
    private var misplaced: (stream: StreamName, position: Int64, count: Int)?
    private var carts: [Identifier: CartEntry] = [:]
    private var openCarts = 0
    /// How many carts were checked in the passes before.
    private var checkedCarts = 0
    /// What was done beside the log.
    private(set) var deeds = DeedCheck()
    /// How orders are had.
    private(set) var services: ServiceCheck
    /// What orders hold.
    private(set) var claims: ClaimCheck
    /// Versions of outlets, menus and what was done beside the log.
    private var versions: [StreamName: Int64] = [:]
    /// Every order.
    private var books: [Identifier: OrderEntry] = [:]
    /// Orders whose checkout has not been read yet, and checkouts whose order has not.
    private var orders: [Identifier: (placement: Order.Placement, position: Int64)] = [:]
    private var checkouts: [Identifier: (contents: Cart.Contents, cart: Identifier, position: Int64)] = [:]
    private(set) var orderCount = 0
    private(set) var findings = Findings()

    init(partition: Int, _ partitioning: Partitioning, openCartLimit: Int, _ claims: ClaimCheck) {
        self.claims = claims
        self.partition = partition
        self.openCartLimit = openCartLimit
        self.partitioning = partitioning
        services = ServiceCheck(partition: partition, partitioning)
    }

    var cartCount: Int { checkedCarts + carts.count }

    private mutating func found(_ kind: Finding.Kind, _ position: Int64, _ subject: String, _ message: String) {
        guard position > reportedUpTo else { return }
        findings.add(Finding(kind, partition: partition, position: position, subject: subject, message))
    }

    /// Whether an event is looked at in this pass, which is not the first one.
    var isWanted: @Sendable (EventView) -> Bool {
        { [share] event in
            guard let stream = StreamName(utf8: event.stream) else { return false }
            return stream.category == .order || stream.category == .cart && share.contains(stream.id)
        }
    }

    mutating func take(_ event: PreparedPage.Event) {
        switch event.decoded {
        case .failure(let corruption): take(corruption, event.version)
        case .success(let event):
            switch event.event {
            case .cart(let cart):
                if case .checkoutBegun(let checkout) = cart, reportedUpTo == 0 { take(checkout, event) }
                guard share.contains(event.stream.id) else { return }
                take(cart, event)
                if openCarts > openCartLimit, carts.count > 1 { leaveHalf(at: event.position) }
            case .order(let order):
                if reportedUpTo == 0 { take(order, event) }
                guard case .placed(let placement) = order, share.contains(placement.cart) else { return }
                take(placement, event)
            case .outlet, .menu, .supply, .promotions, .deed:
                guard reportedUpTo == 0 else { return }
                check(event, after: versions.updateValue(event.version, forKey: event.stream) ?? 0)
                if case .deed(let deed) = event.event { deeds.take(deed, event) }
                if case .outlet(let change) = event.event { services.take(change, of: event.stream.id) }
                if case .promotions(let change) = event.event { services.take(change, of: event.stream.id) }
                if case .supply(let change) = event.event, let problem = claims.take(change, event) {
                    found(.difference, event.position, event.stream.description, problem)
                }
            }
        }
    }

    private mutating func leaveHalf(at position: Int64) {
        left.append((share.halve(), max(position, reportedUpTo)))
        carts = carts.filter { share.contains($0.key) }
        openCarts = carts.values.count { $0.isOpen }
        orders = orders.filter { share.contains($0.value.placement.cart) }
        checkouts = checkouts.filter { share.contains($0.value.cart) }
    }

    private mutating func take(_ corruption: CorruptEvent, _ version: Int64) {
        let stream = StreamName(corruption.stream)
        let isOurs =
            if let stream, stream.category == .cart { share.contains(stream.id) } else { reportedUpTo == 0 }
        guard isOurs else { return }
        found(.difference, corruption.position, corruption.stream, "cannot be understood: \(corruption.reason)")
        guard let stream else { return }
        let last: Int64
        switch stream.category {
        case .cart:
            last = carts.updateValue(CartEntry(status: .corrupt, version: version), forKey: stream.id)?.version ?? 0
        case .outlet:
            services.lose(stream.id)
            last = versions.updateValue(version, forKey: stream) ?? 0
        case .supply:
            claims.lose(stream.id)
            last = versions.updateValue(version, forKey: stream) ?? 0
        case .promotions:
            services.losePromotions(of: stream.id)
            last = versions.updateValue(version, forKey: stream) ?? 0
        case .menu, .customer, .user, .relay: last = versions.updateValue(version, forKey: stream) ?? 0
        case .order: last = books.updateValue(.corrupt(version), forKey: stream.id)?.version ?? 0
        }
        check(stream, version, after: last, corruption.position)
    }

    private mutating func check(_ event: DecodedEvent, after last: Int64) {
        check(event.stream, event.version, after: last, event.position)
    }

    private mutating func check(_ stream: StreamName, _ version: Int64, after last: Int64, _ position: Int64) {
        if last == 0 { checkPlace(of: stream, position) }
        guard last == .max || version != last + 1 else { return }
        found(.tampering, position, stream.description, "goes from version \(last) to \(version)")
    }

    /// A stream has all its events in one partition: its first one shows whether it belongs there.
    private mutating func checkPlace(of stream: StreamName, _ position: Int64) {
        guard position > reportedUpTo else { return }
        if streams.count < HistoryCheck.sampleSize { streams.append(stream) }
        guard partitioning.partition(of: stream) != partition else { return }
        if misplaced == nil { misplaced = (stream, position, 0) }
        misplaced?.count += 1
    }

    private mutating func take(_ change: Cart.Event, _ event: DecodedEvent) {
        // One look-up for everything: it is most of the cost of an event here.
        let (last, step) = carts[event.stream.id, default: CartEntry()].take(change, event.version)
        check(event, after: last)
        if last == 0 { openCarts += 1 }
        switch step {
        case .folded: break
        case .checkedOut(let contents, let order):
            openCarts -= 1
            reconcile(order, contents, of: event.stream.id, at: event.position)
        case .alreadyCheckedOut:
            found(.difference, event.position, event.stream.description, "changes after it was checked out")
        case .impossible(let error):
            found(.difference, event.position, event.stream.description, "is impossible: \(error)")
        }
    }

    private mutating func take(_ change: Order.Event, _ event: DecodedEvent) {
        let order = event.stream.id
        check(event, after: books[order]?.version ?? 0)
        do throws(ImpossibleEvent) {
            try books[order, default: OrderEntry()].take(change, event.version, of: order)
        } catch {
            found(.difference, event.position, event.stream.description, "is impossible: \(error)")
        }
        if case .changed = change, !(books[order]?.followsFromTerms ?? true) {
            found(
                .difference, event.position, event.stream.description,
                "has other charges after a change than follow from its lines and the terms that it was placed on")
        }
        claims.take(change, event, at: books[order]?.outlet)
        // One with claims was decided when its checkout began.
        if case .placed(let placement) = change, placement.claims.isEmpty {
            check(placement, order, at: event.position)
        }
    }

    private mutating func take(_ checkout: Cart.Checkout, _ event: DecodedEvent) {
        let placement = Order.Placement(
            cart: event.stream.id, outlet: checkout.outlet, currency: Currency("XXX")!, lines: checkout.lines,
            charges: checkout.charges, total: checkout.total, customer: checkout.customer, name: checkout.name,
            handover: checkout.handover, claims: checkout.claims)
        check(placement, checkout.order, at: event.position)
    }

    private mutating func check(_ placement: Order.Placement, _ order: Identifier, at position: Int64) {
        guard let problem = services.problem(of: placement, order, at: position) else { return }
        found(.difference, position, "order-\(order)", problem)
    }

    private mutating func take(_ placement: Order.Placement, _ event: DecodedEvent) {
        if event.position > reportedUpTo { orderCount += 1 }
        if let checkout = checkouts.removeValue(forKey: event.stream.id) {
            compare(event.stream.id, placement, checkout.contents, checkout.cart, event.position)
        } else {
            orders[event.stream.id] = (placement, event.position)
        }
    }

    private mutating func reconcile(
        _ order: Identifier, _ contents: Cart.Contents, of cart: Identifier, at position: Int64
    ) {
        if let placed = orders.removeValue(forKey: order) {
            compare(order, placed.placement, contents, cart, position)
        } else {
            checkouts[order] = (contents, cart, position)
        }
    }

    private mutating func compare(
        _ order: Identifier, _ placement: Order.Placement, _ contents: Cart.Contents, _ cart: Identifier,
        _ position: Int64
    ) {
        let total = try? contents.payable()
        guard
            placement.cart != cart || placement.outlet != contents.outlet || placement.lines != contents.lines
                || placement.charges != contents.charges || placement.total != total
                || placement.handover.service != contents.service || placement.handover.table != contents.table
        else { return }
        found(
            .difference, position, "order-\(order)",
            "is not what cart '\(cart)' held when it was checked out: it has \(placement.lines.count.counted("line")) "
                + "for \(placement.total.minorUnits), and the cart had \(contents.lines.count) for "
                + (total.map { "\($0.minorUnits)" } ?? "more than can be charged")
        )
    }

    /// The partition is read to its end, the first time.
    mutating func finishClaims(_ model: ReadModel) { claims.finishPartition(model) }

    /// Checks what is left after every event was taken, and compares the carts with the projection. Returns whether
    /// there are carts for which every event is to be taken once more.
    mutating func finishPass(_ counts: CartCounts) -> Bool {
        reportedUpTo = -1
        for (order, placed) in orders.sorted(by: { $0.value.position < $1.value.position }) {
            found(
                .difference, placed.position, "order-\(order)",
                "was placed, but its cart '\(placed.placement.cart)' was never checked out for it")
        }
        for (order, checkout) in checkouts.sorted(by: { $0.value.position < $1.value.position }) {
            found(
                .difference, checkout.position, "cart-\(checkout.cart)",
                "was checked out as order '\(order)', which is missing")
        }
        for (cart, entry) in carts {
            let count: Int
            switch entry.status {
            case .open(let state): count = state.count
            case .checkedOut: count = 0
            case .corrupt: continue
            }
            // A missing version was reported already, and the projection folds the stream no further.
            guard counts.quarantine[StreamName(.cart, cart)] == nil else { continue }
            let counted = counts.count(of: cart) ?? 0
            if count != counted {
                found(.difference, 0, "cart-\(cart)", "holds \(count), and \(CartCounts.name) says \(counted)")
            }
        }
        guard let next = left.popLast() else {
            reportMisplaced()
            return false
        }
        checkedCarts += carts.count
        (carts, openCarts, orders, checkouts) = ([:], 0, [:], [:])
        (share, reportedUpTo) = next
        return true
    }

    private mutating func reportMisplaced() {
        guard let (stream, position, count) = misplaced else { return }
        found(
            .tampering, position, stream.description,
            "belongs to partition \(partitioning.partition(of: stream)) of \(partitioning.count)"
                + (count > 1 ? ", and \((count - 1).counted("more stream")) to others" : ""))
    }
}

/// Some of the carts of a log: those whose hashes end in certain bits.
private struct CartShare {
    private var mask = 0
    private var bits = 0

    func contains(_ cart: Identifier) -> Bool { mask == 0 || cart.hashValue & mask == bits }

    /// Gives one half away.
    mutating func halve() -> CartShare {
        var other = self
        mask = mask << 1 | 1
        other.mask = mask
        other.bits |= mask & ~(mask >> 1)
        return other
    }
}
