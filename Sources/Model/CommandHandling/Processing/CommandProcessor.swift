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

    private let partition: Int
    private let limits: Limits
    private let mayExist: (StreamName) -> Bool
    /// How many events a stream has at least, as of the same position; nil if that cannot be told.
    let leastVersion: (StreamName) -> Int64?
    private let cache: StreamCache
    private var batches = BatchQueue()
    private var loads: [StreamName] = []
    private var held = HeldCommands()
    /// All outlets with changes that are not durable, and some others.
    private var changedOutlets: Set<Identifier> = []
    /// How many commands and questions wait for a batch or a load.
    public private(set) var waitingCommands = 0
    /// Why nothing is handled any more; nil as long as it is.
    private var closure: String?

    #if DEBUG
        /// Chooses what goes wrong with each command that makes events.
        public var recordingFault: (DomainCommand) -> RecordingFault? = { _ in nil }
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
        decideOrLoad(PendingCommand(request, completion))
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
    ///
    /// - Parameter isNew: whether the stream has not begun yet.
    private func entry(of stream: StreamName, isNew: Bool = false) -> StreamEntry {
        let entry = cache[stream] ?? insert(StreamEntry(stream, isKnown: isNew || !mayExist(stream)))
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

    /// Decides a command as soon as its stream is known. The stream is looked for each time: while a command waits, or
    /// others are decided, the cache may let go of it.
    private func decideOrLoad(_ command: PendingCommand) {
        let entry = entry(of: command.request.stream)
        if let awaited = held.awaited(before: entry) { return held.append(command, on: entry, for: awaited) }
        if let load = entry.load { load.commands.append(command) } else { decide(command, on: entry) }
    }

    private func insert(_ entry: StreamEntry) -> StreamEntry {
        cache.insert(entry)
        return entry
    }

    // MARK: Deciding

    private func decide(_ command: PendingCommand, on entry: StreamEntry) {
        if let awaited = held.awaited(before: entry) { return held.append(command, on: entry, for: awaited) }
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

    /// Accepts a command, or finds that it would be; nil if it has to wait for another stream.
    private func accept(_ command: PendingCommand, on entry: StreamEntry) throws(Rejection) -> CommandOutcome? {
        let request = command.request
        // One copy for all that only looks at it. It is gone before the events are recorded: while somebody else has the
        // state, it cannot be changed in place.
        let state = entry.pending
        guard request.mayKnow?(state) ?? true else {
            throw Rejection(.notFound, "no such \(entry.name.category)", isAboutAll: true)
        }
        if let known = try entry.reply(to: request.metadata) { return .accepted(known) }
        guard !request.isRecall else { throw Rejection(.notFound, "no such command") }
        if let expected = request.expectedVersion, expected != entry.pendingVersion {
            throw Rejection(.conflict, "the version is \(entry.pendingVersion), not \(expected)")
        }
        let wanted = request.command(state, entry.pendingVersion)
        if let outlet = wanted.outlet(in: state, of: entry.name.id) {
            guard rest(command, of: entry, on: outlet) else { return nil }
            command.restsOnPromotions = wanted.restsOnPromotions
        }
        let decision = try wanted.decide(in: consume state, of: entry.name.id)
        guard !decision.events.isEmpty else { return .accepted(entry.pending.reply(version: entry.pendingVersion)) }
        #if DEBUG
            if !request.isTrial, let fault = recordingFault(wanted),
                let wrong = CommandProcessor.recording(decision.events, fault, on: entry)
            {
                if !wrong.events.isEmpty { _ = record(wrong.events, beside: [], of: command, on: entry) }
                return .accepted(wrong.reply)
            }
        #endif
        var others: [(entry: StreamEntry, events: [DomainEvent])] = []
        entry.isBeingDecided = true
        defer {
            entry.isBeingDecided = false
            for other in others { other.entry.isBeingDecided = false }
        }
        for consequence in decision.consequences {
            let other = self.entry(of: consequence.stream, isNew: consequence.isStreamNew)
            if let awaited = other.load == nil ? held.awaited(before: other) : other.name {
                held.append(command, on: entry, for: awaited)
                return nil
            }
            if let corruption = other.corruption { return .corrupt(corruption) }
            others.append((other, try CommandProcessor.decide(consequence, on: other)))
            other.isBeingDecided = true
        }
        guard others.reduce(decision.events.count, { $0 + $1.events.count }) <= EventBatch.maximumEvents else {
            throw Rejection(.limit, "the change makes more than \(EventBatch.maximumEvents) events")
        }
        guard !request.isTrial else { return .recordable }
        return .accepted(record(decision.events, beside: others, of: command, on: entry))
    }

    private static func decide(
        _ consequence: Consequence, on entry: StreamEntry
    ) throws(Rejection) -> [DomainEvent] {
        do throws(Rejection) {
            return try consequence.command.decide(in: entry.pending, of: entry.name.id).events
        } catch {
            throw error.naming(entry.name.id)
        }
    }

    /// Adds a command's events to the next batch, those of other streams first. Returns the reply to it.
    private func record(
        _ events: [DomainEvent], beside others: [(entry: StreamEntry, events: [DomainEvent])],
        of command: PendingCommand, on entry: StreamEntry
    ) -> CommandReply {
        let metadata = command.request.metadata
        let encodedMetadata = metadata.encoded()
        let eventCount = batches.filling.events.count
        let writes = others.map { other in
            goAhead(other.entry, by: other.events, metadata, encodedMetadata)
            return BatchQueue.Write(entry: other.entry, version: other.entry.pendingVersion)
        }
        let reply = goAhead(entry, by: events, metadata, encodedMetadata)
        batches.close(command, of: entry, beside: writes, since: eventCount)
        command.restsOn = entry.pendingVersion
        return reply
    }

    /// Takes events into a stream's state after everything in flight. Returns the reply to a command that led there.
    @discardableResult
    private func goAhead(
        _ entry: StreamEntry, by events: [DomainEvent], _ metadata: EventMetadata, _ encodedMetadata: [UInt8]
    ) -> CommandReply {
        let ahead = entry.goAhead()
        for event in events {
            do throws(ImpossibleEvent) {
                try ahead.state.evolve(event)
            } catch {
                preconditionFailure("decided an event that cannot happen: \(error)")
            }
            ahead.version += 1
            batches.fill(event, entry.name, version: ahead.version, encodedMetadata)
        }
        let reply = ahead.state.reply(version: ahead.version)
        entry.remember(metadata, reply, ahead.version)
        if entry.name.isOfOutlet { changedOutlets.insert(entry.name.id) }
        return reply
    }

    /// Has a command be decided on an outlet and its menu, or holds it until their changes are durable. Those of the
    /// command's own stream are in the state that it is decided in.
    private func rest(_ command: PendingCommand, of entry: StreamEntry, on outlet: Identifier) -> Bool {
        guard !isChanging(outlet, beside: entry) else {
            held.append(command, on: entry, for: StreamName(.outlet, outlet))
            return false
        }
        command.outlet = outlet
        return true
    }

    /// Whether an outlet or its menu has changes that are not durable. What is decided on it now would stand behind
    /// these in the log, and not know of them.
    private func isChanging(_ outlet: Identifier, beside own: StreamEntry? = nil) -> Bool {
        guard changedOutlets.contains(outlet) else { return false }
        let changing = [StreamName.Category.outlet, .menu, .promotions].map { cache[StreamName($0, outlet)] }.filter {
            $0?.undurable != nil
        }
        if changing.isEmpty { changedOutlets.remove(outlet) }
        return changing.contains { $0 !== own }
    }

    /// Decides what has waited for streams that are loaded now, and for outlets whose changes are durable now, or were
    /// not made.
    private func releaseHeld() {
        guard !held.isEmpty else { return }
        for stream in held.awaited where cache[stream]?.load == nil {
            if stream.category == .outlet, isChanging(stream.id) { continue }
            for (_, command) in held.take(stream) { decideOrLoad(command) }
        }
    }

    private func finish(_ command: PendingCommand) {
        waitingCommands -= 1
        command.completion(command.outcome)
    }

    // MARK: Batches

    /// How many events wait for a batch.
    public var waitingEvents: Int { batches.filling.events.count }

    /// Whether there are events to take as a batch.
    public var hasBatch: Bool { !batches.filling.units.isEmpty }

    /// The next batch to be appended. It rests on the batches in flight. If one of them ends otherwise than it was
    /// decided, because of a conflict or of anything from other writers, the batches behind it have to be taken back
    /// before that is reported (``takeBack(_:)``).
    public func takeBatch(now: Timestamp) -> EventBatch? {
        batches.take(partition: partition, atMost: limits.batchEvents, now: now)
    }

    /// Takes back the newest batches in flight, which are not in the log and never will be: their commands go into the
    /// next batch.
    public func takeBack(_ count: Int) { batches.takeBack(count) }

    /// The oldest batch in flight has been appended, except for its conflicts.
    ///
    /// - Parameter foreign: what other writers appended before it, after the last reported position.
    /// - Parameter project: receives the batch's events before anybody hears of them.
    public func committed(
        _ receipt: AppendReceipt, foreign: [Result<DecodedEvent, CorruptEvent>],
        project: ([Result<DecodedEvent, CorruptEvent>]) -> Void
    ) {
        precondition(batches.inFlightCount == 1 || (receipt.conflicts.isEmpty && foreign.isEmpty), "see takeBack")
        var (writing, time) = batches.takeOldest()
        var again: [Withdrawn] = []
        if !receipt.conflicts.isEmpty {
            for unit in writing.units where receipt.conflicts.contains(unit.group) {
                for entry in unit.entries { withdraw(entry, to: &again) }
            }
            writing.keep { !receipt.conflicts.contains($0.group) }
        }
        for event in foreign { absorb(event, again: &again) }
        dropFilling(of: &again)

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
            let indices = first..<recorded.count
            commit(writing, indices, to: unit.entry, version: unit.command.restsOn, after: receipt.previous, at: time)
            for write in unit.others {
                commit(writing, indices, to: write.entry, version: write.version, after: receipt.previous, at: time)
            }
        }
        for stream in receipt.stale { cache[stream]?.forget() }
        project(recorded)
        for unit in writing.units {
            finishDurable(unit.entry)
            for write in unit.others { finishDurable(write.entry) }
        }
        // Only now, so that nothing is withdrawn of what has just become durable.
        withdraw(restingOn: foreign, to: &again)
        dropFilling(of: &again)
        decide(again)
        releaseHeld()
    }

    /// Makes the events of one command part of the committed state of a stream that it wrote, up to a version.
    private func commit(
        _ writing: BatchQueue.Writing, _ indices: Range<Int>, to entry: StreamEntry, version: Int64,
        after previous: LogPoint, at time: Timestamp
    ) {
        if let ahead = entry.undurable, ahead.version == version {
            // Nothing is ahead of it any more: `finishDurable` follows.
            entry.committed.state = ahead.takeState()
        } else {
            for index in indices where writing.newEvents[index].stream == entry.name {
                do throws(ImpossibleEvent) {
                    try entry.committed.state.evolve(writing.events[index])
                } catch {
                    preconditionFailure("an event could happen when decided, and not when committed: \(error)")
                }
            }
        }
        entry.isAssumedNew = false
        entry.committed.version = version
        entry.committed.updatedAt = time
        if let last = indices.last(where: { writing.newEvents[$0].stream == entry.name }) {
            entry.committed.position = previous.position + Int64(last + 1)
        }
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
        let (writing, _) = batches.takeOldest()
        var withdrawn: [Withdrawn] = []
        for entry in writing.units.lazy.flatMap(\.entries) { withdraw(entry, to: &withdrawn) }
        dropFilling(of: &withdrawn)
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
        precondition(batches.inFlightCount == 0)
        closure = reason
        batches.dropAll()
        loads = []
        for stream in held.awaited { failHeld(for: stream, reason) }
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
        precondition(batches.inFlightCount == 0)
        var again: [Withdrawn] = []
        for event in events { absorb(event, again: &again) }
        withdraw(restingOn: events, to: &again)
        dropFilling(of: &again)
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
        for unit in batches.filling.units {
            if let outlet = unit.command.outlet, changed.contains(outlet) { withdraw(unit.entry, to: &list) }
        }
    }

    /// Withdraws the part of the next batch that depends on what was withdrawn, and what was decided together with it.
    private func dropFilling(of withdrawn: inout [Withdrawn]) {
        guard !withdrawn.isEmpty else { return }
        for entry in batches.drop(withdrawn.map(\.entry)) { withdraw(entry, to: &withdrawn) }
    }

    /// Decides withdrawn commands again.
    private func decide(_ withdrawn: [Withdrawn]) {
        for (_, commands) in withdrawn {
            for command in commands {
                command.conflicts += 1
                if command.conflicts > limits.conflicts {
                    command.outcome = .busy
                    finish(command)
                } else {
                    decideOrLoad(command)
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
        answer(load.readers, CommandProcessor.answer(about: entry))
        for command in load.commands { decideOrLoad(command) }
        releaseHeld()
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
        failHeld(for: stream, reason)
    }

    private func failHeld(for stream: StreamName, _ reason: String) {
        for (_, command) in held.take(stream) { fail(command, reason) }
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
