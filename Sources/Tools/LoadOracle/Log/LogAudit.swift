internal import LineProtocol

/// Compares the log with everything that was acknowledged, shown and sent. Each command that changed something is
/// there once, and no refused one is. Folding a cart's events gives what its customer was told. Every message, and
/// every home that was read whole, shows what the log says.
final class LogAudit {
    /// A cart as it follows from its events.
    private struct Folded {
        var version: Int64 = 0
        var count: Int64 = 0
        /// Whether a checkout has begun and not ended.
        var isCheckingOut = false
    }

    private struct Order {
        var cart: CartID
        var total: Int64
    }

    private unowned let oracle: Oracle
    private var time: UInt64 = 0
    /// The next position of each partition.
    private var next: [Int64] = []
    private var carts: [CartID: Folded] = [:]
    private var orders: [String: Order] = [:]
    private var orderReplays: [String: OrderReplay] = [:]
    /// The versions of outlets and menus, and those that their owners made.
    private var versions: [String: Int64] = [:]
    private var ownVersions: [String: Int64] = [:]
    /// What outlets took, and what they answered of it.
    private var takings: [Int: TakingsReplay] = [:]
    private var shownTakings: [Int: [UInt8]] = [:]
    /// Which outlet an order belongs to.
    private var outlets: [String: Int] = [:]
    /// What outlets have counted.
    private var supplies: [Int: SupplyReplay] = [:]
    /// Streams with a finding: one mistake has many consequences.
    private var accused: Set<String> = []
    private var cartReplays: [CartID: (replay: CartReplay, audit: ChannelAudit)] = [:]
    private var homeReplays: [Int: HomeAudit] = [:]

    /// What is compared with the homes of one outlet.
    private struct HomeAudit {
        var replay: HomeReplay
        var messages: ChannelAudit
        var template: HomeTemplate
        /// The hashes of homes that were read whole and not compared yet, by revision.
        var hashes: [Int64: Int]
    }

    init(_ oracle: Oracle) {
        self.oracle = oracle
    }

    private func found(_ violation: Violation, _ stream: String?, _ history: [String] = []) {
        if let stream, !accused.insert(stream).inserted { return }
        // The history of a menu is long, and says little about a message.
        let showsHistory = violation.check == .log || stream?.hasPrefix("cart-") == true
        oracle.violated(violation, at: time, history, stream: showsHistory ? stream : nil)
    }

    private func found(_ message: String, _ stream: String?, _ history: [String] = []) {
        found(Violation(.log, message), stream, history)
    }

    /// The log will be read after these positions.
    func begin(_ heads: [Int64], at time: UInt64) {
        self.time = time
        next = heads.map { $0 &+ 1 }
        for (channel, messages) in oracle.messages.messages {
            guard let cart = oracle.cart(ofChannel: channel) else { continue }
            var audit = ChannelAudit(channel, messages)
            if audit.needs(0) { report(audit.reached(0, .null), "cart-\(oracle.world.cartName(cart))") }
            cartReplays[cart] = (CartReplay(), audit)
        }
        for outlet in oracle.world.outlets {
            if let item = outlet.countedItem {
                supplies[outlet.index] = SupplyReplay(item, ordersPerSlot: outlet.terms?.ordersPerSlot)
            }
            // If a home was never read, its look is not known.
            guard let ledger = oracle.homes(of: outlet.index), let shown = ledger.firstRead.flatMap({ JSON($0) }) else {
                continue
            }
            let channel = "home:\(outlet.id)"
            homeReplays[outlet.index] = HomeAudit(
                replay: HomeReplay(outlet), messages: ChannelAudit(channel, oracle.messages.messages[channel] ?? [:]),
                template: HomeTemplate(shown), hashes: ledger.hashes)
        }
    }

    /// Takes what `TAKINGS` answered of an outlet.
    func take(takings document: [UInt8], of outlet: Int) { shownTakings[outlet] = document }

    /// Takes the next event of a partition, as `LOG.READ` shows it.
    func take(_ text: [UInt8], of partition: Int) {
        guard next.indices.contains(partition), let event = LogEvent(text), event.partition == Int64(partition)
        else {
            let shown = String(decoding: text.prefix(200), as: UTF8.self)
            return found("the log has something that is not an event: \(shown)", nil)
        }
        oracle.count(.log)
        if event.position != next[partition] {
            found("position \(next[partition]) of the log is missing; \(event.position) follows", nil)
        }
        next[partition] = event.position &+ 1
        take(event)
    }

