import LineProtocol
import SeededRandom
import Testing

@testable import LoadOracle

@Suite("A recorded run")
struct RecordTests {
    /// The lines of the record of some observations.
    private static func lines(_ play: Play, _ observations: [Observation]? = nil) -> [[UInt8]] {
        var writer = RecordWriter(play.world, connections: 1, command: "tiffin-monkey --seed 1")
        for observation in observations ?? play.trial.observations { writer.add(observation) }
        writer.end()
        return writer.takeBytes().split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    private static func judge(_ lines: [[UInt8]]) throws -> Oracle {
        var replay = Replay()
        for line in lines { try replay.take(line) }
        return try replay.finish()
    }

    private static func wants(_ kind: Int, _ observation: Observation) -> Bool {
        switch observation {
        case .message: kind == 0
        case .exchange: kind == 1
        case .logEvent: kind == 2
        default: false
        }
    }

    @Test(
        "is judged as the run was, and a changed number in a message, a reply or the log is noticed",
        arguments: SeededGenerator.seeds.prefix(8))
    func judgedAgain(seed: UInt64) throws {
        let play = try Play(seed: seed)
        try play.run(steps: 30)
        #expect(try Self.judge(Self.lines(play)).checkCount == play.trial.oracle.checkCount)
        #expect(play.trial.oracle.findings == [])
        var random = SeededGenerator(seed: seed)
        for kind in 0..<3 {
            let wrong = Self.tampered(play.trial.observations, &random) { Self.wants(kind, $0) }
            let oracle = try Self.judge(Self.lines(play, wrong))
            let changed = zip(wrong, play.trial.observations).first { $0 != $1 }
            #expect(!oracle.findings.isEmpty, "\(changed.map { "\($0.0)\n\($0.1)" } ?? "")")
            guard seed < 3 else { continue }
            // The same is found without the record.
            let direct = Oracle(play.world.plan, connections: 1)
            for observation in wrong { direct.take(observation) }
            #expect(oracle.findings.map(\.message) == direct.findings.map(\.message))
            #expect(oracle.findings.map(\.history) == direct.findings.map(\.history))
        }
    }

    // MARK: Tampering

    /// The integers of a JSON text, with the members that have them.
    private static func numbers(_ text: [UInt8]) -> [(key: String, range: Range<Int>)] {
        var numbers: [(key: String, range: Range<Int>)] = []
        var (index, key) = (0, "")
        while index < text.count {
            let start = index
            if text[index] == UInt8(ascii: "\"") {
                index += 1
                while text[index] != UInt8(ascii: "\"") { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
                index += 1
                if index < text.count, text[index] == UInt8(ascii: ":") {
                    key = String(decoding: text[(start + 1)..<(index - 1)], as: UTF8.self)
                }
            } else if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[index]) {
                while index < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[index]) { index += 1 }
                numbers.append((key, start..<index))
            } else {
                index += 1
            }
        }
        return numbers
    }

    /// The text with one of its numbers changed; nil if it has none.
    private static func tampered(_ text: [UInt8], _ random: inout SeededGenerator, in keys: [String]? = nil) -> [UInt8]?
    {
        let found = numbers(text).filter { keys?.contains($0.key) != false }
        guard !found.isEmpty else { return nil }
        let range = random.pick(found).range
        guard let number = Int64(String(decoding: text[range], as: UTF8.self)) else { return nil }
        let step = random.pick([1, 7, -1] as [Int64])
        var text = text
        text.replaceSubrange(range, with: Array("\(number + step < 0 ? 1 : number + step)".utf8))
        return text
    }

    /// The observations with a number changed in one of the given kind.
    private static func tampered(
        _ observations: [Observation], _ random: inout SeededGenerator, _ isWanted: (Observation) -> Bool
    ) -> [Observation] {
        var observations = observations
        while true {
            let index = random.number(0..<observations.count)
            guard isWanted(observations[index]), let changed = tampered(observations[index], &random) else { continue }
            observations[index] = changed
            return observations
        }
    }

