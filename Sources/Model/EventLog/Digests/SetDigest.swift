/// A digest of a set of rows that is updated row by row, in any order: the sum of the rows' SHA-256 digests, as four
/// 64-bit lanes that wrap.
///
/// Two read models with the same digest at the same position are equal, unless somebody chose the rows to make them
/// look so.
public struct SetDigest: Hashable, Sendable, CustomStringConvertible {
    private var lanes: SIMD4<UInt64> = .zero

    /// The digest of no rows.
    public init() {}

    /// The digest that ``bytes`` gave, or nil if there are not 32 of them.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let digest = Digest(bytes) else { return nil }
        lanes = SetDigest.lanes(of: digest)
    }

    /// Adds a row.
    public mutating func insert(_ row: Digest) { lanes &+= SetDigest.lanes(of: row) }

    /// Removes a row that was added.
    public mutating func remove(_ row: Digest) { lanes &-= SetDigest.lanes(of: row) }

    /// The 32 bytes, for storing.
    public var bytes: [UInt8] {
        (0..<4).flatMap { lane in withUnsafeBytes(of: lanes[lane].bigEndian, Array.init) }
    }

    /// In hexadecimal.
    public var description: String { bytes.hexadecimal }

    private static func lanes(of digest: Digest) -> SIMD4<UInt64> {
        digest.withUnsafeBytes { bytes in
            var lanes = SIMD4<UInt64>.zero
            for lane in 0..<4 {
                lanes[lane] = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: lane * 8, as: UInt64.self))
            }
            return lanes
        }
    }
}
