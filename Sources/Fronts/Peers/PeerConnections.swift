package import Application
package import EventLoop
package import Fleet
internal import LineProtocol
package import Serving

/// Leads to other servers: one connection to each that decides something.
@LoopActor
package final class PeerConnections: PeerLinks {
    /// Bounds on what waits for one other server.
    package struct Limits: Sendable {
        /// The most calls that wait for an answer. One more is answered `BUSY`.
        package var calls = 20_000
        /// While as many bytes wait to be sent, calls are answered `BUSY`.
        package var pendingBytes = 64 << 20
        /// How long a server may say nothing while calls wait, in milliseconds. It says once a second that it is there.
        package var silenceMilliseconds: UInt64 = 3_000
        /// How long a server may take until it can be given calls, in milliseconds.
        package var openingMilliseconds: UInt64 = 2_000

        /// The defaults.
        package init() {}
    }

    private let tls: TLSContext?
    private let logger: Logger
    private let limits: Limits
    private var links: [ServerID: PeerLink] = [:]
    /// Those to servers that stop: they still answer what they were given.
    private var leaving: [ObjectIdentifier: PeerLink] = [:]
    private var timer: LoopTimer?
    private var isClosed = false
    package var onLost: @LoopActor (FleetServer) -> Void = { _ in }
    package var onReached: @LoopActor (FleetServer) -> Void = { _ in }

    /// - Parameters:
    ///   - tls: what servers are reached with; nil for plain connections.
    package init(tls: TLSContext?, logger: Logger, limits: Limits = Limits()) {
        self.tls = tls
        self.logger = logger
        self.limits = limits
        timer = LoopTimer(milliseconds: PeerLink.lookMilliseconds, repeating: true) { [weak self] in
            for link in self?.all ?? [] { link.look() }
        }
    }

    package func send(
        _ call: ForwardedCall, to server: FleetServer, completion: @escaping @LoopActor (ForwardedOutcome) -> Void
    ) {
        guard !isClosed else { return completion(.notSent) }
        link(to: server).ask({ PeerCall(number: $0, call).write(to: &$1) }, completion)
    }

    package func announce(
        _ partition: Int, at position: Int64, to server: FleetServer, completion: @escaping @LoopActor () -> Void
    ) {
        guard !isClosed else { return completion() }
        link(to: server).ask(
            { PeerAnnouncement(number: $0, partition: partition, position: position).write(to: &$1) },
            { _ in completion() })
    }

    private func link(to server: FleetServer) -> PeerLink {
        if let link = links[server.id] { return link }
        let link = PeerLink(to: server, tls: tls, limits, logger)
        links[server.id] = link
        link.onFarewell = { [weak self] in self?.left(link, server) }
        link.onOpen = { [weak self] in self?.onReached(server) }
        link.start { [weak self] in
            self?.leaving[ObjectIdentifier(link)] = nil
            self?.lost(link, server)
        }
        return link
    }

    private func left(_ link: PeerLink, _ server: FleetServer) {
        guard links[server.id] === link else { return }
        leaving[ObjectIdentifier(link)] = link
        lost(link, server)
    }

    private func lost(_ link: PeerLink, _ server: FleetServer) {
        guard links[server.id] === link else { return }
        links[server.id] = nil
        // Whoever closes the connections has not lost anybody.
        if !isClosed { onLost(server) }
    }

    private var all: [PeerLink] { Array(links.values) + Array(leaving.values) }

    package func reach(_ servers: [FleetServer]) {
        // A renewal that was on its way may come late.
        guard !isClosed else { return }
        for server in servers { _ = link(to: server) }
        let wanted = Set(servers.map(\.id))
        for (id, link) in links where !wanted.contains(id) && link.isIdle { link.end(nil) }
    }

    package func flush() {
        for link in links.values { link.flush() }
        for link in leaving.values { link.flush() }
    }

    package func close() {
        isClosed = true
        timer?.cancel()
        timer = nil
        for link in all { link.end(nil) }
    }
}

/// The connection to one server.
@LoopActor
private final class PeerLink {
    /// How often it is looked whether the server says something, in milliseconds.
    static let lookMilliseconds: UInt64 = 500
    /// The most bytes of a call.
    private static let longestCall = 80 << 20
    /// The most bytes of memory that are kept for the next calls.
    private static let keptBytes = 1 << 20

