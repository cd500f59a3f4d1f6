public import Domain
public import EventLog
internal import TextFormats

/// The projection `supply`: how much is left of everything that an outlet has counted.
///
/// Who holds how much is not kept: the outlet's stream tells it.
public struct Supplies: Projection {
    public static let name = "supply"
    public static let version = 1
    public static let table = "supply_rows"

    @inlinable
    public static func follows(_ category: StreamName.Category) -> Bool { category == .supply }

    public static func streams(of key: Identifier) -> [StreamName] { [StreamName(.supply, key)] }

    private let notesChanges: Bool

    /// Supplies that are not shown.
    public var quarantine = Quarantine()

    private var supplies: [Identifier: SupplyRow] = [:]
    /// Supplies that have changed since rows were last taken for saving.
    private var changed: Set<Identifier> = []
    /// The digests of the rows as they were last saved.
    private var savedDigests: [Identifier: Digest] = [:]

    public init(notesChanges: Bool = false) { self.notesChanges = notesChanges }

    // MARK: Questions

    /// Whether an outlet counts anything, or has counted.
    public var isEmpty: Bool { supplies.isEmpty }

    /// How much of what an outlet has counted can still be ordered; nil where it has counted nothing.
    public func left(at outlet: Identifier) -> [Claim.Key: Int64]? { supplies[outlet]?.counts.left }

    /// How much orders have of something that has a limit.
    public func taken(_ key: Claim.Key, at outlet: Identifier) -> Int64 { supplies[outlet]?.counts.taken[key] ?? 0 }

    /// The version of an outlet's stream; 0 where it has none.
    func version(of outlet: Identifier) -> Int64 { supplies[outlet]?.version ?? 0 }

    public func mayExist(_ stream: StreamName) -> Bool {
        quarantine[stream] != nil || supplies[stream.id] != nil
    }

    // MARK: Folding

    public mutating func apply(_ event: DecodedEvent) throws(ImpossibleEvent) {
        guard case .supply(let change) = event.event, quarantine[event.stream] == nil else { return }
        let outlet = event.stream.id
        // Taken out and put back, so that nothing is copied: there may be as many counts as customers.
        var row = supplies.removeValue(forKey: outlet) ?? SupplyRow(outlet: outlet, version: 0, counts: Supply.Counts())
        defer { if row.version > 0 { supplies[outlet] = row } }
        guard event.version == row.version + 1 else {
            throw ImpossibleEvent("version \(event.version) after \(row.version)")
        }
        try row.counts.take(change)
        row.version = event.version
        if notesChanges { changed.insert(outlet) }
    }

    #if DEBUG
        public mutating func skip(_ event: DecodedEvent) {
            supplies[event.stream.id]?.version = event.version
            if notesChanges, supplies[event.stream.id] != nil { changed.insert(event.stream.id) }
        }
    #endif

    // MARK: Rows

    public var rowCount: Int { supplies.count }

    public var rows: some Sequence<SupplyRow> { supplies.values }

    public func row(of key: Identifier) -> SupplyRow? { supplies[key] }

    public mutating func restore(_ stored: StoredRow) throws(UnreadableValue) -> Digest {
        let row = try SupplyRow(stored)
        guard supplies.updateValue(row, forKey: row.outlet) == nil else { throw UnreadableValue("there are two of it") }
        let digest = row.digest
        savedDigests[row.outlet] = digest
        return digest
    }

    // MARK: Checkpoints

    /// Supplies that have changed.
    public struct Changes: ProjectionChanges {
        fileprivate let rows: [(row: SupplyRow, saved: Digest?)]
        /// The digests of the rows that were asked for.
        fileprivate var digests: [Digest] = []

        public mutating func next() -> ChangedRow<SupplyRow>? {
            guard digests.count < rows.count else { return nil }
            let (row, saved) = rows[digests.count]
            let change = ChangedRow(before: saved, after: row)
            digests.append(change.digest)
            return change
        }
    }

    public mutating func takeChanges() -> Changes {
        defer { changed = [] }
        return Changes(rows: changed.compactMap { outlet in supplies[outlet].map { ($0, savedDigests[outlet]) } })
    }

    public mutating func putBack(_ taken: Changes) { changed.formUnion(taken.rows.map(\.row.outlet)) }

    public mutating func saved(_ taken: Changes) {
        for (change, digest) in zip(taken.rows, taken.digests) { savedDigests[change.row.outlet] = digest }
    }
}

/// A row of `supply`.
public struct SupplyRow: ProjectionRow {
    public static let columns = [Column("outlet", .text), Column("version", .int64), Column("counts", .json)]

    /// The outlet.
    public let outlet: Identifier
    /// The version of its stream.
    public fileprivate(set) var version: Int64
    /// How much is left of what it has counted, and how much is taken of what has a limit.
    public fileprivate(set) var counts: Supply.Counts

    init(outlet: Identifier, version: Int64, counts: Supply.Counts) {
        self.outlet = outlet
        self.version = version
        self.counts = counts
    }

    public init(_ stored: StoredRow) throws(UnreadableValue) {
        let claims: [Claim]
        do {
            claims = try JSONReader.read(stored.bytes(2)) { reader throws(JSONReadingError) in
                try ClaimCodec.decode(from: &reader)
            }
        } catch {
            throw UnreadableValue("its counts: \(error)")
        }
        guard stored.int64(1) > 0, claims.allSatisfy({ $0.count >= 0 }) else {
            throw UnreadableValue("its version or counts")
        }
        self.init(outlet: try stored.key(), version: stored.int64(1), counts: Supply.Counts(claims))
    }

    public func write(to columns: inout some RowWriter) {
        columns.text(outlet.rawValue)
        columns.int64(version)
        columns.json(bytes)
    }

    private var bytes: [UInt8] {
        let all = counts.all
        var writer = JSONWriter(reservingCapacity: 64 * all.count)
        ClaimCodec.encode(all, to: &writer)
        return writer.bytes
    }

    public var key: Identifier { outlet }

    public var size: Int { 100 + 64 * (counts.left.count + counts.taken.count) }

    public func mayFollow(_ event: DecodedEvent) -> Bool { event.version == version }

    /// The row's digest: over the outlet, a zero byte, the version in decimal, another zero byte, and the counts.
    public var digest: Digest { Digest.of(Array("\(outlet.rawValue)\0\(version)\0".utf8) + bytes) }
}
