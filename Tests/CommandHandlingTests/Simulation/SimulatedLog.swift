import EventLog

/// The log as PostgreSQL keeps it: what `tiffin.append` and `tiffin.outcome` do, with their epochs, but without the
/// network.
final class SimulatedLog {
    /// The answer to an append. Nothing was appended if the epoch differs from the one it was sent in.
    struct Answer {
        var receipt: AppendReceipt
        var epoch: Int
    }

    private(set) var events: [RecordedEvent] = []
    private(set) var epoch = 0
    /// How often an older copy of the log has taken its place.
    private(set) var forks = 0
    /// The events of each log that an older copy replaced.
    private(set) var lostLogs: [[RecordedEvent]] = []
    private var commits: [(end: LogPoint, epoch: Int, content: Digest, receipt: AppendReceipt)] = []

    var head: Int64 { Int64(events.count) }
    var end: LogPoint { commits.last?.end ?? .start }

    /// An older copy takes the place of the log: the newest batches are lost, and what was known of epochs.
    func fork(losing count: Int) {
        let count = min(count, commits.count)
        guard count > 0 else { return }
        forks += 1
        lostLogs.append(events)
        commits.removeLast(count)
        epoch = commits.last?.epoch ?? 0
        events.removeSubrange(Int(end.position)...)
    }

    private func check(_ point: LogPoint) throws(EventLogError) {
        guard point.position == 0 || commits.contains(where: { $0.end == point }) else { throw .forked("forked") }
    }

    func append(_ batch: EventBatch, seen: LogPoint, epoch: Int) throws(EventLogError) -> Answer {
        guard epoch == self.epoch else {
            let refusal = AppendReceipt(previous: end, conflicts: Set(batch.groups), end: end)
            return Answer(receipt: refusal, epoch: self.epoch)
        }
        try check(seen)
        let written = Set(events.dropFirst(Int(seen.position)).map(\.stream))
        let conflicts = batch.conflicts(with: written)
        let accepted = zip(batch.events, batch.groups).filter { !conflicts.contains($0.1) }.map(\.0)
        let stale = staleStreams(of: accepted)
        guard stale.isEmpty else {
            let refusal = AppendReceipt(previous: end, conflicts: Set(batch.groups), stale: stale, end: end)
            return Answer(receipt: refusal, epoch: epoch)
        }
        let previous = end
        for event in accepted {
            let name = event.stream.description
            events.append(
                RecordedEvent(
                    partition: 0, position: head + 1, stream: name, version: event.version, kind: event.kind,
                    payload: event.payload, metadata: event.metadata, recordedAt: batch.recordedAt))
        }
        guard !accepted.isEmpty else {
            return Answer(
                receipt: AppendReceipt(previous: end, conflicts: conflicts, end: end), epoch: epoch)
        }
        // What was appended makes the chain, not what was sent.
        let content =
            conflicts.isEmpty
            ? batch.contentDigest : EventBatch.contentDigest(of: accepted, recordedAt: batch.recordedAt)
        let end = LogPoint(position: head, digest: previous.digest?.chained(to: content))
        let receipt = AppendReceipt(previous: previous, conflicts: conflicts, end: end)
        commits.append((end, epoch, batch.contentDigest, receipt))
        return Answer(receipt: receipt, epoch: epoch)
    }

    /// Appends a batch if the log ends at the point, in the epoch that it was sent in.
    func appendNext(_ batch: EventBatch, after point: LogPoint, epoch: Int) throws(EventLogError) -> LogPoint? {
        guard epoch == self.epoch, point == end else { return nil }
        let receipt = try append(batch, seen: point, epoch: epoch).receipt
        return receipt.stale.isEmpty ? receipt.end : nil
    }

    /// The receipt of a batch that is in the log. If it is not, a new epoch begins.
    func outcome(of batch: EventBatch, since seen: LogPoint, epoch known: Int) -> (receipt: AppendReceipt?, epoch: Int)
    {
        let found = commits.first {
            $0.content == batch.contentDigest && $0.receipt.previous.position >= seen.position
        }?.receipt
        if found == nil { epoch = max(epoch, known) + 1 }
        return (found, epoch)
    }

    func follow(after point: LogPoint, limit: Int) throws(EventLogError) -> FollowingEvents {
        try check(point)
        let following = commits.drop { $0.end.position <= point.position }
        let end = (following.first { $0.end.position - point.position >= limit } ?? following.last)?.end ?? point
        return FollowingEvents(events: Array(events[Int(point.position)..<Int(end.position)]), end: end)
    }

    func read(
        _ stream: StreamName, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) throws(EventLogError) -> [RecordedEvent] {
        try check(seen)
        let name = stream.description
        return Array(events.lazy.filter { $0.stream == name && $0.version > version }.prefix(limit))
    }

    /// The streams that the batch begins and the log has. PostgreSQL checks nothing else, so here any other version that
    /// does not follow is a mistake of the writer.
    private func staleStreams(of new: [NewEvent]) -> Set<StreamName> {
        let first = Dictionary(new.map { ($0.stream, $0.version) }, uniquingKeysWith: { first, _ in first })
        return Set(
            first.filter { stream, version in
                let last = self.version(of: stream.description)
                precondition(version == 1 || version == last + 1, "version \(version) of \(stream) follows \(last)")
                return version == 1 && last > 0
            }.keys)
    }

    private func version(of stream: String) -> Int64 { events.last { $0.stream == stream }?.version ?? 0 }
}
