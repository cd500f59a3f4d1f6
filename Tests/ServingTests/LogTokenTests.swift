import EventLog
import SeededRandom
import Testing

@testable import Serving

/// Places in the log that clients take from one server to another.
@Suite struct LogTokenTests {
    private static let digest = Digest(hexadecimal: String(repeating: "9f2c81d4", count: 8))!

    @Test func `A token says where partitions end`() throws {
        let heads = [
            LogHead(partition: 3, position: 1_204, digest: Self.digest),
            LogHead(partition: 7, position: 0, digest: .zero),
        ]
        let token = LogToken(heads)
        #expect(token.text == "3.1204.9f2c81d4,7.0.00000000")
        #expect(LogToken(token.text) == token)
    }

    @Test(arguments: [
        "", ",", ".", "..", "0.1", "0.1.9f2c81d", "0.1.9f2c81d4a", "0.1.9F2C81D4", "-1.1.9f2c81d4", "0.-1.9f2c81d4",
        "0.1.9f2c81d4,", ",0.1.9f2c81d4", "0.1.9f2c81d4.1", " 0.1.9f2c81d4", "0.1.9f2c81dé",
        "0.9223372036854775808.9f2c81d4",
        "9223372036854775808.1.9f2c81d4", Array(repeating: "0.1.9f2c81d4", count: 257).joined(separator: ","),
    ])
    func `Texts that are no token are none`(_ text: String) { #expect(LogToken(text) == nil) }

    @Test func `A log is another one only where it is known to differ`() {
        let place = LogToken.Place(partition: 0, position: 5, digest: "9f2c81d4")
        let same = LogPoint(position: 5, digest: Self.digest)
        #expect(!place.isContradicted(by: []))
        #expect(
            !place.isContradicted(by: [
                LogPoint(position: 4, digest: .zero), same, LogPoint(position: 6, digest: .zero),
            ]))
        #expect(!place.isContradicted(by: [LogPoint(position: 5, digest: nil)]))
        #expect(place.isContradicted(by: [LogPoint(position: 5, digest: .zero)]))
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Whatever is read as a token is written as it was`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            var text = "0.1204.9f2c81d4,63.7.00ff00ff"
            for _ in 0...random.below(3) {
                var characters = Array(text)
                let place = random.below(characters.count)
                if random.chance(50) {
                    characters.remove(at: place)
                } else {
                    characters[place] = random.pick(Array("0123456789af.,-x"))
                }
                text = String(characters)
                if text.isEmpty { break }
            }
            // Numbers may have zeros before them.
            if let token = LogToken(text) { #expect(LogToken(token.text) == token) }
        }
    }
}
