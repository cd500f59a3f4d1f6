import Domain
import EventLog
import EventLoop
import Fleet
import LineProtocol
import SeededRandom
import Testing
import Users

@testable import Application
@testable import Peers
@testable import Serving

/// The end of a connection that carries calls out.
@Suite(.timeLimit(.minutes(1))) struct PeerServerTests {
    init() { LoopActor.startInBackground() }

    @LoopActor
    private static func with(
        keys: any CustomerKeys = InMemoryCustomerKeys(),
        _ body: @LoopActor (Callee, PeerConnections, Outcomes) async throws -> Void
    ) async throws {
        try await Callee.with(keys: keys) { callee in
            let connections = PeerConnections.make()
            defer { connections.close() }
            try await body(callee, connections, Outcomes())
        }
    }

    // MARK: Who may

    @Test(arguments: 0..<6) @LoopActor
    func `Who is no server of the log is refused and disconnected`(_ way: Int) async throws {
        try await Callee.with { callee in
            let caller = try await RawCaller(to: callee.server)
            switch way {
            case 0: caller.say("PEER", "JOIN", String(repeating: "0", count: 64))
            case 1:
                _ = await caller.greet(callee.server)
                caller.say("PEER", "JOIN", "")
            case 2:
                // The server's own proof is not the caller's.
                let proof = await caller.greet(callee.server)
                caller.say("PEER", "JOIN", proof?.text(of: .callee) ?? "")
            case 3:
                var other = callee.server
                other.secret = PeerProof.newSecret()
                let proof = await caller.greet(other)
                caller.say("PEER", "JOIN", proof?.text(of: .caller) ?? "")
            case 4:
                // A proof is for its own nonces.
                let first = await caller.greet(callee.server)
                caller.say("PEER", "HELLO", callee.server.id.text, "another")
                await turns { caller.replies.count == 2 }
                caller.say("PEER", "JOIN", first?.text(of: .caller) ?? "")
            default:
                // And for its own connection.
                let other = try await RawCaller(to: callee.server)
                let proof = await other.greet(callee.server)
                _ = await caller.greet(callee.server)
                caller.say("PEER", "JOIN", proof?.text(of: .caller) ?? "")
                other.close()
            }
            await turns { caller.hasEnded }
            guard case .error("NOAUTH", _)? = caller.replies.last else {
                Issue.record("\(caller.replies)")
                return
            }
        }
    }

    @Test @LoopActor func `Greetings for another server, or too long ones, are refused`() async throws {
        try await Callee.with { callee in
            let caller = try await RawCaller(to: callee.server)
            let id = callee.server.id.text
            let long = String(repeating: "a", count: PeerProof.maximumNonceLength + 1)
            let words = [[id, long], [ServerID.random().text, "a"], ["", "a"], [id.uppercased() + " ", "a"]]
            for (server, nonce) in words.map({ ($0[0], $0[1]) }) { caller.say("PEER", "HELLO", server, nonce) }
            await turns { caller.replies.count == words.count || caller.hasEnded }
            for reply in caller.replies {
                guard case .error("NOAUTH", _) = reply else {
                    Issue.record("\(reply)")
                    continue
                }
            }
            // It may still prove itself.
            caller.say("PEER", "HELLO", id, String(long.dropLast()))
            await turns { caller.replies.count == words.count + 1 || caller.hasEnded }
            guard case .array? = caller.replies.last else {
                Issue.record("\(caller.replies)")
                return
            }
            caller.close()
        }
    }

    // MARK: Carrying out

    @Test @LoopActor func `A call may do what its caller may, and no more`() async throws {
        try await Self.with { callee, connections, outcomes in
            var call = ForwardedCall.tea(1, "asha-1")
            call.origin.rights = Rights(of: .customer)
            call.origin.confinement = Confinement(ofCustomer: try #require(Identifier("asha")))
            connections.send(call, to: callee.server, 1, outcomes)
            call.words[1] = Array("ben-1".utf8)
            connections.send(call, to: callee.server, 2, outcomes)
            call.words = ["OUTLET.CLOSE", "o"].map { Array($0.utf8) }
            connections.send(call, to: callee.server, 3, outcomes)
            call.origin.rights = []
            call.words = ["CART.COUNT", "asha-1"].map { Array($0.utf8) }
            connections.send(call, to: callee.server, 4, outcomes)
            await turns { outcomes.all.count == 4 }
            #expect(outcomes.all.sorted() == ["1 1", "2 NOPERM", "3 NOPERM", "4 NOPERM"])
            #expect(await callee.answer("CART.COUNT", "ben-1") == "0")
        }
    }

    @Test @LoopActor func `What makes no sense as a command is answered, and the others are`() async throws {
        try await Self.with { callee, connections, outcomes in
            let calls: [[String]] = [
                ["NO.SUCH"], [""], ["cart.count", "c"], ["CART.COUNT"], ["CART.COUNT", "no id"], ["PEER", "JOIN", "a"],
                ["QUIT"], ["CART.ADD", "c", "o", "tea", "1", "NO", "OPTION"],
            ]
            for (index, words) in calls.enumerated() {
                connections.send(.of(1, words), to: callee.server, index + 1, outcomes)
            }
            var odd = ForwardedCall.of(1, "CART.COUNT")
            odd.words.append([0xFF, 0x00])
            connections.send(odd, to: callee.server, 9, outcomes)
            await turns { outcomes.all.count == 9 }
            #expect(
                outcomes.all.sorted()
                    == ["1 ERR", "2 ERR", "3 0", "4 ERR", "5 INVALID", "6 ERR", "7 ERR", "8 ERR", "9 INVALID"])
        }
    }

    @Test @LoopActor func `A call with an id is carried out once, and can be recalled`() async throws {
        try await Self.with { callee, connections, outcomes in
            var call = ForwardedCall.of(1, "CART.ADD", "c", "o", "tea", "1", "ID", "a")
            call.origin.actor = "asha"
            call.origin.isRecall = true
            connections.send(call, to: callee.server, 1, outcomes)
            await turns { outcomes.all.count == 1 }
            call.origin.isRecall = false
            for number in 2...3 { connections.send(call, to: callee.server, number, outcomes) }
            await turns { outcomes.all.count == 3 }
            call.origin.isRecall = true
            connections.send(call, to: callee.server, 4, outcomes)
            await turns { outcomes.all.count == 4 }
            #expect(outcomes.all.dropFirst() == ["2 1", "3 1", "4 1"] && outcomes.all[0] != "1 1")
            #expect(await callee.answer("CART.COUNT", "c") == "1")
        }
    }

    // MARK: Order

    @Test @LoopActor func `A client's calls wait for one that is not decided, and nobody else's do`() async throws {
        let keys = HeldKeys()
        try await Self.with(keys: keys) { callee, connections, outcomes in
            connections.send(.tea(1, "a", of: "asha"), to: callee.server, 1, outcomes)
            connections.send(.of(1, "CART.COUNT", "a"), to: callee.server, 2, outcomes)
            connections.send(.tea(1, "a"), to: callee.server, 3, outcomes)
            connections.send(.tea(2, "b"), to: callee.server, 4, outcomes)
            await turns { outcomes.all.count == 1 && keys.waitingCount == 1 }
            // A server that is the same client's number elsewhere is somebody else.
            let other = PeerConnections.make()
            defer { other.close() }
            other.send(.tea(1, "b"), to: callee.server, 5, outcomes)
            await turns { outcomes.all.count == 2 }
            #expect(outcomes.all == ["4 1", "5 2"])
            keys.release()
            await turns { outcomes.all.count == 5 }
            #expect(outcomes.all == ["4 1", "5 2", "1 1", "2 1", "3 2"])
        }
    }

    @Test(arguments: SeededGenerator.seeds) @LoopActor
    func `Each client's calls are carried out in order, whoever waits for a key`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let keys = HeldKeys()
        try await Self.with(keys: keys) { callee, connections, outcomes in
            let (clients, callCount) = (6, 30)
            var left = (0..<clients).flatMap { Array(repeating: $0, count: callCount) }.shuffled(using: &random)
            var sent = Array(repeating: 0, count: clients)
            while outcomes.all.count < clients * callCount, !Task.isCancelled {
                for _ in 0..<random.below(20) {
                    guard let client = left.popLast() else { break }
                    sent[client] += 1
                    let customer = random.chance(40) ? "customer-\(client)" : nil
                    connections.send(
                        .tea(Int64(client), "cart-\(client)", of: customer), to: callee.server,
                        1_000 * client + sent[client], outcomes)
                }
                if random.chance(50) { keys.release(isHolding: random.chance(80)) }
                await LoopTimer.pause(milliseconds: 0)
            }
            // The count of a cart says how many calls came before.
            for client in 0..<clients {
                let own = outcomes.all.filter { Int($0.prefix { $0 != " " })! / 1_000 == client }
                let expected = (1...callCount).map { "\(1_000 * client + $0) \($0)" }
                #expect(Set(own) == Set(expected))
            }
            #expect(callee.service.member?.receivedCount == Int64(clients * callCount))
        }
    }

    @Test @LoopActor func `Of a server that ended, nothing more is begun`() async throws {
        let keys = HeldKeys()
        try await Self.with(keys: keys) { callee, connections, outcomes in
            connections.send(.tea(1, "a", of: "asha"), to: callee.server, 1, outcomes)
            connections.send(.tea(1, "b"), to: callee.server, 2, outcomes)
            // An answer shows that those before have come.
            connections.send(.tea(2, "c"), to: callee.server, 3, outcomes)
            await turns { outcomes.all.count == 1 && keys.waitingCount == 1 }
            connections.close()
            #expect(outcomes.all == ["3 1", "1 lost", "2 lost"])
            // By then it knows, as it has closed the connection of another that ended later.
            let later = try await RawCaller.joined(callee.server)
            later.say([0x2A, 0x31, 0x0D, 0x0A, 0x24, 0x30, 0x0D, 0x0A, 0x0D, 0x0A])
            await turns { later.hasEnded }
            keys.release()
            while await callee.answer("CART.COUNT", "a") != "1", !Task.isCancelled {
                await LoopTimer.pause(milliseconds: 0)
            }
            #expect(await callee.answer("CART.COUNT", "b") == "0")
        }
    }

    // MARK: On the wire

    @Test(arguments: SeededGenerator.seeds) @LoopActor
    func `A server that sends no calls is disconnected, and the others are served on`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await Self.with { callee, connections, outcomes in
            connections.send(.tea(1, "c"), to: callee.server, 1, outcomes)
            await turns { outcomes.all.count == 1 }
            let caller = try await RawCaller.joined(callee.server)
            #expect(caller.replies.last == .simple("OK"))
            for number in 1...3 { caller.say(.of(1, "CART.COUNT", "c"), number: Int64(number)) }
            var writer = RequestWriter()
            switch random.below(4) {
            case 0: writer.write(["PING"])
            case 1:
                var words = PeerCall(by: &random).words
                words[random.below(4)] = Array("x".utf8)
                writer.write(words)
            case 2:
                // As if the caller were not confined.
                writer.write(["1", "1", "1", "255", "", "", "1", "customer", "CART.COUNT", "c"])
            default: writer.write(["1", "1", "1", "255", "", "", "-1", "CART.ADD", "c", "o", "tea", "1"])
            }
            caller.say(random.chance(20) ? Array("*-\r\n".utf8) : Array(writer.bytes))
            caller.say(.tea(1, "c"), number: 5)
            await turns { caller.hasEnded }
            connections.send(.of(1, "CART.COUNT", "c"), to: callee.server, 2, outcomes)
            await turns { outcomes.all.count == 2 }
            #expect(outcomes.all == ["1 1", "2 1"])
        }
    }

    @Test(arguments: SeededGenerator.seeds) @LoopActor
    func `However calls are cut, each is answered once`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await Callee.with { callee in
            let caller = try await RawCaller.joined(callee.server)
            let before = caller.replies.count
            var writer = RequestWriter()
            for number in 1...40 { PeerCall(number: Int64(number), .tea(1, "c")).write(to: &writer) }
            var bytes = Array(writer.bytes)
            while !bytes.isEmpty {
                let part = min(bytes.count, random.number(1...random.pick([3, 50, 2_000])))
                caller.say(Array(bytes.prefix(part)))
                bytes.removeFirst(part)
                if random.chance(10) { await LoopTimer.pause(milliseconds: 0) }
            }
            @LoopActor func answers() -> [String] {
                caller.replies.dropFirst(before).compactMap {
                    guard case .answer(let number, let result)? = PeerReply($0) else { return nil }
                    return "\(number) \(result.text)"
                }
            }
            await turns { answers().count >= 40 || caller.hasEnded }
            #expect(answers() == (1...40).map { "\($0) \($0)" })
            caller.close()
        }
    }

    @Test @LoopActor func `A server that waits for an answer is told that this one is there`() async throws {
        let keys = HeldKeys()
        try await Callee.with(keys: keys) { callee in
            let (caller, idle) = (try await RawCaller.joined(callee.server), try await RawCaller.joined(callee.server))
            caller.say(.tea(1, "c", of: "asha"), number: 1)
            await turns { caller.replies.last == .array([]) || caller.hasEnded }
            #expect(caller.replies.last == .array([]))
            keys.release()
            await turns { caller.replies.last != .array([]) }
            guard case .answer(1, .success(.integer(1)))? = caller.replies.last.flatMap(PeerReply.init) else {
                Issue.record("\(caller.replies)")
                return
            }
            #expect(idle.replies.last == .simple("OK"))
            caller.close()
            idle.close()
        }
    }

    // MARK: What others decided

    @Test @LoopActor
    func `What is decided of an outlet is read at the other server before it is answered`() async throws {
        let log = InMemoryEventLog()
        let (first, second) = (try await Callee(on: log, links: nil), try await Callee(on: log, links: nil))
        for words in Callee.outlet { _ = try await first.service.perform(words.map { Array($0.utf8) }) }
        first.store.view.servers.append(second.server)
        await turns { first.service.member?.hasOthers ?? false }
        for number in 1...50 {
            let name = number.isMultiple(of: 2) ? "OUTLET.OPEN" : "OUTLET.CLOSE"
            _ = await first.answer(name, "o")
            let (here, there) = (await first.answer("OUTLET.GET", "o"), await second.answer("OUTLET.GET", "o"))
            #expect(here == there, "after \(number) changes")
        }
        await second.stop()
        #expect(Int(await first.answer("OUTLET.CLOSE", "o")) != nil)
        await first.stop()
    }

    @Test @LoopActor
    func `What a server decides that another has taken over from is read there before it is answered`() async throws {
        let log = InMemoryEventLog()
        let (former, owner) = (try await Callee(on: log, links: nil), try await Callee(on: log, links: nil))
        for words in Callee.outlet { _ = try await former.service.perform(words.map { Array($0.utf8) }) }
        for one in [former, owner] {
            one.store.view.servers = [former.server, owner.server]
            one.store.view.leases = [Lease(partition: 0, holder: owner.server.id, term: 2)]
        }
        await turns { former.service.member?.owner(of: 0) != nil }
        // Who forwards a call may have learnt nothing of that yet.
        let connections = PeerConnections.make()
        defer { connections.close() }
        for number in 1...50 {
            var answer: String?
            connections.send(.tea(1, "c"), to: former.server) { outcome in
                if case .answered(let result) = outcome { answer = result.text }
                let (there, here) = (owner.service.partitions[0].position, former.service.partitions[0].position)
                #expect(there >= here, "after \(number) changes")
            }
            connections.flush()
            await turns { answer != nil }
            #expect(answer == "\(number)")
        }
        await owner.stop()
        await former.stop()
    }

    @Test @LoopActor func `What is said to be in the log, and is not, is waited for in vain`() async throws {
        try await Callee.with { callee in
            let caller = try await RawCaller.joined(callee.server)
            let end = callee.service.partitions[0].position
            for (number, position) in [(1, end), (2, .min), (3, end + 1), (4, .max)] {
                caller.say(PeerAnnouncement(number: Int64(number), partition: 0, position: position))
            }
            caller.say(.of(1, "CART.COUNT", "c"), number: 5)
            var answered: [Int64] {
                caller.replies.compactMap {
                    if case .answer(let number, .success) = PeerReply($0) { number } else { nil }
                }
            }
            await turns { answered.count == 5 }
            #expect(answered.prefix(3) == [1, 2, 5] && Set(answered) == [1, 2, 3, 4, 5])
            caller.close()
        }
    }

    @Test(arguments: [-1, 1, 64, .max, .min]) @LoopActor
    func `Who tells of a partition that is not there is disconnected`(_ partition: Int) async throws {
        try await Callee.with { callee in
            let caller = try await RawCaller.joined(callee.server)
            caller.say(PeerAnnouncement(number: 1, partition: partition, position: 1))
            await turns { caller.hasEnded }
            #expect(await callee.answer("CART.COUNT", "c") == "0")
        }
    }

    @Test @LoopActor func `What is asked before it is known who decides waits for that`() async throws {
        try await Callee.with { callee in
            callee.service.awaitFleet()
            var answers: [String] = []
            let asked = Task { @LoopActor in
                answers.append(await callee.answer("CART.ADD", "c", "o", "tea", "2"))
                answers.append(await callee.answer("CART.COUNT", "c"))
            }
            for _ in 1...10 { await LoopTimer.pause(milliseconds: 0) }
            #expect(answers.isEmpty)
            await callee.service.join(
                FleetMember(
                    callee.server, partitionCount: 1, store: callee.store,
                    links: PeerConnections(tls: nil, logger: silentLogger), logger: silentLogger))
            await asked.value
            #expect(answers == ["2", "2"])
        }
    }

    // MARK: The end

    @Test @LoopActor func `A server that stops answers what was asked, and then ends`() async throws {
        let log = InMemoryEventLog()
        let callee = try await Callee(on: log, links: nil)
        for words in Callee.outlet { _ = try await callee.service.perform(words.map { Array($0.utf8) }) }
        let (connections, outcomes) = (PeerConnections.make(), Outcomes())
        defer { connections.close() }
        for number in 1...20 { connections.send(.tea(1, "c"), to: callee.server, number, outcomes) }
        await turns { callee.service.member?.receivedCount == 20 }
        await callee.stop()
        await turns { outcomes.all.count == 20 }
        #expect(outcomes.all == (1...20).map { "\($0) \($0)" })
    }
}
