public import Domain
public import EventLog
public import Projections

/// Folds the log into read models, as of any moment.
public struct Replay: Sendable {
    /// How far to go.
    public enum Extent: Equatable, Sendable {
        case everything
        /// Up to and with a position of each partition.
        case position(Int64)
        /// Up to the last event before the first one that was recorded later, by the clocks of their writers.
        case time(Timestamp)
    }

    private let source: any AuditSource
    private let extent: Extent
    /// Whether saved rows may be begun with.
    private let isFromScratch: Bool

    /// A replay of what the source reads.
    public init(_ source: any AuditSource, extent: Extent, isFromScratch: Bool) {
        self.source = source
        self.extent = extent
        self.isFromScratch = isFromScratch
    }

    /// The read models of a partition as of then, and how many events were folded for that.
    ///
    /// - Parameter progress: is told the events that were folded, and how many there are to fold.
    /// - Throws: where an event or a row cannot be read, and where the log does not reach so far.
    @concurrent
    public func model(of head: LogHead, progress: @Sendable (Int64, Int64) -> Void) async throws -> (
        model: ReadModel, folded: Int64
    ) {
        var end = head.position
        if case .position(let position) = extent {
            guard position <= head.position else {
                throw AuditError("partition \(head.partition) of the log ends at \(head.position), before \(position)")
            }
            end = position
        }
        var model = try await begin(head.partition, upTo: end)
        let start = model.position
        var isOver = false
        let pages = PreparedPage.readAhead(of: head.partition, from: source, hashes: false)
        try await pages.forEachPage(after: start, upTo: end) { page in
            guard !isOver else { return }
            for event in page.events {
                if case .time(let time) = extent, event.recordedAt > time {
                    isOver = true
                    break
                }
                guard event.position - 1 == model.position else { throw missingEvent(after: model) }
                model.apply(event.decoded)
            }
            progress(model.position - start, end - start)
        }
        guard isOver || model.position >= end else { throw missingEvent(after: model) }
        return (model, model.position - start)
    }

    private func missingEvent(after model: ReadModel) -> AuditError {
        AuditError(
            "partition \(model.partition) of the log has no event at \(model.position + 1); "
                + "run `tiffin audit` for details")
    }

    /// An empty model, or one of saved rows where these are of the present projections and not too late.
    private func begin(
        _ partition: Int, upTo end: Int64
    ) async throws -> ReadModel {
        let nothing = ReadModel(partition: partition, notesChanges: false)
        guard !isFromScratch, extent == .everything else { return nothing }
        try await source.beginSnapshot()
        let checkpoints = try await source.checkpoints(partition: partition)
        guard let position = StoredRows.position(of: checkpoints).position, position <= end else {
            try await source.endSnapshot()
            return nothing
        }
        var model = nothing
        var key = ""
        while case .outletHome(let rows)? = try await source.rows(of: .outletHome, partition: partition, after: key) {
            try model.restore(.outletHome(rows))
            key = rows.last?.outlet.rawValue ?? key
        }
        key = ""
        while case .cartCounts(let rows)? = try await source.rows(of: .cartCounts, partition: partition, after: key) {
            try model.restore(.cartCounts(rows))
            key = rows.last?.cart.rawValue ?? key
        }
        model.restore(position: position, quarantined: try await source.quarantined(partition: partition))
        try await source.endSnapshot()
        return model
    }
}
