internal import EventLog

/// Streams by the time at which something of them is due: a binary heap.
struct EarliestFirst {
    private var entries: [(time: Int64, stream: StreamName)] = []

    var count: Int { entries.count }

    /// The earliest time; nil if there is none.
    var first: Int64? { entries.first?.time }

    mutating func insert(_ stream: StreamName, at time: Int64) {
        entries.append((time, stream))
        var child = entries.count - 1
        while child > 0, entries[child].time < entries[(child - 1) / 2].time {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the stream that is due first. There must be one.
    mutating func removeFirst() -> StreamName {
        entries.swapAt(0, entries.count - 1)
        let stream = entries.removeLast().stream
        var parent = 0
        while true {
            let children = (2 * parent + 1)..<min(2 * parent + 3, max(entries.count, 2 * parent + 1))
            guard let least = children.min(by: { entries[$0].time < entries[$1].time }),
                entries[least].time < entries[parent].time
            else { return stream }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
