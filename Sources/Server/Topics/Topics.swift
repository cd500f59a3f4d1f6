internal import Domain
internal import EventLog
internal import EventLoop
internal import JSONText

/// Who listens to what. Tells subscribers of every change, in order and without a gap: what a message leads from
/// is what the one before it led to.
///
/// Nothing is done for what nobody listens to. A change is told in the turn of the loop in which it was committed,
/// and those that follow it closely are told together. However many listen, a document is made, compared and
/// encoded once.
@LoopActor
final class Topics {
    /// The time between two messages of a topic, in nanoseconds: at most 20 a second.
    private static let interval: UInt64 = 50_000_000
    /// A topic rests for so many times as long as its last message took: one whose document is huge cannot take
    /// the loop for itself.
    private static let restFactor: UInt64 = 4
    /// How long documents are made in one turn of the loop, in nanoseconds; then others have theirs.
    private static let slice: UInt64 = 5_000_000
    /// When a document is asked for again that could not be loaded, in nanoseconds.
    private static let retryInterval: UInt64 = 1_000_000_000

    private let engine: Engine
    private let configuration: Configuration
    private var topics: [String: Topic] = [:]
    private var listeners: [TopicSource: Set<Topic>] = [:]
    /// How many subscriptions there are, of all clients.
    private(set) var subscriptionCount = 0

    /// Sources with listeners that have changed in this turn.
    private var changed: Set<TopicSource> = []
    /// Topics whose documents are to be made now …
    private var due: [Topic] = []
    /// … and later.
    private var held: [Topic] = []
    private var heldUntil = UInt64.max
    private var timer: (due: UInt64, timer: LoopTimer)?

    init(_ engine: Engine, _ changes: ChangeFeed, _ configuration: Configuration) {
        self.engine = engine
        self.configuration = configuration
        changes.observe { [unowned self] stream in
            guard !listeners.isEmpty else { return }
            changed(.stream(stream))
            changed(.every(stream.category))
        }
    }

    /// The number of topics that somebody listens to.
    var count: Int { topics.count }

    /// Something has changed that documents may be made of. Streams are told of by the ``ChangeFeed``.
    func changed(_ source: TopicSource) {
        if listeners[source] != nil { changed.insert(source) }
    }

    // MARK: Subscribers

    /// Subscribes a session to topics. Nothing happens where it would have too many.
    ///
    /// - Returns: the number of its subscriptions after each of them.
    func subscribe(_ session: Session, to names: [TopicName]) throws(Failure) -> [Int] {
        let added = Set(names.lazy.map(\.channel).filter { session.subscriptions[$0] == nil }).count
        guard session.subscriptions.count + added <= configuration.subscriptionsPerClient else {
            throw Failure("LIMIT", "a client has at most \(configuration.subscriptionsPerClient) subscriptions")
        }
        guard subscriptionCount + added <= configuration.subscriptions else {
            throw Failure("BUSY", "all clients together have \(configuration.subscriptions) subscriptions; try again")
        }
        subscriptionCount += added
        return names.map { name in
            let topic = topics[name.channel] ?? Topic(name)
            topics[name.channel] = topic
            topic.subscribers[session.id] = session
            session.subscriptions[name.channel] = topic
            return session.subscriptions.count
        }
    }

    /// Tells a session where the topics stand that it has subscribed to.
    func greet(_ session: Session, about names: [TopicName]) {
        var greeted: Set<String> = []
        for name in names where greeted.insert(name.channel).inserted {
            guard let topic = topics[name.channel] else { continue }
            if let failure = topic.failure {
                send(Topics.message(of: topic, failure), to: [session])
            } else if let told = topic.told {
                send(Topics.greeting(of: topic, told), to: [session])
            } else {
                enqueue(topic)
            }
        }
    }

    /// Ends a subscription, if there is one.
    func unsubscribe(_ session: Session, from channel: String) {
        guard let topic = session.subscriptions.removeValue(forKey: channel) else { return }
        subscriptionCount -= 1
        topic.subscribers[session.id] = nil
        guard topic.subscribers.isEmpty else { return }
        topics[channel] = nil
        listen(topic, to: [])
    }

    /// Ends every subscription of a session.
    func unsubscribe(_ session: Session) {
        for channel in session.subscriptions.keys { unsubscribe(session, from: channel) }
    }

    /// Follows the sources of a topic's document instead of those it had.
    private func listen(_ topic: Topic, to sources: [TopicSource]) {
        guard topic.sources != sources else { return }
        for source in topic.sources {
            listeners[source]?.remove(topic)
            if listeners[source]?.isEmpty ?? false { listeners[source] = nil }
        }
        for source in sources { listeners[source, default: []].insert(topic) }
        topic.sources = sources
    }

    // MARK: Publishing

