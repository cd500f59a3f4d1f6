import Domain
import EventLog
import EventLoop
import JSONText

/// The two numbers of a cart's document.
enum CartReader {
    static func read(_ document: [UInt8]) -> (version: Int64, count: Int64)? {
        guard let cart = try? JSONValue(document), case .number(let version)? = cart["version"],
            case .number(let count)? = cart["count"], let version = Int64(version), let count = Int64(count)
        else { return nil }
        return (version, count)
    }
}

/// Compares what clients were told with the log, and with the logs that older copies have replaced.
@LoopActor
struct Judge {
    /// A log, folded by nothing that is tested but the types of events.
    @LoopActor
    private struct History {
        struct Step {
            var position: Int64
            /// The reply of the command: a cart's count, or the version.
            var reply: Int64
            var id: String?
        }
        /// The events of each stream; that of version 1 first.
        var streams: [String: [Step]] = [:]

        init(_ events: [RecordedEvent], _ world: World) throws {
            for (index, recorded) in events.enumerated() {
                let event = try recorded.decoded()
                let steps = streams[recorded.stream] ?? []
                if event.position != Int64(index) + 1 { world.violation("position \(event.position) at \(index)") }
                if event.version != Int64(steps.count) + 1 {
                    world.violation("\(recorded.stream) has version \(event.version) after \(steps.count)")
                }
                let reply: Int64 =
                    switch event.event {
                    case .cart(.itemAdded(let line, _, _, _)): (steps.last?.reply ?? 0) + Int64(line.quantity)
                    case .cart: 0
                    default: event.version
                    }
                let step = Step(position: event.position, reply: reply, id: event.metadata.commandID?.string)
                streams[recorded.stream] = steps + [step]
            }
        }
    }

    private let world: World
    private let histories: [History]
    private var hasForked: Bool { histories.count > 1 }

    /// - Parameter lost: the logs that others have replaced. What was answered on one of them held there.
    init(_ world: World, _ events: [RecordedEvent], _ lost: [[RecordedEvent]]) throws {
        self.world = world
        histories = try ([events] + lost).map { try History($0, world) }
    }

    func judge() {
        var ids: Set<String> = []
        for client in world.clients {
            for write in client.writes {
                ids.insert(write.id)
                judge(write)
            }
            for observations in client.observations { judge(observations) }
        }
        for (name, steps) in histories[0].streams {
            for step in steps where step.id.map({ !ids.contains($0) }) ?? (step.position > world.filled) {
                world.violation("nobody asked for version \(step.position) of \(name)")
            }
        }
    }

    private func judge(_ write: Write) {
        var explained: Set<Int64> = []
        var isInLog = false
        for (index, history) in histories.enumerated() {
            let steps = history.streams[write.stream] ?? []
            let own = steps.filter { $0.id == write.id }
            if own.count > 1 { world.violation("\(write.id) was applied \(own.count) times") }
            explained.formUnion(own.map(\.reply))
            // What changed nothing answers as things were, and is decided again if it is sent again.
            if write.mayChangeNothing { explained.formUnion(steps.map(\.reply) + [0]) }
            if index == 0 { isInLog = !own.isEmpty }
            if !own.isEmpty, !write.wasAllowed { world.violation("\(write.id) was done, and was never allowed") }
        }
        if let reply = write.replies.first(where: { !explained.contains($0) }) {
            world.violation("\(write.id) on \(write.stream) was answered \(reply), which the log does not explain")
        }
        if isInLog, write.replies.isEmpty, !write.errors.isEmpty, !write.errors.contains("UNKNOWN"), !write.isInDoubt,
            !write.wasLost
        {
            world.violation("\(write.id) was refused with \(write.errors), and done")
        }
    }

    /// What one connection saw: each cart goes on from where it was, and only to what the log had.
    private func judge(_ observations: [Client.Observation]) {
        var seen: [String: Int] = [:]
        for observation in observations {
            let cart = observation.cart
            let floor = hasForked ? 0 : seen[cart] ?? 0
            let versions = histories.flatMap { history in
                var counts: [(version: Int, count: Int64, id: String?)] = [(0, 0, nil)]
                for (index, step) in (history.streams["cart-\(cart)"] ?? []).enumerated()
                where hasForked || step.position <= observation.head {
                    counts.append((index + 1, step.reply, step.id))
                }
                return counts
            }
            switch observation.what {
            case .wrote(let write):
                // What changed nothing when it was answered may have been done later.
                guard !write.mayChangeNothing else { continue }
                guard let version = versions.first(where: { $0.id == write.id })?.version else {
                    world.violation("\(write.id) was answered before it was in the log")
                    continue
                }
                seen[cart] = max(floor, version)
            case .count(let count):
                guard let version = versions.first(where: { $0.version >= floor && $0.count == count })?.version else {
                    world.violation("\(cart) had \(count) items for one who had seen version \(floor)")
                    continue
                }
                seen[cart] = version
            case .cart(let version, let count):
                guard versions.contains(where: { $0.version == version && $0.count == count && version >= floor })
                else {
                    world.violation("\(cart) read as version \(version) with \(count), after version \(floor)")
                    continue
                }
                seen[cart] = Int(version)
            }
        }
    }
}
