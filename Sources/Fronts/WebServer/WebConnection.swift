internal import Application
internal import EventLoop
internal import HTTP
internal import Users

/// One connection of a client: its requests one after the other, or a stream.
@LoopActor
final class WebConnection {
    private enum Phase {
        /// The next request is read as it comes.
        case reading
        /// The answer to a request is not known yet, since that time.
        case waiting(since: UInt64)
        /// An answer is known that has not been sent.
        case answered(HTTPAnswer)
        /// Events are sent until either side ends.
        case streaming(WebStream)
        /// Nothing more is read; what is there is sent.
        case closing
    }

    let id: Int64
    let address: String
    let site: Site
    let server: WebServer
    /// The user who has sent the request that is being answered; nil without a login.
    var user: User?
    private let connection: TCPConnection
    private var phase = Phase.reading
    private var isClosed = false
    private var isReading = false
    private var hasPeerEnded = false
    private var isInWork = false
    /// It has had its time, and goes on in the next turn of the loop.
    private var isPaused = false

    private var parser = HTTPRequestParser()
    /// Bytes that could not be answered yet.
    private var input: [UInt8] = []
    /// The bytes of a body that are counted among those of all clients.
    private var countedBody = 0
    /// The request that waits for its answer.
    private var keepsAlive = true
    private var isHead = false
    /// Since when the connection has been silent, or a head, a body or a reader has been awaited.
    private var since = LoopActor.now

    init(_ id: Int64, _ connection: TCPConnection, address: String, of site: Site, server: WebServer) {
        self.id = id
        self.connection = connection
        self.address = address
        self.site = site
        self.server = server
    }

    func start() {
        connection.onEnd = { [self] in
            hasPeerEnded = true
            if case .streaming = phase { return close() }
            work()
        }
        connection.onDrain = { [self] in
            since = LoopActor.now
            if case .streaming(let stream) = phase { stream.drained() }
            work()
        }
        connection.onClose = { [self] _ in
            isClosed = true
            countBody(0)
            if case .streaming(let stream) = phase { stream.end() }
            phase = .closing
            server.ended(self)
        }
        startReading()
    }

    /// The bytes that wait for the client to read them.
    var pendingBytes: Int { connection.pendingBytes }

    private func startReading() {
        guard !isReading, !isClosed else { return }
        isReading = true
        connection.startReading { [self] in receive($0) }
    }

    private func stopReading() {
        guard isReading else { return }
        isReading = false
        connection.stopReading()
    }

