internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// Homes of the past, folded from the log: for clients that had one before this server started, or from another
/// server. Whoever asks for the same one at the same time shares one fold.
@LoopActor
final class HomeArchive {
    /// The most events that are folded; a home that takes more is too old.
    nonisolated static let maximumEvents = 10_000
    /// How many events are read from the log at once.
    nonisolated static let pageEvents = 1_000
    /// The most folds at once.
    static let maximumFolds = 2
    /// The most homes that may wait for a fold; of more, none is given.
    static let maximumWaiting = 1_000

    private struct Key: Hashable {
        var outlet: Identifier
        var revision: Int64
    }

    private let log: any EventLog
    private let partitioning: Partitioning
    private var askers: [Key: [@LoopActor (Home?) -> Void]] = [:]
    private var waiting: [Key] = []
    private var foldsUnderWay = 0

    init(_ log: any EventLog) {
        self.log = log
        partitioning = Partitioning(count: log.partitionCount)
    }

    /// Gives the home of that revision later; nil where there was none, or it cannot be had.
    func home(of outlet: Identifier, at revision: Int64, completion: @escaping @LoopActor (Home?) -> Void) {
        let key = Key(outlet: outlet, revision: revision)
        if askers[key] == nil {
            guard waiting.count < HomeArchive.maximumWaiting else { return completion(nil) }
            waiting.append(key)
        }
        askers[key, default: []].append(completion)
        startFolds()
    }

    private func startFolds() {
        while foldsUnderWay < HomeArchive.maximumFolds, !waiting.isEmpty {
            let key = waiting.removeFirst()
            foldsUnderWay += 1
            let partition = partitioning.partition(of: StreamName(.outlet, key.outlet))
            Task { @LoopActor [log] in
                // What cannot be read is not there: the client gets the whole document.
                let home = try? await HomeArchive.fold(key.outlet, upTo: key.revision, in: log, partition)
                foldsUnderWay -= 1
                for asker in askers.removeValue(forKey: key) ?? [] { asker(home) }
                startFolds()
            }
        }
    }

    /// Folds the outlet and its menu up to a position, beside the event loop. Nil where no event of theirs stands
    /// there, or too many before it.
    @concurrent
    private static func fold(
        _ outlet: Identifier, upTo revision: Int64, in log: any EventLog, _ partition: Int
    ) async throws -> Home? {
        let streams = [StreamName(.outlet, outlet), StreamName(.menu, outlet)]
        guard let last = try await log.read(partition: partition, after: revision - 1, limit: 1).first,
            streams.contains(where: { $0.description == last.stream })
        else { return nil }
        var events: [RecordedEvent] = []
        for stream in streams {
            var version: Int64 = 0
            var page: [RecordedEvent]
            repeat {
                page = try await log.read(
                    stream: stream, partition: partition, afterVersion: version, limit: pageEvents
                ).filter { $0.position <= revision }
                events += page
                version += Int64(page.count)
                guard events.count <= maximumEvents else { return nil }
            } while page.count == pageEvents
        }
        events.sort { $0.position < $1.position }
        let record = try OutletRecord(outlet, folding: try events.map { event in try event.decoded() })
        guard record.details != nil else { return nil }
        return Home(revision: record.revision, document: HomeDocument.bytes(of: record))
    }
}
