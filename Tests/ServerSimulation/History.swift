import Domain
import EventLog
import EventLoop
import LoadOracle

/// A log, folded by nothing that is tested but the types of events. What cannot have come of what clients asked is a
/// violation.
@LoopActor
struct History {
    /// An event of a stream, and what there was after it.
    struct Step {
        var position: Int64
        var id: String?
        /// The reply of the command: a cart's count, or the version.
        var reply: Int64
        /// The cart, in the stream of one.
        var cart = CartModel()
        /// The outlet, in the stream of one.
        var outlet = OutletModel()
    }

    /// An outlet, and what it became.
    struct OutletModel {
        var isOpen = false
        var isHidden = false
        var isRemoved = false
        /// When that was committed, if it was.
        var removedAt: UInt64?
    }

    /// A cart, and what it became.
    struct CartModel {
        struct Line: Equatable {
            var id: String
            var quantity: Int
            var price: Int64

            /// The line as orders show it.
            func document(at prices: Prices) -> [LoadOracle.Text: JSON] {
                [
                    "line": JSON(id), "item": JSON(Prices.item), "name": JSON("Tea"), "quantity": JSON(quantity),
                    "unitPrice": JSON(price), "options": Choice(line: id).document(at: prices), "note": .null,
                    "total": JSON(price * Int64(quantity)),
                ]
            }
        }

        var lines: [Line] = []
        var order: String?
        var customer: String?
        var tip: Int64 = 0
        /// What it was checked out for, and at which prices.
        var bill: Bill?
        var prices = Prices.initial
        var count: Int64 { lines.reduce(0) { $0 + Int64($1.quantity) } }
        /// What each line costs at the price of when it was last added to.
        private var own: [Int64] { lines.map { $0.price * Int64($0.quantity) } }

        /// What `CART.GET` shows: without charges before it is checked out.
        var shown: Bill { bill ?? Bill(lines: own) }

        /// What it costs at the prices of when each line was last added to.
        func bill(_ charges: Charges) -> Bill { lines.isEmpty ? Bill(lines: []) : charges.bill(for: own, tip: tip) }

        /// What it costs at other prices.
        func bill(at prices: Prices, _ charges: Charges) -> Bill {
            let amounts = lines.map { prices.price(of: Choice(line: $0.id)) * Int64($0.quantity) }
            return lines.isEmpty ? Bill(lines: []) : charges.bill(for: amounts, tip: tip)
        }
    }

    /// An order after one command, or after what happened to it by itself.
    struct Stage {
        var order: OrderFacts
        var state: OrderState
        /// The position of the last event, and when it was committed.
        var position: Int64
        var time: UInt64
        /// The command that led here; nil for what happened by itself.
        var id: String?
    }

    /// The events of each stream; that of version 1 first.
    private(set) var streams: [String: [Step]] = [:]
    /// The stages of each order, by its id.
    private(set) var orders: [String: [Stage]] = [:]
    /// The prices of each outlet, and from which position on they hold.
    private(set) var prices: [String: [(position: Int64, prices: Prices)]] = [:]
    /// How many deadlines were met.
    private(set) var deadlineCount = 0

    private let world: World
    private let writes: [String: Write]

    /// An event of an order.
    private struct OrderEvent {
        var recorded: DecodedEvent
        var event: Order.Event
        var time: UInt64
    }

    /// - Parameter writes: what clients asked for, by their ids.
    init(_ record: World.Record, _ writes: [String: Write], _ world: World) throws {
        self.world = world
        self.writes = writes
        var commits = record.commits[...]
        var orderEvents: [(id: String, events: [OrderEvent])] = []
        for (index, recorded) in record.events.enumerated() {
            let event = try recorded.decoded()
            let steps = streams[recorded.stream] ?? []
            if event.position != Int64(index) + 1 { world.violation("position \(event.position) at \(index)") }
            if event.version != Int64(steps.count) + 1 {
                world.violation("\(recorded.stream) has version \(event.version) after \(steps.count)")
            }
            while let first = commits.first, first.end < event.position { commits.removeFirst() }
            var step = Step(position: event.position, id: event.metadata.request, reply: event.version)
            switch event.event {
            case .cart(let change):
                step.cart = steps.last?.cart ?? CartModel()
                take(change, event, &step)
            case .menu(let change): take(change, event)
            case .outlet(let change):
                step.outlet = steps.last?.outlet ?? OutletModel()
                take(change, event, &step)
                if step.outlet.isRemoved {
                    step.outlet.removedAt = step.outlet.removedAt ?? commits.first?.time ?? world.now
                }
            case .order(let change):
                let id = event.stream.id.rawValue
                let time = commits.first?.time ?? world.now
                let next = OrderEvent(recorded: event, event: change, time: time)
                if let known = orderEvents.firstIndex(where: { $0.id == id }) {
                    orderEvents[known].events.append(next)
                } else {
                    orderEvents.append((id, [next]))
                }
            case .promotions: world.violation("\(recorded.stream) is in the log, and nothing was taken off")
            case .supply: world.violation("\(recorded.stream) is in the log, and nothing was counted")
            case .deed: world.violation("\(recorded.stream) is in the log, and nothing was done beside it")
            }
            streams[recorded.stream] = steps + [step]
        }
        for (id, events) in orderEvents { tell(id, events[...]) }
    }

