import SeededRandom

extension SeededGenerator {
    mutating func bytes(_ counts: ClosedRange<Int>) -> [UInt8] {
        (0..<number(counts)).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}
