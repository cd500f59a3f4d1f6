public import Domain
public import EventLog

/// Why a stream cannot be read.
public enum ReadFailure: Error, Equatable, Sendable {
    /// The stream is quarantined.
    case corrupt(CorruptEvent)
    /// The log cannot be reached.
    case unavailable(String)
}

/// Decides the commands of one partition, and puts their events together into batches.
///
/// A plain object without I/O: it asks for batches to be appended (``takeBatch(now:)``) and streams to be
/// loaded (``takeLoads()``), and is told what became of that. One batch is on its way at a time, and the next one
/// fills meanwhile. Questions see committed state only.
public final class CommandProcessor {
    /// Bounds of a processor.
    public struct Limits: Sendable {
        /// The most streams held in memory.
        public var streams = 200_000
        /// The most commands that may wait for a batch or a load.
        public var waitingCommands = 100_000
        /// The most events of a batch.
        public var batchEvents = 1_000
        /// How often a command is decided again because another writer was faster.
        public var conflicts = 10

        /// The defaults.
        public init() {}
    }

    private struct Unit {
        var entry: StreamEntry
        var command: PendingCommand
        var newEvents: [NewEvent]
        var events: [(stream: StreamName, event: DomainEvent)]
    }

    private let partition: Int
    private let limits: Limits
    private let mayExist: (StreamName) -> Bool
    private var cache: StreamCache
    private var filling: [Unit] = []
    private var inFlight: (batch: EventBatch, units: [Unit])?
    private var loads: [StreamName] = []
    private var batchNumber = 0
    private var waitingCommands = 0

    /// - Parameter mayExist: whether the log may hold the stream as of the position up to which the partition has
    ///   been read. Saying no saves a look into the log for every new cart.
    public init(partition: Int, limits: Limits = Limits(), mayExist: @escaping (StreamName) -> Bool) {
        self.partition = partition
        self.limits = limits
        self.mayExist = mayExist
        cache = StreamCache(capacity: limits.streams)
    }

    // MARK: Commands and questions

    /// Decides a command as soon as its stream is known. The completion is called once, when the outcome is
    /// durable, and not before this method returns unless nothing had to be written.
    public func handle(_ request: CommandRequest, completion: @escaping (CommandOutcome) -> Void) {
        guard waitingCommands < limits.waitingCommands else { return completion(.busy) }
        waitingCommands += 1
        let entry = entry(of: request.stream)
        let command = PendingCommand(request, completion)
        if entry.waiting != nil { entry.waiting!.append(command) } else { decide(command, on: entry) }
    }

    /// Gives the committed state of a stream, at once where it is known.
    public func read(_ stream: StreamName, completion: @escaping (Result<CommittedState, ReadFailure>) -> Void) {
        let entry = entry(of: stream)
        if entry.waiting != nil { return entry.readers.append(completion) }
        completion(entry.corruption.map { .failure(.corrupt($0)) } ?? .success(entry.committed))
    }

    private func entry(of stream: StreamName) -> StreamEntry {
        if let entry = cache[stream] { return entry }
        let entry = StreamEntry(stream)
        cache.insert(entry)
        if mayExist(stream) {
            entry.waiting = []
            loads.append(stream)
        }
        return entry
    }

    // MARK: Deciding

    private func decide(_ command: PendingCommand, on entry: StreamEntry) {
        command.restsOn = entry.pendingVersion
        if let corruption = entry.corruption {
            command.outcome = .corrupt(corruption)
        } else {
            do throws(Rejection) {
                command.outcome = .accepted(try accept(command, on: entry))
            } catch {
                command.outcome = .rejected(error)
            }
        }
        // What rests on committed state alone can be told at once; the rest waits for it to become durable.
        if command.restsOn <= entry.committed.version { finish(command) } else { entry.undurable.append(command) }
    }

    private func accept(_ command: PendingCommand, on entry: StreamEntry) throws(Rejection) -> CommandReply {
        let request = command.request
        if let known = try entry.reply(to: request.metadata) { return known }
        if let expected = request.expectedVersion, expected != entry.pendingVersion {
            throw Rejection(.conflict, "the version is \(entry.pendingVersion), not \(expected)")
        }
        var events: [DomainEvent]
        switch (request.command(entry.pending, entry.pendingVersion), entry.pending) {
        case (.outlet(let command), .outlet(let state)):
            events = try Outlet.decide(command, in: state).map(DomainEvent.outlet)
        case (.menu(let command), .menu(let state)):
            events = try Menu.decide(command, in: state).map(DomainEvent.menu)
        case (.cart(let command), .cart(let state)):
            events = try Cart.decide(command, in: state).map(DomainEvent.cart)
        case (.outlet, _), (.menu, _), (.cart, _):
            preconditionFailure("a command for another kind of stream")
        }
        guard events.count <= EventBatch.maximumEvents else {
            throw Rejection(.limit, "the change makes more than \(EventBatch.maximumEvents) events")
        }
        if !events.isEmpty { append(events, of: command, to: entry) }
        return CommandReply(after: entry.pending, version: entry.pendingVersion)
    }

