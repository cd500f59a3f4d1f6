import EventLog
import EventLogContract
import SeededRandom
import Testing

@Suite struct MerkleProofTests {
    /// Trees of every size up to 200, with a few leaves of each, among them the first and the last.
    private static let cases: [(count: Int, indices: Set<Int>)] = (1...200).map { count in
        var random = SeededGenerator(seed: UInt64(count))
        return (count, Set([0, count - 1] + (0..<6).map { _ in random.number(0..<count) }))
    }

    private static func inputs(_ count: Int) -> [[UInt8]] {
        var random = SeededGenerator(seed: UInt64(count))
        return (0..<count).map { _ in Array(random.next().description.utf8) }
    }

    /// On which side a leaf lies at each step upwards.
    private static func sides(_ index: Int, of count: Int) -> [Bool] {
        guard count > 1 else { return [] }
        var split = 1
        while split * 2 < count { split *= 2 }
        return index < split ? sides(index, of: split) + [false] : sides(index - split, of: count - split) + [true]
    }

    @Test func `A path is what RFC 6962 defines, and leads from its leaf to the root`() {
        for (count, indices) in Self.cases {
            let inputs = Self.inputs(count)
            let leaves = inputs.map(MerkleTree.leaf)
            let root = MerkleTree.root(leaves)
            for index in indices {
                let path = MerkleTree.path(to: index, in: leaves)
                #expect(path == referencePath(index, inputs[...]).map(\.neighbour))
                #expect(MerkleTree.root(from: leaves[index], at: index, of: count, path: path) == root)
            }
        }
    }

    @Test func `Every leaf of a small tree is proven`() {
        for count in 1...33 {
            let leaves = Self.inputs(count).map(MerkleTree.leaf)
            for index in 0..<count {
                let path = MerkleTree.path(to: index, in: leaves)
                let root = MerkleTree.root(from: leaves[index], at: index, of: count, path: path)
                #expect(root == MerkleTree.root(leaves))
            }
        }
    }

    @Test func `A path that was tampered with leads elsewhere, or nowhere`() {
        for (count, indices) in Self.cases {
            var random = SeededGenerator(seed: UInt64(count) &+ 1_000)
            let leaves = Self.inputs(count).map(MerkleTree.leaf)
            let root = MerkleTree.root(leaves)
            for index in indices {
                let path = MerkleTree.path(to: index, in: leaves)
                func expectRefused(_ leaf: Digest, _ path: [Digest]) {
                    #expect(MerkleTree.root(from: leaf, at: index, of: count, path: path) != root)
                }
                expectRefused(random.flippingABit(of: leaves[index]), path)
                for step in path.indices {
                    var other = path
                    other[step] = random.flippingABit(of: path[step])
                    expectRefused(leaves[index], other)
                    other = path
                    other.remove(at: step)
                    expectRefused(leaves[index], other)
                    if step > 0 {
                        other = path
                        other.swapAt(step, step - 1)
                        expectRefused(leaves[index], other)
                    }
                }
                expectRefused(leaves[index], path + [root])
                expectRefused(leaves[index], [leaves[index]] + path)
            }
        }
    }

    @Test func `A path fits no other leaf, and a tree of another size only if its steps are the same`() {
        for (count, indices) in Self.cases where count <= 70 {
            let leaves = Self.inputs(count).map(MerkleTree.leaf)
            let root = MerkleTree.root(leaves)
            for index in indices {
                let path = MerkleTree.path(to: index, in: leaves)
                for other in -1...count {
                    let claimed = MerkleTree.root(from: leaves[index], at: other, of: count, path: path)
                    #expect((claimed == root) == (other == index))
                }
                for size in -1...count + 5 {
                    let claimed = MerkleTree.root(from: leaves[index], at: index, of: size, path: path)
                    let isSame = index < size && Self.sides(index, of: size) == Self.sides(index, of: count)
                    #expect((claimed == root) == isSame, "\(index) of \(size), not \(count)")
                }
            }
        }
    }

    @Test func `Numbers beyond any tree do not trap`() {
        let leaf = MerkleTree.leaf([])
        for (index, count) in [(0, Int.max), (Int.max - 1, .max), (.max, .max), (0, 0), (0, .min), (.min, 1)] {
            #expect(MerkleTree.root(from: leaf, at: index, of: count, path: []) == nil)
        }
    }

    @Test func `A digest reads back from its hexadecimal, and from nothing else`() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<100 {
            let digest = Digest.of(Array(random.next().description.utf8))
            #expect(Digest(hexadecimal: digest.description) == digest)
            #expect(Digest(hexadecimal: digest.description.uppercased()) == nil)
            #expect(Digest(hexadecimal: digest.description.dropLast()) == nil)
            #expect(Digest(hexadecimal: digest.description + "0") == nil)
            #expect(Digest(hexadecimal: digest.description.dropLast() + "g") == nil)
        }
        #expect(Digest(hexadecimal: "") == nil)
        #expect(Digest(hexadecimal: String(repeating: "é", count: 32)) == nil)
    }
}

extension SeededGenerator {
    /// A digest that differs in one bit.
    mutating func flippingABit(of digest: Digest) -> Digest {
        var bytes = digest.bytes
        bytes[number(0..<Digest.length)] ^= 1 << UInt8(number(0..<8))
        return Digest(bytes)!
    }
}
