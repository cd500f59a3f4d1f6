public import Domain
public import EventLog

/// Drives the batches of one partition to the log and brings back what other writers appended: a state machine that
/// knows no clock, no socket and no task.
///
/// Its owner asks for actions (``next(now:)``, ``nextLoads(atMost:)``) until there is none, carries each out on an
/// `EventLog`, and reports the result. Actions may be carried out in any order and may overlap; at most one of each
/// kind is outstanding, except for loads.
///
/// Production and the simulation drive the same object.
public final class AppendPipeline {
    /// How often the log is asked for the outcome of a batch before its commands are answered `UNKNOWN`.
    public static let outcomeAttempts = 100

    /// What the owner is to do.
    public enum Action: Equatable, Sendable {
        /// Append the batch, and report by ``AppendPipeline/appended(_:)``.
        case append(EventBatch, seen: LogPoint)
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
        /// The most events to read.
        public let limit = LogFollower.readLimit
    }

    /// A batch that was sent, and what is known about it.
    private struct Flight {
        let batch: EventBatch
        /// The point that the batch was decided at: everything up to it is known.
        let seen: LogPoint
        var state = FlightState.mustAppend(nil)
    }

    private enum FlightState {
        case mustAppend(Doubt?)
        case appending(Doubt?)
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
        case settled(EventBatch, Result<AppendReceipt, EventLogError>)
        /// A stream that was loaded has an event that cannot be understood, or cannot have happened.
        case corrupt(CorruptEvent)
        /// The log is not the one that was read. The pipeline has ended: another one has to begin with the log as it is.
        case forked(String)
    }

    /// The processor whose batches are driven.
    public let processor: CommandProcessor
    private let follower: LogFollower
    private let report: (Report) -> Void
    /// Batches whose commands are not answered, oldest first. Only the last one can lack its outcome: the others have
    /// ended without a conflict, each directly after the one before.
    private var flights: [Flight] = []
    private var reading: Reading?
    private var isPollDue = false

    /// A pipeline from a processor to a log that is read by the follower.
    public init(
        processor: CommandProcessor, follower: LogFollower, report: @escaping (Report) -> Void = { _ in }
    ) {
        self.processor = processor
        self.follower = follower
        self.report = report
    }

    private var position: Int64 { follower.position }

    /// Whether nothing is in flight or waits to be sent, except for loads.
    public var isIdle: Bool { flights.isEmpty && reading == nil && !processor.hasBatch }

    /// Looks for what other writers appended as soon as no batch is waiting.
    public func pollSoon() { isPollDue = true }

    // MARK: Actions

    /// The next action, or nil until something outstanding is reported, a command is handled or a poll is due.
    ///
    /// If a batch has ended and nothing has to be read first, the action that sends the next one comes before the
    /// commands of the ended one are answered. So carry an action out before asking for the next.
    public func next(now: @autoclosure () -> Timestamp) -> Action? {
        while true {
            if let action = nextOfLastFlight() ?? nextOfReading() { return action }
            if processor.hasBatch, let seen = seenByNextBatch, let batch = processor.takeBatch(now: now()) {
                flights.append(Flight(batch: batch, seen: seen))
            } else if let first = flights.first, case .ended(let result) = first.state, reading == nil {
                finishFirst(result)
            } else if isPollDue, flights.isEmpty, reading == nil {
                isPollDue = false
                reading = Reading(goal: nil, end: follower.point)
            } else {
                return nil
            }
        }
    }

