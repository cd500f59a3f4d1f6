// A client of the line protocol on the event loop: requests out, replies in the same order back.
//
// The promise: every request ends once, with its reply or with the loss of the connection.

package import EventLoop
package import LineProtocol

/// The code that waits for a reply.
@LoopActor
package protocol ReplyReceiver: AnyObject {
    /// The reply has come. `tag` is what was given when the request was sent.
    func received(_ reply: Reply, tag: Int)
    /// The connection has ended without it: whether the request was executed is not known.
    func lost(tag: Int)
}

/// One connection: requests out, replies in the same order back, and messages beside them.
@LoopActor
package final class Client {
    /// Why a connection ended; nil where a side closed in good order.
    package typealias Ending = (any Error)?

    private struct Awaited {
        var receiver: any ReplyReceiver
        var tag: Int
        /// What is answered beside the replies is followed by a PING: where it is refused there are two replies.
        var isFollowedByPing: Bool
        var refusal: Reply?
    }

    /// How long the caller of one question waits for its answer, in milliseconds.
    package static let patience: UInt64 = 8_000

    /// Told of messages that answer no request: the values of a push frame.
    package var onPush: ((@LoopActor ([Reply]) -> Void))?
    /// Told how many bytes have come, before they are read. What comes after ``close()`` is not.
    package var onBytes: (@LoopActor (Int) -> Void)?
    /// Called once, last, after everybody who waited has been told: why, and how many replies were awaited.
    package var onEnd: (@LoopActor (Ending, Int) -> Void)?

    /// The socket.
    package let connection: TCPConnection
    private var writer = RequestWriter()
    private var parser = ReplyParser()
    private var awaited = Ring<Awaited>()
    private var hasEnded = false

    private init(_ connection: TCPConnection) {
        self.connection = connection
    }

    /// Connects, reads from then on, and logs in if a user is named.
    package static func connect(to server: ServerEndpoint) async throws -> Client {
        let (host, port) = (server.address.host, server.address.port)
        let connection =
            if let tls = server.tls {
                try await TCPConnection.connect(host: host, port: port, tls: tls)
            } else {
                try await TCPConnection.connect(host: host, port: port)
            }
        let client = Client(connection)
        client.start()
        if let login = server.login {
            let reply = try await client.ask(["AUTH", login.user, login.password])
            if case .error(let code, let message) = reply {
                client.close()
                throw LoginRefused(description: "\(code) \(message)")
            }
        }
        return client
    }

    private func start() {
        connection.onClose = { [self] error in end(error) }
        connection.onEnd = { [self] in connection.close() }
        read()
    }

    /// Whether requests can be sent.
    package var isOpen: Bool { !hasEnded && connection.isOpen }

    /// What leaves with ``flush()``.
    package var unsent: UnsafeRawBufferPointer { writer.bytes }

    /// How many replies are awaited.
    package var awaitedCount: Int { awaited.count }

    // MARK: Sending

    /// Writes a request; it leaves with `flush()`.
    ///
    /// - Parameter isFollowedByPing: whether it is answered beside the replies, and a PING follows it.
    package func send(
        to receiver: any ReplyReceiver, tag: Int, isFollowedByPing: Bool = false,
        _ write: (inout RequestWriter) -> Void
    ) {
        guard !hasEnded else { return receiver.lost(tag: tag) }
        write(&writer)
        awaited.append(Awaited(receiver: receiver, tag: tag, isFollowedByPing: isFollowedByPing))
    }

    /// Lets what was written leave.
    package func flush() {
        guard writer.count > 0 else { return }
        connection.write(writer.bytes)
        writer.consume(writer.count)
    }

    // MARK: Receiving

    /// Reads from now on.
    package func read() {
        connection.startReading { [self] bytes in receive(bytes) }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        onBytes?(bytes.count)
        guard connection.isOpen else { return }
        parser.append(bytes)
        do {
            while !hasEnded, let reply = try parser.next() {
                if case .push(let values) = reply {
                    onPush?(values)
                } else if case .error = reply, let next = awaited.first, next.isFollowedByPing, next.refusal == nil {
                    awaited.changeFirst { $0.refusal = reply }
                } else if let next = awaited.popFirst() {
                    next.receiver.received(next.refusal ?? reply, tag: next.tag)
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
    package struct Unasked: Error, CustomStringConvertible {
        var reply: Reply
        /// What came, for an operator.
        package var description: String { "the server sent a reply that nobody had asked for: \(reply.summary)" }
    }

    private func end(_ error: Ending) {
        guard !hasEnded else { return }
        hasEnded = true
        let unanswered = awaited.count
        while let next = awaited.popFirst() { next.receiver.lost(tag: next.tag) }
        let onEnd = onEnd
        (self.onEnd, onPush, onBytes) = (nil, nil, nil)
        onEnd?(error, unanswered)
    }

    /// Closes at once. Every request that waits ends with the loss of the connection.
    package func close() { connection.close() }
}

extension Client {
    /// Sends a request and waits for its reply.
    package func ask(_ words: [String]) async throws -> Reply {
        let question = Question()
        send(to: question, tag: 0) { $0.write(words) }
        flush()
        return try await answer(to: question)
    }

    /// The answer to a question that was sent; if none comes in time, the connection is closed.
    package func answer(to question: Question) async throws -> Reply {
        let timer = LoopTimer(milliseconds: Client.patience) { [self] in close() }
        defer { timer.cancel() }
        guard let reply = await question.answer() else { throw ConnectionLost() }
        return reply
    }

    /// The reply's text; an error reply is thrown.
    package func text(_ words: String...) async throws -> String {
        let reply = try await ask(words)
        guard let text = reply.string else { throw UnexpectedReply(command: words[0], reply: reply.summary) }
        return text
    }
}

/// The server did not let a user in.
package struct LoginRefused: Error, CustomStringConvertible {
    /// What it said.
    package let description: String
}

/// The connection ended before the reply.
package struct ConnectionLost: Error, CustomStringConvertible {
    /// Nothing came.
    package init() {}

    /// That it was lost.
    package var description: String { "the connection was lost, or nothing answered" }
}

/// A reply that is none to its command.
package struct UnexpectedReply: Error, CustomStringConvertible {
    /// The command's name.
    package var command: String
    /// What came, shortened.
    package var reply: String

    /// A reply that is none to its command.
    package init(command: String, reply: String) {
        self.command = command
        self.reply = reply
    }

    /// The command and what it was answered with.
    package var description: String { "\(command) was answered with \(reply)" }
}

/// One reply to wait for.
@LoopActor
package final class Question: ReplyReceiver {
    private var outcome: Reply??
    private var waiter: CheckedContinuation<Void, Never>?

    /// A reply to wait for.
    package init() {}

    package func received(_ reply: Reply, tag: Int) { end(reply) }
    package func lost(tag: Int) { end(nil) }

    /// nil where the connection ended first.
    package func answer() async -> Reply? {
        await LoopActor.wait(unless: { outcome != nil }) { waiter = $0 }
        return outcome ?? nil
    }

    private func end(_ reply: Reply?) {
        outcome = .some(reply)
        waiter?.resume()
        waiter = nil
    }
}
