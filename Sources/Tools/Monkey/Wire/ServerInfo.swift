/// A server process. Its id alone does not tell it from an earlier one: in a container both may have the same.
struct ServerProcess: Sendable {
    /// Its start is known to the second, and the time of the reply less exactly.
    private static let tolerance = 1.5

    var id: String
    /// When it began, in seconds of the monkey's clock.
    var start: Double

    func isSame(as other: ServerProcess) -> Bool {
        id == other.id && abs(start - other.start) < ServerProcess.tolerance
    }
}

/// What the server reports about itself in `INFO`.
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

    /// Processor time that the server has used, in microseconds.
    var processorMicroseconds: Int64? {
        guard let user = number("used_cpu_user"), let system = number("used_cpu_sys") else { return nil }
        return Int64((user + system) * 1_000_000)
    }

    /// The process that reported it.
    ///
    /// - Parameter now: when it was read, in nanoseconds.
    func process(now: UInt64) -> ServerProcess {
        ServerProcess(id: values["process_id"] ?? "", start: Double(now) / 1e9 - (number("uptime_in_seconds") ?? 0))
    }

    var residentBytes: Int64? { number("used_memory_rss").map { Int64($0) } }
    var peakBytes: Int64? { number("used_memory_peak").map { Int64($0) } }

    /// The sum over all partitions.
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
