import SeededRandom
import Testing
import TextFormats

@testable import LineProtocol

@Suite struct `Reading requests` {
    static let seeds: Range<UInt64> = 1..<41

    static func randomRequests(_ random: inout SeededGenerator) -> [[[UInt8]]] {
        (0..<Int.random(in: 1...6, using: &random)).map { _ in
            (0..<Int.random(in: 1...20, using: &random)).map { _ in random.bytes(0...30) }
        }
    }

    /// Requests of both forms, with empty requests between them.
    static func randomStream(_ random: inout SeededGenerator) -> [UInt8] {
        let fillers = [
            "\r\n", "\n", "*0\r\n", "*-1\r\n", "  \t\r\n", "PING\n", "cart.count 'c 1'\r\n",
            "a \"\\x00\\n\" b\n",
        ]
        return randomRequests(&random).reduce(into: []) { stream, request in
            stream += Array(fillers.randomElement(using: &random)!.utf8)
            stream += RequestWriter.encode([request])
        }
    }

    @Test(arguments: seeds) func `What a client writes is what the server reads`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let requests = Self.randomRequests(&random)
        #expect(read([RequestWriter.encode(requests)]) == Reading(requests: requests))
    }

    @Test(arguments: seeds) func `Every cut of a stream gives the same requests`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stream = Self.randomStream(&random)
        let whole = read([stream])
        #expect(whole.failure == nil)
        #expect(whole.rest == 0)
        for cut in stream.indices {
            #expect(read([Array(stream[..<cut]), Array(stream[cut...])]) == whole)
        }
        #expect(read(stream.map { [$0] }) == whole)
        #expect(read(random.chunks(of: stream)) == whole)
    }

    @Test(arguments: seeds) func `Damaged bytes never trap, however they are cut`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var stream = Self.randomStream(&random)
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let index = stream.indices.randomElement(using: &random)!
                switch Int.random(in: 0..<4, using: &random) {
                case 0: stream[index] = .random(in: .min ... .max, using: &random)
                case 1: stream.insert(contentsOf: "*$\r\n\"'0-1".utf8.shuffled(using: &random), at: index)
                case 2: stream.remove(at: index)
                default: stream.replaceSubrange(index..., with: random.bytes(1...40))
                }
                if stream.isEmpty { break }
            }
            let whole = read([stream])
            #expect(read(random.chunks(of: stream)) == whole)
            #expect(read(stream.map { [$0] }) == whole)
            #expect(whole.requests.allSatisfy { !$0.isEmpty })
        }
    }

    @Test func `Empty lines and arrays are skipped and given back`() {
        let reading = read("\r\n\n*0\r\n*-1\r\n   \r\nPING\r\n\r\n*0\r\n")
        #expect(reading == Reading(requests: [[Array("PING".utf8)]]))
    }

    @Test(arguments: ["\n", "\r\n"]) func `The longest line is read, whatever ends it`(end: String) {
        let line = String(repeating: "a", count: 64 << 10)
        #expect(read(line + end) == Reading(requests: [[Array(line.utf8)]]))
    }

    static let errors: [Malformed<ProtocolError>] = [
        .init("*x\r\n", .invalidMultibulkLength),
        .init("*\r\n", .invalidMultibulkLength),
        .init("*+1\r\n", .invalidMultibulkLength),
        .init("*01\r\n", .invalidMultibulkLength),
        .init("*1 \r\n", .invalidMultibulkLength),
        .init("*1\rx", .invalidMultibulkLength),
        .init("*1025\r\n", .invalidMultibulkLength),
        .init("*2147483648\r\n", .invalidMultibulkLength),
        .init("*9223372036854775808\r\n", .invalidMultibulkLength),
        .init("*99999999999999999999999\r\n", .invalidMultibulkLength),
        .init("*1\r\nPING\r\n", .expectedBulk(got: UInt8(ascii: "P"))),
        .init("*1\r\n\r\n", .expectedBulk(got: 13)),
        .init("*1\r\n$\r\n", .invalidBulkLength),
        .init("*1\r\n$x\r\n", .invalidBulkLength),
        .init("*1\r\n$-1\r\n", .invalidBulkLength),
        .init("*1\r\n$1048577\r\n", .invalidBulkLength),
        .init("*1\r\n$9223372036854775807\r\n", .invalidBulkLength),
        .init("*1\r\n$-9223372036854775808\r\n", .invalidBulkLength),
        .init("*1\r\n$4\r\nPINGx\r\n", .unterminatedBulk),
        .init("*1\r\n$4\r\nPING\rx", .unterminatedBulk),
        .init("a \"b\r\n", .unbalancedQuotes),
        .init("*" + String(repeating: "1", count: 64 << 10), .tooBigMultibulkCountString),
        .init("*1\r\n$" + String(repeating: "1", count: 64 << 10), .tooBigBulkCountString),
        .init(String(repeating: "a", count: 64 << 10 + 2), .tooBigInlineRequest),
        .init(String(repeating: "a", count: 64 << 10 + 1) + "\n", .tooBigInlineRequest),
        .init(String(repeating: "a ", count: 1025) + "\n", .tooBigInlineRequest),
    ]

    @Test(arguments: errors)
    func `Bytes that are not a request give the same error as in Redis`(malformed: Malformed<ProtocolError>) {
        #expect(read(malformed.text) == Reading(failure: malformed.error))
        #expect(read(malformed.text.utf8.map { [$0] }) == Reading(failure: malformed.error))
    }

    static let errorsOfStrangers: [Malformed<ProtocolError>] = [
        .init("*11\r\n", .unauthenticatedMultibulkLength),
        .init("*1025\r\n", .invalidMultibulkLength),
        .init("*2\r\n$4\r\nAUTH\r\n$16385\r\n", .unauthenticatedBulkLength),
        .init("*2\r\n$4\r\nAUTH\r\n$1048577\r\n", .invalidBulkLength),
        .init("1 2 3 4 5 6 7 8 9 10 11\r\n", .unauthenticatedMultibulkLength),
        .init("AUTH " + String(repeating: "a", count: 16 << 10 + 1) + "\r\n", .unauthenticatedBulkLength),
    ]

    @Test(arguments: errorsOfStrangers)
    func `Strangers have lower limits`(malformed: Malformed<ProtocolError>) {
        #expect(read(malformed.text, isAuthenticated: false) == Reading(failure: malformed.error))
    }

    @Test func `Strangers may send what their limits allow`() {
        let largest = "*10\r\n" + String(repeating: "$2\r\nab\r\n", count: 10)
        #expect(read(largest, isAuthenticated: false).requests.map(\.count) == [10])
        let longest = "AUTH " + String(repeating: "a", count: 16 << 10) + "\r\n"
        #expect(read(longest, isAuthenticated: false).requests.map { $0.map(\.count) } == [[4, 16 << 10]])
    }

    @Test func `Requests of exactly the limits are read`() {
        let bulk = [UInt8](repeating: 7, count: 1 << 20)
        #expect(read([RequestWriter.encode([[bulk]])]).requests == [[bulk]])
        let many = [[UInt8]](repeating: [7], count: 1024)
        #expect(read([RequestWriter.encode([many])]).requests == [many])
        let line = [UInt8](repeating: UInt8(ascii: "a"), count: 64 << 10)
        #expect(read([line, [.lineFeed]]).requests == [[line]])
    }

    @Test func `A request is bounded as a whole, as soon as its parts are announced`() {
        let bulk = [UInt8](repeating: 7, count: 1 << 20)
        let announced = RequestWriter.encode([[bulk, bulk, bulk, bulk]]).dropLast((1 << 20) + 2)
        #expect(read([Array(announced)]) == Reading(failure: .tooBigRequest))
    }

    @Test(arguments: [
        (["MENU.PUT", "o", "x"], true, true), (["menu.put", "o", "x", "ID"], true, true),
        (["MENU.PUT", "o", "x"], false, false), (["MENU.PUT", "x"], true, false),
        (["MENU.PUT", "o", "o", "x"], true, false), (["MENU.PUTS", "o", "x"], true, false), (["x"], true, false),
    ])
    func `One argument of one command may be longer, from those who may send it`(
        words: [String], mayBeLong: Bool, isTaken: Bool
    ) {
        var limits = RequestLimits()
        (limits.bulkLength, limits.requestLength) = (10, 60)
        limits.longArgument = .init(of: "MENU.PUT", index: 2, length: 100)
        func outcome(length: Int) -> (isRequest: Bool, failure: ProtocolError?) {
            let request = words.map { $0 == "x" ? [UInt8](repeating: 7, count: length) : Array($0.utf8) }
            var parser = RequestParser()
            return RequestWriter.encode([request]).withUnsafeBytes { bytes in
                switch parser.next(bytes, within: limits, mayBeLong: mayBeLong) {
                case .request: (true, nil)
                case .incomplete: (false, nil)
                case .failure(let error): (false, error)
                }
            }
        }
        #expect(outcome(length: 10) == (true, nil))
        #expect(outcome(length: 100) == (isTaken, isTaken ? nil : .invalidBulkLength))
        #expect(outcome(length: 101) == (false, .invalidBulkLength))
    }

    @Test func `Limits may change with every request`() {
        var parser = RequestParser()
        var limits = RequestLimits()
        Array("GET abc\r\n".utf8).withUnsafeBytes { bytes in
            guard case .request(_, bytes.count) = parser.next(bytes, within: limits) else {
                Issue.record("a line within the limit was refused")
                return
            }
            limits.lineLength = 3
            guard case .failure(.tooBigInlineRequest) = parser.next(bytes, within: limits) else {
                Issue.record("a line over the limit was accepted")
                return
            }
        }
    }

    @Test(arguments: [
        (ProtocolError.expectedBulk(got: UInt8(ascii: "x")), "Protocol error: expected '$', got 'x'"),
        (.expectedBulk(got: 13), "Protocol error: expected '$', got '\\x0d'"),
        (.expectedBulk(got: 0xFF), "Protocol error: expected '$', got '\\xff'"),
        (.tooBigInlineRequest, "Protocol error: too big inline request"),
        (.tooBigMultibulkCountString, "Protocol error: too big mbulk count string"),
        (.tooBigBulkCountString, "Protocol error: too big bulk count string"),
        (.invalidMultibulkLength, "Protocol error: invalid multibulk length"),
        (.invalidBulkLength, "Protocol error: invalid bulk length"),
        (.unauthenticatedMultibulkLength, "Protocol error: unauthenticated multibulk length"),
        (.unauthenticatedBulkLength, "Protocol error: unauthenticated bulk length"),
        (.unbalancedQuotes, "Protocol error: unbalanced quotes in request"),
    ])
    func `Errors are worded as in Redis`(error: ProtocolError, message: String) {
        #expect(error.message == message)
    }
}

