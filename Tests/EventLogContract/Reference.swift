internal import Domain
package import EventLog

// A second implementation of the digests, written from their definitions alone, to check those of the log.

/// The bytes that an event's digest covers: numbers big-endian, texts with their length in four bytes before
/// them.
package func referenceBytes(_ event: RecordedEvent) -> [UInt8] {
    func number(_ value: Int64, bytes: Int) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    func text(_ bytes: [UInt8]) -> [UInt8] { number(Int64(bytes.count), bytes: 4) + bytes }
    return text(Array(event.stream.utf8)) + number(event.version, bytes: 8) + text(Array(event.kind.name.utf8))
        + number(Int64(event.kind.schemaVersion), bytes: 4) + text(event.payload) + text(event.metadata)
        + number(event.recordedAt.millisecondsSinceEpoch, bytes: 8)
}

/// The Merkle tree hash as RFC 6962 section 2.1 defines it: by splitting at the largest power of two.
package func referenceRoot(_ inputs: ArraySlice<[UInt8]>) -> Digest {
    switch inputs.count {
    case 0: return Digest.of([])
    case 1: return Digest.of([0x00] + inputs[inputs.startIndex])
    default:
        var split = 1
        while split * 2 < inputs.count { split *= 2 }
        let left = referenceRoot(inputs.prefix(split))
        let right = referenceRoot(inputs.dropFirst(split))
        return Digest.of([0x01] + left.bytes + right.bytes)
    }
}

/// The audit path of RFC 6962 section 2.1.1, and for each of its steps whether the leaf lies on the right; by
/// splitting at the largest power of two.
package func referencePath(_ index: Int, _ inputs: ArraySlice<[UInt8]>) -> [(neighbour: Digest, isRight: Bool)] {
    guard inputs.count > 1 else { return [] }
    var split = 1
    while split * 2 < inputs.count { split *= 2 }
    let (left, right) = (inputs.prefix(split), inputs.dropFirst(split))
    return index < split
        ? referencePath(index, left) + [(referenceRoot(right), false)]
        : referencePath(index - split, right) + [(referenceRoot(left), true)]
}

/// The chain after a batch of these events.
package func referenceChain(_ previous: Digest, _ events: [RecordedEvent]) -> Digest {
    Digest.of(previous.bytes + referenceRoot(events.map(referenceBytes)[...]).bytes)
}

/// What a batch's leaf in the tree over its partition is made of.
package func referenceLeaf(_ commit: Commit) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: commit.lastPosition >> ($0 * 8)) } + commit.chainDigest.bytes
}

/// The consistency proof of RFC 9162 section 2.1.4.1, by its own recursion.
package func referenceProof(
    _ earlier: Int, _ inputs: ArraySlice<[UInt8]>, isWhole: Bool = true
) -> [Digest] {
    guard earlier < inputs.count else { return isWhole ? [] : [referenceRoot(inputs)] }
    var split = 1
    while split * 2 < inputs.count { split *= 2 }
    let (left, right) = (inputs.prefix(split), inputs.dropFirst(split))
    return earlier <= split
        ? referenceProof(earlier, left, isWhole: isWhole) + [referenceRoot(right)]
        : referenceProof(earlier - split, right, isWhole: false) + [referenceRoot(left)]
}
