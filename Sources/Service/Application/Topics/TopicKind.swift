internal import Catalogue
internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections
internal import Users

/// A kind of topic that clients can subscribe to. To add one, add an entry to ``all``.
struct TopicKind: Sendable {
    /// What its channels begin with, before a colon and the id.
    let prefix: String
    /// The member of its messages that has the id.
    let member: StaticString
    /// What its ids name.
    let subject: Subject
    /// Whether a document of one revision is always the same. If not, a message within one revision, or one that was
    /// held back, has the whole document: a client that read the document in between may know the change already, and
    /// a patch would not fit.
    let isRevisionWhole: Bool
    /// What a document depends on, whatever is in it.
    let sources: @LoopActor (Topic) -> [TopicSource]
    /// Whether each connection means something else by the same id, where it is not shared.
    var isOfConnection = false
    /// Whether the first message to a subscriber has the whole document, where no command gives it with its revision.
    var greetsWithDocument = false
    /// Ends what is kept only for those who listen, when the last of them has gone.
    var abandon: (@LoopActor (Application, Identifier) -> Void)?
    /// Gives the patch from the document of an older revision to the one that subscribers know, at once or when it has
    /// been folded from the log; nil where that cannot be known any more. Without it, older documents are not kept.
    var patch: (@LoopActor (Application, Topic, Int64, Caller, @escaping @LoopActor ([UInt8]?) -> Void) -> Void)?
    /// Gives the document as it is now, at once or when it has been loaded. It is called again when one of its sources
    /// has changed.
    let render: @LoopActor (Application, Topic, @escaping @LoopActor (Result<TopicDocument, Failure>) -> Void) -> Void

    /// Every kind of topic that clients can name.
    static let all = [home, cart, cartCount, order, kitchen, browse]

    /// An outlet's home, as `OUTLET.HOME` answers it.
    private static let home = TopicKind(
        prefix: "home", member: "outlet", subject: .outlet, isRevisionWhole: true,
        sources: { [.stream(StreamName(.outlet, $0.id)), .stream(StreamName(.menu, $0.id))] },
        patch: { application, topic, revision, caller, completion in
            application.patch(ofHome: topic, from: revision, for: caller, completion: completion)
        }
    ) { application, topic, completion in
        let outlet = topic.id
        completion(
            Result { () throws(Failure) in
                if let home = try application.home(of: outlet) {
                    return TopicDocument(revision: home.revision, json: home.document)
                }
                // The message that an outlet was removed leads on from the home before, as any other does.
                let partition = application.partition(of: StreamName(.outlet, outlet))
                return TopicDocument(
                    revision: partition.readModel.outletHome.revision(of: outlet), json: TopicDocument.null)
            })
    }

    /// A cart, as `CART.GET` answers it: its problems come from the outlet and the menu.
    private static let cart = TopicKind(
        prefix: "cart", member: "cart", subject: .cart, isRevisionWhole: false,
        sources: { [.stream(StreamName(.cart, $0.id))] }
    ) { application, topic, completion in
        render(StreamName(.cart, topic.id), of: application, completion) { committed in
            var sources: [TopicSource] = []
            if case .cart(.filled(let contents)) = committed.state {
                sources.append(.stream(StreamName(.outlet, contents.outlet)))
                sources.append(.stream(StreamName(.menu, contents.outlet)))
            }
            return (application.document(of: topic.id, committed), sources)
        }
    }

    /// The number on a cart's badge, as `CART.COUNT` answers it. It is known without the cart, so its revision is a
    /// position.
    private static let cartCount = TopicKind(
        prefix: "cart_count", member: "cart", subject: .cart, isRevisionWhole: true,
        sources: { [.stream(StreamName(.cart, $0.id))] }, greetsWithDocument: true
    ) { application, topic, completion in
        let revision = application.partition(of: StreamName(.cart, topic.id)).position
        completion(
            Result { () throws(Failure) in
                TopicDocument(revision: revision, json: Array("\(try application.count(of: topic.id))".utf8))
            })
    }

    /// Gives the document of a stream's state, or null, as soon as both the state and the key to its texts are there.
    @LoopActor
    private static func render(
        _ stream: StreamName, of application: Application,
        _ completion: @escaping @LoopActor (Result<TopicDocument, Failure>) -> Void,
        document: @escaping @LoopActor (CommittedState) -> (SealedDocument?, sources: [TopicSource])
    ) {
        application.partition(of: stream).processor.read(stream) { result in
            let committed: CommittedState
            switch result {
            case .success(let state): committed = state
            case .failure(let failure): return completion(.failure(Failure(failure)))
            }
            LoopActor.assumeIsolated {
                let (document, sources) = document(committed)
                application.textSealer.open(document ?? SealedDocument(TopicDocument.null), for: .server) { json in
                    completion(json.map { TopicDocument(revision: committed.version, json: $0, sources: sources) })
                }
            }
        }
    }

    /// An order, as `ORDER.GET` answers it.
    private static let order = TopicKind(
        prefix: "order", member: "order", subject: .order, isRevisionWhole: true,
        sources: { [.stream(StreamName(.order, $0.id))] }
    ) { application, topic, completion in
        render(StreamName(.order, topic.id), of: application, completion) { committed in
            (SealedDocument(of: topic.id, committed), sources: [])
        }
    }

    /// What a kitchen sees, as `KITCHEN` answers it. It comes from orders of any partition, so its revision is how many
    /// events all of them have.
    private static let kitchen = TopicKind(
        prefix: "kitchen", member: "kitchen", subject: .kitchen, isRevisionWhole: true,
        sources: { [.kitchen($0.id)] }, greetsWithDocument: true
    ) { application, topic, completion in
        let revision = application.partitions.reduce(0) { $0 + $1.position }
        guard application.hasKitchen(topic.id) else {
            return completion(.success(TopicDocument(revision: revision, json: TopicDocument.null)))
        }
        application.kitchens.document(of: topic.id, for: .server) { json in
            completion(json.map { TopicDocument(revision: revision, json: $0) })
        }
    }

    /// The answer to a saved query.
    private static let browse = TopicKind(
        prefix: "browse", member: "browse", subject: .savedQuery, isRevisionWhole: true,
        sources: { [.savedQuery(SavedName($0.id, of: $0.client))] }, isOfConnection: true, greetsWithDocument: true
    ) { application, topic, completion in
        let answer = application.catalogue.answer(toSaved: SavedName(topic.id, of: topic.client))
        completion(.success(TopicDocument(answer)))
    }

    /// The answer to a question, which is kept up to date for those who listen.
    static let question = TopicKind(
        prefix: "question", member: "browse", subject: .catalogue, isRevisionWhole: true,
        sources: { [.savedQuery(SavedName(question: $0.id))] }, greetsWithDocument: true,
        abandon: { application, id in _ = application.catalogue.drop(SavedName(question: id)) }
    ) { application, topic, completion in
        completion(.success(TopicDocument(application.catalogue.answer(toSaved: SavedName(question: topic.id)))))
    }
}
