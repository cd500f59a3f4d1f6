internal import EventLog
internal import EventLoop
internal import HTTP

/// The tags of documents: digests, so that the same document has the same tag on every server and after a restart,
/// and another log's document of the same revision has another.
///
/// Documents that the application keeps for many answers are digested once.
@LoopActor
final class DocumentTags {
    /// The most documents that tags are kept of.
    static let maximumCount = 256

    /// The document is held, so nothing else can come to lie where it does.
    private var known: [UnsafeRawPointer: (document: ArraySlice<UInt8>, tag: EntityTag)] = [:]

    /// The tag of a document.
    ///
    /// - Parameter isShared: whether the application keeps the document, and gives the same again.
    func tag(of document: ArraySlice<UInt8>, end: String = "", isShared: Bool) -> EntityTag {
        guard isShared, end == "}" else { return DocumentTags.tag(of: document, end) }
        guard let place = document.withUnsafeBytes({ $0.baseAddress }) else { return DocumentTags.tag(of: [], end) }
        if let entry = known[place], entry.document.count == document.count { return entry.tag }
        let tag = DocumentTags.tag(of: document, end)
        if known.count >= DocumentTags.maximumCount { known = [:] }
        known[place] = (document, tag)
        return tag
    }

    private static func tag(of document: ArraySlice<UInt8>, _ end: String) -> EntityTag {
        EntityTag(Digest.of(document + Array(end.utf8)).bytes.prefix(16).hexadecimal)
    }
}
