public import Domain

/// The deeds beside the log, as the tables show them: the rows that belong to one partition.
public struct StoredDeeds: Sendable {
    /// How many partitions there are: a customer is forgotten in each.
    public var partitionCount: Int
    /// In how many partitions each customer is forgotten.
    public var forgotten: [Identifier: Int]
    /// The users who were not removed.
    public var users: [Identifier: Deed.User]
    /// In how many partitions each relay has a place.
    public var relays: [Identifier: Int]

    /// What the tables say.
    public init(
        partitionCount: Int, forgotten: [Identifier: Int], users: [Identifier: Deed.User], relays: [Identifier: Int]
    ) {
        self.partitionCount = partitionCount
        self.forgotten = forgotten
        self.users = users
        self.relays = relays
    }
}
