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
    private let liveCatalogue: LiveCatalogue
    let clock: () -> Timestamp

    init(shards: [Shard], homes: HomeCache, catalogue: LiveCatalogue, clock: @escaping () -> Timestamp) {
        self.shards = shards
        self.homes = homes
        liveCatalogue = catalogue
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
        home(of: outlet).offer(of: item, at: outlet, now: clock())
    }

    private func home(of outlet: Identifier) -> OutletHome {
        shard(of: StreamName(.outlet, outlet)).readModel.outletHome
    }

    // MARK: Questions

    /// The outlet with its menu; nil where there is none.
    func outlet(_ outlet: Identifier) throws(Failure) -> OutletRecord? {
        let home = home(of: outlet)
        if let corruption = home.corruption(of: outlet) { throw Failure(corruption) }
        return home[outlet]
    }

    /// The outlet's home without its last brace; nil where there is no such outlet.
    func openHome(of outlet: Identifier) throws(Failure) -> [UInt8]? {
        if let bytes = homes[outlet] { return bytes }
        guard let record = try self.outlet(outlet) else { return nil }
        let bytes = HomeDocument.openBytes(of: record)
        homes[outlet] = bytes
        return bytes
    }

    /// Every item and outlet, as of now.
    var catalogue: Catalogue { liveCatalogue.current }

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
        for shard in shards { await shard.stop() }
    }
}
