import LineProtocol
import SeededRandom
import Testing

@Suite struct `Reading replies` {
    /// What a parser made from the chunks: replies, and the error that ended them.
    struct Reading: Equatable {
        var replies: [Reply] = []
        var failure: ReplyError?
    }

    static func read(_ chunks: [[UInt8]], limits: ReplyLimits = ReplyLimits()) -> Reading {
        var parser = ReplyParser(limits: limits)
        var reading = Reading()
        do throws(ReplyError) {
            for chunk in chunks {
                parser.receiveAll(chunk)
                while let reply = try parser.next() { reading.replies.append(reply) }
            }
        } catch {
            reading.failure = error
        }
        return reading
    }

    static func read(_ text: String, limits: ReplyLimits = ReplyLimits()) -> Reading {
        read([Array(text.utf8)], limits: limits)
    }

    static func randomReply(_ random: inout SeededGenerator, depth: Int = 0) -> Reply {
        func many(_ random: inout SeededGenerator) -> [Reply] {
            (0..<Int.random(in: 0...4, using: &random)).map { _ in randomReply(&random, depth: depth + 1) }
        }
        switch Int.random(in: 0..<(depth < 4 ? 12 : 8), using: &random) {
        case 0: return .simple("OK \(random.next())")
        case 1: return .error(code: "CONFLICT", message: "version \(random.next())")
        case 2: return .integer(Int64(bitPattern: random.next()))
        case 3: return .bulk(random.bytes(0...40))
        case 4: return .verbatim(format: "txt", text: "a\r\nb \(random.next())")
        case 5: return .null
        case 6: return .boolean(Bool.random(using: &random))
        case 7: return .double(Double.random(in: -1e20...1e20, using: &random))
        case 8: return .array(many(&random))
        case 9: return .set(many(&random))
        case 10: return .push(many(&random))
        default: return .map(many(&random).map { .init($0, .integer(1)) })
        }
    }

    static func randomStream(_ random: inout SeededGenerator) -> (replies: [Reply], bytes: [UInt8]) {
        let replies = (0..<Int.random(in: 1...6, using: &random)).map { _ in randomReply(&random) }
        var buffer = ReplyBuffer(version: .resp3)
        replies.forEach { buffer.write($0) }
        return (replies, Array(buffer.bytes))
    }