    private func take(_ event: LogEvent) {
        guard let dash = event.stream.firstIndex(of: "-") else { return }
        let id = event.stream[event.stream.index(after: dash)...]
        switch event.stream[..<dash] {
        case "cart":
            if let cart = oracle.world.cart(named: id) {
                // What ends a checkout that has begun is by no command.
                let isAnswer = carts[cart]?.isCheckingOut ?? false
                fold(event, cart)
                // One that was refused is begun again by the same command.
                if !isAnswer { look(event, isOnce: event.kind != "cart.checkoutBegun") }
            }
        case "order":
            if let cart = event.payload["cart"]?.string.flatMap({ oracle.world.cart(named: $0) }) {
                if orders[String(id)] != nil || event.version != 1 {
                    found("order \(id) is in the log twice", event.stream)
                }
                orders[String(id)] = Order(cart: cart, total: event.number("total"))
                orderReplays[String(id)] = OrderReplay()
                need(event, String(id), isPlaced: true)
                outlets[String(id)] = event.payload["outlet"]?.string.flatMap { oracle.world.outlet($0)?.index }
            }
            if let outlet = outlets[String(id)] { takings[outlet, default: .init()].apply(event, ofOrder: String(id)) }
            follow(event, String(id))
        case "outlet", "menu", "promotions":
            if let outlet = oracle.world.outlet(id) {
                let version = versions[event.stream, default: 0]
                if event.version != version &+ 1 {
                    found("\(event.stream) goes from version \(version) to \(event.version)", event.stream)
                }
                versions[event.stream] = event.version
                if event.kind != "promotions.put" { fold(event, outlet) }
                // What orders do to what is counted is by no command.
                if event.payload["by"]?.string == "stock" {
                    supplies[outlet.index]?.show(event)
                    return
                }
                ownVersions[event.stream] = event.version
                // Only a whole menu makes several events.
                look(event, isOnce: !["menu.sectionAdded", "menu.itemAdded", "menu.groupPut"].contains(event.kind))
            }
        case "supply": if let outlet = oracle.world.outlet(id) { count(event, outlet) }
        default: break
        }
    }

    /// Folds an event of what an outlet has counted.
    private func count(_ event: LogEvent, _ outlet: Outlet) {
        oracle.count(.stock)
        var added: Int64?
        if event.kind == "supply.stocked" {
            look(event, isOnce: true)
            if case .restock(_, _, let more) = recorded(event)?.call { added = Int64(more) }
        }
        guard let problem = supplies[outlet.index]?.apply(event, added: added) else { return }
        found(
            Violation(.stock, "\(event.stream) \(problem), at \(event.position)"), event.stream,
            ["\(event.kind) at \(event.position), version \(event.version)"])
    }

    /// A checkout has begun, or an order was placed.
    private func need(_ event: LogEvent, _ order: String, isPlaced: Bool) {
        guard let outlet = event.payload["outlet"]?.string.flatMap({ oracle.world.outlet($0) }) else { return }
        supplies[outlet.index]?.need(order, event, isPlaced: isPlaced)
    }

    /// The command that an event comes from, if it is one of its customer's latest.
    private func recorded(_ event: LogEvent) -> Exchange? {
        let numbers = event.id?.split(separator: "-").compactMap { Int($0) } ?? []
        guard numbers.count == 2, oracle.customers.indices.contains(numbers[0]) else { return nil }
        return oracle.customers[numbers[0]].writes.recorded(numbers[1])
    }

    /// Folds an event of an order.
    private func follow(_ event: LogEvent, _ id: String) {
        guard let problem = orderReplays[id]?.apply(event) else {
            guard orderReplays[id] != nil else { return }
            // What was placed is in the cart's stream, too; what follows from a payment is not the payment itself.
            let isByItself =
                event.kind == "order.cancelled" && event.payload["by"]?.text == "system"
                || event.kind == "order.changeExpired"
            let isFollowing =
                ["order.placed", "order.scheduled", "order.released", "order.coverLost", "order.claimsReturned"]
                .contains(event.kind)
                || event.kind == "order.accepted" && event.payload["by"]?.text == "system"
            if isByItself { oracle.count(.deadline) }
            if !isByItself && !isFollowing { look(event, isOnce: true) }
            return
        }
        let check: Check = problem.contains("before its time") ? .deadline : .log
        found(Violation(check, "order \(id) \(problem), at \(event.position)"), event.stream)
    }

