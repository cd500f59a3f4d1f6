internal import EventLog
internal import EventLoop

/// Looks for what other servers wrote: by one question about the ends of all partitions, so that a partition in which
/// nothing happens costs nothing.
@LoopActor
final class LogWatch {
    /// Every so many looks, the next partition is read whatever its head says: the batches decide, not the heads.
    static let looksOfTurn = 5

    private let log: any EventLog
    private let partitions: Partitions
    private var timer: LoopTimer?
    private var looks = 0
    private var isAsking = false

    init(_ log: any EventLog, _ partitions: Partitions) {
        self.log = log
        self.partitions = partitions
    }

    func start() {
        timer = LoopTimer(milliseconds: partitions.configuration.pollMilliseconds, repeating: true) { [weak self] in
            self?.look()
        }
    }

    func stop() {
        timer?.cancel()
        timer = nil
    }

    private func look() {
        for worker in partitions.workers { worker.giveUpQuestions() }
        looks += 1
        // The end of one partition costs as much as what follows it.
        if partitions.workers.count == 1 { return partitions[0].poll() }
        if looks.isMultiple(of: LogWatch.looksOfTurn) {
            partitions[looks / LogWatch.looksOfTurn % partitions.workers.count].poll()
        }
        guard !isAsking else { return }
        isAsking = true
        LoopActor.task { [self] in
            // Without an answer, each partition finds out for itself what is wrong.
            let heads = await log.knownHeads()
            isAsking = false
            guard timer != nil else { return }
            let ends = Dictionary(heads.map { ($0.partition, $0) }) { first, _ in first }
            for (partition, worker) in partitions.workers.enumerated() where !worker.isAt(ends[partition]) {
                worker.poll()
            }
        }
    }
}
