import Domain
import EventLoop
import LineProtocol
import LoadOracle
import SeededRandom
import SimulatedLoop
import Users

/// Somebody with a connection, who sends requests and looks at what comes back.
@LoopActor
final class Client {
    static let count = 6
    private static let millisecond: UInt64 = 1_000_000

    private unowned let world: World
    private let number: Int
    /// The user that it logs in as.
    private let user: Int
    private var chance: SeededGenerator
    private var connection: Connection?
    private(set) var observations: [[Observation]] = []
    private(set) var writes: [Write] = []
    private(set) var replies = 0
    private var requestCount = 0

    /// What a reply says about a cart or an order, in the order of one connection.
    struct Observation {
        enum What {
            case wrote(Write)
            /// An order's version, by the reply to a command about it.
            case version(Int64)
            case count(Int64)
            case cart(CartReader.Cart)
            case quote(CartReader.Cart)
            /// What was shown of an order; nil where there was none.
            case order(OrderFacts.View, JSON?)
            /// What a kitchen's orders are, and all orders of its outlet, when all is quiet.
            case kitchen([OrderReader.Entry])
            case orders([OrderReader.Entry])
            /// What an outlet took.
            case takings(JSON)
            /// What an outlet has counted, with whether all is quiet.
            case stock(StockReader, isQuiet: Bool)
            case ordersOf([OrderReader.Entry])
            /// The status of an outlet in a list; nil if it is not in it.
            case outlet(String?)
            /// There is no such outlet.
            case nothing
        }
        /// The stream; the outlet where it is about several orders.
        var subject: String
        var what: What
        /// The end of the log when it came.
        var head: Int64
        /// When it was asked for, and when it came.
        var sentAt: UInt64
        var time: UInt64

        /// Whether it is of a list: each server makes its own.
        var isOfList: Bool {
            switch what {
            case .order(.document, _): false
            case .order, .outlet: true
            default: false
            }
        }
    }

    /// A connection, as this side sees it.
    private final class Connection {
        let number: Int32
        let server: Server
        var parser = ReplyParser()
        /// What is on its way to the server, in pieces.
        var pieces: [[UInt8]] = []
        var isPumping = false
        var isTaking = false
        /// Requests without a reply, the oldest first.
        var unanswered: [Request] = []
        /// Whether it has logged in.
        var isLoggedIn = false
        var isOver = false
        var hasEnded = false
        /// Whether the server may close it.
        var mayBeClosed = false
        var followers: [String: Follower] = [:]
        /// When each of them heard something last.
        var heardAt: [String: UInt64] = [:]
        /// Channels to be read: each was heard of.
        var heard: [String] = []
        let observations: Int

        init(_ number: Int32, _ server: Server, observations: Int) {
            self.number = number
            self.server = server
            self.observations = observations
        }
    }

    init(_ number: Int, _ world: World) {
        self.number = number
        self.world = world
        user = number
        chance = SeededGenerator(seed: world.plan.seed, of: number + 1)
    }

    private var person: Person { world.users.now[user] }

    // MARK: Acting

    func start() {
        world.after(UInt64(chance.number(1..<world.pace)) * Client.millisecond) { [self] in
            guard world.act() else { return }
            act()
            start()
        }
    }

    private func strikes(_ fault: Fault, _ percent: Int) -> Bool {
        let happens = chance.chance(percent)
        guard happens, !world.isCalm, !world.plan.without.contains(fault) else { return false }
        world.met(fault)
        return true
    }

    private func act() {
        guard let connection else { return connect() }
        if strikes(.cut, 6) {
            simulated_end(connection.number, 1)
            return lose(connection)
        }
        if !connection.hasEnded, strikes(.end, 3) {
            connection.hasEnded = true
            connection.mayBeClosed = true
            return pump(connection)
        }
        guard !connection.hasEnded else { return }
        var requests: [Request] = []
        for _ in 0..<chance.number(1..<7) { requests.append(request(connection)) }
        send(requests, on: connection)
    }

    private func connect() {
        let ready = world.servers.filter(\.isUp)
        guard let server = ready.randomElement(using: &chance) else { return }
        let capacity = chance.chance(25) ? 300 : 65_536
        requestCount += 1
        let port = Int32(10_000 + requestCount * Client.count + number)
        let made = simulated_connect(Int32(server.port), port, capacity)
        guard made >= 0 else { return }
        observations.append([])
        let connection = Connection(made, server, observations: observations.count - 1)
        self.connection = connection
        world.note("client \(number) connects to \(server.port)")
        var requests: [Request] = []
        if !strikes(.stranger, 4) {
            if strikes(.wrongToken, 6) { requests.append(hello(isRight: false)) }
            requests.append(hello(isRight: true))
        } else {
            requests.append(Request(kind: .echo("nobody"), words: ["ECHO", "nobody"]))
        }
        while chance.chance(40) { requests.append(request(connection)) }
        send(requests, on: connection)
    }

