/// PostgreSQL's clock, which begins in 2000.
enum PostgresTime {
    /// From 1970-01-01 to 2000-01-01, UTC, in microseconds.
    private static let epoch: Int64 = 946_684_800_000_000

    static func fromUnix(microseconds: Int64) -> Int64 { microseconds - epoch }
    /// A time too late for 64 bits, such as `infinity`, becomes the last one.
    static func toUnix(microseconds: Int64) -> Int64 {
        let (sum, isBeyond) = microseconds.addingReportingOverflow(epoch)
        return isBeyond ? .max : sum
    }
}

extension [UInt8] {
    mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    mutating func storeBigEndian(_ value: Int32, at offset: Int) {
        withUnsafeMutableBytes { $0.storeBytes(of: value.bigEndian, toByteOffset: offset, as: Int32.self) }
    }
}

extension UnsafeRawBufferPointer {
    func loadBigEndian<Integer: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int = 0, as type: Integer.Type = Integer.self
    ) -> Integer {
        Integer(bigEndian: loadUnaligned(fromByteOffset: offset, as: Integer.self))
    }
}
