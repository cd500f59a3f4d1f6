import EventLoop
import SeededRandom
import TestSupport
import Testing

struct TLSEngineTests {
    let files: TestCertificates

    init() async throws { files = try await TestCertificates.shared() }

    /// With certificates that fit.
    private func conversation() throws -> Conversation {
        Conversation(server: try files.server(), client: try files.client())
    }

    // MARK: Handshakes

    @Test func `A handshake succeeds when every byte comes alone`() throws {
        let conversation = try self.conversation()
        conversation.shakeHands(cut: singly)
        #expect(conversation.server.state == .open && conversation.client.state == .open)
    }

    @Test func `A handshake and what follows it are the same wherever they are cut`() throws {
        let length = try conversation().clientHello().count + 100
        for position in stride(from: 1, to: length, by: 3) {
            let conversation = try self.conversation()
            conversation.shakeHands { bytes in
                [Array(bytes.prefix(position)), Array(bytes.dropFirst(position))].filter { !$0.isEmpty }
            }
            let request = conversation.sealed(Array("PING\r\n".utf8), by: conversation.client)
            let halves = [Array(request.prefix(position)), Array(request.dropFirst(position))]
            let received = conversation.give(request, to: conversation.server) { _ in halves }
            #expect(received.plain == Array("PING\r\n".utf8), "cut at \(position)")
        }
    }

    @Test func `What comes with the end of the handshake is not lost`() throws {
        let conversation = try self.conversation()
        let answer = conversation.give(conversation.clientHello(), to: conversation.server).reply
        var last = conversation.give(answer, to: conversation.client).reply
        last += conversation.sealed(Array("PING\r\n".utf8), by: conversation.client)
        #expect(conversation.give(last, to: conversation.server).plain.isEmpty)
        #expect(conversation.server.state == .open && conversation.server.hasUnread)
        #expect(conversation.give([], to: conversation.server).plain == Array("PING\r\n".utf8))
        #expect(!conversation.server.hasUnread)
    }

    // MARK: Trust

    @Test(arguments: [("localhost", "server"), ("127.0.0.1", "server"), ("tiffin.example.", "elsewhere")])
    func `A client trusts a certificate of its authority for the host`(host: String, name: String) throws {
        let conversation = Conversation(server: try files.server(name), client: try files.client(), host: host)
        conversation.shakeHands()
        #expect(conversation.client.state == .open)
    }

    @Test(arguments: [
        ("server", "other-ca", "localhost", "unable to get local issuer certificate"),
        ("server", "ca", "tiffin.example", "hostname mismatch"),
        ("elsewhere", "ca", "127.0.0.1", "IP address mismatch"),
        ("expired", "ca", "localhost", "certificate has expired"),
        ("ca", "other-ca", "localhost", "self-signed certificate"),
    ])
    func `A client trusts no other`(name: String, authority: String, host: String, reason: String) throws {
        let conversation = Conversation(
            server: try files.server(name), client: try files.client(authority: authority), host: host)
        conversation.shakeHands()
        #expect(conversation.client.state == .failed("certificate refused: \(reason)"))
        // An alert told it.
        #expect(conversation.server.state != .open)
    }

    @Test(arguments: ["", "bad\0host", String(repeating: "x", count: 300)])
    func `A host that cannot have a certificate is refused`(host: String) throws {
        let conversation = Conversation(server: try files.server(), client: try files.client(), host: host)
        conversation.shakeHands()
        #expect(conversation.client.state != .open)
    }

    @Test(
        arguments: [
            ("client", nil), (nil, "peer did not return a certificate"), ("stranger", "certificate refused: "),
        ] as [(String?, String?)])
    func `A server that asks for a certificate serves nobody without one of its authority`(
        name: String?, reason: String?
    ) throws {
        let conversation = Conversation(
            server: try files.server(clientAuthority: "ca"), client: try files.client(name))
        conversation.shakeHands()
        guard let reason else {
            #expect(conversation.server.state == .open)
            return
        }
        guard case .failed(let found) = conversation.server.state else {
            Issue.record("\(conversation.server.state)")
            return
        }
        #expect(found.hasPrefix(reason))
        // In TLS 1.3 the client takes itself for connected until it reads why it is not.
        guard case .failed = conversation.client.state else {
            Issue.record("\(conversation.client.state)")
            return
        }
    }

