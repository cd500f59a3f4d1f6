import LineProtocol
import SeededRandom
import Testing

@Suite struct `Reading inline requests` {
    @Test(arguments: [
        ("PING", ["PING"]),
        ("  CART.COUNT\t cart-1  ", ["CART.COUNT", "cart-1"]),
        (#"ECHO """#, ["ECHO", ""]),
        (#"ECHO ''"#, ["ECHO", ""]),
        (#"ECHO "two words""#, ["ECHO", "two words"]),
        (#"ECHO 'two words'"#, ["ECHO", "two words"]),
        (#"ECHO "it's" 'say "hi"'"#, ["ECHO", "it's", #"say "hi""#]),
        (#""\n\r\t\b\a""#, ["\n\r\t\u{8}\u{7}"]),
        (#""\x41\x7a\x7A""#, ["Azz"]),
        (#""\x4""#, ["x4"]),
        (#""\xg1""#, ["xg1"]),
        (#""\\ \" \q""#, [#"\ " q"#]),
        (#"'\'' '\n' '\\ '"#, ["'", #"\n"#, #"\\ "#]),
        (#"back\slash \n"#, [#"back\slash"#, #"\n"#]),
        (#"foo"bar" 'b'"#, ["foobar", "b"]),
        (#"foo'bar'"#, ["foobar"]),
        ("\"caf\u{e9}\" \u{1F371}", ["caf\u{e9}", "\u{1F371}"]),
        ("\"\u{1F371}\"", ["\u{1F371}"]),
        ("", []),
        (" \t ", []),
    ])
    func `Words are split as redis-cli does`(line: String, expected: [String]) {
        #expect(words(of: line) == .success(expected))
    }

    @Test(arguments: [
        #"""#, #"'"#, #"ECHO "abc"#, #"ECHO 'abc"#, #""a"b"#, #"'a'b"#, #""a""b""#, #"'a''b'"#, #""abc\""#,
        #"'abc\'"#, #"'abc\\'"#, #""\x4"#, #""\"#, #"a"b"#,
    ])
    func `Quotes have to be closed, and to end the word`(line: String) {
        #expect(words(of: line) == .failure(.unbalancedQuotes))
    }

    @Test func `Bytes of every value can be written in quotes`() {
        let line =
            "\""
            + (0...255).map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "\\x0\(digits)" : "\\x\(digits)"
            }.joined() + "\"\n"
        #expect(read(line).requests == [[Array(0...255)]])
    }

    @Test(arguments: 1..<UInt64(41)) func `A quoted argument is read back as it was`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let arguments = (0..<Int.random(in: 1...6, using: &random)).map { _ in random.bytes(0...20) }
        let line = arguments.map { argument in
            "\""
                + argument.map { byte in
                    switch byte {
                    case UInt8(ascii: "\""), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
                    case 0x20...0x7E: String(UnicodeScalar(byte))
                    default: "\\x" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
                    }
                }.joined() + "\""
        }.joined(separator: " ")
        #expect(read(line + "\r\n").requests == [arguments])
    }

    @Test func `The words of a line outlive neither the next request nor each other`() {
        let reading = read("ECHO 'one'\r\nECHO \"two\"\nECHO three\n")
        #expect(reading.requests.map { String(decoding: $0[1], as: UTF8.self) } == ["one", "two", "three"])
    }
}
