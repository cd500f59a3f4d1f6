import Domain
import EventLog
import Projections
import SeededRandom
import Testing

@Suite("Checkpoints")
struct CheckpointTests {
    /// What a database holds of the read model of one partition.
    private struct Table {
        var homes: [Identifier: OutletHomeRow] = [:]
        var counts: [Identifier: Int32] = [:]
        var quarantined: [String: (projection: String, event: CorruptEvent)] = [:]
        var position: Int64 = 0
        var digests = ReadModel.Digests()

        /// Writes a checkpoint, unless what is here is as new.
        mutating func save(_ checkpoint: inout Checkpoint) -> Bool {
            guard checkpoint.position > position else { return false }
            while let slice = checkpoint.nextSlice() { add(slice, to: &homes, &counts) }
            for entry in checkpoint.quarantined where quarantined[entry.event.stream] == nil {
                quarantined[entry.event.stream] = entry
            }
            position = checkpoint.position
            digests = checkpoint.digests
            return true
        }

        func restored() throws -> ReadModel {
            var model = ReadModel(partition: 0)
            try model.restore(.outletHome(Array(homes.values)))
            try model.restore(.cartCounts(counts.map { CartCountRow(cart: $0, count: $1) }))
            model.restore(position: position, quarantined: Array(quarantined.values))
            return model
        }
    }

    /// A process with its read model, on a table that others use as well.
    private struct Process {
        var model = ReadModel(partition: 0)
        var digests = ReadModel.Digests()

        mutating func catchUp(with history: RandomHistory) {
            model.apply(Array(history.events[Int(model.position)...]))
        }

        /// Saves to the table, or fails in the middle; meanwhile the model goes on.
        mutating func save(to table: inout Table, fails: Bool, meanwhile history: RandomHistory) {
            var checkpoint = model.takeCheckpoint(since: digests)
            catchUp(with: history)
            if fails {
                _ = checkpoint.nextSlice()
                return model.notSaved(checkpoint)
            }
            guard table.save(&checkpoint) else { return model.notSaved(checkpoint) }
            model.saved(checkpoint)
            digests = checkpoint.digests
        }

