internal import Application
internal import EventLog
internal import LineProtocol
internal import TextFormats

/// One client, without its socket: its bytes in, its requests in order, and its replies in the same order.
///
/// A value that is given events and says what to do next. Its owner calls ``next(pendingBytes:)`` after each event, and
/// again after doing what it said, until there is nothing left to do. Bytes, sockets, clocks and the commands
/// themselves stay outside.
///
/// A write's reply waits until the write is durable. Later writes of the client need not wait for it; a read does, and
/// so sees what the client wrote before. Replies of one turn of the loop leave in one write.
struct SessionMachine: ~Copyable {
    /// What the owner has to do next.
    enum Step {
        /// Execute a request, or ``postpone()`` it. The arguments are valid until the next step.
        case execute(Arguments)
        /// Reply that these bytes are no request, then close.
        case reject(ProtocolError)
        /// Send ``replies``, then call ``sent()``.
        case send
        /// Read nothing from the client until it is said again.
        case stopReading
        /// Read from the client again.
        case startReading
        /// Close the connection once everything is sent. The last step.
        case close
        /// Wait for the next event.
        case wait
    }

    private enum Phase {
        /// Requests are executed as they come.
        case reading
        /// The next request has to wait for the replies to earlier ones.
        case waiting
        /// The client reads its replies too slowly.
        case full
        /// The client has had its time in this turn of the loop.
        case paused
        /// The server stops: nothing more is executed, and what is on its way is still answered. A client that asks
        /// for more is cut off then.
        case draining
        /// Nothing more is executed or answered; what is there is sent.
        case closing
        case closed
    }

    /// The capacity that an emptied buffer keeps, in bytes.
    private static let keptCapacity = 64 << 10
    /// While more unread bytes than these wait for a client's login, nothing more is read from it.
    private static let unauthenticatedInputPause = 64 << 10
    /// While more unread bytes than these wait for a client's turn, nothing more is read from it: copying what is not
    /// executed yet would take time from the others.
    private static let pausedInputPause = 64 << 10

    private let limits: LineConfiguration
    private var phase = Phase.reading
    private var isReading = true
    private var hasPeerEnded = false

    private var parser = RequestParser()
    /// Bytes that could not be executed yet.
    private var input = ByteBuffer()
    /// Bytes that have just arrived, while ``input`` is empty: they are read where they lie.
    private var arrived: UnsafeRawBufferPointer?
    /// How many bytes of either are done with.
    private var consumed = 0
    /// The length of the request that is being executed.
    private var requestLength = 0
    /// Bytes that are no request: rejected once everything before them has been answered.
    private var malformed: ProtocolError?
    /// When the last bytes came, in nanoseconds.
    private(set) var lastActivity: UInt64
    /// Since when a request has begun and not ended.
    private var partialSince: UInt64?

    /// Replies that are due.
    private(set) var replies = ReplyBuffer(capacity: 256)
    /// Replies that are not due, because an earlier one is not known; nil where not known themselves.
    private var slots: [[UInt8]?] = []
    private var firstSlot = 0
    /// The bytes of the replies in ``slots``.
    private var slotBytes = 0
    /// The categories of the streams that unanswered requests are about.
    private var slotCategories = Categories()
    /// Whether a request waits for something before it can be decided: nothing of the client's may overtake it, nor
    /// even be read, because a login decides how large it may be.
    private var isHeld = false
    /// Whether the client has logged in, or need not. If not, its requests have to be small.
    var isAuthenticated = true
    /// Whether the client may send what may be longer than other arguments.
    var mayBeLong = true

    init(limits: LineConfiguration, at now: UInt64) {
        self.limits = limits
        lastActivity = now
    }

    /// The version of the protocol that replies are written in.
    var version: ProtocolVersion {
        get { replies.version }
        set { replies.version = newValue }
    }

    /// Whether nothing more will be sent.
    var isClosing: Bool { phase == .closing || phase == .closed }

    /// The bytes of memory that unread requests and unsent replies take.
    var heldBytes: Int { input.capacity + replies.capacity + slotBytes }

    /// Whether every request has its reply.
    var isAnswered: Bool { slots.isEmpty }

