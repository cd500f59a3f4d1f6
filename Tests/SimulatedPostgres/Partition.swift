import Domain
public import EventLog

/// A partition of the log: its row in `tiffin.log_head`, and its rows in `tiffin.batches`.
public struct Partition {
    /// A row of `tiffin.batches`.
    public struct Batch {
        /// The positions of its first and last event.
        public var (first, last): (Int64, Int64)
        var content: [UInt8]
        var chain: [UInt8]
        /// The digest that was submitted, if a part was refused.
        var submitted: [UInt8]?
        /// In microseconds since 2000.
        var recordedAt: Int64
        var onlyCarts: Bool
        /// The lines of its events, each with the name of its stream.
        public var events: [(stream: String, line: [UInt8])]

        var lines: [UInt8] { Array(events.map(\.line).joined(separator: [UInt8(ascii: "\n")])) }

        /// The events with their positions.
        var placed: [(position: Int64, stream: String, line: [UInt8])] {
            events.enumerated().map { (first + Int64($0), $1.stream, $1.line) }
        }

        static func events(in lines: [UInt8]) -> [(stream: String, line: [UInt8])] {
            lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
                (String(decoding: $0.prefix { $0 != UInt8(ascii: "\t") }, as: UTF8.self), Array($0))
            }
        }
    }

    /// The batches, in order.
    public private(set) var batches: [Batch] = []
    /// Where it ends.
    public private(set) var position: Int64 = 0
    private(set) var digest = [UInt8](repeating: 0, count: 32)
    private(set) var epoch: Int64 = 0
    /// How many batches the index of streams has, and the streams in them.
    private var indexedCount = 0
    private var indexed: Set<String> = []

    /// The events, in order.
    public func events(of partition: Int) -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        for batch in batches {
            batch.lines.withUnsafeBytes { lines in
                EventLines.forEach(
                    in: lines, batch.last - batch.first + 1, partition: partition, firstPosition: batch.first,
                    recordedAt: Timestamp(millisecondsSinceEpoch: (batch.recordedAt + 946_684_800_000_000) / 1_000)
                ) { events.append($0.recorded) }
            }
        }
        return events
    }

    /// nil for a statement without rows.
    mutating func execute(_ name: String, _ values: Parameters) throws(DatabaseError) -> Table? {
        switch name {
        case "append": return try append(values)
        case "outcome": return outcome(values)
        case "end": return Table(columns: ["position", "digest"], rows: [[.int8(position), .bytes(digest)]])
        case "batches":
            let rows = found(after: values.int(2)!, upTo: values.int(3)!).prefix(Int(values.int(4)!))
            return Table(
                columns: ["first_position", "last_position", "recorded_at", "events"],
                rows: rows.map { [.int8($0.first), .int8($0.last), .int8($0.recordedAt), .bytes($0.lines)] })
        case "follow": return follow(values)
        case "follow_without_carts": return followWithoutCarts(values)
        case "stream", "unarchived_stream": return stream(values)
        case "commits":
            let rows = batches.filter { $0.last > values.int(2)! }.prefix(Int(clamping: values.int(3)!))
            return Table(
                columns: ["first_position", "last_position", "content_digest", "chain_digest", "recorded_at"],
                rows: rows.map {
                    [.int8($0.first), .int8($0.last), .bytes($0.content), .bytes($0.chain), .int8($0.recordedAt)]
                })
        case "index_streams":
            let added = batches[indexedCount...].prefix(Int(values.int(2)!))
            for batch in added { indexed.formUnion(batch.events.map(\.stream)) }
            indexedCount += added.count
            return Table(columns: ["is_behind"], rows: [[.bool(added.count == Int(values.int(2)!))]])
        case "mend_index":
            // It never lacks anything.
            let rest = batches[..<indexedCount].filter { $0.first > values.int(3)! }.prefix(Int(values.int(4)!))
            return Table(columns: ["missing", "reached"], rows: [[.int8(0), .optional(rest.last?.first)]])
        case "grow_tree": return Table(columns: ["is_behind"], rows: [[.bool(false)]])
        case "tree_node", "tree_nodes":
            return Table(columns: ["level", "number", "last_position", "digest", "tree_digest"])
        case "signed_head": return Table(columns: ["position", "note"])
        default: preconditionFailure("the statement \(name) is not simulated")
        }
    }

    // MARK: Appending

    private static let answer = [
        "previous_position", "epoch", "conflicts", "stale", "previous_digest", "chain_digest",
    ]

    /// As `tiffin.append` says.
    private mutating func append(_ values: Parameters) throws(DatabaseError) -> Table {
        let (seen, seenDigest) = (values.int(2)!, values.bytes(3))
        let (knownEpoch, content) = (values.int(4)!, values.bytes(5)!)
        let stale = (values.texts(9) ?? []).filter { indexed.contains($0) && wasWritten($0, upTo: seen) }
        if !stale.isEmpty {
            return Table(
                columns: Partition.answer,
                rows: [
                    [
                        .int8(seen), .int8(knownEpoch), .null, .texts(stale), .optional(seenDigest),
                        .optional(seenDigest),
                    ]
                ])
        }
        var batch = Batch(
            first: seen + 1, last: seen + values.int(7)!, content: content, chain: [], submitted: nil,
            recordedAt: values.int(6)!, onlyCarts: values.bool(13), events: Batch.events(in: values.bytes(8)!))
        guard let groups = values.ints(10) else {
            guard position == seen, epoch == knownEpoch, seenDigest == nil || seenDigest == digest else {
                return Table(
                    columns: Partition.answer, rows: [[.null, .int8(knownEpoch), .null, .null, .null, .null]])
            }
            add(&batch)
            return Table(
                columns: Partition.answer,
                rows: [[.int8(seen), .int8(epoch), .null, .null, .optional(seenDigest), .bytes(digest)]])
        }
        guard epoch == knownEpoch else {
            return Table(columns: Partition.answer, rows: [[.null, .int8(epoch), .null, .null, .null, .null]])
        }
        guard position >= seen, hasPoint(seen, seenDigest) else {
            throw DatabaseError("TF001", "the log is not the one that was read up to position \(seen)")
        }
        let written = Set(
            batches.filter { $0.last > seen }.flatMap(\.placed).filter { $0.position > seen }.map(\.stream))
        let decided =
            Array(zip(batch.events.map(\.stream), groups)) + zip(values.texts(11) ?? [], values.ints(12) ?? [])
        let conflicts = Set(decided.filter { written.contains($0.0) }.map(\.1)).sorted()
        let previous = (position, digest)
        let kept = zip(batch.events, groups).filter { !conflicts.contains($0.1) }.map(\.0)
        if !kept.isEmpty {
            batch.first = position + 1
            batch.last = position + Int64(kept.count)
            if !conflicts.isEmpty {
                batch.submitted = content
                batch.events = kept
                batch.content = Partition.content(of: batch)
            }
            add(&batch)
        }
        return Table(
            columns: Partition.answer,
            rows: [
                [
                    .int8(previous.0), .int8(epoch), conflicts.isEmpty ? .null : .int4s(conflicts), .null,
                    .bytes(previous.1), .bytes(digest),
                ]
            ])
    }

    private mutating func add(_ batch: inout Batch) {
        digest = Digest.of(digest + batch.content).bytes
        position = batch.last
        batch.chain = digest
        batches.append(batch)
    }

    private func wasWritten(_ stream: String, upTo position: Int64) -> Bool {
        batches.contains { $0.placed.contains { $0.stream == stream && $0.position <= position } }
    }

    /// The root over the events that are left of a batch.
    private static func content(of batch: Batch) -> [UInt8] {
        var alone = Partition()
        alone.batches = [batch]
        let events = alone.events(of: 0)
        return EventBatch.contentDigest(
            of: events.map {
                NewEvent(
                    stream: StreamName($0.stream)!, version: $0.version, kind: $0.kind, payload: $0.payload,
                    metadata: $0.metadata)
            }, recordedAt: events[0].recordedAt
        ).bytes
    }

    /// As `tiffin.outcome` says.
    private mutating func outcome(_ values: Parameters) -> Table {
        let columns = ["first_position", "last_position", "epoch", "previous_digest", "chain_digest"]
        let batch = batches.first { $0.first > values.int(2)! && $0.submitted ?? $0.content == values.bytes(4)! }
        guard let batch else {
            epoch = max(epoch, values.int(3)!) + 1
            return Table(columns: columns, rows: [[.null, .null, .int8(epoch), .null, .null]])
        }
        let before = batches.last { $0.last < batch.first }?.chain ?? [UInt8](repeating: 0, count: 32)
        return Table(
            columns: columns,
            rows: [[.int8(batch.first), .int8(batch.last), .int8(epoch), .bytes(before), .bytes(batch.chain)]])
    }

    // MARK: Reading

    /// As `tiffin.has_point` says of a log that is whole.
    private func hasPoint(_ position: Int64, _ digest: [UInt8]?) -> Bool {
        if position == 0 { return true }
        guard let batch = batches.last(where: { $0.first <= position }), batch.last >= position else {
            return self.position >= position
        }
        return digest == nil || batch.last == position && batch.chain == digest
    }

    /// The batches that hold what follows a position: up to the one that begins at another, and the first in any case.
    private func found(after position: Int64, upTo last: Int64) -> [Batch] {
        let behind = batches.filter { $0.last > position }
        guard let first = behind.first else { return [] }
        return behind.filter { $0.first <= max(last, first.first) }
    }

    private static let following = [
        "first_position", "last_position", "recorded_at", "events", "chain_digest", "is_known",
    ]

    private static func row(_ batch: Batch) -> [Value] {
        [
            .int8(batch.first), .int8(batch.last), .int8(batch.recordedAt), .bytes(batch.lines), .bytes(batch.chain),
            .bool(true),
        ]
    }

    private func follow(_ values: Parameters) -> Table {
        var table = Table(columns: Partition.following)
        let isKnown = hasPoint(values.int(2)!, values.bytes(3))
        if isKnown {
            let limit = Int(clamping: values.int(5)!)
            table.rows = found(after: values.int(2)!, upTo: values.int(4)!).prefix(limit).map(Partition.row)
        }
        if table.rows.isEmpty { table.rows = [[.null, .null, .null, .null, .null, .bool(isKnown)]] }
        return table
    }

    private func followWithoutCarts(_ values: Parameters) -> Table {
        var table = Table(columns: Partition.following + ["end_position", "end_digest"])
        let nothing = [Value](repeating: .null, count: 5)
        let (position, limit) = (values.int(2)!, values.int(5)!)
        guard hasPoint(position, values.bytes(3)) else {
            table.rows = [nothing + [.bool(false), .null, .null]]
            return table
        }
        let found = found(after: position, upTo: values.int(4)!)
        let end: [Value] = found.last.map { [.int8($0.last), .bytes($0.chain)] } ?? [.null, .null]
        var total: Int64 = 0
        for batch in found.filter({ !$0.onlyCarts }).prefix(Int(clamping: limit)) where total < limit {
            total += batch.last - max(batch.first - 1, position)
            table.rows.append(Partition.row(batch) + end)
        }
        if table.rows.isEmpty { table.rows = [nothing + [.bool(true)] + end] }
        return table
    }

    private func stream(_ values: Parameters) -> Table {
        var table = Table(columns: ["position", "recorded_at", "line", "is_known"])
        let (name, after) = (values.text(2)!, values.int(3)!)
        let isKnown = hasPoint(values.int(5)!, values.bytes(6))
        for batch in batches where isKnown {
            for event in batch.placed where event.stream == name {
                let fields = event.line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
                let version = Int64(String(decoding: fields[1], as: UTF8.self))!
                guard version > after else { continue }
                table.rows.append([
                    .int8(event.position), .int8(batch.recordedAt), .bytes(event.line), .bool(true),
                ])
            }
        }
        table.rows = Array(table.rows.prefix(Int(clamping: values.int(4)!)))
        if table.rows.isEmpty { table.rows = [[.null, .null, .null, .bool(isKnown)]] }
        return table
    }
}
