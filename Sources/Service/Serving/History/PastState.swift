internal import Application
internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// The log as it was at a moment, and the documents as they were then.
///
/// A position orders the events of its own partition only. A stream of another partition, such as a cart's outlet, is
/// seen as it was at the time when that position was recorded. That time, or the time asked for, also decides which
/// pauses and suspensions had ended.
struct PastState {
    /// How many events are read from the log at once.
    private static let pageEvents = 1_000

    private let log: any EventLog
    private let now: Timestamp
    /// The event at the position that was asked for.
    private let last: RecordedEvent?
    /// How far each partition that was looked at had come.
    private var ends: [Int: Int64] = [:]
    private var eventCount = 0

    /// - Parameter stream: what is asked for; a position is one of its partition.
    init(of stream: StreamName, to moment: Moment, in log: any EventLog) async throws(Failure) {
        try await self.init(log.partitioning.partition(of: stream), to: moment, in: log)
    }

    /// - Parameter partition: the one that a position belongs to.
    private init(_ partition: Int, to moment: Moment, in log: any EventLog) async throws(Failure) {
        self.log = log
        switch moment {
        case .time(let time):
            now = time
            last = nil
        case .position(let position):
            (last, now) = try await PastState.event(at: position, of: partition, in: log)
            ends[partition] = position
        }
    }

    private static func event(
        at position: Int64, of partition: Int, in log: any EventLog
    ) async throws(Failure) -> (RecordedEvent?, Timestamp) {
        let end: Int64
        let event: RecordedEvent?
        do throws(EventLogError) {
            end = try await log.head(of: partition).position
            event = position > 0 ? try await log.read(partition: partition, after: position - 1, limit: 1).first : nil
        } catch {
            throw .unavailable("\(error)")
        }
        guard position <= end else {
            throw .invalid("AT", "partition \(partition) of the log ends at position \(end)")
        }
        // Before the first event there was nothing, whatever the time.
        guard position > 0 else { return (nil, Timestamp(millisecondsSinceEpoch: .min)) }
        guard let event, event.position == position else {
            throw Failure(.corrupt, "the log has no event at position \(position) of partition \(partition)")
        }
        return (event, event.recordedAt)
    }

    /// Whether the event at the position that was asked for is one of these streams'.
    func isLastEvent(of streams: [StreamName]) -> Bool {
        guard let stream = last.flatMap({ StreamName($0.stream) }) else { return false }
        return streams.contains(stream)
    }

    // MARK: Documents

    /// What `OUTLET.HOME` answered.
    mutating func home(of outlet: Identifier, cart: Identifier?) async throws(Failure) -> [UInt8]? {
        let outlets = try await outlets(outlet)
        if let corruption = outlets.corruption(of: outlet) { throw Failure(corruption) }
        let count: Int?
        if let cart, case .cart(let state) = try await state(of: StreamName(.cart, cart)).state {
            count = state.openCount
        } else {
            count = nil
        }
        guard let record = outlets[outlet] else { return nil }
        let document = HomeDocument.bytes(of: record)
        return count.map { document.dropLast() + Array(",\"cartCount\":\($0)}".utf8) } ?? document
    }

    /// What `CART.GET` answered.
    mutating func cart(_ cart: Identifier) async throws(Failure) -> SealedDocument? {
        let committed = try await state(of: StreamName(.cart, cart))
        guard committed.version > 0, case .cart(let state) = committed.state else { return nil }
        var outlets = OutletHome()
        if case .filled(let contents) = state { outlets = try await self.outlets(contents.outlet) }
        let ahead = state.contents.flatMap { contents in
            contents.wanted.map { wanted in
                guard let details = outlets.lastDetails(of: contents.outlet), let rules = ZoneRules(details.timeZone)
                else { return TimeAhead(wanted) }
                return TimeAhead(wanted, details.daypartTimes(at: wanted, in: rules))
            }
        }
        return SealedDocument(state.contents?.textOwner(of: cart)) { [outlets, now] texts in
            CartDocument.bytes(
                of: cart, state: state, version: committed.version, updatedAt: committed.updatedAt, texts: texts
            ) { lines, cart in
                outlets.offers(for: lines, at: cart.outlet, for: cart.service, ahead: ahead, now: now)
            }
        }
    }

    /// What `ORDER.GET` answered.
    mutating func order(_ order: Identifier) async throws(Failure) -> SealedDocument? {
        let committed = try await state(of: StreamName(.order, order))
        return SealedDocument(of: order, committed)
    }

