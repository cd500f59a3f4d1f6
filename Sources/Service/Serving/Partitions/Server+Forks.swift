internal import CommandHandling
internal import EventLog
internal import EventLoop
internal import Projections

// A fork: the log is not the one that a partition's read model was folded from. That happens when a standby takes over
// that lacks the newest batches, or when a backup is restored. What was read is dropped, and the log read again.

extension Server {
    /// How long to wait before a partition is read again that could not be read.
    private static let retryMilliseconds: UInt64 = 500

    /// Reads a partition again, and serves from that. Until then its commands are answered `UNAVAILABLE`.
    func leaveFork(of partition: Int) {
        guard refolds[partition] == nil else { return }
        refolds[partition] = Task { @LoopActor [self] in
            defer { refolds[partition] = nil }
            let (old, began) = (partitions[partition], LoopActor.now)
            await old.abandon()
            var isLossKnown = false
            while !Task.isCancelled {
                do {
                    if !isLossKnown { try await tellLoss(of: old) }
                    isLossKnown = true
                    try await replace(old)
                    logger.info(
                        "partition \(partition): serving the log up to position \(partitions[partition].position), after "
                            + "\((LoopActor.now - began) / 1_000_000) ms")
                    return
                } catch {
                    logger.error("partition \(partition): the log could not be read again: \(error)")
                }
                await LoopTimer.pause(milliseconds: Server.retryMilliseconds)
            }
        }
    }

    /// Says what the log has lost since it was read.
    private func tellLoss(of worker: PartitionWorker) async throws(EventLogError) {
        let (follower, last) = (worker.follower, worker.position)
        let common = try await log.newest(of: follower.points, partition: follower.partition)
        let first = (common ?? follower.points.first ?? .start).position + 1
        guard first <= last else { return }
        worker.lostEvents += last - first + 1
        logger.error(
            "partition \(follower.partition): the database has lost what was read from position \(first) "
                + "\(common == nil ? "or before " : "")to \(last), or has other events there: the log is read again")
    }

    private func replace(_ old: PartitionWorker) async throws {
        let fresh = try await restoredWorker(old.readModel.partition)
        fresh.lostEvents = old.lostEvents
        let changed = await CheckpointKeeper.difference(
            between: old.readModel.outletHome, and: fresh.readModel.outletHome)
        try Task.checkCancellation()
        partitions.replace(with: fresh)
        serve(fresh)
        homes.dropAll()
        fresh.audience.hear(changed, fresh.readModel)
        kitchens.dropAll()
        topics.refresh()
        deadlines.load()
        processes.load()
    }
}
