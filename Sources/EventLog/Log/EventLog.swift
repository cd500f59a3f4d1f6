// The log: what an event is once it is recorded, how its payload is written and read, and what any log must do.
//
// The promise of every log: positions of a partition are dense and visible in commit order, versions of a
// stream are dense, a batch is durable when `append` returns, and what conflicts fails alone.

/// The one place where events are kept.
public protocol EventLog: Sendable {
    /// The number of partitions, chosen once.
    var partitionCount: Int { get }

    /// Appends a batch: every group of which no stream has been written since `seen`.
    ///
    /// Where the writer is wrong about the version of a stream that has not been written since `seen`, nothing is
    /// appended: the receipt refuses every group and names those streams as stale.
    ///
    /// - Parameter seen: the position up to which the writer knows the partition.
    /// - Throws: ``EventLogError/outcomeUnknown(_:)`` where the batch may or may not be in the log: ask
    ///   ``outcome(of:since:)``. Otherwise nothing of it is.
    func append(_ batch: EventBatch, seen: Int64) async throws(EventLogError) -> AppendReceipt

    /// What became of a batch whose `append` ended in ``EventLogError/outcomeUnknown(_:)``; nil where it is not
    /// in the log and never will be.
    func outcome(of batch: EventBatch, since seen: Int64) async throws(EventLogError) -> AppendReceipt?

    /// The events of a partition after a position, in order, at most `limit`.
    func read(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent]

    /// The same events as a page, which costs less where they are many.
    func page(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> EventPage

    /// The events of a stream after a version, in order, at most `limit`.
    func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int
    ) async throws(EventLogError) -> [RecordedEvent]

    /// The batches of a partition that end after a position, in order, at most `limit`: the first of them is the
    /// one that the next position belongs to.
    func commits(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [Commit]

    /// Where each partition stands, by number. A damaged log may lack the head of a partition.
    func heads() async throws(EventLogError) -> [LogHead]
}

extension EventLog {
    /// Where a partition stands; fails where a damaged log lacks its head.
    public func head(of partition: Int) async throws(EventLogError) -> LogHead {
        guard let head = try await heads().first(where: { $0.partition == partition }) else {
            throw .unavailable("the log is damaged: partition \(partition) has no head")
        }
        return head
    }

    /// A page of what ``read(partition:after:limit:)`` gives.
    public func page(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> EventPage {
        EventPage(partition: partition, try await read(partition: partition, after: position, limit: limit))
    }
}

/// Where a partition stands.
public struct LogHead: Equatable, Sendable {
    /// The highest position that a partition can reach. No arithmetic on positions up to here overflows; whatever lies
    /// beyond was not written by an append.
    public static let maximumPosition = Int64(1) << 62

    /// The partition.
    public var partition: Int
    /// The position of the last event; 0 where there is none.
    public var position: Int64
    /// The chain over every batch up to there.
    public var digest: Digest

    /// The head of a partition.
    public init(partition: Int, position: Int64, digest: Digest) {
        self.partition = partition
        self.position = position
        self.digest = digest
    }
}

/// What became of a batch.
public struct AppendReceipt: Equatable, Sendable {
    /// The position of the last event before the batch.
    public var previousPosition: Int64
    /// The groups that were not appended, because a stream of theirs has been written since.
    public var conflicts: Set<Int32>
    /// Streams whose version in the log is not the one that the batch follows. What the writer believed about them came
    /// from elsewhere: they are to be loaded from the log.
    public var stale: Set<StreamName>

    /// A receipt.
    public init(previousPosition: Int64, conflicts: Set<Int32>, stale: Set<StreamName> = []) {
        self.previousPosition = previousPosition
        self.conflicts = conflicts
        self.stale = stale
    }
}

/// Why the log did not do what it was asked.
public enum EventLogError: Error, Equatable, Sendable {
    /// The log cannot be reached. Nothing was accepted.
    case unavailable(String)
    /// The connection was lost when a batch had been sent.
    case outcomeUnknown(String)
}

extension EventLogError: CustomStringConvertible {
    /// What went wrong, for an operator.
    public var description: String {
        switch self {
        case .unavailable(let reason), .outcomeUnknown(let reason): reason
        }
    }
}
