internal import EventLog
internal import EventLoop

/// The head of a partition in one of several databases.
struct PlacedHead: Equatable, Sendable {
    var partition: Int
    var position: Int64
    var digest: Digest
    var epoch: Int64
    /// The database that the partition lives in, or goes to; nil where it lives in this one.
    var movedTo: String?

    var isOpen: Bool { movedTo == nil }
    var head: LogHead { LogHead(partition: partition, position: position, digest: digest) }
}

/// In which of several databases each partition lives, as far as is known: their heads say so, and may have changed.
@LoopActor
final class PartitionPlaces {
    /// How long a look waits for a database. What it says later counts, too.
    private static let patience: UInt64 = 250
    private static let looksUntilTold = 3

    let names: [String]
    private let logs: [PostgresEventLog]
    private let report: (@LoopActor (String) -> Void)?
    /// The place of each partition.
    private var places: [Int]
    /// What each database said last; nil where it did not answer.
    private var heads: [[PlacedHead]?]
    private var looking: Task<Bool, Never>?
    /// In how many looks partitions were open in two places.
    private var doubled: [Int: Int] = [:]

    /// Places as the databases have them.
    ///
    /// - Parameters:
    ///   - heads: those of each database.
    ///   - report: learns of partitions that live in two places.
    /// - Throws: if a partition lives in two of the databases, or in none of them.
    init(
        _ names: [String], _ logs: [PostgresEventLog], _ heads: [[PlacedHead]],
        report: (@LoopActor (String) -> Void)? = nil
    ) throws(DatabaseMapError) {
        self.names = names
        self.logs = logs
        self.report = report
        self.heads = heads
        places = try PartitionPlaces.places(of: logs[0].partitionCount, names, heads)
    }

    /// The place of a partition.
    subscript(partition: Int) -> Int { places[partition] }

    /// The place of each partition, by what the heads of all databases say. On its way from one to another, a partition
    /// still lives where it was open last.
    nonisolated static func places(
        of count: Int, _ names: [String], _ heads: [[PlacedHead]]
    ) throws(DatabaseMapError) -> [Int] {
        var places: [Int] = []
        for partition in 0..<count {
            var (open, newest): ([Int], (place: Int, head: PlacedHead)?) = ([], nil)
            for (place, heads) in heads.enumerated() {
                guard let head = heads.first(where: { $0.partition == partition }) else {
                    throw DatabaseMapError(
                        "tiffin.log_head of database '\(names[place])' has no row for partition \(partition)")
                }
                if head.isOpen { open.append(place) }
                if head.epoch > newest?.head.epoch ?? .min { newest = (place, head) }
            }
            if open.count > 1 {
                let list = open.map { "'\(names[$0])'" }.joined(separator: " and ")
                throw DatabaseMapError("partition \(partition) is in two databases: \(list)")
            }
            guard let newest else { throw DatabaseMapError("there is no database") }
            if let destination = newest.head.movedTo, open.isEmpty, !names.contains(destination) {
                throw DatabaseMapError(
                    "partition \(partition) is in none of these databases: '\(names[newest.place])' says that it is in "
                        + "'\(destination)'")
            }
            places.append(open.first ?? newest.place)
        }
        return places
    }

    /// Asks the databases where the partitions live. Returns whether all have answered.
    @discardableResult
    func look() async -> Bool {
        // One that is under way may have asked before what the caller knows.
        if let looking { _ = await looking.value }
        if let looking { return await looking.value }
        let task = Task { @LoopActor in
            let isComplete = await ask()
            noteDoubled()
            looking = nil
            return isComplete
        }
        looking = task
        return await task.value
    }

    private func ask() async -> Bool {
        await withCheckedContinuation { continuation in
            var (waiting, isComplete) = (logs.count, true)
            let end = { @LoopActor in
                guard waiting > 0 else { return }
                isComplete = isComplete && waiting == 1
                waiting = 0
                continuation.resume(returning: isComplete)
            }
            let timer = LoopTimer(milliseconds: PartitionPlaces.patience) { end() }
            for (place, log) in logs.enumerated() {
                LoopActor.task { [self] in
                    let found = try? await log.placedHeads()
                    take(found, from: place)
                    if found == nil { isComplete = false }
                    if waiting > 1 { return waiting -= 1 }
                    timer.cancel()
                    end()
                }
            }
        }
    }

    private func take(_ found: [PlacedHead]?, from place: Int) {
        heads[place] = found
        for head in found ?? [] where places.indices.contains(head.partition) && places[head.partition] != place {
            // The present place may be away, and what it said last may be old. The higher epoch was open later.
            let known = self.head(of: head.partition, in: places[head.partition])
            let isNewer =
                if let known {
                    head.isOpen == known.isOpen ? head.epoch > known.epoch : head.isOpen
                } else {
                    head.isOpen
                }
            if isNewer { places[head.partition] = place }
        }
    }

    private func head(of partition: Int, in place: Int) -> PlacedHead? {
        guard let heads = heads[place] else { return nil }
        if heads.indices.contains(partition), heads[partition].partition == partition { return heads[partition] }
        return heads.first { $0.partition == partition }
    }

    /// Databases are not asked at the very same time, so what is open twice in one look may have moved.
    private func noteDoubled() {
        for partition in places.indices {
            let open = heads.indices.filter { head(of: partition, in: $0)?.isOpen ?? false }
            guard open.count > 1 else {
                doubled[partition] = nil
                continue
            }
            doubled[partition, default: 0] += 1
            guard doubled[partition] == PartitionPlaces.looksUntilTold else { continue }
            let list = open.map { "'\(names[$0])'" }.joined(separator: " and ")
            report?(
                "partition \(partition) is open in two databases: \(list). One has lost that it was moved; using "
                    + "'\(names[places[partition]])', and 'tiffin move' closes the other")
        }
    }

    /// The heads of partitions whose databases answered the last look, in the order of partitions.
    var knownHeads: [LogHead] {
        places.enumerated().compactMap { partition, place in
            head(of: partition, in: place)?.head
        }
    }

    /// How each database is, for `INFO`: whether it answered the last look, and how many partitions live in it.
    var lines: [(name: String, value: String)] {
        names.enumerated().map { place, name in
            (
                "database_\(name)",
                "state=\(heads[place] == nil ? "away" : "open"),partitions=\(places.count { $0 == place })"
            )
        }
    }
}
