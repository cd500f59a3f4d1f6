internal import HTTP

/// One connection of a client, without its socket: bytes in, its requests one after the other, and what to send.
///
/// A value that is given events and says what to do next. Its owner calls ``next(at:since:)`` after each event, and
/// again after doing what it said, until there is nothing left to do. Sockets, clocks, the other connections and what
/// requests ask for stay outside.
struct WebConnectionMachine<Stream>: ~Copyable {
    /// What the owner has to do next.
    enum Step {
        /// Answer a request: with ``answer(_:)``, now or later, or ``begin(_:)``. Its bytes are valid until the next
        /// step.
        case answer(HTTPRequest)
        /// Count a body of so many bytes, which is on its way, and ``refuse(_:)`` it if it must not come.
        case count(Int, HTTPRequest)
        /// Count a body of so many bytes no longer.
        case release(Int)
        /// Ask a client for its body.
        case carryOn
        case send(HTTPAnswer, Manner)
        /// Send why the connection is of no use any more.
        case refuse(Problem)
        /// Show the client of a stream that the server is still there.
        case comment
        /// A stream is over.
        case end(Stream)
        /// Look once more at what was kept: give ``takeInput()`` to ``reread(_:)``.
        case reread
        /// Let others have their turn, and call ``resume()`` then.
        case nextTurn
        case startReading
        case stopReading
        /// Close the connection at once.
        case abort
        /// Close the connection once everything is sent. The last step.
        case close
        /// Wait for the next event.
        case wait
    }

    /// How an answer is sent.
    struct Manner {
        var keepsAlive: Bool
        var isHead: Bool
    }

    private enum State {
        /// The next request is read as it comes.
        case reading
        /// A body of so many bytes, which is counted, is on its way.
        case awaitingBody(Int)
        /// The client has had its time, and goes on in the next turn of the loop.
        case paused
        /// The answer to a request is not known yet.
        case answering(Manner)
        case answered(HTTPAnswer, Manner)
        /// Events are sent until either side ends.
        case streaming(Stream)
        /// Nothing more is read. What is held is given back first.
        case ending(Ending, holding: Held = .nothing)
        case ended
    }

    private enum Ending {
        case refusal(Problem)
        case close
        /// The connection is gone already.
        case loss
    }

    private enum Held {
        case nothing
        case body(Int)
        case stream(Stream)
    }

    private let limits: HTTPLimits
    /// How long the requests of the client are answered before others have their turn, in nanoseconds.
    private let quantum: UInt64
    private var state = State.reading
    private var isReading = false
    private var hasPeerEnded = false

    private var parser = HTTPRequestParser()
    /// Bytes that could not be answered yet.
    private var input: [UInt8] = []
    /// Bytes that are read where they lie, while ``input`` is empty.
    private var arrived: UnsafeRawBufferPointer?
    /// How many of these are done with.
    private var consumed = 0
    /// Since when the connection has been silent, or a head, a body or a reader has been awaited.
    private var since: UInt64

    init(_ configuration: WebConfiguration, at site: Site, at now: UInt64) {
        limits = configuration.limits(of: site)
        quantum = configuration.quantum
        since = now
    }

    /// The stream that the client listens to.
    var stream: Stream? { if case .streaming(let stream) = state { stream } else { nil } }

    // MARK: Events

    /// Bytes have come. They have to stay where they are until ``next(at:since:)`` says to wait.
    mutating func received(_ bytes: UnsafeRawBufferPointer, at now: UInt64) {
        switch state {
        case .reading where input.isEmpty:
            since = now
            arrived = bytes
        case .reading, .awaitingBody, .paused, .answering, .answered: input += bytes
        // No request is read in the middle of a stream.
        case .streaming, .ending, .ended: break
        }
    }

    /// Gives away the bytes that were kept, for ``reread(_:)``.
    mutating func takeInput() -> [UInt8] {
        defer { input = [] }
        return input
    }

    /// Bytes that were kept have to stay where they are until ``next(at:since:)`` says to wait.
    mutating func reread(_ bytes: UnsafeRawBufferPointer) { arrived = bytes }

    /// The client sends no more; what it asked for it still gets.
    mutating func peerEnded() { hasPeerEnded = true }

    /// It is the client's turn again.
    mutating func resume() { if case .paused = state { state = .reading } }

    /// The answer to the request is known.
    mutating func answer(_ answer: HTTPAnswer) {
        if case .answering(let manner) = state { state = .answered(answer, manner) }
    }

    /// The request is answered by a stream.
    mutating func begin(_ stream: Stream) { state = .streaming(stream) }

    /// The client has read everything, or is sent something.
    mutating func progressed(at now: UInt64) { since = now }

    /// Nothing more is read, and the client learns why.
    mutating func refuse(_ problem: Problem) { end(.refusal(problem)) }

    /// The server stops: a request that is on its way is still answered.
    mutating func drain() {
        switch state {
        case .answering(var manner):
            manner.keepsAlive = false
            state = .answering(manner)
        case .answered(let answer, var manner):
            manner.keepsAlive = false
            state = .answered(answer, manner)
        case .reading, .awaitingBody, .paused, .streaming: end(.close)
        case .ending, .ended: break
        }
    }

