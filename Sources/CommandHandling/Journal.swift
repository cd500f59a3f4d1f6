public import Domain
public import EventLog

/// Moves the batches of one partition to the log and what other writers appended back, one step at a time.
///
/// Belongs to whoever calls it, which must not append or catch up while either is under way. Loads may run
/// beside both, and beside each other.
public final class Journal {
    /// The most events that are read from the log at once.
    public static let readLimit = 5_000
    /// How often the log is asked for the fate of a batch before its commands are answered `UNKNOWN`.
    public static let outcomeAttempts = 100

    /// The processor whose batches are moved.
    public let processor: CommandProcessor
    /// The partition.
    public let partition: Int
    /// The position up to which the partition is known here.
    public private(set) var position: Int64
    /// The last position that the log is known to have; more than ``position`` while what is there is being read.
    public private(set) var head: Int64

    private let log: any EventLog
    private let project: ([Result<DecodedEvent, CorruptEvent>]) -> Void
    private let miss: (MissingEvents) -> Void
    private let pause: @Sendable () async -> Void

    /// - Parameters:
    ///   - position: the position up to which `project` has been given events before.
    ///   - miss: is told of positions without an event, in their turn: what is projected next lies behind them.
    ///   - project: takes every event of the partition, in the order of positions, each once.
    ///   - pause: waits for a moment before the log is tried again.
    public init(
        processor: CommandProcessor, partition: Int, position: Int64, log: any EventLog,
        pause: @escaping @Sendable () async -> Void, miss: @escaping (MissingEvents) -> Void,
        project: @escaping ([Result<DecodedEvent, CorruptEvent>]) -> Void
    ) {
        self.processor = processor
        self.partition = partition
        self.position = position
        head = position
        self.log = log
        self.pause = pause
        self.miss = miss
        self.project = project
    }

    // MARK: Steps

    /// Appends the next batch, if there is one, and tells what became of it. Returns it if it was appended.
    public func appendBatch(now: Timestamp, isolation: isolated (any Actor)? = #isolation) async -> EventBatch? {
        guard let batch = processor.takeBatch(now: now) else { return nil }
        return await finish(batch, await append(batch, seen: position)) ? batch : nil
    }

    /// Appends a batch, through losses of the connection: a batch in doubt is looked up before it is sent again.
    ///
    /// - Parameter seen: the position up to which everything is known that the batch was decided on.
    public func append(
        _ batch: EventBatch, seen: Int64, isolation: isolated (any Actor)? = #isolation
    ) async -> Result<AppendReceipt, EventLogError> {
        var doubt: String
        do throws(EventLogError) {
            return .success(try await log.append(batch, seen: seen))
        } catch {
            guard case .outcomeUnknown(let reason) = error else { return .failure(error) }
            doubt = reason
        }
        for _ in 0..<Journal.outcomeAttempts {
            do throws(EventLogError) {
                if let receipt = try await log.outcome(of: batch, since: seen) { return .success(receipt) }
                return .success(try await log.append(batch, seen: seen))
            } catch {
                switch error {
                case .unavailable: break
                case .outcomeUnknown(let reason): doubt = reason
                }
            }
            await pause()
        }
        return .failure(.outcomeUnknown(doubt))
    }

    /// The position that follows from a batch that was appended as a whole right behind ``position``: the next
    /// batch may then be sent before this one is finished. Nil where something has to be looked at first.
    public func position(after batch: EventBatch, _ result: Result<AppendReceipt, EventLogError>) -> Int64? {
        guard case .success(let receipt) = result, receipt.conflicts.isEmpty, receipt.previousPosition == position
        else { return nil }
        return position + Int64(batch.events.count)
    }

    /// Tells what became of a batch to everybody who waits for it. Returns whether it was appended.
    public func finish(
        _ batch: EventBatch, _ result: Result<AppendReceipt, EventLogError>,
        isolation: isolated (any Actor)? = #isolation
    ) async -> Bool {
        do throws(EventLogError) {
            let receipt = try result.get()
            head = max(head, receipt.previousPosition)
            // Nothing is passed on before all of it is there: what is given up half-way is read again.
            let foreign = try await foreignEvents(upTo: receipt.previousPosition)
            pass(foreign, upTo: receipt.previousPosition)
            processor.committed(receipt, foreign: foreign) { own in pass(own.map(Result.success)) }
            return true
        } catch {
            switch error {
            case .unavailable(let reason): processor.failed(.unavailable(reason))
            case .outcomeUnknown(let reason): processor.failed(.unknown(reason))
            }
            return false
        }
    }

    /// Takes in what other writers appended, at most ``readLimit`` events. Returns whether there may be more.
    public func catchUp(isolation: isolated (any Actor)? = #isolation) async throws(EventLogError) -> Bool {
        let page = try await log.read(partition: partition, after: position, limit: Journal.readLimit)
        let events = page.map(Journal.decode)
        pass(events)
        processor.absorb(events)
        return events.count == Journal.readLimit
    }

