import EventLoop
import Testing

@testable import Application
@testable import Serving

@Suite(.timeLimit(.minutes(1))) struct MemoryBudgetTests {
    init() { LoopActor.startInBackground() }

    /// What a process takes, as a test says.
    @LoopActor
    private final class Process {
        let lines = LoggedLines()
        var used = 0
        var now: UInt64 = 1_000_000_000_000
        var relieved = 0
        /// What is freed with the caches.
        var caches = 0
        private(set) lazy var budget = {
            let budget = MemoryBudget(
                limit: 1_000 << 20, logger: lines.logger, used: { [unowned self] in self.used << 20 },
                now: { [unowned self] in self.now })
            budget.relieve = { [unowned self] in
                relieved += 1
                used -= caches
                caches = 0
            }
            return budget
        }()

        func check(_ megabytes: Int) -> Bool {
            used = megabytes
            budget.check()
            do {
                try budget.checkRoom()
                return true
            } catch {
                #expect(error.code == .busy)
                return false
            }
        }
    }

    @Test @LoopActor func `near the limit caches are emptied, once in a while`() {
        let process = Process()
        #expect(process.check(900) && process.relieved == 0)
        #expect(process.check(901) && process.relieved == 1)
        process.now += MemoryBudget.rest
        #expect(process.check(901) && process.relieved == 1)
        process.now += 1
        #expect(process.check(901) && process.relieved == 2)
    }

    @Test @LoopActor func `beyond the limit nothing is taken in, until there is room again`() throws {
        let process = Process()
        process.caches = 100
        // What the caches had was enough.
        #expect(process.check(1_050) && process.relieved == 1)
        #expect(process.check(1_000))
        #expect(!process.check(1_001) && process.budget.isFull)
        #expect(!process.check(1_002))
        #expect(process.check(1_000) && !process.budget.isFull)
        let lines = try process.lines.text().split(separator: "\n")
        #expect(
            lines == [
                "tiffin: error: the server takes 1001 MB of memory, and 1000 is the most: it refuses what needs more",
                "tiffin: the server takes 1000 MB of memory again, and refuses nothing for that",
            ])
    }

    @Test @LoopActor func `a budget that has started looks by itself`() async {
        let process = Process()
        process.used = 2_000
        process.budget.start()
        await turns { process.budget.isFull }
        process.budget.stop()
    }

    @Test @LoopActor func `without a limit there is always room`() throws {
        let budget = MemoryBudget(limit: 0, logger: LoggedLines().logger, used: { .max })
        budget.start()
        try budget.checkRoom()
        #expect(!budget.isFull)
        budget.stop()
    }
}
