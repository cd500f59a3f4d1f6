internal import Application
internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections
internal import TextFormats
internal import Users

/// Documents of single streams, now and in the past, with their texts opened.
@LoopActor
final class StreamDocuments {
    private let partitions: Partitions
    private let archive: Archive
    private let sealer: TextSealer

    init(_ partitions: Partitions, _ archive: Archive, _ sealer: TextSealer) {
        self.partitions = partitions
        self.archive = archive
        self.sealer = sealer
    }

    func document(
        of stream: StreamName, for caller: Caller, within confinement: Confinement?,
        _ document: @escaping (CommittedState) -> SealedDocument?
    ) -> Response {
        let promise = Promise(about: stream.category)
        partitions[stream].read(stream) { [self] result in
            switch result {
            case .success(let committed):
                keep(promise, committed.version > 0 ? document(committed) : nil, for: caller, within: confinement)
            case .failure(let failure): promise.fail(Failure(failure))
            }
        }
        return .promise(promise)
    }

    func past(_ question: PastQuestion, for caller: Caller, within confinement: Confinement?) -> Response {
        let promise = Promise(about: .order)
        archive.answer(question, for: caller) { [self] answer in
            switch answer {
            case .success(let document): keep(promise, document, for: caller, within: confinement)
            case .failure(let failure): promise.fail(failure)
            }
        }
        return .promise(promise)
    }

    /// Keeps a promise with a document, or null, as soon as its texts can be opened.
    private func keep(
        _ promise: Promise, _ document: SealedDocument?, for caller: Caller, within confinement: Confinement?
    ) {
        guard let document, document.isWithin(confinement) else { return promise.keep(.null) }
        sealer.open(document, for: caller) { promise.end($0.map(Answer.document)) }
    }

    // MARK: Changes

    // What has changed in a cart or an order since a version that a client has. A version tells everything but two things:
    // the problems of a cart's lines, which follow from its outlet, and whether a customer's texts can still be opened.
    // Where one of these may be otherwise than it was, the patch sets it, whatever the client has.

    /// Whether the document of a stream is shown to whoever is confined: so is that of an order of its own.
    func whetherShown(
        _ stream: StreamName, within confinement: Confinement?,
        completion: @escaping @LoopActor (Result<Bool, Failure>) -> Void
    ) {
        guard confinement != nil else { return completion(.success(true)) }
        partitions[stream].read(stream) { result in
            switch result {
            case .success(let committed):
                completion(.success(SealedDocument(of: stream.id, committed)?.isWithin(confinement) ?? false))
            case .failure(let failure): completion(.failure(Failure(failure)))
            }
        }
    }

    func change(ofCart cart: Identifier, since version: Int64, for caller: Caller) -> Response {
        let stream = StreamName(.cart, cart)
        return change(
            of: stream, named: "cart", since: version, for: caller, within: nil,
            document: { self.partitions.document(of: cart, $0) },
            earlier: { self.earlierDocument(of: cart, $0) })
    }

    func change(
        ofOrder order: Identifier, since version: Int64, for caller: Caller, within confinement: Confinement?
    ) -> Response {
        change(
            of: StreamName(.order, order), named: "order", since: version, for: caller, within: confinement,
            document: { SealedDocument(of: order, $0) }, earlier: { SealedDocument(of: order, $0) })
    }

    /// - Parameters:
    ///   - document: the document of today's state.
    ///   - earlier: that of the state which the client has, as far as it is known what it was.
    private func change(
        of stream: StreamName, named member: StaticString, since version: Int64, for caller: Caller,
        within confinement: Confinement?, document: @escaping (CommittedState) -> SealedDocument?,
        earlier: @escaping (CommittedState) -> SealedDocument?
    ) -> Response {
        let promise = Promise(about: stream.category)
        @LoopActor func answer(_ today: SealedDocument, _ to: Int64, _ old: SealedDocument?) {
            sealer.opener(of: today.owner, for: caller) { [self] opener in
                promise.end(
                    opener.map { texts in
                        let new = today.bytes(texts)
                        guard let old else { return .document(new) }
                        let patch = JSONPatch.whatLeads(from: old.bytes(texts.before(old.owner)), to: new)
                        guard to != version || patch != JSONPatch.empty else { return .null }
                        return .document(
                            ChangeDocument.bytes(
                                of: stream.id, named: member, from: version, to: to,
                                patch: partitions.configuration.sent(patch)))
                    })
            }
        }
        partitions[stream].read(stream) { [self] result in
            switch result {
            case .failure(let failure): promise.fail(Failure(failure))
            case .success(let committed):
                guard let today = document(committed), today.isWithin(confinement) else { return promise.keep(.null) }
                guard version > 0, version < committed.version else {
                    return answer(today, committed.version, version == committed.version ? earlier(committed) : nil)
                }
                archive.state(of: stream, at: version, for: caller) { old in
                    switch old {
                    case .failure(let failure): promise.fail(failure)
                    case .success(let old): answer(today, committed.version, old.flatMap(earlier))
                    }
                }
            }
        }
        return .promise(promise)
    }

    /// A cart as a client may have read it, at an earlier version or today. Its problems are those of now if neither
    /// the outlet nor time has changed any since.
    private func earlierDocument(of cart: Identifier, _ committed: CommittedState) -> SealedDocument? {
        guard case .cart(let state) = committed.state else { return nil }
        var isKnown = true
        if case .filled(let contents) = state {
            let outlet = StreamName(.outlet, contents.outlet)
            let now = partitions.clock()
            let then = min(now, committed.updatedAt)
            let ahead = partitions.timeAhead(contents.wanted, at: contents.outlet)
            isKnown =
                partitions[outlet] === partitions[StreamName(.cart, cart)]
                && partitions[outlet].model.ask { model in
                    // One after the other: a copy of the model would count references to all of its tables.
                    guard model.outletHome.revision(of: contents.outlet) <= committed.position else { return false }
                    func offers(at time: Timestamp) -> [Offer] {
                        model.outletHome.offers(
                            for: contents.lines, at: contents.outlet, for: contents.service, ahead: ahead, now: time)
                    }
                    return offers(at: now) == offers(at: then)
                }
        }
        return SealedDocument(state.contents?.textOwner(of: cart)) { [self, isKnown] texts in
            CartDocument.bytes(
                of: cart, state: state, version: committed.version, updatedAt: committed.updatedAt, texts: texts,
                offers: isKnown
                    ? { lines, cart in LoopActor.assumeIsolated { self.partitions.offers(for: lines, of: cart) } } : nil
            )
        }
    }
}