    private func write(of event: DecodedEvent) -> Write? { event.metadata.request.flatMap { writes[$0] } }

    // MARK: Outlets

    private func take(_ change: Domain.Outlet.Event, _ event: DecodedEvent, _ step: inout Step) {
        let id = event.stream.id.rawValue
        if step.outlet.isRemoved { world.violation("\(id) was changed after it was removed") }
        let isAsked: Bool
        switch (change, write(of: event)?.action) {
        case (.opened, .open?), (.closed, .close?), (.hidden, .hide?), (.shown, .show?), (.removed, .remove?):
            isAsked = true
        default: isAsked = false
        }
        if !isAsked, event.position > world.filled { world.violation("\(id) was changed by nobody: \(change)") }
        switch change {
        case .opened: step.outlet.isOpen = true
        case .closed: step.outlet.isOpen = false
        case .hidden: step.outlet.isHidden = true
        case .shown: step.outlet.isHidden = false
        case .removed: step.outlet.isRemoved = true
        case .registered, .detailsChanged, .paused, .openedByHours, .closedByHours, .daypartsChanged, .slowed:
            if event.position > world.filled { world.violation("\(id) was changed by nobody: \(change)") }
        }
    }

    /// Whether an outlet took orders at the end of what was folded.
    private func isSelling(_ outlet: String) -> Bool {
        streams["outlet-\(outlet)"]?.last.map { $0.outlet.isOpen && !$0.outlet.isRemoved } ?? false
    }

    // MARK: Prices and carts

    private mutating func take(_ change: Menu.Event, _ event: DecodedEvent) {
        let outlet = event.stream.id.rawValue
        var now = prices(of: outlet)
        // No batch is refused for that, so a server that has not read of the removal yet still takes a price.
        if let removedAt = streams["outlet-\(outlet)"]?.last?.outlet.removedAt,
            write(of: event)?.sentAt.map({ $0 > removedAt + Judge.patience }) ?? true
        {
            world.violation("the menu of \(outlet) was changed after it was removed")
        }
        switch change {
        case .itemRepriced(let id, let amount), .optionRepriced(let id, let amount, _):
            guard case .price(id.rawValue, amount.minorUnits)? = write(of: event)?.action else {
                return world.violation("'\(id)' of \(outlet) got a price that nobody asked for: \(amount.minorUnits)")
            }
            now.amounts[id.rawValue] = amount.minorUnits
        default: guard event.position <= world.filled else { return world.violation("\(outlet) has another menu") }
        }
        prices[outlet, default: []].append((event.position, now))
    }

    /// The prices of an outlet at the end of what was folded.
    private func prices(of outlet: String) -> Prices { prices[outlet]?.last?.prices ?? .initial }

