internal import Domain
public import EventLog

/// The history of what was done beside the log: to a customer, a user or a relay.
public struct DeedHistory: Sendable {
    private let stream: StreamName
    private let partition: Int
    private var reading = StreamReader()

    /// A history.
    ///
    /// - Parameter events: every event of the stream.
    public init(_ stream: StreamName, _ events: [RecordedEvent]) {
        self.stream = stream
        partition = events.first?.partition ?? 0
        for event in events {
            reading.take(event) { event in
                guard case .deed(let deed) = event.event else { throw ImpossibleEvent("no deed") }
                return DeedHistory.words(for: deed)
            }
        }
    }

    /// The history as lines of text.
    ///
    /// - Parameter last: the number of events shown, counted from the end.
    public func text(last: Int) -> [String] {
        let count = reading.lines.count.counted("event")
        return ["\(stream.category) \(stream.id): \(count) in partition \(partition) of the log"]
            + reading.lines.text(last: last)
    }

    private static func words(for deed: Deed.Event) -> String {
        switch deed {
        case .customerForgotten: "forgotten"
        case .userPut(let user): "\(user.words); changed: \(user.change)"
        case .userRemoved: "removed"
        case .relayPut: "made"
        case .relayMoved(let partition, let position):
            "moved to go on behind position \(position) of partition \(partition)"
        case .relaySkipped(let partition, let position, let reason): "skipped event \(partition)-\(position): \(reason)"
        }
    }
}
