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
        Command.all.map { (Array($0.declaration.name.utf8), $0) }, uniquingKeysWith: { first, _ in first })

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
    /// Calls of clients that have one that is not decided yet: nothing of theirs may overtake it.
    private var held: [Int64: [PeerCall]] = [:]

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
        connection.onDrain = nil
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
                guard let call = PeerCall(arguments) else { return end("a call that cannot be read") }
                take(call)
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

    private func take(_ call: PeerCall) {
        openCount += 1
        if held[call.call.client] != nil {
            held[call.call.client]?.append(call)
        } else {
            run(call)
        }
    }

    /// Carries a call out. Returns whether its client's next one has to wait for it.
    @discardableResult
    private func run(_ call: PeerCall) -> Bool {
        guard let command = PeerSession.commands[call.call.words[0].map(\.uppercasedASCII)] else {
            answer(call, .failure(Failure(.error, "the server that decides this does not know the command")))
            return false
        }
        let response = service.receive(call.call, of: command)
        guard case .promise(let promise) = response, promise.isHolding else {
            response.whenKnown { [self] in answer(call, $0) }
            return false
        }
        let client = call.call.client
        if held[client] == nil { held[client] = [] }
        promise.whenKnown { [self] result in
            answer(call, result)
            goOn(with: client)
        }
        return true
    }

    private func goOn(with client: Int64) {
        while let waiting = held[client], let next = waiting.first {
            held[client] = Array(waiting.dropFirst())
            if run(next) { return }
        }
        held[client] = nil
    }

    private func answer(_ call: PeerCall, _ result: Result<Answer, Failure>) {
        openCount -= 1
        guard connection.isOpen else { return }
        output.answer(call.number, result)
        guard !isNoted else { return }
        isNoted = true
        hasAnswers(self)
    }

    func send() {
        isNoted = false
        connection.write(output.bytes)
        output.removeAll(keepingCapacity: output.capacity <= 1 << 20)
    }

    /// Tells the other server that this one is there, if it waits for something.
    func pulse() {
        guard openCount > 0, connection.isOpen else { return }
        output.pulse()
        send()
    }
}