    /// Looks up the command that the event comes from.
    private func look(_ event: LogEvent, isOnce: Bool) {
        let numbers = event.id?.split(separator: "-").compactMap { Int($0) } ?? []
        guard numbers.count == 2, oracle.customers.indices.contains(numbers[0]) else {
            return found(
                "\(event.kind) at \(event.position) is by no command of this run: nobody else knows \(event.stream)",
                event.stream)
        }
        let writes = oracle.customers[numbers[0]].writes
        switch writes.fate(numbers[1]) {
        case .recorded, .unsure: break
        case .nothing:
            found(
                "\(event.kind) at \(event.position) is by command \(numbers[0])-\(numbers[1]), which was refused or "
                    + "answered as having nothing to do", event.stream)
        case nil:
            return found("\(event.kind) at \(event.position) is by a command that was never sent", event.stream)
        }
        if writes.see(numbers[1]), isOnce {
            found("command \(numbers[0])-\(numbers[1]) is in \(event.stream) twice", event.stream)
        }
    }

    private func fold(_ event: LogEvent, _ id: CartID) {
        var cart = carts[id] ?? Folded()
        if event.version != cart.version &+ 1 {
            found("\(event.stream) goes from version \(cart.version) to \(event.version)", event.stream)
        }
        cart.version = event.version
        switch event.kind {
        case "cart.itemAdded": cart.count &+= event.number("quantity")
        case "cart.quantityChanged": cart.count &+= event.number("to") &- event.number("from")
        case "cart.lineRemoved": cart.count &-= event.number("quantity")
        case "cart.cleared":
            expect(event.number("count"), cart, event)
            cart.count = 0
        case "cart.checkoutBegun":
            cart.isCheckingOut = true
            if let order = event.payload["order"]?.string { need(event, order, isPlaced: false) }
        case "cart.checkoutRefused": cart.isCheckingOut = false
        case "cart.checkedOut":
            cart.isCheckingOut = false
            let lines = event.payload["lines"]?.array ?? []
            expect(lines.reduce(0) { $0 &+ ($1["quantity"]?.integer ?? 0) }, cart, event)
        default: break
        }
        carts[id] = cart
        guard cartReplays[id] != nil else { return }
        cartReplays[id]?.replay.apply(event)
        guard cartReplays[id]?.audit.needs(event.version) == true,
            let document = cartReplays[id]?.replay.document(oracle.world.cartName(id))
        else { return }
        report(cartReplays[id]?.audit.reached(event.version, document) ?? nil, event.stream)
    }

    /// An event that ends a cart's lines says how much was in them.
    private func expect(_ count: Int64, _ cart: Folded, _ event: LogEvent) {
        guard count != cart.count else { return }
        found("\(event.kind) at \(event.position) counts \(count), and the cart held \(cart.count)", event.stream)
    }

    private func fold(_ event: LogEvent, _ outlet: Outlet) {
        guard var home = homeReplays.removeValue(forKey: outlet.index) else { return }
        defer { homeReplays[outlet.index] = home }
        home.replay.apply(event)
        let hash = home.hashes.removeValue(forKey: event.position)
        guard hash != nil || home.messages.needs(event.position) else { return }
        let document = home.replay.document(like: home.template)
        if let hash, hash != document.hashValue {
            found(
                Violation(
                    .home,
                    "the home of \(outlet.id) that was read at revision \(event.position) differs from the log"),
                event.stream, ["\(event.kind) at \(event.position), version \(event.version) of \(event.stream)"])
        }
        report(home.messages.reached(event.position, document), event.stream)
    }

    private func report(_ wrong: (violation: Violation, text: [UInt8])?, _ stream: String) {
        guard let wrong else { return }
        found(wrong.violation, stream, ["message → \(String(decoding: wrong.text.prefix(400), as: UTF8.self))"])
    }

