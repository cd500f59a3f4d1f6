import Domain
import SeededRandom
import Testing

@testable import Catalogue

/// The data structures of indexes, compared with arrays and sets.
@Suite struct StructureTests {
    @Test(arguments: SeededGenerator.seeds)
    func `sorted chunks are a sorted array`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        // Pairs that are sometimes ordered by the first number alone, as rows are by their keys.
        var plain = Set((0..<generator.number(0..<2_500)).map { _ in generator.number(0..<4_000) }).sorted()
        var chunks = SortedChunks(sorted: plain)
        for _ in 0..<generator.pick([10, 1_500]) {
            let element = generator.number(0..<4_000)
            let place = plain.indices.partitionPoint { plain[$0] < element }
            let isThere = place < plain.count && plain[place] == element
            if generator.chance(55) {
                if isThere { continue }
                plain.insert(element, at: place)
                chunks.insert(element, by: <)
            } else {
                #expect(chunks.remove(element, by: <) == isThere)
                if isThere { plain.remove(at: place) }
            }
        }
        #expect(chunks.count == plain.count)
        #expect(chunks.first == plain.first)
        var all: [Int] = []
        chunks.forEach {
            all.append($0)
            return true
        }
        #expect(all == plain)
        for _ in 0..<20 {
            let start = generator.number(0..<4_100)
            let count = generator.number(1..<50)
            var some: [Int] = []
            chunks.forEach(from: { $0 < start }) {
                some.append($0)
                return some.count < count
            }
            #expect(some == Array(plain.drop { $0 < start }.prefix(count)))
        }
        for index in plain.indices.shuffled(using: &generator).prefix(20) { #expect(chunks[index] == plain[index]) }
    }