    private func hello(isRight: Bool) -> Request {
        let text = person.token.text
        let token = isRight ? text : String(text.dropLast()) + (text.hasSuffix("0") ? "1" : "0")
        return Request(kind: .hello(isRight: isRight), words: ["HELLO", "3", "AUTH", person.name, token])
    }

    /// A request, most of the time one that the user may make.
    private func request(_ connection: Connection) -> Request {
        if chance.chance(25) {
            let candidates = sentRequests.filter {
                $0.write.map { $0.isRepeatable && ($0.isInDoubt || $0.isAnswered) } ?? false
            }
            if let again = candidates.randomElement(using: &chance), strikes(.again, 40) { return again }
        }
        var request = draw(connection)
        for _ in 0..<3 where chance.chance(80) && Model.verdict(on: request.kind, of: person) != .allowed {
            request = draw(connection)
        }
        if let write = request.write {
            writes.append(write)
            // What was agreed to is agreed to once.
            if case .checkOut = write.action { world.agreements.removeAll { "cart-\($0.cart)" == write.stream } }
        }
        return request
    }

    private func draw(_ connection: Connection) -> Request {
        requestCount += 1
        let cart = world.cart(chance.pick(Model.carts))
        let outlet = chance.pick(Model.outlets)
        let id = "w\(number)-\(requestCount)"
        func write(
            _ stream: String, _ action: Action, _ words: [String], of customer: String? = nil
        ) -> Request {
            let named = customer.map { ["CUSTOMER", $0] } ?? []
            let write = Write(id: id, stream: stream, action, of: customer, isRepeatable: isRepeatable())
            return Request(kind: .write(write), words: words + named + write.mark)
        }
        switch chance.below(134) {
        case 100..<106:
            let thing = chance.chance(60) ? "item \(Prices.item)" : "option \(chance.pick(Choice.options).id)"
            let count: Count =
                switch chance.below(10) {
                case 0..<5: .left(Int64(chance.below(12)))
                case 5..<9: .more(Int64(chance.number(1..<6)))
                default: .uncounted
                }
            let words = thing.split(separator: " ").map(String.init)
            return write(
                "supply-\(outlet)", .stock(thing, count),
                ["MENU.\(words[0].uppercased()).STOCK", outlet, words[1]] + count.words)
        case 106, 107: return Request(kind: .stock(outlet, isQuiet: false), words: ["STOCK", outlet])
        case 108:
            guard var deal = world.deals[outlet] else {
                return Request(kind: .home(outlet), words: ["OUTLET.HOME", outlet])
            }
            deal.limit = Int64(chance.number(1..<6))
            return write(
                "promotions-\(outlet)", .promote(limit: deal.limit), ["PROMO.PUT", outlet, Deal.id, deal.json])
        case 0..<22:
            let (choice, quantity) = (Choice.any(&chance), chance.number(1..<4))
            var words = ["CART.ADD", cart, Model.outlet(of: cart), Prices.item, "\(quantity)"]
            let tapped = choice.words.shuffled(using: &chance)
            if !tapped.isEmpty { words += ["OPTIONS", tapped.joined(separator: ",")] }
            // Whoever has not logged in may send ten words.
            let customer = tapped.isEmpty && chance.chance(60) ? Model.customer(of: cart) : nil
            return write("cart-\(cart)", .add(choice, quantity: quantity), words, of: customer)
        case 22:
            if chance.chance(50) { return write("cart-\(cart)", .clear, ["CART.CLEAR", cart]) }
            return Request(kind: .outlets, words: ["OUTLETS", "CITY", "Galle", "LIMIT", "100"])
        case 23, 120, 121:
            let tip = Int64(chance.below(4) * 5)
            return write("cart-\(cart)", .tip(tip), ["CART.TIP", cart, "\(tip)"])
        case 24, 25: return write("outlet-\(outlet)", .open, ["OUTLET.OPEN", outlet])
        case 26:
            switch chance.below(20) {
            case 0..<8: return write("outlet-\(outlet)", .close, ["OUTLET.CLOSE", outlet])
            case 8..<13: return write("outlet-\(outlet)", .hide, ["OUTLET.HIDE", outlet])
            case 13..<18: return write("outlet-\(outlet)", .show, ["OUTLET.SHOW", outlet])
            default: return write("outlet-\(Model.removable)", .remove, ["OUTLET.REMOVE", Model.removable])
            }
        case 27, 28:
            let option: String? = chance.chance(30) ? nil : chance.pick(Choice.options).id
            let price = Int64(option == nil ? chance.number(1..<20) : chance.below(6))
            return write(
                "menu-\(outlet)", .price(option ?? Prices.item, price),
                [option == nil ? "MENU.ITEM.PRICE" : "MENU.OPTION.PRICE", outlet, option ?? Prices.item, "\(price)"])
        case 29..<43, 109..<120:
            guard let known = world.agreements.suffix(3).randomElement(using: &chance), chance.chance(80) else {
                return Request(kind: .quote(cart), words: ["CART.QUOTE", cart])
            }
            return checkOut(known.cart, for: known.agreed.total, known.agreed.quote, id)
        case 43..<67, 122..<134:
            guard let order = anyOrder() else { return Request(kind: .quote(cart), words: ["CART.QUOTE", cart]) }
            if chance.chance(55) { return change(order, id) }
            let step = draw(for: order)
            return write("order-\(order.id)", .order(step, order), step.words(order.id))
        case 67..<72: return Request(kind: .count(cart), words: ["CART.COUNT", cart])
        case 72..<78: return Request(kind: .cart(cart), words: ["CART.GET", cart])
        case 78, 79: return Request(kind: .home(outlet), words: ["OUTLET.HOME", outlet])
        case 80..<86:
            guard let order = anyOrder() else { return Request(kind: .cart(cart), words: ["CART.GET", cart]) }
            return Request(kind: .order(order), words: ["ORDER.GET", order.id])
        case 86, 87: return Request(kind: .kitchen(outlet, isQuiet: false), words: ["KITCHEN", outlet])
        case 88: return Request(kind: .orders(outlet, isQuiet: false), words: ["ORDERS", "OUTLET", outlet])
        case 89..<97:
            let order = chance.chance(30) ? anyOrder() : nil
            let channel =
                order.map { "order:\($0.id)" }
                ?? chance.pick(["cart:\(cart)", "cart:\(cart)", "home:\(outlet)", "kitchen:\(outlet)"])
            if connection.followers[channel] != nil || connection.unanswered.contains(where: { $0.isAbout(channel) }) {
                fallthrough
            }
            return Request(kind: .subscribe(channel, order), words: ["SUBSCRIBE", channel])
        default: return Request(kind: .echo("e\(requestCount)"), words: ["ECHO", "e\(requestCount)"])
        }
    }

