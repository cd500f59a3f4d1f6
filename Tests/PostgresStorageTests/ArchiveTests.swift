import Domain
import EventLog
import EventLogContract
import EventLoop
import Foundation
import Postgres
import SeededRandom
import TestSupport
import Testing

@testable import PostgresStorage

@Suite struct ArchiveTests {
    init() { LoopActor.startInBackground() }

    @Test(arguments: Clause.whatIsRead) @LoopActor
    func `A log that is archived between any two calls keeps the contract`(_ clause: Clause) async throws {
        try await TestLog.with(partitions: clause.partitionCount) { test in
            try await Folder.with { folder in
                try await clause.check(ArchivingLog(test.log, test.database, folder))
            }
        }
    }

    @Test(arguments: [1, 2, 3]) @LoopActor
    func `What is read of a log is the same once a part of it was archived`(_ seed: UInt64) async throws {
        try await TestLog.with { test in
            var random = SeededGenerator(seed: seed)
            var writer = LogWriter(test.log)
            let streams = (0..<5).map { StreamName.cart("c\($0)") }
            for mark in 1...40 {
                let count = Int.random(in: 1...20, using: &random)
                let group = (0..<count).map { _ in streams.randomElement(using: &random)! }
                _ = try await writer.append([group], marks: [mark])
                try await writer.catchUp()
            }
            let events = try await test.log.read(partition: 0, after: 0, limit: .max)
            try await test.log.indexStreams(of: 0)
            let index = try await test.streamIndex()
            try await Folder.with { folder in
                let old = try await test.archive(folder, before: LogWriter.time(mark: 25))
                #expect(old == Int64(events.count { $0.recordedAt < LogWriter.time(mark: 25) }))
                try await compare(test.log, events, streams, &random)

                // An index that was emptied is filled from the folder, and nothing is missed meanwhile.
                try await test.owner.runScript("DELETE FROM tiffin.stream_index")
                try await compare(test.log, events, streams, &random)
                try await test.log.indexStreams(of: 0)
                #expect(try await test.streamIndex() == index)
                try await compare(test.log, events, streams, &random)
            }
        }
    }

    @LoopActor
    private func compare(
        _ log: PostgresEventLog, _ events: [RecordedEvent], _ streams: [StreamName], _ random: inout SeededGenerator
    ) async throws {
        for _ in 0..<20 {
            let (after, limit) = (
                Int.random(in: 0...events.count, using: &random), Int.random(in: 1...99, using: &random)
            )
            let expected = Array(events.dropFirst(after).prefix(limit))
            #expect(try await log.read(partition: 0, after: Int64(after), limit: limit) == expected)
            let page = try await log.page(partition: 0, after: Int64(after), limit: limit)
            var found: [RecordedEvent] = []
            page.forEach { found.append($0.recorded) }
            #expect(found == expected)
        }
        for stream in streams {
            let own = events.filter { $0.stream == stream.description }
            for limit in [1, 3, 50, .max] {
                // Page by page, as histories are read, while others read other streams.
                var found: [RecordedEvent] = []
                while true {
                    let page = try await log.read(
                        stream: stream, partition: 0, afterVersion: found.last?.version ?? 0, limit: limit)
                    _ = try await log.read(
                        stream: streams.randomElement(using: &random)!, partition: 0, afterVersion: 1, limit: 2)
                    found += page
                    if page.count < limit { break }
                }
                #expect(found == own)
            }
        }
    }

    @Test @LoopActor func `A writer that stands before what was archived reads the log again`() async throws {
        try await TestLog.with { test in
            var writer = LogWriter(test.log)
            _ = try await writer.append([[.cart("a")]], marks: [1])
            try await writer.catchUp()
            let late = LogWriter(test.log).batch([[.cart("b")]], marks: [9])
            try await Folder.with { folder in
                _ = try await test.archive(folder, before: LogWriter.time(mark: 2))
                let error = await #expect(throws: EventLogError.self) {
                    try await test.log.append(late, seen: .start)
                }
                guard case .forked = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(try await test.log.head(of: 0).position == 1)
            }
        }
    }

    @Test(arguments: [
        "last_position = -9223372036854775808", "last_position = 9223372036854775807", "content_digest = ''",
    ])
    @LoopActor
    func `An archived batch whose row was altered is not read`(_ change: String) async throws {
        try await TestLog.with { test in
            var writer = LogWriter(test.log)
            _ = try await writer.append([[.cart("a")]], marks: [1])
            try await writer.catchUp()
            try await test.log.indexStreams(of: 0)
            try await Folder.with { folder in
                _ = try await test.archive(folder, before: LogWriter.time(mark: 2))
                try await test.owner.runScript("UPDATE tiffin.batches SET \(change)")
                await #expect(throws: EventLogError.self) {
                    try await test.log.read(stream: .cart("a"), partition: 0, afterVersion: 0, limit: 9)
                }
            }
        }
    }

    @Test @LoopActor func `A stream that was archived does not begin a second time`() async throws {
        try await TestLog.with { test in
            var writer = LogWriter(test.log)
            _ = try await writer.append([[.cart("a")], [.cart("b")]], marks: [1, 1])
            try await writer.catchUp()
            let seen = writer.seen
            try await Folder.with { folder in
                _ = try await test.archive(folder, before: LogWriter.time(mark: 2))
                let again = LogWriter(test.log).batch([[.cart("a")], [.cart("c")]], marks: [9, 9])
                let receipt = try await test.log.append(again, seen: seen)
                #expect(receipt.stale == [.cart("a")] && receipt.conflicts == [0, 1])
            }
        }
    }
}

