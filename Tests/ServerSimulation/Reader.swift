import EventLoop
import LineProtocol
import SeededRandom
import SimulatedLoop
import TextFormats
import Users

/// Passes the events of the log on, as `tiffin relay` does: it reads from its cursor on, together with the event at the
/// cursor, hands each event to a receiver, and keeps the cursor after that. Now and then it is killed in between.
@LoopActor
final class Reader {
    /// An event, in words that no other event of a log has.
    struct Passed: Equatable {
        var position: Int64
        var mark: String
    }

    private static let millisecond: UInt64 = 1_000_000

    private unowned let world: World
    private var chance: SeededGenerator
    private var connection: (number: Int32, server: Server)?
    private var parser = ReplyParser()
    private var isTaking = false
    /// Whether it waits for the next event, and takes it when it reads again.
    private var isWaiting = false
    private var connectionCount: Int32 = 0
    /// How far it is; nil before the first event. It outlives the process.
    private var cursor: Passed?
    /// What the receiver was handed since the log was last found to be another.
    private(set) var passed: [Passed] = []

    init(_ world: World) {
        self.world = world
        chance = SeededGenerator(seed: world.plan.seed, of: 2_000)
    }

    /// Connects after a while.
    func start() {
        world.after(UInt64(chance.number(1..<500)) * Reader.millisecond) { [self] in connect() }
    }

    private func connect() {
        guard let server = world.servers.filter(\.isUp).randomElement(using: &chance) else { return start() }
        connectionCount += 1
        let made = simulated_connect(Int32(server.port), 5_000 + connectionCount, 65_536)
        guard made >= 0 else { return start() }
        connection = (made, server)
        parser = ReplyParser()
        (isTaking, isWaiting) = (false, false)
        let person = world.users.now[Users.reader]
        send(["HELLO", "3", "AUTH", person.name, person.token.text])
    }

    /// The server is gone.
    func lost(_ server: Server) {
        if connection?.server === server { disconnect() }
    }

    private func disconnect() {
        if let connection { simulated_end(connection.number, 1) }
        connection = nil
        start()
    }

    private func send(_ words: [String]) {
        let head = "*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
        let (bytes, number) = (Array(head.utf8), connection?.number)
        func deliver() {
            world.after(UInt64(chance.number(1..<5)) * Reader.millisecond) { [self] in
                guard let number, connection?.number == number else { return }
                if simulated_deliver(number, bytes, bytes.count) == 0 { deliver() }
            }
        }
        deliver()
    }

    private func read() {
        let count = chance.number(2..<9)
        send(["LOG.READ", "PARTITION", "0", "FROM", "\(max(1, cursor?.position ?? 1))", "COUNT", "\(count)"])
    }

    // MARK: What comes back

    /// Looks whether the server has written something, or closed.
    func look() {
        guard let connection, !isTaking else { return }
        guard simulated_is_over(connection.number) != 0 || simulated_waiting(connection.number) > 0 else { return }
        isTaking = true
        world.after(UInt64(chance.number(1..<5)) * Reader.millisecond) { [self] in
            guard self.connection?.number == connection.number else { return }
            isTaking = false
            take(from: connection.number)
        }
    }

    private func take(from number: Int32) {
        let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            count = simulated_take(number, buffer.baseAddress, 65_536)
        }
        bytes.withUnsafeBytes { parser.append($0) }
        do {
            while connection?.number == number, let reply = try parser.next() { receive(reply) }
        } catch {
            world.violation("the reader got bytes that are no reply: \(error)")
        }
        if connection?.number == number, simulated_is_over(number) != 0 { disconnect() }
    }

    private func receive(_ reply: Reply) {
        switch reply {
        case .map: read()
        case .error(let code, _) where ["UNAVAILABLE", "BUSY"].contains(code): disconnect()
        case .array(let documents):
            let events = documents.compactMap { document -> Passed? in
                if case .bulk(let bytes) = document { Reader.event(bytes) } else { nil }
            }
            guard events.count == documents.count else { fallthrough }
            if isWaiting {
                isWaiting = false
                read()
            } else {
                take(events)
            }
        default: world.violation("the reader got \(reply.shown)")
        }
    }

    private static func event(_ document: [UInt8]) -> Passed? {
        guard let value = try? JSONValue(document), case .number(let position)? = value["position"],
            let position = Int64(position), case .string(let stream)? = value["stream"],
            case .number(let version)? = value["version"], case .string(let kind)? = value["kind"],
            case .string(let time)? = value["recordedAt"]
        else { return nil }
        return Passed(position: position, mark: "\(stream)@\(version) \(kind) \(time)")
    }

    private func take(_ events: [Passed]) {
        if let cursor, events.first != cursor {
            // Another log has taken the place of the one that was read: whoever runs the reader has it begin again.
            if world.lostLogs.isEmpty { world.violation("the reader found \(events) where it had read \(cursor)") }
            (self.cursor, passed) = (nil, [])
            return read()
        }
        var isNew = false
        for event in events where event.position > cursor?.position ?? 0 {
            isNew = true
            passed.append(event)
            if !world.isCalm, chance.chance(3) {
                world.note("the reader is killed")
                return disconnect()
            }
            cursor = event
        }
        if isNew { return read() }
        isWaiting = true
        send(
            ["LOG.READ", "PARTITION", "0", "FROM", "\((cursor?.position ?? 0) + 1)", "COUNT", "1"]
                + ["WAIT", "\(chance.number(10..<1_000))"])
    }
}
