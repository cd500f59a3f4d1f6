import EventLoop
import TestSupport
import Testing

struct TLSConnectionTests {
    let files: TestCertificates

    init() async throws {
        LoopActor.startInBackground()
        files = try await TestCertificates.shared()
    }

    private func server(_ name: String = "server") throws -> TLSContext {
        try .server(certificate: files.certificate(name), key: files.key(name))
    }

    private func client() throws -> TLSContext { try .client(authority: files.certificate("ca")) }

    /// Answers every byte with itself until the peer ends.
    @LoopActor private func echo(maximumHandshakes: Int = 100) throws -> TCPListener {
        try TCPListener(host: "127.0.0.1", port: 0, tls: try server(), maximumHandshakes: maximumHandshakes) {
            connection in
            connection.onEnd = { connection.closeAfterWrites() }
            connection.startReading { connection.write($0) }
        }
    }

    @LoopActor private func connect(to listener: TCPListener) async throws -> TCPConnection {
        try await .connect(host: "localhost", port: UInt16(listener.port), tls: try client())
    }

    /// What a peer answers until it ends. Nil if it ends without saying so.
    @LoopActor private func answer(to bytes: [UInt8], _ connection: TCPConnection) async -> [UInt8]? {
        await withCheckedContinuation { continuation in
            var received: [UInt8] = []
            var hasEnded = false
            connection.onEnd = {
                hasEnded = true
                connection.close()
            }
            connection.onClose = { _ in continuation.resume(returning: hasEnded ? received : nil) }
            connection.startReading { received += $0 }
            bytes.withUnsafeBytes { connection.write($0) }
            connection.endWriting()
        }
    }

    @Test(arguments: [1, 100, 16_384, 16_385, 65_536, 65_537, 8_000_000])
    @LoopActor func `Every byte comes back, and both sides end in good order`(size: Int) async throws {
        let listener = try echo()
        defer { listener.close() }
        let sent = randomBytes(size, seed: UInt64(size))
        let isSame = await answer(to: sent, try await connect(to: listener)) == sent
        #expect(isSame)
    }

    @Test @LoopActor func `Many clients at once get through`() async throws {
        let listener = try echo(maximumHandshakes: 8)
        defer { listener.close() }
        let (answers, signalAnswer) = AsyncStream<Bool>.makeStream()
        for number in 0..<64 {
            // They stay on the loop. So other tests, which keep all threads busy, do not make them late.
            LoopActor.task {
                let sent = randomBytes(1_000 + number, seed: UInt64(number))
                let connection = try? await connect(to: listener)
                guard let connection else { return _ = signalAnswer.yield(false) }
                signalAnswer.yield(await answer(to: sent, connection) == sent)
            }
        }
        for await isRight in answers.prefix(64) { #expect(isRight) }
    }

    @Test @LoopActor func `A peer that lets too much pile up is cut off`() async throws {
        let (closed, signalClosed) = AsyncStream<LoopError?>.makeStream()
        let listener = try TCPListener(host: "127.0.0.1", port: 0, tls: try server()) { connection in
            connection.outgoingLimit = 100_000
            connection.onClose = { signalClosed.yield($0) }
            connection.startReading { _ in
                let reply = [UInt8](repeating: 7, count: 50_000)
                for _ in 0..<1_000 { reply.withUnsafeBytes { connection.write($0) } }
            }
        }
        defer { listener.close() }
        let connection = try await connect(to: listener)
        [UInt8](arrayLiteral: 1).withUnsafeBytes { connection.write($0) }
        #expect(try #require(await closed.next())?.name == "ENOBUFS")
        connection.close()
    }

    @Test @LoopActor func `A connection that is cut has not ended`() async throws {
        let (closed, signalClosed) = AsyncStream<LoopError?>.makeStream()
        let listener = try TCPListener(host: "127.0.0.1", port: 0, tls: try server()) { connection in
            connection.onEnd = { Issue.record("nobody said that it ended") }
            connection.onClose = { signalClosed.yield($0) }
            connection.startReading { _ in }
        }
        defer { listener.close() }
        let (port, context) = (listener.port, try client())
        try await blocking {
            let socket = try BlockingClient(port: port)
            let buffers = TLSBuffers()
            let engine = TLSEngine(client: context, host: "localhost", buffers)
            var received: [UInt8] = []
            while engine.state == .handshaking {
                received.withUnsafeBytes { engine.handshake($0) }
                var sent: [UInt8] = []
                buffers.flush { sent += $0 }
                try socket.send(sent)
                if engine.state == .handshaking { received = try socket.receive(exactly: 1) }
            }
            socket.close()
        }
        let failure = try #require(await closed.next())
        #expect(failure?.name == "ECONNRESET")
    }

    @Test(arguments: ["*1\r\n$4\r\nPING\r\n", "GET / HTTP/1.1\r\n\r\n", ""])
    @LoopActor func `Whoever speaks no TLS never becomes a connection`(text: String) async throws {
        let (refused, signalRefused) = AsyncStream<String>.makeStream()
        let listener = try TCPListener(host: "127.0.0.1", port: 0, tls: try server()) { _ in
            Issue.record("it spoke no TLS")
        }
        listener.onRefusal { address, _ in signalRefused.yield(address) }
        defer { listener.close() }
        let port = listener.port
        try await blocking {
            let socket = try BlockingClient(port: port)
            try socket.send(Array(text.utf8))
            socket.endWrites()
            _ = try? socket.receiveAll()
            socket.close()
        }
        #expect(await refused.next()?.hasPrefix("127.0.0.1:") == true)
    }

    @Test @LoopActor func `Clients that say nothing make room for others`() async throws {
        let listener = try echo(maximumHandshakes: 4)
        defer { listener.close() }
        let port = listener.port
        let silent = try await blocking { try (0..<8).map { _ in try BlockingClient(port: port) } }
        let received = await answer(to: [1, 2, 3], try await connect(to: listener))
        #expect(received == [1, 2, 3])
        for socket in silent { socket.close() }
    }

    @Test @LoopActor func `New certificates are for new connections`() async throws {
        let listener = try echo()
        defer { listener.close() }
        let earlier = try await connect(to: listener)
        listener.replace(try server("elsewhere"))
        let error = await #expect(throws: LoopError.self) { _ = try await connect(to: listener) }
        #expect(error?.message == "no TLS: certificate refused: hostname mismatch")
        #expect(await answer(to: [1, 2, 3], earlier) == [1, 2, 3])
        listener.replace(try server("renewed"))
        #expect(await answer(to: [4], try await connect(to: listener)) == [4])
    }

    @Test @LoopActor func `A server that speaks no TLS is no server for a client that does`() async throws {
        let listener = try TCPListener(host: "127.0.0.1", port: 0) { connection in
            connection.startReading { _ in
                Array("-ERR what?\r\n".utf8).withUnsafeBytes { connection.write($0) }
                connection.closeAfterWrites()
            }
        }
        defer { listener.close() }
        let error = await #expect(throws: LoopError.self) { _ = try await connect(to: listener) }
        #expect(error?.message == "no TLS: wrong version number")
    }
}
