public import Domain
public import EventLog

/// What is to be saved of a read model: the rows that changed since the last save, as they were when it was taken, in
/// slices small enough to be written between other work.
public struct Checkpoint: Sendable {
    /// The most rows of a slice.
    public static let sliceRows = 2_000
    /// About how many bytes a slice holds, unless a single row has more.
    public static let sliceBytes = 200_000

    /// Rows of one projection.
    public struct Slice: Sendable {
        /// The projection.
        public let projection: RegisteredProjection
        /// The rows.
        public let rows: [any ProjectionRow]
    }

    /// The partition.
    public let partition: Int
    /// The position of the last event in the rows.
    public let position: Int64
    /// Streams that were quarantined, each with the projection that quarantined it.
    public let quarantined: [(projection: RegisteredProjection, event: CorruptEvent)]
    /// The digests of the projections' rows once every slice is taken.
    public private(set) var digests: ReadModel.Digests

    private var pending: [any PendingRows] = []
    /// The projection whose rows are next.
    private var next = 0

    fileprivate init(_ model: inout ReadModel, since digests: ReadModel.Digests) {
        partition = model.partition
        position = model.position
        self.digests = digests
        var quarantined: [(projection: RegisteredProjection, event: CorruptEvent)] = []
        for projection in ReadModel.projections {
            pending.append(projection.member.takeChanges(of: projection, from: &model))
            for event in projection.member.takeUnsavedQuarantine(from: &model) {
                self.digests[projection].insert(quarantined: event)
                quarantined.append((projection, event))
            }
        }
        self.quarantined = quarantined
    }

    /// Of a projection, the keys whose stored rows have to be read before the first slice is taken.
    public func unread(of projection: RegisteredProjection) -> [Identifier] {
        pending.first { $0.projection == projection }?.unread ?? []
    }

    /// Takes the stored rows of some of these; the others have none. What contradicts the log stays unread.
    public mutating func read(_ rows: any StoredRows, of projection: RegisteredProjection, _ keys: [Identifier]) {
        guard let index = pending.firstIndex(where: { $0.projection == projection }) else { return }
        pending[index].read(rows, of: keys)
    }

    /// The next rows to be written, or nil when there are no more.
    public mutating func nextSlice() -> Slice? {
        while next < pending.count {
            let projection = pending[next].projection
            let rows = pending[next].nextRows(&digests[projection])
            if !rows.isEmpty { return Slice(projection: projection, rows: rows) }
            next += 1
        }
        return nil
    }

    fileprivate func saved(in model: inout ReadModel) {
        for rows in pending { rows.saved(in: &model) }
    }

    fileprivate func putBack(into model: inout ReadModel) {
        for rows in pending { rows.putBack(into: &model) }
        for projection in ReadModel.projections {
            let events = quarantined.filter { $0.projection == projection }.map(\.event)
            projection.member.putBack(quarantined: events, into: &model)
        }
    }
}

/// The changed rows of one projection that have not been written yet.
private protocol PendingRows: Sendable {
    var projection: RegisteredProjection { get }
    var unread: [Identifier] { get }
    mutating func read(_ rows: any StoredRows, of keys: [Identifier])
    mutating func nextRows(_ digest: inout SetDigest) -> [any ProjectionRow]
    func saved(in model: inout ReadModel)
    func putBack(into model: inout ReadModel)
}

private struct PendingChanges<Member: ProjectionMember>: PendingRows {
    let projection: RegisteredProjection
    let member: Member
    /// The changes as they were taken; they also note what has been written.
    let taken: Member.Member.Changes
    var changes: Member.Member.Changes

    var unread: [Identifier] { changes.unread }

    mutating func read(_ rows: any StoredRows, of keys: [Identifier]) {
        changes.read((0..<rows.count).compactMap { try? Member.Member.row($0, of: rows) }, of: keys)
    }

    mutating func nextRows(_ digest: inout SetDigest) -> [any ProjectionRow] {
        var rows: [any ProjectionRow] = []
        var bytes = 0
        while rows.count < Checkpoint.sliceRows, bytes < Checkpoint.sliceBytes, let change = changes.next() {
            if let before = change.before { digest.remove(before) }
            digest.insert(change.digest)
            bytes += change.after.size
            rows.append(change.after)
        }
        return rows
    }

