import EventLoop
import Measurement
import Projections
import Testing

@testable import Application
@testable import Serving

@Suite struct RebuilderTests {
    init() { LoopActor.startInBackground() }

    private static let orders = RegisteredProjection(name: "orders")!
    private static let counts = RegisteredProjection(name: "cart_counts")!

    /// A rebuild that ends when the test says so, partition by partition.
    private actor Held {
        private(set) var begun: [String] = []
        private var waiting: [CheckedContinuation<Int?, any Error>] = []

        func work(_ projection: RegisteredProjection, _ partition: Int) async throws -> Int? {
            begun.append("\(projection) \(partition)")
            return try await withCheckedThrowingContinuation { waiting.append($0) }
        }

        /// Ends the one that is under way, as soon as there is one.
        func end(_ result: Result<Int?, any Error>) async {
            while waiting.isEmpty { await Task.yield() }
            waiting.removeFirst().resume(with: result)
        }
    }

    private struct Trouble: Error, CustomStringConvertible {
        var description: String { "the rows are gone" }
    }

    @LoopActor
    private static func rebuilder(_ held: Held, partitions: Int = 1) -> Rebuilder {
        Rebuilder(partitions: partitions, logger: Logger(level: .error)) { projection, partition, progress in
            progress(7, 9)
            return try await held.work(projection, partition)
        }
    }

    @LoopActor
    private static func wait(_ rebuilder: Rebuilder, for state: String) async {
        while !"\(rebuilder.facts[0].value)".hasPrefix("state=\(state)") { await LoopTimer.pause(milliseconds: 1) }
    }

    @LoopActor
    private static func failure(_ rebuilder: Rebuilder, _ projection: RegisteredProjection) -> String? {
        do throws(Failure) {
            try rebuilder.begin(projection, for: "a test")
            return nil
        } catch {
            return error.code.word
        }
    }

    @Test(.timeLimit(.minutes(1))) @LoopActor
    func `One projection is rebuilt at a time, partition after partition`() async {
        let held = Held()
        let rebuilder = Self.rebuilder(held, partitions: 2)
        #expect(rebuilder.facts.map { "\($0.value)" } == ["state=none", "none"])
        #expect(Self.failure(rebuilder, Self.orders) == nil)
        #expect(String(decoding: rebuilder.json, as: UTF8.self) == #"{"projection":"orders","state":"running"}"#)
        #expect(Self.failure(rebuilder, Self.counts) == "BUSY")
        await held.end(.success(2))
        #expect(Self.failure(rebuilder, Self.orders) == "BUSY")
        await held.end(.success(1))
        await Self.wait(rebuilder, for: "done")
        #expect(
            rebuilder.facts.map { "\($0.value)" } == [
                "state=done,projection=orders,partition=1,position=7,goal=9,changed_rows=3", "none",
            ])
        #expect(await held.begun == ["orders 0", "orders 1"])
        #expect(Self.failure(rebuilder, Self.counts) == nil)
        await held.end(.success(0))
        await held.end(.success(nil))
        await Self.wait(rebuilder, for: "done")
    }

    @Test(.timeLimit(.minutes(1))) @LoopActor
    func `What fails says why, and where nothing was saved there is nothing to rebuild`() async {
        let held = Held()
        let rebuilder = Self.rebuilder(held)
        #expect(Self.failure(rebuilder, Self.orders) == nil)
        await held.end(.failure(Trouble()))
        await Self.wait(rebuilder, for: "failed")
        #expect("\(rebuilder.facts[1].value)" == "the rows are gone")
        #expect(Self.failure(rebuilder, Self.orders) == nil)
        #expect("\(rebuilder.facts[1].value)" == "none")
        await held.end(.success(nil))
        await Self.wait(rebuilder, for: "failed")
        #expect("\(rebuilder.facts[1].value)".hasPrefix("nothing to rebuild"))
    }

    @Test(.timeLimit(.minutes(1))) @LoopActor func `A server that stops gives up a rebuild`() async {
        let rebuilder = Rebuilder(partitions: 1, logger: Logger(level: .error)) { _, _, _ in
            try await Task.sleep(for: .seconds(600))
            return 0
        }
        #expect(Self.failure(rebuilder, Self.orders) == nil)
        await rebuilder.stop()
        #expect("\(rebuilder.facts[1].value)" == "the server stopped")
    }

    @Test @LoopActor func `Without stored rows there is nothing to rebuild`() {
        let rebuilder = Rebuilder(partitions: 1, logger: Logger(level: .error), nil)
        #expect(Self.failure(rebuilder, Self.orders) == "UNAVAILABLE")
    }
}
