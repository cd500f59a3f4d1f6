// Posts the events of the log to an address: the log is the outbox.
//
// The promise: every event is posted until the receiver takes it, those of a partition in their order, and none is
// skipped, whenever the process is killed. What was taken just before that is posted again.

package import EventLoop
internal import Foundation
internal import HTTP
package import LineClient
internal import LineProtocol
internal import TextFormats

/// Follows a log over the wire, and posts its events.
@LoopActor
package final class Relay {
    /// What is posted where, and how patiently.
    package struct Settings: Sendable {
        /// The receiver's address, absolute, by `http` or `https`.
        package var url: String
        /// The kinds of events that are posted, as ``RelayedEvent/isOf(_:)`` takes them; none for all.
        package var kinds: [String]
        /// How long a receiver may take for its answer, in seconds.
        package var seconds: Int
        /// How long to wait where anything fails.
        package var backOff: BackOff

        /// Settings of a relay.
        package init(url: String, kinds: [String], seconds: Int, backOff: BackOff) {
            self.url = url
            self.kinds = kinds
            self.seconds = seconds
            self.backOff = backOff
        }
    }

    /// The most events that are read at once.
    private static let page = 100
    /// How long the server is asked to wait for an event, in milliseconds.
    private static let waitMilliseconds = 10_000
    /// The most events that are passed over before the cursor is kept.
    private static let unkept: Int64 = 1_000

    private let settings: Settings
    private let server: ServerEndpoint
    private let table: RelayTable
    private let say: @LoopActor (String) -> Void
    private var secret = WebhookSecret([])
    private var cursors: [RelayCursor] = []
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

    /// Finds out where to go on. Fails if the server or the database cannot be asked now.
    ///
    /// - Parameters:
    ///   - from: the position to begin at instead.
    ///   - only: the partition that is meant by it; nil for all.
    /// - Returns: the position of the next event in each partition.
    package func prepare(from: Int64?, only: Int?) async throws -> [Int64] {
        secret = try await table.secret()
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
        cursors = heads.indices.map { known[$0] ?? RelayCursor() }
        if let from {
            let moved = heads.indices.filter { $0 == only ?? $0 }
            try await table.move(to: from - 1, in: moved)
            for partition in moved { cursors[partition] = RelayCursor(position: from - 1) }
        }
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
                if failures > 0 { await recovered(partition, "partition \(partition): the server answers again") }
                failures = 0
                try await pass(try await events(of: partition, opened), of: partition)
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

    /// The events that follow the cursor, at least one. They come together with the one at the cursor: so what follows
    /// is of the log that was relayed.
    private func events(of partition: Int, _ connection: ServerConnection) async throws -> [RelayedEvent] {
        let cursor = cursors[partition]
        while true {
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
            if !events.isEmpty { return events }
            _ = try await read(
                connection, partition, from: cursor.position + 1, count: 1, ["WAIT", "\(Relay.waitMilliseconds)"])
        }
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

    /// Posts events in their order, and keeps the cursor after each.
    private func pass(_ events: [RelayedEvent], of partition: Int) async throws {
        var kept = cursors[partition].position
        for (index, event) in events.enumerated() {
            let isWanted = event.isOf(settings.kinds)
            if isWanted { await post(event, of: partition) }
            cursors[partition] = RelayCursor(position: event.position, mark: event.mark)
            guard isWanted || index == events.count - 1 || event.position - kept >= Relay.unkept else { continue }
            kept = event.position
            await keepCursor(of: partition)
        }
    }

    /// Posts an event until it is taken.
    private func post(_ event: RelayedEvent, of partition: Int) async {
        let id = "\(partition)-\(event.position)"
        var failures = 0
        while true {
            let timestamp = Int64(Date().timeIntervalSince1970)
            let post = HTTPPost(
                settings.url,
                headers: [
                    ("Content-Type", "application/json"), ("webhook-id", id), ("webhook-timestamp", "\(timestamp)"),
                    ("webhook-signature", secret.signature(id: id, timestamp: timestamp, body: event.document)),
                ], body: event.document, seconds: settings.seconds)
            guard let failure = await Relay.failure(of: post) else {
                if failures > 0 { await recovered(partition, "event \(id) is taken, at attempt \(failures + 1)") }
                return
            }
            failures += 1
            await pause(after: failures, partition, "event \(id) is not taken: the address \(failure)")
        }
    }

    /// Sends on a thread of its own: no other partition waits for a receiver that says nothing.
    private static func failure(of post: HTTPPost) async -> HTTPError? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                do throws(HTTPError) {
                    try post.send()
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: error)
                }
            }
        }
    }

    /// Keeps a cursor, however long that takes: nothing is posted before the database knows what was.
    private func keepCursor(of partition: Int) async {
        var failures = 0
        while true {
            do {
                try await table.save(cursors[partition], of: partition)
                if failures > 0 { say("partition \(partition): the cursor is kept again") }
                return
            } catch {
                failures += 1
                await pause(after: failures, nil, "partition \(partition): the cursor cannot be kept: \(error)")
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
    private func recovered(_ partition: Int, _ what: String) async {
        say(what)
        await note(nil, of: partition)
    }

    /// Notes what fails, if that can be done. Nothing depends on it.
    private func note(_ failure: String?, of partition: Int) async {
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
