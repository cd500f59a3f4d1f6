import Domain
import LineProtocol
import SeededRandom
import TextFormats
import Users

@testable import Application
@testable import Peers

/// A word of any bytes, often one that stands for something in a frame.
func word(by random: inout SeededGenerator) -> [UInt8] {
    switch random.below(4) {
    case 0:
        Array(
            random.pick(["", "0", "-1", "1", "2", "recall", "customer", "merchant", "a", "9223372036854775807"]).utf8)
    default: (0..<random.below(random.chance(5) ? 5_000 : 12)).map { _ in .random(in: 0 ... .max, using: &random) }
    }
}

extension PeerCall {
    /// Any call that a server may send.
    init(by random: inout SeededGenerator) {
        let confinement = random.maybe { random in
            let ids = (0..<random.number(1...100)).map { _ in "id-\(random.below(1_000))" }
            return Confinement(words: [random.pick(["customer", "merchant"])] + ids)!
        }
        // The same characters in other bytes are another actor.
        let actor = random.maybe { Text($0.pick(["asha", "é", "e\u{301}", "0", "a b\r\n", "🍛"])) }
        self.init(
            number: random.pick([0, 1, -1, .max, .min]),
            ForwardedCall(
                (0..<random.number(1...10)).map { _ in word(by: &random) },
                from: CallOrigin(
                    rights: Rights(rawValue: .random(in: 0 ... .max, using: &random)), confinement: confinement,
                    caller: Caller(number: .random(in: .min ... .max, using: &random)),
                    client: .random(in: .min ... .max, using: &random), actor: actor, isRecall: random.chance(20),
                    position: .random(in: .min ... .max, using: &random))))
    }

    /// The call in an array of bulk strings; nil where there is none.
    init?(words: [[UInt8]]) {
        guard let call = Arguments.with(words, { PeerCall($0) }) else { return nil }
        self = call
    }

    /// The call as another server gets it, word by word.
    var words: [[UInt8]] {
        var writer = RequestWriter()
        write(to: &writer)
        var parser = RequestParser()
        guard case .request(let arguments, let consumed) = parser.next(writer.bytes, within: RequestLimits()),
            consumed == writer.count
        else { return [] }
        return arguments.map { Array($0.bytes) }
    }

    func isSame(as other: PeerCall) -> Bool {
        let (a, b) = (call, other.call)
        return number == other.number && a.words == b.words && a.origin.rights == b.origin.rights
            && a.origin.confinement?.words == b.origin.confinement?.words && a.origin.caller == b.origin.caller
            && a.origin.client == b.origin.client
            && a.origin.actor == b.origin.actor && a.origin.isRecall == b.origin.isRecall
            && a.origin.position == b.origin.position
    }
}

extension Result<Answer, Failure> {
    /// As a test compares it.
    var text: String {
        switch self {
        case .success(.null): "null"
        case .success(.integer(let value)): "\(value)"
        case .success(.text(let text)): "text \(Array(text.utf8))"
        case .success(.document(let bytes)): "document \(bytes)"
        case .success(.parts(let start, let end)): "document \(start + Array(end.utf8))"
        case .success(.documents(let documents)): "documents \(documents)"
        case .failure(let failure): "\(failure.code) \(Array(failure.message.utf8))"
        }
    }
}

/// The replies in these bytes; nil where they are none.
func replies(in bytes: [UInt8]) -> [Reply]? {
    var parser = ReplyParser()
    bytes.withUnsafeBytes { parser.append($0) }
    var replies: [Reply] = []
    do throws(ReplyError) {
        while let reply = try parser.next() { replies.append(reply) }
    } catch {
        return nil
    }
    return parser.unread == 0 ? replies : nil
}

/// The bytes of what is written.
func encoded(_ write: (inout ReplyBuffer) -> Void) -> [UInt8] {
    var buffer = ReplyBuffer(version: .resp3)
    write(&buffer)
    return Array(buffer.bytes)
}
