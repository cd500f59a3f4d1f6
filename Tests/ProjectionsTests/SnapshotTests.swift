import Domain
import EventLog
import Projections
import Testing

@Suite("Saved outlets")
struct SnapshotTests {
    @Test(arguments: 0..<60 as Range<UInt64>)
    func `a restored outlet is the one that was saved`(seed: UInt64) throws {
        var history = RandomHistory(seed: seed)
        for _ in 0..<60 { history.grow() }
        var model = ReadModel(partition: 0)
        model.apply(history.events)
        let restored = try Tables(of: model).restored()
        for id in model.outletHome.rows.map(\.key) {
            let (record, expected) = (restored.outletHome[id], model.outletHome[id])
            #expect(record?.outlet == expected?.outlet)
            #expect(record?.menu == expected?.menu)
            #expect(record?.outletVersion == expected?.outletVersion)
            #expect(record?.menuVersion == expected?.menuVersion)
            #expect(record?.revision == expected?.revision)
            // Also of an outlet that was removed.
            #expect(restored.outletHome.row(of: id) == model.outletHome.row(of: id))
        }
    }
}
