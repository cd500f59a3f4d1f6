internal import Application
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections
internal import TextFormats

/// Home documents that are ready to be sent, older ones that clients may still have, and the patches between them.
///
/// When the current documents become too many bytes it drops all of them, as each is made again when somebody asks for
/// it; of the older ones it drops the oldest.
@LoopActor
final class HomeCache {
    private struct Revision: Hashable {
        var outlet: Identifier
        var number: Int64
    }
    private struct Change: Hashable {
        var outlet: Identifier
        var from: Int64
        var to: Int64
    }

    private let configuration: Configuration
    private var homes: [Identifier: Home] = [:]
    private var bytes = 0
    /// The sizes, in bytes, of current documents that are too large to be sent, so that none of them is made again.
    var tooLarge: [Identifier: Int] = [:]
    private var history: ByteCache<Revision>
    private var patches: ByteCache<Change>

    init(_ configuration: Configuration, _ changes: ChangeFeed) {
        self.configuration = configuration
        history = ByteCache(maximumBytes: configuration.homeHistoryBytes)
        patches = ByteCache(maximumBytes: configuration.homePatchBytes)
        changes.observe { [unowned self] streams in
            for stream in streams where OutletHome.follows(stream.category) { changed(stream.id) }
        }
    }

    /// The outlet's home, if it is ready.
    subscript(outlet: Identifier) -> Home? { homes[outlet] }

    /// Keeps a home that is current and was not ready.
    func keep(_ home: Home, of outlet: Identifier) {
        if bytes + home.document.count > configuration.homeCacheBytes {
            homes = [:]
            bytes = 0
        }
        bytes += home.document.count
        homes[outlet] = home
    }

    /// Drops everything: another log may give other homes the same revisions.
    func dropAll() {
        (homes, bytes, tooLarge) = ([:], 0, [:])
        history = ByteCache(maximumBytes: configuration.homeHistoryBytes)
        patches = ByteCache(maximumBytes: configuration.homePatchBytes)
    }

    /// A client may have the old document and ask what has changed.
    private func changed(_ outlet: Identifier) {
        tooLarge[outlet] = nil
        guard let home = homes.removeValue(forKey: outlet) else { return }
        bytes -= home.document.count
        keepPast(home, of: outlet)
    }

    // MARK: The past

    /// Keeps a home that is not current.
    func keepPast(_ home: Home, of outlet: Identifier) {
        history.keep(home.document, for: Revision(outlet: outlet, number: home.revision))
    }

    /// The patch from an older home to this one; nil where the older one is not kept. Made once for everybody.
    func patch(from revision: Int64, to home: Home, of outlet: Identifier) -> [UInt8]? {
        let change = Change(outlet: outlet, from: revision, to: home.revision)
        if let patch = patches[change] { return patch }
        guard let old = history[Revision(outlet: outlet, number: revision)],
            let patch = try? JSONPatch.bytes(from: old, to: home.document)
        else { return nil }
        patches.keep(patch, for: change)
        return patch
    }
}
