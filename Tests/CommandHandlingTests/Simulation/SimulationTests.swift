import CommandHandling
import Domain
import EventLog
import Projections
import Testing

@Suite("Simulation of several servers on a log that fails")
struct SimulationTests {
    @Test(arguments: 0..<100 as Range<UInt64>)
    func `every answer agrees with the log, and every process with every other`(seed: UInt64) throws {
        // In every other run older copies of the log take its place.
        let simulation = Simulation(seed: seed, mayFork: seed % 2 == 1)
        try #require(simulation.run(), "it comes to rest")
        let log = simulation.network.log
        let lost = try log.lostLogs.map { History(try $0.map { try $0.decoded() }) }
        simulation.judge(by: History(try log.events.map { try $0.decoded() }), lost)
    }

    @Test func `every kind of fault occurs`() {
        var met: Set<SimulatedNetwork.Fault> = []
        for seed: UInt64 in 0..<60 {
            let simulation = Simulation(seed: seed, mayFork: seed % 2 == 1)
            _ = simulation.run()
            met.formUnion(simulation.network.faults.keys)
        }
        #expect(Set(SimulatedNetwork.Fault.allCases).subtracting(met) == [])
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

    /// What an outlet sells.
    private struct Sale {
        var isRegistered = false
        var isOpen = false
        var listed: Int64?

        var isSelling: Bool { isOpen || !isRegistered }
        /// What everything costs, in minor units.
        var price: Int64 { isRegistered ? listed ?? 250 : 250 }
    }

    let events: [DecodedEvent]
    private(set) var streams: [StreamName: Stream] = [:]

    /// The events that a call made.
    func events(of call: Call) -> [DecodedEvent] {
        events.filter { event in
            guard event.stream == call.stream else { return false }
            return call.id == nil ? call.isMarked(on: event) : event.metadata == call.metadata
        }
    }

    init(_ events: [DecodedEvent]) {
        self.events = events
        var sales: [Identifier: Sale] = [:]
        var outlets: [Identifier: Identifier] = [:]
        func check(_ lines: [CartLine], of outlet: Identifier, _ event: DecodedEvent) {
            let sale = sales[outlet] ?? Sale()
            #expect(sale.isSelling, "\(event.stream) was decided on an outlet that had closed before")
            for line in lines { #expect(line.unitPrice.minorUnits == sale.price, "\(event.stream), an old price") }
        }
        for (index, event) in events.enumerated() {
            #expect(event.position == Int64(index) + 1)
            var stream = streams[event.stream] ?? Stream()
            stream.version += 1
            #expect(event.version == stream.version)
            switch event.event {
            case .cart(.itemAdded(let line, let outlet, _, _)):
                stream.lines[line.id, default: 0] += line.quantity
                outlets[event.stream.id] = outlet
                check([line], of: outlet, event)
            case .cart(.quantityChanged(let line, _, let quantity)): stream.lines[line] = quantity
            case .cart(.lineRemoved(let line, _)): stream.lines[line] = nil
            case .cart(.cleared): stream.lines = [:]
            case .cart(.lineEdited(let line, let to, _)):
                stream.lines[line] = nil
                stream.lines[to.id] = to.quantity
            case .cart(.tipSet), .cart(.serviceChosen), .cart(.codeAdded), .cart(.codeRemoved), .cart(.checkoutBegun),
                .cart(.checkoutRefused):
                break
            case .cart(.checkedOut(let order, let lines, _, _, _, _, _)):
                stream.order = order
                #expect(Dictionary(uniqueKeysWithValues: lines.map { ($0.id, $0.quantity) }) == stream.lines)
                if let outlet = outlets[event.stream.id] { check(lines, of: outlet, event) }
                let before = index > 0 ? events[index - 1] : nil
                #expect(before?.stream == StreamName(.order, order), "the order comes directly before its cart")
                #expect(before?.metadata == event.metadata)
            case .outlet(.registered): sales[event.stream.id, default: Sale()].isRegistered = true
            case .outlet(.opened): sales[event.stream.id, default: Sale()].isOpen = true
            case .outlet(.closed): sales[event.stream.id, default: Sale()].isOpen = false
            case .menu(.itemAdded(let item, _, _)), .menu(.itemChanged(let item)):
                if item.id == "item-0", let price = item.price {
                    sales[event.stream.id, default: Sale()].listed = price.minorUnits
                }
            case .menu(.itemRepriced("item-0", let price)):
                sales[event.stream.id, default: Sale()].listed = price.minorUnits
            case .outlet, .menu, .order, .supply, .promotions, .deed: break
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
    /// - Parameter lost: the logs that older copies replaced. What was answered on one of them held there.
    func judge(by history: History, _ lost: [History]) {
        var attributed = history.events.count { $0.stream.category == .order }
        for call in calls {
            attributed += history.events(of: call).count
            judge(call, [history] + lost)
        }
        for call in calls {
            attributed += history.events.count {
                $0.stream == call.stream && $0.metadata == Simulation.mismatch(of: call)
            }
        }
        for call in mismatches where call.isAccepted {
            #expect(lost.contains { !$0.events(of: call).isEmpty }, "an ID was accepted twice")
        }
        #expect(attributed == history.events.count, "every event belongs to a call")
        judgeModels(by: history)
        for (name, stream) in history.streams {
            for state in committedStates(of: name) {
                #expect(state.version == stream.version, "\(name)")
                if case .cart(let cart) = state.state { #expect(cart.count == stream.count, "\(name)") }
            }
        }
    }

    /// - Parameter histories: that of the log, and those of logs that were lost.
    private func judge(_ call: Call, _ histories: [History]) {
        let comment: Comment = "call \(call.number) on \(call.stream): \(call.outcomes)"
        var replies = call.outcomes.compactMap { if case .accepted(let reply) = $0 { reply } else { nil } }
        for (index, history) in histories.enumerated() {
            let stream = history.streams[call.stream] ?? History.Stream()
            let events = history.events(of: call)
            guard let first = events.first, let last = events.last else {
                // Nothing changed then.
                if call.mayChangeNothing {
                    replies.removeAll { (stream.replies + [.count(0), .version(0)]).contains($0) }
                }
                continue
            }
            #expect(last.version - first.version == Int64(events.count) - 1, "applied once: \(comment)")
            #expect(events.count == 1 || call.stream.category == .menu, "applied once: \(comment)")
            if let expected = call.expectedVersion { #expect(first.version == expected + 1, comment) }
            if index == 0, replies.isEmpty, !call.isAccepted {
                #expect(call.id == nil && call.outcomes.contains(where: \.isUnknown), "denied, and done: \(comment)")
            }
            replies.removeAll { $0 == stream.replies[Int(last.version) - 1] }
        }
        #expect(replies.isEmpty, "no log explains these: \(replies), \(comment)")
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