/// The work is observed, not timed: bytes that a parser has understood are overwritten before it is called again, so
/// a parser that went back to them would fail.
@Suite struct `Resuming an incomplete request` {
    @Test func `Nothing before the resumed position is read again`() {
        let request: [[UInt8]] = [Array("MENU.PUT".utf8), [], [UInt8](repeating: 7, count: 5000), [1, 2]]
        var parser = RequestParser()
        var offered: [UInt8] = []
        for byte in RequestWriter.encode([request]) {
            offered.append(byte)
            let outcome = offered.withUnsafeBytes { parser.next($0, within: RequestLimits()) }
            switch outcome {
            case .request(let arguments, let consumed):
                #expect(arguments.map(\.count) == request.map(\.count))
                #expect(consumed == offered.count)
            case .incomplete(let consumed):
                #expect(consumed == 0)
                for index in 0..<parser.position { offered[index] = UInt8(ascii: "!") }
                // The first byte tells an array from a line.
                offered[0] = .asterisk
            case .failure(let error):
                Issue.record("\(error)")
            }
        }
    }

    @Test func `A long line is searched once for its end`() {
        var parser = RequestParser()
        var offered: [UInt8] = []
        while offered.count < 60_000 {
            offered += [UInt8](repeating: UInt8(ascii: "a"), count: 997)
            let outcome = offered.withUnsafeBytes { parser.next($0, within: RequestLimits()) }
            guard case .incomplete(0) = outcome else {
                Issue.record("a line without an end was accepted")
                return
            }
            #expect(parser.scanned == offered.count)
        }
    }

    @Test func `The offered bytes may move between two calls`() {
        let stream = RequestWriter.encode([[Array("ECHO".utf8), Array("hello".utf8)]])
        var parser = RequestParser()
        for count in 1..<stream.count {
            Array(stream[..<count]).withUnsafeBytes { bytes in
                guard case .incomplete(0) = parser.next(bytes, within: RequestLimits()) else {
                    Issue.record("complete after \(count) bytes")
                    return
                }
            }
        }
        stream.withUnsafeBytes { bytes in
            guard case .request(let arguments, stream.count) = parser.next(bytes, within: RequestLimits())
            else {
                Issue.record("not complete")
                return
            }
            #expect(arguments.map(\.string) == ["ECHO", "hello"])
        }
    }
}
