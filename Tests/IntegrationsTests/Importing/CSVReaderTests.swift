import SeededRandom
import Testing

@testable import Integrations

@Suite struct `Reading CSV` {
    static func rows(_ bytes: [UInt8]) -> [CSVReader.Row] {
        var reader = CSVReader(bytes)
        var rows: [CSVReader.Row] = []
        while let row = reader.next() { rows.append(row) }
        return rows
    }

    static func rows(_ text: String) -> [CSVReader.Row] { rows(Array(text.utf8)) }

    @Test(arguments: [
        ("a,b\r\n1,2\r\n", [["a", "b"], ["1", "2"]]),
        ("a,b\n1,2", [["a", "b"], ["1", "2"]]),
        ("a,b\r\n1,2\n3,4\r\n", [["a", "b"], ["1", "2"], ["3", "4"]]),
        ("a,,\n,,\n", [["a", "", ""], ["", "", ""]]),
        ("\r\n\na\n\n", [["a"]]),
        (#""a,b",c"#, [["a,b", "c"]]),
        (##""say ""hi""","""##, [[#"say "hi""#, ""]]),
        ("\"two\r\nlines\",x\n", [["two\r\nlines", "x"]]),
        (#"5" pizza,a"b"c"#, [[#"5" pizza"#, #"a"b"c"#]]),
        ("lone\rreturn,x\n", [["lone\rreturn", "x"]]),
        ("Café Crème,तंदूर,\u{1F371}\n", [["Café Crème", "तंदूर", "\u{1F371}"]]),
        (" a , b \n", [[" a ", " b "]]),
        ("", []),
    ])
    func `Fields and records are those of RFC 4180`(text: String, expected: [[String]]) {
        let fields = Self.rows(text).map { row -> [String] in
            guard case .record(_, let fields) = row else { return ["malformed"] }
            return fields
        }
        #expect(fields == expected)
    }

    @Test func `Records know the line they start at`() {
        let rows = Self.rows("h1,h2\r\n\"a\nb\r\nc\",1\n\nd,2\n")
        #expect(
            rows == [
                .record(line: 1, fields: ["h1", "h2"]), .record(line: 2, fields: ["a\nb\r\nc", "1"]),
                .record(line: 6, fields: ["d", "2"]),
            ])
    }

    @Test func `A malformed record affects no other row`() {
        let open = #"has a quote that is not closed"#
        let behind = #"has text behind a closing quote"#
        #expect(
            Self.rows("1,\"a\n2,b\n") == [.malformed(line: 1, reason: open), .record(line: 2, fields: ["2", "b"])])
        #expect(
            Self.rows("1,\"a\n2,\"b\"\n3,c\n") == [
                .malformed(line: 1, reason: behind), .record(line: 2, fields: ["2", "b"]),
                .record(line: 3, fields: ["3", "c"]),
            ])
        #expect(
            Self.rows("1,\"a\"x\n2,b\n") == [
                .malformed(line: 1, reason: behind), .record(line: 2, fields: ["2", "b"]),
            ])
        #expect(
            Self.rows(Array("1,".utf8) + [0xFF] + Array("\n2,b\n".utf8)) == [
                .malformed(line: 1, reason: "is not UTF-8"), .record(line: 2, fields: ["2", "b"]),
            ])
    }

    @Test(arguments: ["", "\""]) func `Fields and records are bounded`(quote: String) {
        let longest = String(repeating: "a", count: CSVReader.maximumFieldLength)
        #expect(Self.rows("\(quote)\(longest)\(quote)\n") == [.record(line: 1, fields: [longest])])
        #expect(
            Self.rows("\(quote)a\(longest)\(quote)\nb\n") == [
                .malformed(line: 1, reason: "has a field longer than 64 KiB, or a quote not closed"),
                .record(line: 2, fields: ["b"]),
            ])
        let fields = Array(repeating: "\(quote)\(longest)\(quote)", count: 17).joined(separator: ",")
        #expect(
            Self.rows("\(fields)\nb\n") == [
                .malformed(line: 1, reason: "is longer than 1 MiB"), .record(line: 2, fields: ["b"]),
            ])
    }

    @Test(arguments: 1..<UInt64(31)) func `What is written is read back`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let characters = Array("ab ,\"\n\r;é\u{1F371}")
        let records = (0..<20).map { _ in
            (0..<Int.random(in: 2...6, using: &random)).map { _ in
                String(
                    (0..<Int.random(in: 0...8, using: &random)).map { _ in
                        characters.randomElement(using: &random)!
                    })
            }
        }
        let text = records.map { fields in
            fields.map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: ",")
                + (Bool.random(using: &random) ? "\r\n" : "\n")
        }.joined()
        let read = Self.rows(text).map { row -> [String] in
            guard case .record(_, let fields) = row else { return [] }
            return fields
        }
        #expect(read == records)
    }

    @Test(arguments: 1..<UInt64(31)) func `Damaged bytes never trap, and lines are counted right`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("ab,\"\n\r".utf8) + [0xFF]
        let bytes = (0..<2_000).map { _ in alphabet.randomElement(using: &random)! }
        let lineCount = bytes.count { $0 == UInt8(ascii: "\n") } + 1
        var last = 0
        for row in Self.rows(bytes) {
            let line =
                switch row {
                case .record(let line, _): line
                case .malformed(let line, _): line
                }
            #expect(line > last && line <= lineCount)
            last = line
        }
    }
}
