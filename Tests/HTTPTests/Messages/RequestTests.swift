import SeededRandom
import Testing

@testable import HTTP

/// What a parser made of a stream of bytes.
struct Reading: Equatable {
    struct Request: Equatable {
        var line: String
        var host: String
        var cookie: String?
        var keepsAlive: Bool
        var body: [UInt8]
    }

    var requests: [Request] = []
    var refusal: HTTPRefusal?
    /// Bytes left over for an incomplete request.
    var rest = 0
}

/// Offers chunks to a parser as a connection would, but each time in memory of their own that ends where they do.
func read(_ chunks: [[UInt8]], _ limits: HTTPLimits = HTTPLimits()) -> Reading {
    var parser = HTTPRequestParser()
    var input: [UInt8] = []
    var reading = Reading()
    for chunk in chunks {
        input += chunk
        var isWaiting = false
        while !isWaiting {
            let consumed: Int? = Array(input).withUnsafeBytes { bytes in
                switch parser.next(bytes, within: limits) {
                case .request(let request, let length):
                    reading.requests.append(
                        Reading.Request(
                            line: request.method + " " + request.path + (request.query.map { "?" + $0 } ?? ""),
                            host: request.host, cookie: request["cookie"], keepsAlive: request.keepsAlive,
                            body: Array(request.body)))
                    return length
                case .incomplete:
                    isWaiting = true
                    return 0
                case .failure(let refusal):
                    reading.refusal = refusal
                    return nil
                }
            }
            guard let consumed else { return reading }
            input.removeFirst(consumed)
        }
    }
    reading.rest = input.count
    return reading
}

func read(_ text: String) -> Reading { read([Array(text.utf8)]) }

@Suite struct `Reading HTTP requests` {
    private static func randomStream(_ random: inout SeededGenerator) -> (bytes: [UInt8], lines: [String]) {
        var (bytes, lines): ([UInt8], [String]) = ([], [])
        for _ in 0..<random.number(1...4) {
            let body = random.chance(50) ? random.bytes(1...40) : []
            let line = random.pick(["GET /", "GET /o/copper-ladle?x=1&y=%20", "POST /v1/cart/lines", "DELETE /a?"])
            var fields = ["Host: \(random.pick(["localhost:7380", "LocalHost", "[::1]:1"]))"]
            if !body.isEmpty { fields.append("content-LENGTH:\t\(body.count) ") }
            if random.chance(30) { fields.append("Cookie: a=b") }
            if random.chance(30) { fields.append("X-Empty:") }
            fields.shuffle(using: &random)
            bytes += Array(([line + " HTTP/1.1"] + fields + ["", ""]).joined(separator: "\r\n").utf8) + body
            lines.append(line)
        }
        return (bytes, lines)
    }

