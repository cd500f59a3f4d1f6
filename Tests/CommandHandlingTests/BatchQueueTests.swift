import Domain
import EventLog
import Testing

@testable import CommandHandling

@Suite("The queue of batches")
struct BatchQueueTests {
    private final class Stage {
        var queue = BatchQueue()
        private var entries: [Identifier: StreamEntry] = [:]

        func entry(_ cart: Identifier) -> StreamEntry {
            if let entry = entries[cart] { return entry }
            let entry = StreamEntry(.cart(cart), isKnown: true)
            entries[cart] = entry
            return entry
        }

        /// A command that writes one event to each of these carts, the last of which is its own.
        func write(_ carts: Identifier...) {
            let count = queue.filling.events.count
            let writes = carts.map { cart in
                let ahead = entry(cart).goAhead()
                ahead.version += 1
                queue.fill(.cart(.cleared(count: 0)), .cart(cart), version: ahead.version, [])
                return BatchQueue.Write(entry: entry(cart), version: ahead.version)
            }
            let request = CommandRequest(stream: .cart(carts[carts.count - 1])) { _, _ in .cart(.clear) }
            queue.close(
                PendingCommand(request) { _ in }, of: entry(carts[carts.count - 1]), beside: Array(writes.dropLast()),
                since: count)
        }

        func take(atMost count: Int = 100) -> EventBatch? {
            queue.take(partition: 0, atMost: count, now: Timestamp(millisecondsSinceEpoch: 0))
        }
    }

    @Test func `streams that a command writes together make one group of all that writes them`() throws {
        let stage = Stage()
        stage.write("a")
        stage.write("b")
        stage.write("c")
        stage.write("a", "b")
        stage.write("b")
        stage.write("d")
        let groups = try #require(stage.take()).groups
        #expect(groups == [0, 0, 2, 0, 0, 0, 3])
        #expect(stage.queue.takeOldest().writing.units.map(\.group) == [0, 0, 2, 0, 0, 3])
    }

    @Test func `groups of one batch say nothing of the next`() throws {
        let stage = Stage()
        stage.write("a", "b")
        stage.write("b")
        stage.write("a")
        #expect(try #require(stage.take(atMost: 2)).groups == [0, 0])
        #expect(try #require(stage.take()).groups == [0, 1])
    }

    @Test func `what is dropped takes along what was decided together with it, however long the chain`() throws {
        let stage = Stage()
        stage.write("c", "d")
        stage.write("b", "c")
        stage.write("e")
        stage.write("a", "b")
        let lost = stage.queue.drop([stage.entry("a")])
        #expect(Set(lost.map(\.name.id)) == ["b", "c", "d"])
        #expect(try #require(stage.take()).events.map(\.stream) == [.cart("e")])
    }

    @Test func `what is taken back goes first into the next batch`() throws {
        let stage = Stage()
        stage.write("a")
        stage.write("b")
        _ = stage.take(atMost: 1)
        _ = stage.take(atMost: 1)
        stage.write("c")
        stage.queue.takeBack(2)
        #expect(stage.queue.inFlightCount == 0)
        #expect(try #require(stage.take()).events.map(\.stream) == [.cart("a"), .cart("b"), .cart("c")])
    }
}
