public import Domain
public import EventLog

/// Drives the batches of one partition to the log and brings back what other writers appended: a state machine that
/// knows no clock, no socket and no task.
///
/// Its owner asks for actions (``next(now:)``, ``nextLoads(atMost:)``) until there is none, carries each out on an
/// `EventLog` in the order of asking, and reports the result. Actions may overlap and end in any order.
///
/// A batch is sent without waiting for the one before it, on the condition that this is in the log as it was sent. If it
/// is not, those behind it are not either, and are taken back.
///
/// Production and the simulation drive the same object.
public final class AppendPipeline {
    /// How often the log is asked for the outcome of a batch before its commands are answered `UNKNOWN`.
    public static let outcomeAttempts = 100

    /// What the owner is to do.
    public enum Action: Equatable, Sendable {
        /// Append the batch, and report by ``AppendPipeline/appended(_:_:isOverdue:)``.
        case append(Int, EventBatch, seen: LogPoint)
        /// Append the batch if the log ends at the point, and report by ``AppendPipeline/appendedNext(_:_:)``.
        case appendNext(Int, EventBatch, after: LogPoint)
        /// Ask for the outcome of the batch, and report by ``AppendPipeline/lookedUp(_:)``.
        case lookUp(EventBatch, since: LogPoint)
        /// Read what follows a point of the partition, and report by ``AppendPipeline/read(_:)``.
        case read(after: LogPoint, limit: Int)
        /// Wait for a moment before the log is asked again, and report by ``AppendPipeline/paused()``.
        case pause
    }

    /// Part of a stream that is to be read.
    public struct Load: Equatable, Sendable {
        /// The stream.
        public let stream: StreamName
        /// The version after which to read.
        public let afterVersion: Int64
        /// The point up to which the log is known: another log is not asked. The log may lose what lies behind it,
        /// unnoticed.
        public let seen: LogPoint
        /// How many events the stream has at least, as the read model knows; nil if that cannot be told.
        public var leastVersion: Int64?
        /// Whether the log's index of streams is to be mended for the stream first: without that, events were missing.
        public var mendsIndex = false
        /// The most events to read.
        public let limit = LogFollower.readLimit
    }

    /// A batch that was sent, and what is known about it.
    private struct Flight {
        let number: Int
        let batch: EventBatch
        /// The point that the batch was decided at: everything up to it is known, or in a flight before this one.
        let seen: LogPoint
        var state: FlightState

        /// Where the batch ends if it is appended whole, directly after the point; nil if the chain is not known.
        let wholeEnd: LogPoint?

        init(_ number: Int, _ batch: EventBatch, seen: LogPoint, isFirst: Bool) {
            self.number = number
            self.batch = batch
            self.seen = seen
            state = isFirst ? .mustAppend(nil) : .mustAppendNext
            wholeEnd = seen.digest.map { digest in
                LogPoint(
                    position: seen.position + Int64(batch.events.count), digest: digest.chained(to: batch.contentDigest)
                )
            }
        }

        /// Whether the batch is in the log as it was sent: whatever rests on it holds.
        var isWhole: Bool {
            guard case .ended(.success(let receipt)) = state else { return false }
            return receipt.conflicts.isEmpty && receipt.previous.position == seen.position
        }

        /// Whether the outcome is not known, and is to be found out.
        var isInDoubt: Bool {
            switch state {
            case .mustAppend(let doubt), .appending(let doubt): doubt != nil
            case .mustLookUp, .lookingUp, .mustPause, .pausing: true
            case .mustAppendNext, .appendingNext, .ended: false
            }
        }
    }

    private enum FlightState {
        case mustAppend(Doubt?)
        case appending(Doubt?)
        case mustAppendNext
        case appendingNext
        case mustLookUp(Doubt)
        case lookingUp(Doubt)
        case mustPause(Doubt)
        case pausing(Doubt)
        case ended(Result<AppendReceipt, EventLogError>)
    }

    /// An append may or may not have reached the log.
    private struct Doubt {
        var reason: String
        var attempts = 0
    }

