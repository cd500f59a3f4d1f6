import SeededRandom
import Testing
import TextFormats

@Suite struct `An argument` {
    private func withArgument<Value>(_ text: String, _ body: (Argument) -> Value) -> Value {
        Array(text.utf8).withUnsafeBytes { body(Argument($0)) }
    }

    @Test(arguments: [
        ("0", 0), ("7", 7), ("-7", -7), ("10", 10), ("1234567890123456789", 1_234_567_890_123_456_789),
        ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min),
    ])
    func `Integers are read`(text: String, value: Int64) {
        #expect(withArgument(text, \.integer) == value)
    }

    @Test(arguments: [
        "", "-", "+1", "01", "-0", "-01", "00", " 1", "1 ", "1.0", "1e3", "0x1", "a", "1a", "١", "--1",
        "9223372036854775808", "-9223372036854775809", "9999999999999999999", "10000000000000000000",
        "99999999999999999999999999999999",
    ])
    func `Other spellings are not integers`(text: String) {
        #expect(withArgument(text, \.integer) == nil)
    }

    @Test(arguments: 1..<UInt64(21)) func `Integers are read back as they were written`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let shift = Int64.random(in: 0...63, using: &random)
        let value = Int64.random(in: .min ... .max, using: &random) >> shift
        #expect(withArgument(String(value), \.integer) == value)
    }

    @Test func `Names are compared and hashed without regard to case`() {
        for text in ["CART.ADD", "cart.add", "Cart.aDD"] {
            #expect(withArgument(text) { $0.equals(caseInsensitive: "cart.Add") })
            #expect(withArgument(text) { $0.equals(capitals: Array("CART.ADD".utf8)) })
            #expect(
                withArgument(text, \.caseInsensitiveHash) == withArgument("CART.ADD", \.caseInsensitiveHash))
        }
        for text in ["CART.AD", "CART.ADDS", "CART.SET", "", "CARTNADD", "CART\u{e}ADD"] {
            #expect(!withArgument(text) { $0.equals(caseInsensitive: "CART.ADD") })
            #expect(!withArgument(text) { $0.equals(capitals: Array("CART.ADD".utf8)) })
        }
        // Only letters have a case: these differ in the same bit.
        #expect(!withArgument("[") { $0.equals(caseInsensitive: "{") })
        #expect(!withArgument("@") { $0.equals(caseInsensitive: "`") })
    }

    @Test func `Text has to be UTF-8`() {
        #expect(withArgument("caf\u{e9} \u{1F371}", \.string) == "caf\u{e9} \u{1F371}")
        for invalid: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]] {
            #expect(invalid.withUnsafeBytes { Argument($0).string } == nil)
        }
    }
}
