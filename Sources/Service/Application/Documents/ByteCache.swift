/// Texts that are kept while there is room: the oldest goes first.
struct ByteCache<Key: Hashable> {
    /// About what an entry takes beside its bytes, so that many small ones are bounded too.
    private static var overhead: Int { 200 }

    private let maximumBytes: Int
    private var texts: [Key: [UInt8]] = [:]
    /// The keys from the oldest on; those before `oldest` are gone.
    private var order: [Key] = []
    private var oldest = 0
    private var bytes = 0

    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    subscript(key: Key) -> [UInt8]? { texts[key] }

    /// Keeps a text under a key that has none yet.
    mutating func keep(_ text: [UInt8], for key: Key) {
        guard texts[key] == nil, text.count + Self.overhead <= maximumBytes else { return }
        texts[key] = text
        order.append(key)
        bytes += text.count + Self.overhead
        while bytes > maximumBytes {
            bytes -= (texts.removeValue(forKey: order[oldest])?.count ?? 0) + Self.overhead
            oldest += 1
        }
        if oldest > order.count / 2 {
            order.removeFirst(oldest)
            oldest = 0
        }
    }
}
