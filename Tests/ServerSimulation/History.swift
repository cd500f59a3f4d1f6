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
        /// When it was committed.
        var time: UInt64 = 0
        var id: String?
        /// The reply of the command: a cart's count, or the version.
        var reply: Int64
        /// The cart, in the stream of one.
        var cart = CartModel()
        /// The outlet, in the stream of one.
        var outlet = OutletModel()
        /// What is counted, in the stream of that.
        var supply = SupplyModel()
        /// Whether the servers did it by themselves, and had to.
        var isByItself = false
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
        /// The checkout that waits for what it claims.
        var begun: Checkout?
        /// The order that is shown.
        var shownOrder: String? { order ?? begun?.order }
        var status: String {
            order != nil ? "checkedOut" : begun != nil ? "checkingOut" : lines.isEmpty ? "empty" : "open"
        }
        var count: Int64 { lines.reduce(0) { $0 + Int64($1.quantity) } }
        /// What each line costs at the price of when it was last added to.
        private var own: [Int64] { lines.map { $0.price * Int64($0.quantity) } }

        /// What `CART.GET` shows: without charges before it is checked out.
        var shown: Bill { bill ?? Bill(lines: own) }

        /// What it costs at the prices of when each line was last added to.
        func bill(_ charges: Charges, less deal: Deal? = nil) -> Bill {
            lines.isEmpty ? Bill(lines: []) : charges.bill(for: own, tip: tip, less: deal)
        }

        /// What it costs at other prices. What cannot be had is at the price of when it was last added to.
        func bill(at selling: Selling, _ charges: Charges) -> Bill {
            let amounts = lines.map { line in
                let choice = Choice(line: line.id)
                return (selling.has(choice) ? selling.prices.price(of: choice) : line.price) * Int64(line.quantity)
            }
            return lines.isEmpty ? Bill(lines: []) : charges.bill(for: amounts, tip: tip, less: selling.openDeal)
        }
    }

    /// A checkout that waits for what it claims.
    final class Checkout {
        let order: String
        let claims: Claims
        /// How often orders may have what they claim of a promotion.
        let limit: Int64?
        /// The cart as it will be if it gets that.
        let after: CartModel
        let write: Write?

        init(_ order: String, _ claims: Claims, limit: Int64?, _ after: CartModel, _ write: Write?) {
            (self.order, self.claims, self.limit, self.after, self.write) = (order, claims, limit, after, write)
        }
    }

    /// An order after one command, or after what happened to it by itself.
    struct Stage {
        var life: OrderLife
        /// The position of the last event, and when it was committed.
        var position: Int64
        var time: UInt64
        /// The command that led here; nil for what happened by itself.
        var id: String?

        var order: OrderFacts { life.order }
        var state: OrderState { life.state }
    }

    /// The events of each stream; that of version 1 first.
    private(set) var streams: [String: [Step]] = [:]
    /// The stages of each order, by its id.
    private(set) var orders: [String: [Stage]] = [:]
    /// What each outlet sells, and from which position on that holds.
    private(set) var sellings: [String: [(position: Int64, selling: Selling)]] = [:]
    /// What moved money at each outlet, and where.
    private(set) var movements: [String: [(position: Int64, movement: Movement)]] = [:]
    /// What orders gave back, and where.
    private var returns: [String: [(position: Int64, claims: Claims)]] = [:]
    /// Outlets whose deal has got another limit: from then on, whether it is spent may be said a little later.
    private var relimited: Set<String> = []
    /// How often what happened that is seldom.
    private(set) var tallies: [String: Int] = [:]

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
            let time = commits.first?.time ?? world.now
            var step = Step(position: event.position, time: time, id: event.metadata.request, reply: event.version)
            switch event.event {
            case .cart(let change):
                step.cart = steps.last?.cart ?? CartModel()
                take(change, event, &step)
            case .menu(let change): take(change, event, &step)
            case .outlet(let change):
                step.outlet = steps.last?.outlet ?? OutletModel()
                take(change, event, &step)
                if step.outlet.isRemoved {
                    step.outlet.removedAt = step.outlet.removedAt ?? time
                }
            case .order(let change):
                let id = event.stream.id.rawValue
                let next = OrderEvent(recorded: event, event: change, time: time)
                if let known = orderEvents.firstIndex(where: { $0.id == id }) {
                    orderEvents[known].events.append(next)
                } else {
                    orderEvents.append((id, [next]))
                }
            case .promotions(let change): take(change, event, &step)
            case .supply(let change):
                step.supply = steps.last?.supply ?? SupplyModel()
                take(change, event, &step)
            case .deed: world.violation("\(recorded.stream) is in the log, and nothing was done beside it")
            }
            streams[recorded.stream] = steps + [step]
            if commits.first?.end == event.position { checkWhatIsSoldOut() }
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

    // MARK: Menus and promotions

    private mutating func take(_ change: Menu.Event, _ event: DecodedEvent, _ step: inout Step) {
        let outlet = event.stream.id.rawValue
        var now = selling(outlet)
        defer { sellings[outlet, default: []].append((event.position, now)) }
        switch change {
        case .itemSuspended(let id, nil, .stock): now.soldOut.insert("item \(id)")
        case .itemResumed(let id, .stock): now.soldOut.remove("item \(id)")
        case .optionSuspended(let id, nil, .stock): now.soldOut.insert("option \(id)")
        case .optionResumed(let id, .stock): now.soldOut.remove("option \(id)")
        default: return reprice(&now, change, event)
        }
        // Whether it is so is seen once its batch is whole.
        step.isByItself = true
    }

    private func reprice(_ now: inout Selling, _ change: Menu.Event, _ event: DecodedEvent) {
        let outlet = event.stream.id.rawValue
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
            now.prices.amounts[id.rawValue] = amount.minorUnits
        default: guard event.position <= world.filled else { return world.violation("\(outlet) has another menu") }
        }
    }

    private mutating func take(_ change: Promotions.Event, _ event: DecodedEvent, _ step: inout Step) {
        let outlet = event.stream.id.rawValue
        var now = selling(outlet)
        switch change {
        case .put(let promotion):
            var deal = world.deals[outlet]
            if event.position > world.filled {
                guard case .promote(let limit)? = write(of: event)?.action else {
                    return world.violation("\(outlet) got a promotion that nobody asked for")
                }
                deal?.limit = limit
            }
            if promotion.limit != deal?.limit { world.violation("\(outlet) got another promotion than was asked for") }
            if now.deal != nil { relimited.insert(outlet) }
            if now.deal?.limit != deal?.limit { now.isSpent = false }
            now.deal = deal
        case .spent, .resumed:
            now.isSpent = if case .spent = change { true } else { false }
            step.isByItself = true
        case .ended: world.violation("a promotion of \(outlet) was ended, and nobody asked for it")
        }
        sellings[outlet, default: []].append((event.position, now))
    }

    /// What an outlet sells at the end of what was folded.
    private func selling(_ outlet: String) -> Selling { sellings[outlet]?.last?.selling ?? Selling() }

    // MARK: What is counted

    /// What an outlet has counted at the end of what was folded.
    private func supply(_ outlet: String) -> SupplyModel {
        streams["supply-\(outlet)"]?.last?.supply ?? SupplyModel()
    }

    /// What nothing is left of is sold out, and nothing else is. All of that is said in one batch.
    private func checkWhatIsSoldOut() {
        for outlet in Model.outlets {
            let (selling, supply) = (selling(outlet), supply(outlet))
            if selling.soldOut != supply.soldOut {
                world.violation("\(outlet) said that \(selling.soldOut) is sold out, and \(supply.soldOut) was")
            }
            if !relimited.contains(outlet), selling.isSpent != isSpent(outlet) {
                world.violation("\(outlet) said wrongly whether its promotion is spent: \(selling.isSpent)")
            }
        }
    }

    /// Whether the promotion of an outlet was used as often as it may be, at the end of what was folded.
    private func isSpent(_ outlet: String) -> Bool {
        selling(outlet).deal.map { supply(outlet).used >= $0.limit } ?? false
    }

    /// Outlets that said wrongly in the end whether their promotion is spent.
    var misled: [String] { Model.outlets.filter { selling($0).isSpent != isSpent($0) } }

    /// What is wrong with a supply, unless a log was lost: then what an outlet answered still holds, and the checkout
    /// that asked may be gone, or another with the same order.
    private func unbalanced(_ text: String) { if !hasLost { world.violation(text) } }

    private var hasLost: Bool { !world.lostLogs.isEmpty }

    private mutating func take(_ change: Supply.Event, _ event: DecodedEvent, _ step: inout Step) {
        let outlet = event.stream.id.rawValue
        /// The checkout that waits for an answer.
        func checkout(_ order: Identifier) -> Checkout? {
            step.isByItself = true
            let words = event.metadata.cause?.string.split(separator: "@").map(String.init) ?? []
            guard event.metadata.actor == "tiffin", let steps = streams[words.first ?? ""], let last = steps.last,
                words.last == "\(steps.count)", let begun = last.cart.begun, begun.order == order.rawValue,
                step.supply.held[begun.order] == nil, step.supply.refused[begun.order] == nil
            else {
                unbalanced("\(outlet) answered order \(order), which did not ask, or was answered")
                return nil
            }
            return begun
        }
        switch change {
        case .stocked(let key, let left):
            let thing = "\(key.kind.rawValue) \(key.id)"
            if event.position <= world.filled {
                step.supply.left[thing] = left
                return
            }
            guard case .stock(thing, let count)? = write(of: event)?.action else {
                return world.violation("\(outlet) counted \(key), which nobody asked for")
            }
            let expected: Int64? =
                switch count {
                case .left(let count): count
                case .more(let count): step.supply.left[thing].map { $0 + count } ?? -1
                case .uncounted: nil
                }
            if left != expected { world.violation("\(outlet) counted \(left ?? -1) of \(key), not \(expected ?? -1)") }
            step.supply.left[thing] = left
        case .held(let claims, let order, _):
            let begun = checkout(order)
            let held = Claims(claims)
            if held != begun?.claims { unbalanced("order \(order) got \(held), and asked for \(begun?.claims ?? [:])") }
            let limit = claims.first { $0.key.kind == .promotion }?.limit
            let lacking = step.supply.lacks(held, limit: limit)
            if !lacking.isEmpty { world.violation("order \(order) got more of \(lacking) than there was") }
            step.supply.hold(held, for: order.rawValue)
            tallies["holds", default: 0] += 1
        case .refused(let refusal, let order, _):
            let code = refusal.code.rawValue
            if let begun = checkout(order) {
                let lacking = step.supply.lacks(begun.claims, limit: begun.limit)
                if !lacking.contains(where: { code == ($0 == Deal.key ? "PROMO" : "SOLDOUT") }) {
                    world.violation("order \(order) was refused with \(code), and there was enough of \(begun.claims)")
                }
            }
            step.supply.refused[order.rawValue] = code
            tallies["holds refused", default: 0] += 1
        case .returned(let returned, let order):
            step.isByItself = true
            let (id, claims) = (order.rawValue, Claims(returned))
            if claims.contains(where: { step.supply.held[id]?[$0.key] != $0.value }) {
                unbalanced("order \(id) gave back \(claims), and had \(step.supply.held[id] ?? [:])")
            }
            step.supply.takeBack(claims, of: id)
            tallies["holds given back", default: 0] += 1
            returns[id, default: []].append((event.position, claims))
        }
    }

    /// What a server may have taken for counted when something happened: it may not have read yet what came shortly
    /// before, or while something kept it from reading.
    private func supplies(of outlet: String, before position: Int64, _ time: UInt64) -> [SupplyModel] {
        let steps = (streams["supply-\(outlet)"] ?? []).prefix { $0.position < position }
        let first = steps.lastIndex { world.lastTrouble(after: $0.time) + Judge.patience < time }
        return [first.map { steps[$0].supply } ?? SupplyModel()] + steps[(first.map { $0 + 1 } ?? 0)...].map(\.supply)
    }

    /// Whether an order claims what it has to. What is counted for a moment only, or not any more, it may claim or not.
    private func claims(_ claims: Claims, areOf cart: CartModel, at outlet: String, _ time: UInt64) -> Bool {
        var all: Claims = [:]
        for line in cart.lines { all.merge(Choice(line: line.id).claims(line.quantity), uniquingKeysWith: +) }
        if !cart.shown.discounts.isEmpty { all[Deal.key] = 1 }
        guard claims.allSatisfy({ all[$0.key] == $0.value }) else { return false }
        let lately = supplies(of: outlet, before: .max, time)
        return all.allSatisfy { key, _ in
            let isClaimed = claims[key] != nil
            return key == Deal.key ? isClaimed : lately.contains { ($0.left[key] != nil) == isClaimed }
        }
    }

    // MARK: Carts

    private func take(_ change: Cart.Event, _ event: DecodedEvent, _ step: inout Step) {
        let cart = event.stream.id.rawValue
        let outlet = Model.outlet(of: cart)
        let selling = selling(outlet)
        let action = write(of: event)?.action
        if step.cart.order != nil { world.violation("\(cart) was changed after its checkout") }
        if step.cart.begun != nil { return end(change, event, &step) }
        func sell(to customer: Identifier?, _ sold: inout CartModel) {
            if !isSelling(outlet) { world.violation("\(cart) got something of \(outlet), which took no orders") }
            sold.customer = sold.customer ?? write(of: event)?.customer
            if customer?.rawValue != sold.customer {
                world.violation("\(cart) is of \(customer?.rawValue ?? "nobody"), not \(sold.customer ?? "nobody")")
            }
        }
        switch change {
        case .itemAdded(let line, _, _, let customer):
            sell(to: customer, &step.cart)
            let id = line.id.string
            guard case .add(let choice, let quantity)? = action, choice.line == id, quantity == line.quantity,
                !choice.isTooMuch
            else { return world.violation("\(cart) got \(line.quantity) of \(id), which nobody asked for") }
            if !selling.has(choice) { world.violation("\(cart) got \(id), which was sold out") }
            let price = selling.prices.price(of: choice)
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
            sell(to: customer, &step.cart)
            guard case .checkOut(let agreed, _, _)? = action else {
                return world.violation("\(cart) was checked out, and nobody asked for it")
            }
            step.cart = priced(step.cart, selling, outlet)
            step.cart.order = order.rawValue
            check(cart, is: step.cart, lines, charges, total, agreed)
            if !claims([:], areOf: step.cart, at: outlet, step.time) {
                world.violation("\(cart) was checked out, and claims nothing")
            }
        case .checkoutBegun(let checkout):
            var after = step.cart
            sell(to: checkout.customer, &after)
            guard case .checkOut(let agreed, _, _)? = action else {
                return world.violation("\(cart) is being checked out, and nobody asked for it")
            }
            after = priced(after, selling, outlet)
            after.order = checkout.order.rawValue
            check(cart, is: after, checkout.lines, checkout.charges, checkout.total, agreed)
            let said = Claims(checkout.claims)
            let limit = checkout.claims.first { $0.key.kind == .promotion }?.limit
            if said.isEmpty || !claims(said, areOf: after, at: outlet, step.time)
                || said[Deal.key] != nil && limit != selling.deal?.limit
            {
                world.violation("\(cart) claims \(checkout.claims)")
            }
            step.cart.begun = Checkout(checkout.order.rawValue, said, limit: limit, after, write(of: event))
        case .quantityChanged, .lineRemoved, .lineEdited, .checkoutRefused:
            world.violation("\(cart) was changed by nobody")
        }
        step.reply = step.cart.order == nil ? step.cart.count : 0
    }

    /// What ends a checkout: the answer of the outlet's supply.
    private func end(_ change: Cart.Event, _ event: DecodedEvent, _ step: inout Step) {
        let cart = event.stream.id.rawValue
        guard let begun = step.cart.begun else { return }
        step.isByItself = true
        let supply = supply(Model.outlet(of: cart))
        if event.metadata.actor != "tiffin" || event.metadata.cause?.string != "\(event.stream)@\(event.version - 1)" {
            world.violation("\(cart) was changed while it was checked out")
        }
        switch change {
        case .checkedOut(let order, let lines, let charges, let total, _, _, _)
        where order.rawValue == begun.order && (supply.held[begun.order] == begun.claims || hasLost):
            step.cart = begun.after
            check(cart, is: step.cart, lines, charges, total, step.cart.shown.total)
        case .checkoutRefused(let order, let refusal)
        where order.rawValue == begun.order && supply.refused[begun.order] == refusal.code.rawValue:
            step.cart.begun = nil
        default: world.violation("\(cart) was to become order \(begun.order), and that did not end as it had to")
        }
        step.reply = step.cart.order == nil ? step.cart.count : 0
    }

    /// A cart as it is checked out now.
    private func priced(_ cart: CartModel, _ selling: Selling, _ outlet: String) -> CartModel {
        var cart = cart
        for index in cart.lines.indices {
            let choice = Choice(line: cart.lines[index].id)
            if !selling.has(choice) { world.violation("\(cart.lines[index].id) was checked out, and was sold out") }
            cart.lines[index].price = selling.prices.price(of: choice)
        }
        cart.bill = cart.bill(world.terms[outlet]?.charges ?? Charges(), less: selling.openDeal)
        cart.prices = selling.prices
        return cart
    }

    private func check(
        _ id: String, is cart: CartModel, _ lines: [CartLine], _ charges: [Domain.Charge], _ total: Amount,
        _ agreed: Int64
    ) {
        let found = lines.map {
            CartModel.Line(id: $0.id.string, quantity: $0.quantity, price: $0.unitPrice.minorUnits)
        }
        if found != cart.lines { world.violation("\(id) was checked out as \(found) instead of \(cart.lines)") }
        let bill = cart.shown
        if charges.map(Bill.Charge.init) != bill.charges {
            world.violation("\(id) was charged \(charges.map { Bill.Charge($0) }) instead of \(bill.charges)")
        }
        if total.minorUnits != bill.total || agreed != bill.total {
            world.violation(
                "\(id) was checked out for \(total.minorUnits), agreed was \(agreed), it cost \(bill.total)")
        }
    }

    // MARK: Orders

    /// Follows an order's life.
    private mutating func tell(_ id: String, _ events: ArraySlice<OrderEvent>) {
        var rest = events
        guard let first = rest.popFirst(), case .placed(let placement) = first.event,
            let order = placed(id, placement, first)
        else { return world.violation("order \(id) was never placed") }
        let prices = streams["cart-\(order.cart)"]?.last { $0.cart.order == id }?.cart.prices ?? .initial
        let lines = placement.lines.map {
            OrderLife.Line(
                line: .init(id: $0.id.string, quantity: $0.quantity, price: $0.unitPrice.minorUnits), prices: prices)
        }
        var life = OrderLife(
            order, lines, missing: placement.missing.rawValue, claims: Claims(placement.claims), due: due(of: order))
        var group = take(from: &rest, after: first)
        check(group, are: life.state.status == .placed ? order.whenReleased : [], of: id, "its checkout")
        var stages: [Stage] = []
        var last = group.last ?? first
        move(.sold(life.order.bill), life, first)
        for event in group { life.take(event.event) }
        while true {
            // A flow goes on in what the servers do because of it.
            let isByServers = stages.isEmpty || last.event.isEndOfReturn
            stages.append(
                Stage(
                    life: life, position: last.recorded.position, time: last.time,
                    id: isByServers ? nil : last.recorded.metadata.request))
            guard let next = rest.popFirst() else { break }
            group = [next] + take(from: &rest, after: next)
            let missing = judge(group, of: life)
            for event in group {
                if let claims = event.event.givenBack, !life.end(giving: claims, butFor: missing) {
                    world.violation("order \(id) gave back \(claims) instead of \(life.returnable)")
                }
                let bill = life.state.contents.bill
                if let (change, until) = event.event.change {
                    take(change, until: until, &life, event)
                } else {
                    life.take(event.event)
                }
                switch event.event {
                case .rejected, .cancelled: move(.cancelled(bill), life, event)
                case .changed: move(.changed(from: bill, to: life.state.contents.bill), life, event)
                case .refunded:
                    guard case .refunded(let columns, _, _, _)? = OrderChange(event.event) else { continue }
                    move(.refunded(columns, of: bill), life, event)
                case .paymentReported(let payment, _):
                    move(.paid(kind: payment.kind.rawValue, minor: payment.amount.minorUnits), life, event)
                default: break
                }
            }
            last = group[group.count - 1]
        }
        checkReturns(of: id, stages)
        orders[id] = stages
    }

    private mutating func move(_ movement: Movement, _ life: OrderLife, _ event: OrderEvent) {
        movements[life.order.outlet, default: []].append((event.recorded.position, movement))
    }

    /// What an order gave back was given back once, and not before it ended.
    private func checkReturns(of id: String, _ stages: [Stage]) {
        if hasLost { return }
        let ended = stages.first { !$0.life.givenBack.isEmpty }
        let returns = returns[id] ?? []
        if returns.count > 1 || returns.contains(where: { $0.position < ended?.position ?? .max }) {
            world.violation("order \(id) gave back \(returns), and once it had ended \(ended?.life.givenBack ?? [:])")
        }
        for back in returns where back.claims != ended?.life.givenBack {
            world.violation("order \(id) gave back \(back.claims) instead of \(ended?.life.givenBack ?? [:])")
        }
        if let noted = stages.first(where: \.life.hasReturned), returns.allSatisfy({ $0.position > noted.position }) {
            world.violation("order \(id) says that it gave back what it did not")
        }
    }

    /// The events that follow one and are of the same command.
    private func take(from rest: inout ArraySlice<OrderEvent>, after first: OrderEvent) -> [OrderEvent] {
        var group: [OrderEvent] = []
        // What is due after that may follow at once.
        if case .changeExpired = first.event { return [] }
        while let next = rest.first, next.recorded.metadata == first.recorded.metadata,
            next.recorded.position == first.recorded.position + Int64(group.count) + 1
        {
            group.append(rest.removeFirst())
        }
        return group
    }

    /// Until when an order is to be paid or accepted after it was placed.
    private func due(of order: OrderFacts) -> Int64? {
        guard order.isPaidFirst || order.hasToBeAccepted, let placedAt = order.placedAt else { return nil }
        return placedAt + Int64((order.isPaidFirst ? order.terms.payWithin : order.terms.acceptWithin) ?? 0) * 1_000
    }

    /// An order as it was placed, if it was placed as its outlet and cart say.
    private func placed(_ id: String, _ placement: Order.Placement, _ event: OrderEvent) -> OrderFacts? {
        let (cart, outlet) = (placement.cart.rawValue, placement.outlet.rawValue)
        let steps = streams["cart-\(cart)"] ?? []
        let begun = steps.last { $0.cart.begun?.order == id }?.cart.begun
        guard let terms = world.terms[outlet], let write = begun.map(\.write) ?? write(of: event.recorded) else {
            return nil
        }
        let claims = Claims(placement.claims)
        if claims != begun?.claims ?? [:] { world.violation("order \(id) has \(claims), not \(begun?.claims ?? [:])") }
        let said = placement.terms
        let lines = placement.lines.map {
            CartModel.Line(id: $0.id.string, quantity: $0.quantity, price: $0.unitPrice.minorUnits)
        }
        let promise = Int64(terms.prepMinutes ?? 0) * 60_000
        let placedAt =
            said.placedAt?.millisecondsSinceEpoch ?? said.promisedFor.map { $0.millisecondsSinceEpoch - promise }
            ?? world.clock(at: event.time)
        guard case .checkOut(_, let hasName, let missing) = write.action else { return nil }
        if placement.missing.rawValue != missing { world.violation("order \(id) does not say \(missing)") }
        if (placement.name != nil) != hasName { world.violation("order \(id) has another name than was given") }
        let step = steps.last { $0.cart.order == id }
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
            || outlet != Model.outlet(of: cart) || begun == nil && step.id != write.id
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
    ///
    /// - Returns: what may be missing of what it claimed, and does not come back.
    private mutating func judge(_ group: [OrderEvent], of life: OrderLife) -> Set<String> {
        let (order, state) = (life.order, life.state)
        let (first, id) = (group[0], order.id)
        let metadata = first.recorded.metadata
        if first.event.isEndOfReturn {
            if group.count > 1 || life.givenBack.isEmpty || life.hasReturned || metadata.actor != "tiffin" {
                world.violation("order \(id) gave back something at version \(first.recorded.version)")
            }
            return []
        }
        guard metadata.request != nil else {
            guard metadata.actor == "tiffin", metadata.cause?.string.hasPrefix("order-\(id)@") ?? false else {
                world.violation("nobody asked for version \(first.recorded.version) of order \(id)")
                return []
            }
            tallies["deadlines met", default: 0] += 1
            let decided = min(first.recorded.recordedAt.millisecondsSinceEpoch, world.clock(at: first.time))
            var deadline = life.ownDeadline ?? .max
            if case .changeExpired = first.event {
                deadline = life.proposal?.until ?? .max
            } else {
                check(group, are: state.whenTimePasses, of: id, "itself, when it was \(state.status)")
                if let until = life.proposal?.until, until <= deadline {
                    world.violation("order \(id) changed by itself, and a change was proposed until \(until)")
                }
            }
            if deadline > decided {
                world.violation("order \(id) changed by itself at \(decided), and was due at \(deadline)")
            }
            return []
        }
        guard let write = write(of: first.recorded), write.order?.id == id else {
            world.violation("nobody asked for version \(first.recorded.version) of order \(id)")
            return []
        }
        if case .change(let step, _) = write.action { return judge(group, step, write, of: life) }
        guard case .order(let step, _) = write.action, case .changes(let changes) = life.outcome(of: step) else {
            world.violation("order \(id) was \(state.status), and \(write.action) changed it")
            return []
        }
        if case .refunded? = changes.first, life.hasTwoBills {
            checkRefund(group, of: life)
        } else {
            check(group, are: changes, of: id, "\(step), when it was \(state.status)")
        }
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
        return []
    }

    /// What is given back after a change is no more than is left.
    private func checkRefund(_ group: [OrderEvent], of life: OrderLife) {
        guard group.count == 1, case .refunded(let columns, _, _, _)? = OrderChange(group[0].event),
            life.hasLeft(columns)
        else { return world.violation("order \(life.order.id) gave back more than was left") }
    }

    // MARK: Changes of orders

    /// Whether what came of a change that was asked for is what had to come.
    ///
    /// - Returns: what may be missing of what the order claimed.
    private mutating func judge(_ group: [OrderEvent], _ step: ChangeStep, _ write: Write, of life: OrderLife) -> Set<
        String
    > {
        let (first, id) = (group[0], life.order.id)
        func wrong(_ why: String) { world.violation("order \(id) \(why): \(first.event)") }
        guard group.count == 1 else {
            wrong("changed by several events")
            return []
        }
        switch (step, first.event) {
        case (.propose(let edits, let party, let seconds), let event):
            guard let change = change(edits, by: party, of: life, at: first.recorded.position) else {
                wrong("could not be changed like that")
                break
            }
            let isAtOnce = change.isAgreed(beforehand: life.missing, life.state.contents.bill.total)
            let ends = party == "merchant" && change.takesAway && life.missing == "cancel"
            switch event {
            case .changeProposed(_, let until) where !isAtOnce && !ends:
                tallies["changes proposed", default: 0] += 1
                checkTime(
                    until.millisecondsSinceEpoch - Int64(seconds) * 1_000, write, first,
                    "a change of order \(id) was proposed"
                )
            case .changed where isAtOnce && !ends: break
            case .cancelled(let ending) where ends && ending.by == .merchant && ending.reason == .items:
                return Set(leaving(change, life).keys)
            default: wrong("was to be changed by \(change)")
            }
        case (.agree(let digest), .changed):
            guard let open = life.proposal, open.change.after == digest, life.isChangeable,
                write.maySpeak(for: open.change.by == "merchant" ? "customer" : "merchant")
            else {
                wrong("was changed, and nobody agreed")
                break
            }
        case (.decline(let party), .changeDeclined(let said)) where life.proposal != nil:
            let proposer = life.proposal?.change.by
            if said.rawValue != party, said.rawValue != proposer { wrong("was declined by somebody else") }
        case (.noted, .changesNoted) where life.hasUnnoted: break
        default: wrong("changed by \(step)")
        }
        return []
    }

    /// The change that edits come to by what the outlet sold just before a position.
    private func change(_ edits: Edits, by party: String, of life: OrderLife, at position: Int64) -> OrderLife.Change? {
        guard life.isChangeable, life.proposal == nil else { return nil }
        let outlet = life.order.outlet
        let selling = sellings[outlet]?.last { $0.position < position }?.selling
        let isSelling =
            streams["outlet-\(outlet)"]?.last { $0.position < position }.map {
                $0.outlet.isOpen && !$0.outlet.isRemoved
            } ?? false
        return life.change(
            edits, by: party, world.terms[outlet]?.charges ?? Charges(), isSelling ? selling ?? Selling() : nil)
    }

    /// What of an order's claims it needs less of after a change.
    private func leaving(_ change: OrderLife.Change, _ life: OrderLife) -> Claims {
        let (before, after) = (claims(of: life.lines), claims(of: change.lines))
        return life.kept.filter { $0.key != Deal.key && after[$0.key] ?? 0 < before[$0.key] ?? 0 }
    }

    /// What lines would claim if all was counted.
    private func claims(of lines: [OrderLife.Line]) -> Claims {
        lines.reduce(into: [:]) {
            $0.merge(Choice(line: $1.line.id).claims($1.line.quantity), uniquingKeysWith: +)
        }
    }

    /// Takes in a change as it is recorded, if it is the one that was asked for.
    private mutating func take(_ said: Order.Change, until: Int64?, _ life: inout OrderLife, _ event: OrderEvent) {
        let id = life.order.id
        var change = life.proposal?.change
        if until != nil || change == nil,
            case .change(.propose(let edits, let party, _), _)? = write(of: event.recorded)?.action
        {
            change = self.change(edits, by: party, of: life, at: event.recorded.position)
            if var made = change {
                checkClaims(of: made, gone: Claims(said.gone), life, event)
                (made.before, made.after, made.gone) = (said.before.string, said.after.string, Claims(said.gone))
                change = made
            }
        }
        guard let change else { return world.violation("order \(id) was changed, and nobody asked for it") }
        if until == nil { tallies["orders changed", default: 0] += 1 }
        let differences = said.lines.map {
            OrderLife.Difference(line: $0.line.string, from: $0.from, to: $0.to, replaces: $0.replaces?.string)
        }
        let lines = said.ordered.map {
            CartModel.Line(id: $0.id.string, quantity: $0.quantity, price: $0.unitPrice.minorUnits)
        }
        if said.by.rawValue != change.by || differences != change.differences || lines != change.lines.map(\.line)
            || said.price.total.minorUnits != change.bill.total
            || said.price.charges.map(Bill.Charge.init) != change.bill.charges || Claims(said.gone) != change.gone
            || said.before.string != life.digest ?? said.before.string || said.after.string != change.after
            || said.before == said.after
        {
            world.violation("order \(id) was changed by \(said) instead of \(change)")
        }
        life.take(change, until: until)
    }

    /// A change brings in no more of what is counted than the order holds, and says what is missing.
    private func checkClaims(of change: OrderLife.Change, gone: Claims, _ life: OrderLife, _ event: OrderEvent) {
        let lately = supplies(of: life.order.outlet, before: event.recorded.position, event.time)
        let (before, after) = (claims(of: life.lines), claims(of: change.lines))
        let coming = claims(of: change.lines.filter { line in !life.lines.contains { $0.line.id == line.line.id } })
        for key in coming.keys where lately.allSatisfy({ $0.left[key] != nil }) {
            if after[key] ?? 0 > max(life.kept[key] ?? 0, before[key] ?? 0) {
                world.violation("order \(life.order.id) got \(key) by a change, which was counted")
            }
        }
        let leaving = change.by == "merchant" ? leaving(change, life) : [:]
        let isRight = leaving.allSatisfy { key, _ in lately.contains { ($0.left[key] != nil) == (gone[key] != nil) } }
        if !isRight || gone.contains(where: { leaving[$0.key] != $0.value }) {
            world.violation("order \(life.order.id) lacks \(gone), and \(leaving) leaves it")
        }
    }
}

extension EventMetadata {
    /// The id of the client's command, whichever way it was told; nil for what the server did by itself.
    fileprivate var request: String? { (commandID ?? flow)?.string }
}
