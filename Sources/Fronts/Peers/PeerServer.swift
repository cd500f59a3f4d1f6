internal import Application
internal import EventLog
package import EventLoop
internal import LineProtocol
package import Serving
internal import TextFormats

/// Carries out the calls of other servers' clients, on connections that other servers have proven to be theirs.
@LoopActor
package final class PeerServer: Front {
    /// How often a server that waits for an answer is told that this one is there, in milliseconds.
    private static let pulseMilliseconds: UInt64 = 1_000

    private let service: Server
    private let logger: Logger
    private var sessions: [ObjectIdentifier: PeerSession] = [:]
    private var withAnswers: [PeerSession] = []
    private var timer: LoopTimer?

    /// A server sends whatever it has: the one that asked bounds what its client is sent.
    package var documentLimit: Int { .max }

    package init(_ service: Server, logger: Logger) {
        self.service = service
        self.logger = logger
        service.attach(self)
        timer = LoopTimer(milliseconds: PeerServer.pulseMilliseconds, repeating: true) { [weak self] in
            for session in self?.sessions.values ?? [:].values { session.pulse() }
        }
    }

    /// Serves a server that has just proven to be one.
    package func adopt(_ connection: TCPConnection) {
        let session = PeerSession(connection, service, logger) { [unowned self] in withAnswers.append($0) }
        sessions[ObjectIdentifier(session)] = session
        session.start { [weak self] in self?.sessions[ObjectIdentifier(session)] = nil }
    }

    package func sendAnswers() -> Bool {
        guard !withAnswers.isEmpty else { return false }
        let sessions = withAnswers
        withAnswers = []
        for session in sessions { session.send() }
        return true
    }

    package func name(ofClient client: Int64) -> String? { nil }

    /// Tells other servers that this one stops. What they have sent before they knew is still carried out.
    package func drain() {
        for session in sessions.values { session.sayFarewell() }
    }

    /// Closes the connections once their answers are sent.
    package func close() {
        timer?.cancel()
        timer = nil
        for session in sessions.values { session.close() }
    }
}

/// The connection of another server: its clients' calls come in, and their answers leave in any order.
@LoopActor
private final class PeerSession {
    /// Commands by their names.
    private static let commands = Dictionary(
        (Command.all + Command.ofServers).map { (Array($0.declaration.name.utf8), $0) },
        uniquingKeysWith: { first, _ in first })

    /// The most bytes of answers that wait for a server to read them; one with more is disconnected.
    private static let outgoingLimit = 256 << 20

    /// What the front of the other server let in has any length that it allows.
    private static let limits = {
        var limits = RequestLimits()
        limits.bulkLength = 64 << 20
        limits.requestLength = 80 << 20
        limits.argumentCount = 4_096
        return limits
    }()

    private let connection: TCPConnection
    private let service: Server
    private let logger: Logger
    private let hasAnswers: @LoopActor (PeerSession) -> Void
    private var parser = RequestParser()
    private var input = ByteBuffer()
    private var output = ReplyBuffer(version: .resp3)
    private var isNoted = false
    /// How many calls are not answered yet.
    private var openCount = 0
    /// Calls of clients that have one that is not decided yet.
    private var held: [Int64: HeldCalls] = [:]

    /// Calls of a client that wait for one that is not decided yet: nothing of theirs may overtake it.
    private struct HeldCalls {
        private var calls: [PeerCall] = []
        /// How many of them do not wait any more.
        private var goneCount = 0

        mutating func append(_ call: PeerCall) { calls.append(call) }

        mutating func next() -> PeerCall? {
            guard goneCount < calls.count else { return nil }
            let call = calls[goneCount]
            goneCount += 1
            // Seldom, so that each call is moved a bounded number of times.
            if 2 * goneCount > calls.count {
                calls.removeFirst(goneCount)
                goneCount = 0
            }
            return call
        }
    }

    init(
        _ connection: TCPConnection, _ service: Server, _ logger: Logger,
        hasAnswers: @escaping @LoopActor (PeerSession) -> Void
    ) {
        self.connection = connection
        self.service = service
        self.logger = logger
        self.hasAnswers = hasAnswers
    }

