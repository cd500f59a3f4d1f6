import Domain
import EventLog
import SeededRandom
import Testing

@testable import Projections

/// How many items every outlet's menu was given, as a projection that keeps one number a key.
private struct ItemsGiven: NumberProjection {
    static let name = "items_given"
    static let version = 1
    static let table = "items_given_rows"
    static let columns = (key: "outlet", number: "items")

    static func follows(_ category: StreamName.Category) -> Bool { category == .menu }

    var quarantine = Quarantine()
    var numbers: NumberTable<ItemsGiven>

    init(notesChanges: Bool) { numbers = NumberTable(notesChanges: notesChanges) }

    mutating func apply(_ event: DecodedEvent) throws(ImpossibleEvent) {
        guard case .menu(.itemAdded) = event.event else { return }
        numbers[event.stream.id] += 1
    }
}

struct NumberProjectionTests {
    @Test(arguments: SeededGenerator.seeds)
    func `what is saved between any events is what the fold has, and restores it`(seed: UInt64) throws {
        var history = RandomHistory(seed: seed)
        var folded = ItemsGiven(notesChanges: true)
        var saved: [Identifier: ItemsGiven.Row] = [:]
        for step in 0..<300 {
            for case .success(let event) in history.grow() where ItemsGiven.follows(event.stream.category) {
                try folded.apply(event)
            }
            guard step.isMultiple(of: 7) else { continue }
            var changes = folded.takeChanges()
            guard step.isMultiple(of: 2) else {
                folded.putBack(changes)
                continue
            }
            while let change = changes.next() {
                #expect(change.before == saved[change.after.key]?.digest && change.digest == change.after.digest)
                saved[change.after.key] = change.after
            }
            #expect(saved.count == folded.rowCount)
            #expect(folded.rows.allSatisfy { saved[$0.key] == $0 && folded.row(of: $0.key) == $0 })
        }
        var restored = ItemsGiven(notesChanges: true)
        let rows = MemoryRows(saved.values.map { StoredValues($0) })
        for index in 0..<rows.count { _ = try restored.restore(StoredRow(rows, index)) }
        #expect(restored.rowCount == saved.count && restored.rows.allSatisfy { saved[$0.key] == $0 })
        #expect(!saved.isEmpty)
    }
}
