internal import EventLoop
internal import LineClient
internal import LineProtocol

/// A connection that is made again when it breaks, shared by some shoppers.
@LoopActor
final class Link {
    /// How long after a failed attempt it is tried again, in milliseconds: at first, and at most.
    private static let firstPause: UInt64 = 5
    private static let longestPause: UInt64 = 500
    /// The most channels that a server lets one client listen to.
    private static let channelLimit = 1_000

    private unowned let run: Run
    private let address: @LoopActor () -> ServerAddress
    private var client: Client?
    private var isConnecting = false
    private var isClosed = false
    private var toSend: [Shopper] = []
    private var followers: [String: Follower] = [:]
    /// What is to be listened to again on the next connection.
    private var lostChannels: Set<String> = []
    /// The server at the other end; another one after it was started anew.
    private var server: ServerProcess?
    /// This side has ended: everything sent before has to be answered.
    private var hasEndedWriting = false
    /// Replies that did not come on a connection whose side this one had ended, and the server they did not come from.
    private var owed: (count: Int, server: ServerProcess)?
    private var isDirty = false

    init(run: Run, address: @escaping @LoopActor () -> ServerAddress) {
        self.run = run
        self.address = address
    }

    var isReady: Bool { client?.isOpen == true && !hasEndedWriting && !isConnecting }

    // MARK: Connecting

    func connect() async throws {
        isConnecting = true
        defer { isConnecting = false }
        let client = try await Client.connect(to: address())
        client.onPush = { [unowned self] in heard($0) }
        client.onEnd = { [unowned self] in ended($0) }
        self.client = client
        hasEndedWriting = false
        guard case .map = try await client.ask(["HELLO", "3"]) else {
            throw UnexpectedReply(command: "HELLO 3", reply: "no map: it is not a server of this protocol")
        }
        server = ServerInfo(try await client.text("INFO", "server")).process(now: LoopActor.now)
        judgeHalfClose()
        listenAgain()
    }

    /// A server that was killed owes no replies; one that is still there does.
    private func judgeHalfClose() {
        guard let owed else { return }
        self.owed = nil
        guard let server, owed.server.isSame(as: server) else { return }
        run.violated(
            Violation(
                .halfClose,
                "the connection was closed with \(owed.count) replies to what was sent before its client "
                    + "ended its side"))
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

    private func ended(_ error: Client.Ending) {
        if let error, !(error is LoopError) {
            run.violated(Violation(.answer, "\(error)"))
        }
        if hasEndedWriting, let client, !client.isCut, let server {
            run.oracle.count(.halfClose)
            if client.unanswered > 0 { owed = (client.unanswered, server) }
        }
        client = nil
        lostChannels.formUnion(followers.keys)
        followers = [:]
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

    /// As soon as there is a connection.
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
        case .halfClose:
            hasEndedWriting = true
            client?.endWriting { [unowned run] in
                run.violated(
                    Violation(.halfClose, "everything was answered, and the connection was not closed long after"))
            }
        case .slowRead(let milliseconds): client?.readSlowly(milliseconds: milliseconds)
        }
    }

    // MARK: Following

    private func heard(_ values: [Reply]) {
        guard values.count == 3, let channel = values[1].string else { return }
        switch values[0].string {
        case "subscribe": if followers[channel] == nil { followers[channel] = Follower(channel) }
        case "unsubscribe": followers[channel] = nil
        default: heard(values[2], of: channel)
        }
    }

    private func heard(_ payload: Reply, of channel: String) {
        guard let bytes = payload.bytes, followers[channel] != nil else { return }
        guard let message = JSON(bytes) else {
            return run.violated(
                Violation(.messages, "\(channel) sent what is no JSON: \(payload.summary)"))
        }
        run.oracle.count(.messages)
        check(channel) { follower throws(Violation) in try follower.heard(message, payload.summary) }
    }

    /// A document was read whole on this connection.
    func read(_ channel: String, _ revision: Int64, _ document: () -> JSON) throws(Violation) {
        guard followers[channel]?.hasBegun == true else { return }
        let document = document()
        check(channel) { follower throws(Violation) in try follower.read(document, revision: revision) }
    }

    /// A cart was read; whoever follows it compares.
    func readCart(_ bytes: [UInt8], _ cart: String, version: Int) {
        let channel = "cart:\(cart)"
        guard followers[channel]?.hasBegun == true, let document = JSON(bytes) else { return }
        check(channel) { follower throws(Violation) in
            try follower.read(document, revision: Int64(version))
        }
    }

    private func check(_ channel: String, _ body: (inout Follower) throws(Violation) -> Bool) {
        guard var follower = followers.removeValue(forKey: channel) else { return }
        do throws(Violation) {
            if try body(&follower) { run.oracle.count(.patch) }
            followers[channel] = follower
        } catch {
            run.violated(error, follower.history)
        }
    }

    /// Channels whose messages have not told yet of what was read.
    var channelsBehind: [Follower] { followers.values.filter { $0.behind != nil } }

    /// Whether it may be refused to listen to one more.
    var hasManyChannels: Bool { followers.count >= Link.channelLimit }
}
