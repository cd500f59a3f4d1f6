// Posts the events of the log to an address: the log is the outbox.
//
// The promise: every event is posted until the receiver takes it, those of a stream in their order, and none is
// skipped, whenever the process is killed. What was taken just before that is posted again. An event is given up only
// after so many refusals, if that is wanted, and is kept then.

package import EventLoop
internal import Foundation
internal import HTTP
package import LineClient
internal import LineProtocol
internal import Parallelism
internal import TextFormats

/// Follows a log over the wire, and posts its events.
@LoopActor
package final class Relay {
    /// What is posted where, and how patiently.
    package struct Settings: Sendable {
        /// The receiver.
        package var destination: RelayDestination
        /// What is written of an event.
        package var format: RelayFormat
        /// Which log it is, for CloudEvents: a reference to a URI.
        package var source: String
        /// The kinds of events that are posted, as ``RelayedEvent/isOf(_:)`` takes them; none for all.
        package var kinds: [String]
        /// How long a receiver may take for its answer, in seconds.
        package var seconds: Int
        /// How long to wait where anything fails.
        package var backOff: BackOff
        /// After how many refusals an event is set aside; nil for never.
        package var refusalLimit: Int?
        /// For how long an event is refused until it is set aside, in seconds; nil for ever.
        package var refusalSeconds: Int64?

        /// Settings of a relay.
        package init(
            destination: RelayDestination, format: RelayFormat, source: String, kinds: [String], seconds: Int,
            backOff: BackOff, refusalLimit: Int?, refusalSeconds: Int64?
        ) {
            self.destination = destination
            self.format = format
            self.source = source
            self.kinds = kinds
            self.seconds = seconds
            self.backOff = backOff
            self.refusalLimit = refusalLimit
            self.refusalSeconds = refusalSeconds
        }
    }

    /// The most events that are read at once.
    private static let page = 100
    /// How long the server is asked to wait for an event, in milliseconds.
    private static let waitMilliseconds: Int64 = 10_000
    /// How long at most until it is noticed that somebody had an event sent again, in milliseconds.
    private static let lookMilliseconds: Int64 = 1_000
    /// The most events that are passed over before the cursor is kept.
    private static let unkept: Int64 = 1_000

    private let settings: Settings
    private let server: ServerEndpoint
    private let table: RelayTable
    private let say: @LoopActor (String) -> Void
    private var secret = WebhookSecret([])
    private var cursors: [RelayCursor] = []
    private var held: [HeldBack] = []
    /// The events for which a partition waits, by partitions.
    private var stuck: [Int: HeldBack.Delivery] = [:]
    /// The partitions whose trouble is noted for others to see.
    private var noted: Set<Int> = []
    private let start = ContinuousClock.now
    private var random = SystemRandomNumberGenerator()

    /// - Parameter say: told, for an operator, what goes wrong and when it is well again.
    package init(
        _ settings: Settings, server: ServerEndpoint, table: RelayTable, say: @escaping @LoopActor (String) -> Void
    ) {
        self.settings = settings
        self.server = server
        self.table = table
        self.say = say
    }

    /// Finds out where to go on. Fails if the server or the database cannot be asked now, or has lost that.
    ///
    /// - Parameters:
    ///   - from: the position to begin at instead.
    ///   - only: the partition that is meant by it; nil for all.
    /// - Returns: the position of the next event in each partition.
    package func prepare(from: Int64?, only: Int?) async throws -> [Int64] {
        secret = try await table.secret(remakes: from != nil && only == nil)
        let connection = try await ServerConnection(to: server)
        defer { connection.close() }
        connection.enqueue(["LOG.HEAD"])
        guard let document = try Relay.checked(try await connection.nextReply()).bytes,
            case .array(let heads)? = try? JSONValue(document)
        else { throw RelayError("LOG.HEAD was not answered with the heads of the log") }
        if let only, !heads.indices.contains(only) {
            throw RelayError("the log has partitions 0 to \(heads.count - 1)")
        }
        let known = try await table.cursors()
        let moved = from == nil ? [] : heads.indices.filter { $0 == only ?? $0 }
        let lost = heads.indices.filter { known[$0] == nil && !moved.contains($0) }
        guard lost.isEmpty else {
            throw RelayError(
                "tiffin.relay_cursors has lost the relay's place in \(lost.count == 1 ? "partition" : "partitions") "
                    + lost.map { "\($0)" }.joined(separator: ", ")
                    + ". '--from <position>' goes on there, with '--partition <n>' in one partition alone")
        }
        cursors = heads.indices.map { known[$0] ?? RelayCursor() }
        if let from {
            try await table.move(to: from - 1, in: moved)
            for partition in moved { cursors[partition] = RelayCursor(position: from - 1) }
        }
        let patience = HeldBack.Patience(
            refusals: settings.refusalLimit, time: settings.refusalSeconds.map { $0 * 1_000 })
        held = heads.map { _ in HeldBack(patience) }
        for partition in heads.indices { try await look(partition) }
        noted = Set(heads.indices)
        return cursors.map { $0.position + 1 }
    }

    /// Posts what follows, for ever.
    ///
    /// - Throws: ``RelayError`` if the log is not the one that was relayed.
    package func run(partition: Int) async throws(RelayError) {
        var connection: ServerConnection?
        var failures = 0
        while true {
            do {
                let opened: ServerConnection
                if let connection { opened = connection } else { opened = try await ServerConnection(to: server) }
                connection = opened
                if failures > 0 {
                    say("partition \(partition): the server answers again")
                    failures = 0
                }
                if !held[partition].isEmpty { try await look(partition) }
                try await sendDue(of: partition, opened)
                try await pass(try await events(of: partition, opened), of: partition, opened)
            } catch let error as RelayError {
                throw error
            } catch {
                connection?.close()
                connection = nil
                failures += 1
                await pause(after: failures, partition, "partition \(partition): \(error)")
            }
        }
    }

    // MARK: Reading

    /// The events that follow the cursor; none after a wait for some. They come together with the one at the cursor: so
    /// what follows is of the log that was relayed.
    private func events(of partition: Int, _ connection: ServerConnection) async throws -> [RelayedEvent] {
        let cursor = cursors[partition]
        var events = try await read(
            connection, partition, from: max(1, cursor.position), count: Relay.page + 1)
        if let mark = cursor.mark {
            guard let last = events.first, last.position == cursor.position, last.mark == mark else {
                throw RelayError(
                    "partition \(partition): the log does not have what was relayed up to position "
                        + "\(cursor.position) (\(mark)). It has lost its newest events, or another took its place. "
                        + "'--from <position>' goes on; the receiver then gets ids that it knows from other events."
                )
            }
        }
        events.removeAll { $0.position <= cursor.position }
        guard events.isEmpty else { return events }
        if noted.contains(partition), held[partition].count == 0 { await note(nil, of: partition) }
        let wait = idleMilliseconds(partition)
        guard wait > 0 else { return [] }
        _ = try await read(connection, partition, from: cursor.position + 1, count: 1, ["WAIT", "\(wait)"])
        return []
    }

    /// How long a partition may wait for something that happens elsewhere, in milliseconds.
    private func idleMilliseconds(_ partition: Int) -> Int64 {
        guard !held[partition].isEmpty else { return Relay.waitMilliseconds }
        return min(Relay.lookMilliseconds, held[partition].wait(at: now) ?? .max)
    }

    /// Reads what is held back: others have events sent again or skip them.
    private func look(_ partition: Int) async throws {
        let (deliveries, setAside) = try await table.heldBack(in: partition, now: now)
        held[partition].replace(deliveries, setAside: setAside)
    }

    /// The time since the relay began, in milliseconds.
    private var now: Int64 {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }

    private func read(
        _ connection: ServerConnection, _ partition: Int, from position: Int64, count: Int, _ options: [String] = []
    ) async throws -> [RelayedEvent] {
        connection.enqueue(
            ["LOG.READ", "PARTITION", "\(partition)", "FROM", "\(position)", "COUNT", "\(count)"] + options)
        guard case .array(let documents) = try Relay.checked(try await connection.nextReply()) else {
            throw RelayError("LOG.READ was not answered with events")
        }
        return try documents.map { document in try RelayedEvent(document.bytes ?? []) }
    }

    private static func checked(_ reply: Reply) throws -> Reply {
        if case .error(let code, let message) = reply { throw ServerRefusal(description: "\(code) \(message)") }
        return reply
    }

    // MARK: Posting

    /// Posts events in their order, and keeps the cursor after each. Ends early where the partition has to wait.
    private func pass(_ events: [RelayedEvent], of partition: Int, _ connection: ServerConnection) async throws {
        var kept = cursors[partition].position
        for (index, event) in events.enumerated() {
            let cursor = RelayCursor(position: event.position, mark: event.mark)
            if event.isOf(settings.kinds) {
                guard try await pass(event, cursor, of: partition) else { return }
                kept = event.position
                try await sendDue(of: partition, connection)
                continue
            }
            cursors[partition] = cursor
            guard index == events.count - 1 || event.position - kept >= Relay.unkept else { continue }
            kept = event.position
            await keepCursor(of: partition)
        }
    }

    /// Posts an event that follows, or has it wait.
    ///
    /// - Returns: whether the relay goes on behind it.
    private func pass(_ event: RelayedEvent, _ cursor: RelayCursor, of partition: Int) async throws -> Bool {
        var delivery = HeldBack.Delivery(position: event.position, stream: event.stream, mark: event.mark)
        switch held[partition].step(for: event.stream) {
        case .hold:
            held[partition].hold(delivery)
            stuck[partition] = nil
            cursors[partition] = cursor
            await keep("the cursor", of: partition) { [delivery] in
                try await self.table.hold(delivery, in: partition, cursor, answer: nil, wait: 0)
            }
            return true
        case .wait:
            await LoopTimer.pause(milliseconds: UInt64(max(1, idleMilliseconds(partition))))
            return false
        case .post: break
        }
        if let known = stuck[partition], known.position == event.position { delivery = known }
        if delivery.due > now {
            await LoopTimer.pause(
                milliseconds: UInt64(max(1, min(delivery.due - now, idleMilliseconds(partition)))))
            return false
        }
        let failure = try await attempt(event, of: partition)
        stuck[partition] = nil
        guard let failure else {
            cursors[partition] = cursor
            await keepCursor(of: partition)
            if delivery.attempts > 0 { await taken(delivery, of: partition) }
            return true
        }
        let wait = count(failure, of: &delivery)
        var isNext = true
        if failure.isRefusal {
            let outcome = held[partition].refused(delivery)
            isNext = outcome == .noRoom
            if !isNext {
                cursors[partition] = cursor
                await keep("the cursor", of: partition) { [delivery] in
                    try await self.table.hold(
                        delivery, in: partition, cursor, answer: failure.reason, wait: wait,
                        setsAside: outcome == .setAside)
                }
            }
            await notTaken(delivery, of: partition, failure, outcome == .setAside ? nil : wait)
        } else {
            await notTaken(delivery, of: partition, failure, wait)
        }
        if isNext { stuck[partition] = delivery }
        return !isNext
    }

    /// Posts the event that has been due for longest, if there is one.
    private func sendDue(of partition: Int, _ connection: ServerConnection) async throws {
        guard var delivery = held[partition].due(at: now) else { return }
        let found = try await read(connection, partition, from: delivery.position, count: 1).first
        let id = "\(partition)-\(delivery.position)"
        guard let event = found, event.position == delivery.position, event.mark == delivery.mark else {
            throw RelayError(
                "the log does not have event \(id) (\(delivery.mark)), which is held back. It has lost its newest "
                    + "events, or another took its place. '--skip \(id)' goes on without it.")
        }
        let failure = try await attempt(event, of: partition)
        guard let failure else {
            held[partition].taken(delivery)
            await keep("what is held back", of: partition) {
                try await self.table.remove(event.position, in: partition)
            }
            await taken(delivery, of: partition)
            return
        }
        let wait = count(failure, of: &delivery)
        let setsAside = held[partition].failed(delivery)
        await keep("what is held back", of: partition) { [delivery] in
            try await self.table.retry(
                delivery, in: partition, answer: failure.reason, wait: wait, setsAside: setsAside)
        }
        await notTaken(delivery, of: partition, failure, setsAside ? nil : wait)
    }

    /// Counts an attempt that failed, and returns how long to wait for the next one, in milliseconds.
    private func count(_ failure: DeliveryFailure, of delivery: inout HeldBack.Delivery) -> UInt64 {
        let wait = settings.backOff.wait(after: delivery.attempts + 1, atLeast: failure.pause, &random)
        delivery.failed(isRefused: failure.isRefusal, at: now, wait: wait)
        return wait
    }

    /// Sends on a thread of its own: no other partition waits for a receiver that says nothing.
    private func attempt(_ event: RelayedEvent, of partition: Int) async throws(RelayError) -> DeliveryFailure? {
        let id = "\(partition)-\(event.position)"
        let body = settings.format.body(of: event, id: id, source: settings.source)
        switch settings.destination {
        case .web(let url):
            let timestamp = Int64(Date().timeIntervalSince1970)
            let post = HTTPPost(
                url,
                headers: [
                    ("Content-Type", settings.format.contentType), ("webhook-id", id),
                    ("webhook-timestamp", "\(timestamp)"),
                    ("webhook-signature", secret.signature(id: id, timestamp: timestamp, body: body)),
                ] + (event.trace.map { [("traceparent", $0.description)] } ?? []), body: body,
                seconds: settings.seconds)
            return await onThread { () throws(HTTPError) in try post.send() }.failure.map { DeliveryFailure($0) }
        case .lines(let file):
            let failure = await onThread { () throws(LineFileError) in try file.append(body) }.failure
            if let failure, failure.isEnd { throw RelayError(failure.description) }
            return failure.map { DeliveryFailure($0) }
        }
    }

    private func keepCursor(of partition: Int) async {
        await keep("the cursor", of: partition) { try await self.table.save(self.cursors[partition], of: partition) }
    }

    /// Keeps something, however long that takes: nothing is posted before the database knows what was.
    private func keep(_ what: String, of partition: Int, _ save: @LoopActor () async throws -> Void) async {
        var failures = 0
        while true {
            do {
                try await save()
                if failures > 0 { say("partition \(partition): \(what) is kept again") }
                return
            } catch {
                failures += 1
                await pause(after: failures, nil, "partition \(partition): \(what) cannot be kept: \(error)")
            }
        }
    }

    /// - Parameter partition: whose trouble is noted for others to see; nil where it cannot be.
    private func pause(after failures: Int, _ partition: Int?, _ what: String) async {
        if let partition { await note(what, of: partition) }
        let wait = settings.backOff.wait(after: failures, &random)
        say("\(what). Trying again in \(Double(wait) / 1_000) s (failure \(failures))")
        await LoopTimer.pause(milliseconds: wait)
    }
}

