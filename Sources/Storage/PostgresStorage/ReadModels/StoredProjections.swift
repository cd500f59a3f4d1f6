// The tables of projections. Their columns follow from the projection, so the same statements save, restore, rebuild,
// audit and replay every projection.

internal import Domain
package import EventLog
package import EventLoop
package import Postgres
public import Projections

/// The rows of projections in a database, as a connection or a transaction sees them.
@LoopActor
package struct StoredProjections {
    /// What a generation of rows is used for.
    package enum State: String, Sendable {
        /// Servers begin with it and save to it.
        case active
        /// The active one before the last switch, kept unchanged.
        case previous
    }

    /// The most bytes of a row that is written by one statement, and of a piece of one that has more: many bytes at
    /// once would hold up the loop.
    private static let pieceBytes = 2 << 20

    private let session: any StatementExecutor

    /// Those that a connection sees.
    package init(_ connection: PostgresConnection) { session = connection }

    /// Those that a transaction sees.
    init(_ transaction: Transaction) { session = transaction }

    /// Those that a connection sees which runs no transactions.
    init(_ connection: KeptConnection) { session = connection }

    // MARK: Checkpoints

    /// The checkpoints of a partition, including those of projections that this program does not know.
    ///
    /// - Parameter state: nil for those in any state.
    package func checkpoints(_ state: State?, of partition: Int) async throws(PostgresError) -> [StoredCheckpoint] {
        let state = state.map { Parameter.text($0.rawValue) } ?? .null
        return try await session.execute(ReadModelStatements.checkpoints, [.int2(Int16(partition)), state])
            .map(StoredCheckpoint.init)
    }

    /// The generations of a projection that have rows or streams in quarantine, whatever checkpoints say.
    package func generations(
        of projection: RegisteredProjection, partition: Int
    ) async throws(PostgresError) -> [Int32] {
        let rows = try await session.execute(
            ReadModelStatements.generations(of: projection), [.int2(Int16(partition)), .text(projection.name)])
        return rows.map { $0["generation"] }
    }

    /// The checkpoints of this program's projections.
    func known(
        _ state: State, of partition: Int
    ) async throws(PostgresError) -> [RegisteredProjection: StoredCheckpoint] {
        StoredProjections.known(try await checkpoints(state, of: partition))
    }

    /// The active ones, locked until the transaction ends.
    func lock(partition: Int) async throws(PostgresError) -> [RegisteredProjection: StoredCheckpoint] {
        let rows = try await session.execute(ReadModelStatements.lockCheckpoints, [.int2(Int16(partition))])
        return StoredProjections.known(rows.map(StoredCheckpoint.init))
    }

    private static func known(_ checkpoints: [StoredCheckpoint]) -> [RegisteredProjection: StoredCheckpoint] {
        var known: [RegisteredProjection: StoredCheckpoint] = [:]
        for checkpoint in checkpoints {
            if let projection = RegisteredProjection(name: checkpoint.projection) { known[projection] = checkpoint }
        }
        return known
    }

    /// Creates an empty checkpoint for every projection that has none.
    func reserve(partition: Int) async throws(PostgresError) {
        _ = try await session.execute(
            ReadModelStatements.reserve, [.int2(Int16(partition)), .array(ReadModel.projections.map(\.name))])
    }

    /// Moves the active checkpoint of a projection.
    func advance(
        _ projection: RegisteredProjection, partition: Int, to position: Int64, _ digest: SetDigest
    ) async throws(PostgresError) {
        _ = try await session.execute(
            ReadModelStatements.advance,
            [
                .int2(Int16(partition)), .text(projection.name), .int4(Int32(projection.version)), .int8(position),
                .bytes(digest.bytes),
            ])
    }

    /// Whether the log has a point.
    func hasPoint(_ point: LogPoint, partition: Int) async throws(PostgresError) -> Bool {
        let digest = point.digest.map { Parameter.bytes($0.bytes) } ?? .null
        let rows = try await session.execute(
            ReadModelStatements.hasPoint, [.int2(Int16(partition)), .int8(point.position), digest])
        return rows[0]["has_point"]
    }

    // MARK: Generations

    /// The number of the next generation.
    func nextGeneration(of projection: RegisteredProjection, partition: Int) async throws -> Int32 {
        let rows = try await session.execute(
            ReadModelStatements.newestGeneration, [.int2(Int16(partition)), .text(projection.name)])
        let newest: Int32 = rows[0]["generation"]
        guard newest < .max else {
            throw PostgresReadModelStore.Failure("\(projection) has used up all generation numbers")
        }
        return newest + 1
    }

    /// Retires the active generation.
    func retire(_ projection: RegisteredProjection, partition: Int) async throws(PostgresError) {
        _ = try await session.execute(ReadModelStatements.retire, [.int2(Int16(partition)), .text(projection.name)])
    }

    /// Makes a generation the active one. There must be none.
    func activate(
        _ projection: RegisteredProjection, _ generation: Int32, partition: Int, at position: Int64,
        _ digest: SetDigest
    ) async throws(PostgresError) {
        _ = try await session.execute(
            ReadModelStatements.activate,
            [
                .int2(Int16(partition)), .text(projection.name), .int4(Int32(projection.version)), .int8(position),
                .bytes(digest.bytes), .int4(generation),
            ])
    }

    /// Exchanges the active generation and the one before.
    func exchange(_ projection: RegisteredProjection, partition: Int) async throws(PostgresError) {
        _ = try await session.execute(ReadModelStatements.exchange, [.int2(Int16(partition)), .text(projection.name)])
    }

    /// Removes a generation with its checkpoint.
    func delete(
        _ projection: RegisteredProjection, _ generation: Int32, partition: Int
    ) async throws(PostgresError) {
        let place = [Parameter.int2(Int16(partition)), .int4(generation)]
        _ = try await session.execute(ReadModelStatements.deleteRows(of: projection), place)
        _ = try await session.execute(ReadModelStatements.deleteQuarantine, place + [.text(projection.name)])
        _ = try await session.execute(ReadModelStatements.deleteCheckpoint, place + [.text(projection.name)])
    }

    /// How many rows differ between two generations, and the keys of the first few.
    func difference(
        _ projection: RegisteredProjection, _ old: Int32, _ new: Int32, partition: Int
    ) async throws(PostgresError) -> (count: Int, examples: [String]) {
        let rows = try await session.execute(
            ReadModelStatements.difference(of: projection), [.int2(Int16(partition)), .int4(old), .int4(new)])
        return (rows[0]["count"], rows[0]["examples"])
    }

    // MARK: Rows

    /// About the most bytes of documents that are read at once, unless a single row has more.
    private static let pageBytes: Int64 = 16 << 20

    /// The rows after a key, in the order of their keys, as many as are read at once; nil if there are no more.
    ///
    /// - Parameters:
    ///   - key: of the last row that was read; nil for the first rows.
    ///   - isWhole: whether to read columns that no restart needs, too; they are empty otherwise.
    package func rows(
        of projection: RegisteredProjection, _ generation: Int32, partition: Int, after key: String?, isWhole: Bool
    ) async throws(PostgresError) -> (any StoredRows)? {
        let rows = try await session.execute(
            ReadModelStatements.rows(of: projection, isWhole: isWhole),
            [
                .int2(Int16(partition)), .int4(generation), key.map(Parameter.text) ?? .null,
                .int8(projection.rowLimit), .int8(StoredProjections.pageBytes),
            ])
        return rows.isEmpty ? nil : rows
    }

    /// The rows of the active generation with some keys.
    func rows(
        of projection: RegisteredProjection, with keys: [Identifier], partition: Int
    ) async throws -> KeyedRows {
        let rows = try await session.execute(
            ReadModelStatements.rowsByKey(of: projection),
            [.int2(Int16(partition)), .text(projection.name), .array(keys.map(\.rawValue))])
        return try keyedRows(rows, of: projection)
    }

    /// The position up to which orders are not among so many of the newest; 0 if all are.
    ///
    /// - Parameter limit: how many; nil for any number.
    func floorOfOrders(_ limit: Int?, _ generation: Int32, partition: Int) async throws(PostgresError) -> Int64 {
        guard let limit else { return 0 }
        let rows = try await session.execute(
            ReadModelStatements.floorOfOrders, [.int2(Int16(partition)), .int4(generation), .int8(Int64(limit))])
        return rows.first.map { max(0, $0["position"]) } ?? 0
    }

    /// Orders of the active generation before a position, the newest first.
    func orders(_ filter: OrderFilter, before position: Int64, partition: Int) async throws -> KeyedRows {
        var parameters: [Parameter] = [
            .int2(Int16(partition)), .text(ReadModel.orders.name),
            (filter.customer ?? filter.outlet).map { .text($0.rawValue) } ?? .null, .int8(position),
            .int8(Int64(StoredOrders.readAtOnce)),
        ]
        if let window = filter.window { parameters += [.int8(window.first), .int8(window.end)] }
        let rows = try await session.execute(ReadModelStatements.orders(filter), parameters)
        return try keyedRows(rows, of: ReadModel.orders)
    }

    private func keyedRows(
        _ rows: Rows, of projection: RegisteredProjection
    ) throws(ReadModelStoreFailure) -> KeyedRows {
        guard let first = rows.first else { throw ReadModelStoreFailure("nothing is saved") }
        return KeyedRows(
            generation: first["of_generation"], position: first["saved_position"],
            rows: try FoundRows(rows, columnCount: projection.columns.count))
    }

    /// Writes rows into a generation, replacing those with the same keys.
    func write(_ slice: Checkpoint.Slice, _ generation: Int32, partition: Int) async throws(PostgresError) {
        var columns = ColumnArrays(slice.projection.columns)
        for row in slice.rows {
            if row.size <= StoredProjections.pieceBytes {
                row.write(to: &columns)
            } else {
                try await writeInPieces(row, of: slice.projection, generation, partition: partition)
            }
        }
        try await write(columns, of: slice.projection, generation, partition: partition)
    }

    private func write(
        _ columns: ColumnArrays, of projection: RegisteredProjection, _ generation: Int32, partition: Int
    ) async throws(PostgresError) {
        _ = try await session.execute(
            ReadModelStatements.save(projection),
            [.int2(Int16(partition)), .int4(generation)] + columns.arrays.map(Parameter.array))
    }

    /// Writes a large row. Its pieces are rows of another generation, the negative of its own, until they are joined:
    /// no other process writes there, and no reader ever sees them.
    private func writeInPieces(
        _ row: any ProjectionRow, of projection: RegisteredProjection, _ generation: Int32, partition: Int
    ) async throws(PostgresError) {
        var number = 0
        var isWhole = false
        while !isWhole {
            var piece = PieceWriter(number, of: StoredProjections.pieceBytes, projection.columns)
            row.write(to: &piece)
            try await write(piece.columns, of: projection, -generation, partition: partition)
            isWhole = piece.isLast
            number += 1
        }
        let place = [Parameter.int2(Int16(partition)), .int4(-generation)]
        _ = try await session.execute(
            ReadModelStatements.join(projection), place + [.int4(generation), .text(row.key.rawValue)])
        _ = try await session.execute(ReadModelStatements.deleteRows(of: projection), place)
    }

    // MARK: Quarantine

    /// The streams that a projection does not show.
    package func quarantined(
        _ projection: RegisteredProjection, _ generation: Int32, partition: Int
    ) async throws(PostgresError) -> [CorruptEvent] {
        let rows = try await session.execute(
            ReadModelStatements.quarantined, [.int2(Int16(partition)), .text(projection.name), .int4(generation)])
        return rows.map {
            CorruptEvent(partition: partition, position: $0["position"], stream: $0["stream"], reason: $0["reason"])
        }
    }

    /// Records that a stream is quarantined.
    func write(
        _ event: CorruptEvent, _ projection: RegisteredProjection, _ generation: Int32, partition: Int
    ) async throws(PostgresError) {
        _ = try await session.execute(
            ReadModelStatements.quarantine,
            [
                .int2(Int16(partition)), .text(projection.name), .int4(generation), .text(event.stream),
                .int8(event.position), .text(event.reason),
            ])
    }
}