/// A folder for a backup, which is removed.
private enum Folder {
    @LoopActor
    static func with(_ body: @LoopActor (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tiffin-archive-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }
}

extension TestLog {
    /// Archives what was recorded before a time. Returns how many events that was.
    fileprivate func archive(_ folder: String, before time: Timestamp) async throws -> Int64 {
        _ = try await LogBackup.run(database, to: folder, at: "") { _, _ in }
        return try await LogArchive.run(database, to: folder, before: time) { _, _ in }.archived
    }

    /// The index of streams, a text a row.
    fileprivate func streamIndex() async throws -> [String] {
        let rows = try await owner.execute(
            Statement("index_rows", "SELECT i::text AS row FROM tiffin.stream_index AS i ORDER BY 1"))
        return rows.map { $0["row"] }
    }
}

/// A log of which everything is archived before every fifth read that follows something new.
@LoopActor
private final class ArchivingLog: EventLog {
    nonisolated let partitioning: Partitioning
    private let log: PostgresEventLog
    private let database: String
    private let folder: String
    private var turn = 0
    private var hasNew = false
    private var isArchiving = false

    init(_ log: PostgresEventLog, _ database: String, _ folder: String) {
        self.log = log
        self.database = database
        self.folder = folder
        partitioning = log.partitioning
    }

    private func appending() -> PostgresEventLog {
        hasNew = true
        return log
    }

    private func archived() async throws(EventLogError) -> PostgresEventLog {
        guard hasNew, !isArchiving else { return log }
        turn += 1
        guard turn.isMultiple(of: 5) else { return log }
        (hasNew, isArchiving) = (false, true)
        defer { isArchiving = false }
        do {
            _ = try await LogBackup.run(database, to: folder, at: "") { _, _ in }
            _ = try await LogArchive.run(database, to: folder, before: Timestamp(millisecondsSinceEpoch: 1 << 42)) {
                _, _ in
            }
        } catch {
            throw .unavailable("\(error)")
        }
        return log
    }

    func append(_ batch: EventBatch, seen: LogPoint) async throws(EventLogError) -> AppendReceipt {
        try await appending().append(batch, seen: seen)
    }

    func appendNext(_ batch: EventBatch, after point: LogPoint) async throws(EventLogError) -> LogPoint? {
        try await appending().appendNext(batch, after: point)
    }

    func outcome(of batch: EventBatch, since seen: LogPoint) async throws(EventLogError) -> AppendReceipt? {
        try await log.outcome(of: batch, since: seen)
    }

    func read(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent] {
        try await archived().read(partition: partition, after: position, limit: limit)
    }

    func page(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> EventPage {
        try await archived().page(partition: partition, after: position, limit: limit)
    }

    func follow(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        try await archived().follow(partition: partition, after: point, limit: limit)
    }

    func followWithoutCarts(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        try await archived().followWithoutCarts(partition: partition, after: point, limit: limit)
    }

    func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) async throws(EventLogError) -> [RecordedEvent] {
        try await archived().read(
            stream: stream, partition: partition, afterVersion: version, limit: limit, seen: seen)
    }

    func commits(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [Commit] {
        try await archived().commits(partition: partition, after: position, limit: limit)
    }

    func end(of partition: Int) async throws(EventLogError) -> LogPoint { try await log.end(of: partition) }

    func heads() async throws(EventLogError) -> [LogHead] { try await log.heads() }

    func indexStreams(of partition: Int) async throws(EventLogError) { try await log.indexStreams(of: partition) }
}
