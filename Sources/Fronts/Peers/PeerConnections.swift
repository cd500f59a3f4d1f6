package import Application
package import EventLoop
package import Fleet
internal import LineProtocol
package import Serving

/// Leads to other servers: one connection to each that decides something.
@LoopActor
package final class PeerConnections: PeerLinks {
    private let me: ServerID
    private let tls: TLSContext?
    private let logger: Logger
    private var links: [ServerID: PeerLink] = [:]
    private var timer: LoopTimer?
    package var onLost: @LoopActor (FleetServer) -> Void = { _ in }

    /// - Parameters:
    ///   - tls: what servers are reached with; nil for plain connections.
    package init(of me: ServerID, tls: TLSContext?, logger: Logger) {
        self.me = me
        self.tls = tls
        self.logger = logger
        timer = LoopTimer(milliseconds: 500, repeating: true) { [weak self] in
            for link in self?.links.values ?? [:].values { link.endIfSilent() }
        }
    }

    package func send(
        _ call: ForwardedCall, to server: FleetServer, completion: @escaping @LoopActor (ForwardedOutcome) -> Void
    ) {
        link(to: server).send(call, completion)
    }

    private func link(to server: FleetServer) -> PeerLink {
        if let link = links[server.id] { return link }
        let link = PeerLink(from: me, to: server, tls: tls, logger)
        links[server.id] = link
        link.start { [weak self] in
            guard let self, links[server.id] === link else { return }
            links[server.id] = nil
            onLost(server)
        }
        return link
    }

    package func reach(_ servers: [FleetServer]) {
        for server in servers { _ = link(to: server) }
        let wanted = Set(servers.map(\.id))
        for (id, link) in links where !wanted.contains(id) && link.isIdle { link.end(nil) }
    }

    package func flush() {
        for link in links.values { link.flush() }
    }

    package func close() {
        timer?.cancel()
        timer = nil
        for link in links.values { link.end(nil) }
    }
}

/// The connection to one server.
@LoopActor
private final class PeerLink {
    /// The most calls that wait for an answer. One more is answered `BUSY`.
    private static let callLimit = 20_000
    /// The most bytes that wait to be sent, and are not calls yet.
    private static let pendingLimit = 64 << 20
    /// How long a server may say nothing while calls wait, in nanoseconds. It says once a second that it is there.
    private static let patience: UInt64 = 3_000_000_000
    /// How long a server may take until it can be given calls, in milliseconds.
    private static let openingMilliseconds: UInt64 = 2_000

    typealias Completion = @LoopActor (ForwardedOutcome) -> Void

    private let me: ServerID
    private let server: FleetServer
    private let tls: TLSContext?
    private let logger: Logger
    private var onEnd: @LoopActor () -> Void = {}

    private var connection: TCPConnection?
    /// Whether the server has proven who it is, and takes calls.
    private var isOpen = false
    private var hasEnded = false
    private var parser = ReplyParser(limits: ReplyLimits())
    private var writer = RequestWriter()
    private var nextNumber: Int64 = 1
    private var calls: [Int64: Completion] = [:]
    /// When something came last, or was first waited for.
    private var heardAt = LoopActor.now

    init(from me: ServerID, to server: FleetServer, tls: TLSContext?, _ logger: Logger) {
        self.me = me
        self.server = server
        self.tls = tls
        self.logger = logger
    }

    func start(onEnd: @escaping @LoopActor () -> Void) {
        self.onEnd = onEnd
        LoopActor.task { [self] in
            do {
                try await open()
            } catch {
                end("\(error)")
            }
        }
    }

    /// Whether no call waits for an answer.
    var isIdle: Bool { calls.isEmpty }

    func send(_ call: ForwardedCall, _ completion: @escaping Completion) {
        guard !hasEnded else { return completion(.notSent) }
        guard calls.count < PeerLink.callLimit,
            writer.count + (connection?.pendingBytes ?? 0) < PeerLink.pendingLimit
        else { return completion(.answered(.failure(.busy))) }
        if calls.isEmpty { heardAt = LoopActor.now }
        calls[nextNumber] = completion
        PeerCall(number: nextNumber, call).write(to: &writer)
        nextNumber += 1
    }

    func flush() {
        guard isOpen, writer.count > 0 else { return }
        connection?.write(writer.bytes)
        writer.consume(writer.count)
    }