    /// Tells of what has changed, as far as it is due. Called at the end of every turn of the loop. Returns whether
    /// documents were asked for, so that streams may have to be loaded.
    func publish() -> Bool {
        guard !changed.isEmpty || !due.isEmpty || !held.isEmpty else { return false }
        for source in changed { listeners[source]?.forEach(enqueue) }
        changed.removeAll()
        let began = LoopActor.now
        takeHeld(at: began)
        var done = 0
        while done < due.count, done == 0 || LoopActor.now - began < Topics.slice {
            render(due[done])
            done += 1
        }
        due.removeFirst(done)
        for topic in due { topic.wasHeldBack = true }
        if !due.isEmpty { wake(at: began) } else if !held.isEmpty { wake(at: heldUntil) }
        return done > 0
    }

    func stop() {
        timer?.timer.cancel()
        timer = nil
    }

    private func enqueue(_ topic: Topic) {
        guard !topic.isQueued else { return }
        topic.isQueued = true
        guard topic.notBefore > LoopActor.now else { return due.append(topic) }
        topic.wasHeldBack = true
        held.append(topic)
        heldUntil = min(heldUntil, topic.notBefore)
    }

    private func takeHeld(at now: UInt64) {
        guard heldUntil <= now else { return }
        due += held.filter { $0.notBefore <= now }
        held.removeAll { $0.notBefore <= now }
        heldUntil = held.lazy.map(\.notBefore).min() ?? .max
    }

    /// Makes sure that the loop has a turn then.
    private func wake(at time: UInt64) {
        if let timer, timer.due <= time { return }
        timer?.timer.cancel()
        let now = LoopActor.now
        let milliseconds = time > now ? (time - now + 999_999) / 1_000_000 : 0
        timer = (time, LoopTimer(milliseconds: milliseconds) { [unowned self] in timer = nil })
    }

    private func render(_ topic: Topic) {
        topic.isQueued = false
        guard !topic.subscribers.isEmpty else { return }
        guard !topic.isRendering else { return topic.isOutdated = true }
        topic.isRendering = true
        topic.kind.render(engine, topic.id) { [weak self] in self?.rendered(topic, $0) }
        if topic.isRendering { topic.wasHeldBack = true }
    }

    /// The document is there; maybe in the middle of the processor's work, so nothing is asked of it here.
    private func rendered(_ topic: Topic, _ result: Result<TopicDocument, Failure>) {
        topic.isRendering = false
        guard !topic.subscribers.isEmpty else { return }
        switch result {
        case .success(let document): tell(topic, document)
        case .failure(let failure) where failure.code == "CORRUPT":
            if topic.failure == nil { send(Topics.message(of: topic, failure), to: topic.subscribers.values) }
            topic.failure = failure
        case .failure:
            // Too much is waiting, or the log is out of reach.
            topic.notBefore = LoopActor.now + Topics.retryInterval
            topic.isOutdated = true
        }
        guard topic.isOutdated else { return }
        topic.isOutdated = false
        topic.wasHeldBack = true
        enqueue(topic)
        if !held.isEmpty { wake(at: heldUntil) }
    }

    // MARK: Messages

    private static let emptyPatch = Array("[]".utf8)

    private func tell(_ topic: Topic, _ document: TopicDocument) {
        let began = LoopActor.now
        listen(topic, to: document.sources)
        let (old, hadFailed, wasHeldBack) = (topic.told, topic.failure != nil, topic.wasHeldBack)
        topic.told = document
        topic.failure = nil
        topic.wasHeldBack = false
        guard let old else {
            return send(Topics.greeting(of: topic, document), to: topic.subscribers.values)
        }
        let isOther = old.revision != document.revision || old.json != document.json
        // Who read the document meanwhile cannot tell by its revision whether the patch is in it already.
        let isAmbiguous = !topic.kind.isRevisionWhole && (wasHeldBack || isOther && old.revision == document.revision)
        let isWhole = hadFailed || isAmbiguous
        guard isWhole || isOther else { return }
        let patch = isWhole ? nil : try? JSONPatch.bytes(from: old.json, to: document.json)
        let message = Topics.message(
            of: topic, from: old.revision, to: document.revision,
            configuration.sent(patch ?? JSONPatch.replacement(with: document.json)))
        send(message, to: topic.subscribers.values)
        let now = LoopActor.now
        topic.notBefore = now + max(Topics.interval, Topics.restFactor * (now - began))
    }

    private func send(_ message: TopicMessage, to sessions: some Sequence<Session>) {
        var message = message
        for session in sessions { session.push(message.frame(in: session.version)) }
    }

    private static func greeting(of topic: Topic, _ document: TopicDocument) -> TopicMessage {
        message(
            of: topic, from: document.revision, to: document.revision,
            topic.kind.greetsWithDocument ? JSONPatch.replacement(with: document.json) : emptyPatch)
    }

    private static func message(of topic: Topic, from: Int64, to: Int64, _ patch: [UInt8]) -> TopicMessage {
        TopicMessage(
            channel: topic.channel,
            data: ChangeDocument.bytes(of: topic.id, named: topic.kind.member, from: from, to: to, patch: patch))
    }

    private static func message(of topic: Topic, _ failure: Failure) -> TopicMessage {
        TopicMessage(
            channel: topic.channel,
            data: ChangeDocument.bytes(
                of: topic.id, named: topic.kind.member, at: topic.told?.revision ?? 0, failure: failure))
    }
}
