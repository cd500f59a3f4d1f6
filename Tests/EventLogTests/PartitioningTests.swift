import Domain
import EventLogContract
import SeededRandom
import Testing

@testable import EventLog

@Suite struct PartitioningTests {
    /// The first four bytes of the key's SHA-256, modulo the count: existing logs depend on these values.
    @Test(arguments: [
        ("o1", [0, 0, 2, 2, 114]), ("spice-route", [0, 0, 0, 6, 54]), ("c1", [0, 0, 0, 10, 202]),
        ("cart-42", [0, 1, 1, 3, 83]), (String(repeating: "Z", count: 64), [0, 0, 1, 12, 204]),
    ])
    func `A key's partition by SHA-256 never changes`(_ id: String, _ expected: [Int]) {
        for category in [StreamName.Category.outlet, .menu, .cart] {
            let stream = StreamName(category, Identifier(id)!)
            #expect([1, 2, 3, 16, 256].map { Partitioning(count: $0, by: .sha256).partition(of: stream) } == expected)
        }
    }

    /// The slot times the count over 16,384. What Redis 7 answers to `CLUSTER KEYSLOT` leads to these values.
    @Test(arguments: [
        ("o1", [0, 1, 2, 15, 245]), ("spice-route", [0, 0, 0, 3, 53]), ("c1", [0, 1, 2, 14, 224]),
        ("cart-42", [0, 1, 2, 14, 237]), (String(repeating: "Z", count: 64), [0, 1, 2, 15, 252]),
        ("{asha}-1", [0, 0, 0, 4, 64]), ("{asha}-2", [0, 0, 0, 4, 64]),
    ])
    func `A key's partition by slots never changes`(_ id: String, _ expected: [Int]) {
        for category in StreamName.Category.allCases {
            let stream = StreamName(category, Identifier(id)!)
            #expect([1, 2, 3, 16, 256].map { Partitioning(count: $0, by: .slots).partition(of: stream) } == expected)
        }
    }

    @Test(arguments: [
        ("c1", 3, Partitioning.Rule.sha256, "d0f631ca-77ecc07a62cf48616d852563"),
        ("cart-42", 17, .sha256, "0e580e53-144467365def30f221c8570a"),
        ("c1", 3, .slots, "77ecc07a62cf48616d8525630im4"), ("cart-42", 17, .slots, "144467365def30f221c8570a04dd"),
        ("{asha}-1", 2, .slots, "017732a6be246e5cf96a979902m8"),
    ])
    func `An order's id never changes`(cart: String, version: Int64, rule: Partitioning.Rule, order: String) {
        let partitioning = Partitioning(count: 1, by: rule)
        #expect(partitioning.orderID(cart: Identifier(cart)!, version: version).rawValue == order)
    }

    @Test(arguments: [1, 2, 3, 7, 16, 100, 256], Partitioning.Rule.allCases)
    func `An order is in the partition of its cart`(_ count: Int, _ rule: Partitioning.Rule) {
        let partitioning = Partitioning(count: count, by: rule)
        for number in 0..<500 {
            let cart = Identifier("cart-\(number)")!
            let order = partitioning.orderID(cart: cart, version: Int64(number % 9))
            #expect(
                partitioning.partition(of: StreamName(.order, order))
                    == partitioning.partition(of: StreamName(.cart, cart)))
        }
    }

    /// CRC-16/XMODEM bit by bit, modulo 16,384.
    private static func plainSlot(_ text: String) -> Int {
        var value: UInt16 = 0
        for byte in text.utf8 {
            for bit in (0..<8).reversed() {
                let isOne = (value >> 15 == 1) != (byte >> bit & 1 == 1)
                value = value << 1 ^ (isOne ? 0x1021 : 0)
            }
        }
        return Int(value) % 16_384
    }

    @Test func `An order's id has the slot of its cart, whatever the cart is called`() {
        #expect(Self.plainSlot("123456789") == 12_739)
        var random = SeededGenerator(seed: 11)
        let alphabet = Array("abcxyzABCXYZ0189._:-{}".utf8)
        let partitioning = Partitioning(count: 256)
        var seen: Set<Identifier> = []
        for _ in 0..<20_000 {
            let bytes = (0..<random.number(1..<65)).map { _ in random.pick(alphabet) }
            let cart = Identifier(String(decoding: bytes, as: UTF8.self))!
            let order = partitioning.orderID(cart: cart, version: Int64(random.below(1_000)))
            // An order's id has no braces, so all of it counts.
            let slot = Self.plainSlot(order.rawValue)
            if slot != HashSlot(of: cart).number { Issue.record("\(order) of \(cart)") }
            #expect(order.rawValue.wholeMatch(of: /[0-9a-f]{24}[0-9a-z]{4}/) != nil)
            seen.insert(order)
        }
        #expect(seen.count > 19_000)
    }

    @Test func `Every slot has a suffix`() {
        for number in 0..<HashSlot.count {
            let order = HashSlot(number: number).suffix(for: "00ff")
            if Self.plainSlot("00ff" + order) != number { Issue.record("\(order) for \(number)") }
        }
    }

    @Test(arguments: Partitioning.Rule.allCases)
    func `Orders of one cart at two versions have two ids`(_ rule: Partitioning.Rule) {
        let partitioning = Partitioning(count: 1, by: rule)
        let ids = (0..<100).map { partitioning.orderID(cart: Identifier("c1")!, version: $0) }
        #expect(Set(ids).count == ids.count)
    }

    @Test(arguments: ["x", "-", "-0000000", "zzzzzzzz-1", "ffffffff", "FFFFFFFF-1", "12345", "........"])
    func `An order id that no cart gave has a partition, too`(_ id: String) {
        for rule in Partitioning.Rule.allCases {
            for count in [1, 2, 256] {
                let partition = Partitioning(count: count, by: rule).partition(of: StreamName(.order, Identifier(id)!))
                #expect((0..<count).contains(partition))
            }
        }
    }

    @Test(arguments: Partitioning.Rule.allCases)
    func `Keys spread over every partition`(_ rule: Partitioning.Rule) {
        let partitioning = Partitioning(count: 16, by: rule)
        let counts = Dictionary(grouping: 0..<4_800) { partitioning.partition(of: .cart("c\($0)")) }
            .mapValues(\.count)
        #expect(counts.count == 16)
        #expect(counts.values.allSatisfy { (200...400).contains($0) })
    }
}
