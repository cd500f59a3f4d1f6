internal import Domain
internal import EventLog
internal import Projections

/// Compares the stored rows of a partition with a replay at the same position.
struct StoredRows {
    private let source: any AuditSource
    private let partition: Int
    private(set) var findings = Findings()
    /// How many rows in use of each projection were compared, and how many others.
    private(set) var compared: [RegisteredProjection: Int] = [:]
    private(set) var comparedOthers = 0
    /// What the rows that are being compared are of.
    private var comparing = ""

    init(_ source: any AuditSource, partition: Int) {
        self.source = source
        self.partition = partition
    }

    private mutating func found(_ position: Int64?, _ subject: String, _ message: String) {
        findings.add(Finding(.difference, partition: partition, position: position, subject: subject, message))
    }

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

    // MARK: Generations

    /// Rows of a projection that belong together, with what their checkpoint says, if there is one.
    struct Generation {
        var projection: RegisteredProjection
        var number: Int32
        var checkpoint: StoredCheckpoint?
        /// The position to compare them at: that of the checkpoint, if it is possible.
        var position: Int64

        var isActive: Bool { checkpoint?.isActive ?? false }

        fileprivate var name: String {
            switch checkpoint?.isActive {
            case true: "\(projection)"
            case false: "generation \(number) of \(projection), which was used before,"
            case nil: "generation \(number) of \(projection)"
            }
        }
    }

    /// Everything that is stored, whatever it says of itself. Reports checkpoints that cannot be.
    mutating func generations(upTo head: Int64) async throws -> [Generation] {
        let checkpoints = try await source.checkpoints(partition: partition)
        for checkpoint in checkpoints where RegisteredProjection(name: checkpoint.projection) == nil {
            findings.add(
                Finding(
                    .unknown, partition: partition, position: nil,
                    subject: "projection \(checkpoint.projection.debugDescription)",
                    "is not one that this version of Tiffin knows"))
        }
        // A checkpoint at position 0 was reserved by a server that has not saved anything yet.
        let possible = checkpoints.filter { $0.isActive && (1...max(head, 1)).contains($0.position) }
        if Set(possible.map(\.position)).count > 1 {
            found(nil, "the read models", "were saved at different positions")
        }
        var generations: [Generation] = []
        for projection in ReadModel.projections {
            let own = checkpoints.filter { $0.projection == projection.name }
            var numbers = Set(try await source.generations(of: projection, partition: partition))
            for checkpoint in own where numbers.contains(checkpoint.generation) || checkpoint.position != 0 {
                numbers.remove(checkpoint.generation)
                generations.append(
                    Generation(
                        projection: projection, number: checkpoint.generation, checkpoint: checkpoint,
                        position: position(of: checkpoint, upTo: head) ?? possible.map(\.position).max() ?? head))
            }
            for number in numbers.sorted() {
                found(nil, "generation \(number) of \(projection)", "has rows and no checkpoint")
                generations.append(
                    Generation(
                        projection: projection, number: number, checkpoint: nil,
                        position: possible.map(\.position).max() ?? head))
            }
        }
        guard !generations.isEmpty else { return [] }
        for projection in ReadModel.projections
        where !generations.contains(where: { $0.projection == projection && $0.isActive }) {
            findings.add(
                Finding(
                    .unknown, partition: partition, position: nil, subject: "\(projection)",
                    "has no checkpoint, and others have: a server folds the log again"))
        }
        return generations
    }

    private mutating func position(of checkpoint: StoredCheckpoint, upTo head: Int64) -> Int64? {
        guard checkpoint.position > 0 else {
            found(
                nil, "the checkpoint of \(checkpoint.projection)",
                "is at position \(checkpoint.position), and its rows are there")
            return nil
        }
        guard checkpoint.position <= head else {
            found(
                nil, "the checkpoint of \(checkpoint.projection)",
                "is at position \(checkpoint.position), and the log ends at \(head)")
            return nil
        }
        return checkpoint.position
    }

    /// Compares generations of rows. The model is a replay of the whole log up to their position, and the chain that of
    /// the log there, if a batch ends there.
    mutating func compare(_ generations: [Generation], _ model: ReadModel, _ chain: Digest?) async throws {
        var digests: ReadModel.Digests?
        for generation in generations {
            let others = findings
            findings = Findings()
            let checkpoint = generation.checkpoint
            try await compare(generation, generation.projection.member, model)
            try await compareQuarantine(generation, model)
            let differences = findings
            findings = others
            if let checkpoint, checkpoint.version != generation.projection.version {
                reportVersion(checkpoint.version, of: generation, differences)
                continue
            }
            findings.add(differences)
            guard let checkpoint, checkpoint.position == generation.position else { continue }
            if let stored = checkpoint.chain, stored != chain {
                found(
                    nil, "the checkpoint of \(generation.name)",
                    "has the chain \(stored), and the log has \(chain.map { "\($0)" } ?? "no batch that ends") there")
            }
            // Rows first: if they differ, so do the digests.
            guard differences.count == 0 else { continue }
            let all = digests ?? model.digests
            digests = all
            let expected = all[generation.projection]
            if expected.bytes != checkpoint.digest {
                found(
                    nil, "the digest of \(generation.name)",
                    "is \(checkpoint.digest.hexadecimal), and its rows have \(expected)")
            }
        }
    }

    /// Rows of another version may be right, and what differs may be altered.
    private mutating func reportVersion(_ version: Int, of generation: Generation, _ differences: Findings) {
        let example = differences.kept.first.map { ": \($0.subject) \($0.message)" } ?? ""
        findings.add(
            Finding(
                .unknown, partition: partition, position: nil, subject: generation.name,
                "was saved by version \(version) of the projection, and this is version "
                    + "\(generation.projection.version), which finds \(differences.count.counted("difference"))\(example)"
            ))
    }

    // MARK: Rows

    private mutating func compare<Member: ProjectionMember>(
        _ generation: Generation, _ member: Member, _ model: ReadModel
    ) async throws {
        typealias Row = Member.Member.Row
        let projection = generation.projection
        comparing = generation.isActive ? "" : " of \(generation.name)"
        let expected = member.projection(in: model)
        var stale: [(stored: Row, expected: Row)] = []
        var known = 0
        var key: String?
        while let rows = try await rows(of: projection, generation.number, after: &key, isWhole: true) {
            if generation.isActive {
                compared[projection, default: 0] += rows.count
            } else {
                comparedOthers += rows.count
            }
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
                // A quarantined stream is not shown; its rows stay as they were before.
                if stored != right, !isQuarantined(stored.key, expected) { stale.append((stored, right)) }
            }
        }
        if known < expected.rowCount { try await findMissing(projection, expected, generation.number) }
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
        "\(projection.columns[0].name) '\(key)'\(comparing)"
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

    private mutating func compareQuarantine(_ generation: Generation, _ model: ReadModel) async throws {
        let projection = generation.projection
        var expected = projection.quarantine(in: model).streams
        for stored in try await source.quarantined(projection, generation.number, partition: partition) {
            let subject = "stream '\(stored.stream)'\(comparing)"
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
                corruption.position, "stream '\(corruption.stream)'\(comparing)",
                "is damaged, and missing from the quarantine of \(projection)")
        }
    }
}
