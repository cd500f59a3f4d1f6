internal import Catalogue
internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// A kind of topic that clients can listen to. Adding one is an entry in ``all``.
struct TopicKind: Sendable {
    /// What its channels begin with, in front of a colon and the id.
    let prefix: String
    /// The member of its messages that has the id.
    let member: StaticString
    /// Whether a document of one revision is always the same. Where not, a message within one revision, or one that
    /// was held back, has the whole document: who read it meanwhile may have what is told already, and a patch from
    /// what was told before would not fit.
    let isRevisionWhole: Bool
    /// Whether the first message to a subscriber has the whole document, where no command gives it with its revision.
    var greetsWithDocument = false
    /// Gives the document as it is now, at once or when it has been loaded. It is asked for again when one of its
    /// sources has changed.
    let render: @LoopActor (Engine, Identifier, @escaping @LoopActor (Result<TopicDocument, Failure>) -> Void) -> Void

    /// Every kind of topic.
    static let all = [home, cart, browse]

    /// An outlet's home, as `OUTLET.HOME` answers it.
    private static let home = TopicKind(prefix: "home", member: "outlet", isRevisionWhole: true) {
        engine, outlet, completion in
        completion(
            Result { () throws(Failure) in
                let home = try engine.home(of: outlet)
                return TopicDocument(
                    revision: home?.revision ?? 0, json: home?.document ?? TopicDocument.null,
                    sources: [.stream(StreamName(.outlet, outlet)), .stream(StreamName(.menu, outlet))])
            })
    }

    /// A cart, as `CART.GET` answers it: its problems come from the outlet and the menu.
    private static let cart = TopicKind(prefix: "cart", member: "cart", isRevisionWhole: false) {
        engine, cart, completion in
        let stream = StreamName(.cart, cart)
        engine.read(stream) { result in
            LoopActor.assumeIsolated {
                let committed: CommittedState
                switch result {
                case .success(let state): committed = state
                case .failure(let failure): return completion(.failure(Failure(failure)))
                }
                var sources = [TopicSource.stream(stream)]
                if case .cart(.filled(let contents)) = committed.state {
                    sources.append(.stream(StreamName(.outlet, contents.outlet)))
                    sources.append(.stream(StreamName(.menu, contents.outlet)))
                }
                let document = engine.document(of: cart, committed) ?? SealedDocument(TopicDocument.null)
                engine.locksmith.open(document) { json in
                    completion(json.map { TopicDocument(revision: committed.version, json: $0, sources: sources) })
                }
            }
        }
    }

    /// The answer to a saved question.
    private static let browse = TopicKind(
        prefix: "browse", member: "browse", isRevisionWhole: true, greetsWithDocument: true
    ) { engine, name, completion in
        let answer = engine.catalogue.document(ofSaved: name)
        completion(
            .success(
                TopicDocument(
                    revision: answer?.revision ?? 0, json: answer?.bytes ?? TopicDocument.null,
                    sources: [.savedQuestion(name)])))
    }
}
