internal import EventLog
internal import EventLoop
internal import LineProtocol

/// One client: its bytes in, its commands in order, and its replies in the same order.
///
/// A write's reply waits until it is durable; later writes of the client need not wait for that, and a read
/// does, so that it sees what the client wrote before. Replies of one turn of the loop leave in one write.
@LoopActor
final class Session {
    /// From so many unread bytes on, nothing more is read from a client whose commands have to wait.
    static let inputPause = 1 << 20
    /// The most commands of a client that may be on their way. Without it, one client that sends writes without
    /// an end could take all the room that there is for waiting commands.
    static let maximumSlots = 1_000
    /// The memory that an emptied buffer keeps.
    private static let keptCapacity = 64 << 10

    let id: Int64
    let connection: TCPConnection
    let server: Server
    let connectedAt: UInt64
    var name = ""
    var clientLibrary = (name: "", version: "")
    var lastCommand = ""
    /// What the client listens to, by channel; kept by ``Topics``.
    var subscriptions: [String: Topic] = [:]
    private(set) var commandCount = 0
    private(set) var lastActivity: UInt64

    private var parser = RequestParser()
    private var input = ByteBuffer()
    private(set) var replies = ReplyBuffer(capacity: 256)
    /// Replies that are not due yet because an earlier one is not known; nil where not known itself.
    private var slots: [[UInt8]?] = []
    private var firstSlot = 0
    /// The kinds of streams that commands whose replies are not known are about.
    private var slotCategories: Set<StreamName.Category> = []
    /// Whether a command waits for something before it can be decided: nothing of the client's may overtake it.
    private var isHeld = false
    /// The command that is being executed, until it has been counted or has promised a reply.
    private var executing: Int?
    /// When it began. The clock is read once a command: where one ends, the next begins.
    private var executingSince: UInt64 = 0
    /// Since when a command has begun and not ended.
    private var partialSince: UInt64?
    /// What cannot be read as a request: told when everything before it has been answered.
    private var protocolError: ProtocolError?
    private var isPaused = false
    private var isStopped = false
    private var isReadingStopped = false
    private var hasPeerEnded = false
    private(set) var isClosing = false

    init(id: Int64, _ connection: TCPConnection, of server: Server) {
        self.id = id
        self.connection = connection
        self.server = server
        connectedAt = LoopActor.now
        lastActivity = connectedAt
    }

    func start() {
        connection.outgoingLimit = server.configuration.outputLimit
        connection.onEnd = { [self] in
            hasPeerEnded = true
            closeWhenAnswered()
        }
        connection.onDrain = { [self] in resume() }
        connection.onClose = { [self] failure in
            isClosing = true
            if let failure { server.logger.debug("client \(id): \(failure)") }
            server.sessionEnded(self)
        }
        connection.startReading { [self] bytes in received(bytes) }
    }

    /// The version of the protocol that replies are written in.
    var version: ProtocolVersion {
        get { replies.version }
        set { replies.version = newValue }
    }

    /// Whether the client listens to channels in RESP2: a message then looks like a reply, and it may not send what
    /// is answered otherwise.
    var mayOnlyListen: Bool { version == .resp2 && !subscriptions.isEmpty }

    // MARK: Input

    private func received(_ bytes: UnsafeRawBufferPointer) {
        lastActivity = LoopActor.now
        executingSince = lastActivity
        if input.isEmpty, !isPaused {
            let consumed = execute(bytes)
            input.append(UnsafeRawBufferPointer(rebasing: bytes[consumed...]))
        } else {
            input.append(bytes)
            executeInput()
        }
        flush()
    }

    /// Goes on with commands that had to wait.
    private func resume() {
        guard isPaused, mayExecute else { return }
        isPaused = false
        executingSince = LoopActor.now
        if protocolError != nil { return endInError() }
        executeInput()
        flush()
        if isReadingStopped, !isPaused, !isClosing {
            isReadingStopped = false
            connection.startReading { [self] bytes in received(bytes) }
        }
        closeWhenAnswered()
    }

    private func executeInput() {
        guard !isPaused else { return stopReadingIfFull() }
        input.consume(execute(input.bytes))
        if input.isEmpty, input.capacity > Session.keptCapacity { input.removeAll(keepingCapacity: false) }
        stopReadingIfFull()
    }