/// What executes statements.
@LoopActor
protocol StatementExecutor {
    func execute(_ statement: Statement, _ parameters: [Parameter]) async throws(PostgresError) -> Rows
}

extension PostgresConnection: StatementExecutor {}
extension Transaction: StatementExecutor {}
extension KeptConnection: StatementExecutor {}

extension StoredCheckpoint {
    fileprivate init(_ row: Row) {
        self.init(
            projection: row["projection"], generation: row["generation"], version: row["version"],
            position: row["position"], digest: row["digest"],
            chain: (row["chain_digest"] as [UInt8]?).map { Digest($0) ?? .zero },
            isActive: row["state"] == StoredProjections.State.active.rawValue)
    }
}

extension RegisteredProjection {
    /// The most rows that are read at once: few if each holds a document.
    fileprivate var rowLimit: Int64 { columns.contains { $0.kind == .json } ? 300 : 10_000 }
}

extension Rows: StoredRows {
    package func int32(_ row: Int, _ column: Int) -> Int32 { int4(row, column) }
    package func int64(_ row: Int, _ column: Int) -> Int64 { int8(row, column) }
}

extension CopiedRows: StoredRows {
    package func int32(_ row: Int, _ column: Int) -> Int32 { int4(row, column) }
    package func int64(_ row: Int, _ column: Int) -> Int64 { int8(row, column) }
}

