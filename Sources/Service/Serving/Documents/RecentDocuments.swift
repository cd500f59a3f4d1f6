internal import Application
internal import Domain
internal import EventLog
internal import EventLoop
internal import TextFormats

/// Documents that clients were given, by their digests, so that clients can be told what has changed since. The oldest
/// go first; a client that has one of those is given the whole document.
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

    /// What identifies a document: half of the SHA-256 of what it says.
    nonisolated static func digest(of content: [UInt8]) -> String {
        Digest.of(content).bytes.prefix(ChangeDocument.digestBytes).hexadecimal
    }

    // MARK: Changes

    /// What has changed in a document since a client was given it, as soon as it is known; null where nothing has. The
    /// client is given the whole document as one change if it has none, or one that is not known any more.
    ///
    /// - Parameters:
    ///   - content: what its digest is of, if that is not all of it.
    ///   - since: the digest of the document that the client has.
    func change(to document: [UInt8], content: [UInt8]?, since: Text) -> Response {
        let (digest, since) = (RecentDocuments.digest(of: content ?? document), since.string)
        guard digest != since else { return .answer(.null) }
        documents.keep(document, for: digest)
        guard let old = documents[since] else {
            let whole = JSONPatch.replacement(with: document)
            return .answer(.document(ChangeDocument.bytes(from: nil, to: digest, patch: whole)))
        }
        func answer(_ patch: [UInt8]) -> Answer {
            .document(ChangeDocument.bytes(from: since, to: digest, patch: configuration.sent(patch)))
        }
        let change = Change(from: since, to: digest)
        if let patch = patches[change] { return .answer(answer(patch)) }
        guard document.count > JSONPatch.largeDocument else {
            let patch = JSONPatch.whatLeads(from: old, to: document)
            patches.keep(patch, for: change)
            return .answer(answer(patch))
        }
        let promise = Promise(about: .outlet)
        Task { @LoopActor in
            let patch = await JSONPatch.madeInBackground(from: old, to: document)
            patches.keep(patch, for: change)
            promise.keep(answer(patch))
        }
        return .promise(promise)
    }
}
