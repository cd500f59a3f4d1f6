internal import EventLoop
internal import LoadOracle
internal import SeededRandom

/// Guests who order by a quote, pay, watch and change their minds, and cooks who accept, cook, delay, reject and give
/// back. Every shopper is both, for a while each, at any of the kitchens.
struct KitchenWork: Scenario {
    static let name = "kitchen"
    static let summary = "guests order by quotes, pay, watch and cancel; cooks accept, cook, delay, reject and refund"
    static let needsKitchens = true

    /// nil at first.
    private var isCook: Bool?
    private var steps = 0
    private var guest = Guest()
    private var cook = Cook()

    mutating func next(_ shopper: Shopper) -> Call {
        if steps == 0 {
            isCook = isCook.map { !$0 } ?? KitchenWork.beginsAsCook(shopper)
            steps = shopper.chance.number(15...40)
        }
        steps -= 1
        if let call = KitchenWork.sellOut(shopper) { return call }
        return isCook ?? false ? cook.next(shopper) : guest.next(shopper)
    }

    /// Now and then an option of the shopper's own kitchen is sold out for a while, or more portions are made.
    @LoopActor
    private static func sellOut(_ shopper: Shopper) -> Call? {
        guard let own = shopper.world.kitchens.first(where: { $0.owner == shopper.index }) else { return nil }
        if let item = own.countedItem, shopper.chance.happens(permille: 60) {
            return .restock(outlet: own.index, item: item, more: shopper.chance.number(1...4))
        }
        guard shopper.chance.happens(permille: own.soldOutOption == nil ? 30 : 200)
        else { return nil }
        return Merchant.sellOutOption(shopper, own)
    }

    /// Somebody has to order before there is something to cook.
    @LoopActor
    private static func beginsAsCook(_ shopper: Shopper) -> Bool {
        let hasOrders = shopper.world.kitchens.contains { !shopper.run.oracle.openOrders(of: $0.index).isEmpty }
        return hasOrders && shopper.chance.happens(permille: 400)
    }
}

/// Somebody who is hungry.
@LoopActor
struct Guest {
    /// With so many open orders a kitchen is full.
    private static let fullKitchen = 60

    /// The order that is watched.
    private var order: String?
    private var looks = 0
    private var kitchen: Outlet?
    /// How many lines the cart is to have.
    private var lines = 0

    nonisolated init() {}

    mutating func next(_ shopper: Shopper) -> Call {
        let cart = shopper.cart
        if case .checkedOut(let id) = cart.status, shopper.run.oracle.order(id) != nil { return watch(id, shopper) }
        if let order {
            self.order = nil
            return .unsubscribe(channel: "order:\(order)")
        }
        if cart.isCheckedOut || cart.outlet.map({ $0.terms == nil }) ?? false { shopper.takeNewCart() }
        if shopper.cart.lines.isEmpty || kitchen == nil {
            kitchen = shopper.cart.outlet ?? shopper.chance.pick(Array(shopper.world.kitchens))
            lines = shopper.chance.number(1...4)
        }
        guard let kitchen else { return .count(shopper.cart.id) }
        return shop(shopper, kitchen)
    }

    /// Fills a cart, asks what it costs, and orders it.
    private func shop(_ shopper: Shopper, _ kitchen: Outlet) -> Call {
        let cart = shopper.cart
        guard cart.lines.count >= lines else { return add(shopper, kitchen) }
        if cart.lacksTable, shopper.chance.happens(permille: 700) { return choose(shopper) }
        guard let quote = shopper.customer.quote else {
            switch shopper.chance.below(10) {
            case 0: return CartMoves.edit(shopper)
            case 1: return .tip(cart.id, minor: Int64(shopper.chance.number(0...4) * 50))
            case 2: return .cart(cart.id)
            case 3: return choose(shopper)
            case 4..<7 where !(kitchen.terms?.services.isEmpty ?? true): return choose(shopper)
            default: return .quote(cart.id)
            }
        }
        switch shopper.chance.below(40) {
        // Something changes after the quote: it is worth nothing then.
        case 0: return .set(cart.id, line: CartMoves.line(shopper), quantity: shopper.chance.number(1...5))
        case 1: return .tip(cart.id, minor: Int64(shopper.chance.number(0...4) * 50))
        case 2: return .quote(cart.id)
        case 8: return choose(shopper)
        case 3: return .checkOutQuote(cart.id, quote: "0123456789abcdef")
        case 4..<8: return CartMoves.checkOut(shopper)
        default:
            if shopper.run.oracle.openOrders(of: kitchen.index).count > Guest.fullKitchen {
                return .kitchen(outlet: kitchen.index)
            }
            return .checkOutQuote(cart.id, quote: quote.digest, missing: shopper.chance.pick(Changes.wishes))
        }
    }

