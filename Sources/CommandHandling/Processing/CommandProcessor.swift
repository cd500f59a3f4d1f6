public import Domain
public import EventLog

/// Why a stream cannot be read.
public enum ReadFailure: Error, Equatable, Sendable {
    /// The stream is quarantined.
    case corrupt(CorruptEvent)
    /// The log cannot be reached.
    case unavailable(String)
    /// Too much is waiting.
    case busy
}

/// Decides the commands of one partition, and collects their events in batches.
///
/// A plain object without I/O: it asks for batches to be appended (``takeBatch(now:)``) and streams to be loaded
/// (``takeLoads()``), and is told the results. While one batch is in flight, the next one fills. Questions see
/// committed state only.
///
/// A completion must not call back into the processor, whose state is incomplete at that moment.
public final class CommandProcessor {
    /// Bounds of a processor.
    public struct Limits: Sendable {
        /// The most streams held in memory, not counting menus.
        public var streams = 200_000
        /// The most menus held for writing.
        public var menus = 200
        /// The most commands and questions that may wait for a batch or a load.
        public var waitingCommands = 100_000
        /// The most events of a batch.
        public var batchEvents = 1_000
        /// How often a command is decided again because another writer was faster.
        public var conflicts = 10

        /// The defaults.
        public init() {}
    }

    /// A stream, and those of its commands that are to be decided again, or given up.
    private typealias Withdrawn = (entry: StreamEntry, commands: [PendingCommand])

    /// What one command writes.
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
    /// Batches whose outcome is not known yet, oldest first.
    private var inFlight: [(batch: EventBatch, units: [Unit])] = []
    private var loads: [StreamName] = []
    private var batchNumber = 0
    /// How many commands and questions wait for a batch or a load.
    public private(set) var waitingCommands = 0

    #if DEBUG
        /// Chooses what goes wrong with each command of a cart that makes events.
        public var recordingFault: (Cart.Command) -> RecordingFault? = { _ in nil }
    #endif

    /// - Parameter mayExist: whether the log may hold the stream as of the position up to which the partition has
    ///   been read. A no saves a look-up in the log for every new cart.
    public init(partition: Int, limits: Limits = Limits(), mayExist: @escaping (StreamName) -> Bool) {
        self.partition = partition
        self.limits = limits
        self.mayExist = mayExist
        cache = StreamCache(capacity: limits.streams, menus: limits.menus)
    }

    // MARK: Commands and questions

    /// Decides a command as soon as its stream is known. The completion is called once, when the outcome is durable;
    /// before this method returns only if nothing had to be written.
    public func handle(_ request: CommandRequest, completion: @escaping (CommandOutcome) -> Void) {
        guard waitingCommands < limits.waitingCommands else { return completion(.busy) }
        waitingCommands += 1
        let entry = entry(of: request.stream)
        let command = PendingCommand(request, completion)
        decideOrLoad(command, on: entry)
    }

    /// Gives the committed state of a stream, at once if it is known.
    public func read(_ stream: StreamName, completion: @escaping (Result<CommittedState, ReadFailure>) -> Void) {
        guard waitingCommands < limits.waitingCommands || cache[stream]?.isKnown ?? false else {
            return completion(.failure(.busy))
        }
        let entry = entry(of: stream)
        loadIfAssumedNew(entry)
        guard let load = entry.load else { return completion(CommandProcessor.answer(about: entry)) }
        waitingCommands += 1
        load.readers.append(completion)
    }

    private static func answer(about entry: StreamEntry) -> Result<CommittedState, ReadFailure> {
        entry.corruption.map { .failure(.corrupt($0)) } ?? .success(entry.committed)
    }

    /// The stream. If it is not known, a load is under way.
    private func entry(of stream: StreamName) -> StreamEntry {
        let entry = cache[stream] ?? insert(stream)
        startLoad(of: entry)
        return entry
    }

    private func startLoad(of entry: StreamEntry) {
        guard !entry.isKnown, entry.load == nil else { return }
        entry.load = StreamLoad()
        loads.append(entry.name)
    }

    /// Loads a stream that is assumed to be new, unless an append is about to check that.
    private func loadIfAssumedNew(_ entry: StreamEntry) {
        guard entry.isAssumedNew, entry.undurable == nil else { return }
        entry.forget()
        startLoad(of: entry)
    }

    private func decideOrLoad(_ command: PendingCommand, on entry: StreamEntry) {
        startLoad(of: entry)
        if let load = entry.load { load.commands.append(command) } else { decide(command, on: entry) }
    }

    private func insert(_ stream: StreamName) -> StreamEntry {
        let entry = StreamEntry(stream, isKnown: !mayExist(stream))
        cache.insert(entry)
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
        loadIfAssumedNew(entry)
        if let load = entry.load { return load.commands.append(command) }
        // An outcome that depends on committed state alone is given at once; any other waits until that state is
        // durable.
        if command.restsOn <= entry.committed.version {
            finish(command)
        } else {
            entry.goingAhead().commands.append(command)
        }
    }

