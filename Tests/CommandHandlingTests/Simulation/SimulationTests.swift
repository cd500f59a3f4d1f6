import CommandHandling
import Domain
import EventLog
import Projections
import Testing

@Suite("Simulation of several servers on a log that fails")
struct SimulationTests {
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `every answer agrees with the log, and every process with every other`(seed: UInt64) throws {
        let simulation = Simulation(seed: seed)
        try #require(simulation.run(), "it comes to rest")
        let events = try simulation.network.log.events.map { try $0.decoded() }
        simulation.judge(by: History(events))
    }

    @Test func `every kind of fault occurs`() {
        var met: Set<SimulatedNetwork.Fault> = []
        for seed: UInt64 in 0..<20 {
            let simulation = Simulation(seed: seed)
            _ = simulation.run()
            met.formUnion(simulation.network.faults.keys)
        }
        #expect(met == Set(SimulatedNetwork.Fault.allCases))
    }
}

/// The state after a log, folded without any code under test except the event types.
struct History {
    struct Stream {
        var version: Int64 = 0
        var lines: [Text: Int] = [:]
        var order: Identifier?
        /// The replies of commands that end at each version.
        var replies: [CommandReply] = []

        var count: Int { lines.values.reduce(0, +) }
    }

    let events: [DecodedEvent]
    private(set) var streams: [StreamName: Stream] = [:]

    init(_ events: [DecodedEvent]) {
        self.events = events
        for (index, event) in events.enumerated() {
            #expect(event.position == Int64(index) + 1)
            var stream = streams[event.stream] ?? Stream()
            stream.version += 1
            #expect(event.version == stream.version)
            switch event.event {
            case .cart(.itemAdded(let line, _, _, _)): stream.lines[line.id, default: 0] += line.quantity
            case .cart(.quantityChanged(let line, _, let quantity)): stream.lines[line] = quantity
            case .cart(.lineRemoved(let line, _)): stream.lines[line] = nil
            case .cart(.cleared): stream.lines = [:]
            case .cart(.checkedOut(let order, let lines, _, _, _)):
                stream.order = order
                #expect(Dictionary(uniqueKeysWithValues: lines.map { ($0.id, $0.quantity) }) == stream.lines)
                let before = index > 0 ? events[index - 1] : nil
                #expect(before?.stream == StreamName(.order, order), "the order comes directly before its cart")
                #expect(before?.metadata == event.metadata)
            case .outlet, .menu, .order: break
            }
            let reply: CommandReply =
                if event.stream.category != .cart {
                    .version(stream.version)
                } else if let order = stream.order {
                    .order(order)
                } else {
                    .count(stream.count)
                }
            stream.replies.append(reply)
            streams[event.stream] = stream
        }
    }
}

extension Simulation {
    func judge(by history: History) {
        var attributed = history.events.count { $0.stream.category == .order }
        for call in calls {
            let own = history.events.filter { event in
                guard event.stream == call.stream else { return false }
                return call.id == nil ? call.isMarked(on: event) : event.metadata == call.metadata
            }
            attributed += own.count
            judge(call, own, history.streams[call.stream] ?? History.Stream())
        }
        #expect(attributed == history.events.count, "every event belongs to a call")
        for call in mismatches {
            #expect(!call.isAccepted, "an ID was accepted twice")
        }
        judgeModels(by: history)
        for (name, stream) in history.streams {
            for state in committedStates(of: name) {
                #expect(state.version == stream.version, "\(name)")
                if case .cart(let cart) = state.state { #expect(cart.count == stream.count, "\(name)") }
            }
        }
    }

    private func judge(_ call: Call, _ events: [DecodedEvent], _ stream: History.Stream) {
        let comment: Comment = "call \(call.number) on \(call.stream): \(call.outcomes)"
        let replies = call.outcomes.compactMap { if case .accepted(let reply) = $0 { reply } else { nil } }
        guard let first = events.first, let last = events.last else {
            #expect(replies.isEmpty || call.mayChangeNothing, comment)
            let possible = stream.replies + [.count(0), .version(0)]
            #expect(replies.allSatisfy(possible.contains), comment)
            return
        }
        #expect(last.version - first.version == Int64(events.count) - 1, "applied once: \(comment)")
        #expect(events.count == 1 || call.stream.category == .menu, "applied once: \(comment)")
        if let expected = call.expectedVersion { #expect(first.version == expected + 1, comment) }
        #expect(replies.allSatisfy { $0 == stream.replies[Int(last.version) - 1] }, comment)
        if replies.isEmpty {
            #expect(call.id == nil && call.outcomes.contains(where: \.isUnknown), "denied, and done: \(comment)")
        }
    }

    private func judgeModels(by history: History) {
        var fresh = ReadModel(partition: 0)
        fresh.apply(history.events.map(Result.success))
        for (name, stream) in history.streams where name.category == .cart {
            #expect(fresh.cartCounts.count(of: name.id) == (stream.order == nil ? stream.count : 0))
        }
        for model in models {
            #expect(model.position == fresh.position)
            #expect(Rows(of: model) == Rows(of: fresh))
        }
    }
}

/// Everything that a read model would save.
private struct Rows: Equatable {
    /// By projection and key.
    var rows: [String: String] = [:]
    var digests: ReadModel.Digests

    init(of model: ReadModel) {
        var model = model
        var checkpoint = model.takeCheckpoint(since: ReadModel.Digests())
        while let slice = checkpoint.nextSlice() {
            for row in slice.rows { rows["\(slice.projection) \(row.key)"] = "\(row)" }
        }
        digests = checkpoint.digests
    }
}
