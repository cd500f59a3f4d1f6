internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// What each kitchen sees: its open orders of all partitions, ready to be sent.
///
/// A document is kept until one of its orders changes or becomes late. Those with a customer's texts are made for each
/// answer, as nobody keeps keys.
@LoopActor
final class Kitchens {
    /// The most documents that are kept.
    private static let maximumDocuments = 1_000

    private struct Seen {
        /// The document; nil if texts in it have to be opened first.
        var document: [UInt8]?
        /// When the next order becomes late.
        var until: Timestamp
    }

    private unowned let application: Application
    private var seen: [Identifier: Seen] = [:]

    init(_ application: Application, _ changes: ChangeFeed) {
        self.application = application
        changes.observe { [unowned self] streams in
            for stream in streams {
                switch stream.category {
                case .order: changed(stream)
                // It may say now what its orders wait for.
                case .outlet: changed(stream.id)
                case .menu, .cart, .customer, .user, .relay: break
                }
            }
        }
    }

    private func changed(_ stream: StreamName) {
        let outlet = application.partition(of: stream).model.ask { $0.orders.outlet(of: stream.id) }
        if let outlet { changed(outlet) }
    }

    private func changed(_ outlet: Identifier) {
        seen[outlet] = nil
        application.topics.changed(.kitchen(outlet))
    }

    /// Forgets every document.
    func dropAll() { seen = [:] }

    /// Tells whoever watches a kitchen that an order in it has become late.
    func followTime() {
        let now = application.clock()
        for (outlet, seen) in seen where seen.until <= now { changed(outlet) }
    }

    /// What a kitchen sees, as soon as its texts are opened.
    func document(
        of outlet: Identifier, for caller: Caller, completion: @escaping @LoopActor (Result<[UInt8], Failure>) -> Void
    ) {
        let now = application.clock()
        if let seen = seen[outlet], let document = seen.document, seen.until > now {
            return completion(.success(document))
        }
        let all = application.partitions.flatMap { $0.readModel.orders.kitchen(of: outlet) }
        let shown = all.sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }.prefix(KitchenDocument.maximumOrders)
        let orders = shown.map(\.whole)
        let until = orders.lazy.compactMap(\.book.promise).filter { $0 >= now }.min()
        let owners = Set(orders.compactMap { $0.book.textOwner })
        let isFollowed = application.details(of: outlet).map { Order.Terms(of: $0, at: now).placedAt != nil } ?? true
        let document: @Sendable ([TextOwner: TextOpener]) -> [UInt8] = { openers in
            KitchenDocument.bytes(
                of: outlet, orders, count: all.count, isFollowed: isFollowed, now: now
            ) { owner in
                owner.flatMap { openers[$0] } ?? .none
            }
        }
        if seen.count >= Kitchens.maximumDocuments { dropAll() }
        seen[outlet] = Seen(
            document: owners.isEmpty ? document([:]) : nil,
            // A promise is late as soon as its moment has passed.
            until: Timestamp(millisecondsSinceEpoch: until.map { min($0.millisecondsSinceEpoch, .max - 1) + 1 } ?? .max)
        )
        if let ready = seen[outlet]?.document { return completion(.success(ready)) }
        application.textSealer.openers(of: owners, for: caller) { completion($0.map(document)) }
    }
}
