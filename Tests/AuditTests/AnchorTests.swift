import Audit
import Domain
import EventLog
import EventLogContract
import Foundation
import SeededRandom
import Testing

@Suite struct AnchorTests {
    private static let time = Timestamp(millisecondsSinceEpoch: 1_772_366_400_250)

    /// Calls `body` with a path in an empty directory of its own.
    private static func withPath(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "tiffin-anchors-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory.appending(path: "anchors.jsonl").path())
    }

    /// A log with these numbers of batches in its partitions. Their sizes are always the same; from another first
    /// mark on, the events differ.
    private static func log(_ batches: [Int], marks: Int = 0) async throws -> InMemoryEventLog {
        let log = InMemoryEventLog(partitionCount: batches.count)
        for (partition, count) in batches.enumerated() {
            var random = SeededGenerator(seed: UInt64(partition))
            var writer = LogWriter(log, partition: partition)
            for mark in 0..<count {
                let size = random.number(1..<5)
                _ = try await writer.append([Array(repeating: .cart("c"), count: size)], marks: [mark + marks])
                try await writer.catchUp()
            }
        }
        return log
    }

    private static func anchors(_ log: InMemoryEventLog) async throws -> [Anchor] {
        try await log.heads().map { Anchor($0, at: time) }
    }

    // MARK: Lines

    @Test func `A line of an anchor file is what docs/audit.md says`() throws {
        let digest = String(repeating: "0a", count: 32)
        let line = #"{"partition":1,"position":900,"digest":"\#(digest)","time":"2026-03-01T12:00:00.250Z"}"#
        let anchor = Anchor(
            partition: 1, position: 900, digest: try #require(Digest(hexadecimal: digest)), time: Self.time)
        #expect(String(decoding: anchor.json, as: UTF8.self) == line)
        #expect(try Anchor(json: Array(line.utf8)) == anchor)
        for (old, new) in [
            ("\"partition\":1,", ""), ("900", "-1"), ("900", "9e2"), ("0a0a", "0A0A"), ("0a0a", "0a"),
            ("03-01", "02-30"),
            ("}", ",\"by\":\"me\"}"), ("}", ""), ("{\"p", "{\"time\":\"2026-03-01T12:00:00Z\",\"p"),
        ] {
            let changed = line.replacing(old, with: new, maxReplacements: 1)
            #expect(changed != line)
            #expect(throws: (any Error).self, "\(old)") { try Anchor(json: Array(changed.utf8)) }
        }
    }

    // MARK: Files

    @Test func `Anchors are appended to the file, which is created if necessary`() async throws {
        let log = try await Self.log([3, 0, 2])
        let first = try await Self.anchors(log)
        _ = try await log.append(LogWriter(log).batch([[.cart("d")]]), seen: .start)
        let second = try await Self.anchors(log)
        try Self.withPath { path in
            let file = AnchorFile(path)
            #expect(throws: AnchorFile.Failure.self) { try file.read() }
            try file.append([])
            #expect(try file.read() == [])
            try file.append(first)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try file.append(second)
            #expect(try file.read() == first + second)
            #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix(text))
        }
    }

    @Test(arguments: ["x\n", "\n", "{}\n", "{\"partition\":0", "[]"])
    func `A file with a line that is not an anchor is neither read nor appended to`(_ rubbish: String) async throws {
        let anchors = try await Self.anchors(try await Self.log([1]))
        try Self.withPath { path in
            try AnchorFile(path).append(anchors)
            let text = try String(contentsOfFile: path, encoding: .utf8) + rubbish
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let failure = #expect(throws: AnchorFile.Failure.self) { try AnchorFile(path).read() }
            #expect(failure?.description.contains(rubbish.hasSuffix("\n") ? "line 2" : "last line") == true)
            #expect(throws: AnchorFile.Failure.self) { try AnchorFile(path).append(anchors) }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
    }

    @Test func `A file that cannot be opened is an error that says so`() {
        for path in ["/nonexistent/anchors.jsonl", "/"] {
            let failure = #expect(throws: AnchorFile.Failure.self) { try AnchorFile(path).append([]) }
            #expect(failure?.description.hasPrefix("\(path): ") == true)
        }
    }

    // MARK: Checking

    @Test func `Every head that a log ever had holds in it`() async throws {
        let log = InMemoryEventLog(partitionCount: 2)
        var anchors = try await Self.anchors(log)
        for mark in 0..<12 {
            var writer = LogWriter(log, partition: mark % 2)
            try await writer.catchUp()
            _ = try await writer.append([Array(repeating: .cart("c"), count: 1 + mark % 3)], marks: [mark])
            anchors += try await Self.anchors(log)
        }
        #expect(try await AnchorCheck.faults(of: anchors, in: log) == [])
        for (index, anchor) in anchors.enumerated() {
            var changed = anchors
            changed[index].digest = Digest.of(anchor.digest.bytes)
            let faults = try await AnchorCheck.faults(of: changed, in: log)
            #expect(faults.map(\.anchor) == [changed[index]])
        }
    }

    @Test func `Anchors do not hold in a log that was cut, rewritten or mixed up`() async throws {
        let anchors = try await Self.anchors(try await Self.log([5, 3]))
        func reasons(_ log: InMemoryEventLog) async throws -> [String] {
            try await AnchorCheck.faults(of: anchors, in: log).map(\.reason)
        }
        #expect(try await reasons(try await Self.log([5, 3])) == [])
        // The same batches, but fewer of them.
        let cut = try await Self.log([4, 3])
        #expect(try await reasons(cut) == ["the log ends at \(try await cut.heads()[0].position)"])
        // Other events in batches of the same sizes.
        let other = try await reasons(try await Self.log([5, 3], marks: 100))
        #expect(other.count == 2)
        #expect(other.allSatisfy { $0.hasPrefix("the chain there is ") })
        // One batch where several were.
        let merged = InMemoryEventLog(partitionCount: 1)
        _ = try await LogWriter(merged).append([Array(repeating: .cart("c"), count: Int(anchors[0].position) + 1)])
        #expect(try await reasons(merged) == ["no batch ends there", "the log has no such partition"])
    }

    @Test func `An anchor before the first event is of zeros`() async throws {
        let log = try await Self.log([2])
        let zero = Anchor(partition: 0, position: 0, digest: .zero, time: Self.time)
        var other = zero
        other.digest = Digest.of([])
        #expect(try await AnchorCheck.faults(of: [zero], in: log) == [])
        #expect(try await AnchorCheck.faults(of: [other], in: log).count == 1)
    }
}