    func saved(in model: inout ReadModel) { member.change(in: &model) { $0.saved(changes) } }

    func putBack(into model: inout ReadModel) { member.change(in: &model) { $0.putBack(taken) } }
}

extension ProjectionMember {
    fileprivate func takeChanges(
        of projection: RegisteredProjection, from model: inout ReadModel
    ) -> any PendingRows {
        let changes = change(in: &model) { $0.takeChanges() }
        return PendingChanges(projection: projection, member: self, taken: changes, changes: changes)
    }

    fileprivate func takeUnsavedQuarantine(from model: inout ReadModel) -> [CorruptEvent] {
        change(in: &model) { $0.quarantine.takeUnsaved() }
    }

    fileprivate func putBack(quarantined: [CorruptEvent], into model: inout ReadModel) {
        change(in: &model) { $0.quarantine.putBack(quarantined) }
    }

    fileprivate func endRestoring(in model: inout ReadModel) throws(UnreadableRow) {
        guard let key = change(in: &model, { $0.endRestoring() }) else { return }
        throw UnreadableRow(
            table: Member.table, partition: model.partition, key: key.rawValue, reason: "there are two of it")
    }

    fileprivate func restore(quarantined: CorruptEvent, into model: inout ReadModel) {
        change(in: &model) { $0.quarantine.restore(quarantined) }
    }
}

extension ReadModel {
    /// The digests of the projections' rows, and of the streams that they do not show.
    public struct Digests: Equatable, Sendable {
        private var digests: [RegisteredProjection: SetDigest]

        /// The digests of no rows.
        public init() {
            digests = Dictionary(uniqueKeysWithValues: ReadModel.projections.map { ($0, SetDigest()) })
        }

        /// Of the rows of a projection.
        public subscript(projection: RegisteredProjection) -> SetDigest {
            get { digests[projection] ?? SetDigest() }
            set { digests[projection] = newValue }
        }
    }

    /// The digests of all rows, computed from them.
    public var digests: Digests {
        var digests = Digests()
        for projection in ReadModel.projections { digests[projection] = projection.member.digest(in: self) }
        return digests
    }

    /// Takes what changed since the last checkpoint. Report the result by ``saved(_:)`` or ``notSaved(_:)``.
    public mutating func takeCheckpoint(since digests: Digests) -> Checkpoint {
        precondition(notesChanges, "a read model that does not note changes has no checkpoints")
        return Checkpoint(&self, since: digests)
    }

    /// The checkpoint's rows are in the database.
    public mutating func saved(_ checkpoint: Checkpoint) { checkpoint.saved(in: &self) }

    /// The checkpoint's rows are not in the database: they have to be saved again.
    public mutating func notSaved(_ checkpoint: Checkpoint) { checkpoint.putBack(into: &self) }

    /// Restores saved rows of a projection, and adds them to its digest.
    public mutating func restore(
        _ rows: any StoredRows, of projection: RegisteredProjection, _ digests: inout Digests
    ) throws(UnreadableRow) {
        try projection.member.restore(rows, into: &self, &digests[projection])
    }

    /// Continues from a saved position, once the saved rows are restored.
    public mutating func restore(
        position: Int64, quarantined: [(projection: RegisteredProjection, event: CorruptEvent)],
        _ digests: inout Digests
    ) throws(UnreadableRow) {
        self.position = position
        orders.storedPosition = position
        for projection in ReadModel.projections { try projection.member.endRestoring(in: &self) }
        for (projection, event) in quarantined {
            projection.member.restore(quarantined: event, into: &self)
            digests[projection].insert(quarantined: event)
        }
    }
}

extension SetDigest {
    /// Adds a stream that is not shown: its name, its first corrupt event, and nothing that depends on words.
    mutating func insert(quarantined event: CorruptEvent) {
        insert(Digest.of(Array("\0\(event.stream)\0\(event.position)".utf8)))
    }
}
