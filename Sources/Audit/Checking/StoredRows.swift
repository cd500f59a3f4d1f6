internal import Domain
internal import EventLog
internal import Projections

/// Compares the stored rows of a partition with a replay at the same position.
struct StoredRows {
    private let source: any AuditSource
    private let partition: Int
    private(set) var findings = Findings()
    /// How many rows of each projection were compared.
    private(set) var compared: [RegisteredProjection: Int] = [:]

    init(_ source: any AuditSource, partition: Int) {
        self.source = source
        self.partition = partition
    }

    private mutating func found(_ position: Int64?, _ subject: String, _ message: String) {
        findings.add(Finding(.difference, partition: partition, position: position, subject: subject, message))
    }

    /// Reports something about the rows as a whole.
    mutating func report(_ subject: String, _ message: String) { found(nil, subject, message) }

    /// The position of the stored rows; nil if they cannot be compared, with the reason.
    static func position(of checkpoints: [StoredCheckpoint]) -> (position: Int64?, reason: String?) {
        // A checkpoint at position 0 was reserved by a server that has not saved anything yet.
        let saved = checkpoints.filter { $0.position > 0 }
        guard !saved.isEmpty else { return (nil, "no read model has been saved yet") }
        guard
            saved.count == ReadModel.projections.count,
            saved.allSatisfy({ RegisteredProjection(name: $0.projection)?.version == $0.version })
        else {
            return (nil, "the read models were saved by another version of the projections")
        }
        guard Set(saved.map(\.position)).count == 1 else {
            return (nil, "the read models were saved at different positions")
        }
        return (saved[0].position, nil)
    }

    /// Compares everything. The model is a replay of the whole log up to the checkpoints' position.
    mutating func compare(_ model: ReadModel, _ checkpoints: [StoredCheckpoint]) async throws {
        for checkpoint in checkpoints {
            guard let projection = RegisteredProjection(name: checkpoint.projection) else { continue }
            try await compare(projection, projection.member, model, checkpoint.generation)
            try await compareQuarantine(projection, model, checkpoint.generation)
        }
        // Rows first: if they differ, so do the digests.
        guard findings.count == 0 else { return }
        let digests = model.digests
        for checkpoint in checkpoints {
            guard let projection = RegisteredProjection(name: checkpoint.projection) else { continue }
            let expected = digests[projection]
            if expected.bytes != checkpoint.digest {
                found(
                    nil, "the digest of \(projection)",
                    "is \(checkpoint.digest.hexadecimal), and its rows have \(expected)")
            }
        }
    }

    // MARK: Rows

    private mutating func compare<Member: ProjectionMember>(
        _ projection: RegisteredProjection, _ member: Member, _ model: ReadModel, _ generation: Int32
    ) async throws {
        typealias Row = Member.Member.Row
        let expected = member.projection(in: model)
        var stale: [(stored: Row, expected: Row)] = []
        var known = 0
        compared[projection] = 0
        var key: String?
        while let rows = try await rows(of: projection, generation, after: &key, isWhole: true) {
            compared[projection, default: 0] += rows.count
            for number in 0..<rows.count {
                let stored: Row
                do throws(UnreadableValue) {
                    stored = try Member.Member.row(number, of: rows)
                } catch {
                    found(nil, subject(projection, rows.key(number)), "cannot be read: \(error)")
                    continue
                }
                guard let right = expected.row(of: stored.key) else {
                    if !isQuarantined(stored.key, expected) {
                        found(
                            nil, subject(projection, stored.key.rawValue), "is stored, and the log has nothing of it")
                    }
                    continue
                }
                known += 1
                // Quarantined streams are shown to nobody; their rows are as they were before.
                if stored != right, !isQuarantined(stored.key, expected) { stale.append((stored, right)) }
            }
        }
        if known < expected.rowCount { try await findMissing(projection, expected, generation) }
        for (number, pair) in stale.enumerated() {
            let position =
                number < StoredRows.traced ? try await firstMissing(from: pair.stored, Member.Member.self) : nil
            found(
                position, subject(projection, pair.stored.key.rawValue),
                StoredRows.difference(projection, pair.stored, pair.expected)
                    + (position.map { ": event \($0) and what follows is not in it" } ?? ""))
        }
    }

