internal import Domain
internal import EventLog

/// Whether customers who wrote something sealed on a cart have the keys that open it, or marks that they are forgotten.
///
/// A key that was lost and made again is not noticed: the log has nothing of keys.
struct KeyCheck: Sendable {
    /// The most customers of whom it is known that they need not be asked for again.
    private static let knownLimit = 100_000

    private let source: any AuditSource
    private let partition: Int
    /// Customers who were asked for, or will be.
    private var known: Set<Identifier> = []
    /// Where each customer to be asked for has written first.
    private var open: [Identifier: (stream: StreamName, position: Int64)] = [:]
    private(set) var findings = Findings()

    init(_ source: any AuditSource, partition: Int) {
        self.source = source
        self.partition = partition
    }

    mutating func take(_ event: DecodedEvent) {
        guard case .cart = event.event, let customer = SealedTextUse.all(in: event).first?.owner.customer,
            known.insert(customer).inserted
        else { return }
        open[customer] = (event.stream, event.position)
    }

    /// Asks for the keys of everything that was taken since.
    mutating func finishPage() async throws {
        guard !open.isEmpty else { return }
        let keyless = try await source.customersWithoutKey(among: Array(open.keys), partition: partition)
        for (customer, use) in keyless.compactMap({ customer in open[customer].map { (customer, $0) } })
            .sorted(by: { $0.1.position < $1.1.position })
        {
            findings.add(
                Finding(
                    .difference, partition: partition, position: use.position,
                    subject: "\(StreamName(.customer, customer))",
                    "has written what is sealed in \(use.stream), and tiffin.customer_keys has no key to open it"))
        }
        open.removeAll(keepingCapacity: true)
        if known.count > KeyCheck.knownLimit { known.removeAll() }
    }
}
