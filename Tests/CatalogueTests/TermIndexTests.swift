import Domain
import SeededRandom
import Testing

@testable import Catalogue

/// Thousands of terms with a common beginning, such as merchants' codes and numbered dishes.
@Suite struct TermIndexTests {
    private static func code(_ random: inout SeededGenerator) -> String {
        "itm" + String(Int.random(in: 0..<4_000, using: &random)).leftPadded(to: 6)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `every beginning finds the terms that have it, however many there are`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let index = TermIndex(TextAnalyser())
        var texts: [UInt32: String] = [:]
        for row in 0..<1_500 as Range<UInt32> {
            texts[row] = "\(Self.code(&random)) \(Self.code(&random))"
            index.load(Text(texts[row]!), at: row)
        }
        index.finishLoading()
        for step in 0..<3_000 {
            let row = UInt32.random(in: 0..<3_000, using: &random)
            let new = Bool.random(using: &random) ? "\(Self.code(&random)) dal" : nil
            index.update(from: texts[row].map { [Text($0)] } ?? [], to: new.map { [Text($0)] } ?? [], at: row)
            texts[row] = new
            guard step % 100 == 0 else { continue }
            let words = texts.mapValues { $0.split(separator: " ").map(String.init) }
            let code = Self.code(&random)
            for length in 1...code.count {
                let beginning = String(code.prefix(length))
                let expected = words.filter { $0.value.contains { $0.hasPrefix(beginning) } }
                #expect((index.rows(beginning: Text(beginning))?.rows ?? []) == expected.keys.sorted())
            }
            let whole = words.filter { $0.value.contains(code) }
            #expect((index.rows(having: Text(code))?.rows ?? []) == whole.keys.sorted())
        }
    }
}

extension String {
    fileprivate func leftPadded(to length: Int) -> String {
        String(repeating: "0", count: max(0, length - count)) + self
    }
}
