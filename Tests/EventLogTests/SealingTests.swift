import Domain
import EventLog
import SeededRandom
import Testing

@Suite struct SealingTests {
    private static let key = SealingKey(Array(0..<64))!
    private static let owner = TextOwner(customer: Identifier("asha")!, cart: Identifier("c1")!)

    private static func key(_ random: inout SeededGenerator) -> SealingKey {
        SealingKey((0..<64).map { _ in .random(in: 0...255, using: &random) })!
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a sealed text opens, and is the same each time it is sealed`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for kind in TextKind.allCases {
            let key = Self.key(&random)
            let owner = TextOwner(customer: random.identifier(), cart: random.identifier())
            let text = random.text()
            let sealed = key.seal(text, kind, of: owner)
            #expect(key.open(sealed, kind, of: owner) == text.string)
            #expect(key.seal(text, kind, of: owner) == sealed)
            #expect(key.seal("\(text)!", kind, of: owner) != sealed)
        }
    }

    /// What somebody could try to open a text with: none of it is what the text was sealed with.
    @Test(arguments: [
        (key, TextKind.name, owner), (.random(), .note, owner),
        (key, .note, TextOwner(customer: Identifier("ben")!, cart: owner.cart)),
        (key, .note, TextOwner(customer: owner.customer, cart: Identifier("c2")!)),
        // Together of the same length, but divided differently.
        (key, .note, TextOwner(customer: Identifier("ashac")!, cart: Identifier("1")!)),
        (key, .note, TextOwner(customer: owner.cart, cart: owner.customer)),
    ])
    func `a text opens only where it belongs`(_ key: SealingKey, _ kind: TextKind, _ owner: TextOwner) {
        let sealed = Self.key.seal("no nuts", .note, of: Self.owner)
        #expect(key.open(sealed, kind, of: owner) == nil)
    }

    @Test func `a ciphertext that was changed, cut or made up does not open`() {
        let sealed = Array(Self.key.seal("no nuts", .note, of: Self.owner).ciphertext.utf8)
        func open(_ text: some Collection<UInt8>) -> String? {
            Self.key.open(SealedText(ciphertext: Text(String(decoding: text, as: UTF8.self))), .note, of: Self.owner)
        }
        #expect(open(sealed) == "no nuts")
        for index in sealed.indices where sealed[index] != UInt8(ascii: "=") {
            var changed = sealed
            changed[index] = sealed[index] == UInt8(ascii: "A") ? UInt8(ascii: "g") : UInt8(ascii: "A")
            #expect(open(changed) == nil, "at \(index)")
        }
        for length in 0..<sealed.count { #expect(open(sealed.prefix(length)) == nil, "of \(length)") }
        #expect(open("no base64, surely".utf8) == nil)
    }

    /// A text in a log must open with every later version. These were made by another implementation of RFC 5297.
    @Test func `a text is sealed as it always was`() {
        let sealed = Self.key.seal("no nuts, please", .note, of: Self.owner)
        #expect(sealed.ciphertext == "Ykj7hIjxzCpKt1IKoO2sjJB7EPuv84I7vqQek/y3OQ==")
        #expect(Self.key.seal("Asha", .name, of: Self.owner).ciphertext == "u1JU774CZO3zP0+IlhfRbn1uXaM=")
    }

    @Test func `a key does not print itself`() {
        #expect("\(Self.key)" == "a key")
        #expect(SealingKey(Array(0..<63)) == nil)
        #expect(SealingKey.random() != SealingKey.random())
    }
}