    private func nextOfLastFlight() -> Action? {
        guard let flight = flights.last else { return nil }
        switch flight.state {
        case .mustAppend(let doubt):
            setLast(.appending(doubt))
            return .append(flight.batch, seen: flight.seen)
        case .mustLookUp(let doubt):
            setLast(.lookingUp(doubt))
            return .lookUp(flight.batch, since: flight.seen)
        case .mustPause(let doubt):
            setLast(.pausing(doubt))
            return .pause
        case .appending, .lookingUp, .pausing, .ended: return nil
        }
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

    private func setLast(_ state: FlightState) { flights[flights.count - 1].state = state }

    /// The point that the next batch is decided at; nil if it cannot be sent yet.
    ///
    /// A batch that was appended without a conflict, directly after ``position``, leaves nothing to decide again. So
    /// the next batch may be in flight while that one's commands are answered.
    private var seenByNextBatch: LogPoint? {
        guard reading == nil else { return nil }
        guard let flight = flights.first else { return follower.point }
        guard flights.count == 1, case .ended(.success(let receipt)) = flight.state, receipt.conflicts.isEmpty,
            receipt.previous.position == position
        else { return nil }
        return receipt.end
    }

    // MARK: Reports

    // `isOverdue` is whether the commands of the batch have waited long enough: then they are told that its outcome is
    // unknown, if it is.

    /// An append has ended.
    public func appended(_ result: Result<AppendReceipt, EventLogError>, isOverdue: Bool = false) {
        guard case .appending(let doubt) = flights.last?.state else { preconditionFailure("no append is outstanding") }
        switch (result, doubt) {
        case (.failure(.forked(let reason)), _): leave(reason)
        case (.success, _): end(result)
        case (.failure(.unavailable), nil): end(result)
        case (.failure(.outcomeUnknown(let reason)), nil): setLast(.mustLookUp(Doubt(reason: reason)))
        case (.failure(let error), let doubt?): retry(doubt, after: error, isOverdue)
        }
    }

    /// A look-up has ended.
    public func lookedUp(_ result: Result<AppendReceipt?, EventLogError>, isOverdue: Bool = false) {
        guard case .lookingUp(let doubt) = flights.last?.state else {
            preconditionFailure("no look-up is outstanding")
        }
        switch result {
        case .success(let receipt?): end(.success(receipt))
        case .success(nil): setLast(.mustAppend(doubt))
        case .failure(let error): retry(doubt, after: error, isOverdue)
        }
    }

    /// Ends everything, because the log is not the one that was read.
    private func leave(_ reason: String) {
        for flight in flights {
            // What the log confirmed, and has lost before it was told, is in doubt for whoever waits for it.
            let isDurable = if case .ended(.success) = flight.state { true } else { false }
            processor.failed(isDurable ? .unknown(reason) : .unavailable(reason))
        }
        (flights, reading, isPollDue) = ([], nil, false)
        processor.close(reason)
        report(.forked(reason))
    }

    private func retry(_ doubt: Doubt, after error: EventLogError, _ isOverdue: Bool) {
        var doubt = doubt
        doubt.attempts += 1
        if case .outcomeUnknown(let reason) = error { doubt.reason = reason }
        if doubt.attempts < AppendPipeline.outcomeAttempts, !isOverdue {
            setLast(.mustPause(doubt))
        } else {
            end(.failure(.outcomeUnknown(doubt.reason)))
        }
    }

    private func end(_ result: Result<AppendReceipt, EventLogError>) {
        setLast(.ended(result))
        if let batch = flights.last?.batch { report(.settled(batch, result)) }
    }

    /// A pause has ended.
    public func paused() {
        if case .pausing(let doubt) = flights.last?.state {
            setLast(.mustLookUp(doubt))
        } else if case .pausing = reading?.state {
            reading?.state = .mustRead
        } else {
            preconditionFailure("no pause is outstanding")
        }
    }

    /// A read has ended.
    public func read(_ result: Result<FollowingEvents, EventLogError>, isOverdue: Bool = false) {
        guard var reading, case .reading = reading.state else { preconditionFailure("no read is outstanding") }
        switch result {
        case .success(let following):
            self.reading = nil
            guard let goal = reading.goal else { return absorb(following) }
            guard reading.end != goal else { return commitFirst(foreign: reading.events) }
            reading.events += following.events.prefix { $0.position <= goal.position }.map(\.decodedResult)
            guard following.end != goal else { return commitFirst(foreign: reading.events) }
            if following.end.position == goal.position, following.end.digest != nil, goal.digest != nil {
                return leave("the log changed while it was read up to position \(goal.position)")
            }
            // Where the goal is not met, events were removed, or the log is not the one that has the goal. What follows
            // the goal tells.
            let isStuck = following.end.position == reading.end.position || following.end.position >= goal.position
            reading.end = isStuck ? goal : following.end
            reading.state = .mustRead
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
    private func finishFirst(_ result: Result<AppendReceipt, EventLogError>) {
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
        processor.takeLoads(atMost: count).map { Load(stream: $0, afterVersion: 0) }
    }

    /// A part of a stream has been read. Returns the next part to read, if there is one.
    public func loaded(_ load: Load, _ result: Result<[RecordedEvent], EventLogError>) -> Load? {
        switch result {
        case .success(let events):
            // What lies behind the point up to which the log is known here may be lost again, and no append would notice.
            let known = events.prefix { $0.position <= position }
            let isComplete = events.count < load.limit || known.count < events.count
            if let corruption = processor.loaded(load.stream, known.map(\.decodedResult), isComplete: isComplete) {
                report(.corrupt(corruption))
            }
            guard !isComplete, let last = events.last else { return nil }
            return Load(stream: load.stream, afterVersion: last.version)
        case .failure(let error):
            processor.loadFailed(load.stream, error.description)
            return nil
        }
    }
}
