internal import CLibRoaring

/// A set of row numbers.
struct Bitmap: ~Copyable {
    private let bitmap: UnsafeMutablePointer<roaring_bitmap_t>

    init() { bitmap = roaring_bitmap_create() }

    deinit { roaring_bitmap_free(bitmap) }

    var count: Int { Int(roaring_bitmap_get_cardinality(bitmap)) }
}
