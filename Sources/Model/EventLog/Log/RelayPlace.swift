public import Domain

/// How far a relay is in a partition.
public struct RelayPlace: Sendable {
    /// The relay.
    public let name: Identifier
    /// The partition.
    public let partition: Int
    /// The position of the last event that it is done with.
    public let position: Int64
    /// How many events are held back, and how many are set aside.
    public let heldBack: Int64, setAside: Int64
    /// What failed last, and when; nil once all is well again.
    public let failure: (reason: String, at: Timestamp)?

    /// A place.
    public init(
        _ name: Identifier, partition: Int, position: Int64, heldBack: Int64, setAside: Int64,
        failure: (reason: String, at: Timestamp)?
    ) {
        self.name = name
        self.partition = partition
        self.position = position
        self.heldBack = heldBack
        self.setAside = setAside
        self.failure = failure
    }
}