    /// Events of other writers that are being read.
    private struct Reading {
        /// Up to where to read; nil if a poll reads whatever there is.
        var goal: LogPoint?
        /// The point up to which events are read.
        var end: LogPoint
        /// Where reading did not lead to the goal. What follows the goal tells whether the log has it at all: then it is
        /// read from here once more, and what is not found now was removed.
        var gap: LogPoint?
        var isGapKnown = false
        var events: [Result<DecodedEvent, CorruptEvent>] = []
        var failures = 0
        var state = ReadingState.mustRead
    }

    private enum ReadingState {
        case mustRead, reading, mustPause, pausing
    }

    /// Events that the owner may want to count or to log.
    public enum Report {
        /// The outcome of a batch is known, or given up. Its commands are not answered yet.
        case settled(Int, EventBatch, Result<AppendReceipt, EventLogError>)
        /// A stream that was loaded has an event that cannot be understood, or cannot have happened.
        case corrupt(CorruptEvent)
        /// The log is not the one that was read. The pipeline has ended: another one has to begin with the log as it is.
        case forked(String)
    }

    /// The processor whose batches are driven.
    public let processor: CommandProcessor
    private let follower: LogFollower
    private let report: (Report) -> Void
    /// Batches whose commands are not answered, oldest first, each decided at the end of the one before.
    private var flights: [Flight] = []
    private let maximumFlights: Int
    private var lastNumber = 0
    private var reading: Reading?
    private var isPollDue = false

    /// A pipeline from a processor to a log that is read by the follower.
    ///
    /// - Parameter flights: the most batches that are sent and not answered.
    public init(
        processor: CommandProcessor, follower: LogFollower, flights: Int = 2,
        report: @escaping (Report) -> Void = { _ in }
    ) {
        maximumFlights = flights
        self.processor = processor
        self.follower = follower
        self.report = report
    }

    private var position: Int64 { follower.position }

    /// Whether nothing is in flight or waits to be sent, except for loads.
    public var isIdle: Bool { flights.isEmpty && reading == nil && !processor.hasBatch }

    /// The streams and versions of events that will be passed on: those of batches that are not answered, and those that
    /// were read and wait for more.
    public var eventsUnderWay: [(stream: StreamName, version: Int64)] {
        var events = flights.flatMap { $0.batch.events.map { (stream: $0.stream, version: $0.version) } }
        for case .success(let event) in reading?.events ?? [] { events.append((event.stream, event.version)) }
        return events
    }

    /// The number of the oldest batch whose commands are not answered; nil if there is none.
    public var oldestFlight: Int? { flights.first?.number }

    /// Looks for what other writers appended as soon as no batch is waiting.
    public func pollSoon() { isPollDue = true }

    // MARK: Actions

    /// The next action, or nil until something outstanding is reported, a command is handled or a poll is due.
    ///
    /// If a batch has ended and nothing has to be read first, the action that sends the next one comes before the
    /// commands of the ended one are answered. So carry an action out before asking for the next.
    public func next(now: @autoclosure () -> Timestamp) -> Action? {
        while true {
            if let action = nextOfFlights() ?? nextOfReading() { return action }
            if processor.hasBatch, let seen = seenByNextBatch, let batch = processor.takeBatch(now: now()) {
                lastNumber += 1
                flights.append(Flight(lastNumber, batch, seen: seen, isFirst: flights.allSatisfy(\.isWhole)))
            } else if hasFirstEnded, reading == nil, endsRest() {
                finishFirst()
            } else if isPollDue, flights.isEmpty, reading == nil {
                isPollDue = false
                reading = Reading(goal: nil, end: follower.point)
            } else {
                return nil
            }
        }
    }

    private var hasFirstEnded: Bool {
        if case .ended = flights.first?.state { true } else { false }
    }