    /// What `ORDERS` answered, or fewer of these orders and a cursor.
    ///
    /// - Parameter placed: the orders that may be among them.
    @concurrent
    static func page(
        of question: OrderQuestion, at moment: Moment, in log: any EventLog,
        placed: @LoopActor @Sendable (PlacedRange) async throws(Failure) -> PlacedOrders
    ) async -> Result<[UInt8], Failure> {
        do throws(Failure) {
            if case .position = moment, log.partitionCount > 1 {
                throw .invalid("AT", "must be a time: the log has \(log.partitionCount) partitions")
            }
            var past = try await PastState(0, to: moment, in: log)
            var all: [(orders: Orders, before: Int64, rest: Int64)] = []
            for partition in 0..<log.partitionCount {
                let end = try await past.end(of: partition)
                let before = min(question.cursor?.positions[partition] ?? .max, end + 1)
                let listed = try await placed(
                    PlacedRange(
                        partition: partition, end: end, before: before,
                        limit: question.maximumOfPast(partitions: log.partitionCount)))
                all.append((try await past.orders(listed.orders), before, listed.rest))
            }
            return .success(
                question.page(before: all.map(\.before)) { partition, position in
                    var patience = OrderQuestion.patience
                    let next = all[partition].orders.newest(question.filter, before: position, patience: &patience)
                    if case .end = next, all[partition].rest > 0 { return .none(from: all[partition].rest) }
                    return next
                })
        } catch {
            return .failure(error)
        }
    }

    /// Which orders of a partition may be on a page.
    struct PlacedRange {
        var partition: Int
        /// Where the partition ended.
        var end: Int64
        /// The position before which the page begins.
        var before: Int64
        /// The most orders.
        var limit: Int
    }

    // MARK: Folding

    /// A stream as it was at a version; nil where that is too many events ago.
    static func state(
        of stream: StreamName, at version: Int64, in log: any EventLog
    ) async throws(Failure) -> CommittedState? {
        guard (1...Int64(Archive.maximumEvents)).contains(version) else { return nil }
        let partition = log.partitioning.partition(of: stream)
        var state = CommittedState(initial: stream.category)
        while state.version < version {
            let events: [RecordedEvent]
            do throws(EventLogError) {
                events = try await log.read(
                    stream: stream, partition: partition, afterVersion: state.version,
                    limit: min(pageEvents, Int(version - state.version)))
            } catch {
                throw .unavailable("\(error)")
            }
            guard !events.isEmpty else { return nil }
            for event in events {
                do throws(CorruptEvent) { try state.take(try event.decoded()) } catch { throw Failure(error) }
            }
        }
        return state
    }

    /// Nothing but these orders.
    private mutating func orders(_ ids: [Identifier]) async throws(Failure) -> Orders {
        var events: [RecordedEvent] = []
        for id in ids { events += try await self.events(of: StreamName(.order, id)) }
        events.sort { $0.position < $1.position }
        return Orders(folding: events.map { event in Result { () throws(CorruptEvent) in try event.decoded() } })
    }

    private mutating func outlets(_ outlet: Identifier) async throws(Failure) -> OutletHome {
        var events = try await events(of: StreamName(.outlet, outlet))
        events += try await self.events(of: StreamName(.menu, outlet))
        events += try await self.events(of: StreamName(.promotions, outlet))
        events.sort { $0.position < $1.position }
        return OutletHome(folding: events.map { event in Result { () throws(CorruptEvent) in try event.decoded() } })
    }

    private mutating func state(of stream: StreamName) async throws(Failure) -> CommittedState {
        var state = CommittedState(initial: stream.category)
        for event in try await events(of: stream) {
            do throws(CorruptEvent) {
                try state.take(try event.decoded())
            } catch {
                throw Failure(error)
            }
        }
        return state
    }

    /// The events that a stream had.
    private mutating func events(of stream: StreamName) async throws(Failure) -> [RecordedEvent] {
        let partition = log.partitioning.partition(of: stream)
        var events: [RecordedEvent] = []
        var version: Int64 = 0
        let end = try await end(of: partition)
        do throws(EventLogError) {
            while true {
                let page = try await log.read(
                    stream: stream, partition: partition, afterVersion: version, limit: PastState.pageEvents)
                let then = page.prefix { $0.position <= end }
                events += then
                eventCount += then.count
                guard eventCount <= Archive.maximumEvents, then.count == PastState.pageEvents else { break }
                version = then.last?.version ?? version
            }
        } catch {
            throw .unavailable("\(error)")
        }
        guard eventCount <= Archive.maximumEvents else {
            throw Failure(.limit, "the document needs more than \(Archive.maximumEvents) events")
        }
        return events
    }

    private mutating func end(of partition: Int) async throws(Failure) -> Int64 {
        if let end = ends[partition] { return end }
        do throws(EventLogError) {
            let end = try await log.lastPosition(of: partition, recordedBy: now)
            ends[partition] = end
            return end
        } catch {
            throw .unavailable("\(error)")
        }
    }
}
