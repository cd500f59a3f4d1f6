import EventLog
import Fleet
import SeededRandom
import Testing

@Suite struct WishTests {
    @Test func `A server's id is 40 hexadecimal digits in lower case`() {
        let digits = String(repeating: "0123456789abcdef", count: 3).prefix(40)
        #expect(ServerID(String(digits))?.text == String(digits))
        #expect(ServerID("\(digits)")?.description == String(digits))
        for text in ["", "0", "\(digits)0", String(digits.dropLast()), digits.uppercased(), digits.dropLast() + "g"] {
            #expect(ServerID(text) == nil, "\(text)")
        }
        // As many bytes, and not as many characters.
        #expect(ServerID(String(digits.dropLast(2)) + "é") == nil)
    }

    @Test func `Ids by chance are ids, and never the same`() {
        let ids = (0..<100).map { _ in ServerID.random() }
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { ServerID($0.text) == $0 })
    }

    @Test func `Ids are in the order of their digits`() {
        let ids = (0..<100).map { _ in ServerID.random() }
        #expect(ids.sorted().map(\.text) == ids.map(\.text).sorted())
    }

    @Test func `Without servers or partitions, nobody is wished for`() {
        #expect(Wish(servers: [], partitionCount: 4)[0] == nil)
        for count in [0, -1, .min] { #expect(Wish(servers: [ServerID.random()], partitionCount: count)[0] == nil) }
        let wish = Wish(servers: [ServerID.random()], partitionCount: 4)
        for partition in [-1, 4, .max, .min] { #expect(wish[partition] == nil) }
    }

    /// Straight from the definition: each partition at the first of its servers, by rank, that has room.
    private static func expected(_ servers: [ServerID], _ partitionCount: Int) -> [ServerID] {
        let share = (partitionCount + servers.count - 1) / servers.count
        var owners: [ServerID] = []
        for partition in 0..<partitionCount {
            let ranked = servers.map { ($0, Digest.of(Array("\($0)/\(partition)".utf8)).bytes.prefix(8)) }
                .sorted { $1.1.lexicographicallyPrecedes($0.1) }.map(\.0)
            owners.append(ranked.first { server in owners.count { $0 == server } < share }!)
        }
        return owners
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Everybody wishes the same, and nobody gets more than a share`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let servers = (0..<random.number(1...12)).map { _ in ServerID(by: &random) }
        let count = random.number(1...100)
        let wish = Wish(servers: servers, partitionCount: count)
        #expect((0..<count).map { wish[$0] } == Self.expected(servers, count))
        let other = Wish(servers: servers.shuffled(using: &random) + servers, partitionCount: count)
        for partition in 0..<count { #expect(wish[partition] == other[partition]) }
    }

    /// Servers of several versions share a log: they have to agree.
    @Test func `What is wished for never changes`() {
        let servers = ["0", "1", "2"].map { ServerID(String(repeating: $0, count: 40))! }
        let wish = Wish(servers: servers, partitionCount: 12)
        #expect((0..<12).compactMap { wish[$0]?.text.first }.map(String.init).joined() == "101021100222")
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Few partitions move when a server comes`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let servers = (0..<random.number(2...12)).map { _ in ServerID(by: &random) }
        let count = random.pick([16, 64, 256])
        let (before, after) = (
            Wish(servers: servers.dropLast(), partitionCount: count), Wish(servers: servers, partitionCount: count)
        )
        let moved = (0..<count).count { before[$0] != after[$0] }
        let share = (count + servers.count - 1) / servers.count
        // Often more than a share: the others have room for fewer, so partitions move between them, too.
        #expect(moved <= 2 * share + 6)
    }
}
