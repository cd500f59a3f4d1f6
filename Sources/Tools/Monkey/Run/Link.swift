internal import EventLoop
internal import LineClient
internal import LineProtocol
internal import LoadOracle

/// A connection that some shoppers share. It is made again when it breaks.
@LoopActor
final class Link {
    /// How long to wait after a failed attempt, in milliseconds: at first, and at most.
    private static let firstPause: UInt64 = 5
    private static let longestPause: UInt64 = 500
    /// How long a connection whose client has ended its side may stay open after the last reply, in milliseconds.
    private static let timeToClose: UInt64 = 10_000

    private let index: Int
    private unowned let run: Run
    private let address: @LoopActor (Int) -> ServerEndpoint
    private var client: Client?
    private var isConnecting = false
    private var isClosed = false
    private var toSend: [Shopper] = []
    private var channels: Set<String> = []
    /// Channels to subscribe to again on the next connection.
    private var lostChannels: Set<String> = []
    /// The server at the other end; a different one after a restart.
    private var server: ServerProcess?
    /// Whether this side has ended: everything sent before has to be answered.
    private var hasEndedWriting = false
    /// Replies that did not come on a connection whose side this one had ended, and the server that owes them.
    private var owed: (count: Int, server: ServerProcess)?
    private var isDirty = false

    init(index: Int, run: Run, address: @escaping @LoopActor (Int) -> ServerEndpoint) {
        self.index = index
        self.run = run
        self.address = address
    }

    var isReady: Bool { client?.isOpen == true && !hasEndedWriting && !isConnecting }

    private func fault(_ check: Check, _ message: String) {
        run.observe(.connectionFault(Violation(check, message), at: LoopActor.now))
    }

    // MARK: Connecting

    func connect() async throws {
        isConnecting = true
        defer { isConnecting = false }
        let client = try await Client.connect(to: address(index))
        client.onPush = { [unowned self] in heard($0) }
        client.onEnd = { [unowned self] in ended($0, unanswered: $1) }
        self.client = client
        hasEndedWriting = false
        guard case .map = try await client.ask(["HELLO", "3"]) else {
            throw UnexpectedReply(command: "HELLO 3", reply: "not a map: it is not a server of this protocol")
        }
        server = ServerInfo(try await client.text("INFO", "server")).process(now: LoopActor.now)
        judgeHalfClose()
        listenAgain()
    }

    /// A killed server owes no replies; one that is still there does.
    private func judgeHalfClose() {
        guard let owed else { return }
        self.owed = nil
        guard let server, owed.server.isSame(as: server) else { return }
        fault(
            .halfClose,
            "the connection was closed without \(owed.count) replies to what was sent before the client ended its "
                + "side")
    }

    private func listenAgain() {
        for channel in lostChannels.sorted() {
            client?.send(to: Question(), tag: 0, isFollowedByPing: true) {
                $0.write(["SUBSCRIBE", channel])
                $0.write(["PING"])
            }
        }
        lostChannels = []
        client?.flush()
    }

    private func ended(_ error: Client.Ending, unanswered: Int) {
        if let error, !(error is LoopError) { fault(.answer, "\(error)") }
        let wasHalfClosed = hasEndedWriting && server != nil
        if wasHalfClosed, let server, unanswered > 0 { owed = (unanswered, server) }
        run.observe(.connectionEnded(connection: index, wasHalfClosed: wasHalfClosed))
        client = nil
        lostChannels.formUnion(channels)
        channels = []
        hasEndedWriting = false
        guard !isClosed, !isConnecting else { return }
        reconnect()
    }

    private func reconnect() {
        isConnecting = true
        LoopActor.task { [self] in
            var pause = Link.firstPause
            while !isClosed {
                do {
                    try await connect()
                    break
                } catch {
                    run.recorder.cannotConnect()
                    client?.close()
                    client = nil
                    isConnecting = true
                    await LoopTimer.pause(milliseconds: pause)
                    pause = min(pause * 2, Link.longestPause)
                }
            }
            isConnecting = false
            let waiting = toSend
            toSend = []
            for shopper in waiting { shopper.sendAgain() }
            flush()
        }
    }

    func close() {
        isClosed = true
        cut()
    }

    /// Closes at once: the server owes nothing more.
    private func cut() {
        hasEndedWriting = false
        client?.close()
    }

    // MARK: Sending

    func send(
        _ receiver: any ReplyReceiver, tag: Int, isFollowedByPing: Bool, _ write: (inout RequestWriter) -> Void
    ) {
        client?.send(to: receiver, tag: tag, isFollowedByPing: isFollowedByPing, write)
        guard !isDirty else { return }
        isDirty = true
        run.hasRequests(self)
    }

    /// Sends as soon as there is a connection.
    func waitToSend(_ shopper: Shopper) { toSend.append(shopper) }

    func flush() {
        isDirty = false
        client?.flush()
    }

    func make(_ fault: Chaos.ClientFault) {
        run.recorder.made(fault.name)
        switch fault {
        case .duplicate: break
        case .cutRequest: client?.cutRequest()
        case .cutReply: client?.cutReply()
        case .halfClose: endWriting()
        case .slowRead(let milliseconds): client?.readSlowly(milliseconds: milliseconds)
        }
    }

    private func endWriting() {
        hasEndedWriting = true
        client?.endWriting()
        _ = LoopTimer(milliseconds: Link.timeToClose) { [self, client] in
            guard let client, client.isOpen, client.awaitedCount == 0 else { return }
            fault(.halfClose, "everything was answered, and the connection stayed open long after")
            cut()
        }
    }

    // MARK: Messages

    private func heard(_ values: [Reply]) {
        guard values.count == 3, let channel = values[1].string else { return }
        switch values[0].string {
        case "subscribe":
            channels.insert(channel)
            run.observe(.subscription(connection: index, channel: channel, isOn: true))
        case "unsubscribe":
            channels.remove(channel)
            run.observe(.subscription(connection: index, channel: channel, isOn: false))
        default:
            guard case .bulk(let payload) = values[2] else { return }
            run.observe(.message(connection: index, channel: channel, at: LoopActor.now, payload: payload))
        }
    }
}