    /// A checkout of a cart for what it was said to cost.
    private func checkOut(_ cart: String, for total: Int64, _ quote: String?, _ id: String) -> Request {
        var words = quote.flatMap { chance.chance(50) ? ["QUOTE", $0] : nil } ?? ["TOTAL", "\(total)"]
        let customer = chance.chance(40) ? Model.customer(of: cart) : nil
        let hasName = customer != nil && chance.chance(60)
        if let customer { words += ["CUSTOMER", customer] }
        if hasName { words += ["NAME", Model.anyName] }
        // Whoever has not logged in may send ten words.
        let missing = hasName ? "ask" : chance.pick(["ask", "ask", "remove", "replace", "cancel"])
        if missing != "ask" { words += ["MISSING", missing] }
        let write = Write(
            id: id, stream: "cart-\(cart)", .checkOut(total: total, hasName: hasName, missing: missing), of: customer,
            isRepeatable: isRepeatable())
        return Request(kind: .write(write), words: ["CART.CHECKOUT", cart] + words + write.mark)
    }

    /// What somebody wants to be different about an order, or says of what somebody else wants.
    private func change(_ order: KnownOrder, _ id: String) -> Request {
        guard let shown = world.shown[order.id], !shown.lines.isEmpty else {
            return Request(kind: .order(order), words: ["ORDER.GET", order.id])
        }
        let party =
            switch person.role {
            case .customer: "customer"
            case .merchant: "merchant"
            default: chance.pick(["customer", "merchant"])
            }
        let step: ChangeStep
        if let digest = shown.digest, chance.chance(70) {
            // Now and then to another bill.
            let agreed = chance.chance(90) ? digest : String(digest.reversed())
            step = chance.chance(75) ? .agree(digest: agreed) : .decline(by: party)
        } else if chance.chance(10) {
            step = .noted
        } else {
            var edits = Edits()
            func arrival() -> Edits.Arrival { Edits.Arrival(choice: .any(&chance), quantity: chance.number(1..<3)) }
            if chance.chance(75) {
                let line = chance.pick(shown.lines)
                let left = chance.chance(3) ? line.quantity : chance.below(line.quantity)
                edits.lines = [(line.id, left, chance.chance(40) ? arrival() : nil)]
            }
            if edits.lines.isEmpty || chance.chance(25) { edits.add = [arrival()] }
            // None ends by itself while clients read what there is when all is quiet.
            step = .propose(edits, by: party, within: chance.pick([1, 3, 600, 600]))
        }
        let write = Write(
            id: id, stream: "order-\(order.id)", .change(step, order), isRepeatable: isRepeatable())
        return Request(kind: .write(write), words: step.words(order.id) + write.mark)
    }

