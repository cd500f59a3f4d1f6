import SeededRandom
import Testing

@testable import Integrations

@Suite struct `Values in files` {
    @Test(arguments: [
        ("300", 2, 30_000), ("300.5", 2, 30_050), ("300.50", 2, 30_050), ("0.05", 2, 5), ("0", 2, 0),
        ("300", 0, 300), ("300.00", 0, 300), ("1.234", 3, 1_234), ("4.4", 2, 440), ("007", 0, 7),
        ("9.10000", 2, 910),
    ])
    func `Decimals are read exactly`(text: String, digits: Int, expected: Int64) throws {
        #expect(try Int64(decimal: text, digits: digits) == expected)
    }

    @Test(arguments: [
        ("", 2, "'' is not a number"), ("1,200", 2, "'1,200' is not a number"),
        ("₹300", 2, "'₹300' is not a number"), ("-1", 2, "'-1' is not a number"),
        ("1.", 2, "'1.' is not a number"), (".5", 2, "'.5' is not a number"),
        ("1.2.3", 2, "'1.2.3' is not a number"), ("1e3", 2, "'1e3' is not a number"),
        ("१२", 2, "'१२' is not a number"), ("4.444", 2, "'4.444' has more than 2 decimals"),
        ("0.5", 0, "'0.5' has decimals"), ("92233720368547758.08", 2, "'92233720368547758.08' is too large"),
        (
            String(repeating: "x", count: 50), 2,
            "'\(String(repeating: "x", count: 40))…' is not a number"
        ),
    ])
    func `Other texts are not decimals`(text: String, digits: Int, reason: String) {
        #expect(throws: Malformed(reason)) { try Int64(decimal: text, digits: digits) }
    }

    @Test(arguments: [
        (0, "0"), (7, "7"), (999, "999"), (1_000, "1,000"), (8_680, "8,680"), (1_234_567, "1,234,567"),
        (-1_000, "-1,000"),
    ])
    func `Thousands are grouped`(number: Int, expected: String) {
        #expect(number.grouped == expected)
    }

    @Test(arguments: [
        ("  Tandoor Hut\u{A0}", "Tandoor Hut"), ("12 Main St\r\n  Floor 2\n", "12 Main St Floor 2"), (" \n ", ""),
        ("a  b", "a  b"),
    ])
    func `Names and addresses are one line`(text: String, expected: String) {
        #expect(text.onOneLine == expected)
    }

    @Test(arguments: [
        ("Malaysian", "malaysian"), ("Tex & Mex", "tex-mex"), ("Café Crème", "cafe-creme"), ("  ", "cuisine"),
        ("日本", "cuisine"), ("-Fish- 'n' Chips!", "fish-n-chips"),
    ])
    func `Slugs are identifiers`(text: String, expected: String) {
        #expect(text.slug(orElse: "cuisine") == expected)
    }

    @Test(arguments: 1..<UInt64(21)) func `Every text has a slug that is an identifier`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let scalars = (0..<100).compactMap { _ in Unicode.Scalar(UInt32.random(in: 1...0x3000, using: &random)) }
        #expect(String(String.UnicodeScalarView(scalars)).slug(orElse: "cuisine").isIdentifier)
    }
}
