internal import Domain
internal import EventLog

/// Commands that wait until the changes of an outlet are durable, because they are to be decided on the outlet as it is
/// then; behind each of them what came later for the same cart, and what came later for the outlet itself. So everybody
/// has their turn, however often the outlet changes.
struct HeldCommands {
    typealias Held = (entry: StreamEntry, command: PendingCommand)

    /// In the order in which they came.
    private var queues: [Identifier: [Held]] = [:]

    var isEmpty: Bool { queues.isEmpty }

    /// The outlets that something waits for, in an order that is the same in every run.
    var outlets: [Identifier] { queues.keys.sorted() }

    /// The outlet behind whose queue a new command on a stream has to wait.
    func outlet(before entry: StreamEntry) -> Identifier? {
        guard !isEmpty else { return nil }
        return entry.heldBy ?? (entry.name.isOfOutlet && queues[entry.name.id] != nil ? entry.name.id : nil)
    }

    mutating func append(_ command: PendingCommand, on entry: StreamEntry, for outlet: Identifier) {
        entry.heldBy = outlet
        queues[outlet, default: []].append((entry, command))
    }

    /// Everything that waits for an outlet, which no longer does.
    mutating func take(_ outlet: Identifier) -> [Held] {
        let taken = queues.removeValue(forKey: outlet) ?? []
        for (entry, _) in taken { entry.heldBy = nil }
        return taken
    }

    /// The commands of a stream, which no longer wait.
    mutating func take(of entry: StreamEntry) -> [PendingCommand] {
        guard let outlet = entry.heldBy, let queue = queues[outlet] else { return [] }
        entry.heldBy = nil
        let rest = queue.filter { $0.entry !== entry }
        queues[outlet] = rest.isEmpty ? nil : rest
        return queue.filter { $0.entry === entry }.map(\.command)
    }
}

extension StreamName {
    /// Whether it is an outlet or its menu, which commands on carts are decided on.
    var isOfOutlet: Bool { category == .outlet || category == .menu }
}
