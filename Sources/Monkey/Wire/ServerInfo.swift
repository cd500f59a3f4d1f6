/// What the server tells of itself in `INFO`.
struct ServerInfo: Sendable {
    private let values: [String: String]

    init(_ text: String) {
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { values[String(parts[0])] = String(parts[1]) }
        }
        self.values = values
    }

    subscript(key: String) -> String? { values[key] }

    /// A number, or one of those in `name=number,name=number`.
    private func number(_ key: String, _ name: String? = nil) -> Double? {
        guard let value = values[key] else { return nil }
        guard let name else { return Double(value) }
        return value.split(separator: ",").first { $0.hasPrefix("\(name)=") }
            .flatMap { Double($0.dropFirst(name.count + 1)) }
    }

    /// Processor time that the server has taken, in microseconds.
    var processorMicroseconds: Int64? {
        guard let user = number("used_cpu_user"), let system = number("used_cpu_sys") else { return nil }
        return Int64((user + system) * 1_000_000)
    }

    var residentBytes: Int64? { number("used_memory_rss").map { Int64($0) } }
    var peakBytes: Int64? { number("used_memory_peak").map { Int64($0) } }

    /// Of all partitions together.
    private func sum(_ suffix: String, _ name: String? = nil) -> Double {
        var (sum, partition) = (0.0, 0)
        while let value = number("partition\(partition)_\(suffix)", name) {
            sum += value
            partition += 1
        }
        return sum
    }

    var batches: Int { Int(sum("batches")) }
    var events: Int { Int(sum("batch_events", "sum")) }
    var commitMicroseconds: Double { sum("commit_usec", "sum") }
    /// Events that the read models have not folded yet.
    var unfoldedEvents: Int { Int(sum("lag", "unfolded_events")) }
}
