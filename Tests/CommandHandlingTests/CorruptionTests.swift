import CommandHandling
import Domain
import EventLog
import Testing

@Suite("Corrupt streams")
struct CorruptionTests {
    private let log = InMemoryEventLog()

    /// Ways in which an event of a cart with one tea can be wrong.
    enum Damage: CaseIterable {
        case unknownKind, noJSON, impossible, gap, otherAggregate, metadata

        func event(position: Int64) -> RecordedEvent {
            var event = RecordedEvent(
                partition: 0, position: position, stream: "cart-bad", version: 2,
                kind: EventKind(name: "cart.quantityChanged", schemaVersion: 1),
                payload: Array(#"{"line":"tea","from":1,"to":2}"#.utf8), metadata: Array("{}".utf8),
                recordedAt: Timestamp(millisecondsSinceEpoch: 0))
            switch self {
            case .unknownKind: event.kind.name = "cart.stolen"
            case .noJSON: event.payload = Array("{".utf8)
            case .impossible: event.payload = Array(#"{"line":"tea","from":7,"to":2}"#.utf8)
            case .gap: event.version = 3
            case .otherAggregate:
                event.kind.name = "outlet.opened"
                event.payload = Array("{}".utf8)
            case .metadata: event.metadata = Array("[]".utf8)
            }
            return event
        }
    }

    private func damagedLog(_ damage: Damage) async throws {
        let writer = TestProcess(log)
        for cart: Identifier in ["bad", "good"] { writer.send(cart, .add(1), id: "first") }
        _ = await writer.settle()
        await log.damage(with: damage.event(position: 3))
    }

    private func expectCorrupt(_ outcome: CommandOutcome?) {
        guard case .corrupt(let event) = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(event.position == 3)
        #expect(event.stream == "cart-bad")
    }

    @Test(arguments: Damage.allCases)
    func `a damaged stream is corrupt when loaded, and no other`(damage: Damage) async throws {
        try await damagedLog(damage)
        let process = TestProcess(log)
        await process.catchUp()
        process.send("bad", .add(1))
        process.send("good", .add(1))
        process.send("bad", .add(1), id: "first")
        var outcomes = await process.settle()
        #expect(outcomes.contains(.count(2)))
        outcomes.removeAll { $0 == .count(2) }
        try #require(outcomes.count == 2)
        for outcome in outcomes { expectCorrupt(outcome) }
        guard case .failure(.corrupt(let event)) = process.read(.cart("bad")) else {
            Issue.record("a damaged stream was shown")
            return
        }
        #expect(event.position == 3)
    }

    @Test(arguments: Damage.allCases)
    func `a stream in use is corrupt as soon as the damage is seen`(damage: Damage) async throws {
        let process = TestProcess(log)
        for cart: Identifier in ["bad", "good"] { process.send(cart, .add(1)) }
        _ = await process.settle()
        await log.damage(with: damage.event(position: 3))
        await process.catchUp {
            for cart: Identifier in ["bad", "good"] { process.send(cart, .add(1)) }
        }
        let outcomes = process.takeOutcomes()
        try #require(outcomes.count == 1)
        expectCorrupt(outcomes[0])
        #expect(await process.settle() == [.count(2)])
    }

    @Test func `events of unknown kinds of streams are ignored`() async throws {
        var event = Damage.impossible.event(position: 1)
        event.stream = "nobody's"
        await log.damage(with: event)
        let process = TestProcess(log)
        await process.catchUp()
        process.send("c", .add(1))
        #expect(await process.settle() == [.count(1)])
        #expect(process.position == 2)
    }
}
