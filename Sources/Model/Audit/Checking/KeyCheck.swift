internal import Domain
internal import EventLog

/// Whether what is sealed for customers can be opened with their keys, or they are marked as forgotten.
struct KeyCheck: Sendable {
    /// The most customers whose keys are kept, and the most orders whose customers are: beyond that, it begins anew.
    private static let knownLimit = 100_000
    /// How much later than a text its key may have been made by the clocks of servers and databases, in milliseconds.
    private static let clockDifference: Int64 = 3_600_000

    private let source: any AuditSource
    private let partition: Int
    private var keys: [Identifier: StoredKey] = [:]
    /// Of each order that has not ended, whose texts are on it.
    private var owners: [Identifier: TextOwner] = [:]
    /// Customers of whom something was found.
    private var found: Set<Identifier> = []
    /// What was taken since keys were read last.
    private var open: [(use: SealedTextUse, event: DecodedEvent)] = []
    private(set) var findings = Findings()

    init(_ source: any AuditSource, partition: Int) {
        self.source = source
        self.partition = partition
    }

    mutating func take(_ event: DecodedEvent) {
        let order = event.stream.id
        if case .order(.placed(let placement)) = event.event {
            if owners.count >= KeyCheck.knownLimit { owners.removeAll() }
            owners[order] = placement.owner
        }
        for use in SealedTextUse.all(in: event, ofOrders: owners) where !found.contains(use.owner.customer) {
            open.append((use, event))
        }
        switch event.event {
        case .order(.completed), .order(.rejected), .order(.cancelled): owners[order] = nil
        default: break
        }
    }

    /// Reads the keys for everything that was taken since, and tries them.
    mutating func finishPage() async throws {
        defer { open.removeAll(keepingCapacity: true) }
        if keys.count > KeyCheck.knownLimit { keys.removeAll() }
        let unread = Set(open.map(\.use.owner.customer)).subtracting(keys.keys)
        if !unread.isEmpty {
            guard let stored = try await source.keys(of: Array(unread), partition: partition) else { return }
            for customer in unread { keys[customer] = stored[customer] ?? .missing }
        }
        for (use, event) in open {
            guard let key = keys[use.owner.customer], let problem = KeyCheck.problem(use, event, key),
                found.insert(use.owner.customer).inserted
            else { continue }
            findings.add(
                Finding(
                    .difference, partition: partition, position: use.position,
                    subject: "\(StreamName(.customer, use.owner.customer))",
                    "has something sealed in \(event.stream), and \(problem)"))
        }
        if found.count > KeyCheck.knownLimit { found.removeAll() }
    }

    private static func problem(_ use: SealedTextUse, _ event: DecodedEvent, _ key: StoredKey) -> String? {
        switch key {
        case .missing: "tiffin.customer_keys has no key to open it"
        case .destroyed: nil
        case .known(let key):
            key.open(use.text, use.kind, of: use.owner) == nil
                ? "the key in tiffin.customer_keys does not open it: it is another one" : nil
        case .secret(let madeAt):
            madeAt.millisecondsSinceEpoch - event.recordedAt.millisecondsSinceEpoch > clockDifference
                ? "its key in tiffin.customer_keys was made later, at \(madeAt.rfc3339)" : nil
        }
    }
}
