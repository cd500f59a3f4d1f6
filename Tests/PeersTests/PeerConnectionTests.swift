import EventLog
import EventLoop
import Fleet
import LineProtocol
import SeededRandom
import TestSupport
import Testing

@testable import Application
@testable import Peers
@testable import Serving

/// The end of a connection that gives calls away.
@Suite(.timeLimit(.minutes(1))) struct PeerConnectionTests {
    init() { LoopActor.startInBackground() }

    /// Gives a test another server and connections to it, and the servers that were lost.
    @LoopActor
    private static func with(
        _ limits: PeerConnections.Limits = .init(),
        _ body: @LoopActor (ScriptedServer, PeerConnections, Outcomes) async throws -> Void
    ) async throws {
        let (server, connections) = (try ScriptedServer(), PeerConnections.make(limits))
        defer {
            connections.close()
            server.close()
        }
        try await body(server, connections, Outcomes())
    }

    // MARK: Before calls are given

    @Test(arguments: 0..<7) @LoopActor
    func `To a server that does not prove itself, nothing is sent`(_ way: Int) async throws {
        try await Self.with { server, connections, outcomes in
            switch way {
            case 0: server.onConnection = { $0.connection?.close() }
            case 1: server.onHello = { $0.connection?.close() }
            case 2: server.onHello = { $0.sayHello(proof: String(repeating: "0", count: 64)) }
            case 3: server.onHello = { $0.say { $0.error("NOAUTH", "no") } }
            case 4: server.onHello = { $0.say(Array("rubbish\r\n".utf8)) }
            case 5: server.onJoin = { $0.connection?.close() }
            default: server.onJoin = { $0.say { $0.error("NOAUTH", "no") } }
            }
            var lost: [ServerID] = []
            connections.onLost = { lost.append($0.id) }
            for number in 1...3 { connections.send(.tea(1, "c"), to: server.server, number, outcomes) }
            await turns { outcomes.all.count == 3 }
            #expect(outcomes.all == ["1 notSent", "2 notSent", "3 notSent"])
            #expect(lost == [server.server.id])
            await turns { server.hasEnded }
            #expect(server.calls.isEmpty)
        }
    }

    @Test(arguments: 0..<3) @LoopActor
    func `A server that does not answer in time is given up`(_ way: Int) async throws {
        var limits = PeerConnections.Limits()
        limits.openingMilliseconds = 20
        try await Self.with(limits) { server, connections, outcomes in
            switch way {
            case 0: server.onHello = { _ in }
            case 1: server.onHello = { $0.say(Array("*2\r\n$1\r\n".utf8)) }
            default: server.onJoin = { _ in }
            }
            connections.send(.tea(1, "c"), to: server.server, 1, outcomes)
            await turns { !outcomes.all.isEmpty }
            #expect(outcomes.all == ["1 notSent"])
            await turns { server.hasEnded }
        }
    }

    @Test(arguments: ["", "127.0.0.1", "127.0.0.1:0", "no such host:1", "[::1"]) @LoopActor
    func `An address that makes no sense is no server's`(_ address: String) async throws {
        try await Self.with { server, connections, outcomes in
            var other = server.server
            other.address = address
            connections.send(.tea(1, "c"), to: other, 1, outcomes)
            await turns { !outcomes.all.isEmpty }
            #expect(outcomes.all == ["1 notSent"])
        }
    }

    @Test @LoopActor func `Where nobody listens, nothing is sent`() async throws {
        try await Self.with { server, connections, outcomes in
            server.close()
            connections.send(.tea(1, "c"), to: server.server, 1, outcomes)
            await turns { !outcomes.all.isEmpty }
            #expect(outcomes.all == ["1 notSent"])
        }
    }

    @Test @LoopActor func `A server that ended is asked again, and anew`() async throws {
        try await Self.with { server, connections, outcomes in
            server.onConnection = { if $0.connectionCount == 1 { $0.connection?.close() } }
            connections.send(.tea(1, "c"), to: server.server, 1, outcomes)
            await turns { outcomes.all.count == 1 }
            connections.send(.tea(1, "c"), to: server.server, 2, outcomes)
            await turns { server.calls.count == 1 }
            server.answer(0, 5)
            await turns { outcomes.all.count == 2 }
            #expect(outcomes.all == ["1 notSent", "2 5"])
        }
    }

    // MARK: Answers

    @Test(arguments: SeededGenerator.seeds) @LoopActor
    func `Each call gets its own answer, in whatever order they come`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await Self.with { server, connections, outcomes in
            let count = random.number(1...100)
            for number in 1...count {
                // Some before the connection is open, and some behind.
                connections.send(.of(Int64(number), "X", "\(number)"), to: server.server, number, outcomes)
                if random.chance(10) { await LoopTimer.pause(milliseconds: 0) }
            }
            await turns { server.calls.count == count }
            #expect(server.calls.map { Int($0.call.origin.client) } == Array(1...count))
            let order = Array(0..<count).shuffled(using: &random)
            var bytes = order.flatMap { index in
                encoded { buffer in
                    if random.chance(20) { buffer.pulse() }
                    buffer.answer(server.calls[index].number, .success(.integer(Int64(index) + 1)))
                }
            }
            // Nobody has asked for that.
            bytes += encoded { $0.answer(1_000_000, .success(.null)) }
            while !bytes.isEmpty {
                let part = min(bytes.count, random.number(1...500))
                server.say(Array(bytes.prefix(part)))
                bytes.removeFirst(part)
                if random.chance(30) { await LoopTimer.pause(milliseconds: 0) }
            }
            await turns { outcomes.all.count == count }
            #expect(outcomes.all == order.map { "\($0 + 1) \($0 + 1)" })
            #expect(server.connectionCount == 1)
        }
    }

    @Test(arguments: [
        "end", "reset", ":1\r\n", "*1\r\n:1\r\n", "*2\r\n:1\r\n:9\r\n", "*3\r\n:1\r\n:1\r\n_\r\n", "hello\r\n",
    ])
    @LoopActor
    func `What a server was sent is lost when it ends, in order`(_ way: String) async throws {
        try await Self.with { server, connections, outcomes in
            for number in 1...20 { connections.send(.of(1, "X"), to: server.server, number, outcomes) }
            await turns { server.calls.count == 20 }
            server.answer(6, 7)
            server.answer(2, 3)
            await turns { outcomes.all.count == 2 }
            var lost = 0
            connections.onLost = { _ in
                lost += 1
                // By then nobody waits any more, or learns of it in order.
                #expect(outcomes.all.count == 2)
            }
            switch way {
            case "end": server.connection?.endWriting()
            case "reset": server.connection?.close()
            default: server.say(Array(way.utf8))
            }
            await turns { outcomes.all.count == 20 }
            let rest = (1...20).filter { $0 != 3 && $0 != 7 }
            #expect(outcomes.all == ["7 7", "3 3"] + rest.map { "\($0) lost" })
            #expect(lost == 1)
            await turns { server.hasEnded }
        }
    }

    @Test @LoopActor func `What has not left is not lost`() async throws {
        try await Self.with { server, connections, outcomes in
            connections.send(.of(1, "X"), to: server.server, 1, outcomes)
            await turns { server.calls.count == 1 }
            for number in 2...3 {
                connections.send(.of(1, "X"), to: server.server, completion: outcomes.taker(of: number))
            }
            server.connection?.close()
            await turns { outcomes.all.count == 3 }
            #expect(outcomes.all == ["1 lost", "2 notSent", "3 notSent"])
        }
    }

    @Test @LoopActor func `A server that says nothing while calls wait is given up`() async throws {
        var limits = PeerConnections.Limits()
        limits.silenceMilliseconds = 0
        try await Self.with(limits) { server, connections, outcomes in
            for number in 1...2 { connections.send(.of(1, "X"), to: server.server, number, outcomes) }
            await turns { outcomes.all.count == 2 }
            #expect(outcomes.all == ["1 lost", "2 lost"])
            await turns { server.hasEnded }
        }
    }

    @Test @LoopActor func `A server may say nothing as long as nobody waits`() async throws {
        var limits = PeerConnections.Limits()
        limits.silenceMilliseconds = 0
        try await Self.with(limits) { server, connections, outcomes in
            connections.reach([server.server])
            await turns { server.hasJoined }
            // Another is given up meanwhile, which shows that the time has come.
            let other = try ScriptedServer()
            defer { other.close() }
            connections.send(.of(1, "X"), to: other.server, 1, outcomes)
            await turns { !outcomes.all.isEmpty }
            #expect(outcomes.all == ["1 lost"])
            #expect(!server.hasEnded && server.connectionCount == 1)
        }
    }

    @Test @LoopActor func `A server that was busy itself gives nobody up who has answered`() async throws {
        var limits = PeerConnections.Limits()
        limits.silenceMilliseconds = 1_200
        try await Self.with(limits) { server, connections, outcomes in
            connections.send(.of(1, "X"), to: server.server, 1, outcomes)
            await turns { server.calls.count == 1 }
            server.answer(0, 7)
            // Nothing is read meanwhile.
            let end = LoopActor.now + 1_500_000_000
            while LoopActor.now < end {}
            await turns { !outcomes.all.isEmpty }
            #expect(outcomes.all == ["1 7"])
        }
    }

    // MARK: Limits

    @Test @LoopActor func `One call more than may wait is told to come back`() async throws {
        var limits = PeerConnections.Limits()
        limits.calls = 3
        try await Self.with(limits) { server, connections, outcomes in
            for number in 1...5 { connections.send(.of(1, "X"), to: server.server, number, outcomes) }
            #expect(outcomes.all == ["4 BUSY", "5 BUSY"])
            await turns { server.calls.count == 3 }
            server.answer(1, 2)
            await turns { outcomes.all.count == 3 }
            for number in 6...7 { connections.send(.of(1, "X"), to: server.server, number, outcomes) }
            #expect(outcomes.all == ["4 BUSY", "5 BUSY", "2 2", "7 BUSY"])
            await turns { server.calls.count == 4 }
            // Another server has room.
            let other = try ScriptedServer()
            defer { other.close() }
            connections.send(.of(1, "X"), to: other.server, 8, outcomes)
            await turns { other.calls.count == 1 }
        }
    }

    @Test @LoopActor func `While too many bytes wait to be sent, calls are told to come back`() async throws {
        var limits = PeerConnections.Limits()
        limits.pendingBytes = 1_000
        try await Self.with(limits) { server, connections, outcomes in
            let long = String(repeating: "x", count: 2_000)
            connections.send(.of(1, "X", long), to: server.server, 1, outcomes)
            connections.send(.of(1, "X"), to: server.server, 2, outcomes)
            #expect(outcomes.all == ["2 BUSY"])
            await turns { server.calls.count == 1 }
            connections.send(.of(1, "X", long), to: server.server, 3, outcomes)
            await turns { server.calls.count == 2 }
            #expect(outcomes.all == ["2 BUSY"])
        }
    }

    @Test @LoopActor func `The longest call gets through`() async throws {
        try await Callee.with { callee in
            let (connections, outcomes) = (PeerConnections.make(), Outcomes())
            defer { connections.close() }
            let document = String(repeating: " ", count: 36 << 20)
            connections.send(.of(1, "NO.SUCH", document), to: callee.server, 1, outcomes)
            connections.send(.of(1, "CART.COUNT", "c"), to: callee.server, 2, outcomes)
            await turns { outcomes.all.count == 2 }
            #expect(outcomes.all == ["1 ERR", "2 0"])
        }
    }

    // MARK: The end

    @Test @LoopActor func `Closing ends every call once, and nobody is lost by it`() async throws {
        try await Self.with { server, connections, outcomes in
            let other = try ScriptedServer()
            defer { other.close() }
            other.onHello = { _ in }
            var lost = 0
            connections.onLost = { _ in lost += 1 }
            for number in 1...3 { connections.send(.of(1, "X"), to: server.server, number, outcomes) }
            await turns { server.calls.count == 3 }
            for number in 4...5 { connections.send(.of(1, "X"), to: other.server, number, outcomes) }
            await turns { other.connectionCount == 1 }
            server.answer(0, 1)
            await turns { outcomes.all.count == 1 }
            connections.close()
            connections.close()
            let ends = ["1 1", "2 lost", "3 lost", "4 notSent", "5 notSent"]
            #expect(outcomes.all.sorted() == ends)
            // What comes late finds nobody.
            server.answer(1, 2)
            connections.send(.of(1, "X"), to: server.server, 6, outcomes)
            connections.reach([server.server, other.server])
            connections.flush()
            await turns { server.hasEnded && other.hasEnded }
            #expect(outcomes.all.sorted() == ends + ["6 notSent"])
            #expect(server.connectionCount == 1 && other.connectionCount == 1 && lost == 0)
        }
    }

    @Test @LoopActor func `A call's end may make another call`() async throws {
        try await Self.with { server, connections, outcomes in
            connections.send(.of(1, "X"), to: server.server) { outcome in
                outcomes.taker(of: 1)(outcome)
                connections.send(.of(1, "Y"), to: server.server, 2, outcomes)
            }
            connections.flush()
            await turns { server.calls.count == 1 }
            server.connection?.close()
            await turns { server.connectionCount == 2 && server.calls.count == 1 }
            server.answer(0, 9)
            await turns { outcomes.all.count == 2 }
            #expect(outcomes.all == ["1 lost", "2 9"])
        }
    }

    @Test @LoopActor func `Servers that are wanted are connected to, and the end of one is noticed`() async throws {
        try await Self.with { server, connections, outcomes in
            let other = try ScriptedServer()
            defer { other.close() }
            var lost: [ServerID] = []
            connections.onLost = { lost.append($0.id) }
            connections.reach([server.server, other.server])
            connections.reach([server.server, other.server])
            await turns { server.hasJoined && other.hasJoined }
            server.connection?.close()
            await turns { !lost.isEmpty }
            #expect(lost == [server.server.id] && server.connectionCount == 1 && other.connectionCount == 1)

            // One that is not wanted any more is kept until it has answered.
            connections.send(.of(1, "X"), to: other.server, 1, outcomes)
            connections.reach([])
            await turns { other.calls.count == 1 }
            other.answer(0, 4)
            await turns { !outcomes.all.isEmpty }
            #expect(outcomes.all == ["1 4"] && !other.hasEnded)
            connections.reach([])
            await turns { other.hasEnded }
        }
    }

    // MARK: Real ends

    @Test @LoopActor func `With another secret or another id, nothing is carried out`() async throws {
        try await Callee.with { callee in
            let (connections, outcomes) = (PeerConnections.make(), Outcomes())
            defer { connections.close() }
            var other = callee.server
            other.secret[31] ^= 1
            connections.send(.tea(1, "c"), to: other, 1, outcomes)
            await turns { outcomes.all.count == 1 }
            other = callee.server
            other.id = .random()
            connections.send(.tea(1, "c"), to: other, 2, outcomes)
            await turns { outcomes.all.count == 2 }
            #expect(outcomes.all == ["1 notSent", "2 notSent"])
            connections.send(.tea(1, "c"), to: callee.server, 3, outcomes)
            await turns { outcomes.all.count == 3 }
            #expect(outcomes.all.last == "3 1")
            #expect(callee.service.member?.receivedCount == 1)
        }
    }

    @Test @LoopActor func `With TLS, servers prove themselves whatever their certificates are`() async throws {
        let files = try await TestCertificates.shared()
        let (certificate, key) = (files.certificate("elsewhere"), files.key("elsewhere"))
        try await Callee.with(tls: try .server(certificate: certificate, key: key)) { callee in
            let tls = try TLSContext.unverifiedClient(certificate: certificate, key: key)
            let (connections, outcomes) = (PeerConnections.make(tls: tls), Outcomes())
            defer { connections.close() }
            for number in 1...50 { connections.send(.tea(1, "c"), to: callee.server, number, outcomes) }
            await turns { outcomes.all.count == 50 }
            #expect(outcomes.all == (1...50).map { "\($0) \($0)" })
            // One that speaks no TLS gets nowhere.
            let plain = PeerConnections.make()
            defer { plain.close() }
            plain.send(.tea(1, "c"), to: callee.server, 51, outcomes)
            await turns { outcomes.all.count == 51 }
            #expect(outcomes.all.last == "51 notSent")
        }
    }

    @Test @LoopActor func `A server gives another what that decides`() async throws {
        let log = InMemoryEventLog()
        let callee = try await Callee(on: log, links: nil)
        for words in Callee.outlet { _ = try await callee.service.perform(words.map { Array($0.utf8) }) }
        let connections = PeerConnections.make()
        let origin = try await Callee(on: log, links: connections)
        let servers = [callee.server, origin.server]
        for one in [callee, origin] {
            one.store.view.servers = servers
            one.store.view.leases = (0..<log.partitionCount).map {
                Lease(partition: $0, holder: callee.server.id, term: 2)
            }
        }
        let member = try #require(origin.service.member)
        await turns { member.owner(of: 0) != nil }
        #expect(await origin.answer("CART.ADD", "c", "o", "tea", "2") == "2")
        #expect(await origin.answer("CART.COUNT", "c") == "2")
        #expect(await origin.answer("CART.ADD", "c", "o", "no-such-item", "2") == "NOTFOUND")
        #expect(member.forwardedCount == 3 && callee.service.member?.receivedCount == 3 && member.waitingCount == 0)
        await callee.stop()
        // What the other decided goes on here.
        await turns { member.owner(of: 0) == nil }
        #expect(await origin.answer("CART.ADD", "c", "o", "tea", "1") == "3")
        await origin.stop()
    }
}
