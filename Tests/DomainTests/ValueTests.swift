import Domain
import SeededRandom
import Testing

@Suite struct ValueTests {
    // MARK: Amounts

    @Test(arguments: [
        (695, "GBP", "6.95 GBP"), (5, "GBP", "0.05 GBP"), (0, "INR", "0.00 INR"), (1200, "JPY", "1200 JPY"),
        (1_234_005, "KWD", "1234.005 KWD"), (12345, "CLF", "1.2345 CLF"), (-50, "GBP", "-0.50 GBP"),
        (Int64.min, "GBP", "-92233720368547758.08 GBP"),
    ])
    func `an amount in words is in major units, by the digits of its currency`(
        minor: Int64, currency: String, words: String
    ) {
        #expect(Amount(minorUnits: minor).words(in: Currency(currency)!) == words)
    }

    @Test func `sums and products up to the maximum are exact`() throws {
        #expect(try Amount(minorUnits: 999_999_999_999).adding(1) == .maximum)
        #expect(try Amount(minorUnits: 10_000_000_000).multiplied(by: 100) == .maximum)
        #expect(try Amount.maximum.multiplied(by: 0) == .zero)
    }

    @Test(arguments: [
        (Amount.maximum, 2), (Amount(minorUnits: 10_101_010_102), 99), (Amount(minorUnits: .max), 99),
        (Amount(minorUnits: .min), -1), (Amount(minorUnits: 2), .max),
    ])
    func `a product beyond the maximum is a rejection`(_ amount: Amount, _ quantity: Int) {
        let rejection = #expect(throws: Rejection.self) { try amount.multiplied(by: quantity) }
        #expect(rejection?.code == .limit)
    }

    @Test(
        arguments: [(Amount.maximum, 1), (Amount(minorUnits: .max), 1), (Amount(minorUnits: .min), -1)]
            as [(Amount, Amount)])
    func `a sum beyond the maximum is a rejection`(_ a: Amount, _ b: Amount) {
        let rejection = #expect(throws: Rejection.self) { try a.adding(b) }
        #expect(rejection?.code == .limit)
    }

    // MARK: Hashes

