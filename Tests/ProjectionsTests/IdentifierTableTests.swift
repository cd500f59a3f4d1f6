import Domain
import SeededRandom
import Testing

@testable import Projections

@Suite("Carts by identifier")
struct IdentifierTableTests {
    private static let alphabet = Array("abcXYZ0189._:-{}".utf8)

    /// Identifiers of every length, many of which differ in one byte or continue each other.
    private static func identifier(_ generator: inout SeededGenerator) -> Identifier {
        let length = generator.number(1..<Identifier.maximumLength + 1)
        var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
        for _ in 0..<generator.number(0..<3) {
            bytes[generator.below(length)] = alphabet[generator.below(alphabet.count)]
        }
        return Identifier(String(decoding: bytes, as: UTF8.self))!
    }

    private static func standing(_ generator: inout SeededGenerator) -> CartCounts.Standing {
        CartCounts.Standing(count: Int32(generator.below(1_000)), version: Int32(generator.number(-1..<1_000)))
    }

    private static func load(
        _ cart: String, _ standing: CartCounts.Standing, into table: inout IdentifierTable<CartCounts.Standing>
    ) -> Bool {
        var text = cart
        return text.withUTF8 { table.load(UnsafeRawBufferPointer($0), standing) }
    }

    private func expect(
        _ table: IdentifierTable<CartCounts.Standing>, _ expected: [Identifier: CartCounts.Standing],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(table.count == expected.count, sourceLocation: sourceLocation)
        let entries = Dictionary(table.entries.map { ($0.key, $0.standing) }) { _, _ in
            CartCounts.Standing(count: -1, version: -1)
        }
        #expect(entries == expected, sourceLocation: sourceLocation)
        #expect(table.places.map(table.key) == table.entries.map(\.key), sourceLocation: sourceLocation)
        let found = expected.keys.allSatisfy { table[$0] == expected[$0] }
        #expect(found, sourceLocation: sourceLocation)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a table holds what a dictionary holds, and a copy keeps it`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var table = IdentifierTable<CartCounts.Standing>()
        var expected: [Identifier: CartCounts.Standing] = [:]
        for _ in 0..<generator.below(4_000) {
            expected[Self.identifier(&generator)] = Self.standing(&generator)
        }
        for (cart, standing) in expected { #expect(Self.load(cart.rawValue, standing, into: &table)) }
        #expect(table.index() == nil)
        expect(table, expected)

        let (copy, then) = (table, expected)
        for _ in 0..<4_000 {
            let (cart, standing) = (Self.identifier(&generator), Self.standing(&generator))
            if let place = table.place(of: cart) {
                #expect(table[place] == expected[cart])
                table[place] = standing
            } else {
                #expect(expected[cart] == nil)
                table.insert(cart, standing)
            }
            expected[cart] = standing
        }
        expect(table, expected)
        expect(copy, then)
        #expect(
            (0..<1_000).allSatisfy { _ in
                let cart = Self.identifier(&generator)
                return table[cart] == expected[cart]
            })
    }

    @Test(arguments: SeededGenerator.seeds)
    func `carts that are loaded in several parts are all found`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var table = IdentifierTable<CartCounts.Standing>()
        var expected: [Identifier: CartCounts.Standing] = [:]
        for _ in 0..<generator.number(1..<6) {
            for _ in 0..<generator.below(3_000) {
                let (cart, standing) = (Self.identifier(&generator), Self.standing(&generator))
                guard expected.updateValue(standing, forKey: cart) == nil else {
                    expected[cart] = table[cart]
                    continue
                }
                table.insert(cart, standing)
            }
            for number in 0..<generator.below(3_000) {
                let cart = Identifier("loaded-\(expected.count)-\(number)")!
                expected[cart] = Self.standing(&generator)
                #expect(Self.load(cart.rawValue, expected[cart]!, into: &table))
            }
            #expect(table.index() == nil)
            expect(table, expected)
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a cart that is loaded twice is found out`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var table = IdentifierTable<CartCounts.Standing>()
        let carts = Set((0..<generator.number(1..<3_000)).map { _ in Self.identifier(&generator) })
        let twice = carts.randomElement(using: &generator)!
        for cart in carts.shuffled(using: &generator) + [twice] {
            #expect(Self.load(cart.rawValue, Self.standing(&generator), into: &table))
        }
        #expect(table.index() == twice)
    }

    @Test(arguments: ["", "no identifier", String(repeating: "x", count: 65), String(repeating: "x", count: 100_000)])
    func `what is not an identifier is not loaded`(text: String) {
        var table = IdentifierTable<CartCounts.Standing>()
        #expect(!Self.load(text, CartCounts.Standing(count: 1, version: 1), into: &table))
        #expect(table.index() == nil)
        #expect(table.count == 0)
        #expect(table.entries.map(\.key).isEmpty)
    }

    @Test func `entries fill many pages`() {
        var table = IdentifierTable<CartCounts.Standing>()
        let carts = (0..<20_000).map { Identifier("cart-\($0)")! }
        for (number, cart) in carts.enumerated() {
            table.insert(cart, CartCounts.Standing(count: Int32(number), version: 1))
        }
        #expect(table.entries.map(\.key) == carts)
        #expect(carts.indices.allSatisfy { table[carts[$0]]?.count == Int32($0) })
        #expect(table["cart-20000"] == nil)
    }
}