    @Test(arguments: SeededGenerator.seeds) func `Every cut of a stream gives the same requests`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let (stream, lines) = Self.randomStream(&random)
        let whole = read([stream])
        #expect(whole.requests.map(\.line) == lines)
        #expect(whole.refusal == nil)
        #expect(whole.rest == 0)
        for cut in stream.indices {
            #expect(read([Array(stream[..<cut]), Array(stream[cut...])]) == whole)
        }
        #expect(read(stream.map { [$0] }) == whole)
    }

    @Test(arguments: SeededGenerator.seeds) func `Damaged bytes never trap, however they are cut`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<30 {
            var (stream, _) = Self.randomStream(&random)
            for _ in 0..<random.number(1...4) {
                let index = random.below(stream.count)
                switch random.below(4) {
                case 0: stream[index] = UInt8(random.number(0...255))
                case 1: stream.insert(contentsOf: Array("\r\n :%HhTt0-1".utf8).shuffled(using: &random), at: index)
                case 2: stream.remove(at: index)
                default: stream.replaceSubrange(index..., with: random.bytes(1...40))
                }
            }
            #expect(read(stream.map { [$0] }) == read([stream]))
        }
    }

    static let refused: [(String, HTTPRefusal)] = [
        // Two readers could see two requests, or one.
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", .malformedLength),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\n", .malformedLength),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\n", .malformedLength),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\n", .malformedLength),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\n", .malformedLength),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5 5\r\n\r\n", .malformedLength),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", .malformedLength),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", .malformedLength),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ٣\r\n\r\n", .malformedLength),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .transferCoding),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", .transferCoding),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", .transferCoding),
        ("POST / HTTP/1.1\r\nHost: a\r\ntransfer-encoding: xchunked\r\n\r\n", .transferCoding),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n", .malformedField),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer\u{0B}-Encoding: chunked\r\n\r\n", .malformedField),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding\r\n: chunked\r\n\r\n", .malformedField),
        ("POST / HTTP/1.1\r\nHost: a\r\nX: a\r\n Transfer-Encoding: chunked\r\n\r\n", .foldedField),
        ("POST / HTTP/1.1\r\nHost: a\r\nX: a\nTransfer-Encoding: chunked\r\n\r\n", .bareLineEnd),
        ("POST / HTTP/1.1\r\nHost: a\r\nX: a\rY: b\r\n\r\n", .bareLineEnd),
        ("GET / HTTP/1.1\nHost: a\n\n", .bareLineEnd),
        ("GET / HTTP/1.1\r\nHost: a\r\n\n", .bareLineEnd),
        ("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .bareLineEnd),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", .malformedField),
        // Which host is it for?
        ("GET / HTTP/1.1\r\n\r\n", .malformedHost),
        ("GET / HTTP/1.0\r\n\r\n", .malformedHost),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", .malformedHost),
        ("GET / HTTP/1.1\r\nHost:\r\n\r\n", .malformedHost),
        ("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", .malformedHost),
        ("GET / HTTP/1.1\r\nHost: user@a\r\n\r\n", .malformedHost),
        ("GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        ("GET /é HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        ("GET /#a HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        // What is no request of HTTP/1.1.
        ("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .malformedRequestLine),
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", .malformedRequestLine),
        ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", .malformedRequestLine),
        ("GET /\tHTTP/1.1\r\nHost: a\r\n\r\n", .malformedRequestLine),
        ("get / HTTP/1.1\r\nHost: a\r\n\r\n", .malformedRequestLine),
        ("GET /\r\nHost: a\r\n\r\n", .malformedRequestLine),
        ("ABCDEFGHIJKLMNOPQ / HTTP/1.1\r\nHost: a\r\n\r\n", .malformedRequestLine),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .malformedTarget),
        ("GET / HTTP/1.2\r\nHost: a\r\n\r\n", .unsupportedVersion),
        ("GET / HTTP/2\r\nHost: a\r\n\r\n", .unsupportedVersion),
        ("GET / http/1.1\r\nHost: a\r\n\r\n", .malformedRequestLine),
        ("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", .malformedField),
        ("GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", .malformedField),
        ("GET / HTTP/1.1\r\n Host: a\r\n\r\n", .foldedField),
        ("GET / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n", .unknownExpectation),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", .bodyTooLarge),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n", .bodyTooLarge),
    ]

    @Test(arguments: refused) func `What could be read in two ways is refused`(_ bytes: String, _ refusal: HTTPRefusal)
    {
        let whole = read(bytes)
        #expect(whole.refusal == refusal)
        #expect(whole.requests == [])
        #expect(read(Array(bytes.utf8).map { [$0] }).refusal == refusal)
    }

    @Test func `A request that follows another is its own, whatever its body looks like`() {
        let smuggled = "GET /admin HTTP/1.1\r\nHost: a\r\n\r\n"
        let reading = read(
            "POST /one HTTP/1.1\r\nHost: a\r\nContent-Length: \(smuggled.utf8.count)\r\n\r\n\(smuggled)"
                + "GET /two HTTP/1.1\r\nHost: b\r\n\r\n")
        #expect(reading.requests.map(\.line) == ["POST /one", "GET /two"])
        #expect(reading.requests.first?.body == Array(smuggled.utf8))
    }

    @Test func `A head can be as long as the limit, and have as many fields, and no more`() {
        func request(padding: Int, fields: Int) -> String {
            let many = (1..<fields).map { _ in "a:\r\n" }.joined()
            return "GET / HTTP/1.1\r\nHost: \(String(repeating: "h", count: padding))\r\n\(many)\r\n"
        }
        let overhead = request(padding: 0, fields: 1).utf8.count
        #expect(read(request(padding: 8_192 - overhead, fields: 1)).requests.count == 1)
        #expect(read(request(padding: 8_193 - overhead, fields: 1)).refusal == .headTooLarge)
        #expect(read(String(repeating: "a", count: 8_192)).refusal == .headTooLarge)
        #expect(read(request(padding: 1, fields: 64)).requests.count == 1)
        #expect(read(request(padding: 1, fields: 65)).refusal == .tooManyFields)
    }

    @Test(arguments: [
        ("HTTP/1.1\r\n", true), ("HTTP/1.1\r\nConnection: Close\r\n", false), ("HTTP/1.0\r\n", false),
        ("HTTP/1.1\r\nConnection: x,  close\r\n", false), ("HTTP/1.1\r\nConnection: keep-alive\r\n", true),
        ("HTTP/1.0\r\nConnection: keep-alive\r\n", false),
        ("HTTP/1.1\r\nConnection: a\r\nConnection: close\r\n", false),
    ])
    func `A connection is kept unless the client says otherwise`(_ rest: String, _ keepsAlive: Bool) {
        #expect(read("GET / \(rest)Host: a\r\n\r\n").requests.map(\.keepsAlive) == [keepsAlive])
    }

    @Test func `Fields of one name are one value`() {
        let reading = read("GET / HTTP/1.1\r\nHOST: A:1\r\nCookie: a=1\r\ncookie: b=2\r\n\r\n")
        #expect(reading.requests.first?.cookie == "a=1; b=2")
        #expect(reading.requests.first?.host == "a:1")
    }

    @Test func `A client that waits with its body is told once to go on`() {
        var parser = HTTPRequestParser()
        let head = Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n".utf8)
        head.withUnsafeBytes { bytes in
            guard case .incomplete = parser.next(bytes, within: HTTPLimits()) else {
                Issue.record("a body that has not come")
                return
            }
        }
        #expect(parser.awaitedBody == 2)
        #expect([parser.takeContinue(), parser.takeContinue()] == [true, false])
    }
}
