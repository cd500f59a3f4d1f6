/// Positions at which a damaged log has no event, although it has later ones: somebody has removed it.
public struct MissingEvents: Equatable, Sendable, CustomStringConvertible {
    /// The partition of the log.
    public var partition: Int
    /// Every position of the hole.
    public var positions: ClosedRange<Int64>

    /// A hole in a partition.
    public init(partition: Int, positions: ClosedRange<Int64>) {
        self.partition = partition
        self.positions = positions
    }

    /// What is missing, for an operator.
    public var description: String {
        let place =
            positions.count == 1
            ? "position \(positions.lowerBound)" : "positions \(positions.lowerBound) to \(positions.upperBound)"
        return "the log has no event at \(place) of partition \(partition)"
    }
}
