internal import Domain
internal import EventLog
internal import Projections

/// Holds the stored rows of a partition against a replay that stands where they do.
struct StoredRows {
    private let source: any AuditSource
    private let partition: Int
    private(set) var findings = Findings()
    /// Rows that were compared, of each projection.
    private(set) var compared: [ProjectionName: Int] = [:]
    /// What differs of carts and outlets, to be traced to an event.
    private var staleCarts: [(cart: Identifier, stored: Int)] = []
    private var staleOutlets: [(outlet: Identifier, stored: OutletHomeRow)] = []

    init(_ source: any AuditSource, partition: Int) {
        self.source = source
        self.partition = partition
    }

    private mutating func found(_ position: Int64?, _ subject: String, _ message: String) {
        findings.add(Finding(.difference, partition: partition, position: position, subject: subject, message))
    }

    /// Something about the rows as a whole.
    mutating func report(_ subject: String, _ message: String) { found(nil, subject, message) }

    /// The position that the stored rows are of; nil where they cannot be compared, with the reason.
    static func position(of checkpoints: [StoredCheckpoint]) -> (position: Int64?, reason: String?) {
        // A checkpoint of position 0 has been reserved by a server that has not saved anything yet.
        let saved = checkpoints.filter { $0.position > 0 }
        guard !saved.isEmpty else { return (nil, "no read model has been saved yet") }
        guard
            saved.count == ProjectionName.allCases.count,
            saved.allSatisfy({ ProjectionName(rawValue: $0.projection)?.version == $0.version })
        else {
            return (nil, "the read models were saved by another version of the projections")
        }
        guard Set(saved.map(\.position)).count == 1 else {
            return (nil, "the read models were saved at different positions")
        }
        return (saved[0].position, nil)
    }

    /// Compares everything. The model is a replay of the whole log up to the checkpoints' position.
    mutating func compare(_ model: ReadModel, _ checkpoints: [StoredCheckpoint]) async throws {
        try await compareOutlets(model)
        try await compareCarts(model)
        try await trace()
        // Rows first: where they differ the digests do, too.
        guard findings.count == 0 else { return }
        let digests = model.digests
        for checkpoint in checkpoints {
            let expected = checkpoint.projection == OutletHome.name ? digests.outletHome : digests.cartCounts
            if expected.bytes != checkpoint.digest {
                found(
                    nil, "the digest of \(checkpoint.projection)",
                    "is \(checkpoint.digest.hexadecimal), and its rows have \(expected)")
            }
        }
    }

    private mutating func compareOutlets(_ model: ReadModel) async throws {
        var expected: [Identifier: OutletRecord] = [:]
        for record in model.outletHome.all { expected[record.id] = record }
        var key = ""
        while case .outletHome(let rows)? = try await source.rows(of: .outletHome, partition: partition, after: key) {
            for row in rows {
                compared[.outletHome, default: 0] += 1
                key = row.outlet.rawValue
                guard let record = expected.removeValue(forKey: row.outlet) else {
                    found(nil, "outlet '\(row.outlet)'", "is stored, and the log has nothing of it")
                    continue
                }
                // What is quarantined is shown to nobody, and its row is as it was before.
                guard model.outletHome.corruption(of: row.outlet) == nil, row != OutletHomeRow(record) else { continue }
                staleOutlets.append((row.outlet, row))
            }
        }
        for outlet in expected.keys.sorted() where model.outletHome.corruption(of: outlet) == nil {
            found(nil, "outlet '\(outlet)'", "is missing from \(OutletHome.name)")
        }
    }

    private mutating func compareCarts(_ model: ReadModel) async throws {
        var key = ""
        while case .cartCounts(let rows)? = try await source.rows(of: .cartCounts, partition: partition, after: key) {
            for row in rows {
                compared[.cartCounts, default: 0] += 1
                key = row.cart.rawValue
                guard model.cartCounts.quarantine[StreamName(.cart, row.cart)] == nil else { continue }
                if model.cartCounts.count(of: row.cart) != Int(row.count) {
                    staleCarts.append((row.cart, Int(row.count)))
                }
            }
        }
        guard compared[.cartCounts, default: 0] < model.cartCounts.cartCount + staleCarts.count else { return }
        var missing = Set(model.cartCounts.all.map(\.cart))
        key = ""
        while case .cartCounts(let rows)? = try await source.rows(of: .cartCounts, partition: partition, after: key) {
            for row in rows {
                key = row.cart.rawValue
                missing.remove(row.cart)
            }
        }
        for cart in missing.sorted().prefix(Findings.limit) {
            found(nil, "cart '\(cart)'", "is missing from \(CartCounts.name)")
        }
    }

    // MARK: Tracing a difference to an event

    /// The most differences that are traced, and events that are read for one.
    private static let traced = 20
    private static let tracedEvents = 10_000

    private mutating func trace() async throws {
        for (index, stale) in staleCarts.enumerated() {
            let stream = StreamName(.cart, stale.cart)
            var message = "is stored with a count of \(stale.stored)"
            var position: Int64?
            if index < StoredRows.traced {
                let events = try await decoded(stream)
                var counts = CartCounts()
                var last: Int64?
                for event in events {
                    if case .cart(let change) = event.event { try? counts.fold(change, event.version, of: stale.cart) }
                    if counts.count(of: stale.cart) == stale.stored { last = event.position }
                }
                message += ", and the log makes \(counts.count(of: stale.cart)) of it"
                position = StoredRows.firstBehind(last, events)
            }
            found(position, "cart '\(stale.cart)'", message + StoredRows.since(position))
        }
        for (index, stale) in staleOutlets.enumerated() {
            var position: Int64?
            var message = "is stored otherwise than the log has it"
            if index < StoredRows.traced {
                let streams = [StreamName(.outlet, stale.outlet), StreamName(.menu, stale.outlet)]
                var events: [DecodedEvent] = []
                for stream in streams { events += try await decoded(stream) }
                events.sort { $0.position < $1.position }
                var last: Int64?
                for length in 1..<max(2, events.count + 1) where length <= events.count {
                    let revision = events[length - 1].position
                    guard revision == stale.stored.revision,
                        let record = OutletHome(folding: events[..<length].map { .success($0) }).all.first
                    else { continue }
                    let row = OutletHomeRow(record)
                    if row == stale.stored { last = revision }
                    if row.snapshot == stale.stored.snapshot, row.document != stale.stored.document {
                        message = "has a stored document that its own snapshot does not lead to"
                    }
                }
                position = StoredRows.firstBehind(last, events)
            }
            found(position, "outlet '\(stale.outlet)'", message + StoredRows.since(position))
        }
    }

    private static func firstBehind(_ last: Int64?, _ events: [DecodedEvent]) -> Int64? {
        last.flatMap { last in events.first { $0.position > last }?.position }
    }

    private static func since(_ position: Int64?) -> String {
        position.map { ": event \($0) and what follows is not in it" } ?? ""
    }

    private func decoded(_ stream: StreamName) async throws -> [DecodedEvent] {
        try await source.events(
            partition: partition, stream: stream, limit: StoredRows.tracedEvents
        ).compactMap { try? $0.decoded() }
    }
}