    /// Goes on with an order at once, as most do.
    private func goOn(with order: KnownOrder, _ connection: Connection, _ percent: Int) {
        guard !world.isCalm, !connection.hasEnded, chance.chance(percent) else { return }
        requestCount += 1
        let request = change(order, "w\(number)-\(requestCount)")
        guard Model.verdict(on: request.kind, of: person) == .allowed else { return }
        if let write = request.write { writes.append(write) }
        send([request], on: connection)
    }

    /// Most commands have an ID. One without is not sent again, by nobody.
    private func isRepeatable() -> Bool { !world.hasFleet || !chance.chance(15) }

    /// One of the orders that clients know of, most often a new one.
    private func anyOrder() -> KnownOrder? {
        let orders = world.orders
        return chance.chance(60) ? orders.suffix(3).randomElement(using: &chance) : orders.randomElement(using: &chance)
    }

    /// What a kitchen, a customer or a payment service wants of an order.
    private func draw(for order: KnownOrder) -> OrderStep {
        // A command that is sent again is to say what it said before, so no time may have passed by then.
        func later() -> String {
            Timestamp(millisecondsSinceEpoch: world.clock + Int64(chance.number(60..<600)) * 1_000).rfc3339
        }
        let code = chance.pick(["ITEMS", "BUSY", "OTHER"])
        let text = chance.chance(30) ? Model.reason : nil
        switch chance.below(100) {
        case 0..<18: return .accept(readyBy: chance.chance(40) ? later() : nil)
        case 18..<24: return .reject(code: code, text: text)
        case 24..<33: return .prepare
        case 33..<42: return .ready
        case 42..<48: return .complete
        case 48..<56: return .delay(readyBy: later())
        case 56..<64: return .cancel(by: chance.pick(["customer", "merchant", "merchant"]), code: code, text: text)
        case 64..<88:
            let kind = chance.pick([
                "authorised", "authorised", "captured", "captured", "captured", "voided", "refunded", "chargedBack",
                "failed",
            ])
            let isPart = !["authorised", "failed"].contains(kind)
            return .pay(
                reference: chance.pick(["p1", "p2", "p3"]), kind: kind,
                minor: chance.chance(70) ? order.total : order.total / 2,
                of: isPart && chance.chance(30) ? chance.pick(["p1", "p2", "p3"]) : nil)
        default:
            switch chance.below(3) {
            case 0: return .refund(.rest, code: code)
            case 1: return .refund(.amount(Int64(chance.number(1..<20))), code: code)
            default:
                return .refund(.units(line: Choice.any(&chance).line, quantity: chance.number(1..<3)), code: code)
            }
        }
    }

    private var sentRequests: [Request] = []
    /// Writes that were on their way when their connection was lost.
    private var lostRequests: [(request: Request, connection: Connection)] = []

    private func send(_ requests: [Request], on connection: Connection) {
        var bytes: [UInt8] = []
        for var request in requests {
            // Only once on a connection.
            if request.subscription != nil, connection.unanswered.contains(where: { $0.words == request.words }) {
                continue
            }
            request.sentAt = world.now
            if let write = request.write {
                write.isInDoubt = false
                write.sentAt = write.sentAt ?? world.now
                if !sentRequests.contains(where: { $0.write === write }) { sentRequests.append(request) }
            }
            connection.unanswered.append(request)
            bytes += Array("*\(request.words.count)\r\n".utf8)
            for word in request.words { bytes += Array("$\(word.utf8.count)\r\n\(word)\r\n".utf8) }
        }
        var rest = bytes[...]
        let size = chance.pick([1, 10, 200, 65_536])
        while !rest.isEmpty {
            let piece = rest.prefix(chance.number(1...size))
            connection.pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        pump(connection)
    }

    /// Has the next piece arrive.
    private func pump(_ connection: Connection) {
        guard !connection.isPumping, !connection.isOver else { return }
        connection.isPumping = true
        world.after(UInt64(chance.number(1..<4_000)) * 1_000) { [self] in
            connection.isPumping = false
            guard !connection.isOver else { return }
            if let piece = connection.pieces.first {
                if simulated_deliver(connection.number, piece, piece.count) != 0 { connection.pieces.removeFirst() }
                pump(connection)
            } else if connection.hasEnded, simulated_end(connection.number, 0) == 0 {
                pump(connection)
            }
        }
    }

    // MARK: What comes back

    /// Looks whether the server has written something, or closed.
    func look() {
        guard let connection, !connection.isTaking, !connection.isOver else { return }
        let isOver = simulated_is_over(connection.number) != 0
        guard isOver || simulated_waiting(connection.number) > 0 else { return }
        connection.isTaking = true
        let isSlow = strikes(.slow, 10)
        let delay = isSlow ? chance.number(100..<2_000) : chance.number(1..<5)
        world.after(UInt64(delay) * Client.millisecond) { [self] in
            connection.isTaking = false
            guard !connection.isOver else { return }
            take(from: connection, atMost: isSlow ? chance.number(1..<200) : 65_536)
        }
    }

    private func take(from connection: Connection, atMost limit: Int) {
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = simulated_take(connection.number, buffer.baseAddress, limit)
        }
        bytes.withUnsafeBytes { connection.parser.append($0) }
        do {
            while let reply = try connection.parser.next() { receive(reply, connection) }
        } catch {
            world.violation("client \(number) got bytes that are no reply: \(error)")
        }
        guard simulated_is_over(connection.number) != 0 else { return }
        if !connection.unanswered.isEmpty, !connection.mayBeClosed, !wasDisabled(connection) {
            world.violation("client \(number) was closed without \(connection.unanswered.count) replies")
        } else if connection.hasEnded, !connection.unanswered.isEmpty, connection.server.isUp, !wasDisabled(connection)
        {
            world.violation("client \(number) ended, and was not answered \(connection.unanswered[0].words)")
        }
        simulated_end(connection.number, 0)
        lose(connection)
    }