    // MARK: Events

    /// Bytes have come. They have to stay where they are until ``next(pendingBytes:)`` says to wait.
    mutating func received(_ bytes: UnsafeRawBufferPointer, at now: UInt64) {
        lastActivity = now
        if input.isEmpty, phase == .reading { arrived = bytes } else { input.append(bytes) }
    }

    /// The client sends no more; it still gets its answers.
    mutating func peerEnded() { hasPeerEnded = true }

    /// Ends what ``postpone()`` began.
    mutating func resume() { if phase == .paused { phase = .reading } }

    /// The server stops: nothing more is executed.
    mutating func drain() { if !isClosing { phase = .draining } }

    /// Nothing more is executed or answered.
    mutating func close() { if !isClosing { phase = .closing } }

    /// Nothing more is executed, answered or sent.
    mutating func discard() {
        close()
        (slots, slotBytes) = ([], 0)
        replies = ReplyBuffer(version: version)
    }

    /// The replies have been handed to the connection.
    mutating func sent() {
        replies.removeAll(keepingCapacity: replies.capacity <= SessionMachine.keptCapacity)
    }

    // MARK: Steps

    /// What to do next.
    ///
    /// - Parameter pendingBytes: how many bytes wait for the client to read them.
    mutating func next(pendingBytes: Int) -> Step {
        consumed += requestLength
        requestLength = 0
        if replies.count >= limits.outputPause, phase != .closed { return .send }
        if phase == .reading || mayResume(pendingBytes), let step = nextRequest(pendingBytes) { return step }
        keepInput()
        switch phase {
        case .reading where !isReading:
            isReading = true
            return .startReading
        case .waiting where isReading && input.count >= inputPause, .full where isReading && input.count >= inputPause,
            .paused where isReading && input.count >= min(inputPause, SessionMachine.pausedInputPause),
            .draining where isReading && !input.isEmpty:
            isReading = false
            return .stopReading
        case .closed: return .wait
        case .reading, .waiting, .full, .paused, .draining, .closing: break
        }
        if !replies.isEmpty { return .send }
        if phase == .reading, hasPeerEnded, slots.isEmpty { phase = .closing }
        // The rest of the input is never executed. Closing now tells the client.
        if phase == .draining, slots.isEmpty, !input.isEmpty { phase = .closing }
        guard phase == .closing else { return .wait }
        phase = .closed
        return .close
    }

    private var inputPause: Int {
        isAuthenticated ? limits.inputPause : min(limits.inputPause, SessionMachine.unauthenticatedInputPause)
    }

    private func mayResume(_ pendingBytes: Int) -> Bool {
        switch phase {
        case .waiting: slots.isEmpty && pendingBytes < limits.outputPause
        case .full: pendingBytes < limits.outputPause
        case .reading, .paused, .draining, .closing, .closed: false
        }
    }