    private func nextOfFlights() -> Action? {
        for (index, flight) in flights.enumerated() {
            // A batch that rests on one with an unknown outcome waits for it, unless it can be sent on that condition.
            let isFirst = flights[..<index].allSatisfy(\.isWhole)
            switch flight.state {
            case .mustAppend(let doubt) where isFirst:
                flights[index].state = .appending(doubt)
                return .append(flight.number, flight.batch, seen: flight.seen)
            case .mustAppendNext:
                flights[index].state = .appendingNext
                return .appendNext(flight.number, flight.batch, after: flight.seen)
            case .mustLookUp(let doubt) where isFirst:
                flights[index].state = .lookingUp(doubt)
                return .lookUp(flight.batch, since: flight.seen)
            case .mustPause(let doubt):
                flights[index].state = .pausing(doubt)
                return .pause
            default: break
            }
        }
        return nil
    }

    private func nextOfReading() -> Action? {
        guard let reading else { return nil }
        switch reading.state {
        case .mustRead:
            self.reading?.state = .reading
            let limit = reading.goal.map { min(Int64(LogFollower.readLimit), $0.position - reading.end.position) }
            return .read(after: reading.end, limit: limit.map { max(1, Int($0)) } ?? LogFollower.readLimit)
        case .mustPause:
            self.reading?.state = .pausing
            return .pause
        case .reading, .pausing: return nil
        }
    }

    /// The point that the next batch is decided at; nil if it cannot be sent yet.
    private var seenByNextBatch: LogPoint? {
        guard reading == nil, flights.count < maximumFlights else { return nil }
        guard let last = flights.last else { return follower.point }
        if case .ended(.success(let receipt)) = last.state { return flights.allSatisfy(\.isWhole) ? receipt.end : nil }
        let isSmooth = flights.allSatisfy { flight in
            switch flight.state {
            case .mustAppend(nil), .appending(nil), .mustAppendNext, .appendingNext: true
            default: flight.isWhole
            }
        }
        // A batch costs the log as much as many events.
        return isSmooth && processor.waitingEvents >= last.batch.events.count ? last.wholeEnd : nil
    }

    /// If the oldest batch has ended otherwise than it was sent, ends the batches that rest on it. Returns whether that
    /// is done: batches that are on the way to the log have to come back first.
    private func endsRest() -> Bool {
        guard flights.count > 1, !flights[0].isWhole else { return true }
        let rest = flights.dropFirst()
        if let next = rest.first, case .ended(.success(let receipt)) = next.state {
            // It is there, so the one before it is.
            let found = AppendReceipt(previous: flights[0].seen, conflicts: [], end: receipt.previous)
            flights[0].state = .ended(.success(found))
            return true
        }
        let isOnTheWay = rest.contains { if case .appendingNext = $0.state { true } else { false } }
        guard !isOnTheWay else { return false }
        if case .ended(.failure(.outcomeUnknown(let reason))) = flights[0].state {
            // What may have come directly behind it is as unknown.
            let doubtful = rest.prefix(while: \.isInDoubt)
            for index in doubtful.indices { end(index, .failure(.outcomeUnknown(reason))) }
            takeBack(after: 1 + doubtful.count)
        } else {
            takeBack(after: 1)
        }
        return true
    }

    /// Takes back all batches but the oldest ones.
    private func takeBack(after count: Int) {
        processor.takeBack(flights.count - count)
        flights.removeSubrange(count...)
    }

    // MARK: Reports

    // `isOverdue` is whether the commands of the batch have waited long enough: then they are told that its outcome is
    // unknown, if it is.

    /// An append has ended.
    public func appended(
        _ number: Int, _ result: Result<AppendReceipt, EventLogError>, isOverdue: Bool = false
    ) {
        guard let index = index(of: number) else { return }
        guard case .appending(let doubt) = flights[index].state else { preconditionFailure("no append is outstanding") }
        switch (result, doubt) {
        case (.failure(.forked(let reason)), _): leave(reason)
        case (.success, _): end(index, result)
        case (.failure(.unavailable), nil): end(index, result)
        case (.failure(.outcomeUnknown(let reason)), nil): flights[index].state = .mustLookUp(Doubt(reason: reason))
        case (.failure(let error), let doubt?): retry(index, doubt, after: error, isOverdue)
        }
    }

