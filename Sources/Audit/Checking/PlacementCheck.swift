internal import EventLog

/// Checks that the partitions are those that the streams were divided among.
///
/// A stream's partition follows from its name and the number of partitions, which is the number of rows in
/// `log_head`. Adding or removing a row sends every server to other partitions.
struct PlacementCheck {
    /// The most partitions that a log can be given.
    private static let maximumPartitions = 256
    /// Fewer streams than this may fit another number of partitions by chance.
    private static let tellingCount = 8

    /// The number of partitions according to `log_head`.
    let partitionCount: Int
    private var rowFindings = Findings()
    private var streams: [(stream: StreamName, partition: Int)] = []

    /// - Parameters:
    ///   - partitions: those that have a row in `log_head`.
    ///   - used: those that have events or batches.
    init(_ partitions: [Int], withEvents used: [Int]) {
        partitionCount = max(partitions.count, 1)
        if partitions.isEmpty { found(0, "has no rows") }
        for partition in partitions where !(0..<partitions.count).contains(partition) {
            found(partition, "has \(partitions.count.counted("row")) and one of partition \(partition)")
        }
        for partition in used where !partitions.contains(partition) {
            found(partition, "has no row of partition \(partition), which has events or batches")
        }
    }

    private mutating func found(_ partition: Int, _ message: String) {
        rowFindings.add(
            Finding(.tampering, partition: partition, position: nil, subject: "log_head", message))
    }

    /// Adds streams that were found in a partition.
    mutating func add(_ sample: [StreamName], in partition: Int) { streams += sample.map { ($0, partition) } }

    /// What is wrong with the log as a whole.
    var findings: Findings {
        var check = self
        if let count = actualCount, count != partitionCount {
            check.found(
                0,
                "has \(partitionCount.counted("row")), and the streams lie as in a log of "
                    + "\(count.counted("partition")): rows were added or removed")
        }
        return check.rowFindings
    }

    /// The number of partitions that the streams were divided among: the stored one if all streams fit it, else the
    /// first one that they all fit; nil if there is none, or there are too few streams to tell.
    private var actualCount: Int? {
        guard streams.count >= PlacementCheck.tellingCount else { return nil }
        return ([partitionCount] + Array(1...PlacementCheck.maximumPartitions)).first { count in
            let partitioning = Partitioning(count: count)
            return streams.allSatisfy { partitioning.partition(of: $0.stream) == $0.partition }
        }
    }
}