    private func append(_ events: [DomainEvent], of command: PendingCommand, to entry: StreamEntry) {
        let metadata = command.request.metadata.encoded()
        var unit = Unit(entry: entry, command: command, newEvents: [], events: [])
        func add(_ event: DomainEvent, to stream: StreamName, version: Int64) {
            let (kind, payload) = EventCodec.encode(event)
            unit.events.append((stream, event))
            unit.newEvents.append(
                NewEvent(stream: stream, version: version, kind: kind, payload: payload, metadata: metadata))
        }
        for event in events {
            if let (order, placed) = CommandProcessor.order(placedBy: event, from: entry) {
                add(.order(placed), to: order, version: 1)
            }
            do throws(ImpossibleEvent) {
                try entry.pending.evolve(event)
            } catch {
                preconditionFailure("decided an event that cannot happen: \(error)")
            }
            entry.pendingVersion += 1
            add(event, to: entry.name, version: entry.pendingVersion)
        }
        filling.append(unit)
        command.restsOn = entry.pendingVersion
        entry.remember(command.request.metadata, CommandReply(after: entry.pending, version: entry.pendingVersion))
    }

    /// The order that a checkout places. Its id is of this cart and version, so its stream is new.
    private static func order(placedBy event: DomainEvent, from entry: StreamEntry) -> (StreamName, Order.Event)? {
        guard case .cart(.checkedOut(let order, let lines, let total)) = event,
            case .cart(.filled(let contents)) = entry.pending
        else { return nil }
        let placement = Order.Placement(
            cart: entry.name.id, outlet: contents.outlet, currency: contents.currency, lines: lines, total: total)
        return (StreamName(.order, order), .placed(placement))
    }

    private func finish(_ command: PendingCommand) {
        waitingCommands -= 1
        command.completion(command.outcome)
    }

    // MARK: Batches

    /// Whether a batch can be taken.
    public var hasBatch: Bool { inFlight == nil && !filling.isEmpty }

    /// The next batch to be appended. Its fate must be told before another one is taken.
    public func takeBatch(now: Timestamp) -> EventBatch? {
        guard hasBatch else { return nil }
        batchNumber += 1
        var events: [NewEvent] = []
        var groups: [Int32] = []
        var next: Int32 = 0
        var taken = 0
        for unit in filling {
            guard taken == 0 || events.count + unit.newEvents.count <= limits.batchEvents else { break }
            if unit.entry.group.batch != batchNumber {
                unit.entry.group = (batchNumber, next)
                next += 1
            }
            events += unit.newEvents
            groups += repeatElement(unit.entry.group.number, count: unit.newEvents.count)
            taken += 1
        }
        let batch = EventBatch(partition: partition, events: events, groups: groups, recordedAt: now)
        inFlight = (batch, Array(filling.prefix(taken)))
        filling.removeFirst(taken)
        return batch
    }

    /// The batch on its way has been appended, but for its conflicts.
    ///
    /// - Parameter foreign: what other writers appended before it since the last position told of.
    /// - Parameter project: is given the batch's events, before anybody hears of them.
    public func committed(
        _ receipt: AppendReceipt, foreign: [Result<DecodedEvent, CorruptEvent>], project: ([DecodedEvent]) -> Void
    ) {
        guard let (batch, units) = inFlight else { preconditionFailure("no batch is on its way") }
        inFlight = nil
        var again: [(StreamEntry, [PendingCommand])] = []
        if !receipt.conflicts.isEmpty {
            for unit in units where receipt.conflicts.contains(unit.entry.group.number) {
                withdraw(unit.entry, to: &again)
            }
        }
        absorb(foreign, again: &again)

        var position = receipt.previousPosition
        var recorded: [DecodedEvent] = []
        recorded.reserveCapacity(batch.events.count)
        let accepted = units.filter { !receipt.conflicts.contains($0.entry.group.number) }
        for unit in accepted {
            for (event, new) in zip(unit.events, unit.newEvents) {
                position += 1
                recorded.append(
                    DecodedEvent(
                        partition: partition, position: position, stream: event.stream, version: new.version,
                        event: event.event, metadata: unit.command.request.metadata, recordedAt: batch.recordedAt))
            }
            commit(unit, at: batch.recordedAt)
        }
        project(recorded)
        for unit in accepted { finishDurable(unit.entry) }
        for (entry, commands) in again { decide(commands, on: entry) }
    }