    /// An append of a batch behind another has ended; nil if it was not appended.
    public func appendedNext(_ number: Int, _ result: Result<LogPoint?, EventLogError>) {
        guard let index = index(of: number) else { return }
        guard case .appendingNext = flights[index].state else { preconditionFailure("no append is outstanding") }
        switch result {
        case .success(let point?):
            end(index, .success(AppendReceipt(previous: flights[index].seen, conflicts: [], end: point)))
        case .success(nil): flights[index].state = .mustAppend(nil)
        case .failure(.outcomeUnknown(let reason)): flights[index].state = .mustLookUp(Doubt(reason: reason))
        case .failure(.forked(let reason)): leave(reason)
        case .failure(let error): end(index, .failure(error))
        }
    }

    /// A look-up has ended.
    public func lookedUp(_ result: Result<AppendReceipt?, EventLogError>, isOverdue: Bool = false) {
        for index in flights.indices {
            guard case .lookingUp(let doubt) = flights[index].state else { continue }
            switch result {
            case .success(let receipt?): end(index, .success(receipt))
            case .success(nil): flights[index].state = .mustAppend(doubt)
            case .failure(let error): retry(index, doubt, after: error, isOverdue)
            }
        }
    }

    /// Where the batch with that number is; nil if it was given up meanwhile.
    private func index(of number: Int) -> Int? { flights.firstIndex { $0.number == number } }

    private func retry(_ index: Int, _ doubt: Doubt, after error: EventLogError, _ isOverdue: Bool) {
        var doubt = doubt
        doubt.attempts += 1
        if case .outcomeUnknown(let reason) = error { doubt.reason = reason }
        if doubt.attempts < AppendPipeline.outcomeAttempts, !isOverdue {
            flights[index].state = .mustPause(doubt)
        } else {
            end(index, .failure(.outcomeUnknown(doubt.reason)))
        }
    }

    private func end(_ index: Int, _ result: Result<AppendReceipt, EventLogError>) {
        flights[index].state = .ended(result)
        report(.settled(flights[index].number, flights[index].batch, result))
    }

    /// A pause has ended.
    public func paused() {
        for index in flights.indices {
            if case .pausing(let doubt) = flights[index].state { flights[index].state = .mustLookUp(doubt) }
        }
        if case .pausing = reading?.state { reading?.state = .mustRead }
    }

    /// Ends everything, because the log is not the one that was read.
    private func leave(_ reason: String) {
        for flight in flights {
            // The log confirmed this batch and lost it before its callers were told: for them it is in doubt.
            let isDurable = if case .ended(.success) = flight.state { true } else { false }
            processor.failed(isDurable ? .unknown(reason) : .unavailable(reason))
        }
        (flights, reading, isPollDue) = ([], nil, false)
        processor.close(reason)
        report(.forked(reason))
    }

    /// A read has ended.
    public func read(_ result: Result<FollowingEvents, EventLogError>, isOverdue: Bool = false) {
        // There is none if the log was left meanwhile.
        guard var reading, case .reading = reading.state else { return }
        switch result {
        case .success(let following):
            self.reading = nil
            guard let goal = reading.goal else { return absorb(following) }
            reading.state = .mustRead
            if let gap = reading.gap {
                (reading.gap, reading.isGapKnown, reading.end) = (nil, true, gap)
                self.reading = reading
                return
            }
            reading.events += following.events.prefix { $0.position <= goal.position }.map(\.decodedResult)
            guard following.end != goal else { return commitFirst(foreign: reading.events) }
            if following.end.position == goal.position, following.end.digest != nil, goal.digest != nil {
                return leave("the log changed while it was read up to position \(goal.position)")
            }
            let isStuck = following.end.position == reading.end.position || following.end.position >= goal.position
            if isStuck, reading.isGapKnown { return commitFirst(foreign: reading.events) }
            if isStuck { reading.gap = following.end }
            reading.end = isStuck ? goal : following.end
            self.reading = reading
        case .failure(.forked(let reason)): leave(reason)
        case .failure(let error):
            guard reading.goal != nil else {
                self.reading = nil
                return
            }
            reading.failures += 1
            reading.state = .mustPause
            self.reading = reading
            guard reading.failures >= AppendPipeline.outcomeAttempts || isOverdue else { return }
            // The batch is durable. Its outcome is given up only if the log stays out of reach.
            self.reading = nil
            flights.removeFirst()
            processor.failed(.unknown(error.description))
        }
    }

