import Domain
import EventLog
import EventLogContract
import SeededRandom
import Testing
import TextFormats

@Suite struct ReceiptTests {
    /// A log of a few batches of several sizes, with payloads in many scripts.
    private static func log(_ seed: UInt64, partitions: Int = 1) async throws -> InMemoryEventLog {
        var random = SeededGenerator(seed: seed)
        let log = InMemoryEventLog(partitionCount: partitions)
        let partition = Partitioning(count: partitions).partition(of: .cart("c"))
        var version: Int64 = 0
        for _ in 0..<7 {
            let seen = version
            let events = (0..<random.number(1..<9)).map { _ in
                version += 1
                return NewEvent(
                    stream: .cart("c"), version: version,
                    kind: EventKind(name: "cart.itemAdded", schemaVersion: random.number(1..<4)),
                    payload: Array("{\"name\":\"\(random.pick(["é", "e\u{301}", "तं", "🍱", "\\n", "x"]))\"}".utf8),
                    metadata: random.maybe { Array(#"{"id":"\#($0.next())","args":"0f"}"#.utf8) } ?? Array("{}".utf8))
            }
            let batch = EventBatch(
                partition: partition, events: events, groups: events.map { _ in 0 },
                recordedAt: Timestamp(millisecondsSinceEpoch: 1_700_000_000_000 + version))
            _ = try await log.append(batch, seen: LogPoint(position: seen, digest: nil))
        }
        return log
    }

    private static func receipt(_ seed: UInt64, partitions: Int = 1) async throws -> Receipt {
        let log = try await log(seed, partitions: partitions)
        var random = SeededGenerator(seed: seed)
        let partition = Partitioning(count: partitions).partition(of: .cart("c"))
        let version = random.number(1..<Int(try await log.heads()[partition].position) + 1)
        return try await Prover(log).receipt(for: .cart("c"), version: Int64(version), form: .links)
    }

    // MARK: JSON

    @Test(arguments: SeededGenerator.seeds)
    func `A receipt reads back from its JSON as it was`(_ seed: UInt64) async throws {
        var receipt = try await Self.receipt(seed, partitions: 1 + Int(seed % 3))
        #expect(try Receipt(json: receipt.json) == receipt)
        receipt.head = nil
        #expect(try Receipt(json: receipt.json) == receipt)
    }

    @Test func `The fields of a receipt are those of docs/audit.md`() throws {
        let digest = String(repeating: "0", count: 64)
        let json = """
            {"receipt":1,"partitions":2,"event":{"partition":1,"position":7,"stream":"cart-c","version":3,\
            "kind":"cart.cleared","schemaVersion":1,"payload":"{\\"count\\":\\"é\\"}","metadata":"{}",\
            "recordedAtMilliseconds":-5},"batch":{"firstPosition":6,"lastPosition":8,"index":1,"size":3,\
            "path":["\(digest)"],"contentDigest":"\(digest)","previousChainDigest":"\(digest)",\
            "chainDigest":"\(digest)"},"head":{"position":9,"digest":"\(digest)","links":["\(digest)"]}}
            """
        let receipt = try Receipt(json: Array(json.utf8))
        #expect(receipt.event.payload == Array(#"{"count":"é"}"#.utf8))
        #expect(String(decoding: receipt.json, as: UTF8.self) == json)
    }

    @Test func `A text that is not exactly a receipt is refused`() async throws {
        let text = String(decoding: try await Self.receipt(1).json, as: UTF8.self)
        let digest = #"[0-9a-f]{64}"#
        for (pattern, replacement) in [
            ("\"receipt\":2", "\"receipt\":0"), ("\"receipt\":2", "\"receipt\":5"), ("\"receipt\":2", "\"receipt\":4"),
            ("\"receipt\":2,", ""),
            ("\"receipt\":2", "\"receipt\":2,\"receipt\":2"),
            ("\"partitions\":1", "\"partitions\":0"), ("\"partitions\":1", "\"partitions\":32769"),
            ("\"partitions\":1", "\"partitions\":1,\"note\":\"\""), ("\"partitions\":1", "\"partitions\":1.0"),
            ("\"partition\":0", "\"partition\":-1"), ("\"partition\":0", "\"partition\":true"),
            ("\"version\":[0-9]+", "\"version\":0"), ("\"schemaVersion\":[0-9]+", "\"schemaVersion\":2147483648"),
            ("\"schemaVersion\":[0-9]+", "\"schemaVersion\":0"), ("\"payload\":\"", "\"payload\":\"\\ud800"),
            ("\"recordedAtMilliseconds\":", "\"recordedAtMilliseconds\":9999999999999999999"),
            ("\"index\":[0-9]+", "\"index\":-1"), ("\"size\":[0-9]+", "\"size\":0"),
            ("\"firstPosition\":[0-9]+", "\"firstPosition\":0"), ("\"path\":\\[", "\"path\":[\"\","),
            ("\"contentDigest\":\"\(digest)\"", "\"contentDigest\":null"),
            ("\"chainDigest\":\"[0-9a-f]", "\"chainDigest\":\"A"), ("\"head\":\\{", "\"head\":{\"head\":null,"),
            ("\\}$", ",\"head\":null}"), ("\\}$", ""), ("$", "x"), ("^", "["), ("^.*$", ""),
            ("^.*$", "NOTFOUND no such event"),
        ] {
            let changed = text.replacing(try Regex(pattern), with: replacement)
            #expect(changed != text, "\(pattern)")
            #expect(throws: JSONReadingError.self, "\(pattern)") { try Receipt(json: Array(changed.utf8)) }
        }
    }

    @Test(
        arguments: [("version", Int64.max), ("firstPosition", .max), ("schemaVersion", Int64(Int32.max))],
        [Receipt.Form.links, .tree])
    func `The greatest number that a field may have is read`(
        field: (name: String, greatest: Int64), form: Receipt.Form
    ) async throws {
        let receipt = try await Prover(Self.log(1)).receipt(for: .cart("c"), version: 1, form: form)
        let text = String(decoding: receipt.json, as: UTF8.self)
        let changed = text.replacing(
            try Regex("\"\(field.name)\":[0-9]+"), with: "\"\(field.name)\":\(field.greatest)")
        #expect(String(decoding: try Receipt(json: Array(changed.utf8)).json, as: UTF8.self) == changed)
    }

    @Test func `A receipt says by which rule its log has its partitions`() async throws {
        var receipt = try await Self.receipt(1, partitions: 3)
        #expect(receipt.partitioning == Partitioning(count: 3, by: .slots))
        receipt.partitioning = Partitioning(count: 3, by: .sha256)
        #expect(receipt.json.starts(with: #"{"receipt":1,"partitions":3,"#.utf8))
        #expect(try Receipt(json: receipt.json) == receipt)
    }

    @Test(arguments: [
        (Partitioning.Rule.sha256, Receipt.Form.links, 1), (.slots, .links, 2), (.sha256, .tree, 3), (.slots, .tree, 4),
        (.sha256, .signed, 5), (.slots, .signed, 6),
    ])
    func `Each form of a receipt has the number that docs/audit.md gives it`(
        rule: Partitioning.Rule, form: Receipt.Form, number: Int
    ) async throws {
        let log = try await Self.log(1, partitions: 2)
        var receipt = try await Prover(log).receipt(
            for: .cart("c"), version: 1, form: form == .links ? .links : .tree)
        receipt.partitioning = Partitioning(count: 2, by: rule)
        if form == .signed {
            let signer = try #require(NoteSigner(name: "log.example", kind: .signer, key: .random()))
            receipt.signedHead = SignedNote(text: "a\n", signatures: [signer.sign("a\n", at: 0)])
        }
        #expect(receipt.json.starts(with: #"{"receipt":\#(number),"partitions":2,"#.utf8))
        #expect(try Receipt(json: receipt.json) == receipt)
    }

    // MARK: Verifying

    @Test(arguments: SeededGenerator.seeds)
    func `A receipt with one changed field is refused, at the step for that field`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var original = try await Self.receipt(seed, partitions: 3)
        while original.head?.links.count ?? 0 < 2 || original.batch.path.isEmpty {
            original = try await Self.receipt(random.next(), partitions: 3)
        }
        _ = try original.verified()

        func expect(_ step: Receipt.Fault.Step, _ change: (inout Receipt) -> Void) throws {
            var changed = original
            change(&changed)
            try #require(changed != original)
            let fault = #expect(throws: Receipt.Fault.self) { try changed.verified() }
            #expect(fault?.step == step, "\(fault.map(String.init(describing:)) ?? "proven")")
        }
        let other = Digest.of(Array("other".utf8))
        // The event.
        try expect(.partition) { $0.event.partition = ($0.event.partition + 1) % 3 }
        try expect(.numbers) { $0.event.position += random.maybe { _ in 1 } ?? -1 }
        try expect(.partition) { $0.event.stream = "cart" }
        try expect(.path) { $0.event.kind.name = "cart.cleared" }
        try expect(.path) { $0.event.kind.schemaVersion += 1 }
        try expect(.path) { $0.event.payload.append(UInt8(ascii: " ")) }
        try expect(.path) { $0.event.metadata = Array(#"{"id":"mine","args":"0f"}"#.utf8) }
        try expect(.path) {
            $0.event.recordedAt = Timestamp(millisecondsSinceEpoch: $0.event.recordedAt.millisecondsSinceEpoch + 1)
        }
        if original.event.version > 1 { try expect(.path) { $0.event.version -= 1 } }
        try expect(.numbers) { $0.event.version = $0.event.position + 1 }
        var neighbour = original
        neighbour.event.stream = "cart-d"
        neighbour.event.partition = Partitioning(count: 3).partition(of: .cart("d"))
        #expect(throws: Receipt.Fault.self) { try neighbour.verified() }
        // The batch.
        try expect(.numbers) { $0.batch.firstPosition += 1 }
        try expect(.numbers) { $0.batch.lastPosition += 1 }
        try expect(.numbers) { $0.batch.size += 1 }
        try expect(.numbers) { $0.batch.index += $0.batch.index == 0 ? 1 : -1 }
        let step = random.number(0..<original.batch.path.count)
        try expect(.path) { $0.batch.path[step] = random.flippingABit(of: $0.batch.path[step]) }
        try expect(.path) { $0.batch.path.remove(at: step) }
        try expect(.path) { $0.batch.path.insert(other, at: step) }
        try expect(.path) { $0.batch.contentDigest = other }
        try expect(isOfFirstBatch(original) ? .numbers : .chain) { $0.batch.previousChainDigest = other }
        try expect(.chain) { $0.batch.chainDigest = other }
        // The links to the head.
        let link = random.number(0..<original.head!.links.count - 1)
        try expect(.links) { $0.head?.links.swapAt(link, link + 1) }
        try expect(.links) { $0.head?.links[link] = other }
        try expect(.links) { $0.head?.links.remove(at: link) }
        try expect(.links) { $0.head?.digest = other }
        try expect(.numbers) { $0.head?.links = [] }
        let last = original.batch.lastPosition
        let links = Int64(original.head?.links.count ?? 0)
        try expect(.numbers) { $0.head?.position = last }
        try expect(.numbers) { $0.head?.position = last + links - 1 }
        // The log that it comes from.
        try expect(.partition) { receipt in
            receipt.partitioning = (4...).lazy.map { Partitioning(count: $0) }.first {
                $0.partition(of: .cart("c")) != receipt.event.partition
            }!
        }
        try expect(.partition) { receipt in
            receipt.partitioning = (4...).lazy.map { Partitioning(count: $0, by: .sha256) }.first {
                $0.partition(of: .cart("c")) != receipt.event.partition
            }!
        }
    }

    private func isOfFirstBatch(_ receipt: Receipt) -> Bool { receipt.batch.firstPosition == 1 }

    @Test func `Another event of the batch is refused, even with its own numbers`() async throws {
        let log = InMemoryEventLog()
        _ = try await LogWriter(log).append([Array(repeating: .cart("c"), count: 13)])
        for version in 1...Int64(13) {
            let receipt = try await Prover(log).receipt(for: .cart("c"), version: version)
            for index in 0..<13 where index != receipt.batch.index {
                var moved = receipt
                moved.batch.index = index
                moved.event.position = Int64(index) + 1
                let fault = #expect(throws: Receipt.Fault.self) { try moved.verified() }
                #expect(fault?.step == (version > moved.event.position ? .numbers : .path))
            }
        }
    }

    @Test func `A receipt that is not linked to a head proves as much as its chain digest`() async throws {
        let log = try await Self.log(2)
        let commits = try await log.commits(partition: 0, after: 0, limit: 10)
        for commit in commits {
            var receipt = try await Prover(log).receipt(
                for: .cart("c"), version: commit.firstPosition, form: .links)
            receipt.head = nil
            #expect(try receipt.verified().chain == [commit.chainDigest])
        }
    }

    // MARK: Proving

    @Test func `A receipt that would have too many links is not linked, or is refused if it had to be`() async throws {
        let log = InMemoryEventLog()
        for mark in 0..<10 {
            var writer = LogWriter(log)
            try await writer.catchUp()
            _ = try await writer.append([[.cart("c")]], marks: [mark])
        }
        let prover = Prover(log, maximumLinks: 4)
        for version in 1...Int64(10) {
            let receipt = try await prover.receipt(for: .cart("c"), version: version, form: .links)
            #expect(receipt.head?.links.count == (version < 6 ? nil : Int(10 - version)))
            _ = try receipt.verified()
        }
        #expect(try await prover.receipt(for: .cart("c"), version: 2, head: 6, form: .links).head?.links.count == 4)
        await #expect(throws: Prover.Failure.tooManyLinks(4)) {
            try await prover.receipt(for: .cart("c"), version: 2, head: 7, form: .links)
        }
    }

    @Test func `There is no receipt from a log that does not match its digests`() async throws {
        let log = InMemoryEventLog()
        _ = try await LogWriter(log).append([[.cart("c"), .cart("c")]])
        let damaged = DamagedLog(log)
        _ = try await Prover(damaged).receipt(for: .cart("c"), version: 1)
        for damage in DamagedLog.Damage.allCases {
            await damaged.set(damage)
            let failure = await #expect(throws: Prover.Failure.self, "\(damage)") {
                try await Prover(damaged).receipt(for: .cart("c"), version: 1)
            }
            guard case .damaged = failure else {
                Issue.record("\(damage): \(String(describing: failure))")
                continue
            }
        }
    }

    @Test func `A log that cannot be read has no receipts`() async throws {
        let log = DamagedLog(InMemoryEventLog())
        await log.set(nil, isAway: true)
        await #expect(throws: Prover.Failure.unavailable(.unavailable("away"))) {
            try await Prover(log).receipt(for: .cart("c"), version: 1)
        }
    }
}

/// A log that returns something different from what it was given.
private actor DamagedLog: EventLog {
    enum Damage: CaseIterable {
        case event, otherEvent, missingEvent, text, content, chain, commit, positions, head
    }

    nonisolated let partitioning = Partitioning(count: 1)
    private let inner: InMemoryEventLog
    private var damage: Damage?
    private var isAway = false

    init(_ inner: InMemoryEventLog) { self.inner = inner }

    func set(_ damage: Damage?, isAway: Bool = false) {
        self.damage = damage
        self.isAway = isAway
    }

    func append(_ batch: EventBatch, seen: LogPoint) async throws(EventLogError) -> AppendReceipt {
        try await inner.append(batch, seen: seen)
    }

    func appendNext(_ batch: EventBatch, after point: LogPoint) async throws(EventLogError) -> LogPoint? {
        try await inner.appendNext(batch, after: point)
    }

    func outcome(of batch: EventBatch, since seen: LogPoint) async throws(EventLogError) -> AppendReceipt? {
        try await inner.outcome(of: batch, since: seen)
    }

    private func damaged(_ events: [RecordedEvent]) throws(EventLogError) -> [RecordedEvent] {
        if isAway { throw .unavailable("away") }
        return events.compactMap { event in
            var event = event
            switch damage {
            case .event where event.position == 1, .otherEvent where event.position == 2: event.payload.append(0x20)
            case .text: event.payload = [0xFF]
            case .missingEvent where event.position == 2: return nil
            default: break
            }
            return event
        }
    }

    func read(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent] {
        try damaged(try await inner.read(partition: partition, after: position, limit: limit))
    }

    func follow(
        partition: Int, after point: LogPoint, limit: Int
    ) async throws(EventLogError) -> FollowingEvents {
        var following = try await inner.follow(partition: partition, after: point, limit: limit)
        following.events = try damaged(following.events)
        return following
    }

    func read(
        stream: StreamName, partition: Int, afterVersion version: Int64, limit: Int, seen: LogPoint
    ) async throws(EventLogError) -> [RecordedEvent] {
        try damaged(
            try await inner.read(stream: stream, partition: partition, afterVersion: version, limit: limit, seen: seen))
    }

    func commits(partition: Int, after position: Int64, limit: Int) async throws(EventLogError) -> [Commit] {
        try await inner.commits(partition: partition, after: position, limit: limit).compactMap { commit in
            var commit = commit
            switch damage {
            case .content: commit.contentDigest = .zero
            case .chain: commit.chainDigest = .zero
            case .commit: return nil
            case .positions: commit.lastPosition = .max
            default: break
            }
            return commit
        }
    }

    func heads() async throws(EventLogError) -> [LogHead] {
        try await inner.heads().map { head in
            damage == .head ? LogHead(partition: 0, position: head.position, digest: .zero) : head
        }
    }
}
