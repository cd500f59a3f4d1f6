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
    private var receipts: [Digest: AppendReceipt] = [:]

    var head: Int64 { Int64(events.count) }

    func append(_ batch: EventBatch, seen: Int64, epoch: Int) -> Answer {
        guard epoch == self.epoch else {
            return Answer(
                receipt: AppendReceipt(previousPosition: head, conflicts: Set(batch.groups)), epoch: self.epoch)
        }
        precondition(seen <= head, "a writer cannot have seen what is not there")
        let written = Set(events.dropFirst(Int(seen)).map(\.stream))
        let sent = zip(batch.events, batch.groups)
        let conflicts = Set(sent.filter { written.contains($0.0.stream.description) }.map(\.1))
        let receipt = AppendReceipt(previousPosition: head, conflicts: conflicts)
        let accepted = sent.filter { !conflicts.contains($0.1) }.map(\.0)
        let stale = staleStreams(of: accepted)
        guard stale.isEmpty else {
            let refusal = AppendReceipt(previousPosition: head, conflicts: Set(batch.groups), stale: stale)
            return Answer(receipt: refusal, epoch: epoch)
        }
        for event in accepted {
            let name = event.stream.description
            events.append(
                RecordedEvent(
                    partition: 0, position: head + 1, stream: name, version: event.version, kind: event.kind,
                    payload: event.payload, metadata: event.metadata, recordedAt: batch.recordedAt))
        }
        if !accepted.isEmpty { receipts[batch.contentDigest] = receipt }
        return Answer(receipt: receipt, epoch: epoch)
    }

    /// The receipt of a batch that is in the log. If it is not, a new epoch begins.
    func outcome(of batch: EventBatch, since seen: Int64) -> (receipt: AppendReceipt?, epoch: Int) {
        let found = receipts[batch.contentDigest].flatMap { $0.previousPosition >= seen ? $0 : nil }
        if found == nil { epoch += 1 }
        return (found, epoch)
    }

    func read(after position: Int64, limit: Int) -> [RecordedEvent] {
        Array(events.dropFirst(Int(position)).prefix(limit))
    }

    func read(_ stream: StreamName, afterVersion version: Int64, limit: Int) -> [RecordedEvent] {
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