    private func take(_ change: Cart.Event, _ event: DecodedEvent, _ step: inout Step) {
        let cart = event.stream.id.rawValue
        let prices = prices(of: Model.outlet(of: cart))
        let action = write(of: event)?.action
        if step.cart.order != nil { world.violation("\(cart) was changed after its checkout") }
        let outlet = Model.outlet(of: cart)
        func sell(to customer: Identifier?) {
            if !isSelling(outlet) { world.violation("\(cart) got something of \(outlet), which took no orders") }
            step.cart.customer = step.cart.customer ?? write(of: event)?.customer
            if customer?.rawValue != step.cart.customer {
                world.violation(
                    "\(cart) is of \(customer?.rawValue ?? "nobody"), not \(step.cart.customer ?? "nobody")")
            }
        }
        switch change {
        case .itemAdded(let line, _, _, let customer):
            sell(to: customer)
            let id = line.id.string
            guard case .add(let choice, let quantity)? = action, choice.line == id, quantity == line.quantity,
                !choice.isTooMuch
            else { return world.violation("\(cart) got \(line.quantity) of \(id), which nobody asked for") }
            let price = prices.price(of: choice)
            if line.unitPrice.minorUnits != price {
                world.violation("\(cart) got \(id) at \(line.unitPrice.minorUnits) instead of \(price)")
            }
            if let index = step.cart.lines.firstIndex(where: { $0.id == id }) {
                step.cart.lines[index].quantity += quantity
                step.cart.lines[index].price = price
            } else {
                step.cart.lines.append(CartModel.Line(id: id, quantity: quantity, price: price))
            }
        case .cleared:
            guard case .clear? = action else { return world.violation("\(cart) was cleared, and nobody asked for it") }
            (step.cart.lines, step.cart.tip, step.cart.customer) = ([], 0, nil)
        case .codeAdded, .codeRemoved: world.violation("\(cart) got a code, which nobody said")
        case .tipSet(let amount):
            guard case .tip(amount.minorUnits)? = action, !step.cart.lines.isEmpty else {
                return world.violation("\(cart) got a tip of \(amount.minorUnits), which nobody gave")
            }
            step.cart.tip = amount.minorUnits
        case .serviceChosen(let service, _, _):
            world.violation("\(cart) is for \(service), which nobody asked for")
        case .checkedOut(let order, let lines, let charges, let total, let customer, _, _):
            sell(to: customer)
            guard case .checkOut(let agreed, _)? = action else {
                return world.violation("\(cart) was checked out, and nobody asked for it")
            }
            let found = lines.map {
                CartModel.Line(id: $0.id.string, quantity: $0.quantity, price: $0.unitPrice.minorUnits)
            }
            for index in step.cart.lines.indices {
                step.cart.lines[index].price = prices.price(of: Choice(line: step.cart.lines[index].id))
            }
            if found != step.cart.lines {
                world.violation("\(cart) was checked out as \(found) instead of \(step.cart.lines)")
            }
            let bill = step.cart.bill(world.terms[outlet]?.charges ?? Charges())
            if charges.map(Bill.Charge.init) != bill.charges {
                world.violation(
                    "\(cart) was charged \(charges.map { Bill.Charge($0) }) instead of \(bill.charges)"
                )
            }
            if total.minorUnits != bill.total || agreed != bill.total {
                world.violation(
                    "\(cart) was checked out for \(total.minorUnits), agreed was \(agreed), it cost \(bill.total)")
            }
            (step.cart.order, step.cart.bill, step.cart.prices) = (order.rawValue, bill, prices)
        case .quantityChanged, .lineRemoved, .lineEdited, .checkoutBegun, .checkoutRefused:
            world.violation("\(cart) was changed by nobody")
        }
        step.reply = step.cart.order == nil ? step.cart.count : 0
    }

    // MARK: Orders

    /// Follows an order's life.
    private mutating func tell(_ id: String, _ events: ArraySlice<OrderEvent>) {
        var rest = events
        guard let first = rest.popFirst(), case .placed(let placement) = first.event,
            let order = placed(id, placement, first)
        else { return world.violation("order \(id) was never placed") }
        var state = OrderState(placed: order, due: due(of: order))
        var group = take(from: &rest, after: first)
        check(group, are: state.status == .placed ? order.whenReleased : [], of: id, "its checkout")
        var stages: [Stage] = []
        var last = group.last ?? first
        for event in group { change(&state, event) }
        while true {
            stages.append(
                Stage(
                    order: order, state: state, position: last.recorded.position, time: last.time,
                    id: last.recorded.metadata.request))
            guard let next = rest.popFirst() else { break }
            group = [next] + take(from: &rest, after: next)
            judge(group, of: order, state)
            for event in group { change(&state, event) }
            last = group[group.count - 1]
        }
        orders[id] = stages
    }

    /// The events that follow one and are of the same command.
    private func take(from rest: inout ArraySlice<OrderEvent>, after first: OrderEvent) -> [OrderEvent] {
        var group: [OrderEvent] = []
        while let next = rest.first, next.recorded.metadata == first.recorded.metadata,
            next.recorded.position == first.recorded.position + Int64(group.count) + 1
        {
            group.append(rest.removeFirst())
        }
        return group
    }

    private func change(_ state: inout OrderState, _ event: OrderEvent) {
        if let change = OrderChange(event.event) { state.take(change, due: event.event.due) }
    }

    /// Until when an order is to be paid or accepted after it was placed.
    private func due(of order: OrderFacts) -> Int64? {
        guard order.isPaidFirst || order.hasToBeAccepted, let placedAt = order.placedAt else { return nil }
        return placedAt + Int64((order.isPaidFirst ? order.terms.payWithin : order.terms.acceptWithin) ?? 0) * 1_000
    }

