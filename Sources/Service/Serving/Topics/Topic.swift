internal import Application
internal import Domain
internal import EventLoop

/// Something that at least one client listens to.
@LoopActor
final class Topic {
    let kind: TopicKind
    /// How its documents are made.
    let rendering: TopicRendering
    let id: Identifier
    /// What clients call it.
    let channel: String
    /// The connection that it belongs to; 0 where it is the same for all.
    let client: Int64
    /// Who listens.
    var subscribers: Set<Subscriber> = []

    /// The document that subscribers know; nil until it is known.
    var sent: TopicDocument?
    /// What its document is made of.
    var sources: [TopicSource] = []
    /// Why they cannot be sent what it is now.
    var failure: Failure?
    /// Who waits for the first document, to be led to it.
    var awaiting: [@LoopActor () -> Void] = []
    /// Whether it is in one of the queues.
    var isQueued = false
    /// Whether its document is being loaded, and whether something has changed since that began.
    var isRendering = false
    var isOutdated = false
    /// Whether something changed in an earlier turn of the loop and has not been sent.
    var wasHeldBack = false
    /// When the next message may go out.
    var notBefore: UInt64 = 0

    init(_ name: TopicName, of client: Int64) {
        kind = name.kind
        rendering = TopicRendering.of(name.kind)
        id = name.id
        channel = name.channel
        self.client = client
    }
}

// By names, not by where it lies in memory: so a set of topics has the same order in each run of a simulation.
extension Topic: Hashable {
    nonisolated static func == (a: Topic, b: Topic) -> Bool { a === b }
    nonisolated func hash(into hasher: inout Hasher) {
        // Each connection may have a topic of the same name.
        hasher.combine(channel)
        hasher.combine(client)
    }
}
