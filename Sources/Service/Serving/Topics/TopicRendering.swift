internal import Application
internal import Catalogue
internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections
internal import TextFormats

/// How the documents of a kind of topic are made. Every kind has an entry in ``all``.
struct TopicRendering: Sendable {
    /// What documents are made of.
    @LoopActor
    struct Inputs {
        let partitions: Partitions
        let homes: Homes
        let kitchens: Kitchens
        let catalogue: LiveCatalogue
        let sealer: TextSealer
    }

    let kind: TopicKind
    /// What a document depends on, whatever is in it.
    let sources: @LoopActor (Topic) -> [TopicSource]
    /// Ends what is kept only for those who listen, when the last of them has gone.
    let abandon: (@LoopActor (Inputs, Identifier) -> Void)?
    /// Gives the patch from the document of an older revision to the one that subscribers know, at once or when it has
    /// been folded from the log; nil where that cannot be known any more. Without it, older documents are not kept.
    let patch: (@LoopActor (Inputs, Topic, Int64, Caller, @escaping @LoopActor ([UInt8]?) -> Void) -> Void)?
    /// Gives the document as it is now, at once or when it has been loaded. It is called again when one of its sources
    /// has changed.
    let render: @LoopActor (Inputs, Topic, @escaping @LoopActor (Result<TopicDocument, Failure>) -> Void) -> Void

    private init(
        _ kind: TopicKind, sources: @escaping @LoopActor (Topic) -> [TopicSource],
        abandon: (@LoopActor (Inputs, Identifier) -> Void)? = nil,
        patch: (@LoopActor (Inputs, Topic, Int64, Caller, @escaping @LoopActor ([UInt8]?) -> Void) -> Void)? = nil,
        render:
            @escaping @LoopActor (Inputs, Topic, @escaping @LoopActor (Result<TopicDocument, Failure>) -> Void) -> Void
    ) {
        self.kind = kind
        self.sources = sources
        self.abandon = abandon
        self.patch = patch
        self.render = render
    }

    /// The renderings of every kind.
    static let all = [home, cart, cartCount, order, kitchen, browse, question]

    /// The rendering of a kind.
    static func of(_ kind: TopicKind) -> TopicRendering {
        guard let rendering = all.first(where: { $0.kind.prefix == kind.prefix }) else {
            preconditionFailure("topics '\(kind.prefix):…' have no rendering")
        }
        return rendering
    }

    private static let home = TopicRendering(
        .home, sources: { OutletHome.streams(of: $0.id).map(TopicSource.stream) },
        patch: { inputs, topic, revision, caller, completion in
            inputs.homes.patch(ofHome: topic, from: revision, for: caller, completion: completion)
        }
    ) { inputs, topic, completion in
        let outlet = topic.id
        completion(
            Result { () throws(Failure) in
                if let home = try inputs.homes.home(of: outlet) {
                    return TopicDocument(revision: home.revision, json: home.document)
                }
                // The message that an outlet was removed leads on from the home before, as any other does.
                let partition = inputs.partitions[StreamName(.outlet, outlet)]
                return TopicDocument(
                    revision: partition.readModel.outletHome.revision(of: outlet), json: ChangeDocument.null)
            })
    }

    private static let cart = TopicRendering(
        .cart, sources: { [.stream(StreamName(.cart, $0.id))] }
    ) { inputs, topic, completion in
        render(StreamName(.cart, topic.id), of: inputs, completion) { committed in
            var sources: [TopicSource] = []
            if case .cart(.filled(let contents)) = committed.state {
                sources += OutletHome.streams(of: contents.outlet).map(TopicSource.stream)
            }
            return (inputs.partitions.document(of: topic.id, committed), sources)
        }
    }

    private static let cartCount = TopicRendering(
        .cartCount, sources: { [.stream(StreamName(.cart, $0.id))] }
    ) { inputs, topic, completion in
        let (id, partition) = (topic.id, inputs.partitions[StreamName(.cart, topic.id)])
        // Whoever listens to a cart has the server follow all of them.
        partition.followCarts()
        inputs.partitions.count(of: id) { count in
            completion(count.map { TopicDocument(revision: partition.position, json: Array("\($0)".utf8)) })
        }
    }

    /// Gives the document of a stream's state, or null, as soon as both the state and the key to its texts are there.
    @LoopActor
    private static func render(
        _ stream: StreamName, of inputs: Inputs,
        _ completion: @escaping @LoopActor (Result<TopicDocument, Failure>) -> Void,
        document: @escaping @LoopActor (CommittedState) -> (SealedDocument?, sources: [TopicSource])
    ) {
        inputs.partitions[stream].read(stream) { result in
            let committed: CommittedState
            switch result {
            case .success(let state): committed = state
            case .failure(let failure): return completion(.failure(Failure(failure)))
            }
            LoopActor.assumeIsolated {
                let (document, sources) = document(committed)
                inputs.sealer.open(document ?? SealedDocument(ChangeDocument.null), for: .server) { json in
                    completion(json.map { TopicDocument(revision: committed.version, json: $0, sources: sources) })
                }
            }
        }
    }

    private static let order = TopicRendering(
        .order, sources: { [.stream(StreamName(.order, $0.id))] }
    ) { inputs, topic, completion in
        render(StreamName(.order, topic.id), of: inputs, completion) { committed in
            (SealedDocument(of: topic.id, committed), sources: [])
        }
    }

    private static let kitchen = TopicRendering(
        .kitchen, sources: { [.kitchen($0.id)] }
    ) { inputs, topic, completion in
        let revision = inputs.partitions.eventCount
        guard inputs.partitions.hasKitchen(topic.id) else {
            return completion(.success(TopicDocument(revision: revision, json: ChangeDocument.null)))
        }
        inputs.kitchens.document(of: topic.id, for: .server) { json in
            completion(json.map { TopicDocument(revision: revision, json: $0) })
        }
    }

    private static let browse = TopicRendering(
        .browse, sources: { [.savedQuery(SavedName($0.id, of: $0.client))] }
    ) { inputs, topic, completion in
        completion(
            Result { () throws(Failure) in
                TopicDocument(try inputs.catalogue.current.answer(toSaved: SavedName(topic.id, of: topic.client)))
            })
    }

    private static let question = TopicRendering(
        .question, sources: { [.savedQuery(SavedName(question: $0.id))] },
        abandon: { inputs, id in _ = inputs.catalogue.whole?.drop(SavedName(question: id)) }
    ) { inputs, topic, completion in
        completion(
            Result { () throws(Failure) in
                TopicDocument(try inputs.catalogue.current.answer(toSaved: SavedName(question: topic.id)))
            })
    }
}
