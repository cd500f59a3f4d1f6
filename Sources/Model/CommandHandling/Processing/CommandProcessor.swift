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
        /// About the most bytes of them, and of menus.
        public var streamBytes = 512 << 20
        /// The most menus held for writing.
        public var menus = 1_000
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
    private typealias Withdrawn = (entry: StreamEntry, commands: CommandQueue)

    /// A command that writes the next `count` events of a ``Writing``.
    private struct Unit {
        var entry: StreamEntry
        var command: PendingCommand
        var count: Int
        /// The number of the group that its events have in a batch.
        var group: Int32 = 0
    }

    /// What is to be appended: units, and the events of all of them in the same order.
    private struct Writing {
        var units: [Unit] = []
        /// The events as the log gets them, and as projections do.
        var newEvents: [NewEvent] = []
        var events: [DomainEvent] = []

        /// Takes the first units, with their events.
        mutating func take(_ unitCount: Int, _ eventCount: Int) -> Writing {
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

        static func += (writing: inout Writing, next: Writing) {
            writing.units += next.units
            writing.newEvents += next.newEvents
            writing.events += next.events
        }

        /// Drops the units of these streams, with their events.
        mutating func remove(_ entries: Set<ObjectIdentifier>) {
            var kept = Writing()
            var first = 0
            for unit in units {
                let range = first..<first + unit.count
                first = range.upperBound
                guard !entries.contains(ObjectIdentifier(unit.entry)) else { continue }
                kept.units.append(unit)
                kept.newEvents += newEvents[range]
                kept.events += events[range]
            }
            self = kept
        }
    }

    private let partition: Int
    private let limits: Limits
    private let mayExist: (StreamName) -> Bool
    /// How many events a stream has at least, as of the same position; nil if that cannot be told.
    let leastVersion: (StreamName) -> Int64?
    private let cache: StreamCache
    private var filling = Writing()
    private var encoder = EventEncoder()
    /// Batches whose outcome is not known yet, oldest first.
    private var inFlight: [(writing: Writing, recordedAt: Timestamp)] = []
    private var loads: [StreamName] = []
    private var held = HeldCommands()
    /// All outlets with changes that are not durable, and some others.
    private var changedOutlets: Set<Identifier> = []
    private var batchNumber = 0
    /// How many commands and questions wait for a batch or a load.
    public private(set) var waitingCommands = 0
    /// Why nothing is handled any more; nil as long as it is.
    private var closure: String?

    #if DEBUG
        /// Chooses what goes wrong with each command of a cart that makes events.
        public var recordingFault: (Cart.Command) -> RecordingFault? = { _ in nil }
    #endif

    /// - Parameter mayExist: whether the log may hold the stream as of the position up to which the partition has
    ///   been read. A no saves a look-up in the log for every new cart.
    /// - Parameter leastVersion: how many events the stream has at least as of that position, so that those that are not
    ///   found are missed; nil if that cannot be told.
    public init(
        partition: Int, limits: Limits = Limits(), mayExist: @escaping (StreamName) -> Bool,
        leastVersion: @escaping (StreamName) -> Int64? = { _ in nil }
    ) {
        self.partition = partition
        self.limits = limits
        self.mayExist = mayExist
        self.leastVersion = leastVersion
        cache = StreamCache(capacity: limits.streams, menus: limits.menus, bytes: limits.streamBytes)
    }

    // MARK: Commands and questions

    /// Decides a command as soon as its stream is known. The completion is called once, when the outcome is durable;
    /// before this method returns only if nothing had to be written.
    public func handle(_ request: consuming CommandRequest, completion: @escaping (CommandOutcome) -> Void) {
        if let closure { return completion(.unavailable(closure)) }
        guard waitingCommands < limits.waitingCommands else { return completion(.busy) }
        waitingCommands += 1
        let command = PendingCommand(request, completion)
        decideOrLoad(command, on: entry(of: command.request.stream))
    }

    /// Gives the committed state of a stream, at once if it is known.
    public func read(_ stream: StreamName, completion: @escaping (Result<CommittedState, ReadFailure>) -> Void) {
        if let closure { return completion(.failure(.unavailable(closure))) }
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

    /// Lets go of every stream that has nothing in flight: it is loaded again on demand.
    public func emptyCache() { cache.empty() }

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
        if let outlet = held.outlet(before: entry) { return held.append(command, on: entry, for: outlet) }
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
        if let outlet = held.outlet(before: entry) { return held.append(command, on: entry, for: outlet) }
        command.restsOn = entry.pendingVersion
        command.outlet = nil
        if let corruption = entry.corruption {
            command.outcome = .corrupt(corruption)
        } else {
            do throws(Rejection) {
                guard let outcome = try accept(command, on: entry) else { return }
                command.outcome = outcome
            } catch {
                command.outcome = .rejected(error.naming(entry.name.id))
            }
        }
        if case .recordable = command.outcome { return finish(command) }
        loadIfAssumedNew(entry)
        if let load = entry.load { return load.commands.append(command) }
        // An outcome that depends on committed state alone is given at once; any other waits until that state is
        // durable.
        if let ahead = entry.undurable, command.restsOn > entry.committed.version {
            ahead.commands.append(command)
        } else {
            finish(command)
        }
    }

    /// Accepts a command, or finds that it would be; nil if it has to wait for an outlet.
    private func accept(_ command: PendingCommand, on entry: StreamEntry) throws(Rejection) -> CommandOutcome? {
        let request = command.request
        guard request.mayKnow?(entry.pending) ?? true else {
            throw Rejection(.notFound, "no such \(entry.name.category)", isAboutAll: true)
        }
        if let known = try entry.reply(to: request.metadata) { return .accepted(known) }
        guard !request.isRecall else { throw Rejection(.notFound, "no such command") }
        if let expected = request.expectedVersion, expected != entry.pendingVersion {
            throw Rejection(.conflict, "the version is \(entry.pendingVersion), not \(expected)")
        }
        let state = entry.pending
        switch request.command(state, entry.pendingVersion) {
        case .cart(let wanted):
            if let outlet = CommandProcessor.outlet(of: wanted, in: state) {
                guard rest(command, of: entry, on: outlet) else { return nil }
            }
            let events = try CommandProcessor.decide(wanted, in: state)
            #if DEBUG
                if !events.isEmpty, !request.isTrial, let fault = recordingFault(wanted),
                    let wrong = CommandProcessor.recording(events.map(DomainEvent.cart), fault, on: entry)
                {
                    if !wrong.events.isEmpty { _ = try append(wrong.events, of: command, to: entry, in: state) }
                    return .accepted(wrong.reply)
                }
            #endif
            let terms = if case .checkOut(let checkOut) = wanted { checkOut.terms } else { Order.Terms.none }
            return try append(
                events.lazy.map(DomainEvent.cart), of: command, to: entry, in: consume state, terms: terms)
        case .menu(let wanted):
            if wanted.restsOnOutlet { guard rest(command, of: entry, on: entry.name.id) else { return nil } }
            let events = try CommandProcessor.decide(wanted, in: state).map(DomainEvent.menu)
            return try append(events, of: command, to: entry, in: consume state)
        case .outlet(let wanted):
            if case .outlet(let outlet) = state, wanted.restsOnMenu(in: outlet) {
                guard rest(command, of: entry, on: entry.name.id) else { return nil }
            }
            let events = try CommandProcessor.decide(wanted, in: state).map(DomainEvent.outlet)
            return try append(events, of: command, to: entry, in: consume state)
        case .order(let wanted):
            let events = try CommandProcessor.decide(wanted, in: state).map(DomainEvent.order)
            return try append(events, of: command, to: entry, in: consume state)
        }
    }

    // Functions of their own, so that nothing but the caller has the state when it is changed.

    private static func decide(
        _ command: Cart.Command, in state: AggregateState
    ) throws(Rejection) -> [Cart.Event] {
        guard case .cart(let state) = state else { preconditionFailure("a command for another kind of stream") }
        return try Cart.decide(command, in: state)
    }

    private static func outlet(of command: Cart.Command, in state: AggregateState) -> Identifier? {
        guard case .cart(let state) = state else { return nil }
        return command.outlet(for: state)
    }

    private static func decide(
        _ command: Menu.Command, in state: AggregateState
    ) throws(Rejection) -> [Menu.Event] {
        guard case .menu(let state) = state else { preconditionFailure("a command for another kind of stream") }
        return try Menu.decide(command, in: state)
    }

    private static func decide(
        _ command: Outlet.Command, in state: AggregateState
    ) throws(Rejection) -> [Outlet.Event] {
        guard case .outlet(let state) = state else { preconditionFailure("a command for another kind of stream") }
        return try Outlet.decide(command, in: state)
    }

    private static func decide(
        _ command: Order.Command, in state: AggregateState
    ) throws(Rejection) -> [Order.Event] {
        guard case .order(let state) = state else { preconditionFailure("a command for another kind of stream") }
        return try Order.decide(command, in: state)
    }

    /// Adds a command's events to the next batch and accepts it, unless it is only tried.
    ///
    /// - Parameters:
    ///   - state: what the command was decided in.
    ///   - terms: those of the order, if the command places one.
    private func append(
        _ events: some RandomAccessCollection<DomainEvent>, of command: PendingCommand, to entry: StreamEntry,
        in state: consuming AggregateState, terms: Order.Terms = .none
    ) throws(Rejection) -> CommandOutcome {
        guard events.count <= EventBatch.maximumEvents else {
            throw Rejection(.limit, "the change makes more than \(EventBatch.maximumEvents) events")
        }
        guard !events.isEmpty else { return .accepted(state.reply(version: entry.pendingVersion)) }
        guard !command.request.isTrial else { return .recordable }
        let metadata = command.request.metadata
        let encodedMetadata = metadata.encoded()
        let eventCount = filling.events.count
        let ahead = entry.goAhead()
        for event in events {
            if let (order, placement) = CommandProcessor.order(
                placedBy: event, from: state, of: entry.name.id, terms)
            {
                let stream = StreamName(.order, order)
                for (index, event) in try Order.decide(.place(placement), in: Order.initial).enumerated() {
                    fill(.order(event), stream, version: Int64(index + 1), encodedMetadata)
                }
            }
            do throws(ImpossibleEvent) {
                try state.evolve(event)
            } catch {
                preconditionFailure("decided an event that cannot happen: \(error)")
            }
            ahead.version += 1
            fill(event, entry.name, version: ahead.version, encodedMetadata)
        }
        let reply = state.reply(version: ahead.version)
        ahead.state = consume state
        filling.units.append(Unit(entry: entry, command: command, count: filling.events.count - eventCount))
        command.restsOn = ahead.version
        entry.remember(metadata, reply, ahead.version)
        if entry.name.isOfOutlet { changedOutlets.insert(entry.name.id) }
        return .accepted(reply)
    }

    private func fill(_ event: DomainEvent, _ stream: StreamName, version: Int64, _ metadata: [UInt8]) {
        let (kind, payload) = encoder.encode(event)
        filling.events.append(event)
        filling.newEvents.append(
            NewEvent(stream: stream, version: version, kind: kind, payload: payload, metadata: metadata))
    }

    /// The order that a checkout places. Its id comes from this cart and version, so its stream is new.
    private static func order(
        placedBy event: DomainEvent, from state: AggregateState, of cart: Identifier, _ terms: Order.Terms
    ) -> (Identifier, Order.Placement)? {
        guard case .cart(.checkedOut(let order, let lines, let charges, let total, let customer, let name)) = event,
            case .cart(.filled(let contents)) = state
        else { return nil }
        let placement = Order.Placement(
            cart: cart, outlet: contents.outlet, currency: contents.currency, lines: lines, charges: charges,
            total: total, customer: customer, name: name, terms: terms)
        return (order, placement)
    }

    /// Has a command be decided on an outlet and its menu, or holds it until their changes are durable. Those of the
    /// command's own stream are in the state that it is decided in.
    private func rest(_ command: PendingCommand, of entry: StreamEntry, on outlet: Identifier) -> Bool {
        guard !isChanging(outlet, beside: entry) else {
            held.append(command, on: entry, for: outlet)
            return false
        }
        command.outlet = outlet
        return true
    }

    /// Whether an outlet or its menu has changes that are not durable. What is decided on it now would stand behind
    /// these in the log, and not know of them.
    private func isChanging(_ outlet: Identifier, beside own: StreamEntry? = nil) -> Bool {
        guard changedOutlets.contains(outlet) else { return false }
        let changing = [cache[StreamName(.outlet, outlet)], cache[StreamName(.menu, outlet)]].filter {
            $0?.undurable != nil
        }
        if changing.isEmpty { changedOutlets.remove(outlet) }
        return changing.contains { $0 !== own }
    }

    /// Decides what has waited for outlets whose changes are durable now, or were not made.
    private func releaseHeld() {
        guard !held.isEmpty else { return }
        for outlet in held.outlets where !isChanging(outlet) {
            for (entry, command) in held.take(outlet) { decideOrLoad(command, on: entry) }
        }
    }

    private func finish(_ command: PendingCommand) {
        waitingCommands -= 1
        command.completion(command.outcome)
    }

    // MARK: Batches

    /// How many events wait for a batch.
    public var waitingEvents: Int { filling.events.count }

    /// Whether there are events to take as a batch.
    public var hasBatch: Bool { !filling.units.isEmpty }

    /// The next batch to be appended. It rests on the batches in flight. If one of them ends otherwise than it was
    /// decided, because of a conflict or of anything from other writers, the batches behind it have to be taken back
    /// before that is reported (``takeBack(_:)``).
    public func takeBatch(now: Timestamp) -> EventBatch? {
        guard hasBatch else { return nil }
        batchNumber += 1
        var groups: [Int32] = []
        groups.reserveCapacity(filling.events.count)
        var readings: [EventBatch.Reading] = []
        var next: Int32 = 0
        var taken = 0
        while taken < filling.units.count {
            let unit = filling.units[taken]
            guard taken == 0 || groups.count + unit.count <= limits.batchEvents else { break }
            if unit.entry.group.batch != batchNumber {
                unit.entry.group = (batchNumber, next)
                next += 1
            }
            filling.units[taken].group = unit.entry.group.number
            for _ in 0..<unit.count { groups.append(unit.entry.group.number) }
            if let outlet = unit.command.outlet {
                for category in [.outlet, .menu] as [StreamName.Category] where category != unit.entry.name.category {
                    readings.append(EventBatch.Reading(StreamName(category, outlet), by: unit.entry.group.number))
                }
            }
            taken += 1
        }
        let writing = filling.take(taken, groups.count)
        inFlight.append((writing, now))
        return EventBatch(
            partition: partition, events: writing.newEvents, groups: groups, readings: readings, recordedAt: now)
    }

    /// Takes back the newest batches in flight, which are not in the log and never will be: their commands go into the
    /// next batch.
    public func takeBack(_ count: Int) {
        var writing = Writing()
        for taken in inFlight.suffix(count) { writing += taken.writing }
        inFlight.removeLast(count)
        writing += filling
        filling = writing
    }

    /// The oldest batch in flight has been appended, except for its conflicts.
    ///
    /// - Parameter foreign: what other writers appended before it, after the last reported position.
    /// - Parameter project: receives the batch's events before anybody hears of them.
    public func committed(
        _ receipt: AppendReceipt, foreign: [Result<DecodedEvent, CorruptEvent>],
        project: ([Result<DecodedEvent, CorruptEvent>]) -> Void
    ) {
        precondition(inFlight.count == 1 || (receipt.conflicts.isEmpty && foreign.isEmpty), "see takeBack")
        var (writing, time) = takeInFlight()
        var again: [Withdrawn] = []
        if !receipt.conflicts.isEmpty {
            var refused: Set<ObjectIdentifier> = []
            for unit in writing.units where receipt.conflicts.contains(unit.group) {
                refused.insert(ObjectIdentifier(unit.entry))
                withdraw(unit.entry, to: &again)
            }
            writing.remove(refused)
        }
        for event in foreign { absorb(event, again: &again) }
        dropFilling(of: again)

        var recorded: [Result<DecodedEvent, CorruptEvent>] = []
        recorded.reserveCapacity(writing.events.count)
        for unit in writing.units {
            let first = recorded.count
            for index in first..<first + unit.count {
                recorded.append(
                    .success(
                        DecodedEvent(
                            partition: partition, position: receipt.previous.position + Int64(index + 1),
                            stream: writing.newEvents[index].stream, version: writing.newEvents[index].version,
                            event: writing.events[index], metadata: unit.command.request.metadata, recordedAt: time)))
            }
            commit(unit, writing.events[first..<first + unit.count], at: time)
            unit.entry.committed.position = receipt.previous.position + Int64(first + unit.count)
        }
        for stream in receipt.stale { cache[stream]?.forget() }
        // An order's stream may be in memory because a client asked for it before it was placed.
        for index in writing.newEvents.indices where writing.newEvents[index].stream.category == .order {
            absorb(recorded[index], again: &again)
        }
        project(recorded)
        for unit in writing.units { finishDurable(unit.entry) }
        // Only now, so that nothing is withdrawn of what has just become durable.
        withdraw(restingOn: foreign, to: &again)
        dropFilling(of: again)
        decide(again)
        releaseHeld()
    }

    private func takeInFlight() -> (writing: Writing, recordedAt: Timestamp) {
        precondition(!inFlight.isEmpty, "no batch is in flight")
        return inFlight.removeFirst()
    }

    /// Makes the events of one command part of the committed state.
    private func commit(_ unit: Unit, _ events: ArraySlice<DomainEvent>, at time: Timestamp) {
        let entry = unit.entry
        if let ahead = entry.undurable, ahead.version == unit.command.restsOn {
            // Nothing is ahead of it any more: `finishDurable` follows.
            entry.committed.state = ahead.takeState()
        } else {
            for event in events where event.category == entry.name.category {
                do throws(ImpossibleEvent) {
                    try entry.committed.state.evolve(event)
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
        cache.hasChanged(entry)
        guard let ahead = entry.undurable else { return }
        if ahead.version == entry.committed.version { entry.undurable = nil }
        while let command = ahead.commands.first, command.restsOn <= entry.committed.version {
            ahead.commands.removeFirst()
            finish(command)
        }
    }

    /// Nothing of the oldest batch in flight was appended, or that is unknown. Whatever depends on it fails, too.
    public func failed(_ outcome: CommandOutcome) {
        let (writing, _) = takeInFlight()
        var withdrawn: [Withdrawn] = []
        for unit in writing.units { withdraw(unit.entry, to: &withdrawn) }
        dropFilling(of: withdrawn)
        if case .unknown = outcome {
            for (entry, _) in withdrawn { entry.isKnown = false }
        }
        for command in withdrawn.flatMap(\.commands) {
            command.outcome = outcome
            finish(command)
        }
        releaseHeld()
    }

    /// Ends everything that waits, and handles nothing more. No batch may be in flight.
    public func close(_ reason: String) {
        precondition(inFlight.isEmpty)
        closure = reason
        filling = Writing()
        loads = []
        for outlet in held.outlets {
            for (_, command) in held.take(outlet) { fail(command, reason) }
        }
        for entry in cache.entries {
            for command in entry.undurable?.commands ?? CommandQueue() { fail(command, reason) }
            entry.undurable = nil
            fail(entry.load, reason)
            entry.load = nil
        }
    }

    // MARK: Other writers

    /// Takes in what other writers appended. No batch may be in flight.
    public func absorb(_ events: [Result<DecodedEvent, CorruptEvent>]) {
        precondition(inFlight.isEmpty)
        var again: [Withdrawn] = []
        for event in events { absorb(event, again: &again) }
        withdraw(restingOn: events, to: &again)
        dropFilling(of: again)
        decide(again)
        releaseHeld()
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
        for command in held.take(of: entry) { undurable.commands.append(command) }
        list.append((entry, undurable.commands))
    }

    /// Withdraws what is in the next batch and was decided on outlets as they were before these events.
    private func withdraw(restingOn events: [Result<DecodedEvent, CorruptEvent>], to list: inout [Withdrawn]) {
        var changed: Set<Identifier> = []
        for event in events {
            let stream: StreamName? =
                switch event {
                case .success(let event): event.stream
                case .failure(let corruption): StreamName(corruption.stream)
                }
            if let stream, stream.isOfOutlet { changed.insert(stream.id) }
        }
        guard !changed.isEmpty else { return }
        for unit in filling.units {
            if let outlet = unit.command.outlet, changed.contains(outlet) { withdraw(unit.entry, to: &list) }
        }
    }

    /// Withdraws the part of the next batch that depends on what was withdrawn, in one pass over it.
    private func dropFilling(of withdrawn: [Withdrawn]) {
        guard !withdrawn.isEmpty else { return }
        filling.remove(Set(withdrawn.map { ObjectIdentifier($0.entry) }))
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
        entry.isAssumedNew = false
        cache.hasChanged(entry)
        for command in load.commands { decide(command, on: entry) }
        answer(load.readers, CommandProcessor.answer(about: entry))
        return entry.corruption
    }

    /// What was loaded of a stream so far is not all of it: it is loaded from its beginning once more.
    func forgetLoaded(_ stream: StreamName) {
        guard let entry = cache[stream], entry.load != nil else { return }
        entry.forget()
    }

    /// Whether a stream is being loaded, or is to be loaded once more.
    func isLoading(_ stream: StreamName) -> Bool { cache[stream]?.load != nil }

    /// A stream could not be loaded. The next request for it tries again.
    public func loadFailed(_ stream: StreamName, _ reason: String) {
        guard let entry = cache[stream], let load = entry.load else { return }
        entry.load = nil
        fail(load, reason)
    }

    private func fail(_ command: PendingCommand, _ reason: String) {
        command.outcome = .unavailable(reason)
        finish(command)
    }

    private func fail(_ load: StreamLoad?, _ reason: String) {
        guard let load else { return }
        for command in load.commands { fail(command, reason) }
        answer(load.readers, .failure(.unavailable(reason)))
    }

    private func answer(
        _ readers: [(Result<CommittedState, ReadFailure>) -> Void], _ answer: Result<CommittedState, ReadFailure>
    ) {
        waitingCommands -= readers.count
        for reader in readers { reader(answer) }
    }
}
