import SeededRandom
import Testing
import TextFormats

@testable import LineServer

@Suite struct SpellingTests {
    private static func nearest(_ text: String) -> String? {
        Arguments.with(text.split(separator: " ").map { Array($0.utf8) }) { LineCommandTable.shared.nearest(to: $0) }
    }

    @Test(arguments: [
        ("CART.AD", "CART.ADD"), ("cart.addd x", "CART.ADD"), ("CRAT.ADD", "CART.ADD"), ("CART ADD c", "CART.ADD"),
        ("OUTLET.HME", "OUTLET.HOME"), ("CLEINT ID", "CLIENT ID"), ("CLIENT SETNAM", "CLIENT SETNAME"),
        ("COMAND", "COMMAND"), ("PNG", "PING"), ("KITCHN x", "KITCHEN"), ("ORDER", "ORDERS"),
    ])
    func `a mistyped name leads to the one that was meant`(typed: String, meant: String) {
        #expect(Self.nearest(typed) == meant)
    }

    @Test(arguments: ["GET x", "SET a b", "DEL", "X", "FLUSHALL", "ZADD", "CLIENT NOSUCH", "CLIENT", "КАРТ.АДД"])
    func `a name that is like none leads to none`(typed: String) { #expect(Self.nearest(typed) == nil) }

    @Test func `a long name is compared with nothing`() {
        #expect(Self.nearest("CART.ADD" + String(repeating: "D", count: 100_000)) == nil)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `edits are those that a whole table counts, up to the limit`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let words = (0..<2).map { _ in
                (0..<Int.random(in: 0...7, using: &random)).map { _ in UInt8.random(in: 97...99, using: &random) }
            }
            let distance = Self.distance(words[0], words[1])
            for limit in 0...3 {
                #expect(
                    Spelling.edits(from: words[0], to: words[1], atMost: limit) == (distance <= limit ? distance : nil))
            }
        }
    }

    /// The distance by its definition.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var table = [[Int]](repeating: [Int](repeating: 0, count: b.count + 1), count: a.count + 1)
        for i in 0...a.count {
            for j in 0...b.count {
                guard i > 0, j > 0 else {
                    table[i][j] = max(i, j)
                    continue
                }
                table[i][j] = min(
                    table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
                }
            }
        }
        return table[a.count][b.count]
    }
}
