import Domain
import EventLog
import SeededRandom
import Testing

@testable import Projections

/// Read models that hold few carts, and read the rows of the others from tables.
@Suite struct StoredCartsTests {
    private static let carts = (0..<6).map { Identifier("cart-\($0)")! }

    /// A server with its read model, and the tables that it saves to.
    private struct Server {
        var model: ReadModel
        var tables = Tables()
        let history: () -> RandomHistory

        init(limit: Int, history: @escaping () -> RandomHistory) {
            model = ReadModel(partition: 0, cartLimit: limit)
            self.history = history
        }

        mutating func catchUp() { model.apply(Array(history().events[Int(model.position)...])) }

        mutating func restart() throws {
            guard tables.position > 0 else { return model = model.emptied }
            model = try tables.restored(into: model.emptied) { $0 != ReadModel.carts }
            model.leaveCartsStored()
        }

        /// Learns which carts there are.
        mutating func survey() throws {
            guard tables.position > 0 else { return }
            let surveyed = try tables.restored(into: model.emptied) { $0 == ReadModel.carts }
            model.learnRows(from: surveyed)
        }

        /// The count of a cart, from its row if need be; nil if only its stream tells it.
        mutating func count(of cart: Identifier) throws -> Int? {
            if let held = model.cartCounts.count(of: cart) { return held }
            let rows = tables.rows(of: ReadModel.carts, with: [cart])
            return model.read(rows.count > 0 ? try CartCounts.row(0, of: rows) : nil, of: cart)
        }

        mutating func settle() {
            let recorded = history().recorded
            for cart in model.doubtedCarts.keys {
                let stream = StreamName(.cart, cart).description
                _ = model.settle(cart, with: recorded.filter { $0.stream == stream }, savedUpTo: tables.position)
            }
        }

        /// Saves, or fails; meanwhile the model continues. What contradicts the log is made again.
        mutating func save(fails: Bool = false) {
            settle()
            guard model.doubtedCarts.isEmpty, model.position > tables.position else { return }
            var checkpoint = model.takeCheckpoint(since: tables.digests)
            catchUp()
            if !fails, tables.save(&checkpoint) { return model.saved(checkpoint) }
            model.notSaved(checkpoint)
            for cart in checkpoint.unread(of: ReadModel.carts) where !fails { model.doubt(cart) }
        }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `few carts held, whatever is evicted, saved or started anew, is as if all were`(seed: UInt64) throws {
        var history = RandomHistory(seed: seed)
        let all = { history }
        var everything = ReadModel(partition: 0)
        var server = Server(limit: Int(seed % 5), history: all)
        for _ in 0..<120 {
            everything.apply(history.grow(damagePercent: seed.isMultiple(of: 2) ? 2 : 0))
            switch history.generator.number(0..<7) {
            case 0:
                try server.restart()
                server.catchUp()
            case 1: server.save(fails: history.generator.chance(30))
            case 2: try server.survey()
            case 3: for cart in Self.carts { _ = try server.count(of: cart) }
            default: server.catchUp()
            }
            guard server.model.position == everything.position else { continue }
            for cart in Self.carts where everything.cartCounts.quarantine[StreamName(.cart, cart)] == nil {
                let expected = everything.cartCounts.count(of: cart)
                let held = server.model.cartCounts.count(of: cart)
                #expect(held == nil || held == expected)
                let exists = everything.mayExist(StreamName(.cart, cart))
                #expect(!exists || server.model.mayExist(StreamName(.cart, cart)))
            }
        }
        server.catchUp()
        for cart in Self.carts where everything.cartCounts.quarantine[StreamName(.cart, cart)] == nil {
            server.settle()
            let count = try server.count(of: cart)
            #expect(count == everything.cartCounts.count(of: cart) || count == nil && !server.model.knowsCarts)
        }
        // Once to notice what contradicts the log, and once without it.
        for _ in 0..<2 { server.save() }
        let expected = Tables(of: everything)
        #expect(server.tables == expected)
        try server.restart()
        try server.survey()
        #expect(server.model.knowsCarts)
    }

    /// A server that holds nothing, with a cart whose row is stored.
    private static func started(_ tamper: (inout Tables) -> Void) throws -> (Server, ReadModel, Identifier) {
        var history = RandomHistory(seed: 1)
        let all = { history }
        var server = Server(limit: 0, history: all)
        while history.versions[StreamName(.cart, "cart-1")] ?? 0 < 3 { history.grow() }
        server.catchUp()
        server.save()
        tamper(&server.tables)
        try server.restart()
        let before = history.versions[StreamName(.cart, "cart-1")]
        while history.versions[StreamName(.cart, "cart-1")] == before { history.grow() }
        server.catchUp()
        var everything = ReadModel(partition: 0)
        everything.apply(history.events)
        return (server, everything, "cart-1")
    }

    @Test func `changes of a cart are counted from its row, once that is read`() throws {
        var (server, everything, cart) = try Self.started { _ in }
        #expect(server.model.cartCounts.count(of: cart) == nil)
        let count = try server.count(of: cart)
        #expect(count == everything.cartCounts.count(of: cart))
        server.save()
        #expect(server.tables == Tables(of: everything))
    }

    @Test(arguments: [true, false])
    func `a row that is missing or of another version is not believed, and made again`(isMissing: Bool) throws {
        var (server, everything, cart) = try Self.started { tables in
            tables.rows[ReadModel.carts]?["cart-1"]?.values[2] = .integer(99)
            if isMissing { tables.rows[ReadModel.carts]?["cart-1"] = nil }
        }
        let count = try server.count(of: cart)
        #expect(count == nil, "only the stream tells it")
        // The filter may be wrong about a cart that has no row, so only who saves it finds that out.
        if isMissing { server.save() }
        #expect(Array(server.model.doubtedCarts.keys) == [cart])
        #expect(server.model.cartCounts.count(of: cart) == nil)
        server.save()
        #expect(server.model.doubtedCarts.isEmpty)
        #expect(server.model.cartCounts.count(of: cart) == everything.cartCounts.count(of: cart))
        #expect(server.tables == Tables(of: everything))
    }
}

@Suite struct BloomFilterTests {
    @Test(arguments: [0, 1, 4_096, 5_000, 300_000])
    func `what was added may be there, and hardly anything else`(count: Int) {
        var filter = BloomFilter()
        let hash = { (number: Int) in Identifier("cart-\(number)")!.hash }
        for number in 0..<count { filter.insert(hash(number)) }
        #expect((0..<count).allSatisfy { filter.contains(hash($0)) })
        let others = count..<count + 20_000
        #expect(others.count { filter.contains(hash($0)) } < others.count / 100)
    }
}