    /// Nothing more is read, and what is not known yet is not answered.
    mutating func close() { if case .answered = state { drain() } else { end(.close) } }

    /// The connection is gone.
    mutating func lost() { end(.loss) }

    private mutating func end(_ ending: Ending) {
        switch state {
        case .awaitingBody(let bytes): state = .ending(ending, holding: .body(bytes))
        case .streaming(let stream): state = .ending(ending, holding: .stream(stream))
        case .reading, .paused, .answering, .answered: state = .ending(ending)
        case .ending, .ended: break
        }
    }

    // MARK: Steps

    /// What to do next.
    ///
    /// - Parameter began: since when requests of the client have been answered in a row.
    mutating func next(at now: UInt64, since began: UInt64) -> Step {
        switch state {
        case .answered(let answer, let manner):
            since = now
            state = manner.keepsAlive ? .reading : .ending(.close)
            return .send(answer, manner)
        case .reading, .awaitingBody: if let step = nextRequest(at: now, since: began) { return step }
        case .paused, .answering, .streaming, .ending, .ended: break
        }
        keepInput()
        if hasPeerEnded { endWithPeer() }
        if case .ending(let ending, let held) = state { return next(ending, held) }
        guard isReading != wantsToRead else { return .wait }
        isReading.toggle()
        return isReading ? .startReading : .stopReading
    }

    private mutating func nextRequest(at now: UInt64, since began: UInt64) -> Step? {
        // A body is looked at once it is there: not with every piece of it.
        guard let arrived else { return input.count >= parser.neededBytes ? .reread : nil }
        let rest = UnsafeRawBufferPointer(rebasing: arrived[consumed...])
        guard rest.count >= parser.neededBytes else { return parser.takeContinue() ? .carryOn : nil }
        if case .awaitingBody(let bytes) = state {
            state = .reading
            return .release(bytes)
        }
        guard now - began <= quantum else {
            state = .paused
            return .nextTurn
        }
        switch parser.next(rest, within: limits) {
        case .request(let request, let length):
            consumed += length
            since = now
            state = .answering(Manner(keepsAlive: request.keepsAlive, isHead: request.method == "HEAD"))
            return .answer(request)
        case .incomplete:
            guard let length = parser.awaitedBody, let request = parser.awaitedRequest(in: rest) else { return nil }
            since = now
            state = .awaitingBody(length)
            return .count(length, request)
        case .failure(let refusal):
            refuse(Problem(refusal))
            return nil
        }
    }

    /// Keeps what is not done with, as its bytes may be gone after this turn.
    private mutating func keepInput() {
        if let arrived { input += arrived[consumed...] }
        (arrived, consumed) = (nil, 0)
        switch state {
        case .streaming, .ending, .ended: input = []
        case .reading, .awaitingBody, .paused, .answering, .answered: break
        }
    }

    /// What the client asked for before it ended it still gets.
    private mutating func endWithPeer() {
        switch state {
        case .reading, .awaitingBody, .streaming: end(.close)
        case .paused, .answering, .answered, .ending, .ended: break
        }
    }

    private mutating func next(_ ending: Ending, _ held: Held) -> Step {
        switch (held, ending) {
        case (.body(let bytes), _):
            state = .ending(ending)
            return .release(bytes)
        case (.stream(let stream), _):
            state = .ending(ending)
            return .end(stream)
        case (.nothing, .refusal(let problem)):
            state = .ending(.close)
            return .refuse(problem)
        case (.nothing, .close):
            state = .ended
            return .close
        case (.nothing, .loss):
            state = .ended
            return .wait
        }
    }

    private var wantsToRead: Bool {
        switch state {
        case .reading, .awaitingBody, .streaming: true
        // The head and the body of a request are at most as long as they may be.
        case .paused, .answering, .answered: input.count <= limits.headBytes
        case .ending, .ended: isReading
        }
    }

    // MARK: Time

    /// What to do because a client is silent or reads too slowly, or a request takes too long to arrive. A byte now and
    /// then is not enough: the time counts from the first.
    ///
    /// - Parameter pendingBytes: how many bytes wait for the client to read them.
    mutating func tick(at now: UInt64, pendingBytes: Int, within configuration: WebConfiguration) -> Step {
        let seconds = now > since ? (now - since) / 1_000_000_000 : 0
        guard pendingBytes == 0 else { return seconds >= configuration.idleSeconds ? .abort : .wait }
        switch state {
        case .streaming: return seconds >= configuration.commentSeconds ? .comment : .wait
        case .reading where input.isEmpty: if seconds >= configuration.idleSeconds { close() }
        case .reading: expect(configuration.headSeconds, seconds)
        case .awaitingBody: expect(configuration.bodySeconds, seconds)
        case .paused, .answering, .answered, .ending, .ended: return .wait
        }
        return next(at: now, since: now)
    }

    private mutating func expect(_ limit: UInt64, _ seconds: UInt64) {
        guard seconds >= limit else { return }
        refuse(Problem(.requestTimeout, "ERR", "the request took longer than \(limit) seconds to arrive"))
    }
}
