public import Domain
internal import EventLog
internal import Projections

extension Identifier: ExpressibleByStringLiteral {
    /// The identifier as a literal.
    public init(stringLiteral text: String) {
        self.init(text)!
    }
}

extension Amount: ExpressibleByIntegerLiteral {
    /// Minor units as a literal.
    public init(integerLiteral minorUnits: Int64) {
        self.init(minorUnits: minorUnits)
    }
}

extension Timestamp: ExpressibleByIntegerLiteral {
    /// Milliseconds since the epoch as a literal.
    public init(integerLiteral milliseconds: Int64) {
        self.init(millisecondsSinceEpoch: milliseconds)
    }
}

extension ReadModel {
    /// Folds events of streams whose versions follow from one another.
    init(_ events: [(StreamName, DomainEvent)]) {
        self.init(partition: 0)
        var versions: [StreamName: Int64] = [:]
        for (index, (stream, event)) in events.enumerated() {
            versions[stream, default: 0] += 1
            apply([
                .success(
                    DecodedEvent(
                        partition: 0, position: Int64(index) + 1, stream: stream, version: versions[stream]!,
                        event: event, metadata: .none, recordedAt: 0))
            ])
        }
    }
}

/// What a read model saves: all its rows, as if none had been saved before.
struct Rows: Equatable {
    var homes: [Identifier: OutletHomeRow] = [:]
    var counts: [Identifier: Int32] = [:]
    var digests = ReadModel.Digests()

    init(of model: ReadModel) {
        var model = model
        var checkpoint = model.takeCheckpoint(since: ReadModel.Digests())
        while let slice = checkpoint.nextSlice() { add(slice, to: &homes, &counts) }
        digests = checkpoint.digests
    }
}

func add(
    _ slice: Checkpoint.Slice, to homes: inout [Identifier: OutletHomeRow], _ counts: inout [Identifier: Int32]
) {
    switch slice {
    case .outletHome(let rows): for row in rows { homes[row.outlet] = row }
    case .cartCounts(let rows): for row in rows { counts[row.cart] = row.count }
    }
}
