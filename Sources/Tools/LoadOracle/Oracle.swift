// The judge of a run: it gets the commands of customers and the answers, with the times of both, and says what is
// wrong.
//
// From the acknowledged commands it knows what a cart must hold; from its owner's changes, what an outlet may show;
// from its revision, what a document must be; and from the log, what each client should have been sent. It knows
// nothing of how the server works, and has no clock, randomness or input of its own: the same observations lead to the
// same verdicts, now or replayed from a record.

internal import LineProtocol

/// The judge of a run.
package final class Oracle {
    /// Violations that are kept with their histories.
    package static let keptFindings = 10
    /// The most channels that a server lets one client subscribe to.
    private static let channelLimit = 1_000

    /// What is known about one connection.
    private struct Connection {
        var followers: [String: Follower] = [:]
        /// When the latest answered call was sent on it: messages that come now were made after that.
        var asked: UInt64 = 0
    }

    package let world: World
    package let customers: [Customer]
    private var connections: [Connection]
    private var ledgers: [Int: HomeLedger] = [:]
    var items = ItemLedger()
    var orders: [String: OrderModel] = [:]
    /// The orders of each kitchen, as they were placed, and as they are known to have ended.
    var kitchenOrders: [Int: (open: [OrderModel], ended: [OrderModel])] = [:]
    /// What each kitchen was last shown.
    var latestKitchens: [Int: JSON] = [:]
    /// Orders that a kitchen was shown before their customers were told, with the kitchen.
    var strangers: [String: Int] = [:]
    private(set) var messages = MessageStore()
    private lazy var audit = LogAudit(self)
    /// What the last reply to each cart's customer said about it, for carts that are no longer used.
    private(set) var retired: [CartID: RetiredCart] = [:]
    private var made = [Int](repeating: 0, count: Check.allCases.count)

    /// The queries that are saved on the server, and are dropped at the end.
    package private(set) var savedQuestions: Set<String> = []
    package private(set) var findings: [Finding] = []
    /// How many violations were found beyond those kept.
    package private(set) var furtherFindings = 0
    /// With a longer pause between answers, in nanoseconds, the server was away.
    private static let silence: UInt64 = 1_000_000_000
    /// When the latest answer came, in nanoseconds.
    package private(set) var now: UInt64 = 0
    /// When the server was back after it was last away.
    private(set) var backSince: UInt64 = 0
    /// When the load began, in nanoseconds.
    package private(set) var loadBegan: UInt64 = 0
    /// Calls that were never answered, by customer.
    private var waiting: [Int: Call.Kind] = [:]
    /// Why the log could not be read.
    package private(set) var unreadLog: String?

    package init(_ plan: World.Plan, connections: Int) {
        world = World(plan)
        customers = (0..<plan.customers).map(Customer.init)
        self.connections = Array(repeating: Connection(), count: connections)
    }

    // MARK: Results

    /// How often each check was made.
    package var checksMade: [(check: Check, count: Int)] { Check.allCases.map { ($0, made[$0.rawValue]) } }
    package var checkCount: Int { made.reduce(0, +) }

    /// Calls that were never answered.
    package var unanswered: [Call.Kind] { waiting.sorted { $0.key < $1.key }.map(\.value) }

    /// Messages that were not compared with the log, because there were too many.
    package var uncheckedMessages: Int { messages.dropped }

    func count(_ check: Check, _ times: Int = 1) { made[check.rawValue] += times }

    func violated(_ violation: Violation, at time: UInt64, _ history: [String] = [], stream: String? = nil) {
        guard findings.count < Oracle.keptFindings else { return furtherFindings += 1 }
        findings.append(
            Finding(
                check: violation.check, message: violation.message, history: history, time: time, stream: stream))
    }

    /// Adds what the log says about its stream to a finding.
    package func explain(_ finding: Int, _ steps: [String]) { findings[finding].history += steps }

    /// Whether a change of an outlet is under way as soon as the call is sent. Then it has to be observed.
    package func isChange(_ call: Call) -> Bool { Oracle.change(call, world) != nil }

    /// Whether there are channels whose messages have not led to what was read yet.
    package var hasChannelsBehind: Bool {
        connections.contains { $0.followers.values.contains { $0.behind != nil || difference($0) != nil } }
    }

    /// The orders that somebody follows, each with its connection.
    package var followedOrders: [(connection: Int, order: String)] {
        connections.enumerated().flatMap { index, connection in
            connection.followers.keys.sorted().compactMap { channel in
                let id = channel.split(separator: ":", maxSplits: 1).last.map(String.init) ?? ""
                return channel.utf8.starts(with: "order:".utf8) && orders[id] != nil ? (index, id) : nil
            }
        }
    }

    /// The outlets whose changes were sent to subscribers.
    package var watchedOutlets: [Int] {
        messages.messages.keys.compactMap(outlet(ofChannel:)).map(\.index).sorted()
    }

    func ledger(_ outlet: Int) -> HomeLedger {
        if let ledger = ledgers[outlet] { return ledger }
        let ledger = HomeLedger(world.outlets[outlet])
        ledgers[outlet] = ledger
        return ledger
    }

    func homes(of outlet: Int) -> HomeLedger? { ledgers[outlet] }

    func outlet(ofChannel channel: String) -> Outlet? {
        channel.utf8.starts(with: "home:".utf8) ? world.outlet(channel.dropFirst(5)) : nil
    }

    func cart(ofChannel channel: String) -> CartID? {
        channel.utf8.starts(with: "cart:".utf8) ? world.cart(named: channel.dropFirst(5)) : nil
    }

    // MARK: Observing

    /// Takes what happened next. Returns the verdict on an exchange, and `accepted` for anything else.
    @discardableResult
    package func take(_ observation: Observation) -> Verdict {
        switch observation {
        case .loadBegan(let time): loadBegan = time
        case .changeSent(let call):
            if let outlet = call.outlet, let change = Oracle.change(call, world) { world.outlets[outlet].begin(change) }
        case .stepSent(let customer, let call, let time):
            if case .step(let order, let step) = call { orders[order]?.begin(customer, step, at: time) }
        case .exchange(let exchange): return take(exchange)
        case .newCart(let customer): takeNewCart(customers[customer])
        case .subscription(let connection, let channel, let isOn):
            if !isOn {
                connections[connection].followers[channel] = nil
            } else if connections[connection].followers[channel] == nil {
                connections[connection].followers[channel] = Follower(channel)
            }
        case .message(let connection, let channel, let time, let payload):
            heard(payload, of: channel, on: connection, at: time)
        case .connectionEnded(let connection, let wasHalfClosed):
            connections[connection].followers = [:]
            if wasHalfClosed { count(.halfClose) }
        case .connectionFault(let violation, let time): violated(violation, at: time)
        case .unanswered(let customer, let call, let write):
            customers[customer].isWaiting = true
            customers[customer].writes.begin(write)
            waiting[customer] = call.kind
        case .messagesAwaited(let time):
            for follower in connections.flatMap(\.followers.values) {
                if !customers.contains(where: \.isWaiting), let difference = difference(follower) {
                    violated(
                        Violation(
                            .patch, "\(follower.channel), made from messages and read whole, differs: \(difference)"),
                        at: time, follower.history)
                }
                guard let read = follower.behind else { continue }
                violated(
                    Violation(.messages, "\(follower.channel) was read at \(read), and no message led there"), at: time,
                    follower.history)
            }
        case .logBegins(let heads, let time):
            for customer in customers where !customer.isWaiting && !customer.isBroken { retire(customer.cart) }
            audit.begin(heads, at: time)
        case .takings(let outlet, let document): audit.take(takings: document, of: outlet)
        case .logEvent(let partition, let event): audit.take(event, of: partition)
        case .logEnds(let heads, let time): audit.end(heads, at: time)
        case .logUnread(let reason): unreadLog = reason
        }
        return .accepted
    }

    /// Judges an exchange, and updates the models.
    private func take(_ exchange: Exchange) -> Verdict {
        let customer = customers[exchange.customer]
        let connection = customer.index % connections.count
        connections[connection].asked = max(connections[connection].asked, exchange.sent)
        if exchange.answered > now + Oracle.silence { backSince = exchange.answered }
        now = max(now, exchange.answered)
        waiting[customer.index] = nil
        customer.isWaiting = false
        if case .step(let order, let step) = exchange.call { return take(step, of: order, exchange, customer) }
        if case .error(let code, _)? = exchange.refusedBefore, Verdict(inability: code) == nil {
            // A refusal is not remembered: the second copy was decided again, and an owner may have changed something
            // since. So the second reply decides, and the first only has to be possible.
            var first = exchange
            first.reply = exchange.refusedBefore ?? exchange.reply
            do throws(Violation) {
                _ = try judge(first, of: customer)
            } catch {
                violated(error, customer, exchange)
            }
        }
        var verdict = Verdict.accepted
        do throws(Violation) {
            verdict = try judge(exchange, of: customer)
            note(exchange, verdict, customer)
        } catch {
            customer.history.append(exchange.call, exchange.reply)
            customer.writes.settle(exchange, .unsure)
            violated(error, customer, exchange)
        }
        if let second = exchange.repeated {
            if case .error(let code, _) = second, Verdict(inability: code) != nil { return verdict }
            count(.duplicate)
            if !exchange.reply.isSame(as: second) {
                let text =
                    "a command sent twice with one ID was answered \(exchange.reply.summary) and then \(second.summary)"
                violated(Violation(.duplicate, text), customer, exchange)
            }
        }
        return verdict
    }

    private func violated(_ violation: Violation, _ customer: Customer, _ exchange: Exchange) {
        violated(violation, at: exchange.answered, customer.history.lines(world))
        customer.isBroken = true
        customer.history.removeAll()
    }

    private func note(_ exchange: Exchange, _ verdict: Verdict, _ customer: Customer) {
        // A checkout of what is counted may have begun before it was refused.
        let mayHaveBegun = exchange.call.kind == .cartCheckout && customer.cart.refusedCheckouts > 0
        switch verdict {
        case .accepted: customer.writes.settle(exchange, .recorded)
        case .refused where mayHaveBegun, .failed where mayHaveBegun: customer.writes.settle(exchange, .unsure)
        case .unchanged, .refused, .failed: customer.writes.settle(exchange, .nothing)
        case .unsettled: break
        }
        switch exchange.call {
        case .cart:
            customer.history.confirm(exchange.call, exchange.reply)
            guard case .bulk(let bytes) = exchange.reply else { return }
            read("cart:\(world.cartName(customer.cart.id))", Int64(customer.cart.version), exchange) { JSON(bytes) }
        case .add, .edit, .set, .remove, .clear, .tip, .service, .checkOut, .checkOutQuote:
            customer.history.append(exchange.call, exchange.reply)
        default: break
        }
    }

    private func takeNewCart(_ customer: Customer) {
        if !customer.isBroken { retire(customer.cart) }
        customer.quote = nil
        customer.cart = CartModel(CartID(shopper: customer.index, number: customer.cart.id.number + 1))
        customer.history.removeAll()
        customer.isBroken = false
    }

    /// A cart is no longer used.
    private func retire(_ cart: CartModel) {
        guard cart.version > 0 else { return }
        var order: String?
        if case .checkedOut(let id) = cart.status { order = id }
        retired[cart.id] = RetiredCart(
            version: Int64(cart.version), refusedCheckouts: Int64(cart.refusedCheckouts), count: cart.count,
            order: order, total: cart.agreedTotal ?? 0)
    }

    func saved(_ question: String) { savedQuestions.insert(question) }

    // MARK: Messages

    private func heard(_ payload: [UInt8], of channel: String, on connection: Int, at time: UInt64) {
        guard connections[connection].followers[channel] != nil else { return }
        let summary = Reply.bulk(payload).summary
        guard let text = JSON(payload) else {
            return violated(Violation(.messages, "a message of \(channel) is not JSON: \(summary)"), at: time)
        }
        count(.messages)
        let asked = connections[connection].asked
        check(channel, on: connection, at: time) { follower throws(Violation) in
            let (message, hasCompared) = try follower.heard(text, summary)
            if let cart = cart(ofChannel: channel) {
                messages.keep(channel, message, payload)
                try judgeProblems(follower, cart, sentAt: asked)
            } else if outlet(ofChannel: channel) != nil {
                messages.keep(channel, message, payload)
            } else {
                judgeFollowed(follower, at: time)
            }
            return hasCompared
        }
    }

    /// A document was read whole on the connection of an exchange.
    func read(_ channel: String, _ revision: Int64, _ exchange: Exchange, _ document: () -> JSON?) {
        let connection = exchange.customer % connections.count
        guard connections[connection].followers[channel]?.hasBegun == true, let document = document() else { return }
        check(channel, on: connection, at: exchange.answered) { follower throws(Violation) in
            try follower.read(document, revision: revision)
        }
    }

    private func check(
        _ channel: String, on connection: Int, at time: UInt64,
        _ body: (inout Follower) throws(Violation) -> Bool
    ) {
        guard var follower = connections[connection].followers.removeValue(forKey: channel) else { return }
        do throws(Violation) {
            if try body(&follower) { count(.patch) }
            connections[connection].followers[channel] = follower
        } catch {
            violated(error, at: time, follower.history)
        }
    }

    /// Whether the server may refuse a customer one more channel.
    private func hasManyChannels(_ customer: Customer) -> Bool {
        connections[customer.index % connections.count].followers.count >= Oracle.channelLimit
    }

    // MARK: Judging

    /// Judges a reply, and updates the models.
    private func judge(_ exchange: Exchange, of customer: Customer) throws(Violation) -> Verdict {
        let reply = exchange.reply
        if exchange.call.kind == .cartCheckout { customer.cart.answerCheckout(exchange) }
        if case .error(let code, _) = reply, let verdict = Verdict(inability: code) {
            if verdict != .unsettled { settleOwner(exchange, isMade: false) }
            return verdict
        }
        count(.answer)
        let floor =
            (exchange.call.outlet.map { world.outlets[$0] } ?? customer.cart.outlet)?
            .settledCount(before: exchange.sent) ?? 0
        switch exchange.call {
        case .putOutlet, .putMenu, .putPromotion, .stock, .restock, .open, .close, .hide, .show, .price, .suspend,
            .resume, .priceOption,
            .suspendOption, .resumeOption, .list, .unlist:
            return try judgeOwner(exchange)
        case .add, .edit, .set, .remove, .clear, .tip, .service, .checkOut, .checkOutQuote:
            let version = customer.cart.version
            let verdict = try judgeCart(exchange, floor, customer)
            return verdict == .accepted && customer.cart.version == version ? .unchanged : verdict
        case .count:
            guard case .integer(let count) = reply else { throw unexpected(exchange, "a count") }
            self.count(.count)
            guard count == customer.cart.badge else {
                throw Violation(.count, "CART.COUNT is \(count), and must be \(customer.cart.badge)")
            }
            return .accepted
        case .cart: return try judgeCartDocument(exchange, floor, customer)
        case .order: return try judgeOrder(exchange, customer)
        case .quote: return try judgeQuote(exchange, floor, customer)
        case .kitchen(let outlet): return try judgeKitchen(exchange, world.outlets[outlet])
        case .orders(let list): return try judgeOrders(exchange, list, customer)
        case .step: return .accepted
        case .home: return try judgeHome(exchange, floor, customer)
        case .tags(let outlet): return try judgeTags(exchange, world.outlets[outlet])
        case .item: return try judgeItem(exchange, floor, customer)
        case .browse(let question), .outlets(let question), .surprise(let question), .save(_, let question):
            return try judgePage(exchange, floor, question)
        case .choose(let words):
            guard case .bulk(let word) = reply, words.contains(where: { word.elementsEqual($0.utf8) }) else {
                throw unexpected(exchange, "one of \(words)")
            }
            return .accepted
        case .drop:
            // A server that was started again has no saved queries.
            guard case .integer(0...1) = reply else { throw unexpected(exchange, "1 or 0") }
            return .accepted
        case .subscribe, .unsubscribe:
            if case .error("LIMIT", _) = reply, hasManyChannels(customer) { return .refused(code: "LIMIT") }
            guard case .simple("PONG") = reply else { throw unexpected(exchange, "PONG") }
            return .accepted
        }
    }

    func unexpected(_ exchange: Exchange, _ expected: String) -> Violation {
        Violation(.answer, "\(exchange.call.kind.name) was answered \(exchange.reply.summary), not \(expected)")
    }

    // MARK: Owners

    private func judgeOwner(_ exchange: Exchange) throws(Violation) -> Verdict {
        guard case .integer(let version) = exchange.reply else { throw unexpected(exchange, "a version") }
        guard let index = exchange.call.outlet else { return .accepted }
        count(.version)
        // It was acknowledged, even if the version is wrong.
        defer { settleOwner(exchange, isMade: true) }
        let isChanged = try world.outlets[index].follow(version, of: exchange.call)
        return isChanged ? .accepted : .unchanged
    }

    /// A change of an outlet was made, or was not.
    private func settleOwner(_ exchange: Exchange, isMade: Bool) {
        let call = exchange.call
        guard let index = call.outlet, call.kind.isWrite, Oracle.change(call, world) != nil else { return }
        if isMade { world.outlets[index].settle(at: exchange.answered) } else { world.outlets[index].abandon() }
    }

    /// The change that a call makes to the offer of an item or an option, or to the doors or the listing of its outlet.
    static func change(_ call: Call, _ world: World) -> Outlet.Change? {
        func item(_ outlet: Int, _ item: Int, _ body: (inout Offer) -> Void) -> Outlet.Change {
            var offer = world.outlets[outlet].current(item: item)
            body(&offer)
            return Outlet.Change(target: .item(item), offer: offer)
        }
        func option(_ outlet: Int, _ id: String, _ body: (inout Offer) -> Void) -> Outlet.Change {
            var offer = world.outlets[outlet].current(option: id)
            body(&offer)
            return Outlet.Change(target: .option(Text(id)), offer: offer)
        }
        switch call {
        case .priceOption(let outlet, let id, let minor): return option(outlet, id) { $0.price = minor }
        case .suspendOption(let outlet, let id): return option(outlet, id) { $0.isAvailable = false }
        case .resumeOption(let outlet, let id): return option(outlet, id) { $0.isAvailable = true }
        case .price(let outlet, let index, let minor): return item(outlet, index) { $0.price = minor }
        case .suspend(let outlet, let index): return item(outlet, index) { $0.isAvailable = false }
        case .resume(let outlet, let index): return item(outlet, index) { $0.isAvailable = true }
        case .list(let outlet, let index, _):
            let price = world.outlets[outlet].menu.item(index).price
            return Outlet.Change(
                target: .item(index), offer: Offer(price: price, isAvailable: true, isListed: true))
        case .unlist(let outlet, let index): return item(outlet, index) { $0.isListed = false }
        case .open, .close:
            let isOpen = if case .open = call { true } else { false }
            return Outlet.Change(target: .doors, offer: Offer(price: 0, isAvailable: isOpen, isListed: true))
        case .hide, .show:
            let isListed = if case .show = call { true } else { false }
            return Outlet.Change(target: .listing, offer: Offer(price: 0, isAvailable: true, isListed: isListed))
        default: return nil
        }
    }
}

/// What the last reply to the customer of a cart said.
struct RetiredCart {
    var version: Int64
    /// How many checkouts may have begun, and been refused, beside that: each is two events.
    var refusedCheckouts: Int64
    var count: Int
    var order: String?
    var total: Int64
}
