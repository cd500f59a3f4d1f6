import Domain
import LineProtocol
import SeededRandom
import Testing
import TextFormats
import Users

@testable import Application
@testable import Peers

/// Calls as they go from one server to another.
@Suite struct PeerCallTests {
    private static func words(_ text: String...) -> [[UInt8]] { text.map { Array($0.utf8) } }

    @Test(arguments: SeededGenerator.seeds)
    func `A call arrives as it was sent`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let call = PeerCall(by: &random)
            let arrived = try #require(PeerCall(words: call.words))
            #expect(arrived.isSame(as: call))
        }
    }

    @Test func `A call has the words that other versions of the server know`() throws {
        let head = Self.words("7", "12", "-3", "255", "recall", "asha", "41", "2", "customer", "asha")
        let call = try #require(PeerCall(words: head + Self.words("CART.GET", "")))
        #expect(call.call.origin.position == 41)
        #expect(call.number == 7 && call.call.origin.client == 12 && call.call.origin.caller == Caller(number: -3))
        #expect(
            call.call.origin.rights == .all && call.call.origin.isRecall && call.call.origin.actor?.string == "asha")
        #expect(call.call.origin.confinement?.words == ["customer", "asha"])
        #expect(call.call.words == Self.words("CART.GET", ""))
        #expect(call.words == head + Self.words("CART.GET", ""))
    }

    @Test(arguments: [
        // No command.
        ["1", "1", "1", "1", "", "", "5", "0"], ["1", "1", "1", "1", "", "", "5", "2", "customer", "a"], ["1"],
        // Numbers that are none, or too large.
        ["1", "1", "1", "1", "", "", "", "0", "X"], ["1", "1", "1", "1", "", "", "5x", "0", "X"],
        ["", "1", "1", "1", "", "", "5", "0", "X"], ["1", "01", "1", "1", "", "", "5", "0", "X"],
        ["1", "1", "9223372036854775808", "1", "", "", "5", "0", "X"], ["1", "1", "1", "256", "", "", "5", "0", "X"],
        ["1", "1", "1", "-1", "", "", "5", "0", "X"], ["1", "1", "1", "all", "", "", "5", "0", "X"],
        // Counts that are negative, huge or wrong.
        ["1", "1", "1", "1", "", "", "5", "-1", "X"], ["1", "1", "1", "1", "", "", "5", "", "X"],
        ["1", "1", "1", "1", "", "", "5", "1", "X"], ["1", "1", "1", "1", "", "", "5", "2", "X"],
        ["1", "1", "1", "1", "", "", "5", "9223372036854775807", "X"],
        ["1", "1", "1", "1", "", "", "5", "-9223372036854775808", "X"],
        ["1", "1", "1", "1", "", "", "5", "9223372036854775801", "X"],
        ["1", "1", "1", "1", "", "", "5", "4294967296", "X"],
        // What cannot be read must not free the caller.
        ["1", "1", "1", "1", "", "", "5", "1", "customer", "X"],
        ["1", "1", "1", "1", "", "", "5", "2", "cook", "a", "X"],
        ["1", "1", "1", "1", "", "", "5", "2", "customer", "", "X"],
        ["1", "1", "1", "1", "", "", "5", "2", "customer", "a b", "X"],
        ["1", "1", "1", "1", "", "", "5", "3", "customer", "a", "é", "X"],
        ["1", "1", "1", "1", "", "", "5", "2", "", "a", "X"],
    ])
    func `Words that are no call are none`(_ words: [String]) {
        #expect(PeerCall(words: words.map { Array($0.utf8) }) == nil)
    }

    @Test func `Bytes that are no text are no actor and no confinement`() {
        let (head, call) = (Self.words("1", "1", "1", "1", ""), Self.words("X"))
        #expect(PeerCall(words: head + [[0xFF]] + Self.words("5", "0") + call) == nil)
        #expect(PeerCall(words: head + Self.words("", "5", "2", "customer") + [[0xFF]] + call) == nil)
        #expect(PeerCall(words: head + Self.words("", "5", "2") + [[0xC3]] + Self.words("a") + call) == nil)
        // But they may be the call.
        #expect(PeerCall(words: head + Self.words("", "5", "0") + [[0xFF]])?.call.words == [[0xFF]])
    }

    /// Whatever it gives, a call that is read is written as it is read, and its confinement is what its words say.
    private func check(_ words: [[UInt8]]) {
        guard !words.isEmpty, let call = PeerCall(words: words) else { return }
        #expect(!call.call.words.isEmpty && words.suffix(call.call.words.count) == call.call.words[...])
        #expect(words.count - call.call.words.count == 8 + (call.call.origin.confinement?.words.count ?? 0))
        #expect((words[7] == Array("0".utf8)) == (call.call.origin.confinement == nil))
        #expect(PeerCall(words: call.words)?.isSame(as: call) ?? false)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Words in disorder are a call or none`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var words = PeerCall(by: &random).words
            for _ in 0...random.below(3) where !words.isEmpty {
                switch random.below(5) {
                case 0: words.shuffle(using: &random)
                case 1: words.removeLast(random.number(1...words.count))
                case 2: words.remove(at: random.below(words.count))
                case 3: words.insert(word(by: &random), at: random.below(words.count))
                default: words[random.below(words.count)] = word(by: &random)
                }
            }
            check(words)
            check((0..<random.number(1...12)).map { _ in word(by: &random) })
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Half a call is none yet`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var writer = RequestWriter()
        PeerCall(by: &random).write(to: &writer)
        var parser = RequestParser()
        for length in 0..<min(writer.count, 300) {
            let part = UnsafeRawBufferPointer(rebasing: writer.bytes[..<length])
            guard case .incomplete = parser.next(part, within: RequestLimits()) else {
                Issue.record("\(length) of \(writer.count) bytes are a call")
                return
            }
        }
    }
}
