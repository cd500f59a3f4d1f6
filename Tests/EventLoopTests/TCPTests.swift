import EventLoop
import Testing

struct TCPTests {
    init() { LoopActor.startInBackground() }

    /// Listens on a free port and answers every byte with itself until the peer ends.
    @LoopActor private func echo() throws -> TCPListener {
        try TCPListener(host: "127.0.0.1", port: 0) { connection in
            connection.onEnd = { connection.closeAfterWrites() }
            connection.startReading { connection.write($0) }
        }
    }

    @Test(arguments: [1, 100, 65_536, 65_537, 8_000_000])
    @LoopActor func `Every byte comes back, also to a reader that starts late`(size: Int) async throws {
        let listener = try echo()
        defer { listener.close() }
        let port = listener.port
        let sent = randomBytes(size, seed: UInt64(size))
        let received = try await blocking {
            let client = try BlockingClient(port: port)
            defer { client.close() }
            try client.send(sent)
            client.endWrites()
            return try client.receiveAll(chunk: 4_096)
        }
        #expect(received == sent)
    }

    @Test @LoopActor func `A reply that the peer does not read waits, is counted, and drains`() async throws {
        let reply = randomBytes(16_000_000, seed: 1)
        let (written, signalWritten) = AsyncStream<Int>.makeStream()
        let (drained, signalDrained) = AsyncStream<Int>.makeStream()
        let listener = try TCPListener(host: "127.0.0.1", port: 0) { connection in
            connection.onDrain = { signalDrained.yield(connection.pendingBytes) }
            connection.startReading { _ in
                reply.withUnsafeBytes { connection.write($0) }
                signalWritten.yield(connection.pendingBytes)
            }
        }
        defer { listener.close() }
        let port = listener.port
        let client = try await blocking { try BlockingClient(port: port) }
        try await blocking { try client.send([1]) }
        let pending = try #require(await written.next())
        #expect(pending > 0 && pending < reply.count)
        let received = try await blocking { try client.receive(exactly: reply.count) }
        #expect(received == reply)
        #expect(await drained.next() == 0)
        client.close()
    }

    @Test @LoopActor func `A peer that lets too much pile up is cut off`() async throws {
        let (closed, signalClosed) = AsyncStream<LoopError?>.makeStream()
        let listener = try TCPListener(host: "127.0.0.1", port: 0) { connection in
            connection.outgoingLimit = 100_000
            connection.onClose = { signalClosed.yield($0) }
            connection.startReading { _ in
                let reply = [UInt8](repeating: 7, count: 50_000)
                for _ in 0..<1_000 { reply.withUnsafeBytes { connection.write($0) } }
            }
        }
        defer { listener.close() }
        let port = listener.port
        let client = try await blocking { try BlockingClient(port: port) }
        try await blocking { try client.send([1]) }
        let failure = try #require(await closed.next())
        #expect(failure?.name == "ENOBUFS")
        client.close()
    }

    @Test @LoopActor func `The end of one side still lets the last reply through`() async throws {
        let listener = try TCPListener(host: "127.0.0.1", port: 0) { connection in
            connection.onEnd = {
                Array("goodbye".utf8).withUnsafeBytes { connection.write($0) }
                connection.closeAfterWrites()
            }
            connection.startReading { _ in }
        }
        defer { listener.close() }
        let port = listener.port
        let received = try await blocking {
            let client = try BlockingClient(port: port)
            defer { client.close() }
            client.endWrites()
            return try client.receiveAll()
        }
        #expect(received == Array("goodbye".utf8))
    }

    @Test @LoopActor func `Closing with unread bytes does not destroy the last reply`() async throws {
        let reply = randomBytes(1_000_000, seed: 2)
        let listener = try TCPListener(host: "127.0.0.1", port: 0) { connection in
            connection.startReading { _ in
                reply.withUnsafeBytes { connection.write($0) }
                connection.closeAfterWrites()
            }
        }
        defer { listener.close() }
        let port = listener.port
        let received = try await blocking {
            let client = try BlockingClient(port: port)
            defer { client.close() }
            for _ in 0..<16 { try client.send([UInt8](repeating: 1, count: 10_000)) }
            return try client.receiveAll()
        }
        #expect(received == reply)
    }

