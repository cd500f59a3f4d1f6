import Testing

@testable import Application
@testable import Serving

@Suite struct ByteCacheTests {
    private static let text = [UInt8](repeating: 0, count: 800)

    @Test func `keeps the latest texts, and no more than there is room for`() {
        var cache = ByteCache<Int>(maximumBytes: 10_000)
        for key in 0..<1_000 {
            cache.keep(Self.text, for: key)
            #expect(cache[key] == Self.text)
            // A thousand bytes each, plus what an entry takes besides its text.
            #expect((0...key).filter { cache[$0] != nil } == Array(max(0, key - 9)...key))
        }
    }

    @Test func `a key keeps its first text`() {
        var cache = ByteCache<Int>(maximumBytes: 10_000)
        cache.keep([1], for: 1)
        cache.keep([2], for: 1)
        #expect(cache[1] == [1])
    }

    @Test func `a text larger than the room is not kept, and evicts nothing`() {
        var cache = ByteCache<Int>(maximumBytes: 1_000)
        cache.keep([1], for: 1)
        cache.keep(Self.text + Self.text, for: 2)
        #expect(cache[1] == [1])
        #expect(cache[2] == nil)
    }
}
