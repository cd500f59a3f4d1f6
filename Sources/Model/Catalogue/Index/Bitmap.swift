internal import CLibRoaring

/// A set of row numbers: a Roaring bitmap, which is small for few rows and fast for many.
///
/// A reference type: do not change a bitmap that is shared.
final class Bitmap {
    private let bitmap: UnsafeMutablePointer<roaring_bitmap_t>

    private init(owning bitmap: UnsafeMutablePointer<roaring_bitmap_t>?) {
        guard let bitmap else { preconditionFailure("out of memory") }
        self.bitmap = bitmap
    }

    /// No rows.
    convenience init() { self.init(owning: roaring_bitmap_create()) }

    /// The rows of a list in any order.
    convenience init(_ rows: [UInt32]) { self.init(rows[...]) }

    /// The rows of a list in any order.
    convenience init(_ rows: ArraySlice<UInt32>) {
        self.init(owning: rows.withUnsafeBufferPointer { roaring_bitmap_of_ptr($0.count, $0.baseAddress) })
    }

    /// The rows that are written in Roaring's portable format.
    convenience init(portable bytes: [UInt8]) {
        self.init(
            owning: bytes.withUnsafeBytes {
                roaring_bitmap_portable_deserialize_safe($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
            })
    }

    deinit { roaring_bitmap_free(bitmap) }

    // MARK: Rows

    var count: Int { Int(roaring_bitmap_get_cardinality(bitmap)) }

    var isEmpty: Bool { roaring_bitmap_is_empty(bitmap) }

    func contains(_ row: UInt32) -> Bool { roaring_bitmap_contains(bitmap, row) }

    func insert(_ row: UInt32) { roaring_bitmap_add(bitmap, row) }

    func insert(_ rows: [UInt32]) {
        rows.withUnsafeBufferPointer { roaring_bitmap_add_many(bitmap, $0.count, $0.baseAddress) }
    }

    func insert(_ rows: Range<UInt32>) {
        roaring_bitmap_add_range(bitmap, UInt64(rows.lowerBound), UInt64(rows.upperBound))
    }

    /// Frees capacity that was reserved for more rows.
    func shrink() { roaring_bitmap_shrink_to_fit(bitmap) }

    func remove(_ row: UInt32) { roaring_bitmap_remove(bitmap, row) }

    /// The rows in ascending order.
    var rows: [UInt32] {
        let count = count
        return [UInt32](unsafeUninitializedCapacity: count) { buffer, initialized in
            if let start = buffer.baseAddress { roaring_bitmap_to_uint32_array(bitmap, start) }
            initialized = count
        }
    }

    /// The row with exactly `rank` smaller ones; it must exist.
    func row(atRank rank: Int) -> UInt32 {
        var row: UInt32 = 0
        let found = roaring_bitmap_select(bitmap, UInt32(rank), &row)
        precondition(found, "no row of that rank")
        return row
    }

    // MARK: Sets

    func intersection(_ other: Bitmap) -> Bitmap { Bitmap(owning: roaring_bitmap_and(bitmap, other.bitmap)) }

    func intersectionCount(_ other: Bitmap) -> Int { Int(roaring_bitmap_and_cardinality(bitmap, other.bitmap)) }

    func intersects(_ other: Bitmap) -> Bool { roaring_bitmap_intersect(bitmap, other.bitmap) }

    func union(_ other: Bitmap) -> Bitmap { Bitmap(owning: roaring_bitmap_or(bitmap, other.bitmap)) }

    func subtracting(_ other: Bitmap) -> Bitmap { Bitmap(owning: roaring_bitmap_andnot(bitmap, other.bitmap)) }

    /// Adds the rows of another set.
    func formUnion(_ other: Bitmap) { roaring_bitmap_or_inplace(bitmap, other.bitmap) }

    /// The rows of all the sets.
    static func union(_ sets: [Bitmap]) -> Bitmap {
        switch sets.count {
        case 0: return Bitmap()
        case 1: return sets[0]
        default:
            var pointers = sets.map { UnsafePointer($0.bitmap) as UnsafePointer<roaring_bitmap_t>? }
            return withExtendedLifetime(sets) {
                Bitmap(owning: roaring_bitmap_or_many(pointers.count, &pointers))
            }
        }
    }
}