    @Test(arguments: [true, false])
    @LoopActor func `onClose is called once, whoever closes`(byPeer: Bool) async throws {
        let (closed, signalClosed) = AsyncStream<LoopError?>.makeStream()
        let listener = try TCPListener(host: "127.0.0.1", port: 0) { connection in
            connection.onClose = { signalClosed.yield($0) }
            connection.startReading { _ in }
            if !byPeer {
                connection.close()
                connection.close()
            }
        }
        defer { listener.close() }
        let port = listener.port
        let client = try await blocking { try BlockingClient(port: port) }
        if byPeer { client.close() }
        #expect(await closed.next() == .some(nil))
        if !byPeer {
            #expect(try await blocking { try client.receiveAll() }.isEmpty)
            client.close()
        }
        signalClosed.finish()
        #expect(await closed.next() == nil)
    }

    @Test(arguments: ["127.0.0.1", "localhost", "::1"])
    @LoopActor func `A listener reports the address it got`(host: String) throws {
        let listener = try TCPListener(host: host, port: 0) { _ in }
        defer { listener.close() }
        #expect(listener.port > 0)
        #expect(["127.0.0.1:\(listener.port)", "[::1]:\(listener.port)"].contains(listener.address))
    }

    @Test @LoopActor func `Both ends of a connection are named, and loopback is known`() async throws {
        let (names, signalNames) = AsyncStream<(String, String, Bool)>.makeStream()
        let listener = try TCPListener(host: "127.0.0.1", port: 0) { connection in
            signalNames.yield((connection.localAddress, connection.peerAddress, connection.isLoopbackPeer))
            connection.close()
        }
        defer { listener.close() }
        let port = listener.port
        let client = try await blocking { try BlockingClient(port: port) }
        let (local, peer, isLoopback) = try #require(await names.next())
        #expect(local == listener.address)
        #expect(peer.hasPrefix("127.0.0.1:"))
        #expect(isLoopback)
        client.close()
    }

    @Test @LoopActor func `A port in use is an error that says so`() throws {
        let first = try TCPListener(host: "127.0.0.1", port: 0) { _ in }
        defer { first.close() }
        let error = #expect(throws: LoopError.self) {
            try TCPListener(host: "127.0.0.1", port: UInt16(first.port)) { _ in }
        }
        #expect(
            error?.description
                == "cannot listen on \(first.address): address already in use (EADDRINUSE)")
    }

    @Test @LoopActor func `A host that does not exist is an error that says so`() {
        let error = #expect(throws: LoopError.self) {
            try TCPListener(host: "no such host", port: 0) { _ in }
        }
        #expect(error?.action == "listen on no such host:0")
    }

    @Test @LoopActor func `Every address of a name is tried`() async throws {
        // If the name has an IPv6 address, too, it comes first, and nobody listens there.
        let listener = try echo()
        defer { listener.close() }
        let connection = try await TCPConnection.connect(host: "localhost", port: UInt16(listener.port))
        #expect(connection.isLoopbackPeer)
        connection.close()
    }

    @Test @LoopActor func `A port where nobody listens is refused, by its name`() async throws {
        let listener = try echo()
        let port = UInt16(listener.port)
        listener.close()
        let error = await #expect(throws: LoopError.self) {
            _ = try await TCPConnection.connect(host: "127.0.0.1", port: port)
        }
        #expect(error?.name == "ECONNREFUSED" && error?.action == "connect to 127.0.0.1:\(port)")
    }

    @Test @LoopActor func `Connecting takes no longer than it may`() async throws {
        // It listens and accepts nothing: the system accepts a few connections for it, and leaves the next ones
        // waiting.
        let deaf = try DeafListener()
        defer { deaf.close() }
        var connections: [TCPConnection] = []
        defer { for connection in connections { connection.close() } }
        let error = await #expect(throws: LoopError.self) {
            for _ in 0..<16 {
                connections.append(
                    try await TCPConnection.connect(host: "127.0.0.1", port: deaf.port, timeoutMilliseconds: 50))
            }
        }
        #expect(error?.name == "ETIMEDOUT")
    }
}
