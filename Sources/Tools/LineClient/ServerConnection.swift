package import EventLoop
package import LineProtocol

/// Something that commands are sent to and that answers them in order.
@LoopActor
package protocol CommandConnection: AnyObject {
    /// Puts a command on its way, without waiting.
    func enqueue(_ command: [String])

    /// The reply to the oldest command that is unanswered.
    func nextReply() async throws(ConnectionError) -> Reply
}

/// A connection whose replies are awaited one after the other: commands leave without waiting for earlier replies.
@LoopActor
package final class ServerConnection: CommandConnection, ReplyReceiver {
    /// How long the server may say nothing while a reply is awaited, in milliseconds.
    private static let silenceLimit: UInt64 = 30_000

    private let address: ServerAddress
    private let client: Client
    private var replies = Ring<Reply>()
    private var waiter: CheckedContinuation<Void, Never>?
    private var ending: ConnectionError?

    /// Connects to a server.
    package init(to server: ServerEndpoint) async throws(ConnectionError) {
        address = server.address
        do {
            client = try await Client.connect(to: server)
        } catch let error as LoginRefused {
            throw .refused(error.description)
        } catch {
            throw .unreachable(address, reason: (error as? LoopError)?.message ?? "\(error)")
        }
        client.onEnd = { [weak self] error, _ in self?.end(error) }
    }

    /// Closes the connection at once.
    package func close() { client.close() }

    /// Puts a command on its way, without waiting.
    package func enqueue(_ command: [String]) { client.send(to: self, tag: 0) { $0.write(command) } }

    /// The reply to the oldest command that is unanswered.
    package func nextReply() async throws(ConnectionError) -> Reply {
        while true {
            if let reply = replies.popFirst() { return reply }
            if let ending { throw ending }
            client.flush()
            let timer = LoopTimer(milliseconds: ServerConnection.silenceLimit) { [self] in
                ending = .lost(address, reason: "no answer for \(ServerConnection.silenceLimit / 1_000) seconds")
                client.close()
                wake()
            }
            // Flushing may have found that the connection is lost.
            await LoopActor.wait(unless: { !replies.isEmpty || ending != nil }) { waiter = $0 }
            timer.cancel()
        }
    }

    package func received(_ reply: Reply, tag: Int) {
        replies.append(reply)
        wake()
    }

    /// See `ReplyReceiver`. The end of the connection says it once, for all replies.
    package func lost(tag: Int) {}

    private func end(_ error: Client.Ending) {
        let reason =
            switch error {
            case nil: "the server closed it"
            case let error as LoopError: error.message
            case is ReplyError: "what answers does not speak RESP"
            case let error?: "\(error)"
            }
        ending = ending ?? .lost(address, reason: reason)
        wake()
    }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }
}