    /// Whether the user was disabled at some time.
    private func wasDisabled(_ connection: Connection) -> Bool {
        connection.server.known.contains { !$0.users[user].isEnabled }
    }

    /// A server stops.
    func mayBeClosed(by server: Server) {
        if let connection, connection.server === server { connection.mayBeClosed = true }
    }

    /// The server of a connection is gone.
    func lost(_ server: Server) {
        if let connection, connection.server === server {
            simulated_end(connection.number, 1)
            lose(connection)
        }
        lostRequests.removeAll { $0.connection.server === server }
    }

    /// A server has learned of other users. As long as it does not read, it does not notice that a connection is gone,
    /// and goes on with what it has of it.
    func learned(_ server: Server) {
        for (request, connection) in lostRequests where connection.server === server {
            if verdicts(request, connection).mayBe { request.write?.wasAllowed = true }
        }
    }

    private func lose(_ connection: Connection) {
        world.note("client \(number) is cut off")
        connection.isOver = true
        self.connection = nil
        for request in connection.unanswered {
            guard let write = request.write else { continue }
            (write.isInDoubt, write.wasLost) = (true, true)
            if verdicts(request, connection).mayBe { write.wasAllowed = true }
            lostRequests.append((request, connection))
        }
    }

    private func receive(_ reply: Reply, _ connection: Connection) {
        replies += 1
        world.note("client \(number) ← \(reply.shown)")
        guard case .push(let parts) = reply, let kind = parts.first?.string, parts.count == 3 else {
            return answered(reply, connection)
        }
        switch kind {
        case "subscribe":
            guard let channel = parts[1].string, connection.unanswered.first?.subscription == channel else {
                return world.violation("client \(number) is told of \(reply.shown), and asked something else")
            }
            connection.followers[channel] = Follower(channel)
            answered(reply, connection)
        case "message":
            guard let channel = parts[1].string, case .bulk(let data) = parts[2],
                connection.followers[channel] != nil
            else {
                return world.violation("client \(number) got a message that it did not subscribe to: \(reply.shown)")
            }
            connection.heardAt[channel] = world.now
            follow(channel, connection) { follower throws(Violation) in try follower.heard(data) }
        case "unsubscribe":
            // The user may not listen any more.
            connection.followers[parts[1].string ?? ""] = nil
        default: world.violation("client \(number) got \(reply.shown)")
        }
    }

    private func follow(
        _ channel: String, _ connection: Connection, _ body: (inout Follower) throws(Violation) -> Void
    ) {
        guard var follower = connection.followers[channel] else { return }
        do throws(Violation) {
            try body(&follower)
        } catch  where world.lostLogs.isEmpty {
            world.violation("client \(number): \(error)")
        } catch {}
        connection.followers[channel] = follower
    }

    /// Takes what was read of a cart or an order. Another server may have answered, before this one said something newer.
    private func followRead(_ channel: String, _ document: [UInt8], _ request: Request, _ connection: Connection) {
        if world.hasFleet, let heard = connection.followers[channel]?.lastRevision,
            let version = JSON(document)?["version"]?.integer, version < heard
        {
            if let time = connection.heardAt[channel], time < request.sentAt {
                world.suspect("client \(number) read \(channel) at \(version) after \(heard)", since: request.sentAt)
            }
            return
        }
        follow(channel, connection) { follower throws(Violation) in try follower.read(document) }
    }

