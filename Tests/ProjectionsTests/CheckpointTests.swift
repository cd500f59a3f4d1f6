import Domain
import EventLog
import Projections
import SeededRandom
import Testing

@Suite("Checkpoints")
struct CheckpointTests {
    /// A process with its read model, on tables that others use as well.
    private struct Process {
        var model = ReadModel(partition: 0)
        var digests = ReadModel.Digests()

        mutating func catchUp(with history: RandomHistory) {
            model.apply(Array(history.events[Int(model.position)...]))
        }

        /// Saves to the tables, or fails half-way; meanwhile the model continues.
        mutating func save(to table: inout Tables, fails: Bool, meanwhile history: RandomHistory) {
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

        mutating func restart(from table: Tables) throws {
            model = try table.restored()
            digests = table.digests
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `all rows have the same digests as their checkpoint, with or without damage`(seed: UInt64) {
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
        #expect(
            model.takings.rows.sorted { $0.key < $1.key } == other.takings.rows.sorted { $0.key < $1.key },
            sourceLocation: sourceLocation)
        #expect(model.orders.quarantine.streams == other.orders.quarantine.streams, sourceLocation: sourceLocation)
        for id in (0..<9).map({ Identifier("order-\($0)")! }) {
            #expect(model.orders.row(of: id) == other.orders.row(of: id), sourceLocation: sourceLocation)
            #expect(model.orders.deadline(of: id) == other.orders.deadline(of: id), sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `processes that fail and restart end with the same rows as an uninterrupted one`(seed: UInt64) throws {
        var history = RandomHistory(seed: seed)
        var uninterrupted = ReadModel(partition: 0)
        var table = Tables()
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

        let rows = Tables(of: uninterrupted)
        for index in processes.indices {
            processes[index].catchUp(with: history)
            expectEqual(processes[index].model, uninterrupted)
            processes[index].save(to: &table, fails: false, meanwhile: history)
            #expect(table.digests == rows.digests)
            #expect(table.rows == rows.rows)
        }
        var restarted = try table.restored()
        expectEqual(restarted, uninterrupted)
        uninterrupted.apply(history.grow())
        restarted.apply(Array(history.events[Int(restarted.position)...]))
        expectEqual(restarted, uninterrupted)
    }

    @Test func `a checkpoint as old as another process's is not saved, and its rows have to be saved again`() throws {
        var history = RandomHistory(seed: 1)
        for _ in 0..<20 { history.grow() }
        var (table, first, second) = (Tables(), Process(), Process())
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
        #expect(table.digests == Tables(of: uninterrupted).digests)
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
                name: "O", address: Text(String(repeating: "x", count: 300)), currency: Currency("INR")!,
                timeZone: "UTC")
            events.append((StreamName(.outlet, Identifier("o\(number)")!), .outlet(.registered(details))))
        }
        var model = ReadModel(events)
        var checkpoint = model.takeCheckpoint(since: ReadModel.Digests())
        var keys: [RegisteredProjection: [Identifier]] = [:]
        while let slice = checkpoint.nextSlice() {
            keys[slice.projection, default: []] += slice.rows.map(\.key)
            #expect(slice.rows.count <= Checkpoint.sliceRows)
            #expect(slice.rows.dropLast().reduce(0) { $0 + $1.size } < Checkpoint.sliceBytes)
        }
        for projection in ReadModel.projections {
            #expect(Set(keys[projection] ?? []).count == projection.rowCount(in: model))
            #expect((keys[projection] ?? []).count == projection.rowCount(in: model))
        }
        #expect(ReadModel.projections.map { $0.rowCount(in: model) } == [outlets, carts, 0, 0, 0, 0])
        model.saved(checkpoint)
        var next = model.takeCheckpoint(since: checkpoint.digests)
        #expect(next.nextSlice() == nil, "nothing has changed since")
        #expect(next.digests == checkpoint.digests)
    }