extension Relay {
    private func taken(_ delivery: HeldBack.Delivery, of partition: Int) async {
        say("event \(partition)-\(delivery.position) is taken, at attempt \(delivery.attempts + 1)")
        if held[partition].count == 0 { await note(nil, of: partition) }
    }

    /// - Parameter wait: how long it is until the event is posted again, in milliseconds; nil if it is set aside.
    private func notTaken(
        _ delivery: HeldBack.Delivery, of partition: Int, _ failure: DeliveryFailure, _ wait: UInt64?
    ) async {
        let what = "event \(partition)-\(delivery.position) is not taken: \(failure.reason)"
        await note(what, of: partition)
        let next = wait.map { "Trying again in \(Double($0) / 1_000) s" } ?? "It is set aside"
        say("\(what). \(next) (failure \(delivery.attempts))")
    }

    /// Notes what fails, if that can be done. Nothing depends on it.
    private func note(_ failure: String?, of partition: Int) async {
        if failure == nil { noted.remove(partition) } else { noted.insert(partition) }
        try? await table.note(failure, of: cursors[partition], in: partition)
    }
}

/// What the server answered instead of what was asked.
private struct ServerRefusal: Error, CustomStringConvertible {
    let description: String
}

extension Reply {
    /// The bytes of a string.
    fileprivate var bytes: [UInt8]? {
        if case .bulk(let bytes) = self { bytes } else { string.map { Array($0.utf8) } }
    }
}

extension Result {
    /// The error; nil where there is none.
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
