import HTTP
import Testing

@Suite struct `Bytes in gzip` {
    private let text = Array(String(repeating: "plain words, ", count: 20_000).utf8)

    @Test func `What was packed is unpacked, in one part or several`() throws {
        let packed = try #require(Gzip.compressed(text, level: 6))
        #expect(Gzip.unpacked(packed, atMost: text.count) == .bytes(text))
        #expect(Gzip.unpacked(packed + packed, atMost: 2 * text.count) == .bytes(text + text))
        let nothing = try #require(Gzip.compressed([], level: 6))
        #expect(Gzip.unpacked(nothing, atMost: 0) == .bytes([]))
    }

    @Test func `What ends too early is cut short, wherever it ends`() throws {
        let packed = try #require(Gzip.compressed(Array(text.prefix(1_000)), level: 6))
        for length in 0..<packed.count {
            #expect(Gzip.unpacked(Array(packed.prefix(length)), atMost: text.count) == .cutShort, "\(length)")
        }
        let second = packed + packed.dropLast(9)
        #expect(Gzip.unpacked(second, atMost: text.count) == .cutShort)
    }

    @Test func `What is damaged, or followed by something else, is malformed`() throws {
        let packed = try #require(Gzip.compressed(text, level: 6))
        var damaged = packed
        damaged[damaged.count - 6] ^= 1
        for bytes in [damaged, packed + [1, 2, 3], Array("{}".utf8)] {
            #expect(Gzip.unpacked(bytes, atMost: 2 * text.count) == .malformed)
        }
    }

    @Test func `No more is unpacked than is allowed`() throws {
        let packed = try #require(Gzip.compressed(text, level: 6))
        #expect(Gzip.unpacked(packed, atMost: text.count - 1) == .tooLong)
    }
}