    func start(onEnd: @escaping @LoopActor () -> Void) {
        connection.outgoingLimit = PeerSession.outgoingLimit
        connection.onEnd = { [self] in connection.close() }
        connection.onClose = { _ in onEnd() }
        connection.startReading { [self] in receive($0) }
    }

    func close() { connection.closeAfterWrites() }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        input.append(bytes)
        while connection.isOpen {
            switch parser.next(input.bytes, within: PeerSession.limits) {
            case .request(let arguments, let consumed):
                guard take(arguments) else { return end("a call that cannot be read") }
                input.consume(consumed)
            case .incomplete(let consumed):
                input.consume(consumed)
                return
            case .failure(let error): return end(error.message)
            }
        }
    }

    private func end(_ reason: String) {
        logger.error("the server at \(connection.peerAddress) is disconnected: it sent \(reason)")
        connection.close()
    }

    /// Takes a call or an announcement. Returns whether it is one.
    private func take(_ request: Arguments) -> Bool {
        if let call = PeerCallView(request) {
            take(call)
        } else if let announced = PeerAnnouncement(request), service.hasPartition(announced.partition) {
            openCount += 1
            service.read(announced.partition, upTo: announced.position) { [self] in
                answer(announced.number, .success(.null))
            }
        } else {
            return false
        }
        return true
    }

    private func take(_ call: PeerCallView) {
        openCount += 1
        let client = call.origin.client
        if held[client] != nil {
            held[client]?.append(call.kept)
        } else if answer(call.number, of: client, once: run(call)) {
            held[client] = HeldCalls()
        }
    }

    private func run(_ call: PeerCallView) -> Response {
        guard let command = PeerSession.commands[call.words[0].uppercased] else { return PeerSession.unknown }
        do throws(Failure) {
            return try call.origin.withCall(of: command.declaration, call.words) { made throws(Failure) in
                try service.receive(command, made, at: call.origin.position)
            }
        } catch {
            return .failure(error)
        }
    }

    private func run(_ call: ForwardedCall) -> Response {
        guard let command = PeerSession.commands[call.words[0].map(\.uppercasedASCII)] else {
            return PeerSession.unknown
        }
        return service.receive(call, of: command)
    }

    private static var unknown: Response {
        .failure(Failure(.error, "the server that decides this does not know the command"))
    }

    /// Answers a call once its answer is known. Returns whether its client's next one has to wait for it.
    private func answer(_ number: Int64, of client: Int64, once response: Response) -> Bool {
        guard case .promise(let promise) = response, promise.isHolding else {
            response.whenKnown { [self] in answer(number, $0) }
            return false
        }
        var (isKnown, isWaitedFor) = (false, false)
        promise.whenKnown { [self] result in
            isKnown = true
            answer(number, result)
            // Not here: the processor may be in the middle of its work.
            if isWaitedFor { LoopActor.task { self.goOn(with: client) } }
        }
        isWaitedFor = true
        return !isKnown
    }

    private func goOn(with client: Int64) {
        // Nobody waits for the answers any more: whoever was lost decides elsewhere what had not begun.
        guard connection.isOpen else { return held = [:] }
        while let next = held[client]?.next() {
            if answer(next.number, of: client, once: run(next.call)) { return }
        }
        held[client] = nil
    }

    private func answer(_ number: Int64, _ result: Result<Answer, Failure>) {
        openCount -= 1
        guard connection.isOpen else { return }
        output.answer(number, result)
        guard !isNoted else { return }
        isNoted = true
        hasAnswers(self)
    }

    func send() {
        isNoted = false
        connection.write(output.bytes)
        output.removeAll(keepingCapacity: output.capacity <= 1 << 20)
    }

    /// Tells the other server that this one stops.
    func sayFarewell() {
        guard connection.isOpen else { return }
        output.farewell()
        send()
    }

    /// Tells the other server that this one is there, if it waits for something.
    func pulse() {
        guard openCount > 0, connection.isOpen else { return }
        output.pulse()
        send()
    }
}
