internal import Domain
internal import EventLog
internal import EventLoop

/// Customers' keys in several databases: each lies beside its partition.
@LoopActor
final class SpreadKeys: CustomerKeys {
    private let keys: [PostgresCustomerKeys]
    private let places: PartitionPlaces
    private let forgetting: SpreadForgetting

    init(_ keys: [PostgresCustomerKeys], _ places: PartitionPlaces, _ forgetting: SpreadForgetting) {
        self.keys = keys
        self.places = places
        self.forgetting = forgetting
    }

    @LoopActor
    func makeKey(of customer: Identifier, partition: Int) async throws(EventLogError) -> CustomerKey {
        let place = places[partition]
        do throws(EventLogError) {
            return try await keys[place].makeKey(of: customer, partition: partition)
        } catch {
            guard error == .moved else { throw error }
            await places.look()
            guard places[partition] != place else { throw error }
            return try await keys[places[partition]].makeKey(of: customer, partition: partition)
        }
    }

    @LoopActor
    func key(of customer: Identifier, partition: Int) async throws(EventLogError) -> CustomerKey {
        let place = places[partition]
        let key = try await keys[place].key(of: customer, partition: partition)
        guard key == .unknown else { return key }
        // The place that it was moved from has none any more.
        await places.look()
        guard places[partition] != place else { return key }
        return try await keys[places[partition]].key(of: customer, partition: partition)
    }

    @LoopActor
    func destroyKeys(
        of customers: Set<Identifier>, for metadata: EventMetadata
    ) async throws(EventLogError) -> Forgetting {
        try await forgetting.destroyKeys(of: customers, for: metadata)
    }

    @LoopActor
    func removeRemainders() async -> String? {
        var remainder: String?
        for keys in keys { remainder = await keys.removeRemainders() ?? remainder }
        return remainder
    }
}
