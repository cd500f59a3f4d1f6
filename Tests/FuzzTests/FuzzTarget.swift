import SeededRandom

/// A function that takes any bytes, and what it promises of them.
struct FuzzTarget: Sendable, CustomStringConvertible {
    let name: String
    /// Longer inputs find no more, in bytes.
    let maximumLength: Int
    /// Throws a ``BrokenPromise``; whatever else is wrong traps.
    let check: @Sendable ([UInt8]) throws -> Void

    static let all = [
        FuzzTarget(name: "requests", maximumLength: 256, check: RequestTarget.check),
        FuzzTarget(name: "sessions", maximumLength: 256, check: SessionTarget.check),
        FuzzTarget(name: "replies", maximumLength: 256, check: ReplyTarget.check),
        FuzzTarget(name: "peers", maximumLength: 512, check: PeerTarget.check),
        FuzzTarget(name: "http", maximumLength: 256, check: HTTPTarget.check),
        FuzzTarget(name: "json", maximumLength: 256, check: JSONTarget.check),
        FuzzTarget(name: "patches", maximumLength: 512, check: PatchTarget.check),
        FuzzTarget(name: "documents", maximumLength: 1_024, check: DocumentTarget.check),
        FuzzTarget(name: "events", maximumLength: 1_536, check: EventTarget.check),
        FuzzTarget(name: "receipts", maximumLength: 1_280, check: ReceiptTarget.check),
        FuzzTarget(name: "commands", maximumLength: 768, check: CommandTarget.check),
        FuzzTarget(name: "imports", maximumLength: 512, check: ImportTarget.check),
    ]

    var description: String { name }
}

/// What a target promises, and does not keep.
struct BrokenPromise: Error, CustomStringConvertible {
    let description: String
}

/// Throws unless the promise is kept.
func promise(_ isKept: Bool, _ description: @autoclosure () -> String) throws(BrokenPromise) {
    guard isKept else { throw BrokenPromise(description: description()) }
}

/// An input whose first byte says how the rest is used: the low seven bits how it is cut, the highest bit what the
/// target makes of it.
struct CutInput {
    let isFlagged: Bool
    let bytes: [UInt8]
    private let seed: UInt64

    /// Nil where there is no first byte.
    init?(_ input: [UInt8]) {
        guard let first = input.first else { return nil }
        isFlagged = first & 0x80 != 0
        seed = UInt64(first & 0x7F)
        bytes = Array(input.dropFirst())
    }

    /// The bytes in pieces: each by itself for 0, otherwise of any sizes.
    var chunks: [[UInt8]] {
        guard seed > 0 else { return bytes.map { [$0] } }
        var random = generator
        var rest = bytes[...]
        var chunks: [[UInt8]] = []
        while !rest.isEmpty {
            chunks.append(Array(rest.prefix(.random(in: 1...(random.chance(50) ? 4 : 40), using: &random))))
            rest = rest.dropFirst(chunks[chunks.count - 1].count)
        }
        return chunks
    }

    /// Whatever else is left to chance.
    var generator: SeededGenerator { SeededGenerator(seed: seed) }
}
