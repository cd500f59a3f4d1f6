import Domain
import EventLog
import SeededRandom
import Testing

@testable import Projections

/// Read models that hold few orders, and find the others in tables and in the log.
@Suite struct StoredOrdersTests {
    private static let filters = [
        OrderFilter(), OrderFilter(outlet: "outlet-0"), OrderFilter(customer: "asha"),
        OrderFilter(outlet: "outlet-1", customer: "bert"), OrderFilter(outlet: "nowhere"),
        OrderFilter(statuses: [.placed, .completed]), OrderFilter(outlet: "outlet-2", statuses: [.cancelled]),
        OrderFilter(outlet: "outlet-0", placed: 1_000_000..<20_000_000),
    ]

    /// A server with its read model, and the tables that it saves to.
    private struct Server {
        var model: ReadModel
        var tables = Tables()
        /// How often an order was made from its stream again.
        var loads = 0

        init(limit: Int) { model = ReadModel(partition: 0, orderLimit: limit) }

        /// One that holds every order.
        init(all model: ReadModel) { self.model = model }

        /// Follows a history until it holds so many orders that are not open.
        static func withEndedOrders(_ history: inout RandomHistory, limit: Int = 0, count: Int = 3) -> Server {
            var server = Server(limit: limit)
            while server.model.orders.rowCount - server.model.orders.openCount < count {
                history.grow()
                server.catchUp(history)
            }
            return server
        }

        /// Folds what follows, some at a time, as they are read from a log.
        mutating func catchUp(_ history: RandomHistory, atOnce count: Int = 5) {
            while Int(model.position) < history.events.count {
                let next = Array(history.events[Int(model.position)...].prefix(count))
                for order in model.missingOrders(before: next.streamVersions).keys {
                    let stream = StreamName(.order, order).description
                    // Of the log, more may be known than was folded.
                    model.hold(order, history.recorded.filter { $0.stream == stream })
                    loads += 1
                }
                model.apply(next)
            }
        }

        mutating func save(fails: Bool = false) {
            guard model.position > tables.position else { return }
            var checkpoint = model.takeCheckpoint(since: tables.digests)
            if !fails, tables.save(&checkpoint) { model.saved(checkpoint) } else { model.notSaved(checkpoint) }
        }

        mutating func letGo(except needed: Set<StreamName> = []) {
            model.letGoOfOrders(savedUpTo: tables.position, except: needed)
        }

        /// The stored rows, the newest first.
        func stored() throws -> [OrderRow] {
            let rows = MemoryRows(Array((tables.rows[ReadModel.orders] ?? [:]).values))
            return try (0..<rows.count).map { try Orders.row($0, of: rows) }.sorted { $0.position > $1.position }
        }

        mutating func restart() throws {
            var empty = model.emptied
            if let limit = model.orderLimit {
                empty.leaveOrdersStored(upTo: try stored().dropFirst(limit).first?.position ?? 0)
            }
            model = tables.position > 0 ? try tables.restored(into: empty) : model.emptied
        }

        /// Every order that meets the conditions.
        func list(_ filter: OrderFilter, before position: Int64) throws -> [OrderRow] {
            var (rows, position, patience, stored) = ([OrderRow](), position, Int.max, StoredOrders())
            while true {
                switch model.orders.newest(filter, before: position, stored, patience: &patience) {
                case .order(let row):
                    rows.append(row)
                    position = row.position
                case .stored(let before):
                    let some = try self.stored().filter { $0.position < before }.prefix(StoredOrders.readAtOnce)
                    stored.take(Array(some), before: before, savedUpTo: tables.position)
                case .none, .end: return rows
                }
            }
        }
    }

    @Test(arguments: 0..<24 as Range<UInt64>)
    func `few orders held, whatever is let go of, saved or started anew, is as if all were`(seed: UInt64) throws {
        var history = RandomHistory(seed: seed)
        var everything = ReadModel(partition: 0)
        var server = Server(limit: Int(seed % 4))
        for _ in 0..<60 {
            for _ in 0..<6 { everything.apply(history.grow(damagePercent: seed.isMultiple(of: 2) ? 1 : 0)) }
            switch history.generator.number(0..<6) {
            case 0: try server.restart()
            case 1: server.save(fails: history.generator.chance(30))
            case 2: server.letGo()
            default: server.catchUp(history, atOnce: history.generator.number(1..<9))
            }
            guard server.model.position == everything.position else { continue }
            for filter in Self.filters {
                let (found, position) = (try server.list(filter, before: .max / 2), server.model.position)
                #expect(
                    found == (try Server(all: everything).list(filter, before: .max / 2)), "\(filter) at \(position)")
            }
            for outlet in ["outlet-0", "outlet-1", "outlet-2"] as [Identifier] {
                let kitchen = server.model.orders.kitchen(of: outlet).map(\.id).sorted()
                #expect(kitchen == everything.orders.kitchen(of: outlet).map(\.id).sorted())
            }
        }
        server.catchUp(history)
        server.save()
        #expect(server.tables == Tables(of: everything))
    }

    @Test func `an order that was let go of is held again for its next event, as its stream has it`() throws {
        var history = RandomHistory(seed: 3)
        var server = Server.withEndedOrders(&history)
        server.save()
        server.letGo()
        #expect(server.model.orders.rowCount == server.model.orders.openCount)
        while server.loads == 0 {
            history.grow()
            server.catchUp(history)
        }
        var everything = ReadModel(partition: 0)
        everything.apply(history.events)
        server.save()
        #expect(server.tables == Tables(of: everything))
    }

    @Test func `what is to be folded soon stays, and what is not saved`() throws {
        var history = RandomHistory(seed: 5)
        var server = Server.withEndedOrders(&history)
        let held = server.model.orders.rowCount
        server.letGo()
        #expect(server.model.orders.rowCount == held, "nothing is saved")
        server.save()
        let streams = Set(history.states.keys.filter { $0.category == .order })
        server.letGo(except: streams)
        #expect(server.model.orders.rowCount == held)
        for stream in streams {
            #expect(server.model.leastVersion(of: stream) == history.versions[stream])
        }
    }

    @Test func `pages wait for rows that are as new as what was let go of`() throws {
        var history = RandomHistory(seed: 7)
        var server = Server.withEndedOrders(&history)
        server.save()
        server.letGo()
        let position = server.model.position
        var (stored, patience) = (StoredOrders(), 100)
        for (saved, isNew) in [(position - 1, false), (position, true)] {
            stored.take(try server.stored(), before: position + 1, savedUpTo: saved)
            let next = server.model.orders.newest(OrderFilter(), before: position + 1, stored, patience: &patience)
            if case .order = next { #expect(isNew) } else { #expect(!isNew) }
        }
    }

    @Test func `slots are counted whether or not orders are held`() throws {
        var history = RandomHistory(seed: 9)
        var server = Server.withEndedOrders(&history, limit: 2, count: 5)
        let slots = history.states.keys.filter { $0.category == .order }.map { HashSlot(of: $0.id) }
        let counts = { (server: Server) in slots.map { server.model.orders.count(inSlot: $0) } }
        let expected = slots.map { slot in slots.count { $0 == slot } }
        #expect(counts(server) == expected)
        server.save()
        server.letGo()
        #expect(counts(server) == expected)
        try server.restart()
        var empty = server.model.emptied
        empty.leaveOrdersStored(upTo: .max)
        server.model.learnRows(from: try server.tables.restored(into: empty))
        #expect(counts(server) == expected)
    }
}
