internal import EventLog

/// Checks that the partitions are those that the streams were divided among.
///
/// A stream's partition follows from its name and the number of partitions. If somebody changes that number, every server
/// looks for streams in other partitions.
struct PlacementCheck {
    /// The most partitions that a log can be given.
    private static let maximumPartitions = 256
    /// Fewer streams than this may fit another number of partitions by chance.
    private static let tellingCount = 8

    /// The number of partitions that the log says it has.
    let partitionCount: Int
    private var rowFindings = Findings()
    private var streams: [(stream: StreamName, partition: Int)] = []

    /// - Parameters:
    ///   - count: the number of partitions that the log says it has; nil if it does not say.
    ///   - heads: the partitions that have a row in `log_head`.
    ///   - used: those that have events or batches.
    init(count: Int?, heads: [Int], withEvents used: [Int]) {
        partitionCount = max(count ?? heads.count, 1)
        if count == nil { found(0, "partition_count", "has no row") }
        let partitions = 0..<partitionCount
        for partition in Set(partitions).subtracting(heads).sorted() {
            found(partition, "log_head", "has no row of partition \(partition)")
        }
        let ofHowMany = "of \(partitionCount.counted("partition"))"
        for partition in heads where !partitions.contains(partition) {
            found(partition, "log_head", "has a row of partition \(partition), in a log \(ofHowMany)")
        }
        for partition in used where !partitions.contains(partition) {
            found(partition, "batches", "has rows of partition \(partition), in a log \(ofHowMany)")
        }
    }

    private mutating func found(_ partition: Int, _ subject: String, _ message: String) {
        rowFindings.add(Finding(.tampering, partition: partition, position: nil, subject: subject, message))
    }

    /// Adds streams that were found in a partition.
    mutating func add(_ sample: [StreamName], in partition: Int) { streams += sample.map { ($0, partition) } }

    /// What is wrong with the log as a whole.
    var findings: Findings {
        var check = self
        if let count = actualCount, count != partitionCount {
            check.found(
                0, "partition_count",
                "is \(partitionCount), and the streams lie as in a log of \(count.counted("partition"))")
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