    /// The log has been read to `heads`: it has to have everything that was acknowledged.
    func end(_ heads: [Int64], at time: UInt64) {
        self.time = time
        for (partition, head) in heads.enumerated() where next.indices.contains(partition) && next[partition] <= head {
            found("the log was read to position \(next[partition] &- 1), and has \(head)", nil)
        }
        for customer in oracle.customers { findMissing(customer) }
        for (id, cart) in oracle.retired { compare(id, cart) }
        for (order, placed) in orders {
            guard let cart = oracle.retired[placed.cart], cart.order.map({ isSame($0, order) }) != true else {
                continue
            }
            found(
                "order \(order) of cart \(oracle.world.cartName(placed.cart)) was placed, and nobody was told",
                "order-\(order)")
        }
        for (id, model) in oracle.orders {
            oracle.count(.log)
            let replay = orderReplays[id] ?? OrderReplay()
            if !model.mayHaveEnded(at: replay.version, replay.status.rawValue, replay.refunded, time: time) {
                found(
                    "order \(id) is \(replay.status.rawValue) at version \(replay.version), with \(replay.refunded) given "
                        + "back; by what was answered it is \(model.state.status.rawValue) at \(model.state.version), with "
                        + "\(model.state.refunded.money)", "order-\(id)", model.history)
            }
        }
        for (id, outlet) in oracle.strangers where orders[id] == nil {
            found("order \(id) of \(oracle.world.outlets[outlet].id) was shown, and the log does not have it", nil)
        }
        for outlet in oracle.world.outlets where !oracle.customers[outlet.owner].isWaiting {
            for (stream, acknowledged) in [
                ("outlet-\(outlet.id)", outlet.outletVersion), ("menu-\(outlet.id)", outlet.menuVersion),
                ("promotions-\(outlet.id)", outlet.promotionsVersion),
            ] {
                oracle.count(.log)
                let version = versions[stream, default: 0]
                if acknowledged < ownVersions[stream, default: 0] || acknowledged > version {
                    found("\(stream) has \(version) events, and its owner was told of version \(acknowledged)", stream)
                }
            }
        }
        for (outlet, document) in shownTakings {
            oracle.count(.takings)
            let id = oracle.world.outlets[outlet].id
            let shown = JSON(document) ?? .null
            guard let difference = (takings[outlet] ?? TakingsReplay()).difference(from: shown) else { continue }
            found(
                Violation(.takings, "TAKINGS of \(id): \(difference)"), nil,
                ["TAKINGS \(id) → \(Reply.bulk(document).summary)"])
        }
        for (outlet, supply) in supplies {
            let stream = "supply-\(oracle.world.outlets[outlet].id)"
            for (order, problem) in supply.problems(orderReplays) {
                let history = order.flatMap { oracle.orders[$0]?.history } ?? []
                found(
                    Violation(.stock, "\(stream) \(problem)"), order.map { "order-\($0)" } ?? stream,
                    history.isEmpty ? ["\(stream) → \(problem)"] : history)
            }
        }
        for (id, cart) in cartReplays { report(cart.audit.finish(), "cart-\(oracle.world.cartName(id))") }
        for (index, home) in homeReplays {
            let id = oracle.world.outlets[index].id
            report(home.messages.finish(), "menu-\(id)")
            if !oracle.customers[oracle.world.outlets[index].owner].isWaiting, let item = home.replay.difference() {
                let offer = [oracle.world.outlets[index].current(item: item)].text
                found(
                    "\(ItemPlan.id(item)) of \(id) is not as its owner was told", "menu-\(id)",
                    ["its owner was told: \(offer)"])
            }
            if let revision = home.hashes.keys.min() {
                let violation = Violation(
                    .home, "the home of \(id) was read at revision \(revision), which the log does not have")
                found(violation, "menu-\(id)", ["OUTLET.HOME \(id) → revision \(revision)"])
            }
        }
    }

    /// Looks for acknowledged writes that the log does not have.
    private func findMissing(_ customer: Customer) {
        for number in customer.writes.unseen {
            let name = "\(customer.index)-\(number)"
            let exchange = customer.writes.recorded(number)
            found(
                "command \(name) was acknowledged, and the log does not have it", exchange?.call.stream(oracle.world),
                exchange.map { ["\($0.call.summary(oracle.world)) ID \(name) → \($0.reply.summary)"] } ?? [])
        }
    }

    /// Compares a cart with what its customer's replies said.
    private func compare(_ id: CartID, _ retired: RetiredCart) {
        oracle.count(.log)
        let folded = carts[id] ?? Folded()
        let further = folded.version - retired.version
        let isRight = further % 2 == 0 && (0...2 * retired.refusedCheckouts).contains(further)
        if !isRight || folded.count != Int64(retired.count) {
            let stream = "cart-\(oracle.world.cartName(id))"
            found(
                "\(stream) has \(folded.version) events and a count of \(folded.count); acknowledged were "
                    + "\(retired.version) and \(retired.count)", stream)
        }
        if let order = retired.order, orders[order]?.total != retired.total || orders[order]?.cart != id {
            found(
                "order \(order) "
                    + (orders[order].map {
                        "belongs to cart \(oracle.world.cartName($0.cart)) in the log, with a total of \($0.total)"
                    } ?? "is not in the log") + "; the agreed total was \(retired.total)", "order-\(order)")
        }
    }
}
