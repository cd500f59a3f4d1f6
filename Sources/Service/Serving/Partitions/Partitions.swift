internal import Application
internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// The partitions as they are served, by their numbers and by the streams that belong to them.
@LoopActor
final class Partitions {
    let partitioning: Partitioning
    /// The time, as events record it.
    let clock: () -> Timestamp
    let configuration: Configuration
    private(set) var workers: [PartitionWorker] = []
    /// The rules of the time zones that were asked for.
    private var zones: [Text: ZoneRules] = [:]

    init(_ partitioning: Partitioning, _ configuration: Configuration, clock: @escaping () -> Timestamp) {
        self.partitioning = partitioning
        self.configuration = configuration
        self.clock = clock
    }

    /// Adds the next partition.
    func append(_ worker: PartitionWorker) { workers.append(worker) }

    /// Serves from another worker of the same partition.
    func replace(with worker: PartitionWorker) { workers[worker.readModel.partition] = worker }

    /// The partition of a number.
    subscript(number: Int) -> PartitionWorker { workers[number] }

    /// The partition that a stream belongs to.
    subscript(stream: StreamName) -> PartitionWorker { workers[partitioning.partition(of: stream)] }

    /// The rules of a time zone; nil where this system does not know it.
    func rules(of zone: Text) -> ZoneRules? {
        if let known = zones[zone] { return known }
        let rules = ZoneRules(zone)
        zones[zone] = rules
        return rules
    }

    /// How many events all of them have.
    var eventCount: Int64 { workers.reduce(0) { $0 + $1.position } }

    /// Carries out what has become due.
    func startWork() {
        for worker in workers { worker.startWork() }
    }

    /// Frees what can be loaded again.
    func emptyCaches() {
        for worker in workers { worker.emptyCache() }
    }
}
