package import Domain
internal import EventLog
internal import Projections

extension Identifier: ExpressibleByStringLiteral {
    /// The identifier as a literal.
    package init(stringLiteral text: String) {
        self.init(text)!
    }
}

extension Amount: ExpressibleByIntegerLiteral {
    /// Minor units as a literal.
    package init(integerLiteral minorUnits: Int64) {
        self.init(minorUnits: minorUnits)
    }
}

extension Timestamp: ExpressibleByIntegerLiteral {
    /// Milliseconds since the epoch as a literal.
    package init(integerLiteral milliseconds: Int64) {
        self.init(millisecondsSinceEpoch: milliseconds)
    }
}

extension ReadModel {
    /// Folds events of streams whose versions follow from each other.
    init(_ events: [(StreamName, DomainEvent)]) {
        self.init(partition: 0)
        var versions: [StreamName: Int64] = [:]
        for (index, (stream, event)) in events.enumerated() {
            versions[stream, default: 0] += 1
            apply([
                .success(
                    DecodedEvent(
                        partition: 0, position: Int64(index) + 1, stream: stream, version: versions[stream]!,
                        event: event, metadata: .none, recordedAt: 0))
            ])
        }
    }
}

/// Rows that are not what was saved.
struct OtherRows: Error {}

/// What a database holds of the read model of one partition: the values of every column, by projection and key.
struct Tables: Equatable {
    var rows: [RegisteredProjection: [String: StoredValues]] = [:]
    var quarantined: [String: (projection: RegisteredProjection, event: CorruptEvent)] = [:]
    var position: Int64 = 0
    var digests = ReadModel.Digests()

    init() {}

    /// All rows of a read model, as if none had been saved before.
    init(of model: ReadModel) {
        var model = model
        var checkpoint = model.takeCheckpoint(since: ReadModel.Digests())
        _ = save(&checkpoint)
    }

    static func == (one: Tables, other: Tables) -> Bool {
        one.rows == other.rows && one.position == other.position && one.digests == other.digests
            && one.quarantined.mapValues(\.event) == other.quarantined.mapValues(\.event)
    }

    /// Writes a checkpoint, unless the tables are as new, or contradict the log.
    mutating func save(_ checkpoint: inout Checkpoint) -> Bool {
        guard checkpoint.position > position else { return false }
        for projection in ReadModel.projections {
            let keys = checkpoint.unread(of: projection)
            checkpoint.read(rows(of: projection, with: keys), of: projection, keys)
            guard checkpoint.unread(of: projection).isEmpty else { return false }
        }
        while let slice = checkpoint.nextSlice() {
            for row in slice.rows { rows[slice.projection, default: [:]][row.key.rawValue] = StoredValues(row) }
        }
        for entry in checkpoint.quarantined where quarantined[entry.event.stream] == nil {
            quarantined[entry.event.stream] = entry
        }
        position = checkpoint.position
        digests = checkpoint.digests
        return true
    }

    func rows(of projection: RegisteredProjection, with keys: [Identifier]) -> MemoryRows {
        MemoryRows(keys.compactMap { rows[projection]?[$0.rawValue] })
    }

    /// - Parameters:
    ///   - empty: what the rows are restored into.
    ///   - isWanted: whether the rows of a projection are restored.
    func restored(
        into empty: ReadModel = ReadModel(partition: 0), where isWanted: (RegisteredProjection) -> Bool = { _ in true }
    ) throws -> ReadModel {
        var model = empty
        var digests = ReadModel.Digests()
        for (projection, rows) in rows where isWanted(projection) {
            try model.restore(MemoryRows(rows.values.sorted { $0.key < $1.key }), of: projection, &digests)
        }
        try model.restore(position: position, quarantined: Array(quarantined.values), &digests)
        for projection in ReadModel.projections where isWanted(projection) {
            guard digests[projection] == self.digests[projection] else { throw OtherRows() }
        }
        return model
    }
}

/// The values of a row.
struct StoredValues: Equatable, Sendable, RowWriter {
    enum Value: Equatable, Sendable {
        case bytes([UInt8])
        case integer(Int64)
    }

    var values: [Value] = []

    init(_ row: any ProjectionRow) { row.write(to: &self) }

    init(_ values: [Value]) { self.values = values }

    var key: String { if case .bytes(let bytes)? = values.first { String(decoding: bytes, as: UTF8.self) } else { "" } }

    mutating func text(_ value: String) { values.append(.bytes(Array(value.utf8))) }
    mutating func json(_ value: [UInt8]) { values.append(.bytes(value)) }
    mutating func int32(_ value: Int32) { values.append(.integer(Int64(value))) }
    mutating func int64(_ value: Int64) { values.append(.integer(value)) }
}

/// Rows as a database returns them.
final class MemoryRows: StoredRows, @unchecked Sendable {
    // Unchecked because of the pointers: what they point to never changes.

    private let rows: [[(bytes: UnsafeRawBufferPointer, integer: Int64)]]

    init(_ rows: [StoredValues]) {
        self.rows = rows.map { row in
            row.values.map { value in
                switch value {
                case .integer(let integer): return (UnsafeRawBufferPointer(start: nil, count: 0), integer)
                case .bytes(let bytes):
                    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
                    copy.copyBytes(from: bytes)
                    return (UnsafeRawBufferPointer(copy), 0)
                }
            }
        }
    }

    deinit { for row in rows { for value in row where value.bytes.baseAddress != nil { value.bytes.deallocate() } } }

    var count: Int { rows.count }
    func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer { rows[row][column].bytes }
    func int32(_ row: Int, _ column: Int) -> Int32 { Int32(rows[row][column].integer) }
    func int64(_ row: Int, _ column: Int) -> Int64 { rows[row][column].integer }
}
