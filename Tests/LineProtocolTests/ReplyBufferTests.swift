import LineProtocol
import Testing

@Suite struct `Writing replies` {
    /// One call on a buffer, with what it writes in both versions of the protocol.
    struct Example: Sendable, CustomTestStringConvertible {
        var write: @Sendable (inout ReplyBuffer) -> Void
        var resp2: String
        var resp3: String

        init(_ resp2: String, _ resp3: String, _ write: @escaping @Sendable (inout ReplyBuffer) -> Void) {
            self.write = write
            self.resp2 = resp2
            self.resp3 = resp3
        }

        var testDescription: String { resp3.debugDescription }
    }

    static let examples = [
        Example("+OK\r\n", "+OK\r\n") { $0.simpleString("OK" as StaticString) },
        Example("+a  b\r\n", "+a  b\r\n") { $0.simpleString("a\r\nb" as String) },
        Example("-ERR no  such\r\n", "-ERR no  such\r\n") { $0.error("ERR", "no\r\nsuch") },
        Example(":-42\r\n", ":-42\r\n") { $0.integer(-42) },
        Example(":-9223372036854775808\r\n", ":-9223372036854775808\r\n") { $0.integer(.min) },
        Example("$0\r\n\r\n", "$0\r\n\r\n") { $0.bulk("" as String) },
        Example("$5\r\na\r\nb\0\r\n", "$5\r\na\r\nb\0\r\n") { $0.bulk(Array("a\r\nb\0".utf8)) },
        Example("$5\r\ncaf\u{e9}\r\n", "$5\r\ncaf\u{e9}\r\n") { $0.bulk("caf\u{e9}" as StaticString) },
        Example("$3\r\na\nb\r\n", "=7\r\ntxt:a\nb\r\n") { $0.verbatim("a\nb") },
        Example("$-1\r\n", "_\r\n") { $0.null() },
        Example(":1\r\n", "#t\r\n") { $0.boolean(true) },
        Example(":0\r\n", "#f\r\n") { $0.boolean(false) },
        Example("$3\r\n4.4\r\n", ",4.4\r\n") { $0.double(4.4) },
        Example("$2\r\n-4\r\n", ",-4\r\n") { $0.double(-4) },
        Example("$3\r\ninf\r\n", ",inf\r\n") { $0.double(.infinity) },
        Example("$4\r\n-inf\r\n", ",-inf\r\n") { $0.double(-.infinity) },
        Example("$3\r\nnan\r\n", ",nan\r\n") { $0.double(.nan) },
        Example("*0\r\n", "*0\r\n") { $0.array(0) },
        Example("*2\r\n$1\r\na\r\n:1\r\n", "%1\r\n$1\r\na\r\n:1\r\n") {
            $0.map(1)
            $0.bulk("a" as String)
            $0.integer(1)
        },
        Example("*1\r\n:1\r\n", "~1\r\n:1\r\n") {
            $0.set(1)
            $0.integer(1)
        },
        Example("*1\r\n:1\r\n", ">1\r\n:1\r\n") {
            $0.push(1)
            $0.integer(1)
        },
    ]

    @Test(arguments: examples) func `Each version of the protocol has its own encoding`(example: Example) {
        for (version, expected) in [(ProtocolVersion.resp2, example.resp2), (.resp3, example.resp3)] {
            var buffer = ReplyBuffer(version: version)
            example.write(&buffer)
            #expect(String(decoding: buffer.bytes, as: UTF8.self) == expected)
        }
    }

    @Test func `Sent bytes are dropped, the others stay`() {
        var buffer = ReplyBuffer()
        buffer.simpleString("OK" as StaticString)
        buffer.integer(1)
        buffer.consume(3)
        buffer.integer(2)
        #expect(String(decoding: buffer.bytes, as: UTF8.self) == "\r\n:1\r\n:2\r\n")
        #expect(buffer.count == 10)
        buffer.removeAll(keepingCapacity: false)
        #expect(buffer.isEmpty == true)
        #expect(buffer.capacity == 0)
    }

    @Test func `Encoded replies are passed on as they are`() {
        var one = ReplyBuffer()
        one.integer(1)
        var other = ReplyBuffer()
        other.append(encoded: one.bytes)
        #expect(Array(other.bytes) == Array(one.bytes))
    }
}
