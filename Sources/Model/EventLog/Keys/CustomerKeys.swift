public import Domain

/// Where customers' keys are kept: one for each customer and partition, so that a command touches one partition.
///
/// The promise of all keys: a customer has one key in a partition, whichever caller asks first. A destroyed key never
/// comes back, and the customer never gets another.
public protocol CustomerKeys: Sendable {
    /// The key to seal with. It is created if the customer has none.
    func makeKey(of customer: Identifier, partition: Int) async throws(EventLogError) -> CustomerKey

    /// The key to open with.
    func key(of customer: Identifier, partition: Int) async throws(EventLogError) -> CustomerKey

    /// Destroys the keys of customers in every partition, for good: from then on no caller is given them. To do so
    /// again does no harm.
    ///
    /// - Parameter metadata: of the event in the log of each customer who was not forgotten before.
    func destroyKeys(
        of customers: Set<Identifier>, for metadata: EventMetadata
    ) async throws(EventLogError) -> Forgetting

    /// Removes what destroyed keys have left behind in files. Meanwhile no key can be used.
    ///
    /// - Returns: why something remains, if so.
    func removeRemainders() async -> String?
}

extension CustomerKeys {
    /// Destroys the keys of customers, and removes what they have left behind.
    public func forget(
        _ customers: Set<Identifier>, for metadata: EventMetadata = .none
    ) async throws(EventLogError) -> Forgetting {
        var forgetting = try await destroyKeys(of: customers, for: metadata)
        if forgetting.outcomes.contains(where: \.wasKnown) { forgetting.remainder = await removeRemainders() }
        return forgetting
    }
}

/// The state of a customer's key.
public enum CustomerKey: Equatable, Sendable {
    /// There is no key, or it may not be read.
    case unknown
    /// The key.
    case known(SealingKey)
    /// The customer was forgotten.
    case destroyed
}

/// Keys in memory, for tests.
public actor InMemoryCustomerKeys: CustomerKeys {
    private struct Place: Hashable {
        var customer: Identifier
        var partition: Int
    }
    private var keys: [Place: CustomerKey] = [:]
    private var forgotten: Set<Identifier> = []

    /// No keys.
    public init() {}

    public func makeKey(of customer: Identifier, partition: Int) throws(EventLogError) -> CustomerKey {
        if forgotten.contains(customer) { return .destroyed }
        let place = Place(customer: customer, partition: partition)
        let key = keys[place] ?? .known(.random())
        keys[place] = key
        return key
    }

    public func key(of customer: Identifier, partition: Int) throws(EventLogError) -> CustomerKey {
        if forgotten.contains(customer) { return .destroyed }
        return keys[Place(customer: customer, partition: partition)] ?? .unknown
    }

    /// See ``CustomerKeys``. There is no log here, and no clock: customers forgotten before were forgotten in 1970.
    public func destroyKeys(
        of customers: Set<Identifier>, for metadata: EventMetadata
    ) throws(EventLogError) -> Forgetting {
        let outcomes = customers.sorted().map { customer in
            Forgetting.Outcome(
                customer: customer, destroyedKeys: keys.keys.count { $0.customer == customer },
                forgottenBefore: forgotten.contains(customer) ? Timestamp(millisecondsSinceEpoch: 0) : nil)
        }
        forgotten.formUnion(customers)
        keys = keys.filter { !customers.contains($0.key.customer) }
        return Forgetting(outcomes)
    }

    /// See ``CustomerKeys``. There are no files here.
    public func removeRemainders() -> String? { nil }
}
