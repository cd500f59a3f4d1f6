import SeededRandom

extension SeededGenerator {
    /// Up to 40 characters of 1 to 4 bytes in UTF-8, without the NUL that PostgreSQL does not store.
    mutating func text() -> String {
        let ranges: [ClosedRange<UInt32>] = [0x01...0x7F, 0x80...0x7FF, 0xE000...0xFFFF, 0x1F300...0x1F5FF]
        var text = String.UnicodeScalarView()
        for _ in 0..<number(0...40) {
            text.append(Unicode.Scalar(UInt32.random(in: pick(ranges), using: &self))!)
        }
        return String(text)
    }

    /// Up to 300 bytes.
    mutating func bytes() -> [UInt8] {
        (0..<number(0...300)).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}
