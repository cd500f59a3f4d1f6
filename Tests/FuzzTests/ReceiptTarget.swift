import Domain
import EventLog

/// A receipt is read as it is written, and one that was changed does not prove another event. The input is a receipt;
/// or, behind a byte 0 or 1, changes to a genuine one of links or of a tree, each of four bytes: where in two, how many
/// bytes are replaced, and by what.
enum ReceiptTarget {
    static func check(_ input: [UInt8]) throws {
        var text = input
        if let first = input.first, first < 2 {
            text = (first == 0 ? genuine : ofTree).json
            for start in stride(from: 1, to: input.count - 3, by: 4) {
                let place = (Int(input[start]) << 8 | Int(input[start + 1])) % text.count
                let end = min(place + Int(input[start + 2] % 4), text.count)
                text.replaceSubrange(place..<end, with: [input[start + 3]])
            }
        }
        guard let receipt = try? Receipt(json: text) else { return }
        try promise((try? Receipt(json: receipt.json)) == receipt, "not read as it is written")
        guard let proof = try? receipt.verified() else { return }
        guard try receipt.tree?.root == ofTree.tree?.root || genuine.verified().chain.contains(proof.chain[0])
        else { return }
        try promise(
            receipt.event.canonicalBytes == genuine.event.canonicalBytes,
            "proves another event: \(String(decoding: text, as: UTF8.self))")
    }

    /// A receipt of the second of three events, linked to a head two batches later.
    private static let genuine: Receipt = {
        let time = Timestamp(millisecondsSinceEpoch: 1_700_000_000_000)
        let events = (0..<3).map { number in
            RecordedEvent(
                partition: 0, position: Int64(number) + 1, stream: "cart-c\(number)", version: 1,
                kind: EventKind(name: "cart.cleared", schemaVersion: 1), payload: Array(#"{"count":\#(number)}"#.utf8),
                metadata: Array("{}".utf8), recordedAt: time)
        }
        let leaves = events.map { MerkleTree.leaf($0.canonicalBytes) }
        let content = MerkleTree.root(leaves)
        let links = [leaves[0], leaves[2]]
        let chain = Digest.zero.chained(to: content)
        return Receipt(
            partitioning: Partitioning(count: 1, by: .sha256), event: events[1],
            batch: Receipt.Batch(
                firstPosition: 1, lastPosition: 3, index: 1, size: 3, path: MerkleTree.path(to: 1, in: leaves),
                contentDigest: content, previousChainDigest: .zero, chainDigest: chain),
            head: Receipt.Head(links: links, position: 5, digest: links.reduce(chain) { $0.chained(to: $1) }))
    }()

    /// The same, in the tree over these batches.
    private static let ofTree: Receipt = {
        var receipt = genuine
        receipt.head = nil
        let chain = receipt.batch.chainDigest
        let leaves = [3, 4, 5].map { MerkleTree.leaf(endingAt: $0, chain: chain) }
        receipt.tree = Receipt.Tree(
            index: 0, size: 3, root: MerkleTree.root(leaves), path: MerkleTree.path(to: 0, in: leaves))
        return receipt
    }()
}
