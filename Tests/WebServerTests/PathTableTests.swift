import SeededRandom
import Testing

@testable import WebServer

@Suite struct `A table of paths` {
    /// Patterns of which no two differ first in a part and a `{…}`: a part's place says which it is.
    private static func patterns(_ random: inout SeededGenerator) -> [String] {
        (0..<Int.random(in: 1...12, using: &random)).map { _ in
            let parts = (0..<Int.random(in: 1...4, using: &random)).map { place in
                place == 1 ? "{id}" : ["a", "b", "c"].randomElement(using: &random) ?? ""
            }
            return "/" + parts.joined(separator: "/")
        }
    }

    private static func matches(_ pattern: String, _ path: [String]) -> Bool {
        let parts = PathTable<Int>.parts(of: pattern)
        return parts.count == path.count
            && zip(parts, path).allSatisfy { $0 == $1 || $0.hasPrefix("{") && !$1.isEmpty }
    }

    @Test(arguments: SeededGenerator.seeds) func `It finds what looking at every pattern finds`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let patterns = Self.patterns(&random)
        let table = PathTable(patterns.enumerated().map { ($1, $0) })
        for _ in 0..<50 {
            let path = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                ["a", "b", "c", "d", "", "{id}"].randomElement(using: &random) ?? ""
            }
            let expected = patterns.indices.filter { Self.matches(patterns[$0], path) }
            #expect(table.values(at: path) == expected, "\(path) in \(patterns)")
        }
    }

    @Test func `A path of slashes is a path of empty parts`() {
        let table = PathTable([(pattern: "/", value: 1), (pattern: "/a/{id}", value: 2)])
        #expect(table.values(at: [""]) == [1])
        #expect(table.values(at: ["a", ""]).isEmpty)
        #expect(table.values(at: ["a", "é"]) == [2])
    }
}