    // MARK: Data

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `Both sides get every byte, however it is cut`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let conversation = try self.conversation()
        conversation.shakeHands { randomly(&random, $0) }
        for _ in 0..<6 {
            for (sender, receiver) in [
                (conversation.client, conversation.server), (conversation.server, conversation.client),
            ] {
                let sent = random.bytes(random.chance(50) ? random.number(1...200) : random.number(1...400_000))
                let received = conversation.give(conversation.sealed(sent, by: sender), to: receiver) {
                    randomly(&random, $0)
                }
                #expect(received.plain == sent)
            }
        }
    }

    @Test func `Whoever has ended its side can still be answered`() throws {
        let conversation = try self.conversation()
        conversation.shakeHands()
        let end = conversation.output { conversation.client.end() }
        _ = conversation.give(end, to: conversation.server)
        #expect(conversation.server.state == .ended)
        let answer = conversation.sealed(Array("+OK\r\n".utf8), by: conversation.server)
        #expect(conversation.give(answer, to: conversation.client).plain == Array("+OK\r\n".utf8))
        let last = conversation.output { conversation.server.end() }
        _ = conversation.give(last, to: conversation.client)
        #expect(conversation.client.state == .ended)
    }

    // MARK: Anything else

    @Test func `Every beginning of a handshake waits for the rest`() throws {
        let hello = try conversation().clientHello()
        for count in hello.indices {
            let conversation = try self.conversation()
            let reply = conversation.give(Array(hello.prefix(count)), to: conversation.server).reply
            #expect(conversation.server.state == .handshaking && reply.isEmpty)
        }
    }

    @Test(arguments: [
        ("*1\r\n$4\r\nPING\r\n", "wrong version number"), ("GET / HTTP/1.1\r\n\r\n", "http request"),
    ])
    func `Whoever speaks no TLS is refused`(text: String, reason: String) throws {
        let conversation = try self.conversation()
        _ = conversation.give(Array(text.utf8), to: conversation.server)
        #expect(conversation.server.state == .failed(reason))
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `Random bytes open nothing and stop nothing`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let conversation = try self.conversation()
            var bytes = random.bytes(random.number(1...2_000))
            // Half of them look like a record of a handshake at first.
            if random.chance(50) { bytes = [22, 3, 1, 0, UInt8(random.number(0...255)), 1, 0, 0] + bytes }
            _ = conversation.give(bytes, to: conversation.server) { randomly(&random, $0) }
            #expect(conversation.server.state != .open)
            _ = conversation.clientHello()
            _ = conversation.give(bytes, to: conversation.client)
            #expect(conversation.client.state != .open)
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `A changed handshake connects nobody to anything else`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            let conversation = Conversation(
                server: try files.server(clientAuthority: "ca"), client: try files.client("client"))
            var number = 0
            let changed = random.number(0...3)
            conversation.shakeHands { bytes in
                defer { number += 1 }
                guard number == changed else { return [bytes] }
                var bytes = bytes
                bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
                return [bytes]
            }
            // A change that does not matter, such as one of the version that nobody reads, may pass.
            let sent = random.bytes(100)
            let received = conversation.give(
                conversation.sealed(sent, by: conversation.client), to: conversation.server)
            #expect(received.plain.isEmpty || received.plain == sent)
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `A changed byte ends the connection, and nothing after it is delivered`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let conversation = try self.conversation()
        conversation.shakeHands()
        let sent = random.bytes(50_000)
        var bytes = conversation.sealed(sent, by: conversation.client)
        bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
        bytes += conversation.sealed(random.bytes(100), by: conversation.client)
        let received = conversation.give(bytes, to: conversation.server) { randomly(&random, $0) }
        guard case .failed = conversation.server.state else {
            // The length of a record was changed, and the server waits for the rest of it.
            #expect(conversation.server.state == .open && received.plain.count < sent.count)
            return
        }
        #expect(received.plain.count < sent.count && sent.starts(with: received.plain))
        #expect(conversation.sealed([1], by: conversation.server).isEmpty)
    }
}
