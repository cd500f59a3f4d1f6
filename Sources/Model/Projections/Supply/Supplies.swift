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
    private var changes = ValueChanges<SupplyRow>()

    public init(notesChanges: Bool = false) { self.notesChanges = notesChanges }

    // MARK: Questions

    /// Whether an outlet counts anything, or has counted.
    public var isEmpty: Bool { supplies.isEmpty }

    /// How much of what an outlet has counted can still be ordered; nil where it has counted nothing.
    public func left(at outlet: Identifier) -> [Claim.Key: Int64]? { supplies[outlet]?.left }

    /// The version of an outlet's stream; 0 where it has none.
    func version(of outlet: Identifier) -> Int64 { supplies[outlet]?.version ?? 0 }

    public func mayExist(_ stream: StreamName) -> Bool {
        quarantine[stream] != nil || supplies[stream.id] != nil
    }

    // MARK: Folding

    public mutating func apply(_ event: DecodedEvent) throws(ImpossibleEvent) {
        guard case .supply(let change) = event.event, quarantine[event.stream] == nil else { return }
        let outlet = event.stream.id
        let before = supplies[outlet]
        var row = before ?? SupplyRow(outlet: outlet, version: 0, left: [:])
        guard event.version == row.version + 1 else {
            throw ImpossibleEvent("version \(event.version) after \(row.version)")
        }
        row.version = event.version
        switch change {
        case .stocked(let key, let left): row.left[key] = left
        case .held(let claims, let order, _):
            for claim in claims {
                guard let left = row.left[claim.key] else { continue }
                guard left >= claim.count else {
                    throw ImpossibleEvent("more held than there was of \(claim.key): '\(order)'")
                }
                row.left[claim.key] = left - claim.count
            }
        case .refused: break
        case .returned(let claims, let order):
            for claim in claims {
                guard let left = row.left[claim.key] else { continue }
                let (sum, overflow) = left.addingReportingOverflow(claim.count)
                guard !overflow else { throw ImpossibleEvent("more returned than can be: '\(order)'") }
                row.left[claim.key] = sum
            }
        }
        supplies[outlet] = row
        if notesChanges { changes.note(outlet, before: before, after: row) }
    }

    #if DEBUG
        public mutating func skip(_ event: DecodedEvent) {
            guard var row = supplies[event.stream.id] else { return }
            let before = row
            row.version = event.version
            supplies[event.stream.id] = row
            if notesChanges { changes.note(event.stream.id, before: before, after: row) }
        }
    #endif

    // MARK: Rows

    public var rowCount: Int { supplies.count }

    public var rows: some Sequence<SupplyRow> { supplies.values }

    public func row(of key: Identifier) -> SupplyRow? { supplies[key] }

    public mutating func restore(_ stored: StoredRow) throws(UnreadableValue) -> Digest {
        let row = try SupplyRow(stored)
        guard supplies.updateValue(row, forKey: row.outlet) == nil else { throw UnreadableValue("there are two of it") }
        return row.digest
    }

    // MARK: Checkpoints

    public mutating func takeChanges() -> ValueChanges<SupplyRow> {
        defer { changes = ValueChanges() }
        return changes
    }

    public mutating func putBack(_ taken: ValueChanges<SupplyRow>) { changes.merge(older: taken) }
}

/// A row of `supply`.
public struct SupplyRow: ValueRow {
    public static let columns = [Column("outlet", .text), Column("version", .int64), Column("counts", .json)]

    /// The outlet.
    public let outlet: Identifier
    /// The version of its stream.
    public fileprivate(set) var version: Int64
    /// How much of what it has counted can still be ordered.
    public fileprivate(set) var left: [Claim.Key: Int64]

    init(outlet: Identifier, version: Int64, left: [Claim.Key: Int64]) {
        self.outlet = outlet
        self.version = version
        self.left = left
    }

    public init(key: Identifier, value: SupplyRow) { self = value }

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
        let left = Dictionary(claims.map { ($0.key, $0.count) }) { first, _ in first }
        self.init(outlet: try stored.key(), version: stored.int64(1), left: left)
    }

    public func write(to columns: inout some RowWriter) {
        columns.text(outlet.rawValue)
        columns.int64(version)
        columns.json(counts)
    }

    private var counts: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 64 * left.count)
        ClaimCodec.encode(left.map { Claim($0.key, $0.value) }.sorted { $0.key < $1.key }, to: &writer)
        return writer.bytes
    }

    public var key: Identifier { outlet }

    public var size: Int { 100 + 64 * left.count }

    public func mayFollow(_ event: DecodedEvent) -> Bool { event.version == version }

    /// The row's digest: over the outlet, a zero byte, the version in decimal, another zero byte, and the counts.
    public var digest: Digest { Digest.of(Array("\(outlet.rawValue)\0\(version)\0".utf8) + counts) }
}
