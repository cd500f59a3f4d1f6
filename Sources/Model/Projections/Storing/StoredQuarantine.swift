public import EventLog

/// Quarantined streams as they are stored, and whether the log justifies them: a derived row never overrules the log.
/// Believing a stored row without that check would refuse a stream that nothing is wrong with.
public struct StoredQuarantine: Sendable {
    /// The most streams that are checked. With more, folding the log again is no slower.
    private static let maximumStreams = 100
    /// The most events of one stream that are checked.
    private static let maximumEvents = 10_000

    /// The streams, each with the projection that does not show it.
    public private(set) var entries: [(projection: RegisteredProjection, event: CorruptEvent)] = []

    /// No streams.
    public init() {}

    /// Adds what is stored for a projection.
    public mutating func add(_ events: [CorruptEvent], of projection: RegisteredProjection) {
        entries += events.map { (projection, $0) }
    }

    /// Why these cannot be what follows from the log at a position; nil if they can.
    ///
    /// - Parameter read: returns the events of a stream, in order, and at most as many as it is given.
    public func fault(
        upTo position: Int64, read: (StreamName, Int) async throws -> [RecordedEvent]
    ) async throws -> String? {
        guard entries.count <= StoredQuarantine.maximumStreams else {
            return "\(entries.count) quarantined streams are too many to check one by one"
        }
        for (projection, stored) in entries {
            guard let stream = StreamName(stored.stream) else {
                let name = String(reflecting: "\(stored.stream.prefix(100))")
                return "the quarantine of \(projection) names \(name), which is not a stream"
            }
            let events = try await read(stream, StoredQuarantine.maximumEvents).filter { $0.position <= position }
            let found = projection.corruption(
                of: stream, in: events.map { event in Result { () throws(CorruptEvent) in try event.decoded() } })
            guard found?.position == stored.position else {
                let right = found.map { "log damages it at \($0.position)" } ?? "log says nothing against it"
                return "the quarantine of \(projection) names stream '\(stream)' at position \(stored.position), and "
                    + "the \(right)"
            }
        }
        return nil
    }
}