    /// An order as it was placed, if it was placed as its outlet and cart say.
    private func placed(_ id: String, _ placement: Order.Placement, _ event: OrderEvent) -> OrderFacts? {
        let (cart, outlet) = (placement.cart.rawValue, placement.outlet.rawValue)
        guard let terms = world.terms[outlet], let write = write(of: event.recorded) else { return nil }
        let said = placement.terms
        let lines = placement.lines.map {
            CartModel.Line(id: $0.id.string, quantity: $0.quantity, price: $0.unitPrice.minorUnits)
        }
        let promise = Int64(terms.prepMinutes ?? 0) * 60_000
        let placedAt =
            said.placedAt?.millisecondsSinceEpoch ?? said.promisedFor.map { $0.millisecondsSinceEpoch - promise }
            ?? world.clock(at: event.time)
        let hasName = if case .checkOut(_, true) = write.action { true } else { false }
        if (placement.name != nil) != hasName { world.violation("order \(id) has another name than was given") }
        let step = streams["cart-\(cart)"]?.last { $0.cart.order == id }
        let prices = step?.cart.prices ?? .initial
        let order = OrderFacts(
            id: id, cart: cart, outlet: outlet, terms: terms,
            lines: lines.map { .init(id: $0.id, quantity: $0.quantity, document: $0.document(at: prices)) },
            bill: step?.cart.bill ?? Bill(lines: []), currency: "LKR", customer: placement.customer?.rawValue,
            name: hasName ? Model.anyName : nil, placedAt: placedAt)
        let times = [said.placedAt, said.promisedFor, said.payBy, said.acceptBy].map { $0?.millisecondsSinceEpoch }
        let due = due(of: order)
        if times != [
            order.isFollowed ? placedAt : nil, terms.prepMinutes == nil ? nil : placedAt + promise,
            order.isPaidFirst ? due : nil, order.isPaidFirst ? nil : due,
        ] {
            world.violation("order \(id) waits for \(times), which its outlet does not say")
        }
        checkTime(placedAt, write, event, "order \(id) was placed")
        guard let step else {
            world.violation("order \(id) was placed, and \(cart) was not checked out")
            return order
        }
        if step.cart.lines != lines || order.bill.total != placement.total.minorUnits
            || outlet != Model.outlet(of: cart) || step.id != write.id
            || placement.charges.map(Bill.Charge.init) != order.bill.charges
            || placement.customer?.rawValue != step.cart.customer
        {
            world.violation("order \(id) is not what \(cart) was checked out as")
        }
        return order
    }

    /// A moment that a command was decided at lies between when it was sent and when it was committed.
    private func checkTime(_ moment: Int64, _ write: Write, _ event: OrderEvent, _ what: String) {
        let range = (write.sentAt.map { world.clock(at: $0) } ?? 0)...world.clock(at: event.time)
        if !range.contains(moment) { world.violation("\(what) at \(moment), which is not in \(range)") }
    }

    private func check(_ group: [OrderEvent], are expected: [OrderChange], of id: String, _ why: String) {
        let found = group.compactMap { OrderChange($0.event) }
        if found != expected || found.count != group.count {
            world.violation("order \(id) became \(found) by \(why), instead of \(expected)")
        }
    }

    /// Whether what happened to an order by one command is what comes of it, or by itself is what was due.
    private mutating func judge(_ group: [OrderEvent], of order: OrderFacts, _ state: OrderState) {
        let (first, id) = (group[0], order.id)
        let metadata = first.recorded.metadata
        guard metadata.request != nil else {
            guard metadata.actor == "tiffin", metadata.cause?.string.hasPrefix("order-\(id)@") ?? false else {
                return world.violation("nobody asked for version \(first.recorded.version) of order \(id)")
            }
            deadlineCount += 1
            check(group, are: state.whenTimePasses, of: id, "itself, when it was \(state.status)")
            let decided = min(first.recorded.recordedAt.millisecondsSinceEpoch, world.clock(at: first.time))
            let deadline = state.deadline(of: order) ?? .max
            if deadline > decided {
                world.violation("order \(id) changed by itself at \(decided), and was due at \(deadline)")
            }
            return
        }
        guard let write = write(of: first.recorded), case .order(let step, let known) = write.action, known.id == id
        else { return world.violation("nobody asked for version \(first.recorded.version) of order \(id)") }
        guard case .changes(let changes) = state.outcome(of: step, order) else {
            return world.violation("order \(id) was \(state.status), and \(step) changed it")
        }
        check(group, are: changes, of: id, "\(step), when it was \(state.status)")
        for event in group {
            let change = OrderChange(event.event)
            let waits = change == .coverLost || change == .released && order.hasToBeAccepted
            guard waits, let due = event.event.due else {
                if waits || event.event.due != nil {
                    world.violation("order \(id) has to be accepted, or nobody has to")
                }
                continue
            }
            let seconds = change == .coverLost ? order.terms.payWithin : order.terms.acceptWithin
            checkTime(due - Int64(seconds ?? 0) * 1_000, write, event, "order \(id) began to wait")
        }
    }
}

extension EventMetadata {
    /// The id of the client's command, whichever way it was told; nil for what the server did by itself.
    fileprivate var request: String? { (commandID ?? flow)?.string }
}
