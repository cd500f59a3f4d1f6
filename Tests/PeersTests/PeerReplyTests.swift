import Domain
import LineProtocol
import SeededRandom
import Testing

@testable import Application
@testable import Peers

/// Answers as they go from one server to another.
@Suite struct PeerReplyTests {
    private static let codes: [Failure.Code] =
        [
            .error, .busy, .unavailable, .unknown, .corrupt, .forgotten, .noPermission, .noAuthentication,
            .wrongPassword, .noProtocol, .aborted, .moved, .readOnly,
        ]
        + [
            Rejection.Code.invalid, .notFound, .conflict, .idMismatch, .closed, .soldOut, .wrongOutlet, .limit, .state,
            .totalChanged, .choice,
        ].map(Failure.Code.rejected)

    private static func result(by random: inout SeededGenerator) -> Result<Answer, Failure> {
        switch random.below(7) {
        case 0: .success(.null)
        case 1: .success(.integer(random.pick([0, -1, 1, .max, .min])))
        case 2: .success(.text(random.pick(["", "o-1", "é", "e\u{301}", "a\r\nb"])))
        case 3: .success(.document(word(by: &random)))
        case 4: .success(.parts(word(by: &random)[...].dropFirst(), end: random.pick(["", "}", "é"])))
        case 5: .success(.documents((0..<random.below(4)).map { _ in word(by: &random) }))
        default: .failure(Failure(random.pick(codes), random.pick(["", "no", "two\r\nlines", "é"])))
        }
    }

    /// What a frame says: its number and its answer; nil where it says nothing.
    private static func read(_ reply: Reply) -> String? {
        switch PeerReply(reply) {
        case .pulse?: "pulse"
        case .farewell?: "farewell"
        case .answer(let number, let result)?: "\(number): \(result.text)"
        case nil: nil
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Answers arrive as they were sent`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var buffer = ReplyBuffer(version: .resp3)
        var sent: [String] = []
        for _ in 0..<50 {
            if random.chance(10) {
                buffer.pulse()
                sent.append("pulse")
            } else if random.chance(10) {
                buffer.farewell()
                sent.append("farewell")
            } else {
                let (number, result) = (random.pick([0, 1, -1, .max, .min] as [Int64]), Self.result(by: &random))
                buffer.answer(number, result)
                sent.append("\(number): \(result.text)")
            }
        }
        let arrived = try #require(replies(in: Array(buffer.bytes)))
        #expect(arrived.map(Self.read) == sent)
    }

    @Test(arguments: codes)
    func `A failure keeps its code`(_ code: Failure.Code) throws {
        let frames = encoded { $0.answer(3, .failure(Failure(code, "no\r\n"))) }
        let reply = try #require(replies(in: frames)?.first)
        guard case .answer(3, .failure(let failure))? = PeerReply(reply) else {
            Issue.record("\(reply) is no failure")
            return
        }
        #expect(failure.code == code && failure.message == "no\r\n")
    }

    /// The numbers of kinds are part of the protocol between versions.
    @Test(arguments: [
        ("*2\r\n:1\r\n:0\r\n", "1: null"), ("*3\r\n:1\r\n:1\r\n:5\r\n", "1: 5"),
        ("*3\r\n:1\r\n:2\r\n$1\r\na\r\n", "1: text [97]"), ("*3\r\n:1\r\n:3\r\n$1\r\na\r\n", "1: document [97]"),
        ("*2\r\n:1\r\n:4\r\n", "1: documents []"), ("*4\r\n:1\r\n:5\r\n$4\r\nBUSY\r\n$0\r\n\r\n", "1: busy []"),
        ("*0\r\n", "pulse"),
    ])
    func `An answer has the words that other versions of the server know`(_ frame: String, _ text: String) throws {
        #expect(Self.read(try #require(replies(in: Array(frame.utf8))?.first)) == text)
    }

    @Test(
        arguments: [
            .null, .integer(1), .simple("OK"), .error(code: "ERR", message: "no"), .bulk([]), .map([]), .set([]),
            .push([]),
            .array([.integer(1)]), .array([.null, .integer(0)]), .array([.integer(1), .null]),
            .array([.integer(1), .integer(6)]), .array([.integer(1), .integer(-1)]),
            .array([.integer(1), .integer(.max)]),
            // Too little or too much for its kind, or something else.
            .array([.integer(1), .integer(0), .null]), .array([.integer(1), .integer(1)]),
            .array([.integer(1), .integer(1), .bulk([0x35])]), .array([.integer(1), .integer(2)]),
            .array([.integer(1), .integer(2), .bulk([0xFF])]), .array([.integer(1), .integer(2), .integer(1)]),
            .array([.integer(1), .integer(3), .null]), .array([.integer(1), .integer(3), .bulk([]), .bulk([])]),
            .array([.integer(1), .integer(4), .bulk([]), .null]), .array([.integer(1), .integer(5), .bulk([])]),
            .array([.integer(1), .integer(5), .bulk([]), .bulk([])]),
            .array([.integer(1), .integer(5), .bulk(Array("busy".utf8)), .bulk([])]),
            .array([.integer(1), .integer(5), .bulk(Array("BUSY".utf8)), .bulk([0xFF])]),
            .array([.integer(1), .integer(5), .integer(1), .integer(1)]),
            .array([.array([.integer(1), .integer(0)])]),
        ] as [Reply])
    func `A reply that is no answer is none`(_ reply: Reply) {
        #expect(PeerReply(reply) == nil)
    }

    private static func reply(by random: inout SeededGenerator, depth: Int = 2) -> Reply {
        switch random.below(depth > 0 ? 9 : 7) {
        case 0: .null
        case 1...2: .integer(random.pick([0, 1, 2, 3, 4, 5, 6, -1, .max, .min]))
        case 3: .simple(random.pick(["OK", "BUSY", ""]))
        case 4: .error(code: "BUSY", message: "no")
        case 5...6: .bulk(random.chance(30) ? Array("BUSY".utf8) : word(by: &random))
        case 7: .array((0..<random.below(6)).map { _ in reply(by: &random, depth: depth - 1) })
        default: .push((0..<random.below(3)).map { _ in reply(by: &random, depth: depth - 1) })
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `Any reply is an answer, which is written as it is read, or none`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            var values = (0..<random.below(5)).map { _ in Self.reply(by: &random) }
            if random.chance(80) { values.insert(contentsOf: [.integer(1), .integer(Int64(random.below(7)))], at: 0) }
            if random.chance(10) { values.shuffle(using: &random) }
            guard case .answer(let number, let result)? = PeerReply(.array(values)) else { continue }
            let again = replies(in: encoded { $0.answer(number, result) })
            #expect(again?.map(Self.read) == ["\(number): \(result.text)"])
        }
    }
}
