/// Positions at which a damaged log has no event, although it has later ones: somebody has removed it.
package struct MissingEvents: Equatable, Sendable, CustomStringConvertible {
    /// The partition of the log.
    package var partition: Int
    /// Every position of the hole.
    package var positions: ClosedRange<Int64>

    /// A hole in a partition.
    package init(partition: Int, positions: ClosedRange<Int64>) {
        self.partition = partition
        self.positions = positions
    }

    /// What is missing, for an operator.
    package var description: String {
        let place =
            positions.count == 1
            ? "position \(positions.lowerBound)" : "positions \(positions.lowerBound) to \(positions.upperBound)"
        return "the log has no event at \(place) of partition \(partition)"
    }
}
