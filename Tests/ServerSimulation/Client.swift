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

    /// What a reply says about a cart, in the order of one connection.
    struct Observation {
        enum What {
            case wrote(Write)
            case count(Int64)
            /// A cart's version and count.
            case cart(Int64, Int64)
        }
        var cart: String
        var what: What
        /// The end of the log when it came.
        var head: Int64
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
        world.after(UInt64(chance.number(1..<300)) * Client.millisecond) { [self] in
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

    /// A request, whether the user may make it or not.
    private func request(_ connection: Connection) -> Request {
        requestCount += 1
        let cart = chance.pick(Model.carts)
        let outlet = chance.pick(Model.outlets)
        let id = "w\(number)-\(requestCount)"
        func newWrite(_ stream: String, mayChangeNothing: Bool) -> Write {
            let write = Write(id: id, stream: stream, mayChangeNothing: mayChangeNothing)
            writes.append(write)
            return write
        }
        switch chance.below(26) {
        case 0..<9:
            let candidates = sentRequests.filter { $0.write?.isInDoubt == true || $0.write?.replies.isEmpty == false }
            if let again = candidates.randomElement(using: &chance), strikes(.again, 30) { return again }
            let quantity = chance.number(1..<4)
            let write = newWrite("cart-\(cart)", mayChangeNothing: false)
            return Request(
                kind: .add(write), words: ["CART.ADD", cart, Model.outlet(of: cart), "tea", "\(quantity)", "ID", id])
        case 9:
            return Request(
                kind: .clear(newWrite("cart-\(cart)", mayChangeNothing: true)), words: ["CART.CLEAR", cart, "ID", id])
        case 10:
            return Request(
                kind: .open(newWrite("outlet-\(outlet)", mayChangeNothing: true)),
                words: ["OUTLET.OPEN", outlet, "ID", id]
            )
        case 11:
            return Request(
                kind: .close(newWrite("outlet-\(outlet)", mayChangeNothing: true)),
                words: ["OUTLET.CLOSE", outlet, "ID", id])
        case 12..<16: return Request(kind: .count(cart), words: ["CART.COUNT", cart])
        case 16..<20: return Request(kind: .cart(cart), words: ["CART.GET", cart])
        case 20: return Request(kind: .home(outlet), words: ["OUTLET.HOME", outlet])
        case 21..<24:
            let channel = chance.chance(70) ? "cart:\(cart)" : "home:\(outlet)"
            if connection.followers[channel] != nil || connection.unanswered.contains(where: { $0.isAbout(channel) }) {
                fallthrough
            }
            return Request(kind: .subscribe(channel), words: ["SUBSCRIBE", channel])
        default: return Request(kind: .echo("e\(requestCount)"), words: ["ECHO", "e\(requestCount)"])
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
            if allowed(request, connection).mayBe { request.write?.wasAllowed = true }
        }
    }

    private func lose(_ connection: Connection) {
        world.note("client \(number) is cut off")
        connection.isOver = true
        self.connection = nil
        for request in connection.unanswered {
            guard let write = request.write else { continue }
            (write.isInDoubt, write.wasLost) = (true, true)
            if allowed(request, connection).mayBe { write.wasAllowed = true }
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

    /// Whether the server could take the request for allowed, and for not allowed, between then and now.
    private func allowed(_ request: Request, _ connection: Connection) -> (mayBe: Bool, mayNotBe: Bool) {
        let known = connection.server.known
        let first = known.lastIndex { $0.time <= request.sentAt } ?? 0
        let verdicts = known[first...].map { Model.may($0.users[user], request.kind) }
        return (verdicts.contains(true), verdicts.contains(false))
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
        let (mayBe, mayNotBe) = allowed(request, connection)
        func wrong(_ why: String) { world.violation("client \(number): \(request.words) \(why): \(reply.shown)") }
        if mayBe, connection.isLoggedIn { request.write?.wasAllowed = true }
        if case .error(let code, _) = reply {
            request.write?.errors.append(code)
            if code == "UNKNOWN" { request.write?.isInDoubt = true }
            switch (code, request.kind) {
            case ("NOAUTH", .hello): return wrong("was refused")
            case ("NOAUTH", _): if connection.isLoggedIn { wrong("was refused after a login") }
            case ("NOPERM", .hello), ("NOPERM", .echo): wrong("was refused")
            case ("NOPERM", _): if !mayNotBe { wrong("was refused, and is allowed") }
            case ("WRONGPASS", .hello(let isRight)):
                connection.mayBeClosed = true
                if isRight, !mayNotBe { wrong("was refused, and is right") }
            default: if !Model.mayFail(request.kind, with: code) { wrong("failed") }
            }
            return
        }
        if case .hello(let isRight) = request.kind {
            guard case .map = reply, isRight, mayBe else { return wrong("was answered") }
            connection.isLoggedIn = true
            return
        }
        guard connection.isLoggedIn else { return wrong("was answered before a login") }
        guard mayBe else { return wrong("was done, and is not allowed") }
        func observe(_ cart: String, _ what: Observation.What) {
            observations[connection.observations].append(Observation(cart: cart, what: what, head: world.head))
        }
        switch (request.kind, reply) {
        case (.echo(let text), .bulk): if reply.string != text { wrong("was answered") }
        case (.add(let write), .integer(let value)), (.clear(let write), .integer(let value)):
            write.replies.append(value)
            observe(String(write.stream.dropFirst("cart-".count)), .wrote(write))
        case (.open(let write), .integer(let value)), (.close(let write), .integer(let value)):
            write.replies.append(value)
        case (.count(let cart), .integer(let value)): observe(cart, .count(value))
        case (.cart(let cart), .bulk(let document)):
            guard let (version, count) = CartReader.read(document) else { return wrong("is no cart") }
            observe(cart, .cart(version, count))
            follow("cart:\(cart)", connection) { follower throws(Violation) in try follower.read(document) }
        case (.cart(let cart), .null): observe(cart, .cart(0, 0))
        case (.home(let outlet), .bulk(let document)):
            follow("home:\(outlet)", connection) { follower throws(Violation) in try follower.read(document) }
        case (.subscribe, .push): break
        default: wrong("was answered")
        }
    }

    // MARK: The end

    /// Connects again, and sends what is in doubt.
    func settle() {
        guard let connection, !connection.hasEnded else {
            if let connection { lose(connection) }
            return connect()
        }
        send(sentRequests.filter { $0.write?.isInDoubt == true }, on: connection)
    }

    /// Reads what it has listened to.
    func finish() {
        guard let connection, !connection.hasEnded else { return }
        let channels = connection.followers.keys.sorted()
        send(
            channels.map { channel in
                let id = String(channel.split(separator: ":")[1])
                return channel.hasPrefix("cart:")
                    ? Request(kind: .cart(id), words: ["CART.GET", id])
                    : Request(kind: .home(id), words: ["OUTLET.HOME", id])
            }, on: connection)
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
    fileprivate var subscription: String? { if case .subscribe(let channel) = kind { channel } else { nil } }
    fileprivate func isAbout(_ channel: String) -> Bool { subscription == channel }
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
