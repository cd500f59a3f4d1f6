internal import Domain
internal import EventLog

/// Commands that wait for another stream: for the changes of an outlet to be durable, because they are to be decided on
/// the outlet as it is then, or for a stream that they write to be loaded. Behind each of them waits what came later for
/// the same stream, and what came later for the outlet itself. So everybody has their turn, however often the outlet
/// changes.
struct HeldCommands {
    typealias Held = (entry: StreamEntry, command: PendingCommand)

    /// In the order in which they came.
    private var queues: [StreamName: [Held]] = [:]

    var isEmpty: Bool { queues.isEmpty }

    /// What something waits for, in an order that is the same in every run.
    var awaited: [StreamName] { queues.keys.sorted { $0.description < $1.description } }

    /// What a new command on a stream has to wait for, behind others.
    func awaited(before entry: StreamEntry) -> StreamName? {
        guard !isEmpty else { return nil }
        if let awaited = entry.heldBy { return awaited }
        let outlet = StreamName(.outlet, entry.name.id)
        return entry.name.isOfOutlet && queues[outlet] != nil ? outlet : nil
    }

    mutating func append(_ command: PendingCommand, on entry: StreamEntry, for stream: StreamName) {
        entry.heldBy = stream
        queues[stream, default: []].append((entry, command))
    }

    /// Everything that waits for a stream, which no longer does.
    mutating func take(_ stream: StreamName) -> [Held] {
        let taken = queues.removeValue(forKey: stream) ?? []
        for (entry, _) in taken { entry.heldBy = nil }
        return taken
    }

    /// The commands of a stream, which no longer wait.
    mutating func take(of entry: StreamEntry) -> [PendingCommand] {
        guard let awaited = entry.heldBy, let queue = queues[awaited] else { return [] }
        entry.heldBy = nil
        let rest = queue.filter { $0.entry !== entry }
        queues[awaited] = rest.isEmpty ? nil : rest
        return queue.filter { $0.entry === entry }.map(\.command)
    }
}

extension StreamName {
    /// Whether it is an outlet, its menu or its promotions, which commands on carts are decided on.
    var isOfOutlet: Bool { category == .outlet || category == .menu || category == .promotions }
}