    /// Makes one unit's events part of the committed state.
    private func commit(_ unit: Unit, at time: Timestamp) {
        let entry = unit.entry
        if unit.command.restsOn == entry.pendingVersion {
            entry.committed.state = entry.pending
        } else {
            for event in unit.events where event.stream == entry.name {
                do throws(ImpossibleEvent) {
                    try entry.committed.state.evolve(event.event)
                } catch {
                    preconditionFailure("an event could happen when decided, and not when committed: \(error)")
                }
            }
        }
        entry.committed.version = unit.command.restsOn
        entry.committed.updatedAt = time
    }

    private func finishDurable(_ entry: StreamEntry) {
        let durable = entry.undurable.prefix { $0.restsOn <= entry.committed.version }
        guard !durable.isEmpty else { return }
        entry.undurable.removeFirst(durable.count)
        for command in durable { finish(command) }
    }

    /// Nothing of the batch on its way was appended, or nobody knows. What rests on it falls with it.
    public func failed(_ outcome: CommandOutcome) {
        guard let (_, units) = inFlight else { preconditionFailure("no batch is on its way") }
        inFlight = nil
        var withdrawn: [(StreamEntry, [PendingCommand])] = []
        for unit in units { withdraw(unit.entry, to: &withdrawn) }
        for (entry, commands) in withdrawn {
            if case .unknown = outcome { reload(entry) }
            for command in commands {
                command.outcome = outcome
                finish(command)
            }
        }
    }

    // MARK: Other writers

    /// Takes in what other writers appended. No batch may be on its way.
    public func absorb(_ events: [Result<DecodedEvent, CorruptEvent>]) {
        precondition(inFlight == nil)
        var again: [(StreamEntry, [PendingCommand])] = []
        absorb(events, again: &again)
        for (entry, commands) in again { decide(commands, on: entry) }
    }

    private func absorb(
        _ events: [Result<DecodedEvent, CorruptEvent>], again: inout [(StreamEntry, [PendingCommand])]
    ) {
        for event in events {
            switch event {
            case .success(let event):
                // A stream being loaded is read from the log as it stands after this event.
                guard let entry = cache[event.stream], entry.waiting == nil,
                    event.version > entry.committed.version
                else { continue }
                if !entry.undurable.isEmpty { withdraw(entry, to: &again) }
                entry.absorb(event)
            case .failure(let corruption):
                guard let name = StreamName(corruption.stream), let entry = cache[name] else { continue }
                if !entry.undurable.isEmpty { withdraw(entry, to: &again) }
                entry.corruption = entry.corruption ?? corruption
            }
        }
    }

    /// Takes back what is decided on a stream and not durable.
    private func withdraw(_ entry: StreamEntry, to list: inout [(StreamEntry, [PendingCommand])]) {
        guard !entry.undurable.isEmpty else { return }
        filling.removeAll { $0.entry === entry }
        for command in entry.undurable { entry.forget(command.request.metadata) }
        list.append((entry, entry.undurable))
        entry.undurable = []
        entry.forgetPending()
    }

    private func decide(_ commands: [PendingCommand], on entry: StreamEntry) {
        for command in commands {
            command.conflicts += 1
            if command.conflicts > limits.conflicts {
                command.outcome = .busy
                finish(command)
            } else if entry.waiting != nil {
                entry.waiting!.append(command)
            } else {
                decide(command, on: entry)
            }
        }
    }

    // MARK: Loading

    /// The streams to be loaded from the log.
    public func takeLoads() -> [StreamName] {
        defer { loads.removeAll(keepingCapacity: true) }
        return loads
    }

    /// Some events of a stream that is being loaded, in order; the last ones where `isComplete`.
    public func loaded(
        _ stream: StreamName, _ events: [Result<DecodedEvent, CorruptEvent>], isComplete: Bool
    ) {
        guard let entry = cache[stream], entry.waiting != nil else { return }
        for event in events {
            switch event {
            case .success(let event): entry.absorb(event)
            case .failure(let corruption): entry.corruption = entry.corruption ?? corruption
            }
        }
        guard isComplete, let waiting = entry.waiting else { return }
        entry.waiting = nil
        for command in waiting { decide(command, on: entry) }
        answerReaders(of: entry) {
            entry.corruption.map { .failure(.corrupt($0)) } ?? .success(entry.committed)
        }
    }

    /// A stream could not be loaded; it is tried again when somebody wants it again.
    public func loadFailed(_ stream: StreamName, _ reason: String) {
        guard let entry = cache[stream], let waiting = entry.waiting else { return }
        entry.waiting = []
        for command in waiting {
            command.outcome = .unavailable(reason)
            finish(command)
        }
        answerReaders(of: entry) { .failure(.unavailable(reason)) }
        if entry.waiting?.isEmpty ?? false { cache.remove(entry) }
    }

    private func answerReaders(of entry: StreamEntry, _ answer: () -> Result<CommittedState, ReadFailure>) {
        let readers = entry.readers
        entry.readers = []
        for reader in readers { reader(answer()) }
    }

    private func reload(_ entry: StreamEntry) {
        entry.waiting = []
        loads.append(entry.name)
    }
}
