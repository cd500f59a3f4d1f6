import Application
import LineProtocol
import TextFormats
import Users

@testable import Peers

/// Calls and answers of another server are read as they are written, or not at all; and what cannot be read of a
/// confinement frees nobody. The highest bit of the first byte says which they are.
enum PeerTarget {
    static func check(_ input: [UInt8]) throws {
        guard let input = CutInput(input) else { return }
        if input.isFlagged { try checkAnswers(input.bytes) } else { try checkCalls(input.bytes) }
    }

    private static func checkCalls(_ bytes: [UInt8]) throws {
        for words in RequestTarget.read([bytes], RequestLimits(), isAuthenticated: true).requests {
            guard let call = Arguments.with(words, { PeerCall($0) }) else { continue }
            let confinement = call.call.origin.confinement?.words ?? []
            try promise(
                String(decoding: words[7], as: UTF8.self) == "\(confinement.count)",
                "of \(words) the confinement is \(confinement)")
            var expected = words
            if !words[4].isEmpty { expected[4] = Array("recall".utf8) }
            var writer = RequestWriter()
            call.write(to: &writer)
            let again = RequestTarget.read([Array(writer.bytes)], RequestLimits(), isAuthenticated: true)
            try promise(again.requests == [expected], "\(words) is written as \(again)")
        }
    }

    private static func checkAnswers(_ bytes: [UInt8]) throws {
        for reply in replies(in: bytes) {
            guard case .answer? = PeerReply(reply) else { continue }
            let written = written(reply)
            let again = replies(in: written)
            try promise(again.count == 1 && self.written(again[0]) == written, "\(reply) is written as \(again)")
        }
    }

    /// The replies in bytes, up to the first that is none.
    private static func replies(in bytes: [UInt8]) -> [Reply] {
        var parser = ReplyParser()
        bytes.withUnsafeBytes { parser.append($0) }
        var replies: [Reply] = []
        while let reply = try? parser.next() { replies.append(reply) }
        return replies
    }

    /// The answer in a reply as it is sent; empty where there is none.
    private static func written(_ reply: Reply) -> [UInt8] {
        guard case .answer(let number, let result)? = PeerReply(reply) else { return [] }
        var buffer = ReplyBuffer(version: .resp3)
        buffer.answer(number, result)
        return Array(buffer.bytes)
    }
}