    /// What the server could say to who asks, by what it has known between then and now.
    private struct Verdicts {
        var mayBe = false
        var mayBeRefused = false
        var mayBeHidden = false
    }

    private func verdicts(_ request: Request, _ connection: Connection) -> Verdicts {
        let known = connection.server.known
        let first = known.lastIndex { $0.time <= request.sentAt } ?? 0
        var all = Verdicts()
        for moment in known[first...] {
            switch Model.verdict(on: request.kind, of: moment.users[user]) {
            case .allowed: all.mayBe = true
            case .refused: all.mayBeRefused = true
            case .hidden: all.mayBeHidden = true
            case .allowedOrRefused: (all.mayBe, all.mayBeRefused) = (true, true)
            }
            request.write?.roles.insert(moment.users[user].role)
        }
        return all
    }

    private func answered(_ reply: Reply, _ connection: Connection) {
        if case .error("ERR", let message) = reply, !connection.isLoggedIn, message.hasPrefix("no login within") {
            connection.mayBeClosed = true
            return
        }
        guard !connection.unanswered.isEmpty else {
            return world.violation("client \(number) got a reply to nothing: \(reply.shown)")
        }
        let request = connection.unanswered.removeFirst()
        let verdicts = verdicts(request, connection)
        func wrong(_ why: String) { world.violation("client \(number): \(request.words) \(why): \(reply.shown)") }
        if verdicts.mayBe, connection.isLoggedIn { request.write?.wasAllowed = true }
        if case .error(let code, _) = reply {
            if code == "UNKNOWN" { request.write?.isInDoubt = true }
            switch (code, request.kind) {
            case ("NOAUTH", .hello): return wrong("was refused")
            case ("NOAUTH", _): if connection.isLoggedIn { wrong("was refused after a login") }
            case ("NOPERM", .hello), ("NOPERM", .echo): wrong("was refused")
            case ("NOPERM", _): if !verdicts.mayBeRefused { wrong("was refused, and is allowed") }
            case ("NOTFOUND", .write(let write)) where verdicts.mayBeHidden:
                write.errors.append(Refusal(code: "NOPERM", head: world.head, sentAt: request.sentAt))
            case ("WRONGPASS", .hello(let isRight)):
                connection.mayBeClosed = true
                if isRight, !verdicts.mayBeRefused { wrong("was refused, and is right") }
            default:
                request.write?.errors.append(Refusal(code: code, head: world.head, sentAt: request.sentAt))
                if !Model.mayFail(request.kind, with: code, Set(world.forgotten.keys)) { wrong("failed") }
                // A tip is refused where there is nothing in the cart, too.
                if code == "STATE", let write = request.write, !write.isTip { retireCart(of: write) }
            }
            return
        }
        if case .hello(let isRight) = request.kind {
            guard case .map = reply, isRight, verdicts.mayBe else { return wrong("was answered") }
            connection.isLoggedIn = true
            return
        }
        guard connection.isLoggedIn else { return wrong("was answered before a login") }
        if verdicts.mayBeHidden, case .order = request.kind, case .null = reply { return }
        guard verdicts.mayBe else { return wrong("was done, and is not allowed") }
        if let customer = request.write?.customer, isForgotten(customer, at: request.sentAt) {
            return wrong("was done for a customer who was forgotten")
        }
        if !take(reply, to: request, connection) { wrong("was answered") }
    }

    private func isForgotten(_ customer: String, at time: UInt64 = .max) -> Bool {
        world.forgotten[customer].map { $0 < time } ?? false
    }

    /// What an order shows, with its customer's texts as they were before they were erased; nil if they were not erased
    /// when they had to be, or were when they had not.
    private func opened(_ shown: JSON, askedAt time: UInt64) -> JSON? {
        guard let customer = shown["customer"]?.string else { return shown }
        func opened(_ found: JSON?, _ text: String) -> JSON?? {
            guard let word = found?.string else { return .some(found) }
            guard word == "[erased]" ? isForgotten(customer) : !isForgotten(customer, at: time) else { return nil }
            return .some(word == "[erased]" ? JSON(text) : found)
        }
        var (shown, ending) = (shown, shown["ending"])
        guard let name = opened(shown["name"], Model.anyName), let reason = opened(ending?["reason"], Model.reason)
        else { return nil }
        shown["name"] = name
        ending?["reason"] = reason
        shown["ending"] = ending
        return shown
    }

