import Domain
import EventLog
import EventLoop

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
    }

    /// A cart, and what it became.
    struct CartModel {
        var lines: [OrderModel.Line] = []
        var order: String?
        var customer: String?
        var tip: Int64 = 0
        /// What it was checked out for.
        var bill: Bill?
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
        var model: OrderModel
        /// The version that the last event led to, its position, and when it was committed.
        var version: Int64
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
            var step = Step(position: event.position, id: event.metadata.commandID?.string, reply: event.version)
            switch event.event {
            case .cart(let change):
                step.cart = steps.last?.cart ?? CartModel()
                take(change, event, &step)
            case .menu(let change): take(change, event)
            case .outlet(let change):
                step.outlet = steps.last?.outlet ?? OutletModel()
                take(change, event, &step)
            case .order(let change):
                let id = event.stream.id.rawValue
                let time = commits.first?.time ?? world.now
                let next = OrderEvent(recorded: event, event: change, time: time)
                if let known = orderEvents.firstIndex(where: { $0.id == id }) {
                    orderEvents[known].events.append(next)
                } else {
                    orderEvents.append((id, [next]))
                }
            case .deed: world.violation("\(recorded.stream) is in the log, and nothing was done beside it")
            }
            streams[recorded.stream] = steps + [step]
        }
        for (id, events) in orderEvents { tell(id, events[...]) }
    }

    private func write(of event: DecodedEvent) -> Write? { event.metadata.commandID.flatMap { writes[$0.string] } }

    // MARK: Outlets

    private func take(_ change: Outlet.Event, _ event: DecodedEvent, _ step: inout Step) {
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
        case .registered, .detailsChanged, .paused:
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
        if streams["outlet-\(outlet)"]?.last?.outlet.isRemoved ?? false {
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
                step.cart.lines.append(OrderModel.Line(id: id, quantity: quantity, price: price))
            }
        case .cleared:
            guard case .clear? = action else { return world.violation("\(cart) was cleared, and nobody asked for it") }
            (step.cart.lines, step.cart.tip, step.cart.customer) = ([], 0, nil)
        case .tipSet(let amount):
            guard case .tip(amount.minorUnits)? = action, !step.cart.lines.isEmpty else {
                return world.violation("\(cart) got a tip of \(amount.minorUnits), which nobody gave")
            }
            step.cart.tip = amount.minorUnits
        case .checkedOut(let order, let lines, let charges, let total, let customer, _):
            sell(to: customer)
            guard case .checkOut(let agreed, _)? = action else {
                return world.violation("\(cart) was checked out, and nobody asked for it")
            }
            let found = lines.map {
                OrderModel.Line(id: $0.id.string, quantity: $0.quantity, price: $0.unitPrice.minorUnits)
            }
            for index in step.cart.lines.indices {
                step.cart.lines[index].price = prices.price(of: Choice(line: step.cart.lines[index].id))
            }
            if found != step.cart.lines {
                world.violation("\(cart) was checked out as \(found) instead of \(step.cart.lines)")
            }
            let bill = step.cart.bill(world.terms[outlet]?.charges ?? Charges.nothing)
            if charges.map(Bill.Charge.init) != bill.charges {
                world.violation(
                    "\(cart) was charged \(charges.map { Bill.Charge($0).text }) instead of \(bill.charges.map(\.text))"
                )
            }
            if total.minorUnits != bill.total || agreed != bill.total {
                world.violation(
                    "\(cart) was checked out for \(total.minorUnits), agreed was \(agreed), it cost \(bill.total)")
            }
            (step.cart.order, step.cart.bill) = (order.rawValue, bill)
        case .quantityChanged, .lineRemoved, .lineEdited: world.violation("\(cart) was changed by nobody")
        }
        step.reply = step.cart.order == nil ? step.cart.count : 0
    }

    // MARK: Orders

    /// Follows an order's life.
    private mutating func tell(_ id: String, _ events: ArraySlice<OrderEvent>) {
        var rest = events
        guard let first = rest.popFirst(), case .placed(let placement) = first.event,
            var model = placed(id, placement, first)
        else { return world.violation("order \(id) was never placed") }
        let outcome: [OrderChange] =
            model.status == .placed && model.isAcceptedAtOnce ? [.accepted(readyBy: nil, by: "system")] : []
        var group = take(from: &rest, after: first)
        check(group, are: outcome, of: id, "its checkout")
        var stages: [Stage] = []
        var last = group.last ?? first
        for event in group { change(&model, event) }
        while true {
            stages.append(
                Stage(
                    model: model, version: last.recorded.version, position: last.recorded.position, time: last.time,
                    id: last.recorded.metadata.commandID?.string))
            guard let next = rest.popFirst() else { break }
            group = [next] + take(from: &rest, after: next)
            judge(group, of: model)
            for event in group { change(&model, event) }
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

    private func change(_ model: inout OrderModel, _ event: OrderEvent) {
        if let change = OrderChange(event.event) { model.take(change) }
    }

    /// An order as it was placed, if it was placed as its outlet and cart say.
    private func placed(_ id: String, _ placement: Order.Placement, _ event: OrderEvent) -> OrderModel? {
        let (cart, outlet) = (placement.cart.rawValue, placement.outlet.rawValue)
        guard let terms = world.terms[outlet], let write = write(of: event.recorded) else { return nil }
        let said = placement.terms
        let lines = placement.lines.map {
            OrderModel.Line(id: $0.id.string, quantity: $0.quantity, price: $0.unitPrice.minorUnits)
        }
        let promised = said.promisedFor.map { $0.millisecondsSinceEpoch - (terms.prepMinutes ?? 0) * 60_000 }
        let placedAt = said.placedAt?.millisecondsSinceEpoch ?? promised ?? world.clock(at: event.time)
        let hasName = if case .checkOut(_, true) = write.action { true } else { false }
        if (placement.name != nil) != hasName { world.violation("order \(id) has another name than was given") }
        let step = streams["cart-\(cart)"]?.last { $0.cart.order == id }
        let model = OrderModel(
            id, from: cart, at: outlet, lines, step?.cart.bill ?? Bill(lines: []), of: placement.customer?.rawValue,
            name: hasName ? OrderModel.anyName : nil, placedAt: placedAt, terms)
        let times = [said.placedAt, said.promisedFor, said.payBy, said.acceptBy].map { $0?.millisecondsSinceEpoch }
        if times != [model.isFollowed ? placedAt : nil, model.promisedFor, model.payBy, model.acceptBy] {
            world.violation("order \(id) waits for \(times), which its outlet does not say")
        }
        checkTime(placedAt, write, event, "order \(id) was placed")
        guard let step else {
            world.violation("order \(id) was placed, and \(cart) was not checked out")
            return model
        }
        if step.cart.lines != lines || model.total != placement.total.minorUnits || outlet != Model.outlet(of: cart)
            || step.id != write.id || placement.charges.map(Bill.Charge.init) != model.bill.charges
            || placement.customer?.rawValue != step.cart.customer
        {
            world.violation("order \(id) is not what \(cart) was checked out as")
        }
        return model
    }

    /// A moment that a command was decided at lies between when it was sent and when it was committed.
    private func checkTime(_ moment: Int64, _ write: Write, _ event: OrderEvent, _ what: String) {
        let range = (write.sentAt.map { world.clock(at: $0) } ?? 0)...world.clock(at: event.time)
        if !range.contains(moment) { world.violation("\(what) at \(moment), which is not in \(range)") }
    }

    private func check(_ group: [OrderEvent], are expected: [OrderChange], of id: String, _ why: String) {
        let found = group.compactMap { event -> OrderChange? in
            // The judge looks at the times itself.
            switch event.event {
            case .released: .released(acceptBy: nil)
            case .coverLost: .coverLost(payBy: nil)
            default: OrderChange(event.event)
            }
        }
        if found != expected || found.count != group.count {
            world.violation("order \(id) became \(found) by \(why), instead of \(expected)")
        }
    }

    /// Whether what happened to an order by one command is what comes of it, or by itself is what was due.
    private mutating func judge(_ group: [OrderEvent], of model: OrderModel) {
        let (first, id) = (group[0], model.id)
        let metadata = first.recorded.metadata
        guard metadata.commandID != nil else {
            guard metadata.actor == "tiffin", metadata.cause?.string.hasPrefix("order-\(id)@") ?? false else {
                return world.violation("nobody asked for version \(first.recorded.version) of order \(id)")
            }
            deadlineCount += 1
            check(group, are: model.whenTimePasses, of: id, "itself, when it was \(model.status)")
            let decided = min(first.recorded.recordedAt.millisecondsSinceEpoch, world.clock(at: first.time))
            if model.deadline.map({ $0 > decided }) ?? true {
                world.violation(
                    "order \(id) changed by itself at \(decided), and was due at \(model.deadline ?? .max)")
            }
            return
        }
        guard let write = write(of: first.recorded), case .order(let action, let order) = write.action, order.id == id
        else { return world.violation("nobody asked for version \(first.recorded.version) of order \(id)") }
        guard case .changes(let changes) = model.outcome(of: action) else {
            return world.violation("order \(id) was \(model.status), and \(action) changed it")
        }
        check(group, are: changes, of: id, "\(action), when it was \(model.status)")
        for event in group {
            if case .coverLost(let payBy) = event.event {
                let time = model.uncovered(with: payBy.millisecondsSinceEpoch)
                checkTime(time, write, event, "order \(id) lost its cover")
            }
            guard case .released(let acceptBy) = event.event else { continue }
            guard let acceptBy = acceptBy?.millisecondsSinceEpoch, model.mayHaveToBeAccepted else {
                if acceptBy != nil || model.mayHaveToBeAccepted {
                    world.violation("order \(id) has to be accepted, or nobody has to")
                }
                continue
            }
            checkTime(model.released(with: acceptBy), write, event, "order \(id) was released")
        }
    }
}
