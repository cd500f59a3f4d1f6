public import EventLog

/// A read model as it was last saved.
public struct SavedReadModel: Sendable {
    /// The read model; empty if nothing could be restored.
    public private(set) var model: ReadModel
    /// The chain of the log up to its position; nil if it is not known.
    public private(set) var chain: Digest?
    /// The digests of its saved rows.
    public private(set) var digests = ReadModel.Digests()
    /// The generations of its saved rows.
    public var generations = ReadModel.firstGenerations
    /// The projections whose rows another version made. They can be served, but nothing can be saved into them.
    public private(set) var outdated: Set<RegisteredProjection> = []
    /// Whether the stored rows are rejected: the log is folded from its beginning, and the next checkpoint
    /// replaces them.
    public private(set) var isRejected = false
    /// Why it is not what was saved, or not what this version would have saved.
    public private(set) var note: String?

    /// Nothing was saved.
    public static func nothing(_ empty: ReadModel) -> SavedReadModel { SavedReadModel(model: empty) }

    /// Rejects what is stored, so that the log is folded from its beginning.
    public mutating func reject(because reason: String) {
        model = model.emptied
        chain = nil
        digests = ReadModel.Digests()
        outdated = []
        isRejected = true
        note = "\(reason): folding the log again"
    }

    /// Takes the rows that were saved.
    public mutating func take(_ model: ReadModel, _ active: [RegisteredProjection: StoredCheckpoint]) {
        self.model = model
        chain = active.values.first?.chain
        for (projection, checkpoint) in active {
            digests[projection] = SetDigest(checkpoint.digest) ?? SetDigest()
        }
        outdated = Set(active.filter { !$0.value.isOurs(of: $0.key) }.map(\.key))
        guard !outdated.isEmpty else { return }
        let names = outdated.map(\.name).sorted().joined(separator: " and ")
        note = "\(names) was saved by another version: it is served as it is, and rebuilt in the background"
    }
}