    @Test func `every projection of a read model is registered`() {
        let members = Mirror(reflecting: ReadModel(partition: 0)).children.filter { $0.value is any Projection }
        #expect(ReadModel.projections.map { "\($0.member)" }.count == members.count)
        #expect(Set(ReadModel.projections.map(\.name)).count == members.count)
        #expect(Set(ReadModel.projections.map(\.table)).count == members.count)
    }

    /// Rows that no projection writes, each with the key that the error names.
    private static let unreadable: [(projection: String, values: [StoredValues.Value])] = [
        ("cart_counts", [.bytes(Array("no identifier!".utf8)), .integer(1), .integer(1)]),
        ("cart_counts", [.bytes([]), .integer(1), .integer(1)]),
        ("cart_counts", [.bytes(Array("c".utf8)), .integer(-1), .integer(1)]),
        ("cart_counts", [.bytes(Array("c".utf8)), .integer(1), .integer(0)]),
        ("orders", order(key: "no identifier!")), ("orders", order(outlet: "no identifier!")),
        ("orders", order(customer: "no identifier!")), ("orders", order(status: "eaten")),
        ("orders", order(version: 0)), ("orders", order(position: .max)), ("orders", order(currency: "pounds")),
        ("orders", order(doubt: 2)), ("orders", order(refunded: 2)), ("orders", order(refunded: -1)),
        ("orders", order(refundedTax: -1)), ("orders", order(snapshot: "{}")), ("orders", order(service: "drone")),
        ("orders", order(snapshot: #"{"schemaVersion":1,"placed":{"cart":"c"}}"#)),
        ("takings", takings(period: "1")), ("takings", takings(period: "2.1")), ("takings", takings(period: "1.0")),
        ("takings", takings(period: "01.1")), ("takings", takings(period: "9223372036854775807.1")),
        ("takings", takings(outlet: "")), ("takings", takings(sums: "")), ("takings", takings(sums: "{}")),
        ("takings", takings(sums: #"[{"of":"sold","kind":"lunch","count":1,"amount":1}]"#)),
        ("takings", takings(sums: #"[{"of":"sold","kind":"captured","count":1,"amount":1}]"#)),
        ("takings", takings(sums: #"[{"of":"sold","kind":"tax","rate":-1,"count":1,"amount":1}]"#)),
        ("takings", takings(sums: #"[{"of":"sold","kind":"tax","tax":"no id!","count":1,"amount":1}]"#)),
        (
            "takings",
            takings(
                sums:
                    #"[{"of":"sold","kind":"lines","count":1,"amount":1},{"of":"sold","kind":"total","count":1,"amount":1}]"#
            )
        ),
        ("outlet_home", [.bytes([]), .integer(1), .bytes([]), .bytes([])]),
        ("outlet_home", [.bytes(Array("o".utf8)), .integer(1), .bytes([]), .bytes([])]),
        ("outlet_home", [.bytes(Array("o".utf8)), .integer(1), .bytes([]), .bytes(Array("{".utf8))]),
        ("outlet_home", [.bytes(Array("o".utf8)), .integer(1), .bytes([]), .bytes(Array("[]".utf8))]),
        (
            "outlet_home",
            [
                .bytes(Array("o".utf8)), .integer(1), .bytes([]),
                .bytes(Array(#"{"events":[{"kind":"outlet.opened","schemaVersion":2,"payload":{}}]}"#.utf8)),
            ]
        ),
    ]

    private static func order(
        key: String = "o", position: Int64 = 1, outlet: String = "o", customer: String = "", status: String = "placed",
        version: Int64 = 1, currency: String = "INR", snapshot: String = "", doubt: Int64 = 0,
        refunded: Int64 = 0, refundedTax: Int64 = 0, service: String = ""
    ) -> [StoredValues.Value] {
        func text(_ text: String) -> StoredValues.Value { .bytes(Array(text.utf8)) }
        return [
            text(key), .integer(position), text(outlet), text(customer), text(status), .integer(version), .integer(1),
            text(currency), .integer(1), .integer(1), .integer(1), text(snapshot), .integer(1), .integer(doubt),
            .integer(0), .integer(refunded), .integer(refundedTax), text(service),
        ]
    }

    private static func takings(
        period: String = "1.1", outlet: String = "o", sums: String = "[]"
    ) -> [StoredValues.Value] {
        [.bytes(Array(period.utf8)), .bytes(Array(outlet.utf8)), .integer(900_000), .bytes(Array(sums.utf8))]
    }

    /// A stored sum, and a period that another outlet has the number of.
    @Test func `rows of takings whose outlets have no numbers of their own are named`() throws {
        let projection = try #require(RegisteredProjection(name: Takings.name))
        for rows in [[Self.takings(period: "1.2")], [Self.takings(), Self.takings(period: "1.2")]] {
            var model = ReadModel(partition: 0)
            var digests = ReadModel.Digests()
            try model.restore(MemoryRows(rows.map { StoredValues($0) }), of: projection, &digests)
            let error = #expect(throws: UnreadableRow.self) {
                try model.restore(position: 1, quarantined: [], &digests)
            }
            #expect(error?.key == "1.2")
        }
        var model = ReadModel(partition: 0)
        var digests = ReadModel.Digests()
        let rows = [Self.takings(), Self.takings(outlet: "p")].map { StoredValues($0) }
        #expect(throws: UnreadableRow.self) { try model.restore(MemoryRows(rows), of: projection, &digests) }
    }

    @Test(arguments: unreadable.indices)
    func `a row that cannot be read is named`(number: Int) throws {
        let (name, values) = CheckpointTests.unreadable[number]
        let projection = try #require(RegisteredProjection(name: name))
        let row = StoredValues(values)
        var model = ReadModel(partition: 0)
        var digests = ReadModel.Digests()
        let error = #expect(throws: UnreadableRow.self) {
            try model.restore(MemoryRows([row]), of: projection, &digests)
        }
        #expect(error?.table == projection.table)
        #expect(error?.key == row.key)
        #expect(projection.rowCount(in: model) == 0)
    }

    @Test(arguments: [2, 100, 10_000])
    func `a cart with two rows is named`(count: Int) throws {
        let projection = try #require(RegisteredProjection(name: CartCounts.name))
        let rows = (1..<count).map { StoredValues([.bytes(Array("cart-\($0)".utf8)), .integer(1), .integer(1)]) }
        var model = ReadModel(partition: 0)
        var digests = ReadModel.Digests()
        try model.restore(MemoryRows(rows + rows.suffix(1)), of: projection, &digests)
        let error = #expect(throws: UnreadableRow.self) {
            try model.restore(position: 1, quarantined: [], &digests)
        }
        #expect(error?.table == CartCounts.table)
        #expect(error?.key == "cart-\(count - 1)")
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a quarantine is believed only if the log justifies it`(seed: UInt64) async throws {
        var history = RandomHistory(seed: seed)
        for _ in 0..<80 { history.grow(damagePercent: 4) }
        var model = ReadModel(partition: 0)
        model.apply(history.events)
        let events = history.recorded
        func fault(_ change: (inout CorruptEvent) -> Void) async throws -> String? {
            var stored = StoredQuarantine()
            for projection in ReadModel.projections {
                let streams = projection.quarantine(in: model).streams.values
                stored.add(
                    streams.map { event in
                        var event = event
                        change(&event)
                        return event
                    }, of: projection)
            }
            return try await stored.fault(upTo: model.position) { stream, limit in
                Array(events.filter { $0.stream == stream.description }.prefix(limit))
            }
        }
        #expect(try await fault { _ in } == nil)
        guard !history.damage.isEmpty else { return }
        #expect(try await fault { $0.position += 1 } != nil)
        #expect(try await fault { $0.stream = "cart-well" } != nil)
        #expect(try await fault { $0.stream = "nonsense" } != nil)
    }
}
