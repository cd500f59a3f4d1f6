internal import Domain
internal import EventLog
package import EventLoop
internal import Fleet
internal import PostgresStorage
internal import SeededRandom

/// Two servers that ask a database many things of its log and their fleet, one after the other, as a seed has it.
///
/// What they are answered is written down. So a stand-in for PostgreSQL can be held against a real one: both have to
/// lead to the same lines, to the byte.
@LoopActor
package struct LogScript {
    /// How many partitions the log has to have.
    package nonisolated static let partitions = 2
    private static let steps = 400

    private var random: SeededGenerator
    private let logs: [PostgresEventLog]
    private let fleets: [PostgresFleet]
    private let servers: [FleetServer]
    /// What was once the end of each partition.
    private var points = [[LogPoint]](repeating: [.start], count: LogScript.partitions)
    /// The batches that were submitted, each with the point up to which its writer knew the partition.
    private var submitted: [(batch: EventBatch, seen: LogPoint)] = []
    private var leases: [Lease] = []
    private var lines: [String] = []

    /// A script on a migrated database whose log is empty.
    package init(_ database: String, seed: UInt64) async throws {
        random = SeededGenerator(seed: seed)
        logs = [try await PostgresEventLog.open(database), try await PostgresEventLog.open(database)]
        fleets = [PostgresFleet(database), PostgresFleet(database)]
        servers = (0..<2).map { number in
            FleetServer(
                id: ServerID(String(repeating: "\(number)", count: 40))!, address: "localhost:700\(number)",
                secret: [UInt8](repeating: UInt8(number), count: 32))
        }
    }

    /// Runs it. Returns what it was answered.
    package mutating func run() async -> [String] {
        for _ in 0..<LogScript.steps { await step() }
        for partition in 0..<LogScript.partitions {
            await tell("all of \(partition)") { log in
                "\(try await log.read(partition: partition, after: 0, limit: 10_000).map(LogScript.word))"
            }
        }
        for log in logs { log.close() }
        for fleet in fleets { fleet.close() }
        return lines
    }

    // MARK: Steps

    private mutating func step() async {
        let partition = random.below(LogScript.partitions)
        let (point, limit) = (somePoint(of: partition), random.number(1...9))
        let stream = someStream()
        switch random.below(17) {
        case 0...3: await append(to: partition)
        case 4: await appendNext(to: partition)
        case 5: await askOutcome()
        case 6:
            await tell("follow \(partition) \(LogScript.word(point)) \(limit)") { log in
                LogScript.word(try await log.follow(partition: partition, after: point, limit: limit))
            }
        case 7:
            await tell("follow without carts \(partition) \(LogScript.word(point)) \(limit)") { log in
                LogScript.word(try await log.followWithoutCarts(partition: partition, after: point, limit: limit))
            }
        case 8:
            await tell("read \(partition) \(point.position) \(limit)") { log in
                "\(try await log.read(partition: partition, after: point.position, limit: limit).map(LogScript.word))"
            }
        case 9:
            let version = Int64(random.below(4))
            await tell("stream \(stream) \(partition) \(version) \(limit) \(LogScript.word(point))") { log in
                "\(try await log.read(stream: stream, partition: partition, afterVersion: version, limit: limit, seen: point).map(LogScript.word))"
            }
        case 10:
            await tell("commits \(partition) \(point.position) \(limit)") { log in
                "\(try await log.commits(partition: partition, after: point.position, limit: limit))"
            }
        case 11: await tell("heads") { log in "\(try await log.heads())" }
        case 12: await tell("end \(partition)") { log in LogScript.word(try await log.end(of: partition)) }
        case 13:
            await tell("index \(partition)") { log in
                try await log.indexStreams(of: partition)
                return "\(try await log.mendIndex(of: partition, .batches(after: point.position, limit: limit)))"
            }
        case 14: await renew()
        case 15: await changeLeases()
        default:
            if random.chance(80) { return await renew() }
            let number = random.below(2)
            await tell("leave \(number)") { [fleets, servers] _ in
                try await fleets[number].leave(servers[number].id)
                return ""
            }
        }
    }

    private mutating func append(to partition: Int) async {
        let (batch, seen) = someBatch(partition)
        await tell("append \(LogScript.word(batch)) \(LogScript.word(seen))") { log in
            LogScript.word(try await log.append(batch, seen: seen))
        }
        await learnEnd(of: partition)
    }

    private mutating func appendNext(to partition: Int) async {
        let (batch, seen) = someBatch(partition)
        await tell("append next \(LogScript.word(batch)) \(LogScript.word(seen))") { log in
            try await log.appendNext(batch, after: seen).map(LogScript.word) ?? "-"
        }
        await learnEnd(of: partition)
    }

    private mutating func askOutcome() async {
        guard !submitted.isEmpty else { return }
        var (batch, seen) = random.pick(submitted)
        // One that nobody has sent, or another point.
        if random.chance(30) { (batch, _) = someBatch(batch.partition) }
        if random.chance(20) { seen = somePoint(of: batch.partition) }
        await tell("outcome \(LogScript.word(batch)) \(LogScript.word(seen))") { log in
            try await log.outcome(of: batch, since: seen).map(LogScript.word) ?? "-"
        }
    }

    private mutating func renew() async {
        let number = random.below(2)
        var view = FleetView(servers: [], leases: [])
        await tell("renew \(number)") { [fleets, servers] _ in
            view = try await fleets[number].renew(servers[number])
            view.leases.sort { $0.partition < $1.partition }
            // How long each was silent depends on the machine, and the order of rows on where they lie.
            return "\(view.servers.map { "\($0.id) \($0.address)" }.sorted()) \(view.leases)"
        }
        leases = view.leases
    }

    private mutating func changeLeases() async {
        let number = random.below(2)
        let changes = leases.filter { _ in random.chance(70) }.map {
            LeaseChange(
                partition: $0.partition, term: random.chance(80) ? $0.term : $0.term + 1, holder: servers[number].id)
        }
        await tell("change \(changes)") { [fleets] _ in "\(try await fleets[number].change(changes))" }
    }

    private mutating func learnEnd(of partition: Int) async {
        guard let end = try? await logs[0].end(of: partition), points[partition].last != end else { return }
        points[partition].append(end)
    }

    // MARK: What is asked

    private mutating func someStream() -> StreamName {
        random.chance(70)
            ? StreamName(.cart, Identifier("c\(random.below(4))")!)
            : StreamName(.order, Identifier("o\(random.below(3))")!)
    }

    /// Mostly where the partition ends; now and then a point before, one within a batch, and one that it does not have.
    private mutating func somePoint(of partition: Int) -> LogPoint {
        var point = random.chance(60) ? points[partition].last! : random.pick(points[partition])
        if random.chance(5), point.position > 1 { point = LogPoint(position: point.position - 1, digest: nil) }
        if random.chance(4) { point.digest = Digest.of([1, 2, 3]) }
        if random.chance(4) { point.position += 3 }
        return point
    }

    private mutating func someBatch(_ partition: Int) -> (batch: EventBatch, seen: LogPoint) {
        var (events, groups, readings): ([NewEvent], [Int32], [EventBatch.Reading]) = ([], [], [])
        for group in 0..<Int32(random.number(1...3)) {
            for _ in 0..<random.number(1...2) {
                events.append(
                    NewEvent(
                        stream: someStream(), version: Int64(random.number(1...5)),
                        kind: EventKind(
                            name: random.chance(90) ? "cart.cleared" : "cart.checkout_begun", schemaVersion: 1),
                        payload: Array(#"{"note":"é\t🍱 \#(submitted.count)"}"#.utf8), metadata: Array("{}".utf8)))
                groups.append(group)
            }
            if random.chance(20) { readings.append(EventBatch.Reading(someStream(), by: group)) }
        }
        let batch = EventBatch(
            partition: partition, events: events, groups: groups, readings: readings,
            recordedAt: Timestamp(millisecondsSinceEpoch: 1_700_000_000_000 + Int64(submitted.count) * 7))
        let seen = somePoint(of: partition)
        submitted.append((batch, seen))
        return (batch, seen)
    }

    // MARK: What is answered

    private mutating func tell(_ question: String, _ ask: (PostgresEventLog) async throws -> String) async {
        let number = random.below(2)
        do {
            lines.append("\(number) \(question): \(try await ask(logs[number]))")
        } catch {
            lines.append("\(number) \(question): \(error)")
        }
    }

    private static func word(_ point: LogPoint) -> String {
        "\(point.position)~\(point.digest.map { String($0.description.prefix(12)) } ?? "-")"
    }

    private static func word(_ batch: EventBatch) -> String {
        let events = zip(batch.events, batch.groups).map { "\($0.stream)@\($0.version)/\($1)" }
        let readings = batch.readings.map { "\($0.stream)/\($0.group)" }
        return "\(batch.partition) \(events.joined(separator: ",")) \(readings.joined(separator: ","))"
    }

    private static func word(_ receipt: AppendReceipt) -> String {
        "\(word(receipt.previous)) conflicts \(receipt.conflicts.sorted()) "
            + "stale \(receipt.stale.map(\.description).sorted()) \(word(receipt.end))"
    }

    private static func word(_ following: FollowingEvents) -> String {
        "\(following.events.map(word)) \(word(following.end))"
    }

    private static func word(_ event: RecordedEvent) -> String {
        "\(event.position) \(event.stream)@\(event.version) \(event.kind.name) "
            + "\(String(decoding: event.payload, as: UTF8.self)) \(event.recordedAt.millisecondsSinceEpoch)"
    }
}
