import SeededRandom
import Testing

@testable import Integrations

/// A receiver that refuses some events, and a relay of one partition that does as ``Relay`` does, and may forget all but
/// what is kept.
private struct SimulatedRelay {
    private let streams: [String]
    private var patience: [Int64: Int]
    private let limit: Int?
    private let bounds: HeldBack.Bounds
    private var held: HeldBack
    private var cursor: Int64 = 0
    private var stuck: HeldBack.Delivery?
    private var now: Int64 = 0
    private var rows: [Int64: HeldBack.Delivery] = [:]
    private(set) var setAside: Set<Int64> = []
    private(set) var posted: [Int64] = []
    private(set) var taken: [Int64] = []
    private(set) var mostHeld = 0

    /// - Parameter patience: how often each event is refused before it is taken.
    init(_ streams: [String], refusing patience: [Int64: Int], limit: Int?, bounds: HeldBack.Bounds) {
        self.streams = streams
        self.patience = patience
        self.limit = limit
        self.bounds = bounds
        held = HeldBack(HeldBack.Patience(refusals: limit), bounds: bounds)
    }

    var isDone: Bool { cursor == streams.count && held.count == 0 }

    /// Does what comes next, after some time.
    mutating func step(after milliseconds: Int64, pause: Int64) {
        now += milliseconds
        if let due = held.due(at: now) {
            let isTaken = post(due.position)
            var delivery = due
            if isTaken {
                held.taken(delivery)
                rows[due.position] = nil
            } else {
                delivery.failed(isRefused: true, at: now, wait: UInt64(pause))
                let givesUp = held.failed(delivery)
                rows[due.position] = givesUp ? nil : delivery
                if givesUp { setAside.insert(due.position) }
            }
        }
        mostHeld = max(mostHeld, held.count)
        guard cursor < streams.count else { return }
        let stream = streams[Int(cursor)]
        var delivery = stuck ?? HeldBack.Delivery(position: cursor + 1, stream: stream, mark: "")
        switch held.step(for: stream) {
        case .wait: return
        case .hold:
            held.hold(delivery)
            rows[delivery.position] = delivery
        case .post:
            guard delivery.due <= now else { return }
            stuck = nil
            if !post(delivery.position) {
                delivery.failed(isRefused: true, at: now, wait: UInt64(pause))
                switch held.refused(delivery) {
                case .held: rows[delivery.position] = delivery
                case .setAside: setAside.insert(delivery.position)
                case .noRoom:
                    stuck = delivery
                    return
                }
            }
        }
        cursor += 1
    }

    /// As if it were killed and started again: only what is kept is known.
    mutating func restart() {
        held = HeldBack(HeldBack.Patience(refusals: limit), bounds: bounds)
        stuck = nil
        held.replace(rows.values.sorted { $0.position < $1.position }, setAside: setAside.count)
    }

    private mutating func post(_ position: Int64) -> Bool {
        posted.append(position)
        let rest = patience[position] ?? 0
        patience[position] = rest - 1
        if rest <= 0 { taken.append(position) }
        return rest <= 0
    }
}

@Suite struct HeldBackTests {
    @Test(arguments: SeededGenerator.seeds) func `each stream comes in its order, and nothing is lost`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let streams = (0..<200).map { _ in "order-\(Int.random(in: 0..<12, using: &random))" }
        var patience: [Int64: Int] = [:]
        for position in 1...200 where random.chance(20) {
            patience[Int64(position)] = random.pick([1, 2, 5, 9])
        }
        let limit = random.pick([nil, 3, 6])
        let bounds = HeldBack.Bounds(streams: random.pick([1, 4, 100]), events: random.pick([1, 10, 1_000]))
        var relay = SimulatedRelay(streams, refusing: patience, limit: limit, bounds: bounds)
        var steps = 0
        while !relay.isDone, steps < 20_000 {
            relay.step(after: Int64.random(in: 0...5, using: &random), pause: Int64.random(in: 1...50, using: &random))
            if random.chance(3) { relay.restart() }
            steps += 1
        }
        #expect(relay.isDone)
        #expect(relay.mostHeld <= bounds.events)
        #expect(Set(relay.taken).union(relay.setAside) == Set(1...200))
        #expect(Set(relay.taken).isDisjoint(with: relay.setAside))
        #expect(limit != nil || relay.setAside.isEmpty)
        for stream in Set(streams) {
            let positions = relay.taken.filter { streams[Int($0) - 1] == stream }
            #expect(positions == positions.sorted())
        }
        // None is posted while an earlier one of its stream is neither taken nor set aside.
        var last: [String: Int64] = [:]
        for position in relay.posted {
            #expect(last.updateValue(position, forKey: streams[Int(position) - 1]) ?? 0 <= position)
        }
    }

    @Test func `an event that is refused holds back its stream alone`() {
        var relay = SimulatedRelay(
            ["a", "b", "a", "c", "b", "a"], refusing: [1: 1], limit: nil, bounds: HeldBack.Bounds())
        for _ in 0..<6 { relay.step(after: 0, pause: 10) }
        #expect(relay.taken == [2, 4, 5])
        for _ in 0..<3 { relay.step(after: 10, pause: 10) }
        #expect(relay.taken == [2, 4, 5, 1, 3, 6])
    }

    @Test func `an event that is given up lets its stream go on`() {
        var relay = SimulatedRelay(
            ["a", "b", "a"], refusing: [1: 100], limit: 2, bounds: HeldBack.Bounds())
        for _ in 0..<5 { relay.step(after: 10, pause: 10) }
        #expect(relay.taken == [2, 3])
        #expect(relay.setAside == [1])
    }

    @Test func `a receiver that takes nothing any more does not empty the log`() {
        let bounds = HeldBack.Bounds(streams: 2, events: 3, setAside: 4)
        var relay = SimulatedRelay(
            (0..<20).map { "order-\($0)" }, refusing: Dictionary(uniqueKeysWithValues: (1...20).map { ($0, 10_000) }),
            limit: 1, bounds: bounds)
        for _ in 0..<500 { relay.step(after: 10, pause: 10) }
        #expect(relay.setAside == [1, 2, 3, 4])
        #expect(relay.taken.isEmpty && relay.mostHeld == 2)
    }

    @Test func `an event is given up that is refused for too long, and not while nobody is there`() {
        var held = HeldBack(HeldBack.Patience(time: 100))
        var delivery = HeldBack.Delivery(position: 1, stream: "a", mark: "")
        delivery.failed(isRefused: false, at: 0, wait: 10)
        delivery.failed(isRefused: true, at: 1_000, wait: 10)
        let first = held.refused(delivery)
        #expect(first == .held)
        delivery.failed(isRefused: true, at: 1_099, wait: 10)
        var isGivenUp = held.failed(delivery)
        #expect(!isGivenUp)
        delivery.failed(isRefused: false, at: 2_000, wait: 10)
        isGivenUp = held.failed(delivery)
        #expect(!isGivenUp)
        delivery.failed(isRefused: true, at: 2_001, wait: 10)
        isGivenUp = held.failed(delivery)
        #expect(isGivenUp)
        #expect(held.count == 0 && held.setAside == 1)
    }
}