    /// Reports the rows that are not stored. The rows are read again, because this is hardly ever needed.
    private mutating func findMissing<P: Projection>(
        _ projection: RegisteredProjection, _ expected: P, _ generation: Int32
    ) async throws {
        var missing = Set(expected.rows.map(\.key))
        var key: String?
        while let rows = try await rows(of: projection, generation, after: &key, isWhole: false) {
            for row in 0..<rows.count {
                if let key = Identifier(utf8: rows.bytes(row, 0)) { missing.remove(key) }
            }
        }
        for key in missing.sorted() where !isQuarantined(key, expected) {
            found(nil, subject(projection, key.rawValue), "is missing from \(projection)")
        }
    }

    private func rows(
        of projection: RegisteredProjection, _ generation: Int32, after key: inout String?, isWhole: Bool
    ) async throws -> (any Projections.StoredRows)? {
        let rows = try await source.rows(
            of: projection, generation, partition: partition, after: key, isWhole: isWhole)
        if let rows { key = rows.key(rows.count - 1) }
        return rows
    }

    private func isQuarantined<P: Projection>(_ key: Identifier, _ projection: P) -> Bool {
        !projection.quarantine.streams.isEmpty && P.streams(of: key).contains { projection.quarantine[$0] != nil }
    }

    private func subject(_ projection: RegisteredProjection, _ key: String) -> String {
        "\(projection.columns[0].name) '\(key)'"
    }

    private static func difference(
        _ projection: RegisteredProjection, _ stored: some ProjectionRow, _ expected: some ProjectionRow
    ) -> String {
        let (stored, expected) = (RowValues(stored), RowValues(expected))
        let different = projection.columns.indices.filter { stored.values[$0] != expected.values[$0] }
        if different.count == 1, case .number(let number) = stored.values[different[0]] {
            return "is stored with a \(projection.columns[different[0]].name) of \(number), and the log makes "
                + "\(expected.values[different[0]].shown) of it"
        }
        let names = different.map { projection.columns[$0].name }.joined(separator: ", ")
        return "is stored otherwise than the log has it (\(names))"
    }

    // MARK: Tracing a difference to an event

    /// The most differences that are traced, and the most events that are read for one.
    private static let traced = 20
    private static let tracedEvents = 10_000

    /// The position of the first event that a stored row lacks, if the row was right before it.
    private func firstMissing<P: Projection>(from stored: P.Row, _ type: P.Type) async throws -> Int64? {
        var events: [DecodedEvent] = []
        for stream in P.streams(of: stored.key) {
            events += try await source.events(partition: partition, stream: stream, limit: StoredRows.tracedEvents)
                .compactMap { try? $0.decoded() }
        }
        events.sort { $0.position < $1.position }
        var projection = P(notesChanges: false)
        var last: Int64?
        for event in events {
            try? projection.apply(event)
            if stored.mayFollow(event), projection.row(of: stored.key) == stored { last = event.position }
        }
        return last.flatMap { last in events.first { $0.position > last }?.position }
    }

    // MARK: Quarantine

    private mutating func compareQuarantine(
        _ projection: RegisteredProjection, _ model: ReadModel, _ generation: Int32
    ) async throws {
        var expected = projection.quarantine(in: model).streams
        for stored in try await source.quarantined(projection, generation, partition: partition) {
            let subject = "stream '\(stored.stream)'"
            guard let right = StreamName(stored.stream).flatMap({ expected.removeValue(forKey: $0) }) else {
                found(nil, subject, "is quarantined by \(projection), and the log says nothing against it")
                continue
            }
            if right.position != stored.position {
                found(
                    right.position, subject,
                    "is quarantined by \(projection) for event \(stored.position), and the log damages it here")
            }
        }
        for corruption in expected.values.sorted(by: { $0.position < $1.position }) {
            found(
                corruption.position, "stream '\(corruption.stream)'",
                "is damaged, and missing from the quarantine of \(projection)")
        }
    }
}
