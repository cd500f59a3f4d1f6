public import Domain
public import EventLog

/// The history of what an outlet has counted.
public struct SupplyHistory: Sendable {
    private let outlet: Identifier
    private let partition: Int
    private var reading = StreamReader()
    private let state: Supply.State

    /// A history.
    ///
    /// - Parameter events: every event of the stream.
    public init(_ outlet: Identifier, _ events: [RecordedEvent]) {
        self.outlet = outlet
        partition = events.first?.partition ?? 0
        var state = Supply.initial
        for event in events {
            reading.take(event) { event in
                guard case .supply(let change) = event.event else { throw ImpossibleEvent("no event of a supply") }
                try Supply.evolve(&state, change)
                return change.words
            }
        }
        self.state = state
    }

    /// The history as lines of text.
    ///
    /// - Parameter last: the number of events shown, counted from the end.
    public func text(last: Int) -> [String] {
        let count = reading.lines.count.counted("event")
        return ["supply of outlet \(outlet): \(count) in partition \(partition) of the log"]
            + reading.lines.text(last: last) + [""] + present
    }

    private var present: [String] {
        if let version = reading.damagedSince { return ["now: CORRUPT, damaged since v\(version)"] }
        return ["now: version \(reading.version), \(state.left.count.counted("thing")) counted"]
            + state.left.sorted { $0.key < $1.key }.map { key, left in "  \(key): \(left) left" }
    }
}

extension Supply.Event {
    fileprivate var words: String {
        switch self {
        case .stocked(let key, let left): left.map { "\(key): \($0) left" } ?? "\(key) is not counted any more"
        case .held(let claims, let order, _): "order \(order) holds \(claims.words)"
        case .refused(let refusal, let order, _): "order \(order) gets nothing, \(refusal.words)"
        case .returned(let claims, let order): "order \(order) has given back \(claims.words)"
        }
    }
}

extension [Claim] {
    /// `2 of item 'pie', 1 of option 'cheese'`.
    var words: String { map { "\($0.count) of \($0.key)" }.joined(separator: ", ") }
}

extension Supply.Refusal {
    /// `SOLDOUT: item 'pie' is sold out`.
    var words: String { "\(code.rawValue): \(text)" }
}