    private static func tampered(_ observation: Observation, _ random: inout SeededGenerator) -> Observation? {
        switch observation {
        case .message(let connection, let channel, let time, let payload):
            return tampered(payload, &random).map {
                .message(connection: connection, channel: channel, at: time, payload: $0)
            }
        case .logEvent(let partition, let event):
            // The numbers by which the log is judged: the rest of an event is not shown to any client.
            let keys = ["position", "version", "quantity", "from", "to"]
            return tampered(event, &random, in: keys).map { .logEvent(partition: partition, event: $0) }
        case .exchange(var exchange):
            switch exchange.reply {
            case .integer(let number): exchange.reply = .integer(number + random.pick([1, -1]))
            case .error: exchange.reply = .error(code: random.pick(["CORRUPT", "CONFLICT", "INVALID"]), message: "")
            case .null: exchange.reply = .integer(0)
            case .bulk(let bytes):
                // The name of an order is the server's own.
                guard exchange.call.kind != .cartCheckout, let changed = tampered(bytes, &random) else { return nil }
                exchange.reply = .bulk(changed)
            default: return nil
            }
            return .exchange(exchange)
        default: return nil
        }
    }

    @Test("is caught if one message is missing", arguments: UInt64(0)..<4)
    func missingMessages(seed: UInt64) throws {
        let play = try Play(seed: seed)
        try play.run(steps: 30)
        let places = play.trial.observations.indices.filter {
            if case .message(_, _, _, let text) = play.trial.observations[$0] {
                // The last one of a channel leaves no gap.
                JSON(text)?["from"] != JSON(text)?["to"]
            } else {
                false
            }
        }
        var random = SeededGenerator(seed: seed)
        var observations = play.trial.observations
        let place = random.pick(places)
        guard case .message(_, let channel, _, _) = observations[place] else { return }
        let isLast = !observations[(place + 1)...].contains {
            if case .message(_, channel, _, _) = $0 { true } else { false }
        }
        observations.remove(at: place)
        #expect(try isLast || !Self.judge(Self.lines(play, observations)).findings.isEmpty)
    }

    // MARK: Lines

    @Test("keeps every kind of observation and reply as it was")
    func roundTrip() throws {
        let play = try Play(seed: 1)
        let cart = CartID(shopper: 2, number: 0)
        let replies: [Reply] = [
            .simple("OK"), .error(code: "BUSY", message: "wait"), .integer(.max), .integer(-7), .null, .boolean(true),
            .bulk(Array("caf\u{e9} cafe\u{301} \"\\\n\u{1}".utf8)), .bulk([0xFF, 0x00, 0x7F]), .bulk([]),
            .verbatim(format: "txt", text: "a"), .double(1.5), .bigNumber("123456789012345678901"),
            .array([.null, .array([.integer(1)])]), .map([.init(.simple("a"), .integer(1))]), .set([.integer(1)]),
            .push([.simple("message")]), .bulk(Array(repeating: 0x61, count: 5_000)),
            .bulk(Array(repeating: 0x61, count: 5_000)),
        ]
        for reply in replies {
            var writer = RecordWriter(play.world, connections: 1, command: "")
            _ = writer.takeBytes()
            let exchange = Exchange(
                customer: 2, call: .count(cart), write: 0, planned: 5, sent: 6, answered: 7, reply: reply,
                repeated: reply)
            writer.add(.exchange(exchange))
            let line = try #require(JSON(Array(writer.takeBytes().dropLast())))
            for key: Text in ["reply", "repeated"] {
                let read = try #require(line[key].flatMap(Reply.init(recorded:)))
                #expect(read.isSame(as: reply), "\(reply)")
            }
        }
        #expect(!Reply.simple("caf\u{e9}").isSame(as: .simple("cafe\u{301}")))
    }