    // MARK: Requests

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        // No request is read in the middle of a stream.
        if case .streaming = phase { return }
        if input.isEmpty, case .reading = phase {
            since = LoopActor.now
            let rest = answer(requestsIn: bytes)
            if case .streaming = phase {} else { input += bytes[(bytes.count - rest)...] }
        } else {
            input += bytes
        }
        work()
    }

    /// Sends what is known, and goes on with the requests that came meanwhile.
    func work() {
        isInWork = false
        if case .answered(let answer) = phase {
            phase = .reading
            send(answer)
        }
        // A body is looked at once it is there: not with every piece of it.
        if case .reading = phase, input.count >= parser.neededBytes {
            let bytes = input
            input = []
            let rest = bytes.withUnsafeBytes { answer(requestsIn: $0) }
            if case .streaming = phase {} else { input = Array(bytes[(bytes.count - rest)...]) }
        }
        flush()
        switch phase {
        case .reading:
            // What it asked for before it ended it still gets.
            if hasPeerEnded, !isPaused { return close() }
            if input.isEmpty, input.capacity > 1 << 10 { input = [] }
            startReading()
        case .waiting, .answered:
            // A request is at most as long as its head and its body may be.
            if input.count > server.configuration.limits(of: site).headBytes { stopReading() }
        case .streaming(let stream):
            stream.send()
        case .closing: break
        }
    }

    /// Answers requests as long as the answers are known at once, and it is this client's turn. Returns how many bytes
    /// are left for later.
    private func answer(requestsIn bytes: UnsafeRawBufferPointer) -> Int {
        var rest = bytes
        let limits = server.configuration.limits(of: site)
        let began = LoopActor.now
        var isFirst = true
        while !isPaused, case .reading = phase {
            if !isFirst, LoopActor.now - began > server.configuration.quantum {
                // The rest has its turn when others have had theirs.
                isPaused = true
                let body: @LoopActor () -> Void = { [self] in
                    isPaused = false
                    if !isClosed { work() }
                }
                _ = NextTurn(body)
                break
            }
            isFirst = false
            switch parser.next(rest, within: limits) {
            case .request(let request, let length):
                countBody(0)
                begin(request)
                rest = UnsafeRawBufferPointer(rebasing: rest[length...])
                since = LoopActor.now
            case .incomplete:
                guard let body = parser.awaitedBody else { return rest.count }
                if countedBody == 0 {
                    since = LoopActor.now
                    if let request = parser.awaitedRequest(in: rest),
                        let problem = server.problem(withBodyOf: body, request, from: self)
                    {
                        refuse(problem)
                        return 0
                    }
                }
                guard countBody(body) else {
                    refuse(Problem(.unavailable, "BUSY", "too much is being sent; try again"))
                    return 0
                }
                if parser.takeContinue() { server.output += HTTPAnswer.carryOn }
                return rest.count
            case .failure(let refusal):
                refuse(Problem(refusal))
                return 0
            }
        }
        return rest.count
    }

    /// Counts the body that is awaited among those of all clients. Returns whether there is room for it.
    @discardableResult
    private func countBody(_ bytes: Int) -> Bool {
        func long(_ bytes: Int) -> Int { bytes > server.configuration.storeLimits.bodyBytes ? bytes : 0 }
        let all = server.bodyBytes - countedBody + bytes
        let allLong = server.longBodyBytes - long(countedBody) + long(bytes)
        let most = server.configuration.bodiesLimit
        guard all <= most && allLong <= most / 2 || bytes == 0 else { return false }
        server.bodyBytes = all
        server.longBodyBytes = allLong
        countedBody = bytes
        return true
    }

    private func begin(_ request: HTTPRequest) {
        keepsAlive = request.keepsAlive && !server.isStopping
        isHead = request.method == "HEAD"
        let began = LoopActor.now
        switch server.outcome(of: request, from: self) {
        case .answer(let answer):
            server.statistics.count(answer.status, nanoseconds: LoopActor.now - began)
            send(answer)
        case .promise(let promise):
            phase = .waiting(since: began)
            promise { [self] in answer($0, since: began) }
        case .stream(let stream):
            phase = .streaming(stream)
            HTTPAnswer(.ok, fields: WebStream.fields).writeEndlessHead(to: &server.output, date: server.date)
            stream.begin()
        }
    }

    /// The answer to a request is known: in the middle of a turn, so it is sent at the end of it.
    private func answer(_ answer: HTTPAnswer, since began: UInt64) {
        server.statistics.count(answer.status, nanoseconds: LoopActor.now - began)
        guard case .waiting = phase else { return }
        phase = .answered(answer)
        needsWork()
    }

    // MARK: Answers

    private func send(_ answer: HTTPAnswer) {
        since = LoopActor.now
        answer.write(to: &server.output, date: server.date, keepsAlive: keepsAlive, isHead: isHead)
        if !keepsAlive { phase = .closing }
    }

    private func refuse(_ problem: Problem) {
        keepsAlive = false
        isHead = false
        server.statistics.count(problem.status, nanoseconds: 0)
        send(problem.answer)
    }

    /// Hands to the system what is to be sent.
    private func flush() {
        if !server.output.isEmpty {
            server.output.withUnsafeBytes { connection.write($0) }
            server.output.removeAll(keepingCapacity: server.output.capacity <= 1 << 20)
        }
        if case .closing = phase, !isClosed { connection.closeAfterWrites() }
    }

    /// Sends events.
    func write(_ bytes: [UInt8]) {
        since = LoopActor.now
        bytes.withUnsafeBytes { connection.write($0) }
    }

    /// Has something to do at the end of the turn.
    func needsWork() {
        guard !isInWork, !isClosed else { return }
        isInWork = true
        server.hasWork(self)
    }

    // MARK: The end

    /// Closes the connection if it is silent for too long, or a request takes too long to arrive. A byte now and then
    /// is not enough: the time counts from the first.
    func check(at now: UInt64) {
        endStreamWithoutLogin()
        let configuration = server.configuration
        let seconds = now > since ? (now - since) / 1_000_000_000 : 0
        if connection.pendingBytes > 0 {
            if seconds >= configuration.idleSeconds { connection.close() }
            return
        }
        switch phase {
        case .waiting, .answered, .closing: break
        case .streaming(let stream): stream.check(silentSeconds: seconds)
        case .reading:
            let limit: UInt64
            if input.isEmpty {
                limit = configuration.idleSeconds
            } else {
                limit = parser.awaitedBody == nil ? configuration.headSeconds : configuration.bodySeconds
            }
            guard seconds >= limit else { return }
            guard !input.isEmpty else { return close() }
            refuse(Problem(.requestTimeout, "ERR", "the request took longer than \(limit) seconds to arrive"))
            flush()
        }
    }

    /// Ends the stream if its user's login has ended or the user's rights have changed.
    func endStreamWithoutLogin() {
        if case .streaming(let stream) = phase, !server.mayGoOn(stream.identity, at: site) { close() }
    }

    /// Answers the request that is on its way, and then closes.
    func drain() {
        keepsAlive = false
        switch phase {
        case .waiting, .answered, .closing: break
        case .reading, .streaming: close()
        }
    }

    /// Closes once everything is sent.
    func close() {
        guard !isClosed else { return }
        if case .streaming(let stream) = phase { stream.end() }
        phase = .closing
        connection.closeAfterWrites()
    }
}