    typealias Completion = @LoopActor (ForwardedOutcome) -> Void

    private let server: FleetServer
    private let tls: TLSContext?
    private let limits: PeerConnections.Limits
    private let logger: Logger
    private var onEnd: @LoopActor () -> Void = {}
    /// Called when the server takes calls.
    var onOpen: @LoopActor () -> Void = {}
    /// Called when the server stops, and wants no more calls.
    var onFarewell: @LoopActor () -> Void = {}

    private var connection: TCPConnection?
    /// Whether the server has proven who it is, and takes calls.
    private var isOpen = false
    private var hasEnded = false
    private var parser = ReplyParser(limits: ReplyLimits())
    private var writer = RequestWriter()
    private var nextNumber: Int64 = 1
    /// The first call that has not left yet.
    private var firstUnsent: Int64 = 1
    private var calls: [Int64: Completion] = [:]
    /// How often in a row something was waited for, and had not come. Not by the clock: if this server was busy all the
    /// time, or stood still, it has not looked at the socket.
    private var silentLooks: UInt64 = 0

    init(to server: FleetServer, tls: TLSContext?, _ limits: PeerConnections.Limits, _ logger: Logger) {
        self.server = server
        self.tls = tls
        self.limits = limits
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

    /// Asks for something.
    ///
    /// - Parameter write: writes it, with the number that its answer will have.
    func ask(_ write: (Int64, inout RequestWriter) -> Void, _ completion: @escaping Completion) {
        guard !hasEnded else { return completion(.notSent) }
        guard calls.count < limits.calls, writer.count + (connection?.pendingBytes ?? 0) < limits.pendingBytes
        else { return completion(.answered(.failure(.busy))) }
        if calls.isEmpty, isOpen { silentLooks = 0 }
        calls[nextNumber] = completion
        write(nextNumber, &writer)
        nextNumber += 1
    }

    func flush() {
        guard isOpen, writer.count > 0, let connection, connection.isOpen else { return }
        connection.write(writer.bytes)
        firstUnsent = nextNumber
        // What many calls took is not kept for few.
        if writer.count > PeerLink.keptBytes { writer = RequestWriter() } else { writer.consume(writer.count) }
    }

    /// Ends the connection if the server has not answered in time.
    func look() {
        guard !isOpen || !calls.isEmpty else { return }
        silentLooks += 1
        let (limit, reason) =
            isOpen
            ? (limits.silenceMilliseconds, "it says nothing")
            : (limits.openingMilliseconds, "it did not answer in time")
        if silentLooks * PeerLink.lookMilliseconds > limit { end(reason) }
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
        let waiting = calls.sorted { $0.key < $1.key }
        calls = [:]
        for (number, completion) in waiting { completion(number < firstUnsent ? .lost : .notSent) }
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
        let connection =
            if let tls {
                try await TCPConnection.connect(host: address.host, port: address.port, tls: tls)
            } else {
                try await TCPConnection.connect(
                    host: address.host, port: address.port, timeoutMilliseconds: 2 * limits.openingMilliseconds)
            }
        guard !hasEnded else { return connection.close() }
        self.connection = connection
        // One call more than may wait, of any length.
        connection.outgoingLimit = limits.pendingBytes + PeerLink.longestCall
        connection.onEnd = { [self] in end("it closed the connection") }
        connection.onClose = { [self] in end($0.map { "\($0)" } ?? "it closed the connection") }
        try await prove(on: connection)
        guard !hasEnded else { return }
        isOpen = true
        silentLooks = 0
        onOpen()
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
        // It may have ended before its last answer was looked at.
        guard !hasEnded else { throw Refusal(description: "it closed the connection") }
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
                let reason = $0.map { "\($0)" } ?? "it closed the connection"
                resume(.failure(Refusal(description: reason)))
                end(reason)
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
        silentLooks = 0
        parser.append(bytes)
        do {
            while let reply = try parser.next() {
                switch PeerReply(reply) {
                case .pulse: break
                case .farewell: onFarewell()
                case .answer(let number, let result): calls.removeValue(forKey: number)?(.answered(result))
                case nil: return end("it sent an answer that cannot be read")
                }
            }
        } catch {
            end("\(error)")
        }
    }
}
