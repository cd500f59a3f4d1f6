internal import Catalogue
internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import PostgresProjections
internal import Projections

/// The core behind the sessions: takes commands to the partition of their stream, and questions to its read
/// model.
@LoopActor
final class Engine {
    let partitioning: Partitioning
    private let shards: [Shard]
    private let homes: HomeCache
    private let archive: Archive
    private let liveCatalogue: LiveCatalogue
    let locksmith: Locksmith
    let clock: () -> Timestamp

    init(
        shards: [Shard], homes: HomeCache, archive: Archive, catalogue: LiveCatalogue, locksmith: Locksmith,
        clock: @escaping () -> Timestamp
    ) {
        self.shards = shards
        self.homes = homes
        self.archive = archive
        liveCatalogue = catalogue
        self.locksmith = locksmith
        self.clock = clock
        partitioning = Partitioning(count: shards.count)
    }

    private func shard(of stream: StreamName) -> Shard { shards[partitioning.partition(of: stream)] }

    /// Every partition.
    var partitions: [Shard] { shards }

    // MARK: Commands

    /// Decides a command; its outcome is given once it is durable.
    func submit(_ request: CommandRequest, completion: @escaping (CommandOutcome) -> Void) {
        shard(of: request.stream).processor.handle(request, completion: completion)
    }

    /// What an outlet's menu says of an item now.
    func offer(of item: Identifier, at outlet: Identifier) -> Offer {
        model(of: outlet).offer(of: item, at: outlet, now: clock())
    }

    private func model(of outlet: Identifier) -> OutletHome {
        shard(of: StreamName(.outlet, outlet)).readModel.outletHome
    }

    // MARK: Questions

    /// The outlet with its menu; nil where there is none.
    func outlet(_ outlet: Identifier) throws(Failure) -> OutletRecord? {
        let model = model(of: outlet)
        if let corruption = model.corruption(of: outlet) { throw Failure(corruption) }
        return model[outlet]
    }

    /// The outlet's home; nil where there is no such outlet.
    func home(of outlet: Identifier) throws(Failure) -> Home? {
        if let home = homes[outlet] { return home }
        guard let record = try self.outlet(outlet) else { return nil }
        let home = Home(revision: record.revision, document: HomeDocument.bytes(of: record))
        homes.keep(home, of: outlet)
        return home
    }

    /// What leads from the outlet's home of a revision to today's, at once or when the old one has been folded from
    /// the log; nil where there is no such outlet.
    func update(
        of outlet: Identifier, since revision: Int64,
        completion: @escaping @LoopActor (Result<HomeUpdate?, Failure>) -> Void
    ) {
        do throws(Failure) {
            guard let home = try home(of: outlet) else { return completion(.success(nil)) }
            if let update = patch(of: outlet, from: revision, to: home) { return completion(.success(update)) }
            guard (1..<home.revision).contains(revision) else { return completion(.success(.whole(home))) }
            archive.answer(.revision(revision, of: outlet)) { [self] old in
                // What cannot be had is not there: the client gets the whole document.
                if let old = try? old.get() {
                    homes.keepPast(Home(revision: revision, document: old.bytes(.none)), of: outlet)
                }
                completion(
                    Result { () throws(Failure) in
                        try self.home(of: outlet).map { patch(of: outlet, from: revision, to: $0) ?? .whole($0) }
                    })
            }
        } catch {
            completion(.failure(error))
        }
    }

    private func patch(of outlet: Identifier, from revision: Int64, to home: Home) -> HomeUpdate? {
        if revision == home.revision { return .patch(from: revision, to: revision, Array("[]".utf8)) }
        return homes.patch(from: revision, to: home, of: outlet).map {
            .patch(from: revision, to: home.revision, $0)
        }
    }

    /// A document as it was at a moment, as soon as it has been folded from the log; nil where there was none.
    func past(_ question: Archive.Question, completion: @escaping @LoopActor (Archive.Answer) -> Void) {
        archive.answer(question, completion: completion)
    }

    /// Every item and outlet, as of now.
    var catalogue: Catalogue { liveCatalogue.current }

    /// A cart with its lines and what has become of them; nil where it never was.
    func document(of cart: Identifier, _ committed: CommittedState) -> SealedDocument? {
        guard committed.version > 0, case .cart(let state) = committed.state else { return nil }
        return SealedDocument(state.contents?.textOwner(of: cart)) { [self] texts in
            CartDocument.bytes(
                of: cart, state: state, version: committed.version, updatedAt: committed.updatedAt, texts: texts
            ) { item, outlet in
                LoopActor.assumeIsolated { offer(of: item, at: outlet) }
            }
        }
    }

    /// The saved questions whose answers may have changed since this was last asked.
    func takeTouchedQuestions() -> Set<Identifier> { liveCatalogue.takeTouched() }

    /// The sum of quantities in a cart.
    func count(of cart: Identifier) throws(Failure) -> Int {
        let stream = StreamName(.cart, cart)
        let shard = shard(of: stream)
        if let corruption = shard.readModel.cartCounts.quarantine[stream] { throw Failure(corruption) }
        return shard.readModel.cartCounts.count(of: cart)
    }

    /// The committed state of a stream.
    func read(_ stream: StreamName, completion: @escaping (Result<CommittedState, ReadFailure>) -> Void) {
        shard(of: stream).processor.read(stream, completion: completion)
    }

    // MARK: Running

    /// Starts whatever has become due in this turn of the loop.
    func startWork() {
        for shard in shards { shard.startWork() }
    }

    /// Waits until nothing is on its way, and saves the read models.
    func stop() async {
        // What waits for a key is still to come.
        await locksmith.stop()
        for shard in shards { await shard.stop() }
    }
}
