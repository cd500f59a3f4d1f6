internal import Domain
internal import EventLog
internal import Projections

/// The domain's books of a partition: every cart folded as its aggregate folds it, and every order held against the
/// cart that it was made from.
struct Books {
    private enum Page {
        case open(Cart.State)
        /// Nothing more can happen to it: what it held is not kept.
        case closed
        /// Its history cannot be understood.
        case corrupt
    }

    private struct Entry {
        var page = Page.open(Cart.initial)
        var version: Int64 = 0

        /// What became of a cart with its next event.
        enum Step {
            case folded
            case checkedOut(Cart.Contents, order: Identifier)
            case alreadyCheckedOut
            case impossible(ImpossibleEvent)
        }

        /// Takes the next event in; says at which version the cart was before, too.
        mutating func take(_ change: Cart.Event, _ version: Int64) -> (last: Int64, Step) {
            defer { self.version = version }
            return (self.version, evolve(change))
        }

        private mutating func evolve(_ change: Cart.Event) -> Step {
            // Taken out of the entry, so that adding to the lines copies nothing.
            var taken = Page.corrupt
            swap(&taken, &page)
            switch consume taken {
            case .corrupt: return .folded
            case .closed: return .alreadyCheckedOut
            case .open(var state):
                do throws(ImpossibleEvent) {
                    try Cart.evolve(&state, change)
                } catch {
                    return .impossible(error)
                }
                if case .checkedOut(let contents, let order) = state {
                    page = .closed
                    return .checkedOut(contents, order: order)
                }
                page = .open(state)
                return .folded
            }
        }
    }

    private let partition: Int
    private var carts: [Identifier: Entry] = [:]
    /// Versions of outlets and menus.
    private var versions: [StreamName: Int64] = [:]
    /// Orders whose checkout has not been met yet, and checkouts whose order has not.
    private var orders: [Identifier: (placement: Order.Placement, position: Int64)] = [:]
    private var checkouts: [Identifier: (contents: Cart.Contents, cart: Identifier, position: Int64)] = [:]
    private(set) var orderCount = 0
    private(set) var findings = Findings()

    init(partition: Int) {
        self.partition = partition
    }

    var cartCount: Int { carts.count }

    private mutating func found(_ kind: Finding.Kind, _ position: Int64, _ subject: String, _ message: String) {
        findings.add(Finding(kind, partition: partition, position: position, subject: subject, message))
    }

    mutating func take(_ event: PreparedPage.Event) {
        switch event.decoded {
        case .failure(let corruption):
            found(.difference, corruption.position, corruption.stream, "cannot be understood: \(corruption.reason)")
            if let stream = StreamName(corruption.stream), stream.category == .cart {
                carts[stream.id] = Entry(page: .corrupt, version: event.version)
            }
        case .success(let event):
            switch event.event {
            case .cart(let cart): take(cart, event)
            case .order(.placed(let placement)): take(placement, event)
            case .outlet, .menu:
                let last = versions[event.stream] ?? 0
                check(event, follows: last)
                versions[event.stream] = event.version
            }
        }
    }

    private mutating func check(_ event: DecodedEvent, follows last: Int64) {
        guard event.version != last + 1 else { return }
        found(
            .tampering, event.position, event.stream.description, "goes from version \(last) to \(event.version)")
    }

    private mutating func take(_ change: Cart.Event, _ event: DecodedEvent) {
        // One look for everything: most of what an event costs here goes into it.
        let (last, step) = carts[event.stream.id, default: Entry()].take(change, event.version)
        check(event, follows: last)
        switch step {
        case .folded: break
        case .checkedOut(let contents, let order): settle(order, contents, of: event.stream.id, at: event.position)
        case .alreadyCheckedOut:
            found(.difference, event.position, event.stream.description, "changes after its checkout")
        case .impossible(let error):
            found(.difference, event.position, event.stream.description, "cannot have happened: \(error)")
        }
    }

    private mutating func take(_ placement: Order.Placement, _ event: DecodedEvent) {
        orderCount += 1
        check(event, follows: 0)
        if let checkout = checkouts.removeValue(forKey: event.stream.id) {
            compare(event.stream.id, placement, checkout.contents, checkout.cart, event.position)
        } else {
            orders[event.stream.id] = (placement, event.position)
        }
    }

    private mutating func settle(
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
        let total = try? contents.total()
        guard
            placement.cart != cart || placement.outlet != contents.outlet || placement.lines != contents.lines
                || placement.total != total
        else { return }
        found(
            .difference, position, "order-\(order)",
            "is not what cart '\(cart)' held at its checkout: \(placement.total.minorUnits) for "
                + "\(placement.lines.count) lines, and the cart had \(total?.minorUnits ?? -1) for \(contents.lines.count)"
        )
    }

    /// Every event has been taken in: holds the counts against the projection.
    mutating func finish(_ counts: CartCounts) {
        for (order, placed) in orders.sorted(by: { $0.value.position < $1.value.position }) {
            found(
                .difference, placed.position, "order-\(order)",
                "was placed, and its cart '\(placed.placement.cart)' was never checked out as it")
        }
        for (order, checkout) in checkouts.sorted(by: { $0.value.position < $1.value.position }) {
            found(
                .difference, checkout.position, "cart-\(checkout.cart)",
                "was checked out as '\(order)', an order that is not there")
        }
        for (cart, entry) in carts {
            let count: Int
            switch entry.page {
            case .open(let state): count = state.count
            case .closed: count = 0
            case .corrupt: continue
            }
            // A stream that lacks a version has been told of, and the projection goes no further with it.
            guard counts.quarantine[StreamName(.cart, cart)] == nil else { continue }
            if count != counts.count(of: cart) {
                found(
                    .difference, 0, "cart-\(cart)",
                    "holds \(count), and the projection \(CartCounts.name) makes \(counts.count(of: cart)) of it")
            }
        }
    }
}