    func endIfSilent() {
        guard isOpen, !calls.isEmpty, LoopActor.now - heardAt > PeerLink.patience else { return }
        end("it says nothing")
    }

    /// Ends the connection, and every call with it.
    ///
    /// - Parameter reason: why; nil where this server stops.
    func end(_ reason: String?) {
        guard !hasEnded else { return }
        hasEnded = true
        if let reason { logger.info("no connection to the server at \(server.address): \(reason)") }
        connection?.close()
        onEnd()
        let outcome = isOpen ? ForwardedOutcome.lost : .notSent
        let waiting = calls.sorted { $0.key < $1.key }
        calls = [:]
        for (_, completion) in waiting { completion(outcome) }
    }

    // MARK: Opening

    private struct Refusal: Error, CustomStringConvertible {
        var description: String
    }

    /// Connects, and has both servers prove that they read the same database.
    private func open() async throws {
        guard let address = ServerAddress(server.address) else {
            throw Refusal(description: "its address makes no sense")
        }
        let deadline = LoopTimer(milliseconds: PeerLink.openingMilliseconds) { [weak self] in
            self?.end("it did not answer in time")
        }
        defer { deadline.cancel() }
        let connection =
            if let tls {
                try await TCPConnection.connect(host: address.host, port: address.port, tls: tls)
            } else {
                try await TCPConnection.connect(
                    host: address.host, port: address.port, timeoutMilliseconds: PeerLink.openingMilliseconds)
            }
        guard !hasEnded else { return connection.close() }
        self.connection = connection
        connection.outgoingLimit = 2 * PeerLink.pendingLimit
        connection.onEnd = { [self] in end("it closed the connection") }
        connection.onClose = { [self] in end($0.map { "\($0)" } ?? "it closed the connection") }
        try await prove(on: connection)
        guard !hasEnded else { return }
        isOpen = true
        heardAt = LoopActor.now
        connection.startReading { [self] in receive($0) }
        flush()
    }

    private func prove(on connection: TCPConnection) async throws {
        let mine = PeerProof.nonce()
        var proof = PeerProof(secret: server.secret, binding: connection.channelBinding)
        let hello = try await ask(["PEER", "HELLO", server.id.text, mine], on: connection)
        guard case .array(let values) = hello, values.count == 2, let theirs = values[0].string,
            let shown = values[1].string
        else { throw Refusal(description: "it is another server by now, or none of ours") }
        proof.nonces = (mine, theirs)
        guard proof.isRight(shown, of: .callee) else {
            throw Refusal(description: "it does not know the secret of the server that it says it is")
        }
        let joined = try await ask(["PEER", "JOIN", proof.text(of: .caller)], on: connection)
        guard joined == .simple("OK") else { throw Refusal(description: "it refuses this server") }
    }

    /// The answer to a request, before calls are sent.
    private func ask(_ words: [String], on connection: TCPConnection) async throws -> Reply {
        var request = RequestWriter()
        request.write(words)
        return try await withCheckedThrowingContinuation { (waiter: CheckedContinuation<Reply, any Error>) in
            var waiter: CheckedContinuation<Reply, any Error>? = waiter
            func resume(_ result: Result<Reply, any Error>) {
                waiter?.resume(with: result)
                waiter = nil
            }
            connection.onEnd = { resume(.failure(Refusal(description: "it closed the connection"))) }
            connection.onClose = { [self] in
                resume(.failure(Refusal(description: $0.map { "\($0)" } ?? "it closed the connection")))
                end("it closed the connection")
            }
            connection.startReading { [self] bytes in
                parser.append(bytes)
                do {
                    guard let reply = try parser.next() else { return }
                    connection.stopReading()
                    connection.onEnd = { [self] in end("it closed the connection") }
                    resume(.success(reply))
                } catch {
                    resume(.failure(error))
                }
            }
            connection.write(request.bytes)
        }
    }

    // MARK: Answers

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        heardAt = LoopActor.now
        parser.append(bytes)
        do {
            while let reply = try parser.next() {
                switch PeerReply(reply) {
                case .pulse: break
                case .answer(let number, let result): calls.removeValue(forKey: number)?(.answered(result))
                case nil: return end("it sent an answer that cannot be read")
                }
            }
        } catch {
            end("\(error)")
        }
    }
}
