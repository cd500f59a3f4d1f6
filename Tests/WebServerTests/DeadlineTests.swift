import Application
import EventLoop
import Serving
import Testing

@testable import WebServer

/// How long clients may take. A server looks at its connections as if it were a time that the test says.
@Suite(.timeLimit(.minutes(2))) struct `Deadlines of clients` {
    init() { LoopActor.startInBackground() }

    private static let second: UInt64 = 1_000_000_000

    /// A server with limits that the time of a test does not come near.
    @LoopActor private func server(_ body: @LoopActor (WebServer, UInt16) async throws -> Void) async throws {
        var configuration = WebConfiguration()
        configuration.addresses[.store] = .init(host: "127.0.0.1", port: 0, isRequired: true)
        configuration.headSeconds = 1_000
        configuration.bodySeconds = 2_000
        configuration.idleSeconds = 3_000
        let server = WebServer(configuration, logger: Logger(level: .error), clock: { 0 })
        let address = try #require(try server.listen().first).address
        defer { server.close() }
        try await body(server, try #require(address.split(separator: ":").last.flatMap { UInt16($0) }))
    }

    @Test(
        arguments: [
            // What has come of the next request, and how long the rest may take; nil for a client that is told nothing.
            ("", 3_000, nil), ("G", 1_000, "longer than 1000 seconds"),
        ] as [(String, UInt64, String?)])
    @LoopActor func `A request has to be there in time`(
        _ begun: String, _ limit: UInt64, _ refusal: String?
    ) async throws {
        try await server { server, port in
            let client = try await Client(port)
            let early = LoopActor.now
            // In one piece with a whole one, whose answer says that it has come.
            client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + begun)
            await client.wait { $0.hasSuffix("ok\n") }
            let late = LoopActor.now
            server.tick(at: early + limit * Self.second - 1)
            #expect(server.connections.count == 1)
            server.tick(at: late + limit * Self.second)
            await client.wait { _ in client.hasEnded }
            let rest = client.received.split(separator: "ok\n").dropFirst()
            #expect(rest.count == (refusal == nil ? 0 : 1))
            if let refusal { #expect(rest.allSatisfy { $0.hasPrefix("HTTP/1.1 408 ") && $0.contains(refusal) }) }
        }
    }

    @Test @LoopActor func `A reader of answers has to read`() async throws {
        try await server { server, port in
            let client = try await Client(port, reads: false)
            // More than the system keeps for the two of them, and less than a client may leave waiting.
            let (path, count) = ("/a/\(server.pages.assets.version)/store/store.css", 900)
            let early = LoopActor.now
            client.send(String(repeating: "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n", count: count))
            while server.statistics.answers[200] != Int64(count) { await LoopTimer.pause(milliseconds: 1) }
            let late = LoopActor.now
            let pending = try #require(server.connections.values.first?.pendingBytes)
            #expect(pending > 0)
            server.tick(at: early + 3_000 * Self.second - 1)
            #expect(server.connections.count == 1)
            server.tick(at: late + 3_000 * Self.second)
            while !server.connections.isEmpty { await LoopTimer.pause(milliseconds: 1) }
            client.close()
        }
    }
}

/// A client in the same loop.
@LoopActor private final class Client {
    private(set) var received = ""
    private(set) var hasEnded = false
    private let connection: TCPConnection
    private var waiter: (condition: @LoopActor (String) -> Bool, continuation: CheckedContinuation<Void, Never>)?

    init(_ port: UInt16, reads: Bool = true) async throws {
        connection = try await TCPConnection.connect(host: "127.0.0.1", port: port)
        guard reads else { return }
        connection.onEnd = { [self] in
            hasEnded = true
            connection.close()
            look()
        }
        connection.startReading { [self] in
            received += String(decoding: $0, as: UTF8.self)
            look()
        }
    }

    func send(_ text: String) { Array(text.utf8).withUnsafeBytes { connection.write($0) } }

    func close() { connection.close() }

    /// Waits until that is true of what has come.
    func wait(until condition: @escaping @LoopActor (String) -> Bool) async {
        guard !condition(received) else { return }
        await withCheckedContinuation { waiter = (condition, $0) }
    }

    private func look() {
        guard let waiter, waiter.condition(received) else { return }
        self.waiter = nil
        waiter.continuation.resume()
    }
}