/// Rows turned into an array for each column.
private struct ColumnArrays: RowWriter {
    private(set) var arrays: [ArrayParameter]
    /// The column whose value comes next.
    private(set) var next = 0

    init(_ columns: [Column]) {
        arrays = columns.map { ArrayParameter(of: $0.kind.elementType) }
    }

    mutating func text(_ value: String) { append { $0.append(value) } }
    mutating func json(_ value: [UInt8]) { json(value[...]) }
    mutating func json(_ value: ArraySlice<UInt8>) { append { $0.append(value) } }
    mutating func int32(_ value: Int32) { append { $0.append(value) } }
    mutating func int64(_ value: Int64) { append { $0.append(value) } }

    private mutating func append(_ body: (inout ArrayParameter) -> Void) {
        body(&arrays[next])
        next = (next + 1) % arrays.count
    }
}

/// Writes a piece of a row: a part of each of its documents, and in place of the key the number of the piece.
private struct PieceWriter: RowWriter {
    private(set) var columns: ColumnArrays
    /// Whether nothing of the row is left for another piece.
    private(set) var isLast = true
    private let number: Int
    private let size: Int

    init(_ number: Int, of size: Int, _ columns: [Column]) {
        self.number = number
        self.size = size
        self.columns = ColumnArrays(columns)
    }

    mutating func text(_ value: String) {
        // With as many digits for each, so that pieces have an order.
        columns.text(columns.next == 0 ? String(1_000_000 + number) : value)
    }

    mutating func json(_ value: [UInt8]) {
        let (start, end) = (cut(value, at: number * size), cut(value, at: (number + 1) * size))
        columns.json(value[start..<end])
        if end < value.count { isLast = false }
    }

    mutating func int32(_ value: Int32) { columns.int32(value) }
    mutating func int64(_ value: Int64) { columns.int64(value) }

    /// The first place from there on where a character begins, or the end.
    private func cut(_ text: [UInt8], at index: Int) -> Int {
        text[min(index, text.count)...].firstIndex { $0 & 0xC0 != 0x80 } ?? text.count
    }
}