        mutating func restart(from table: Table) throws {
            model = try table.restored()
            digests = table.digests
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `the digests of all rows are those of a checkpoint of them, damage or not`(seed: UInt64) {
        var history = RandomHistory(seed: seed)
        for _ in 0..<80 { history.grow(damagePercent: seed.isMultiple(of: 2) ? 4 : 0) }
        var saved = ReadModel(partition: 0)
        var unsaved = ReadModel(partition: 0, notesChanges: false)
        saved.apply(history.events)
        unsaved.apply(history.events)
        #expect(unsaved.digests == saved.digests)
        var checkpoint = saved.takeCheckpoint(since: ReadModel.Digests())
        while checkpoint.nextSlice() != nil {}
        #expect(unsaved.digests == checkpoint.digests)
    }

    private func expectEqual(_ model: ReadModel, _ other: ReadModel, sourceLocation: SourceLocation = #_sourceLocation)
    {
        #expect(model.position == other.position, sourceLocation: sourceLocation)
        #expect(
            model.outletHome.quarantine.streams == other.outletHome.quarantine.streams, sourceLocation: sourceLocation)
        #expect(
            model.cartCounts.quarantine.streams == other.cartCounts.quarantine.streams, sourceLocation: sourceLocation)
        for id in (0..<3).map({ Identifier("outlet-\($0)")! }) {
            let (record, expected) = (model.outletHome[id], other.outletHome[id])
            #expect(record?.revision == expected?.revision, sourceLocation: sourceLocation)
            #expect(record.map(HomeDocument.bytes) == expected.map(HomeDocument.bytes), sourceLocation: sourceLocation)
            #expect(
                record.map(MenuDocumentJSON.bytes) == expected.map(MenuDocumentJSON.bytes),
                sourceLocation: sourceLocation)
        }
        for id in (0..<6).map({ Identifier("cart-\($0)")! }) {
            #expect(
                model.cartCounts.count(of: id) == other.cartCounts.count(of: id), sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `processes that fail and restart come to what an uninterrupted one has`(seed: UInt64) throws {
        var history = RandomHistory(seed: seed)
        var uninterrupted = ReadModel(partition: 0)
        var table = Table()
        var processes = [Process](repeating: Process(), count: seed.isMultiple(of: 2) ? 1 : 2)
        for _ in 0..<60 {
            uninterrupted.apply(history.grow(damagePercent: 2))
            let index = history.generator.number(0..<processes.count)
            switch history.generator.number(0..<6) {
            case 0: try processes[index].restart(from: table)
            case 1, 2:
                let fails = history.generator.chance(30)
                processes[index].save(to: &table, fails: fails, meanwhile: history)
            default: processes[index].catchUp(with: history)
            }
        }

        let rows = Rows(of: uninterrupted)
        for index in processes.indices {
            processes[index].catchUp(with: history)
            expectEqual(processes[index].model, uninterrupted)
            processes[index].save(to: &table, fails: false, meanwhile: history)
            #expect(table.digests == rows.digests)
            #expect(table.homes == rows.homes)
            #expect(table.counts == rows.counts)
        }
        var restarted = try table.restored()
        expectEqual(restarted, uninterrupted)
        uninterrupted.apply(history.grow())
        restarted.apply(Array(history.events[Int(restarted.position)...]))
        expectEqual(restarted, uninterrupted)
    }

    @Test func `a checkpoint as old as another process's is not saved, and its rows are due again`() throws {
        var history = RandomHistory(seed: 1)
        for _ in 0..<20 { history.grow() }
        var (table, first, second) = (Table(), Process(), Process())
        first.catchUp(with: history)
        second.catchUp(with: history)
        first.save(to: &table, fails: false, meanwhile: history)
        second.save(to: &table, fails: false, meanwhile: history)
        #expect(second.digests == ReadModel.Digests(), "nothing of it was saved")
        while history.events.count <= Int(table.position) { history.grow() }
        second.catchUp(with: history)
        second.save(to: &table, fails: false, meanwhile: history)
        var uninterrupted = ReadModel(partition: 0)
        uninterrupted.apply(history.events)
        #expect(table.digests == Rows(of: uninterrupted).digests)
        #expect(second.digests == table.digests)
    }

    @Test func `slices are bounded, and together they are everything`() throws {
        var events: [(StreamName, DomainEvent)] = []
        let line = CartLine(id: "tea", item: "tea", name: "Tea", quantity: 1, unitPrice: 1)
        let carts = Checkpoint.sliceRows * 2 + 1
        for number in 0..<carts {
            let cart = StreamName(.cart, Identifier("c\(number)")!)
            events.append((cart, .cart(.itemAdded(line, outlet: "o", currency: Currency("INR")!))))
        }
        let outlets = 300
        for number in 0..<outlets {
            let details = OutletDetails(
                name: "O", address: String(repeating: "x", count: 300), currency: Currency("INR")!, timeZone: "UTC")
            events.append((StreamName(.outlet, Identifier("o\(number)")!), .outlet(.registered(details))))
        }
        var model = ReadModel(events)
        var checkpoint = model.takeCheckpoint(since: ReadModel.Digests())
        var (homes, counts): ([OutletHomeRow], [CartCountRow]) = ([], [])
        while let slice = checkpoint.nextSlice() {
            switch slice {
            case .outletHome(let rows):
                homes += rows
                let bytes = rows.dropLast().reduce(0) { $0 + $1.document.count + $1.snapshot.count }
                #expect(bytes < Checkpoint.sliceBytes)
            case .cartCounts(let rows):
                counts += rows
                #expect(rows.count <= Checkpoint.sliceRows)
            }
        }
        #expect(Set(homes.map(\.outlet)).count == outlets && homes.count == outlets)
        #expect(Set(counts.map(\.cart)).count == carts && counts.count == carts)
        model.saved(checkpoint)
        var next = model.takeCheckpoint(since: checkpoint.digests)
        #expect(next.nextSlice() == nil, "nothing has changed since")
        #expect(next.digests == checkpoint.digests)
    }

    @Test(arguments: ["", "{", "[]", #"{"events":[{"kind":"outlet.opened","schemaVersion":2,"payload":{}}]}"#])
    func `a row that cannot be read is said to be corrupt`(snapshot: String) {
        var model = ReadModel(partition: 0)
        let row = OutletHomeRow(outlet: "o", revision: 1, document: [], snapshot: Array(snapshot.utf8))
        #expect(throws: CorruptSnapshot.self) { try model.restore(.outletHome([row])) }
        #expect(model.outletHome["o"] == nil)
    }
}
