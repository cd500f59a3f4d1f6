internal import Domain
internal import EventLog
internal import EventLoop

/// Home documents that are ready to be sent. Forgets all of them when they become too many bytes: what is asked
/// for is made again.
@LoopActor
final class HomeCache {
    private let maximumBytes: Int
    private var homes: [Identifier: [UInt8]] = [:]
    private var bytes = 0

    init(maximumBytes: Int, _ changes: ChangeFeed) {
        self.maximumBytes = maximumBytes
        changes.observe { [unowned self] stream in
            switch stream.category {
            case .outlet, .menu: self[stream.id] = nil
            case .cart, .order: break
            }
        }
    }

    subscript(outlet: Identifier) -> [UInt8]? {
        get { homes[outlet] }
        set {
            let added = newValue?.count ?? 0
            if bytes + added > maximumBytes {
                homes = [:]
                bytes = 0
            }
            bytes += added - (homes[outlet]?.count ?? 0)
            homes[outlet] = newValue
        }
    }
}
