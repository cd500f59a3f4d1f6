internal import EventLoop
internal import LineProtocol

/// Whoever waits for a reply.
@LoopActor
protocol ReplyReceiver: AnyObject {
    /// The reply has come. `tag` is what was given when the request was sent.
    func received(_ reply: Reply, tag: Int)
    /// The connection has ended without it: whether the request was executed is not known.
    func lost(tag: Int)
}

/// One connection: requests out, replies in the same order back, and messages beside them.
@LoopActor
final class Client {
    /// Why a connection ended; nil where a side closed in good order.
    typealias Ending = (any Error)?

    private struct Awaited {
        var receiver: any ReplyReceiver
        var tag: Int
    }

    var onPush: ((@LoopActor ([Reply]) -> Void))?
    /// Called once, last, after everybody who waited has been told.
    var onEnd: (@LoopActor (Ending) -> Void)?
    /// Called before the connection is cut in the middle of what the server sends.
    private var bytesUntilCut: Int?

    private let connection: TCPConnection
    private var writer = RequestWriter()
    private var parser = ReplyParser()
    private var awaited = Ring<Awaited>()
    private var hasEnded = false
    private var isReading = false

    private init(_ connection: TCPConnection) {
        self.connection = connection
    }

    static func connect(to address: ServerAddress) async throws -> Client {
        let client = Client(try await TCPConnection.connect(host: address.host, port: address.port))
        client.start()
        return client
    }

    private func start() {
        connection.onClose = { [self] error in end(error) }
        connection.onEnd = { [self] in connection.close() }
        read()
    }

    var isOpen: Bool { !hasEnded && connection.isOpen }

    /// How many replies are awaited.
    var awaitedCount: Int { awaited.count }

    // MARK: Sending

    /// Writes a request; it leaves with `flush()`.
    func send(to receiver: any ReplyReceiver, tag: Int, _ write: (inout RequestWriter) -> Void) {
        guard !hasEnded else { return receiver.lost(tag: tag) }
        write(&writer)
        awaited.append(Awaited(receiver: receiver, tag: tag))
    }

    func flush() {
        guard writer.count > 0 else { return }
        connection.write(writer.bytes)
        writer.consume(writer.count)
    }

    // MARK: Receiving

    private func read() {
        isReading = true
        connection.startReading { [self] bytes in receive(bytes) }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        if let rest = bytesUntilCut, bytes.count >= rest { return connection.close() }
        parser.append(bytes)
        do {
            while !hasEnded, let reply = try parser.next() {
                if case .push(let values) = reply {
                    onPush?(values)
                } else if let next = awaited.popFirst() {
                    next.receiver.received(reply, tag: next.tag)
                } else {
                    throw Unasked(reply: reply)
                }
            }
        } catch {
            end(error)
            connection.close()
        }
        flush()
    }

    /// A reply to nothing.
    struct Unasked: Error, CustomStringConvertible {
        var reply: Reply
        var description: String { "the server sent a reply that nobody had asked for: \(reply.summary)" }
    }

    private func end(_ error: Ending) {
        guard !hasEnded else { return }
        hasEnded = true
        while let next = awaited.popFirst() { next.receiver.lost(tag: next.tag) }
        let onEnd = onEnd
        (self.onEnd, onPush) = (nil, nil)
        onEnd?(error)
    }

    func close() {
        connection.close()
    }

    // MARK: Faults

    /// Sends all that waits but for its last bytes, and cuts the connection.
    func cutRequest() {
        let kept = max(1, writer.count / 3)
        connection.write(UnsafeRawBufferPointer(rebasing: writer.bytes.dropLast(kept)))
        connection.close()
    }

    /// Sends all that waits, and cuts the connection in the middle of what comes next.
    func cutReply() {
        flush()
        bytesUntilCut = 2
    }

    /// Sends all that waits and ends this side; the server still has to answer all of it.
    func endWriting() {
        flush()
        connection.endWriting()
    }

    /// Reads nothing for a while.
    func readSlowly(milliseconds: UInt64) {
        guard isReading, isOpen else { return }
        flush()
        isReading = false
        connection.stopReading()
        _ = LoopTimer(milliseconds: milliseconds) { [self] in if isOpen { read() } }
    }
}

extension Client {
    /// Sends a request and waits for its reply.
    func ask(_ words: [String]) async throws -> Reply {
        let question = Question()
        send(to: question, tag: 0) { $0.write(words) }
        flush()
        guard let reply = await question.answer() else { throw ConnectionLost() }
        return reply
    }

    /// The reply's text; an error reply is thrown.
    func text(_ words: String...) async throws -> String {
        let reply = try await ask(words)
        guard let text = reply.string else { throw UnexpectedReply(command: words[0], reply: reply.summary) }
        return text
    }
}

struct ConnectionLost: Error, CustomStringConvertible {
    var description: String { "the connection was lost" }
}

struct UnexpectedReply: Error, CustomStringConvertible {
    var command: String
    var reply: String
    var description: String { "\(command) was answered with \(reply)" }
}

/// One reply to wait for.
@LoopActor
final class Question: ReplyReceiver {
    private var outcome: Reply??
    private var waiter: CheckedContinuation<Reply?, Never>?

    func received(_ reply: Reply, tag: Int) { end(reply) }
    func lost(tag: Int) { end(nil) }

    /// nil where the connection ended first.
    func answer() async -> Reply? {
        if let outcome { return outcome }
        return await withCheckedContinuation { waiter = $0 }
    }

    private func end(_ reply: Reply?) {
        outcome = .some(reply)
        waiter?.resume(returning: reply)
        waiter = nil
    }
}