    @Test(arguments: 1..<UInt64(41)) func `What the server writes is what a client reads`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let (replies, bytes) = Self.randomStream(&random)
        let expected = Reading(replies: replies)
        #expect(Self.read([bytes]) == expected)
        for cut in bytes.indices {
            #expect(Self.read([Array(bytes[..<cut]), Array(bytes[cut...])]) == expected)
        }
        #expect(Self.read(bytes.map { [$0] }) == expected)
        #expect(Self.read(random.chunks(of: bytes)) == expected)
    }

    @Test(arguments: 1..<UInt64(41)) func `Damaged bytes never trap, however they are cut`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var bytes = Self.randomStream(&random).bytes
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let index = bytes.indices.randomElement(using: &random)!
                bytes[index] =
                    Bool.random(using: &random)
                    ? .random(in: .min ... .max, using: &random)
                    : "*$%~>|_,#(!=-0123456789\r\n".utf8.randomElement(using: &random)!
            }
            let whole = Self.read([bytes])
            #expect(Self.read(random.chunks(of: bytes)) == whole)
            #expect(Self.read(bytes.map { [$0] }) == whole)
        }
    }

    @Test(arguments: [
        ("$-1\r\n", Reply.null), ("*-1\r\n", .null), ("_\r\n", .null),
        ("-ERR\r\n", .error(code: "ERR", message: "")),
        ("-ERR a b\r\n", .error(code: "ERR", message: "a b")),
        ("!9\r\nOOPS a\r\nb\r\n", .error(code: "OOPS", message: "a\r\nb")),
        ("(-123456789012345678901234567890\r\n", .bigNumber("-123456789012345678901234567890")),
        (",inf\r\n", .double(.infinity)), (",1e3\r\n", .double(1000)),
        ("=7\r\nmkd:# a\r\n", .verbatim(format: "mkd", text: "# a")),
        ("*2\r\n*0\r\n%0\r\n", .array([.array([]), .map([])])),
        ("|1\r\n+ttl\r\n:3\r\n|0\r\n*1\r\n|1\r\n+a\r\n+b\r\n:7\r\n", .array([.integer(7)])),
    ])
    func `Spellings that our server does not use are understood`(text: String, reply: Reply) {
        #expect(Self.read(text) == Reading(replies: [reply]))
        #expect(Self.read(text.utf8.map { [$0] }) == Reading(replies: [reply]))
    }

    static let errors: [Malformed<ReplyError>] = [
        .init("HTTP/1.1 400 Bad Request\r\n", .unknownType(UInt8(ascii: "H"))),
        .init("\r\n", .malformedLine(type: 13)),
        .init("+OK\rx", .malformedLine(type: UInt8(ascii: "+"))),
        .init(":1x\r\n", .malformedLine(type: UInt8(ascii: ":"))),
        .init("$?\r\n", .malformedLine(type: UInt8(ascii: "$"))),
        .init("$-2\r\n", .malformedLine(type: UInt8(ascii: "$"))),
        .init("*-2\r\n", .malformedLine(type: UInt8(ascii: "*"))),
        .init("*99999999999999999999\r\n", .malformedLine(type: UInt8(ascii: "*"))),
        .init("_x\r\n", .malformedLine(type: UInt8(ascii: "_"))),
        .init("#x\r\n", .malformedLine(type: UInt8(ascii: "#"))),
        .init(",x\r\n", .malformedLine(type: UInt8(ascii: ","))),
        .init("(12x\r\n", .malformedLine(type: UInt8(ascii: "("))),
        .init("$1\r\nabc", .malformedBulk),
        .init("=3\r\ntxt\r\n", .malformedBulk),
        .init("*9223372036854775807\r\n", .tooLarge),
        .init("%9223372036854775807\r\n", .tooLarge),
        .init("$9223372036854775807\r\n", .tooLarge),
        .init(String(repeating: "*1\r\n", count: 17), .tooLarge),
        .init("+" + String(repeating: "a", count: 64 << 10), .tooLarge),
    ]

    @Test(arguments: errors)
    func `Bytes that are not a reply give an error`(malformed: Malformed<ReplyError>) {
        #expect(Self.read(malformed.text) == Reading(failure: malformed.error))
    }

    @Test func `The values of a reply are bounded together`() {
        var limits = ReplyLimits()
        limits.valueCount = 4
        #expect(Self.read("*2\r\n%1\r\n:1\r\n:2\r\n:3\r\n", limits: limits).failure == nil)
        #expect(Self.read("*2\r\n:1\r\n*3\r\n", limits: limits) == Reading(failure: .tooLarge))
        let many = String(repeating: "*2\r\n:1\r\n:2\r\n", count: 10)
        #expect(Self.read(many, limits: limits).replies.count == 10)
    }

    @Test func `Lines have to be UTF-8, bulk strings need not`() {
        #expect(Self.read([[UInt8(ascii: "+"), 0xFF, 13, 10]]) == Reading(failure: .notUTF8))
        #expect(Self.read([Array("$1\r\n".utf8) + [0xFF, 13, 10]]) == Reading(replies: [.bulk([0xFF])]))
    }

    @Test func `A large reply in small chunks is consumed as it is understood`() throws {
        var parser = ReplyParser()
        let element = Array("$3\r\nabc\r\n".utf8)
        parser.receiveAll(Array("*1000\r\n".utf8))
        for _ in 0..<999 {
            parser.receiveAll(element)
            let reply = try parser.next()
            #expect(reply == nil)
            #expect(parser.unread == 0)
        }
        parser.receiveAll(element)
        let reply = try parser.next()
        #expect(reply == .array(Array(repeating: .bulk(Array("abc".utf8)), count: 1000)))
    }
}

extension ReplyParser {
    fileprivate mutating func receiveAll(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }
}

extension ReplyBuffer {
    fileprivate mutating func write(_ reply: Reply) {
        switch reply {
        case .simple(let text): simpleString(text)
        case .error(let code, let message): error(code, message)
        case .integer(let value): integer(value)
        case .bulk(let bytes): bulk(bytes)
        case .verbatim(_, let text): verbatim(text)
        case .null: null()
        case .boolean(let value): boolean(value)
        case .double(let value): double(value)
        case .bigNumber(let digits): simpleString(digits)
        case .array(let values):
            array(values.count)
            values.forEach { write($0) }
        case .set(let values):
            set(values.count)
            values.forEach { write($0) }
        case .push(let values):
            push(values.count)
            values.forEach { write($0) }
        case .map(let pairs):
            map(pairs.count)
            for pair in pairs {
                write(pair.key)
                write(pair.value)
            }
        }
    }
}
