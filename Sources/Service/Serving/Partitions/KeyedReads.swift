internal import Domain
internal import EventLoop
internal import Projections

/// Reads the stored rows of a partition's carts or orders, one at a time or, while some are on their way, all that were
/// asked for.
@LoopActor
final class KeyedReads<Member: Projection> {
    /// A row, or that there is none, as of a generation's checkpoint.
    typealias Found = (generation: Int32, position: Int64, row: Member.Row?)

    private let projection: RegisteredProjection
    private let partition: Int
    private let store: (any ReadModelStore)?
    private var waiting: [Identifier: [@LoopActor (Found?) -> Void]] = [:]
    private var isReading = false

    init(of projection: RegisteredProjection, as _: Member.Type, partition: Int, _ store: (any ReadModelStore)?) {
        self.projection = projection
        self.partition = partition
        self.store = store
    }

    /// Reads the row with a key; nil if it cannot be read.
    func read(_ key: Identifier, completion: @escaping @LoopActor (Found?) -> Void) {
        guard let store else { return completion(nil) }
        waiting[key, default: []].append(completion)
        readNext(store)
    }

    private func readNext(_ store: any ReadModelStore) {
        guard !isReading, !waiting.isEmpty else { return }
        isReading = true
        let keys = Array(waiting.keys.prefix(ReadModel.keysAtOnce))
        let asked = keys.map { ($0, waiting.removeValue(forKey: $0) ?? []) }
        LoopActor.task { [self] in
            let found = try? await store.rows(of: projection, with: keys, in: partition)
            isReading = false
            readNext(store)
            var rows: [Identifier: Member.Row] = [:]
            for number in 0..<(found?.rows.count ?? 0) {
                guard let row = found.flatMap({ try? Member.row(number, of: $0.rows) }) else { continue }
                rows[row.key] = row
            }
            for (key, completions) in asked {
                for completion in completions { completion(found.map { ($0.generation, $0.position, rows[key]) }) }
            }
        }
    }
}
