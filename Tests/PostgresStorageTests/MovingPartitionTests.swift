import Domain
import EventLog
import EventLogContract
import EventLoop
import PostgresStorage
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct MovingPartitionTests {
    init() { LoopActor.startInBackground() }

    /// Those in which something goes on for a while, or has every kind of text in it.
    private static let clauses = Clause.all.filter { clause in
        [
            "Concurrent writers", "Payloads and metadata", "The outcome of a batch is", "A reader goes on",
            "The largest batch has",
        ]
        .contains { clause.testDescription.hasPrefix($0) }
    }

    @Test(arguments: clauses) @LoopActor
    func `A log keeps the contract while its partition moves from one database to another`(_ clause: Clause)
        async throws
    {
        let map = "a \(try await TestDatabase.create())\nb \(try await TestDatabase.create())"
        let databases = try LogDatabases(map: map)
        try await Migrations.run(databases, partitions: clause.partitionCount) { _ in }
        let storage = try await LogStorage.open(databases)
        defer { storage.close() }
        let moving = Moving()
        let moves = Task { @LoopActor in
            while !moving.isEnough {
                let name = moving.count.isMultiple(of: 2) ? "b" : "a"
                _ = try await PartitionMove.run(0, to: name, in: databases, pause: 100)
                moving.count += 1
            }
        }
        defer { moving.isChecked = true }
        try await clause.check(storage.log)
        moving.isChecked = true
        try await moves.value
        #expect(moving.count > 1)
    }

    @Test @LoopActor func `A customer's key is made and found where the partition has moved to meanwhile`() async throws
    {
        let map = "a \(try await TestDatabase.create())\nb \(try await TestDatabase.create())"
        let databases = try LogDatabases(map: map)
        try await Migrations.run(databases, partitions: 1) { _ in }
        // Without a report, nobody looks now and then where partitions are.
        let storage = try await LogStorage.open(databases)
        let other = try await LogStorage.open(databases)
        defer { for each in [storage, other] { each.close() } }
        let customer = try #require(Identifier("asha"))
        _ = try await PartitionMove.run(0, to: "b", in: databases, pause: 100)
        let key = try await storage.keys.makeKey(of: customer, partition: 0)
        #expect(try await other.keys.key(of: customer, partition: 0) == key)
        #expect(key != .unknown && key != .destroyed)
    }

    /// What moves a partition until all is checked, and at least there and back.
    @LoopActor
    private final class Moving {
        var count = 0
        var isChecked = false
        var isEnough: Bool { isChecked && count > 1 }
    }
}
