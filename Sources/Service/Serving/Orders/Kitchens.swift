internal import Application
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// What each kitchen sees: its open orders of all partitions, ready to be sent.
///
/// A document is kept until one of its orders changes or becomes late. Those with a customer's texts are made for each
/// answer, as keys are not kept.
@LoopActor
final class Kitchens {
    /// The most documents that are kept.
    private static let maximumDocuments = 1_000

    /// Learns which kitchens see something else now.
    var onChange: @LoopActor (Identifier) -> Void = { _ in }

    private let partitions: Partitions
    private let sealer: TextSealer
    /// The documents in which no texts have to be opened.
    private var documents: [Identifier: [UInt8]] = [:]
    /// When the next order becomes late, of each kitchen that somebody has looked at. They outlast the documents: whoever
    /// watches has to be told.
    private var lateAt: [Identifier: Timestamp] = [:]

    init(_ partitions: Partitions, _ sealer: TextSealer, _ changes: ChangeFeed) {
        self.partitions = partitions
        self.sealer = sealer
        changes.observe { [unowned self] streams in
            for stream in streams {
                switch stream.category {
                case .order: changed(stream)
                // It may say now what its orders wait for.
                case .outlet: changed(stream.id)
                case .menu, .cart, .supply, .promotions, .customer, .user, .relay: break
                }
            }
        }
    }

    private func changed(_ stream: StreamName) {
        let outlet = partitions[stream].model.ask { $0.orders.outlet(of: stream.id) }
        if let outlet { changed(outlet) }
    }

    private func changed(_ outlet: Identifier) {
        documents[outlet] = nil
        lateAt[outlet] = nil
        onChange(outlet)
    }

    /// Forgets every document.
    func dropAll() { documents = [:] }

    /// Tells the watchers of a kitchen that an order in it has become late.
    func followTime() {
        let now = partitions.clock()
        for (outlet, moment) in lateAt where moment <= now { changed(outlet) }
    }

    /// What a kitchen sees, as soon as its texts are opened.
    func document(
        of outlet: Identifier, for caller: Caller, completion: @escaping @LoopActor (Result<[UInt8], Failure>) -> Void
    ) {
        let now = partitions.clock()
        if let moment = lateAt[outlet], moment <= now { changed(outlet) }
        if let document = documents[outlet] { return completion(.success(document)) }
        let all = partitions.workers.flatMap { $0.readModel.orders.kitchen(of: outlet) }
        let shown = all.sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }.prefix(KitchenDocument.maximumOrders)
        let orders = shown.map(\.whole)
        let until = orders.lazy.compactMap(\.book.promise).filter { $0 >= now }.min()
        let owners = Set(orders.compactMap { $0.book.textOwner })
        let isFollowed = partitions.details(of: outlet).map { Order.Terms(of: $0, at: now).placedAt != nil } ?? true
        let document: @Sendable ([TextOwner: TextOpener]) -> [UInt8] = { openers in
            KitchenDocument.bytes(
                of: outlet, orders, count: all.count, isFollowed: isFollowed, now: now
            ) { owner in
                owner.flatMap { openers[$0] } ?? .none
            }
        }
        // A promise is late as soon as its moment has passed.
        lateAt[outlet] = until.map { Timestamp(millisecondsSinceEpoch: min($0.millisecondsSinceEpoch, .max - 1) + 1) }
        guard !owners.isEmpty else {
            if documents.count >= Kitchens.maximumDocuments { dropAll() }
            let ready = document([:])
            documents[outlet] = ready
            return completion(.success(ready))
        }
        sealer.openers(of: owners, for: caller) { completion($0.map(document)) }
    }
}