    @Test("refers to a long text by its number when it comes again, however many there are", arguments: [1, 128, 129])
    func longTexts(count: Int) throws {
        let play = try Play(seed: 1)
        var writer = RecordWriter(play.world, connections: 1, command: "")
        let home = { (number: Int) in Array("\(number)".utf8) + [UInt8](repeating: 0x20, count: 2_000) }
        for number in 0..<(2 * count) {
            let reply = Reply.bulk(home(number % count))
            writer.add(
                .exchange(
                    Exchange(
                        customer: 2, call: .tags(outlet: 0), write: 0, planned: 1, sent: 1, answered: 1, reply: reply)))
        }
        writer.end()
        let lines = writer.takeBytes().split(separator: UInt8(ascii: "\n")).map(Array.init)
        #expect(lines.filter { $0.count < 1_000 }.count == (count <= RecordWriter.keptTexts ? count : 0) + 2)
        // Each is written in full: none is a tag bar.
        let oracle = try Self.judge(lines)
        #expect(oracle.findings.count + oracle.furtherFindings == 2 * count)
        #expect(oracle.findings[0].message.contains("is not that of its menu: "))
    }

    @Test("that cannot be read is refused, with the line and what is wrong with it")
    func unreadable() throws {
        let play = try Play(seed: 2)
        try play.run(steps: 5)
        let lines = Self.lines(play)
        func problem(_ change: (inout [[UInt8]]) -> Void) -> RecordError? {
            var lines = lines
            change(&lines)
            do {
                _ = try Self.judge(lines)
            } catch {
                return error as? RecordError
            }
            return nil
        }
        func replaced(_ line: Int, _ text: String, _ said: String, _ place: SourceLocation = #_sourceLocation) {
            let problem = problem { $0[line - 1] = Array(text.utf8) }
            #expect(
                problem?.line == line && problem?.problem.contains(said) == true,
                "\(problem.map { "\($0)" } ?? "none")",
                sourceLocation: place)
        }
        #expect(problem { _ in } == nil)
        #expect(problem { $0 = [] }?.description == "line 1: the record is empty")
        #expect(problem { $0.removeLast() }?.problem.contains("the run did not end") == true)
        #expect(problem { $0.remove(at: 5) }?.problem.contains("lines before this one") == true)
        #expect(problem { $0.append(Array("{}".utf8)) }?.line == lines.count + 1)
        replaced(1, "{}", "not the beginning of a record")
        replaced(1, #"{"record":1}"#, "only format 3 can be read")
        replaced(1, #"{"record":3,"outlets":0}"#, "'outlets' is not a number from 1")
        replaced(4, "", "not a JSON object")
        replaced(4, "[1]", "not a JSON object")
        replaced(4, String(decoding: lines[3].dropLast(5), as: UTF8.self), "not a JSON object")
        replaced(4, "{}", "not a line of a record")
        replaced(4, #"{"customer":99}"#, "'customer' is not a number from 0 to 2")
        replaced(4, #"{"customer":1,"call":["CART.EAT","m1-c0.0"]}"#, "not a call in this run: CART.EAT m1-c0.0")
        replaced(4, #"{"customer":1,"call":["CART.ADD","m1-c0.0","m1-o9","i1","1"]}"#, "not a call in this run")
        replaced(
            4, #"{"customer":1,"call":["CART.GET","m1-c0.0"],"planned":1,"sent":1,"answered":1,"reply":{"like":3}}"#,
            "no earlier line has the text 3")
        replaced(
            4, #"{"customer":1,"call":["CART.GET","m1-c0.0"],"planned":-1,"sent":1,"answered":1,"reply":null}"#,
            "'planned'")
        replaced(4, #"{"customer":1,"call":["CART.GET","m1-c0.0"],"planned":1,"sent":1,"answered":1}"#, "'reply'")
        replaced(4, #"{"connection":7,"subscribed":"home:x"}"#, "'connection'")
        replaced(4, #"{"logBegins":[],"at":1}"#, "not a list of positions")
        replaced(4, #"{"fault":"nothing","message":"","at":1}"#, "there is no check 'nothing'")
        replaced(4, #"{"partition":0,"bytes":"0g"}"#, "neither 'text' nor 'bytes'")
    }
}