    /// Takes what is no error. Returns whether it is a reply to that.
    private func take(_ reply: Reply, to request: Request, _ connection: Connection) -> Bool {
        func observe(_ subject: String, _ what: Observation.What) {
            observations[connection.observations].append(
                Observation(
                    subject: subject, what: what, head: world.head, sentAt: request.sentAt, time: world.now))
        }
        /// The orders of a list, each looked at.
        func list(_ document: [UInt8], _ view: OrderFacts.View) -> [OrderReader.Entry]? {
            OrderReader.list(document)?.reduce([]) { entries, order in
                guard let entries, let shown = opened(order.shown, askedAt: request.sentAt) else { return nil }
                observe("order-\(order.entry.order)", .order(view, shown))
                return entries + [order.entry]
            }
        }
        switch (request.kind, reply) {
        case (.echo(let text), .bulk): return reply.string == text
        case (.write(let write), .integer(let value)):
            write.replies.append(value)
            switch write.action {
            case .checkOut: return false
            case .order: observe(write.stream, .version(value))
            case .change(_, let order):
                observe(write.stream, .version(value))
                // Whoever has proposed something is shown what comes of it.
                world.shown[order.id] = nil
                goOn(with: order, connection, 80)
            case .open, .close, .hide, .show, .remove, .stock, .promote: observe(write.stream, .version(value))
            case .add, .clear, .tip, .price: observe(write.stream, .wrote(write))
            }
        case (.write(let write), .bulk):
            guard case .checkOut(let total, _, _) = write.action, let order = reply.string else { return false }
            write.orders.append(order)
            let cart = String(write.stream.dropFirst("cart-".count))
            let known = KnownOrder(id: order, cart: cart, total: total)
            world.learn(known)
            goOn(with: known, connection, 85)
            retireCart(of: write)
            observe(write.stream, .wrote(write))
        case (.count(let cart), .integer(let value)): observe("cart-\(cart)", .count(value))
        case (.cart(let cart), .bulk(let document)):
            guard let read = CartReader.read(document) else { return false }
            observe("cart-\(cart)", .cart(read))
            followRead("cart:\(cart)", document, request, connection)
        case (.quote(let cart), .bulk(let document)):
            guard let read = CartReader.read(document) else { return false }
            observe("cart-\(cart)", .quote(read))
            guard read.order == nil, read.count > 0 else { break }
            world.agreements.append((cart, (read.total, read.quote)))
            // Most customers order at once, before anything changes.
            guard !world.isCalm, !connection.hasEnded, chance.chance(60) else { break }
            requestCount += 1
            let request = checkOut(cart, for: read.total, read.quote, "w\(number)-\(requestCount)")
            guard Model.verdict(on: request.kind, of: person) == .allowed else { break }
            if let write = request.write { writes.append(write) }
            send([request], on: connection)
        case (.cart(let cart), .null), (.quote(let cart), .null): observe("cart-\(cart)", .cart(CartReader.Cart()))
        case (.home(let outlet), .bulk(let document)):
            follow("home:\(outlet)", connection) { follower throws(Violation) in try follower.read(document) }
        case (.home(let outlet), .null): observe("outlet-\(outlet)", .nothing)
        case (.outlets, .bulk(let document)):
            guard let listed = OutletReader.list(document) else { return false }
            for outlet in Model.outlets { observe("outlet-\(outlet)", .outlet(listed[outlet])) }
        // A server that has not read so far does not know the order yet.
        case (.order(let order), .null): observe("order-\(order.id)", .order(.document, nil))
        case (.order(let order), .bulk(let document)):
            guard let read = JSON(document), let shown = opened(read, askedAt: request.sentAt) else { return false }
            observe("order-\(order.id)", .order(.document, shown))
            let lines = (shown["lines"]?.array ?? []).compactMap { line in
                line["line"]?.string.flatMap { id in line["quantity"]?.integer.map { (id: id, quantity: Int($0)) } }
            }
            let digest = shown["proposal"]?["after"]?["digest"]?.string
            world.shown[order.id] = (lines, digest)
            let isOpen = ["placed", "accepted", "preparing"].contains(shown["status"]?.string)
            if isOpen { goOn(with: order, connection, digest == nil ? 70 : 60) }
            // What was sent before they were erased had the texts.
            guard !isForgotten(Model.customer(of: order.cart)) else { break }
            followRead("order:\(order.id)", document, request, connection)
        case (.kitchen(let outlet, let isQuiet), .bulk(let document)):
            guard let entries = list(document, .kitchen(mayBeLate: true)) else { return false }
            if isQuiet {
                observe(outlet, .kitchen(entries))
                let follower = connection.followers["kitchen:\(outlet)"]
                if world.lostLogs.isEmpty, world.forgotten.isEmpty,
                    let difference = follower?.difference(from: document)
                {
                    world.violation(
                        "client \(number) was told of another kitchen \(outlet) than it read: \(difference)")
                }
            }
        case (.orders(let outlet, let isQuiet), .bulk(let document)):
            guard let entries = list(document, .row) else { return false }
            if isQuiet { observe(outlet, .orders(entries)) }
        case (.takings(let outlet), .bulk(let document)):
            guard let read = JSON(document) else { return false }
            observe(outlet, .takings(read))
        case (.stock(let outlet, let isQuiet), .bulk(let document)):
            guard let read = StockReader(document) else { return false }
            observe("supply-\(outlet)", .stock(read, isQuiet: isQuiet))
        case (.ordersOf(let customer, let isQuiet), .bulk(let document)):
            guard let entries = list(document, .row) else { return false }
            if isQuiet { observe(customer, .ordersOf(entries)) }
        case (.subscribe, .push): break
        default: return false
        }
        return true
    }

