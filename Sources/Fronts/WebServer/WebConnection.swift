internal import EventLoop
internal import HTTP
internal import Users

/// One connection of a client: a ``WebConnectionMachine`` at work on a socket.
@LoopActor
final class WebConnection {
    let id: Int64
    let address: String
    let site: Site
    let server: WebServer
    /// The user who has sent the request that is being answered; nil without a login.
    var user: User?
    private let connection: TCPConnection
    private var machine: WebConnectionMachine<WebStream>
    /// What is to be sent, in the server's buffer.
    private var output: [UInt8] = []
    private var isInWork = false

    init(_ id: Int64, _ connection: TCPConnection, address: String, of site: Site, server: WebServer) {
        self.id = id
        self.connection = connection
        self.address = address
        self.site = site
        self.server = server
        machine = WebConnectionMachine(server.configuration, at: site, at: LoopActor.now)
    }

    func start() {
        connection.onEnd = { [self] in
            machine.peerEnded()
            work()
        }
        connection.onDrain = { [self] in
            machine.progressed(at: LoopActor.now)
            machine.stream?.drained()
            work()
        }
        connection.onClose = { [self] _ in
            machine.lost()
            work()
            server.ended(self)
        }
        work()
    }

    /// The bytes that wait for the client to read them.
    var pendingBytes: Int { connection.pendingBytes }

    // MARK: Working

    /// Sends what is known, and goes on with the requests that came meanwhile.
    func work() {
        isInWork = false
        work(since: LoopActor.now)
    }

    private func work(since began: UInt64) {
        var now = began
        while perform(machine.next(at: now, since: began), at: &now) {}
    }

    /// Does what is to be done. Returns whether there may be more.
    private func perform(_ step: WebConnectionMachine<WebStream>.Step, at now: inout UInt64) -> Bool {
        switch step {
        case .answer(let request):
            answer(request, since: now)
            now = LoopActor.now
        case .count(let bytes, let request):
            server.bodies.add(bytes)
            if let problem = server.problem(withBodyOf: bytes, request, from: self) {
                machine.refuse(problem)
            } else if !server.bodies.isWithin(server.configuration.bodiesLimit) {
                machine.refuse(Problem(.unavailable, "BUSY", "too much is being sent; try again"))
            }
        case .release(let bytes): server.bodies.remove(bytes)
        case .carryOn: send { $0 += HTTPAnswer.carryOn }
        case .send(let answer, let manner):
            send {
                answer.write(to: &$0, date: server.date, keepsAlive: manner.keepsAlive, isHead: manner.isHead)
            }
        case .refuse(let problem):
            server.statistics.count(problem.status, nanoseconds: 0)
            send { problem.answer.write(to: &$0, date: server.date, keepsAlive: false) }
        case .comment: write(EventStream.comment)
        case .end(let stream): stream.end()
        case .reread:
            machine.takeInput().withUnsafeBytes { bytes in
                machine.reread(bytes)
                work(since: now)
            }
            return false
        case .nextTurn:
            let body: @LoopActor () -> Void = { [self] in
                machine.resume()
                work()
            }
            _ = NextTurn(body)
        case .startReading:
            connection.startReading { [self] bytes in
                let now = LoopActor.now
                machine.received(bytes, at: now)
                work(since: now)
            }
        case .stopReading: connection.stopReading()
        case .abort: connection.close()
        case .close:
            flush()
            connection.closeAfterWrites()
        case .wait:
            flush()
            machine.stream?.send()
            return false
        }
        return true
    }

    private func answer(_ request: HTTPRequest, since began: UInt64) {
        switch server.outcome(of: request, from: self) {
        case .answer(let answer):
            server.statistics.count(answer.status, nanoseconds: LoopActor.now - began)
            machine.answer(answer)
        case .promise(let promise):
            // It is known in the middle of a turn, and sent at the end of it.
            promise { [self] answer in
                server.statistics.count(answer.status, nanoseconds: LoopActor.now - began)
                machine.answer(answer)
                needsWork()
            }
        case .stream(let stream):
            machine.begin(stream)
            send { HTTPAnswer(.ok, fields: WebStream.fields).writeEndlessHead(to: &$0, date: server.date) }
            // Its events may be so many that they do not wait for the end of the turn.
            flush()
            stream.begin()
        }
    }

    /// Borrows the buffer that connections share, until what is in it is handed to the system.
    private func send(_ write: (inout [UInt8]) -> Void) {
        if output.isEmpty { swap(&output, &server.spareOutput) }
        write(&output)
    }

    /// Hands to the system what is to be sent.
    private func flush() {
        guard !output.isEmpty else { return }
        output.withUnsafeBytes { connection.write($0) }
        output.removeAll(keepingCapacity: output.capacity <= 1 << 20)
        server.spareOutput = output
        output = []
    }

    /// Sends events.
    func write(_ bytes: [UInt8]) {
        machine.progressed(at: LoopActor.now)
        bytes.withUnsafeBytes { connection.write($0) }
    }

    /// Has something to do at the end of the turn.
    func needsWork() {
        guard !isInWork, connection.isOpen else { return }
        isInWork = true
        server.hasWork(self)
    }

    // MARK: The end

    /// Closes the connection if it is silent for too long, or a request takes too long to arrive.
    func check(at now: UInt64) {
        var moment = now
        let step = machine.tick(at: now, pendingBytes: connection.pendingBytes, within: server.configuration)
        if perform(step, at: &moment) { work(since: moment) }
    }

    /// Ends the stream if its user's login has ended or the user's rights have changed.
    func endStreamWithoutLogin() {
        if let stream = machine.stream, !server.mayGoOn(stream.identity, at: site) { close() }
    }

    /// Answers the request that is on its way, and then closes.
    func drain() {
        machine.drain()
        work()
    }

    /// Closes once everything is sent.
    func close() {
        machine.close()
        work()
    }
}
