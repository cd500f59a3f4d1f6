internal import EventLog
internal import EventLoop

/// How the batches of a partition went.
@LoopActor
final class BatchRecord {
    /// How long a failure is not reported again, in nanoseconds.
    static let silence: UInt64 = 10_000_000_000

    var statistics = BatchStatistics()
    private(set) var lastFailure: (error: EventLogError, at: UInt64)?
    /// When batches were first sent, by their numbers.
    private var sentAt: [(number: Int, time: UInt64)] = []
    private let logger: Logger
    private let latencies: LatencyMonitor
    private let now: () -> UInt64

    /// - Parameter now: the loop's clock, in nanoseconds.
    init(_ logger: Logger, _ latencies: LatencyMonitor, now: @escaping () -> UInt64) {
        self.logger = logger
        self.latencies = latencies
        self.now = now
    }

    /// A batch is sent, perhaps again.
    ///
    /// - Parameter oldest: the number of the oldest batch that is not answered.
    func sends(_ number: Int, oldest: Int) {
        sentAt.removeAll { $0.number < oldest || $0.number > number }
        if sentAt.last?.number != number { sentAt.append((number, now())) }
    }

    /// How long ago the oldest batch that is not answered was first sent, in nanoseconds.
    var age: UInt64 { sentAt.first.map { now() - $0.time } ?? 0 }

    /// The outcome of a batch is known, or given up.
    func settled(_ number: Int, _ batch: EventBatch, _ result: Result<AppendReceipt, EventLogError>) {
        let now = now()
        switch result {
        case .success(let receipt):
            lastFailure = nil
            let refused = receipt.conflicts.isEmpty ? 0 : batch.groups.count { receipt.conflicts.contains($0) }
            let nanoseconds = now - (sentAt.first { $0.number == number }?.time ?? now)
            statistics.appended(events: batch.events.count - refused, nanoseconds: nanoseconds)
            latencies.note(.append, nanoseconds: nanoseconds)
        case .failure(let error):
            statistics.hasFailed()
            if let lastFailure, lastFailure.error == error, now - lastFailure.at < BatchRecord.silence { return }
            lastFailure = (error, now)
            logger.error("partition \(batch.partition): a batch could not be appended: \(error)")
        }
    }
}