    private func absorb(_ following: FollowingEvents) {
        isPollDue = isPollDue || following.events.count >= LogFollower.readLimit
        let events = following.events.map(\.decodedResult)
        follower.pass(events, upTo: following.end)
        processor.absorb(events)
    }

    // MARK: Ends

    /// Answers the commands of the oldest batch, once everything that other writers appended before it is read.
    private func finishFirst() {
        guard case .ended(let result) = flights[0].state else { preconditionFailure("the batch has not ended") }
        switch result {
        case .success(let receipt):
            follower.learn(head: receipt.previous.position)
            if receipt.previous.position > position {
                // Nothing is passed on before all of it is there: an attempt that is given up half-way is read again.
                reading = Reading(goal: receipt.previous, end: follower.point)
            } else {
                commitFirst(foreign: [])
            }
        case .failure(let error):
            flights.removeFirst()
            switch error {
            case .unavailable(let reason): processor.failed(.unavailable(reason))
            case .outcomeUnknown(let reason): processor.failed(.unknown(reason))
            case .forked(let reason): preconditionFailure("a forked log ends the pipeline: \(reason)")
            }
        }
    }

    private func commitFirst(foreign: [Result<DecodedEvent, CorruptEvent>]) {
        guard case .ended(.success(let receipt)) = flights.removeFirst().state else {
            preconditionFailure("a batch is committed that has not ended")
        }
        follower.pass(foreign, upTo: receipt.previous)
        processor.committed(receipt, foreign: foreign) { [follower] own in follower.pass(own, upTo: receipt.end) }
    }

    // MARK: Loads

    /// The next streams to read from the log; report each by ``loaded(_:_:)``.
    public func nextLoads(atMost count: Int = .max) -> [Load] {
        processor.takeLoads(atMost: count).map { load(all: $0) }
    }

    private func load(all stream: StreamName) -> Load {
        Load(stream: stream, afterVersion: 0, seen: follower.point, leastVersion: processor.leastVersion(stream))
    }

    /// A part of a stream has been read. Returns the next part to read, if there is one.
    public func loaded(_ load: Load, _ result: Result<[RecordedEvent], EventLogError>) -> Load? {
        switch result {
        case .success(let events):
            let known = events.prefix { $0.position <= load.seen.position }
            let isComplete = events.count < load.limit || known.count < events.count
            if let least = load.leastVersion, !load.mendsIndex,
                !known.continues(load.afterVersion, to: isComplete ? least : 0, limit: load.limit)
            {
                // The index, which is derived, does not decide: the stream is read again once the index is mended.
                processor.forgetLoaded(load.stream)
                var again = self.load(all: load.stream)
                again.mendsIndex = true
                return again
            }
            if let corruption = processor.loaded(load.stream, known.map(\.decodedResult), isComplete: isComplete) {
                report(.corrupt(corruption))
            }
            guard !isComplete, let last = events.last else { return nil }
            return Load(
                stream: load.stream, afterVersion: last.version, seen: follower.point,
                leastVersion: load.mendsIndex ? nil : load.leastVersion)
        case .failure(.forked(let reason)):
            // If the log was left meanwhile, the callers that waited for it have been told.
            if processor.isLoading(load.stream) { leave(reason) }
            return nil
        case .failure(let error):
            processor.loadFailed(load.stream, error.description)
            return nil
        }
    }
}