    /// Reads the log to its end, before any command is handled. While one page is folded, the next is decoded
    /// and the one after that is read, each beside the other.
    ///
    /// - Parameter progress: is told the position after every page.
    public func readToEnd(
        progress: (Int64) -> Void, isolation: isolated (any Actor)? = #isolation
    ) async throws(EventLogError) {
        var end = position
        var reading = readPage(after: end)
        var decoding: Task<[Result<DecodedEvent, CorruptEvent>], Never>?
        while true {
            let page = try await reading.value.get()
            let previous = decoding
            decoding = nil
            if !page.isEmpty {
                end = page.lastPosition ?? end
                reading = readPage(after: end)
                decoding = Task { await Journal.decode(page) }
            }
            if let previous {
                pass(await previous.value)
                progress(position)
            }
            if page.isEmpty {
                // What was removed from the end shows by nothing that comes after it.
                let head = try await log.heads()[partition].position
                let rest = try await Journal.page(of: log, partition, after: end).get()
                if rest.isEmpty { return pass([], upTo: max(head, end)) }
                reading = readPage(after: end)
            }
        }
    }

    private func readPage(after position: Int64) -> Task<Result<EventPage, EventLogError>, Never> {
        Task { [log, partition] in await Journal.page(of: log, partition, after: position) }
    }

    @concurrent
    private static func page(
        of log: any EventLog, _ partition: Int, after position: Int64
    ) async -> Result<EventPage, EventLogError> {
        do throws(EventLogError) {
            return .success(try await log.page(partition: partition, after: position, limit: readLimit))
        } catch {
            return .failure(error)
        }
    }

    @concurrent
    private static func decode(_ page: EventPage) async -> [Result<DecodedEvent, CorruptEvent>] {
        var events: [Result<DecodedEvent, CorruptEvent>] = []
        events.reserveCapacity(page.count)
        page.forEach { event in events.append(Result { () throws(CorruptEvent) in try event.decoded() }) }
        return events
    }

    /// Loads a stream that the processor asked for.
    public func load(_ stream: StreamName, isolation: isolated (any Actor)? = #isolation) async {
        var version: Int64 = 0
        do throws(EventLogError) {
            var events: [RecordedEvent]
            repeat {
                events = try await log.read(
                    stream: stream, partition: partition, afterVersion: version, limit: Journal.readLimit)
                version = events.last?.version ?? version
                processor.loaded(stream, events.map(Journal.decode), isComplete: events.count < Journal.readLimit)
            } while events.count == Journal.readLimit
        } catch {
            processor.loadFailed(stream, "\(error)")
        }
    }

    // MARK: Parts

    /// What stands in the log between ``position`` and the batch just appended. The batch is durable: only when
    /// the log stays out of reach is its outcome given up.
    private func foreignEvents(
        upTo last: Int64, isolation: isolated (any Actor)? = #isolation
    ) async throws(EventLogError) -> [Result<DecodedEvent, CorruptEvent>] {
        var events: [Result<DecodedEvent, CorruptEvent>] = []
        var end = position
        var failures = 0
        while end < last {
            do throws(EventLogError) {
                let limit = Int(min(Int64(Journal.readLimit), last - end))
                let page = try await log.read(partition: partition, after: end, limit: limit)
                let foreign = page.prefix { $0.position <= last }
                events += foreign.map(Journal.decode)
                // Everything up to `last` can be seen: what is not there is not coming.
                end = foreign.last?.position ?? last
            } catch {
                failures += 1
                guard failures < Journal.outcomeAttempts else { throw .outcomeUnknown("\(error)") }
                await pause()
            }
        }
        return events
    }

    /// Projects events that follow ``position``, and tells of those that are missing before them and up to `end`.
    private func pass(_ events: [Result<DecodedEvent, CorruptEvent>], upTo end: Int64 = 0) {
        var rest = events[...]
        while let first = rest.first {
            skip(to: Journal.position(of: first) - 1)
            var next = position + 1
            let dense = rest.prefix { event in
                defer { next += 1 }
                return Journal.position(of: event) == next
            }
            position += Int64(dense.count)
            head = max(head, position)
            project(Array(dense))
            rest = rest.dropFirst(dense.count)
        }
        skip(to: end)
    }

    /// Goes past positions that have no event.
    private func skip(to last: Int64) {
        guard last > position else { return }
        let missing = MissingEvents(partition: partition, positions: position + 1...last)
        position = last
        head = max(head, position)
        miss(missing)
    }

    private static func position(of event: Result<DecodedEvent, CorruptEvent>) -> Int64 {
        switch event {
        case .success(let event): event.position
        case .failure(let corruption): corruption.position
        }
    }

    private static func decode(_ event: RecordedEvent) -> Result<DecodedEvent, CorruptEvent> {
        Result { () throws(CorruptEvent) in try event.decoded() }
    }
}
