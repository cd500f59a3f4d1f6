import SeededRandom
import Testing

@testable import Application
@testable import Serving

@Suite struct CheckpointScheduleTests {
    static let second: UInt64 = 1_000_000_000

    static func schedule(now: UInt64 = 0) -> CheckpointSchedule {
        CheckpointSchedule(maximumEvents: 1_000, maximumWait: 30 * second, position: 0, now: now)
    }

    @Test func `a quiet second is used, and nothing is saved twice`() {
        var schedule = Self.schedule()
        let isDue = [(UInt64(1), Int64(0)), (2, 0), (3, 5)].map { second, saved in
            schedule.isDue(at: 5, saved: saved, now: second * Self.second)
        }
        #expect(isDue == [false, true, false])
    }

    @Test func `whoever keeps writing is saved after a while, or after many events`() {
        var schedule = Self.schedule()
        let due = (1...40).first { schedule.isDue(at: Int64($0), saved: 0, now: UInt64($0) * Self.second) }
        #expect(due == 31)
        schedule = Self.schedule()
        let many = [Int64(999), 1_000].map { schedule.isDue(at: $0, saved: 0, now: 1) }
        #expect(many == [false, true])
    }

    @Test func `after a failure it waits, however much there is`() {
        var schedule = Self.schedule()
        schedule.failed(1 * Self.second)
        let isDue = [UInt64(10), 11].map { schedule.isDue(at: 5_000, saved: 0, now: $0 * Self.second) }
        #expect(isDue == [false, true])
    }

    @Test(arguments: SeededGenerator.seeds)
    func `saving takes a tenth of the time at most, however long it takes and whoever writes`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var schedule = Self.schedule()
        var (now, saving, position, saved) = (UInt64(0), UInt64(0), Int64(0), Int64(0))
        for _ in 0..<5_000 {
            now += Self.second
            position += random.chance(50) ? 1 : 0
            // Within the events that wait for nothing.
            guard schedule.isDue(at: position, saved: saved, now: now), position - saved < 1_000 else { continue }
            let took = UInt64(random.number(1...20_000)) * 1_000_000
            schedule.ended(now + took, began: now)
            (now, saving, saved) = (now + took, saving + took, position)
        }
        #expect(saved > 0)
        #expect(saving <= now / 10 + 20 * Self.second)
    }
}
