import Audit
import SeededRandom
import Testing

@Suite struct `The line that shows how far a pass has come` {
    @Test func `It has a bar, the speed, and the time that is left`() {
        #expect(
            ProgressLine.text("partition 0", done: 250, of: 1_000, seconds: 0.5)
                == "partition 0  ━━━━━━──────────────────  500 events/s, 2 s left")
        #expect(
            ProgressLine.text("partition 0", done: 1_000, of: 1_000, seconds: 2)
                == "partition 0  ━━━━━━━━━━━━━━━━━━━━━━━━  500 events/s, 0 s left")
    }

    @Test func `It says no time before it is known, and a long one where events are slow`() {
        #expect(
            ProgressLine.text("moving", done: 0, of: 1_000, seconds: 3) == "moving  "
                + String(repeating: "─", count: 24))
        #expect(
            ProgressLine.text("moving", done: 1, of: 1_000, seconds: 10)
                == "moving  ────────────────────────  0 events/s, 9990 s left")
    }

    @Test(arguments: SeededGenerator.seeds)
    func `It can be printed whatever a damaged log says`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let numbers: [Int64] = [.min, -1, 0, 1, 1_000, 1 << 62, .max - 1, .max]
        for _ in 0..<50 {
            let line = ProgressLine.text(
                "", done: random.pick(numbers), of: random.pick(numbers), seconds: random.pick([0, 1e-9, 0.1, 1e9]))
            #expect(line.count { "━─".contains($0) } == 24)
        }
    }
}
