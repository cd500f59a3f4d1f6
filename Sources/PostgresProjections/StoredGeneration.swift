internal import Domain
internal import EventLog
internal import EventLoop
internal import Postgres
internal import Projections

/// A generation of a projection's rows in one partition, as its checkpoint describes it.
struct StoredGeneration: Equatable, Sendable {
    /// What a generation is used for.
    enum State: String, Sendable {
        /// Servers begin with it and save to it.
        case active
        /// It was active before, and is kept as it was.
        case previous
    }

    var generation: Int32
    /// The version of the projection that made it; 0 where nothing has been saved.
    var version: Int
    /// The position of the last event in its rows.
    var position: Int64
    /// Nil where nothing has been saved.
    var digest: SetDigest?

    /// Whether this program can go on with it.
    func isOurs(of name: ProjectionName) -> Bool { version == name.version || position == 0 }

    /// The generations of every projection that are in a state.
    @LoopActor
    static func read(
        _ state: State, of partition: Int, _ transaction: Transaction
    ) async throws(PostgresError) -> [ProjectionName: StoredGeneration] {
        stored(try await transaction.execute(Statements.generations, [.int2(Int16(partition)), .text(state.rawValue)]))
    }

    /// The same, locked until the transaction ends.
    @LoopActor
    static func lock(
        _ state: State, of partition: Int, _ transaction: Transaction
    ) async throws(PostgresError) -> [ProjectionName: StoredGeneration] {
        stored(
            try await transaction.execute(
                Statements.lockGenerations, [.int2(Int16(partition)), .text(state.rawValue)]))
    }

    private static func stored(_ rows: Rows) -> [ProjectionName: StoredGeneration] {
        var found: [ProjectionName: StoredGeneration] = [:]
        for row in 0..<rows.count {
            guard let name = ProjectionName(rawValue: rows.text(row, 0)) else { continue }
            found[name] = StoredGeneration(
                generation: rows.int4(row, 1), version: Int(rows.int4(row, 2)), position: rows.int8(row, 3),
                digest: SetDigest(rows.bytes(row, 4)))
        }
        return found
    }
}

extension Checkpoint.Slice {
    /// The projection whose rows these are.
    var projection: ProjectionName {
        switch self {
        case .outletHome: .outletHome
        case .cartCounts: .cartCounts
        }
    }

    /// How many rows it has.
    var count: Int {
        switch self {
        case .outletHome(let rows): rows.count
        case .cartCounts(let rows): rows.count
        }
    }

    /// Writes the rows into a generation, in the place of those with the same keys.
    @LoopActor
    func write(_ partition: Int, _ generation: Int32, _ transaction: Transaction) async throws(PostgresError) {
        let key = [Parameter.int2(Int16(partition)), .int4(generation)]
        switch self {
        case .outletHome(let rows):
            _ = try await transaction.execute(
                Statements.saveOutlets,
                key + [
                    .array(rows.map(\.outlet.rawValue)), .array(rows.map(\.revision)),
                    .array(utf8: rows.map(\.document)), .array(utf8: rows.map(\.snapshot)),
                ])
        case .cartCounts(let rows):
            _ = try await transaction.execute(
                Statements.saveCarts, key + [.array(rows.map(\.cart.rawValue)), .array(rows.map(\.count))])
        }
    }
}

extension CorruptEvent {
    /// Writes that the event's stream is quarantined.
    @LoopActor
    func write(
        _ partition: Int, _ projection: ProjectionName, _ generation: Int32, _ transaction: Transaction
    ) async throws(PostgresError) {
        _ = try await transaction.execute(
            Statements.quarantine,
            [
                .int2(Int16(partition)), .text(projection.rawValue), .int4(generation), .text(stream),
                .int8(position), .text(reason),
            ])
    }
}