    @Test(arguments: SeededGenerator.seeds)
    func `a stable hash is FNV-1a of the bytes of numbers and texts`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var hash = StableHash()
        var expected: UInt64 = 0xCBF2_9CE4_8422_2325
        func expect(_ bytes: some Sequence<UInt8>) {
            for byte in bytes { expected = (expected ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        for _ in 0..<10 {
            // Of every length, and of both signs.
            let number = Int64(bitPattern: random.next()) >> random.below(64)
            hash.add(number)
            expect((0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
            let text = String(repeating: random.pick(["é", "x"]), count: random.below(20))
            hash.add(Text(text))
            expect(Array(text.utf8) + [0xFF])
        }
        #expect(hash.value == expected)
    }

    // MARK: Identifiers

    @Test(arguments: [
        "a", "Z", "0", "9", ".", "_", ":", "-", "cart-1:b.C_9", "{", "}", "{a}b", "}{",
        String(repeating: "x", count: 64),
    ])
    func `an identifier reads back as it was written`(_ text: String) {
        #expect(Identifier(text)?.rawValue == text)
        #expect(
            text.utf8.withContiguousStorageIfAvailable { Identifier(utf8: UnsafeRawBufferPointer($0)) }
                == Identifier(text))
    }

    @Test(arguments: [
        "", String(repeating: "x", count: 65), "a b", "a+b", "a~2", "a/b", "a;b", "é", "a\u{0}", "a\n", "@", "[", "]",
        "`", "|",
        "{|}", "a~", "\u{7F}",
    ])
    func `other text is not an identifier`(_ text: String) {
        #expect(Identifier(text) == nil)
    }

    @Test func `exactly sixty-eight bytes may be in an identifier`() {
        let allowed = (UInt8.min...UInt8.max).filter { byte in
            withUnsafeBytes(of: byte) { Identifier(utf8: $0) } != nil
        }
        #expect(allowed.count == 26 + 26 + 10 + 6)
    }

    @Test(arguments: [1, 2, 7, 8, 9, 15, 16, 17, 36, 63, 64])
    func `each byte of an identifier is checked, wherever it is`(length: Int) {
        let alone = (UInt8.min...UInt8.max).map { byte in withUnsafeBytes(of: byte) { Identifier(utf8: $0) != nil } }
        for place in 0..<length {
            for byte in UInt8.min...UInt8.max {
                var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
                bytes[place] = byte
                let isValid = bytes.withUnsafeBytes { Identifier(utf8: $0) != nil }
                if isValid != alone[Int(byte)] { Issue.record("byte \(byte) at \(place) of \(length)") }
            }
        }
    }

    @Test func `similar identifiers have different hashes, and every bit of them matters`() {
        var texts = Set((0..<20_000).map { "\($0)" })
        for number in 0..<5_000 {
            texts.insert("cart-" + String(repeating: "0", count: 12 - "\(number)".count) + "\(number)")
        }
        for length in 1...Identifier.maximumLength {
            texts.insert(String(repeating: "a", count: length))
            for place in 0..<length {
                var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
                bytes[place] = UInt8(ascii: "b")
                texts.insert(String(decoding: bytes, as: UTF8.self))
            }
        }
        let hashes = Set(texts.map { Identifier($0)!.hash })
        #expect(hashes.count == texts.count)
        // Each process has a key of its own, and some are worse than others: with the worst of 3,000, a bit was set in
        // 36 or 64 of 100 hashes. One that hardly changes would be in none or all.
        for bit in 0..<64 {
            let ones = hashes.count { $0 >> bit & 1 == 1 }
            #expect(abs(ones - hashes.count / 2) < hashes.count / 4, "bit \(bit)")
        }
    }

    // MARK: Currencies, ratings, hours, layouts

    @Test(arguments: ["", "IN", "INRR", "inr", "IN1", "ÄÖ"])
    func `a currency is three capital letters`(_ code: String) {
        #expect(Currency(code) == nil)
        #expect(Currency("INR")?.code == "INR")
    }

    @Test(arguments: [
        (0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"), (2, "INR USD EUR XXX"),
        (3, "BHD IQD JOD KWD LYD OMR TND"), (4, "CLF UYW"),
    ])
    func `a currency has the decimals of ISO 4217`(_ decimals: Int, _ codes: String) throws {
        for code in codes.split(separator: " ") { #expect(try #require(Currency("\(code)")).decimals == decimals) }
    }

    @Test func `a rating is from 0 to 500 hundredths`() {
        #expect(Rating(hundredths: -1) == nil)
        #expect(Rating(hundredths: 501) == nil)
        #expect(Rating(hundredths: 0)! < Rating(hundredths: 500)!)
    }

    @Test(arguments: [
        (0, 1, true), (0, 1_440, true), (1_439, 2_879, true), (600, 1_560, true), (0, 1_441, false),
        (1_440, 1_500, false), (-1, 10, false), (600, 600, false), (600, 599, false), (0, .max, false),
        (0, .min, false),
    ])
    func `hours end after they start, within a day`(_ opens: Int, _ closes: Int, _ valid: Bool) {
        #expect((OpeningHours(day: .sunday, opens: opens, closes: closes) != nil) == valid)
    }

    @Test(arguments: [(1, 1, true), (10_000, 10_000, true), (0, 1, false), (1, 10_001, false), (.min, .max, false)])
    func `a card's sides are from 1 to 10,000 points`(_ width: Int, _ height: Int, _ valid: Bool) {
        #expect((Layout.CardSize(width: width, height: height) != nil) == valid)
    }

    // MARK: Suspensions

    @Test func `an item sold out until a moment is available from that moment on`() {
        #expect(MenuState.Suspension(until: 10).holds(at: 9))
        #expect(!MenuState.Suspension(until: 10).holds(at: 10))
        #expect(MenuState.Suspension(until: nil).holds(at: 10))
    }
}
