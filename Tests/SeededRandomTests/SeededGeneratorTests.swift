import SeededRandom
import Testing

@Suite struct `The seeded generator` {
    @Test func `It gives the published numbers of SplitMix64`() {
        var random = SeededGenerator(seed: 1_234_567)
        let numbers: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ]
        let drawn = numbers.map { _ in random.next() }
        #expect(drawn == numbers)
    }

    @Test func `The numbers of a seed never change`() {
        var (random, shared) = (SeededGenerator(seed: 42), SeededGenerator(seed: 42, of: 7))
        let numbers = (0..<8).map { _ in random.below(1_000) }
        let dice = (0..<8).map { _ in shared.number(1...6) }
        let weighted = (0..<8).map { _ in random.pick(weights: [1, 2, 1]) }
        #expect(numbers == [741, 159, 278, 344, 38, 868, 218, 800])
        #expect(dice == [4, 5, 1, 3, 2, 2, 4, 6])
        #expect(weighted == [0, 1, 1, 1, 1, 2, 0, 1])
    }

    @Test func `Generators that share a seed are independent`() {
        var first = Set<UInt64>()
        for index in -100..<100 {
            var random = SeededGenerator(seed: 3, of: index)
            first.insert(random.next())
        }
        #expect(first.count == 200)
    }
}