    /// A cart that is checked out takes nothing more, so another takes its place.
    private func retireCart(of write: Write) {
        if write.stream.hasPrefix("cart-") { world.retire(String(write.stream.dropFirst("cart-".count))) }
    }

    // MARK: The end

    /// Connects again, and sends what is in doubt.
    func settle() {
        guard let connection, !connection.hasEnded else {
            if let connection { lose(connection) }
            return connect()
        }
        send(sentRequests.filter { $0.write.map { $0.isInDoubt && $0.isRepeatable } ?? false }, on: connection)
    }

    /// Reads what it has listened to.
    func finish() {
        guard let connection, !connection.hasEnded else { return }
        var requests: [Request] = []
        for channel in connection.followers.keys.sorted() {
            let parts = channel.split(separator: ":").map(String.init)
            switch parts[0] {
            case "cart": requests.append(Request(kind: .cart(parts[1]), words: ["CART.GET", parts[1]]))
            case "home": requests.append(Request(kind: .home(parts[1]), words: ["OUTLET.HOME", parts[1]]))
            case "order":
                guard let order = world.orders.first(where: { $0.id == parts[1] }) else { continue }
                requests.append(Request(kind: .order(order), words: ["ORDER.GET", order.id]))
            default: break
            }
        }
        for outlet in Model.outlets {
            requests.append(Request(kind: .kitchen(outlet, isQuiet: true), words: ["KITCHEN", outlet]))
            requests.append(Request(kind: .stock(outlet, isQuiet: true), words: ["STOCK", outlet]))
            requests.append(
                Request(
                    kind: .takings(outlet), words: ["TAKINGS", outlet, "FROM", World.days[0], "UNTIL", World.days[2]]))
            requests.append(
                Request(kind: .orders(outlet, isQuiet: true), words: ["ORDERS", "OUTLET", outlet, "COUNT", "100"]))
        }
        for customer in Model.customers {
            requests.append(
                Request(
                    kind: .ordersOf(customer, isQuiet: true),
                    words: ["ORDERS", "CUSTOMER", customer, "COUNT", "100"]))
        }
        requests.append(Request(kind: .outlets, words: ["OUTLETS", "CITY", "Galle", "LIMIT", "100"]))
        send(requests, on: connection)
    }

    func judge() {
        guard let connection else { return }
        if !connection.hasEnded, let request = connection.unanswered.first {
            world.violation("client \(number) was never answered \(request.words)")
        }
        for (channel, follower) in connection.followers where world.lostLogs.isEmpty {
            if !follower.hasBegun { world.violation("client \(number) heard nothing of \(channel)") }
            if let read = follower.behind {
                world.violation("client \(number) was never told of \(channel) at \(read)")
            }
        }
    }
}

extension Request {
    fileprivate var subscription: String? { if case .subscribe(let channel, _) = kind { channel } else { nil } }
    fileprivate func isAbout(_ channel: String) -> Bool { subscription == channel }
}

extension Choice {
    /// A choice, now and then one that the menu does not have.
    fileprivate static func any(_ chance: inout SeededGenerator) -> Choice {
        let isWrong = chance.chance(4)
        while true {
            let choice = Choice(
                Dictionary(
                    uniqueKeysWithValues: options.map { option in
                        (option.id, chance.chance(60) ? 0 : chance.number(1...option.most + (isWrong ? 1 : 0)))
                    }))
            if !choice.isTooMuch || isWrong { return choice }
        }
    }
}

extension Reply {
    /// The reply in a trace.
    var shown: String {
        switch self {
        case .error(let code, let message): "\(code) \(message)"
        case .integer(let value): "\(value)"
        case .array(let values), .push(let values): "[" + values.map(\.shown).joined(separator: ", ") + "]"
        case .map: "a map"
        default: string ?? "\(self)"
        }
    }
}