    @Test func `sorted chunks can be emptied and filled again`() {
        var chunks = SortedChunks<Int>()
        for round in 0..<2 {
            for number in 0..<2_100 { chunks.insert(round == 0 ? number : 2_100 - number, by: <) }
            #expect(chunks.count == 2_100)
            var last = Int.min
            chunks.forEach { element in
                defer { last = element }
                return element > last
            }
            #expect(last == (round == 0 ? 2_099 : 2_100))
            for number in 0...2_100 { chunks.remove(number, by: <) }
            #expect(chunks.count == 0)
            #expect(chunks.first == nil)
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a bitmap is a set`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let range = generator.pick([64, 5_000, 200_000])
        func some() -> Set<UInt32> {
            Set((0..<generator.number(0..<400)).map { _ in UInt32(generator.number(0..<range)) })
        }
        let sets = (0..<4).map { _ in some() }
        let bitmaps = sets.map { Bitmap(Array($0)) }
        #expect(bitmaps[0].intersection(bitmaps[1]).rows == sets[0].intersection(sets[1]).sorted())
        #expect(bitmaps[0].intersectionCount(bitmaps[1]) == sets[0].intersection(sets[1]).count)
        #expect(bitmaps[0].union(bitmaps[1]).rows == sets[0].union(sets[1]).sorted())
        #expect(bitmaps[0].subtracting(bitmaps[1]).rows == sets[0].subtracting(sets[1]).sorted())
        #expect(Bitmap.union(bitmaps).rows == sets.reduce(into: Set()) { $0.formUnion($1) }.sorted())
        #expect(Bitmap.union([]).isEmpty)
        var plain = sets[0]
        let bitmap = bitmaps[0]
        for _ in 0..<200 {
            let row = UInt32(generator.number(0..<range))
            if generator.chance(50) {
                plain.insert(row)
                bitmap.insert(row)
            } else {
                plain.remove(row)
                bitmap.remove(row)
            }
            #expect(bitmap.contains(row) == plain.contains(row))
        }
        bitmap.insert(Array(sets[2]))
        bitmap.formUnion(bitmaps[3])
        plain.formUnion(sets[2].union(sets[3]))
        let sorted = plain.sorted()
        #expect(bitmap.rows == sorted)
        #expect(bitmap.count == sorted.count)
        #expect(bitmap.isEmpty == sorted.isEmpty)
        for rank in sorted.indices.shuffled(using: &generator).prefix(20) {
            #expect(bitmap.row(atRank: rank) == sorted[rank])
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a column gives back every number, narrow or wide`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let narrow: [Int64] = [0, 1, -1, Int64(Int32.max) - 1, Int64(Int32.min)]
        let wide: [Int64] = [Int64(Int32.max), Int64(Int32.max) + 1, Int64(Int32.min) - 1, .min, .max - 1]
        // Prices of one currency are narrow, though they are large.
        let base: Int64 = generator.pick([0, 0, 1 << 45, -1 << 45])
        var column = NumberColumn()
        var plain: [UInt32: Int64] = [:]
        for step in 0..<300 {
            let row = UInt32(generator.number(0..<60))
            let numbers = step > 150 && seed.isMultiple(of: 2) ? narrow + wide : narrow.map { base + $0 }
            let number = generator.chance(20) ? nil : generator.pick(numbers)
            column[row] = number
            plain[row] = number
        }
        column[60] = nil
        for row: UInt32 in 0...60 {
            #expect(column[row] == plain[row])
            #expect(column.key(row) == plain[row] ?? .max)
        }
        #expect(column[1_000] == nil)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a bitmap is made of pages, and pages of a bitmap`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        // Containers of 65,536 rows with none, few, many and all.
        let rows = Set(
            (0..<2).flatMap { container in
                let share = generator.pick([0, 1, 50, 100])
                return (0..<65_536).filter { _ in generator.chance(share) }.map { UInt32(container << 16 + $0) }
            }
        ).sorted()
        let bitmap = Bitmap(rows)
        #expect(Bitmap(bitmap.pages).rows == rows)
        // One that does not end with a whole container.
        let pages = Array(bitmap.pages.prefix(generator.number(0..<550)))
        #expect(Bitmap(pages).rows == rows.filter { Int($0 / RowPage.size) < pages.count })
    }

    @Test(arguments: SeededGenerator.seeds)
    func `sliced numbers give back every number, and find those of a range`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let range = generator.pick([50, 1_000, 300_000])
        let ends: [Int64] = [.min, .min + 1, .max - 1, .max]
        var numbers = SlicedNumbers()
        var plain: [UInt32: Int64] = [:]
        for step in 0..<3_000 {
            let row = UInt32(generator.number(0..<range))
            let units = [1_000_000, 10_000, 1].prefix(1 + step / 1_000).map(Int64.init)
            let number = generator.pick([-3, 0, 7, 2_147, Int64(Int32.max), Int64(Int32.min), 1 << 40])
            let isEnd = step > 2_000 && seed.isMultiple(of: 3) && generator.chance(5)
            // Now and then nearly all go, so that a page with many numbers has few again.
            let isGone = generator.chance(step % 1_000 > 800 ? 90 : 25)
            let new = isGone ? nil : isEnd ? generator.pick(ends) : number * generator.pick(units)
            numbers[row] = new
            plain[row] = new
            guard numbers[row] == new else {
                Issue.record("row \(row) is not \(new ?? .max)")
                return
            }
            guard step % 250 == 249 else { continue }
            #expect(plain.allSatisfy { numbers[$0.key] == $0.value })
            let bounds = (Array(plain.values) + ends + [0, 1]).sorted()
            for _ in 0..<4 {
                let low = generator.pick(bounds)
                let high = max(low, generator.pick(bounds))
                let expected = plain.filter { (low...high).contains($0.value) }.keys.sorted()
                #expect(numbers.rows(in: low...high).rows == expected)
            }
            let some = plain.keys.filter { _ in generator.chance(30) } + [UInt32(range)]
            let values = some.compactMap { plain[$0] }
            #expect(numbers.bounds(of: Bitmap(some).pages)?.lowerBound == values.min())
            #expect(numbers.bounds(of: Bitmap(some).pages)?.upperBound == values.max())
            let cuts = Set((0..<generator.number(1..<6)).map { _ in generator.pick(bounds) } + [.min]).sorted()
            let ranges = cuts.indices.dropLast().map { cuts[$0]...cuts[$0 + 1] - 1 } + [cuts[cuts.count - 1] ... .max]
            #expect(
                numbers.counts(in: ranges, of: Bitmap(some).pages)
                    == ranges.map { range in values.count { range.contains($0) } })
            #expect(numbers.counts(in: [.min ... .max], of: nil) == [plain.count])
            #expect(numbers.bounds(of: nil)?.upperBound == plain.values.max())
        }
        let together = SlicedNumbers(plain.sorted { $0.key < $1.key }.map { (row: $0.key, number: $0.value) })
        #expect(plain.allSatisfy { together[$0.key] == $0.value })
        #expect(together.rows(in: .min ... .max).rows == plain.keys.sorted())
        #expect(together.rows(in: 1 ... .max).rows == plain.filter { $0.value > 0 }.keys.sorted())
        for row in plain.keys { numbers[row] = nil }
        #expect(numbers.isEmpty)
        #expect(numbers.rows(in: .min ... .max).isEmpty)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `rows are sorted by their keys, counted or compared`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let range: [Int64] =
            generator.pick([
                [5], [-3, 0, 3], [1 << 22, 0], [(1 << 22) + 1, 0], [.min, .max - 1], [-1, .max - 1], [],
            ])
        var keys = NumberColumn()
        let rows = (0..<UInt32(generator.number(0..<200))).filter { _ in generator.chance(80) }
        for row in rows { keys[row] = range.isEmpty || generator.chance(10) ? nil : generator.pick(range) }
        let expected = rows.sorted { (keys.key($0), $0) < (keys.key($1), $1) }
        #expect(SortedRows(rows, by: keys).rows == expected)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `counted words are those with a count, sorted`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var counted = CountedWords()
        var counts: [Text: Int] = [:]
        for _ in 0..<200 {
            let word = Text(generator.pick(Vocabulary.words))
            if generator.chance(50) {
                counted.count(word, 1)
                counts[word, default: 0] += 1
            } else if let count = counts[word] {
                counted.count(word, -1)
                counts[word] = count > 1 ? count - 1 : nil
            }
            #expect(counted.words == counts.keys.sorted())
        }
    }

    /// Numbers of any size, many of them round.
    private static func number(_ generator: inout SeededGenerator) -> Int64 {
        let digits = generator.number(0..<19)
        let scale = (0..<digits).reduce(Int64(1)) { scale, _ in scale * 10 }
        let round = Int64(generator.number(1..<10)) &* scale
        let number = generator.pick([
            round, round &- 1, round &+ 1, Int64.random(in: 0...scale, using: &generator), 0, .max,
        ])
        return generator.chance(50) ? ~number : number
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a number lies in one band, and bands meet`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let ends = [Self.number(&generator), Self.number(&generator)].sorted()
            let within = Int64.random(in: ends[0]...ends[1], using: &generator)
            for bands in [NumberBands.progression, .steps(from: ends[0], to: ends[1])] {
                for number in ends + [within] {
                    let band = bands.band(of: number)
                    #expect(band.contains(number))
                    #expect(bands.band(of: band.lowerBound) == band)
                    #expect(bands.band(of: band.upperBound) == band)
                    if band.upperBound < .max {
                        #expect(!band.contains(bands.band(of: band.upperBound + 1).lowerBound))
                    }
                }
                let list = bands.list(within: ends[0]...ends[1])
                #expect(list.first == bands.band(of: ends[0]) && list.last == bands.band(of: ends[1]))
                for (band, next) in zip(list, list.dropFirst()) { #expect(band.upperBound + 1 == next.lowerBound) }
            }
            #expect(NumberBands.progression.band(of: within / 10) == PlainCatalogue.band(within / 10))
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `equal bands are few, and any narrower ones would be too many or too fine`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let ends = [Self.number(&generator) / 20, Self.number(&generator) / 20].sorted()
            guard case .steps(let step) = NumberBands.steps(from: ends[0], to: ends[1]) else {
                Issue.record("no steps")
                return
            }
            #expect(step == PlainCatalogue.step(from: ends[0], to: ends[1]))
        }
    }
}
