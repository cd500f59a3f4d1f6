import SeededRandom
import Testing

@testable import Integrations

@Suite struct BackOffTests {
    @Test(arguments: SeededGenerator.seeds) func `waits grow to the longest, and no two have to be alike`(seed: UInt64)
    {
        var random = SeededGenerator(seed: seed)
        let backOff = BackOff(first: 1_000, longest: 3_600_000)
        for failures in 1...100 {
            let whole: UInt64 = min(3_600_000, 1_000 << UInt64(min(failures - 1, 20)))
            #expect((whole / 2...whole).contains(backOff.wait(after: failures, &random)))
        }
        #expect(Set((0..<20).map { _ in backOff.wait(after: 5, &random) }).count > 1)
    }

    @Test(arguments: [1, UInt64.max / 2, .max]) func `no wait overflows`(longest: UInt64) {
        var random = SeededGenerator(seed: 1)
        for first in [1, longest / 2 + 1, longest] {
            let backOff = BackOff(first: first, longest: longest)
            for failures in [1, 2, 63, 64, 65, Int.max / 2, .max] {
                #expect(backOff.wait(after: failures, &random) <= max(first, longest))
            }
        }
    }
}