    private func stopReadingIfFull() {
        guard isPaused, input.count >= Session.inputPause, !isReadingStopped else { return }
        isReadingStopped = true
        connection.stopReading()
    }

    private var mayExecute: Bool {
        slots.isEmpty && !isStopped && connection.pendingBytes < server.configuration.outputPause
    }

    /// Executes the requests in the bytes, as far as they go, and returns how many bytes are done with.
    private func execute(_ bytes: UnsafeRawBufferPointer) -> Int {
        var consumed = 0
        let begun = partialSince
        partialSince = nil
        while !isClosing, !isStopped {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[consumed...])
            switch parser.next(rest, within: server.configuration.requestLimits) {
            case .request(let arguments, let length):
                guard execute(arguments) else {
                    isPaused = true
                    return consumed
                }
                consumed += length
                if replies.count >= server.configuration.outputPause {
                    flush()
                    if !mayExecute, slots.isEmpty {
                        isPaused = true
                        return consumed
                    }
                    executingSince = LoopActor.now
                }
            case .incomplete(let skipped):
                consumed += skipped
                // More bytes of the same command do not make it younger.
                if consumed < bytes.count { partialSince = consumed == 0 ? begun ?? lastActivity : lastActivity }
                return consumed
            case .failure(let error):
                protocolError = error
                if slots.isEmpty { endInError() } else { isPaused = true }
                return bytes.count
            }
        }
        return consumed
    }

    /// Executes one request, or returns false where it has to wait for earlier ones.
    private func execute(_ arguments: Arguments) -> Bool {
        let table = CommandTable.shared
        guard let index = table.index(of: arguments[0]) else {
            unknown(arguments)
            return true
        }
        let command = table.commands[index]
        if isHeld || slots.count >= Session.maximumSlots || slotCategories.contains(where: command.effect.waits) {
            return false
        }
        commandCount += 1
        executing = index
        do throws(Failure) {
            try check(arguments, of: command)
            lastCommand = command.name
            try command.run(self, arguments)
            executed(hasFailed: false)
        } catch {
            fail(error)
            executed(hasFailed: true)
        }
        return true
    }

    private func check(_ arguments: Arguments, of command: Command) throws(Failure) {
        guard arguments.count >= command.minimumWords, arguments.count <= command.maximumWords ?? .max else {
            throw .wordCount(of: command.name)
        }
        guard command.isForSubscribers || !mayOnlyListen else {
            throw Failure(
                "ERR",
                "Can't execute '\(command.name.lowercased())': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / "
                    + "QUIT / RESET are allowed in this context")
        }
    }

    /// A command is over as far as this turn goes: it is counted where its reply is made.
    private func executed(hasFailed: Bool) {
        let now = LoopActor.now
        if let command = executing {
            server.statistics.count(command, nanoseconds: now - executingSince, hasFailed: hasFailed)
        }
        executing = nil
        executingSince = now
    }

    private func unknown(_ arguments: Arguments) {
        let name = arguments[0].bytes
        if arguments[0].equals(caseInsensitive: "POST") || arguments[0].equals(caseInsensitive: "Host:") {
            server.logHTTPAttempt(by: self)
            return close()
        }
        let quoted = arguments.dropFirst().prefix(20).map {
            "'\(String(decoding: $0.bytes.prefix(128), as: UTF8.self))' "
        }
        fail(
            Failure(
                "ERR",
                "unknown command '\(String(decoding: name.prefix(128), as: UTF8.self))', "
                    + "with args beginning with: \(quoted.joined())"))
    }

    // MARK: Replies

    /// Writes a reply in its turn.
    func reply(_ write: (inout ReplyBuffer) -> Void) {
        guard !slots.isEmpty else { return write(&replies) }
        var buffer = ReplyBuffer(version: version)
        write(&buffer)
        slots.append(Array(buffer.bytes))
    }

    /// Sends a message that answers no request. It is encoded already, in ``version``.
    func push(_ frame: [UInt8]) {
        guard !isClosing else { return }
        frame.withUnsafeBytes { replies.append(encoded: $0) }
        if replies.count >= server.configuration.outputPause { flush() }
        server.hasReplies(self)
    }

    func fail(_ failure: Failure) {
        server.statistics.errors += 1
        reply { $0.error(failure.code, failure.message) }
    }

    /// Keeps the turn of the reply to the command that is being executed.
    func promise(about category: StreamName.Category) -> PromisedReply {
        guard let command = executing else { preconditionFailure("a reply promised twice, or to no command") }
        executing = nil
        let slot = firstSlot + slots.count
        slots.append(nil)
        slotCategories.insert(category)
        return PromisedReply(session: self, slot: slot, command: command, began: executingSince)
    }

    /// As ``promise(about:)``, of a command that is not decided yet: nothing more is executed until its reply is given.
    func promiseHolding(about category: StreamName.Category) -> PromisedReply {
        isHeld = true
        return promise(about: category)
    }

    fileprivate func fulfil(_ slot: Int, _ write: (inout ReplyBuffer) -> Void) {
        let index = slot - firstSlot
        precondition(slots[index] == nil, "a reply was given twice")
        if index > 0 {
            var buffer = ReplyBuffer(version: version)
            write(&buffer)
            slots[index] = Array(buffer.bytes)
            return
        }
        write(&replies)
        var due = 1
        while due < slots.count, let bytes = slots[due] {
            bytes.withUnsafeBytes { replies.append(encoded: $0) }
            due += 1
        }
        slots.removeFirst(due)
        firstSlot += due
        if slots.isEmpty {
            slotCategories = []
            isHeld = false
        }
        server.hasReplies(self)
    }

    /// Sends what is due, and goes on with commands that waited for it.
    func finishTurn() {
        flush()
        resume()
        closeWhenAnswered()
    }

    private func flush() {
        guard !replies.isEmpty else { return }
        connection.write(replies.bytes)
        replies.removeAll(keepingCapacity: replies.capacity <= Session.keptCapacity)
    }

    // MARK: The end

    /// Sends what is due and closes; whatever else the client asked is not executed.
    func close() {
        guard !isClosing else { return }
        flush()
        isClosing = true
        server.topics.unsubscribe(self)
        connection.closeAfterWrites()
    }

    private func endInError() {
        if let protocolError { fail(Failure("ERR", protocolError.message)) }
        close()
    }

    /// Executes nothing more: what is on its way is still answered.
    func stopExecuting() {
        isStopped = true
        isPaused = true
        connection.stopReading()
    }

    /// The client sends no more: it still gets its answers.
    private func closeWhenAnswered() {
        if hasPeerEnded, slots.isEmpty, !isPaused { close() }
    }

    /// Closes the connection where the client has been silent, or in the middle of a command, for too long.
    func closeIfOverdue(at now: UInt64) {
        let second: UInt64 = 1_000_000_000
        let configuration = server.configuration
        if let partialSince, now - partialSince > configuration.partialCommandSeconds * second {
            close(saying: "a command took more than \(configuration.partialCommandSeconds) seconds to arrive")
        } else if slots.isEmpty, subscriptions.isEmpty, now > lastActivity,
            now - lastActivity > configuration.idleSeconds * second
        {
            close(saying: "the connection was idle for more than \(configuration.idleSeconds) seconds")
        }
    }

    private func close(saying reason: String) {
        server.logger.debug("client \(id): \(reason)")
        fail(Failure("ERR", reason))
        close()
    }
}

/// A reply that is not known yet, with its turn and the command that it answers. It is given once, with ``fulfil(_:)``
/// or ``fail(_:)``; the command is counted then, even where nobody waits for it any more.
@LoopActor
struct PromisedReply {
    private weak var session: Session?
    private let server: Server
    private let slot: Int
    private let command: Int
    private let began: UInt64

    fileprivate init(session: Session, slot: Int, command: Int, began: UInt64) {
        self.session = session
        server = session.server
        self.slot = slot
        self.command = command
        self.began = began
    }

    /// Gives the reply.
    func fulfil(_ write: (inout ReplyBuffer) -> Void) { fulfil(hasFailed: false, write) }

    /// Gives an error.
    func fail(_ failure: Failure) {
        server.statistics.errors += 1
        fulfil(hasFailed: true) { $0.error(failure.code, failure.message) }
    }

    private func fulfil(hasFailed: Bool, _ write: (inout ReplyBuffer) -> Void) {
        session?.fulfil(slot, write)
        server.statistics.count(command, nanoseconds: LoopActor.now - began, hasFailed: hasFailed)
    }
}
