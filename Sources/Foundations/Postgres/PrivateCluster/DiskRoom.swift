public import EventLoop
internal import Foundation

/// Whether the disk of a private PostgreSQL has room for what may be written: one that cannot continue its log ends.
@LoopActor
public final class DiskRoom {
    /// How often it is looked at, in milliseconds.
    private static let interval: UInt64 = 500

    /// Whether there is room.
    public private(set) var isThere = true

    private let cluster: Cluster
    private let log: @LoopActor (String) -> Void
    private var timer: LoopTimer?

    /// Looks at it from now on.
    ///
    /// - Parameter log: called when it is gone, and when it is there again.
    init(of cluster: Cluster, log: @escaping @LoopActor (String) -> Void) {
        self.cluster = cluster
        self.log = log
        look()
        timer = LoopTimer(milliseconds: Self.interval, repeating: true) { [weak self] in self?.look() }
    }

    /// Looks at that of a PostgreSQL that another process runs; nil where there is none.
    public convenience init?(dataDirectory: String, log: @escaping @LoopActor (String) -> Void) {
        guard let account = try? ServerAccount.current() else { return nil }
        let directory = URL(filePath: dataDirectory).standardizedFileURL.path
        self.init(of: Cluster(dataDirectory: directory, account: account), log: log)
    }

    /// Looks no more.
    public func stop() {
        timer?.cancel()
        timer = nil
    }

    /// Looks at it now.
    func look() {
        guard cluster.hasRoom(more: !isThere) != isThere else { return }
        isThere.toggle()
        log(
            isThere
                ? "the database's disk has room again: writes are accepted"
                : "the database's disk has less than \(Cluster.leastRoom >> 20) MB left: writes are refused")
    }
}