    /// Says how the order is to be had, and now and then something that cannot be.
    private func choose(_ shopper: Shopper) -> Call {
        let name = shopper.chance.pick(["pickup", "delivery", "table", "table"])
        let mayNameTable = name == "table" || shopper.chance.happens(permille: 50)
        let table = mayNameTable && shopper.chance.happens(permille: 800) ? "t\(shopper.chance.below(4))" : nil
        return .service(shopper.cart.id, name: name, table: table, time: time(shopper))
    }

    /// One of the few times of tomorrow that everybody wants, and now and then one at which no slot begins; mostly none.
    private func time(_ shopper: Shopper) -> String? {
        let mayWait = kitchen?.terms?.ordersPerSlot != nil || shopper.chance.happens(permille: 50)
        guard mayWait, shopper.chance.happens(permille: 600) else { return nil }
        let minute = shopper.chance.happens(permille: 50) ? 30 : 0
        return Moment.text(day: shopper.run.day + 1, minute: 60 * shopper.chance.number(19...20) + minute)
    }

    private func add(_ shopper: Shopper, _ kitchen: Outlet) -> Call {
        // Many want what there is not enough of.
        let isScarce = shopper.chance.happens(permille: 200)
        let item = kitchen.countedItem.flatMap { isScarce ? $0 : nil } ?? shopper.chance.below(kitchen.menu.itemCount)
        return .add(
            shopper.cart.id, outlet: kitchen.index, item: item, quantity: shopper.chance.number(1...3),
            options: CartMoves.options(shopper, kitchen.menu, kitchen.menu.item(item)),
            note: shopper.chance.happens(permille: 200) ? "no peas" : nil)
    }

    /// Looks at what becomes of the order, pays, and may not want it any more.
    private mutating func watch(_ id: String, _ shopper: Shopper) -> Call {
        guard order == id else {
            if let old = order {
                order = nil
                return .unsubscribe(channel: "order:\(old)")
            }
            order = id
            looks = shopper.chance.number(3...9)
            return .subscribe(channel: "order:\(id)")
        }
        guard looks > 0 else {
            order = nil
            shopper.takeNewCart()
            return .unsubscribe(channel: "order:\(id)")
        }
        looks -= 1
        guard let model = shopper.run.oracle.order(id), Cook.mayTouch(model, shopper) else { return .order(id) }
        if let step = Changes.step(shopper, model, by: "customer") { return .step(order: id, step) }
        switch shopper.chance.below(100) {
        case 0..<25 where model.state.status == .awaitingPayment:
            return .step(order: id, Cook.payment(shopper, model))
        case 25..<31: return .step(order: id, .cancel(by: "customer", code: "CUSTOMER"))
        default: return .order(id)
        }
    }
}

/// Somebody at work in a kitchen.
@LoopActor
struct Cook {
    /// The most steps of an order that are on their way at once.
    static let mostSteps = 3
    /// A cook begins with the oldest orders.
    private static let reach = 12
    /// Lists that a cook looks at.
    private static let lists = [
        [], [], ["placed", "accepted"], ["preparing", "ready"], ["completed"], ["rejected", "cancelled"],
        ["awaitingPayment"], ["scheduled"],
    ]
    private static let codes = ["ITEMS", "CLOSED", "BUSY", "NOTE", "OTHER"]

    private var kitchen: Outlet?
    /// Calls to send first, the first one last.
    private var script: [Call] = []
    private var steps = 0

    nonisolated init() {}

    mutating func next(_ shopper: Shopper) -> Call {
        if let call = script.popLast() { return call }
        if steps == 0, let old = kitchen {
            kitchen = nil
            return .unsubscribe(channel: "kitchen:\(old.id)")
        }
        guard let kitchen else {
            let kitchen = shopper.chance.pick(Array(shopper.world.kitchens))
            self.kitchen = kitchen
            steps = shopper.chance.number(15...40)
            script = [.kitchen(outlet: kitchen.index)]
            return .subscribe(channel: "kitchen:\(kitchen.id)")
        }
        steps -= 1
        let oracle = shopper.run.oracle
        let open = oracle.openOrders(of: kitchen.index).prefix(Cook.reach)
        let ended = oracle.endedOrders(of: kitchen.index)
        let orders = shopper.chance.happens(permille: 850) || ended.isEmpty ? Array(open) : ended
        if shopper.chance.happens(permille: 100) { return Cook.list(shopper, kitchen) }
        guard !orders.isEmpty, !shopper.chance.happens(permille: 150) else { return .kitchen(outlet: kitchen.index) }
        let order = shopper.chance.pick(orders)
        guard Cook.mayTouch(order, shopper), !shopper.chance.happens(permille: 100) else { return .order(order.id) }
        return .step(order: order.id, step(shopper, order))
    }

