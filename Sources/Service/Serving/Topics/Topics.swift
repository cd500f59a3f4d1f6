package import Application
internal import Domain
internal import EventLog
package import EventLoop
internal import Projections
internal import TextFormats
package import Users

/// Who listens to what. Subscribers get every change, in order and without a gap: each message leads on from where the
/// one before it ended.
///
/// Nothing is done for topics without listeners. A change is sent in the turn of the loop in which it was committed;
/// changes that follow closely share a message. However many listen, a document is made, compared and encoded once.
@LoopActor
package final class Topics {
    /// The time between two messages of a topic, in nanoseconds: at most 20 a second. After a pause of that time one more
    /// may follow at once, so that changes at this pace do not queue up behind a late one.
    private static let interval: UInt64 = 50_000_000
    /// A topic rests this many times as long as its last message took, so that a huge document cannot keep the loop
    /// busy.
    private static let restFactor: UInt64 = 4
    /// How long one turn of the loop makes documents, in nanoseconds; the rest waits for the next turn.
    private static let slice: UInt64 = 5_000_000
    /// How long to wait before loading a document again that could not be loaded, in nanoseconds.
    private static let retryInterval: UInt64 = 1_000_000_000

    private struct Key: Hashable {
        var channel: String
        /// The connection that it belongs to; 0 where it is the same for all.
        var client: Int64
    }

    let inputs: TopicRendering.Inputs
    /// The most bytes of a document that every front can send.
    var documentLimit = Int.max
    private let memory: MemoryBudget
    private let configuration: Configuration
    private var topics: [Key: Topic] = [:]
    private(set) var listeners: [TopicSource: Set<Topic>] = [:]
    /// How many topics of each partition depend on carts.
    private var cartTopics: [Int: Int] = [:]
    /// How many subscriptions there are, of all clients.
    package private(set) var subscriptionCount = 0
    /// How many of them each caller has, if any.
    private var shares: [Caller: Int] = [:]

    /// Sources with listeners that have changed in this turn.
    private var changed: Set<TopicSource> = []
    /// Topics whose documents are to be made now …
    private var due: [Topic] = []
    /// … and later.
    private var held: [Topic] = []
    private var heldUntil = UInt64.max
    private var timer: (due: UInt64, timer: LoopTimer)?

    init(
        _ inputs: TopicRendering.Inputs, _ memory: MemoryBudget, _ changes: ChangeFeed, _ configuration: Configuration
    ) {
        self.inputs = inputs
        self.memory = memory
        self.configuration = configuration
        changes.observe { [unowned self] streams in
            guard !listeners.isEmpty else { return }
            for stream in streams {
                changed(.stream(stream))
                changed(.every(stream.category))
            }
        }
    }

    /// The number of topics with listeners.
    package var count: Int { topics.count }

    /// Something has changed that documents may depend on. (Changes of streams come from the ``ChangeFeed``.)
    func changed(_ source: TopicSource) {
        if listeners[source] != nil { changed.insert(source) }
    }

    /// Anything may have changed.
    func refresh() { changed.formUnion(listeners.keys) }

    // MARK: Subscribers

    /// Adds subscriptions. Nothing happens if the subscriber would have too many.
    ///
    /// - Parameter confinement: what the subscriber is confined to; nil where it is not.
    /// - Returns: the number of its subscriptions after each of them.
    package func subscribe(
        _ subscriber: Subscriber, to names: [TopicName], within confinement: Confinement?
    ) throws(Failure) -> [Int] {
        if let confinement {
            for name in names where !mayFollow(name.id, name.kind, within: confinement) {
                throw .noPermissionForChannel
            }
        }
        let added = Set(names.lazy.map(\.channel).filter { subscriber.subscriptions[$0] == nil }).count
        guard subscriber.subscriptions.count + added <= configuration.subscriptionsPerClient else {
            throw Failure(.limit, "a client has at most \(configuration.subscriptionsPerClient) subscriptions")
        }
        guard shares[subscriber.caller, default: 0] + added <= configuration.subscriptionsPerCaller else {
            throw Failure(
                .limit,
                "all clients of one user, or at one address, have at most \(configuration.subscriptionsPerCaller) "
                    + "subscriptions")
        }
        guard subscriptionCount + added <= configuration.subscriptions else {
            throw Failure(.busy, "all clients together have \(configuration.subscriptions) subscriptions; try again")
        }
        try memory.checkRoom()
        count(added, for: subscriber.caller)
        return names.map { name in
            let key = Key(channel: name.channel, client: name.connection(from: subscriber.client))
            let topic = topics[key] ?? Topic(name, of: key.client)
            topics[key] = topic
            topic.subscribers.insert(subscriber)
            subscriber.subscriptions[name.channel] = topic
            return subscriber.subscriptions.count
        }
    }

    /// Sends a subscriber where the topics stand that it has just subscribed to.
    package func greet(_ subscriber: Subscriber, about names: [TopicName]) {
        var greeted: Set<String> = []
        for name in names where greeted.insert(name.channel).inserted {
            guard let topic = subscriber.subscriptions[name.channel] else { continue }
            if let failure = topic.failure {
                subscriber.receive(Topics.message(of: topic, failure))
            } else if let document = topic.sent {
                subscriber.receive(Topics.greeting(of: topic, document))
            } else {
                enqueue(topic)
            }
        }
    }

    /// Ends a subscription, if there is one.
    package func unsubscribe(_ subscriber: Subscriber, from channel: String) {
        guard let topic = subscriber.subscriptions.removeValue(forKey: channel) else { return }
        count(-1, for: subscriber.caller)
        topic.subscribers.remove(subscriber)
        guard topic.subscribers.isEmpty else { return }
        topics[Key(channel: channel, client: topic.client)] = nil
        listen(topic, to: [])
        topic.rendering.abandon?(inputs, topic.id)
    }

    /// Ends what a name stands for, if it is kept only for listeners and has none.
    package func abandonUnheard(_ name: TopicName) {
        guard topics[Key(channel: name.channel, client: 0)] == nil else { return }
        TopicRendering.of(name.kind).abandon?(inputs, name.id)
    }

    /// Ends the subscriptions of a subscriber that are not within its confinement. Returns their channels.
    package func unsubscribe(_ subscriber: Subscriber, beyond confinement: Confinement) -> [String] {
        let ended = subscriber.subscriptions.values.filter { !mayFollow($0.id, $0.kind, within: confinement) }
            .map(\.channel)
        for channel in ended { unsubscribe(subscriber, from: channel) }
        return ended
    }

    /// Whether a user who is confined may listen to something. Whose an order is, is not in its id.
    private func mayFollow(_ id: Identifier, _ kind: TopicKind, within confinement: Confinement) -> Bool {
        guard confinement.allows(id, as: kind.subject) else { return false }
        guard kind.subject == .order else { return true }
        let (stream, worker) = (StreamName(.order, id), inputs.partitions[StreamName(.order, id)])
        guard let row = worker.model.ask({ $0.orders.row(of: id) }) else {
            guard worker.model.ask({ $0.mayHaveRow(stream) }) else { return false }
            // Its stream tells, which whoever has just looked at the order finds at hand, and others at their next try.
            var isWithin = false
            worker.read(stream) { result in
                guard case .success(let committed) = result else { return }
                isWithin = SealedDocument(of: id, committed)?.isWithin(confinement) ?? false
            }
            worker.startWork()
            return isWithin
        }
        guard confinement.isOfCustomer else { return confinement.allows(row.outlet, as: .outlet) }
        return row.customer.map { confinement.allows($0, as: .customer) } ?? false
            || row.cart.map { confinement.allows($0, as: .cart) } ?? false
    }

    /// Ends every subscription of a subscriber.
    package func unsubscribe(_ subscriber: Subscriber) {
        for channel in subscriber.subscriptions.keys { unsubscribe(subscriber, from: channel) }
    }

    /// From now on a subscriber's subscriptions are a part of that caller's share.
    package func assign(_ subscriber: Subscriber, to caller: Caller) {
        count(-subscriber.subscriptionCount, for: subscriber.caller)
        subscriber.caller = caller
        count(subscriber.subscriptionCount, for: caller)
    }

    private func count(_ change: Int, for caller: Caller) {
        subscriptionCount += change
        let share = shares[caller, default: 0] + change
        shares[caller] = share == 0 ? nil : share
    }

    /// Follows the sources of a topic's document instead of those it had.
    private func listen(_ topic: Topic, to sources: [TopicSource]) {
        guard topic.sources != sources else { return }
        for source in topic.sources {
            listeners[source]?.remove(topic)
            if listeners[source]?.isEmpty ?? false { listeners[source] = nil }
            count(-1, source)
        }
        for source in sources {
            listeners[source, default: []].insert(topic)
            count(1, source)
        }
        topic.sources = sources
    }

    private func count(_ change: Int, _ source: TopicSource) {
        guard case .stream(let stream) = source, stream.category == .cart else { return }
        cartTopics[inputs.partitions.partitioning.partition(of: stream), default: 0] += change
    }

    /// Whether somebody listens to a cart of that partition.
    func listensToCarts(of partition: Int) -> Bool { cartTopics[partition, default: 0] > 0 }

    // MARK: Publishing

    /// Sends what has changed and is due. Called at the end of every turn of the loop. Returns whether documents were
    /// asked for, so that streams may have to be loaded.
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

    func enqueue(_ topic: Topic) {
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

    /// Makes sure that the loop takes a turn at that time.
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
        let began = LoopActor.now
        topic.rendering.render(inputs, topic) { [weak self] in self?.rendered(topic, $0) }
        if topic.isRendering { topic.wasHeldBack = true }
        let now = LoopActor.now
        if now - began > Topics.slice {
            topic.notBefore = max(topic.notBefore, now + Topics.restFactor * (now - began))
        }
    }

    /// The document is known. This may be called in the middle of the processor's work, so it asks the processor for
    /// nothing.
    private func rendered(_ topic: Topic, _ result: Result<TopicDocument, Failure>) {
        topic.isRendering = false
        guard !topic.subscribers.isEmpty else { return }
        switch result {
        case .success(let document) where document.json.count > documentLimit:
            refuse(topic, .tooLarge(document.json.count, limit: documentLimit))
        case .success(let document): sendChange(of: topic, to: document)
        case .failure(let failure) where [.corrupt, .limit].contains(failure.code): refuse(topic, failure)
        case .failure:
            // Too much is waiting, or the database cannot be reached.
            topic.notBefore = LoopActor.now + Topics.retryInterval
            topic.isOutdated = true
        }
        let awaiting = topic.awaiting
        if topic.sent != nil || topic.failure != nil {
            topic.awaiting = []
            for lead in awaiting { lead() }
        }
        renderAgainIfOutdated(topic)
    }

    private func renderAgainIfOutdated(_ topic: Topic) {
        guard topic.isOutdated, !topic.isRendering else { return }
        topic.isOutdated = false
        topic.wasHeldBack = true
        enqueue(topic)
        if !held.isEmpty { wake(at: heldUntil) }
    }

    // MARK: Messages

    /// Says why there is no document, until something changes.
    private func refuse(_ topic: Topic, _ failure: Failure) {
        listen(topic, to: topic.rendering.sources(topic))
        if topic.failure == nil { send(Topics.message(of: topic, failure), to: topic) }
        topic.failure = failure
    }

    private func sendChange(of topic: Topic, to document: TopicDocument) {
        let began = LoopActor.now
        listen(topic, to: topic.rendering.sources(topic) + document.sources)
        let (old, hadFailed, wasHeldBack) = (topic.sent, topic.failure != nil, topic.wasHeldBack)
        topic.sent = document
        topic.failure = nil
        topic.wasHeldBack = false
        guard let old else {
            return send(Topics.greeting(of: topic, document), to: topic)
        }
        let isOther = old.revision != document.revision || old.json != document.json
        // A client that read the document in between cannot tell by its revision whether it has the patch already.
        let isAmbiguous = !topic.kind.isRevisionWhole && (wasHeldBack || isOther && old.revision == document.revision)
        let isWhole = hadFailed || isAmbiguous
        guard isWhole || isOther else { return }
        let rows = (old.rows, document.rows)
        if isWhole {
            send(JSONPatch.replacement(with: document.json), from: old, to: document, of: topic, since: began)
        } else if document.json.count <= JSONPatch.largeDocument {
            let patch = JSONPatch.whatLeads(from: old.json, to: document.json, knowing: rows)
            send(patch, from: old, to: document, of: topic, since: began)
        } else {
            topic.isRendering = true
            Task { @LoopActor [weak self] in
                let patch = await JSONPatch.madeInBackground(from: old.json, to: document.json, knowing: rows)
                topic.isRendering = false
                self?.send(patch, from: old, to: document, of: topic, since: began)
                self?.renderAgainIfOutdated(topic)
            }
        }
    }

    private func send(
        _ patch: [UInt8], from old: TopicDocument, to document: TopicDocument, of topic: Topic, since began: UInt64
    ) {
        let message = Topics.message(
            of: topic, from: old.revision, to: document.revision, configuration.sent(patch))
        send(message, to: topic)
        let now = LoopActor.now
        let due = max(topic.notBefore + Topics.interval, began)
        topic.notBefore = max(due, now + Topics.restFactor * (now - began))
    }

    private func send(_ message: TopicMessage, to topic: Topic) {
        for subscriber in topic.subscribers { subscriber.receive(message) }
    }

    private static func greeting(of topic: Topic, _ document: TopicDocument) -> TopicMessage {
        message(
            of: topic, from: document.revision, to: document.revision,
            topic.kind.greetsWithDocument ? JSONPatch.replacement(with: document.json) : JSONPatch.empty,
            isGreeting: true)
    }

    static func message(
        of topic: Topic, from: Int64, to: Int64, _ patch: [UInt8], isGreeting: Bool = false
    ) -> TopicMessage {
        TopicMessage(
            channel: topic.channel, from: isGreeting ? nil : from, revision: to,
            data: ChangeDocument.bytes(of: topic.id, named: topic.kind.member, from: from, to: to, patch: patch))
    }

    static func message(of topic: Topic, _ failure: Failure) -> TopicMessage {
        TopicMessage(
            channel: topic.channel, revision: topic.sent?.revision ?? 0,
            data: ChangeDocument.bytes(
                of: topic.id, named: topic.kind.member, at: topic.sent?.revision ?? 0, failure: failure))
    }
}