    private func accept(_ command: PendingCommand, on entry: StreamEntry) throws(Rejection) -> CommandReply {
        let request = command.request
        if let known = try entry.reply(to: request.metadata) { return known }
        if let expected = request.expectedVersion, expected != entry.pendingVersion {
            throw Rejection(.conflict, "the version is \(entry.pendingVersion), not \(expected)")
        }
        let wanted = request.command(entry.pending, entry.pendingVersion)
        let events: [DomainEvent]
        switch (wanted, entry.pending) {
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
        #if DEBUG
            if case .cart(let wanted) = wanted, !events.isEmpty, let fault = recordingFault(wanted),
                let wrong = CommandProcessor.recording(events, fault, on: entry)
            {
                if !wrong.events.isEmpty { append(wrong.events, of: command, to: entry) }
                return wrong.reply
            }
        #endif
        if !events.isEmpty { append(events, of: command, to: entry) }
        return CommandReply(after: entry.pending, version: entry.pendingVersion)
    }

    private func append(_ events: [DomainEvent], of command: PendingCommand, to entry: StreamEntry) {
        let metadata = command.request.metadata.encoded()
        let ahead = entry.goingAhead()
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
                try ahead.state.evolve(event)
            } catch {
                preconditionFailure("decided an event that cannot happen: \(error)")
            }
            ahead.version += 1
            add(event, to: entry.name, version: ahead.version)
        }
        filling.append(unit)
        command.restsOn = ahead.version
        entry.remember(
            command.request.metadata, CommandReply(after: ahead.state, version: ahead.version), ahead.version)
    }

    /// The order that a checkout places. Its id comes from this cart and version, so its stream is new.
    private static func order(placedBy event: DomainEvent, from entry: StreamEntry) -> (StreamName, Order.Event)? {
        guard case .cart(.checkedOut(let order, let lines, let total, let customer, let name)) = event,
            case .cart(.filled(let contents)) = entry.pending
        else { return nil }
        let placement = Order.Placement(
            cart: entry.name.id, outlet: contents.outlet, currency: contents.currency, lines: lines, total: total,
            customer: customer, name: name)
        return (StreamName(.order, order), .placed(placement))
    }

    private func finish(_ command: PendingCommand) {
        waitingCommands -= 1
        command.completion(command.outcome)
    }

    // MARK: Batches

    /// Whether there are events to take as a batch.
    public var hasBatch: Bool { !filling.isEmpty }

    /// The next batch to be appended.
    ///
    /// The outcome of the batch before must be reported first, with one exception: a batch that was appended without
    /// a conflict, and without anything from other writers before it, leaves nothing to decide again. Then the next
    /// batch may be in flight while that outcome is reported.
    public func takeBatch(now: Timestamp) -> EventBatch? {
        precondition(inFlight.count < 2, "the outcome of the batch before the last was never reported")
        guard !filling.isEmpty else { return nil }
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
        inFlight.append((batch, Array(filling.prefix(taken))))
        filling.removeFirst(taken)
        return batch
    }

    /// The batch in flight has been appended, except for its conflicts.
    ///
    /// - Parameter foreign: what other writers appended before it, after the last reported position.
    /// - Parameter project: receives the batch's events before anybody hears of them.
    public func committed(
        _ receipt: AppendReceipt, foreign: [Result<DecodedEvent, CorruptEvent>], project: ([DecodedEvent]) -> Void
    ) {
        precondition(inFlight.count == 1 || (receipt.conflicts.isEmpty && foreign.isEmpty), "see takeBatch")
        let (batch, units) = takeInFlight()
        var again: [Withdrawn] = []
        let accepted = units.filter { unit in
            let isAccepted = !receipt.conflicts.contains(unit.entry.group.number)
            if !isAccepted { withdraw(unit.entry, to: &again) }
            return isAccepted
        }
        for event in foreign { absorb(event, again: &again) }
        dropFilling(of: again)

        var position = receipt.previousPosition
        var recorded: [DecodedEvent] = []
        recorded.reserveCapacity(batch.events.count)
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
        for stream in receipt.stale { cache[stream]?.forget() }
        // An order's stream may be in memory because somebody asked for it before it was placed.
        for event in recorded where event.stream.category == .order { absorb(.success(event), again: &again) }
        project(recorded)
        for unit in accepted { finishDurable(unit.entry) }
        decide(again)
    }

    private func takeInFlight() -> (batch: EventBatch, units: [Unit]) {
        precondition(!inFlight.isEmpty, "no batch is in flight")
        return inFlight.removeFirst()
    }

    /// Makes the events of one command part of the committed state.
    private func commit(_ unit: Unit, at time: Timestamp) {
        let entry = unit.entry
        if let ahead = entry.undurable, ahead.version == unit.command.restsOn {
            entry.committed.state = ahead.state
        } else {
            for event in unit.events where event.stream == entry.name {
                do throws(ImpossibleEvent) {
                    try entry.committed.state.evolve(event.event)
                } catch {
                    preconditionFailure("an event could happen when decided, and not when committed: \(error)")
                }
            }
        }
        entry.isAssumedNew = false
        entry.committed.version = unit.command.restsOn
        entry.committed.updatedAt = time
    }

    private func finishDurable(_ entry: StreamEntry) {
        guard let ahead = entry.undurable else { return }
        let durable = ahead.commands.prefix { $0.restsOn <= entry.committed.version }
        if durable.count == ahead.commands.count {
            entry.undurable = nil
        } else {
            ahead.commands.removeFirst(durable.count)
        }
        for command in durable { finish(command) }
    }

    /// Nothing of the batch in flight was appended, or nobody knows. Whatever depends on it fails, too.
    public func failed(_ outcome: CommandOutcome) {
        let (_, units) = takeInFlight()
        var withdrawn: [Withdrawn] = []
        for unit in units { withdraw(unit.entry, to: &withdrawn) }
        dropFilling(of: withdrawn)
        if case .unknown = outcome {
            for (entry, _) in withdrawn { entry.isKnown = false }
        }
        for command in withdrawn.flatMap(\.commands) {
            command.outcome = outcome
            finish(command)
        }
    }

    // MARK: Other writers

    /// Takes in what other writers appended. No batch may be in flight.
    public func absorb(_ events: [Result<DecodedEvent, CorruptEvent>]) {
        precondition(inFlight.isEmpty)
        var again: [Withdrawn] = []
        for event in events { absorb(event, again: &again) }
        dropFilling(of: again)
        decide(again)
    }

    private func absorb(_ event: Result<DecodedEvent, CorruptEvent>, again: inout [Withdrawn]) {
        switch event {
        case .success(let event):
            guard let entry = cache[event.stream], event.version > entry.committed.version else { return }
            if let load = entry.load { load.requiredVersion = max(load.requiredVersion, event.version) }
            guard entry.isKnown else { return }
            withdraw(entry, to: &again)
            entry.absorb(event)
        case .failure(let corruption):
            guard let name = StreamName(corruption.stream), let entry = cache[name] else { return }
            withdraw(entry, to: &again)
            entry.corruption = entry.corruption ?? corruption
        }
    }

    /// Withdraws what is decided on a stream and not durable. ``dropFilling(of:)`` must follow.
    private func withdraw(_ entry: StreamEntry, to list: inout [Withdrawn]) {
        guard let undurable = entry.undurable else { return }
        entry.forgetUndurable()
        list.append((entry, undurable.commands))
    }

    /// Withdraws the part of the next batch that depends on what was withdrawn, in one pass over it.
    private func dropFilling(of withdrawn: [Withdrawn]) {
        guard !withdrawn.isEmpty else { return }
        let entries = Set(withdrawn.map { ObjectIdentifier($0.entry) })
        filling.removeAll { entries.contains(ObjectIdentifier($0.entry)) }
    }

    /// Decides withdrawn commands again.
    private func decide(_ withdrawn: [Withdrawn]) {
        for (entry, commands) in withdrawn {
            for command in commands {
                command.conflicts += 1
                if command.conflicts > limits.conflicts {
                    command.outcome = .busy
                    finish(command)
                } else {
                    decideOrLoad(command, on: entry)
                }
            }
        }
    }

    // MARK: Loading

    /// The next streams to load from the log.
    public func takeLoads(atMost count: Int = .max) -> [StreamName] {
        defer { loads.removeFirst(min(count, loads.count)) }
        return Array(loads.prefix(count))
    }

    /// Some events of a stream that is being loaded, in order; the last ones if `isComplete`. Returns the event that
    /// makes the stream corrupt, once all of them are there.
    @discardableResult
    public func loaded(
        _ stream: StreamName, _ events: [Result<DecodedEvent, CorruptEvent>], isComplete: Bool
    ) -> CorruptEvent? {
        guard let entry = cache[stream], let load = entry.load else { return nil }
        for event in events {
            switch event {
            case .success(let event): entry.absorb(event)
            case .failure(let corruption): entry.corruption = entry.corruption ?? corruption
            }
        }
        guard isComplete else { return nil }
        guard entry.corruption != nil || entry.committed.version >= load.requiredVersion else {
            loads.append(stream)
            return nil
        }
        entry.load = nil
        entry.isKnown = true
        for command in load.commands { decide(command, on: entry) }
        answer(load.readers, CommandProcessor.answer(about: entry))
        return entry.corruption
    }

    /// A stream could not be loaded. The next request for it tries again.
    public func loadFailed(_ stream: StreamName, _ reason: String) {
        guard let entry = cache[stream], let load = entry.load else { return }
        entry.load = nil
        for command in load.commands {
            command.outcome = .unavailable(reason)
            finish(command)
        }
        answer(load.readers, .failure(.unavailable(reason)))
    }

    private func answer(
        _ readers: [(Result<CommittedState, ReadFailure>) -> Void], _ answer: Result<CommittedState, ReadFailure>
    ) {
        waitingCommands -= readers.count
        for reader in readers { reader(answer) }
    }
}
