import EventLog
import EventLogContract
import SeededRandom
import Testing

@Suite struct DigestTests {
    /// FIPS 180-2, appendix B, and the digest of no bytes.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ])
    func `Digests are SHA-256`(_ text: String, _ expected: String) {
        #expect(Digest.of(Array(text.utf8)).description == expected)
    }

    @Test func `A digest has 32 bytes`() {
        #expect(Digest([UInt8](repeating: 7, count: 32))?.bytes == [UInt8](repeating: 7, count: 32))
        #expect(Digest([UInt8](repeating: 7, count: 31)) == nil)
        #expect(Digest([UInt8](repeating: 7, count: 33)) == nil)
        #expect(Digest([]) == nil)
        #expect(Digest.zero.bytes == [UInt8](repeating: 0, count: 32))
    }

    @Test func `Hexadecimal has two lower-case digits for each byte`() {
        #expect(([0x00, 0x0A, 0xA0, 0xFF] as [UInt8]).hexadecimal == "000aa0ff")
    }

    // MARK: Merkle trees

    /// The inputs that implementations of Certificate Transparency are tested with.
    private static let inputs: [[UInt8]] = [
        [], [0x00], [0x10], [0x20, 0x21], [0x30, 0x31], Array(0x40...0x43), Array(0x50...0x57), Array(0x60...0x6F),
    ]

    @Test(arguments: [
        (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
        (2, "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"),
        (3, "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"),
        (4, "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"),
        (5, "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"),
        (6, "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"),
        (7, "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"),
        (8, "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"),
    ])
    func `Roots are those of Certificate Transparency`(_ count: Int, _ expected: String) {
        #expect(MerkleTree.root(Self.inputs.prefix(count).map(MerkleTree.leaf)).description == expected)
    }

    @Test func `A root is what RFC 6962 defines, for every number of leaves`() {
        var random = SeededGenerator(seed: 1)
        for count in 0...130 {
            let inputs = (0..<count).map { _ in
                (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
            #expect(MerkleTree.root(inputs.map(MerkleTree.leaf)) == referenceRoot(inputs[...]))
        }
    }

    // MARK: Sets

    @Test(arguments: SeededGenerator.seeds)
    func `A set's digest does not depend on the order, and forgets removed rows`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let rows = (0..<20).map { _ in Digest.of([UInt8](random.next().description.utf8)) }
        var expected = SetDigest()
        for row in rows { expected.insert(row) }

        var digest = SetDigest()
        let others = (0..<20).map { _ in Digest.of([UInt8](random.next().description.utf8)) }
        for row in (rows + others).shuffled(using: &random) { digest.insert(row) }
        #expect(digest != expected)
        for row in others.shuffled(using: &random) { digest.remove(row) }
        #expect(digest == expected)
        #expect(SetDigest(digest.bytes) == digest)
        #expect(digest.description == digest.bytes.hexadecimal)

        for row in rows { digest.remove(row) }
        #expect(digest == SetDigest())
        #expect(digest.bytes == Digest.zero.bytes)
    }

    @Test func `The same row twice has another digest than once`() {
        var digest = SetDigest()
        digest.insert(Digest.of([1]))
        let once = digest
        digest.insert(Digest.of([1]))
        #expect(digest != once)
        #expect(once.bytes == Digest.of([1]).bytes)
        #expect(SetDigest([1, 2, 3]) == nil)
    }
}
