internal import Domain
internal import EventLog

/// What is decided and not durable yet: the batch that fills, and behind it those in flight.
struct BatchQueue {
    /// A stream that a command writes beside its own.
    struct Write {
        var entry: StreamEntry
        /// The stream's version after the command.
        var version: Int64
    }

    /// A command that writes the next `count` events of a ``Writing``.
    struct Unit {
        var command: PendingCommand
        /// The stream of the command.
        var entry: StreamEntry
        var others: [Write]
        var count: Int
        /// The number of the group that its events have in a batch.
        var group: Int32 = 0

        /// The streams that it writes, its own first.
        var entries: [StreamEntry] { [entry] + others.map(\.entry) }

        func writes(anyOf streams: Set<ObjectIdentifier>) -> Bool {
            streams.contains(ObjectIdentifier(entry))
                || others.contains { streams.contains(ObjectIdentifier($0.entry)) }
        }
    }

    /// What is to be appended: units, and the events of all of them in the same order.
    struct Writing {
        var units: [Unit] = []
        /// The events as the log gets them, and as projections do.
        var newEvents: [NewEvent] = []
        var events: [DomainEvent] = []

        /// Takes the first units, with their events.
        fileprivate mutating func take(_ unitCount: Int, _ eventCount: Int) -> Writing {
            guard unitCount < units.count else {
                defer { self = Writing() }
                return self
            }
            let taken = Writing(
                units: Array(units.prefix(unitCount)), newEvents: Array(newEvents.prefix(eventCount)),
                events: Array(events.prefix(eventCount)))
            units.removeFirst(unitCount)
            newEvents.removeFirst(eventCount)
            events.removeFirst(eventCount)
            return taken
        }

        fileprivate static func += (writing: inout Writing, next: Writing) {
            writing.units += next.units
            writing.newEvents += next.newEvents
            writing.events += next.events
        }

        /// Drops the units that are not to be kept, with their events.
        mutating func keep(where isKept: (Unit) -> Bool) {
            var kept = Writing()
            var first = 0
            for unit in units {
                let range = first..<first + unit.count
                first = range.upperBound
                guard isKept(unit) else { continue }
                kept.units.append(unit)
                kept.newEvents += newEvents[range]
                kept.events += events[range]
            }
            self = kept
        }
    }

    private(set) var filling = Writing()
    /// Batches whose outcome is not known yet, oldest first.
    private var inFlight: [(writing: Writing, recordedAt: Timestamp)] = []
    private var encoder = EventEncoder()
    /// The number of the last batch that was taken.
    private var number = 0

    var inFlightCount: Int { inFlight.count }

    // MARK: Filling

    /// Adds an event to the batch that fills; ``close(_:of:beside:since:)`` must follow.
    mutating func fill(_ event: DomainEvent, _ stream: StreamName, version: Int64, _ metadata: [UInt8]) {
        let (kind, payload) = encoder.encode(event)
        filling.events.append(event)
        filling.newEvents.append(
            NewEvent(stream: stream, version: version, kind: kind, payload: payload, metadata: metadata))
    }

    /// Makes everything that was filled in since there were `count` events the work of one command.
    mutating func close(_ command: PendingCommand, of entry: StreamEntry, beside others: [Write], since count: Int) {
        filling.units.append(
            Unit(command: command, entry: entry, others: others, count: filling.events.count - count))
    }

    /// Drops from the batch that fills all units that write any of these streams. They may write others, too: returns
    /// those, which have lost what they were to write.
    mutating func drop(_ streams: [StreamEntry]) -> [StreamEntry] {
        var dropped = Set(streams.map(ObjectIdentifier.init))
        var others: [StreamEntry] = []
        var found = -1
        while found != others.count {
            found = others.count
            for unit in filling.units where !unit.others.isEmpty && unit.writes(anyOf: dropped) {
                others += unit.entries.filter { dropped.insert(ObjectIdentifier($0)).inserted }
            }
        }
        filling.keep { !$0.writes(anyOf: dropped) }
        return others
    }

    mutating func dropAll() { filling = Writing() }

    // MARK: Batches

    /// The next batch: as many units as fit, at least one.
    mutating func take(partition: Int, atMost maximum: Int, now: Timestamp) -> EventBatch? {
        guard !filling.units.isEmpty else { return nil }
        number += 1
        var groups = Groups()
        var taken = 0
        var eventCount = 0
        while taken < filling.units.count {
            let unit = filling.units[taken]
            guard taken == 0 || eventCount + unit.count <= maximum else { break }
            filling.units[taken].group = group(of: unit, in: &groups)
            eventCount += unit.count
            taken += 1
        }
        var writing = filling.take(taken, eventCount)
        var groupOfEvents: [Int32] = []
        groupOfEvents.reserveCapacity(eventCount)
        var readings: [EventBatch.Reading] = []
        for index in writing.units.indices {
            let unit = writing.units[index]
            let group = groups.united(unit.group)
            writing.units[index].group = group
            for _ in 0..<unit.count { groupOfEvents.append(group) }
            guard let outlet = unit.command.outlet else { continue }
            for category in [.outlet, .menu] as [StreamName.Category] where category != unit.entry.name.category {
                readings.append(EventBatch.Reading(StreamName(category, outlet), by: group))
            }
            if unit.command.restsOnPromotions {
                readings.append(EventBatch.Reading(StreamName(.promotions, outlet), by: group))
            }
        }
        inFlight.append((writing, now))
        return EventBatch(
            partition: partition, events: writing.newEvents, groups: groupOfEvents, readings: readings,
            recordedAt: now)
    }

    /// The group of a unit, which is that of everything in the batch that writes one of its streams.
    private func group(of unit: Unit, in groups: inout Groups) -> Int32 {
        let group = group(of: unit.entry, in: &groups)
        for write in unit.others { groups.unite(self.group(of: write.entry, in: &groups), with: group) }
        return group
    }

    private func group(of entry: StreamEntry, in groups: inout Groups) -> Int32 {
        if entry.group.batch != number { entry.group = (number, groups.add()) }
        return entry.group.number
    }

    /// Takes back the newest batches in flight: their units go into the next batch.
    mutating func takeBack(_ count: Int) {
        var writing = Writing()
        for taken in inFlight.suffix(count) { writing += taken.writing }
        inFlight.removeLast(count)
        writing += filling
        filling = writing
    }

    /// The oldest batch in flight, whose outcome is known.
    mutating func takeOldest() -> (writing: Writing, recordedAt: Timestamp) {
        precondition(!inFlight.isEmpty, "no batch is in flight")
        return inFlight.removeFirst()
    }
}

/// The groups of a batch. One command that writes two streams makes their groups one.
private struct Groups {
    /// For each group an earlier one that it is united with, or itself.
    private var parents: [Int32] = []

    mutating func add() -> Int32 {
        parents.append(Int32(parents.count))
        return Int32(parents.count - 1)
    }

    mutating func unite(_ group: Int32, with other: Int32) {
        let (group, other) = (united(group), united(other))
        parents[Int(max(group, other))] = min(group, other)
    }

    /// The earliest group that a group is united with.
    func united(_ group: Int32) -> Int32 {
        var group = group
        while parents[Int(group)] != group { group = parents[Int(group)] }
        return group
    }
}
