public import Domain
public import EventLog
public import Projections

/// Folds the log into read models, as of any moment.
public struct Replay: Sendable {
    /// How far to go.
    public enum Extent: Equatable, Sendable {
        case everything
        /// Up to and including a position of each partition.
        case position(Int64)
        /// Up to the last event before the first one that was recorded later, by the clocks of their writers.
        case time(Timestamp)
    }

    private let source: any AuditSource
    private let extent: Extent
    /// Whether saved rows may not be used as the beginning.
    private let isFromScratch: Bool

    /// A replay of what the source reads.
    public init(_ source: any AuditSource, extent: Extent, isFromScratch: Bool) {
        self.source = source
        self.extent = extent
        self.isFromScratch = isFromScratch
    }

    /// The read models of a partition as of then, how many events were folded for that, and why saved rows were not
    /// used, if they could not be read.
    ///
    /// - Parameter progress: receives the number of events that were folded, and the number to fold.
    /// - Throws: if an event cannot be read, or the log does not reach so far.
    @concurrent
    public func model(of head: LogHead, progress: @Sendable (Int64, Int64) -> Void) async throws -> (
        model: ReadModel, folded: Int64, note: String?
    ) {
        var end = head.position
        if case .position(let position) = extent {
            guard position <= head.position else {
                throw AuditError("partition \(head.partition) of the log ends at \(head.position), before \(position)")
            }
            end = position
        }
        var (model, note) = try await begin(head.partition, upTo: end)
        let start = model.position
        var isOver = false
        let pages = PreparedPage.readAhead(of: head.partition, from: source, hashes: false)
        try await pages.forEachPage(after: start, upTo: end) { page in
            guard !isOver else { return }
            // Not event by event: that would copy each.
            let events = page.events.span
            for index in events.indices {
                if case .time(let time) = extent, events[index].recordedAt > time {
                    isOver = true
                    break
                }
                guard events[index].position - 1 == model.position else { throw missingEvent(after: model) }
                model.apply(events[index].decoded)
            }
            progress(model.position - start, end - start)
        }
        guard isOver || model.position >= end else { throw missingEvent(after: model) }
        return (model, model.position - start, note)
    }

    private func missingEvent(after model: ReadModel) -> AuditError {
        AuditError(
            "partition \(model.partition) of the log has no event at \(model.position + 1); "
                + "run `tiffin audit` for details")
    }

    /// An empty model; or one from saved rows, if these have the present versions, follow from the log, and are not
    /// too late.
    private func begin(_ partition: Int, upTo end: Int64) async throws -> (model: ReadModel, note: String?) {
        let nothing = ReadModel(partition: partition, notesChanges: false)
        guard !isFromScratch, extent == .everything else { return (nothing, nil) }
        try await source.beginSnapshot()
        let saved = try await saved(nothing, upTo: end)
        try await source.endSnapshot()
        return saved
    }

    private func saved(
        _ nothing: ReadModel, upTo end: Int64
    ) async throws -> (model: ReadModel, note: String?) {
        let partition = nothing.partition
        let checkpoints = try await source.checkpoints(partition: partition).filter(\.isActive)
        guard let position = StoredRows.position(of: checkpoints).position, position <= end else {
            return (nothing, nil)
        }
        var model = nothing
        var quarantine = StoredQuarantine()
        var digests = ReadModel.Digests()
        for checkpoint in checkpoints {
            guard let projection = RegisteredProjection(name: checkpoint.projection) else { continue }
            var key: String?
            while let rows = try await source.rows(
                of: projection, checkpoint.generation, partition: partition, after: key, isWhole: false)
            {
                do throws(UnreadableRow) {
                    try model.restore(rows, of: projection, &digests)
                } catch {
                    return (nothing, error.description)
                }
                key = rows.key(rows.count - 1)
            }
            quarantine.add(
                try await source.quarantined(projection, checkpoint.generation, partition: partition), of: projection)
        }
        let fault = try await quarantine.fault(upTo: position) { stream, limit in
            try await source.events(partition: partition, stream: stream, limit: limit)
        }
        if let fault { return (nothing, fault) }
        do throws(UnreadableRow) {
            try model.restore(position: position, quarantined: quarantine.entries, &digests)
        } catch {
            return (nothing, error.description)
        }
        for checkpoint in checkpoints {
            guard let projection = RegisteredProjection(name: checkpoint.projection),
                checkpoint.digest != digests[projection].bytes
            else { continue }
            return (nothing, "the rows of \(projection) are not those that were saved")
        }
        return (model, nil)
    }
}
