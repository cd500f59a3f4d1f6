import Domain
import EventLog
import EventLogContract
import EventLoop
import Postgres
import Projections
import Testing

@testable import PostgresStorage

/// Rows of carts, which a server reads one by one.
@Suite(.timeLimit(.minutes(1))) struct KeyedRowsTests {
    init() { LoopActor.startInBackground() }

    /// A log with carts, a store for its read models, and the read model of a server that holds few.
    @LoopActor
    private struct Stored {
        let test: TestLog
        let store: PostgresReadModelStore
        var writer: LogWriter
        var model = ReadModel(partition: 0, cartLimit: 0)
        var digests = ReadModel.Digests()
        var saved: Int64 = 0

        static func with(_ body: @LoopActor (inout Stored) async throws -> Void) async throws {
            try await TestLog.with { test in
                let store = PostgresReadModelStore(test.database)
                defer { store.close() }
                var stored = Stored(test: test, store: store, writer: LogWriter(test.log))
                try await stored.write("a", "b", "b", "c")
                #expect(try await stored.save() == "saved")
                try await body(&stored)
            }
        }

        /// Something happens to carts, which the read model learns.
        mutating func write(_ carts: String...) async throws {
            for cart in carts {
                _ = try await writer.append([[.cart(cart)]])
                try await writer.catchUp()
            }
            try await model.fold(test.log, upTo: test.log.end(of: 0).position)
        }

        mutating func save() async throws -> String {
            let end = try await test.log.end(of: 0)
            let saved = try await store.save(
                model.takeCheckpoint(since: digests), since: self.saved, after: end.digest,
                into: ReadModel.firstGenerations, replaces: false)
            guard case .saved = saved.outcome else {
                model.notSaved(saved.checkpoint)
                return "\(saved.outcome): \(saved.checkpoint.unread(of: ReadModel.carts).sorted())"
            }
            model.saved(saved.checkpoint)
            (digests, self.saved) = (saved.checkpoint.digests, saved.checkpoint.position)
            return "saved"
        }

        /// What is stored of carts, as their versions.
        func versions(_ carts: String...) async throws -> [String] {
            let keys = carts.compactMap { Identifier($0) }
            let found = try await store.rows(of: ReadModel.carts, with: keys, in: 0)
            #expect(found.generation == 1)
            return try (0..<found.rows.count).map { number in
                let row = try CartCounts.row(number, of: found.rows)
                return "\(row.cart) \(row.version)"
            }.sorted()
        }

        mutating func restart() async throws {
            let restored = try await store.restore(model.emptied, log: test.log)
            #expect(restored.note == nil)
            (model, digests, saved) = (restored.model, restored.digests, restored.model.position)
        }

        func change(_ statement: String) async throws { try await test.owner.runScript(statement) }
    }

    @Test @LoopActor func `Rows are read by their keys, those that there are`() async throws {
        try await Stored.with { stored in
            #expect(try await stored.versions("a", "b", "none") == ["a 1", "b 2"])
            #expect(try await stored.versions("none").isEmpty)
            #expect(try await stored.versions().isEmpty)
            #expect(try await stored.store.rows(of: ReadModel.carts, with: [], in: 0).position == 4)
            try await stored.change("ALTER TABLE tiffin.cart_count_rows ALTER count DROP NOT NULL")
            try await stored.change("UPDATE tiffin.cart_count_rows SET count = NULL WHERE cart = 'a'")
            await #expect(throws: ReadModelStoreFailure.self) { _ = try await stored.versions("a") }
            #expect(try await stored.versions("b") == ["b 2"])
        }
    }

    @Test @LoopActor func `A start leaves the rows of carts, and goes through them afterwards`() async throws {
        try await Stored.with { stored in
            try await stored.restart()
            #expect(stored.model.position == 4 && !stored.model.knowsCarts)
            #expect(ReadModel.carts.rowCount(in: stored.model) == 0)
            guard case .sound(let carts) = try await stored.store.survey(stored.model.emptied) else {
                Issue.record("the rows are those that were saved")
                return
            }
            #expect(carts.position == 4)
            stored.model.learnRows(from: carts)
            #expect(stored.model.knowsCarts)
            #expect(["a", "b", "c"].allSatisfy { stored.model.mayExist(.cart($0)) })
            #expect((0..<100).count { stored.model.mayExist(.cart("none-\($0)")) } < 10)
        }
    }

    @Test(
        arguments: [
            "UPDATE tiffin.cart_count_rows SET count = 7 WHERE cart = 'b'",
            "UPDATE tiffin.cart_count_rows SET version = 0 WHERE cart = 'b'",
            "UPDATE tiffin.cart_count_rows SET cart = 'no identifier' WHERE cart = 'b'",
            "DELETE FROM tiffin.cart_count_rows WHERE cart = 'b'",
        ])
    @LoopActor func `Rows that are not those that were saved are found`(statement: String) async throws {
        try await Stored.with { stored in
            try await stored.change(statement)
            try await stored.restart()
            guard case .damaged = try await stored.store.survey(stored.model.emptied) else {
                Issue.record("the damage is not found")
                return
            }
        }
    }

    @Test @LoopActor func `A checkpoint counts from the rows that are stored`() async throws {
        try await Stored.with { stored in
            try await stored.restart()
            try await stored.write("b", "new", "b", "a")
            #expect(try await stored.save() == "saved")
            #expect(try await stored.versions("a", "b", "c", "new") == ["a 2", "b 4", "c 1", "new 1"])
            guard case .sound = try await stored.store.survey(stored.model.emptied) else {
                Issue.record("the digest is not that of the rows")
                return
            }
        }
    }

    @Test(
        arguments: [
            "DELETE FROM tiffin.projection_checkpoints", "UPDATE tiffin.projection_checkpoints SET position = 3",
        ])
    @LoopActor func `Nothing is added to rows that are older than those that it continues`(statement: String)
        async throws
    {
        try await Stored.with { stored in
            try await stored.write("a", "new")
            try await stored.change(statement)
            #expect(try await stored.save().hasPrefix("lost: "))
            #expect(try await stored.versions("a", "new") == ["a 1"])
        }
    }

    @Test(arguments: ["DELETE FROM tiffin.cart_count_rows", "UPDATE tiffin.cart_count_rows SET version = 9"])
    @LoopActor func `Nothing is saved into rows that contradict the log`(statement: String) async throws {
        try await Stored.with { stored in
            try await stored.restart()
            try await stored.write("b", "new", "a")
            try await stored.change("\(statement) WHERE cart IN ('b', 'c')")
            let rows = try await stored.versions("a", "b", "c")
            #expect(try await stored.save() == "contradicted: [b]")
            #expect(try await stored.versions("a", "b", "c") == rows)
            let cart = try #require(Identifier("b"))
            stored.model.doubt(cart)
            let history = try await stored.test.log.read(stream: .cart("b"), partition: 0, afterVersion: 0, limit: 100)
            #expect(stored.model.settle(cart, with: history, savedUpTo: 4) == nil)
            #expect(try await stored.save() == "saved")
            #expect(try await stored.versions("a", "b", "new") == ["a 2", "b 3", "new 1"])
        }
    }
}