    private mutating func nextRequest(_ pendingBytes: Int) -> Step? {
        guard pendingBytes < limits.outputPause else {
            phase = .full
            return nil
        }
        guard !isHeld else {
            phase = .waiting
            return nil
        }
        phase = .reading
        if let malformed { return reject(malformed) }
        let bytes = arrived ?? input.bytes
        guard consumed < bytes.count else {
            partialSince = nil
            return nil
        }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[consumed...])
        switch parser.next(rest, within: limits.requestLimits, isAuthenticated: isAuthenticated, mayBeLong: mayBeLong) {
        case .request(let arguments, let length):
            requestLength = length
            partialSince = nil
            return .execute(arguments)
        case .incomplete(let skipped):
            consumed += skipped
            // More bytes of the same request do not make it younger.
            partialSince = consumed < bytes.count ? partialSince ?? lastActivity : nil
            return nil
        case .failure(let error):
            consumed = bytes.count
            return reject(error)
        }
    }

    private mutating func reject(_ error: ProtocolError) -> Step? {
        guard slots.isEmpty else {
            malformed = error
            phase = .waiting
            return nil
        }
        phase = .closing
        return .reject(error)
    }

    /// Keeps what is not done with, as its bytes may be gone after this turn.
    private mutating func keepInput() {
        if let arrived {
            self.arrived = nil
            input.append(UnsafeRawBufferPointer(rebasing: arrived[consumed...]))
        } else if consumed > 0 {
            input.consume(consumed)
            if input.isEmpty, input.capacity > SessionMachine.keptCapacity { input.removeAll(keepingCapacity: false) }
        }
        consumed = 0
    }

    // MARK: Requests and replies

    /// Executes nothing more until ``resume()``, so that others have their turn: the request of the last step comes
    /// again then.
    mutating func postpone() {
        requestLength = 0
        phase = .paused
    }

    /// Whether the request of the last step may be executed now. One that has to wait for the replies to earlier ones
    /// comes again once they are answered.
    mutating func admit(_ effect: CommandDeclaration.Effect) -> Bool {
        if slots.isEmpty { return true }
        if slots.count < limits.maximumPendingReplies, !slotCategories.contains(where: effect.waits) {
            return true
        }
        requestLength = 0
        phase = .waiting
        return false
    }

    /// Writes a reply in its turn.
    mutating func reply(_ write: (inout ReplyBuffer) -> Void) {
        guard !slots.isEmpty else { return write(&replies) }
        let bytes = encoded(write)
        slotBytes += bytes.count
        slots.append(bytes)
    }

    /// Adds a message that answers no request, encoded in ``version`` already.
    mutating func push(_ message: [UInt8]) {
        guard !isClosing else { return }
        message.withUnsafeBytes { replies.append(encoded: $0) }
    }

    /// Keeps the turn of a reply that is not known yet, and returns its number.
    ///
    /// - Parameters:
    ///   - category: the category of the stream that the request is about.
    ///   - isHolding: whether nothing more may be executed until the reply is known.
    mutating func promise(about category: StreamName.Category, isHolding: Bool) -> Int {
        slots.append(nil)
        slotCategories.insert(category)
        if isHolding { isHeld = true }
        return firstSlot + slots.count - 1
    }

    /// Gives the reply to a turn.
    mutating func fulfil(_ turn: Int, _ write: (inout ReplyBuffer) -> Void) {
        guard !isClosing else { return }
        let index = turn - firstSlot
        precondition(slots[index] == nil, "a reply given twice")
        guard index == 0 else {
            let bytes = encoded(write)
            slotBytes += bytes.count
            return slots[index] = bytes
        }
        write(&replies)
        var due = 1
        while due < slots.count, let bytes = slots[due] {
            bytes.withUnsafeBytes { replies.append(encoded: $0) }
            slotBytes -= bytes.count
            due += 1
        }
        firstSlot += due
        guard due == slots.count else { return slots.removeFirst(due) }
        // One alone, as nearly everywhere, is removed in less time than all.
        if due == 1 { slots.removeLast() } else { slots.removeAll(keepingCapacity: true) }
        slotCategories = Categories()
        isHeld = false
    }

    private func encoded(_ write: (inout ReplyBuffer) -> Void) -> [UInt8] {
        var buffer = ReplyBuffer(version: version)
        write(&buffer)
        return Array(buffer.bytes)
    }

    /// A set of categories that needs no memory of its own.
    private struct Categories {
        private var bits: UInt16 = 0

        mutating func insert(_ category: StreamName.Category) { bits |= 1 << category.number }

        func contains(where condition: (StreamName.Category) -> Bool) -> Bool {
            bits != 0 && StreamName.Category.allCases.contains { bits & 1 << $0.number != 0 && condition($0) }
        }
    }

    /// Why the connection is to be closed now, if the client has been silent, or in the middle of a request, for too
    /// long.
    ///
    /// - Parameter isListening: whether the client is subscribed to something, and so may be silent.
    func overdue(at now: UInt64, isListening: Bool) -> Disconnection? {
        let second: UInt64 = 1_000_000_000
        if let partialSince, now > partialSince, now - partialSince > limits.partialCommandSeconds * second {
            return .partial
        }
        guard slots.isEmpty, !isListening, now > lastActivity, now - lastActivity > limits.idleSeconds * second else {
            return nil
        }
        return .idle
    }
}
