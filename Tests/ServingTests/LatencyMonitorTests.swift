import EventLoop
import SeededRandom
import Testing

@testable import Serving

@Suite struct LatencyMonitorTests {
    init() { LoopActor.startInBackground() }

    @Test(arguments: SeededGenerator.seeds) @LoopActor
    func `of each second the longest time is kept, of the last seconds, and the longest of all`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var second: Int64 = 1_000
        let monitor = LatencyMonitor(milliseconds: 100) { second }
        var longest: [(second: Int64, milliseconds: Int64)] = []
        for _ in 0..<1_000 {
            second += Int64(random.below(2))
            let milliseconds = Int64(random.number(50...500))
            monitor.note(.append, nanoseconds: UInt64(milliseconds) * 1_000_000 + UInt64(random.below(1_000_000)))
            guard milliseconds >= 100 else { continue }
            if longest.last?.second == second {
                longest[longest.count - 1].milliseconds = max(longest.last!.milliseconds, milliseconds)
            } else {
                longest.append((second, milliseconds))
            }
        }
        let series = monitor.series[.append]
        #expect(longest.count > 160)
        #expect(series?.samples.map(\.time) == longest.suffix(160).map(\.second))
        #expect(series?.samples.map(\.milliseconds) == longest.suffix(160).map(\.milliseconds))
        #expect(series?.maximum == longest.map(\.milliseconds).max())
        #expect(monitor.series[.turn] == nil)
    }

    @Test @LoopActor func `an event that is reset begins anew, and the others stay`() {
        let monitor = LatencyMonitor(milliseconds: 1) { 7 }
        monitor.note(.command, nanoseconds: 5_000_000)
        monitor.note(.checkpoint, nanoseconds: 5_000_000)
        #expect(monitor.reset(.command))
        #expect(!monitor.reset(.command))
        #expect(monitor.series.keys.map(\.rawValue) == ["checkpoint"])
        monitor.note(.command, nanoseconds: 2_000_000)
        #expect(monitor.series[.command]?.maximum == 2)
    }

    @Test @LoopActor func `a monitor of nothing notes nothing, however long it takes`() {
        let monitor = LatencyMonitor(milliseconds: 0) { 7 }
        monitor.note(.turn, nanoseconds: .max - 1)
        #expect(monitor.series.isEmpty)
    }
}
