import Domain
import EventLog
import EventLogContract
import Testing

@Suite struct PartitioningTests {
    /// The first four bytes of the key's SHA-256, modulo the count: existing logs depend on these values.
    @Test(arguments: [
        ("o1", [0, 0, 2, 2, 114]), ("spice-route", [0, 0, 0, 6, 54]), ("c1", [0, 0, 0, 10, 202]),
        ("cart-42", [0, 1, 1, 3, 83]), (String(repeating: "Z", count: 64), [0, 0, 1, 12, 204]),
    ])
    func `A key's partition never changes`(_ id: String, _ expected: [Int]) {
        for category in [StreamName.Category.outlet, .menu, .cart] {
            let stream = StreamName(category, Identifier(id)!)
            #expect([1, 2, 3, 16, 256].map { Partitioning(count: $0).partition(of: stream) } == expected)
        }
    }

    @Test func `An order's id never changes`() {
        #expect(
            Partitioning.orderID(cart: Identifier("c1")!, version: 3).rawValue
                == "d0f631ca-77ecc07a62cf48616d852563")
        #expect(
            Partitioning.orderID(cart: Identifier("cart-42")!, version: 17).rawValue
                == "0e580e53-144467365def30f221c8570a")
    }

    @Test(arguments: [1, 2, 3, 7, 16, 100, 256])
    func `An order is in the partition of its cart`(_ count: Int) {
        let partitioning = Partitioning(count: count)
        for number in 0..<500 {
            let cart = Identifier("cart-\(number)")!
            let order = Partitioning.orderID(cart: cart, version: Int64(number % 9))
            #expect(
                partitioning.partition(of: StreamName(.order, order))
                    == partitioning.partition(of: StreamName(.cart, cart)))
        }
    }

    @Test func `Orders of one cart at two versions have two ids`() {
        let ids = (0..<100).map { Partitioning.orderID(cart: Identifier("c1")!, version: $0) }
        #expect(Set(ids).count == ids.count)
    }

    @Test(arguments: ["x", "-", "-0000000", "zzzzzzzz-1", "ffffffff", "FFFFFFFF-1", "12345", "........"])
    func `An order id that no cart gave has a partition, too`(_ id: String) {
        for count in [1, 2, 256] {
            let partition = Partitioning(count: count).partition(of: StreamName(.order, Identifier(id)!))
            #expect((0..<count).contains(partition))
        }
    }

    @Test func `Keys spread over every partition`() {
        let partitioning = Partitioning(count: 16)
        let counts = Dictionary(grouping: 0..<4_800) { partitioning.partition(of: .cart("c\($0)")) }
            .mapValues(\.count)
        #expect(counts.count == 16)
        #expect(counts.values.allSatisfy { (200...400).contains($0) })
    }
}