    /// The first page of some list of a kitchen's orders, or mostly the next page of the last one.
    private static func list(_ shopper: Shopper, _ kitchen: Outlet) -> Call {
        if let pages = shopper.customer.pages, shopper.chance.happens(permille: 850) {
            var list = pages.list
            list.after = pages.next
            return .orders(list)
        }
        return .orders(
            Call.OrderList(
                outlet: kitchen.index, statuses: shopper.chance.pick(lists), count: shopper.chance.number(2...12)))
    }

    /// Whether somebody does something about an order. One whose time has passed is mostly left to end by itself.
    static func mayTouch(_ order: OrderModel, _ shopper: Shopper) -> Bool {
        let isOver = order.deadline.map { $0 < shopper.run.oracle.now } ?? false
        return order.stepsUnderWay < mostSteps && (!isOver || shopper.chance.happens(permille: 50))
    }

    /// Mostly what comes next, and now and then what does not.
    private func step(_ shopper: Shopper, _ order: OrderModel) -> OrderStep {
        if let step = Changes.step(shopper, order, by: "merchant") { return step }
        let roll = shopper.chance.below(100)
        let code = shopper.chance.pick(Cook.codes)
        switch order.state.status {
        case .awaitingPayment: if roll < 70 { return Cook.payment(shopper, order) }
        case .placed:
            switch roll {
            case 0..<50: return .accept(readyBy: shopper.chance.happens(permille: 500) ? readyBy(shopper) : nil)
            case 50..<62: return .reject(code: code)
            case 62..<70: return .prepare
            default: break
            }
        case .accepted: if roll < 55 { return .prepare }
        case .preparing: if roll < 55 { return .ready }
        case .ready: if roll < 65 { return .complete }
        case .completed: if roll < 60 { return refund(shopper, order) }
        case .scheduled: if roll < 20 { return .cancel(by: "merchant", code: code) }
        case .rejected, .cancelled: if roll < 30 { return Cook.payment(shopper, order) }
        }
        switch shopper.chance.below(20) {
        case 0: return .accept(readyBy: nil)
        case 1: return .reject(code: code)
        case 2: return .prepare
        case 3, 4: return .ready
        case 5: return .complete
        case 6..<10: return .delay(readyBy: readyBy(shopper))
        case 10, 11: return .cancel(by: "merchant", code: code)
        case 12: return .cancel(by: "customer", code: "CUSTOMER")
        case 13..<15: return Cook.payment(shopper, order)
        default: return refund(shopper, order)
        }
    }

    /// A time in the future. There are few, so that one is said again now and then.
    private func readyBy(_ shopper: Shopper) -> String {
        Moment.text(day: shopper.run.day + 2, minute: 15 * shopper.chance.below(12))
    }

    /// Some of a line, an amount, or all that is left; now and then more than that. What is about to change waits.
    private func refund(_ shopper: Shopper, _ order: OrderModel) -> OrderStep {
        guard order.canRefund else { return .delay(readyBy: readyBy(shopper)) }
        let code = shopper.chance.pick(Cook.codes)
        switch shopper.chance.below(20) {
        case 0: return .refund(.rest, code: code)
        case 1: return .refund(.amount(order.total + 1), code: code)
        case 2: return .refund(.units(line: "nothing", quantity: 1), code: code)
        case 3..<8: return .refund(.amount(Int64(shopper.chance.number(1...400))), code: code)
        default:
            let line = shopper.chance.pick(order.lines)
            return .refund(.units(line: line.id, quantity: shopper.chance.number(1...line.quantity)), code: code)
        }
    }

    /// What a payment service reports: mostly the whole total, in one or several parts, and now and then what cannot be.
    static func payment(_ shopper: Shopper, _ order: OrderModel) -> OrderStep {
        let reference = "pay-\(shopper.chance.below(4))"
        let minor = shopper.chance.happens(permille: 700) ? order.total : max(1, order.total / 2)
        let kind = shopper.chance.pick([
            "captured", "captured", "captured", "authorised", "authorised", "voided", "refunded", "chargedBack",
            "failed",
        ])
        let mayBePart = !["authorised", "failed"].contains(kind) || shopper.chance.happens(permille: 20)
        let parent = mayBePart && shopper.chance.happens(permille: 400) ? "pay-\(shopper.chance.below(4))" : nil
        return .pay(reference: reference, kind: kind, minor: minor, of: parent)
    }
}
