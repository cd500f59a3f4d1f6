internal import EventLoop
internal import HTTP

/// Pages with their documents in gzip: a quarter of the bytes, which is what a slow connection waits for. Each is
/// compressed once, as long as it stays the same.
@LoopActor
final class CompressedPages {
    /// The most pages that are kept.
    private static let maximumCount = 64
    /// The most bytes of a page that is compressed: a megabyte takes about ten milliseconds, and all wait for it.
    private static let maximumBytes = 1 << 20
    /// It takes two thirds of the time of zlib's own level, and a twentieth more bytes.
    private static let level: Int32 = 4

    private var known: [String: [UInt8]] = [:]

    /// A page in gzip; nil where it is too long.
    func bytes(of html: [UInt8], tagged tag: EntityTag) -> [UInt8]? {
        guard html.count <= CompressedPages.maximumBytes else { return nil }
        if let compressed = known[tag.text] { return compressed }
        let compressed = Gzip.compressed(html, level: CompressedPages.level)
        if known.count >= CompressedPages.maximumCount { known = [:] }
        known[tag.text] = compressed
        return compressed
    }
}
