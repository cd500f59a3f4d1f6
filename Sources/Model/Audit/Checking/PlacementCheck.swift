internal import EventLog

/// Checks that the partitions are those that the streams were divided among.
///
/// A stream's partition follows from its name, the number of partitions, and the log's rule. If somebody changes these,
/// every server looks for streams in other partitions.
struct PlacementCheck {
    /// The most partitions that a log can be given.
    private static let maximumPartitions = 256
    /// Fewer streams than this may fit another number of partitions by chance.
    private static let tellingCount = 8

    /// The partitions that the log says it has.
    let partitioning: Partitioning
    private var rowFindings = Findings()
    private var streams: [(stream: StreamName, partition: Int)] = []

    /// - Parameters:
    ///   - stored: the partitions that the log says it has; nil if it does not say.
    ///   - heads: the partitions that have a row in `log_head`.
    ///   - used: those that have events or batches.
    init(_ stored: Partitioning?, heads: [Int], withEvents used: [Int]) {
        partitioning = stored ?? Partitioning(count: max(heads.count, 1))
        if stored == nil { found(0, "partition_count", "has no row") }
        let partitions = 0..<partitioning.count
        for partition in Set(partitions).subtracting(heads).sorted() {
            found(partition, "log_head", "has no row of partition \(partition)")
        }
        let ofHowMany = "of \(partitioning.count.counted("partition"))"
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
        if let actual, actual != partitioning {
            let isByOtherRule = actual.rule != partitioning.rule
            let (stored, found) =
                isByOtherRule ? (" by \(partitioning.rule.name)", " by \(actual.rule.name)") : ("", "")
            check.found(
                0, "partition_count",
                "is \(partitioning.count)\(stored), and the streams lie as in a log of "
                    + "\(actual.count.counted("partition"))\(found)")
        }
        return check.rowFindings
    }

    /// The partitions that the streams were divided among: the stored ones if all streams fit them, else the first that
    /// they all fit; nil if there are none, or there are too few streams to tell.
    private var actual: Partitioning? {
        guard streams.count >= PlacementCheck.tellingCount else { return nil }
        let counts = 1...PlacementCheck.maximumPartitions
        let rules = [partitioning.rule] + Partitioning.Rule.allCases.filter { $0 != partitioning.rule }
        let others = rules.lazy.flatMap { rule in counts.lazy.map { Partitioning(count: $0, by: rule) } }
        return ([partitioning] + others).first { partitioning in
            streams.allSatisfy { partitioning.partition(of: $0.stream) == $0.partition }
        }
    }
}

extension Partitioning.Rule {
    /// As people call it.
    fileprivate var name: String {
        switch self {
        case .sha256: "SHA-256"
        case .slots: "slots"
        }
    }
}
