internal import Application
internal import EventLoop
internal import HTTP
internal import Serving
internal import TextFormats

/// A stream of events: what a client listens to, from where it left off and without a gap.
///
/// A slow reader holds no memory: while too much waits for it, its topics are behind, and once it has read, one message
/// leads from what was sent last to what is.
@LoopActor
final class WebStream {
    /// `X-Accel-Buffering` has nginx pass on each event at once.
    static let fields: [(name: StaticString, value: String)] =
        [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")]
        + Fields.ofData

    /// What a client asks for: a topic, and the revision of the document that it has.
    struct Topic {
        var name: TopicName
        var revision: Int64?
        /// What its events are called, where the client's words say it.
        var event: String?
    }

    private enum State {
        /// Every message leads on from the one before it.
        case following
        /// The next message is one that leads from what the client has to now; those that come before it are not sent.
        case led
        /// Messages are not sent, because the reader is slow. The last one that was led to this revision.
        case behind(Int64)
    }

    /// Events of more bytes are handed to the system before the end of the turn.
    private static let longFrames = 64 << 10

    /// Whose stream it is, where these are counted.
    let owner: String
    /// Who listens.
    let identity: Identity
    private unowned let connection: WebConnection
    private let service: Server
    /// Whether what belongs to the visitor goes by the name of its kind alone.
    private let hidesOwnIDs: Bool
    private var subscriber: Subscriber!
    private let topics: [Topic]
    /// What the events of a channel are called, where the client's words say it.
    private var events: [String: String] = [:]
    private var states: [String: State] = [:]
    private var frames: [UInt8] = []

    /// - Throws: where a client listens to too much.
    init(
        _ topics: [Topic], of owner: String, for identity: Identity, hidesOwnIDs: Bool, on connection: WebConnection,
        _ service: Server
    ) throws(Failure) {
        self.owner = owner
        self.identity = identity
        self.connection = connection
        self.service = service
        self.hidesOwnIDs = hidesOwnIDs
        self.topics = topics
        subscriber = Subscriber(connection.id, of: identity.caller) { [unowned self] in receive($0) }
        for topic in topics {
            states[topic.name.channel] = .led
            events[topic.name.channel] = topic.event
        }
        _ = try service.topics.subscribe(subscriber, to: topics.map(\.name), within: identity.confinement)
    }

    /// Sends where the topics stand.
    func begin() {
        for topic in topics { lead(topic.name.channel, from: topic.revision) }
    }

    private func lead(_ channel: String, from revision: Int64?) {
        states[channel] = .led
        service.topics.lead(subscriber, on: channel, from: revision) { [weak self] message in
            guard let self, case .led = states[channel] else { return }
            states[channel] = .following
            receive(message)
        }
    }

    private func receive(_ message: TopicMessage) {
        switch states[message.channel] {
        case .following? where frames.count + connection.pendingBytes > connection.server.configuration.streamPause:
            states[message.channel] = .behind(lastRevision[message.channel] ?? 0)
            connection.server.statistics.passedOver += 1
        case .following?:
            lastRevision[message.channel] = message.revision
            frames += encoded(message)
            if frames.count >= WebStream.longFrames { send() } else { connection.needsWork() }
        case .behind?: connection.server.statistics.passedOver += 1
        case .led?, nil: break
        }
    }

    private func encoded(_ message: TopicMessage) -> [UInt8] {
        if let event = events[message.channel] { return EventStream.frame(event, message.data) }
        return message.encoded(as: hidesOwnIDs ? Format.short : Format.full) {
            EventStream.frame(name(of: message.channel), message.data)
        }
    }

    /// The revision that the last message of each topic led to.
    private var lastRevision: [String: Int64] = [:]

    /// What tells these encodings of a message from those of other fronts.
    private enum Format {
        static let full = 1_000
        static let short = 1_001
    }

    private func name(of channel: String) -> String {
        guard hidesOwnIDs, let kind = WebStream.ownKinds.first(where: { channel.hasPrefix("\($0):") }) else {
            return channel
        }
        return kind
    }

    /// The kinds of topics of which a visitor has one, so that no id is needed.
    static let ownKinds = ["cart", "cart_count"]

    /// Hands events to the system.
    func send() {
        guard !frames.isEmpty else { return }
        connection.write(frames)
        frames.removeAll(keepingCapacity: frames.capacity <= 4 << 10)
    }

    /// The reader has read everything: what is behind catches up.
    func drained() {
        for (channel, state) in states {
            if case .behind(let revision) = state { lead(channel, from: revision) }
        }
    }

    /// The connection is over.
    func end() {
        states = [:]
        service.clientEnded(subscriber)
        connection.server.streamEnded(of: owner)
    }
}
