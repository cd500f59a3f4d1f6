internal import Domain
internal import EventLog
internal import EventLoop
internal import TextFormats

/// Documents that clients were given, by their digests, so that clients can be told what has changed since. The oldest
/// go first; whoever has one of those is given the whole document.
@LoopActor
final class RecentDocuments {
    private struct Change: Hashable {
        var from: String
        var to: String
    }

    private let configuration: Configuration
    private var documents: ByteCache<String>
    private var patches: ByteCache<Change>

    init(_ configuration: Configuration) {
        self.configuration = configuration
        documents = ByteCache(maximumBytes: configuration.recentDocumentBytes)
        patches = ByteCache(maximumBytes: configuration.recentPatchBytes)
    }

    func dropAll() {
        documents = ByteCache(maximumBytes: configuration.recentDocumentBytes)
        patches = ByteCache(maximumBytes: configuration.recentPatchBytes)
    }

    private nonisolated static let digestBytes = 16
    /// The digits of a digest.
    nonisolated static let digits = 2 * digestBytes

    /// What identifies a document: half of the SHA-256 of what it says.
    nonisolated static func digest(of content: [UInt8]) -> String {
        Digest.of(content).bytes.prefix(digestBytes).hexadecimal
    }

    /// Refuses a `SINCE` that no document has ever had: an unknown digest would be answered as an old one.
    nonisolated static func check(since: String) throws(Failure) {
        if since != "0" { try Failure.check(digest: since, digits: digits, "SINCE", or: "0") }
    }

    /// The document with a digest, if it is still known.
    subscript(digest: String) -> [UInt8]? { documents[digest] }

    func keep(_ document: [UInt8], _ digest: String) { documents.keep(document, for: digest) }

    /// The patch from one document to another, if it has been made already.
    func patch(from: String, to: String) -> [UInt8]? { patches[Change(from: from, to: to)] }

    func keep(_ patch: [UInt8], from: String, to: String) { patches.keep(patch, for: Change(from: from, to: to)) }
}

extension Application {
    /// A document, null where there is none, or what has changed in it since a client was given it.
    func response(_ document: [UInt8]?, since: Text?) -> Response {
        guard let since else { return .answer(Answer(document)) }
        return change(to: document ?? TopicDocument.null, since: since)
    }

    /// What has changed in a document since a client was given it, as soon as it is known; null where nothing has. The
    /// client is given the whole document as one change if it has none, or one that is not known any more.
    ///
    /// - Parameters:
    ///   - content: what its digest is of, if that is not all of it.
    ///   - since: the digest of the document that the client has.
    func change(to document: [UInt8], content: [UInt8]? = nil, since: Text) -> Response {
        let (digest, since) = (RecentDocuments.digest(of: content ?? document), since.string)
        guard digest != since else { return .answer(.null) }
        recents.keep(document, digest)
        guard let old = recents[since] else {
            let whole = JSONPatch.replacement(with: document)
            return .answer(.document(ChangeDocument.bytes(from: nil, to: digest, patch: whole)))
        }
        func answer(_ patch: [UInt8]) -> Answer {
            .document(ChangeDocument.bytes(from: since, to: digest, patch: configuration.sent(patch)))
        }
        if let patch = recents.patch(from: since, to: digest) { return .answer(answer(patch)) }
        guard document.count > JSONPatch.largeDocument else {
            let patch = JSONPatch.whatLeads(from: old, to: document)
            recents.keep(patch, from: since, to: digest)
            return .answer(answer(patch))
        }
        let promise = Promise(about: .outlet)
        Task { @LoopActor in
            let patch = await JSONPatch.madeInBackground(from: old, to: document)
            recents.keep(patch, from: since, to: digest)
            promise.keep(answer(patch))
        }
        return .promise(promise)
    }
}
