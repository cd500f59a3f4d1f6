package import Domain

/// What the tables say of what was done beside the log: those of its rows that belong to one partition.
package struct StoredDeeds: Sendable {
    /// How many partitions there are: a customer is forgotten in each.
    package var partitionCount: Int
    /// In how many partitions each customer is forgotten.
    package var forgotten: [Identifier: Int]
    /// The users who were not removed.
    package var users: [Identifier: Deed.User]
    /// The relays.
    package var relays: Set<Identifier>

    /// What the tables say.
    package init(
        partitionCount: Int, forgotten: [Identifier: Int], users: [Identifier: Deed.User], relays: Set<Identifier>
    ) {
        self.partitionCount = partitionCount
        self.forgotten = forgotten
        self.users = users
        self.relays = relays
    }
}
