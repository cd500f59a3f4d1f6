internal import Domain
internal import EventLoop
internal import Projections

/// Reads the stored rows of a partition's carts, one at a time or, while some are on their way, all that were asked for.
@LoopActor
final class CartRows {
    /// A row, or that there is none, as of a generation's checkpoint.
    typealias Found = (generation: Int32, position: Int64, row: CartCountRow?)

    private let partition: Int
    private let store: (any ReadModelStore)?
    private var waiting: [Identifier: [@LoopActor (Found?) -> Void]] = [:]
    private var isReading = false

    init(partition: Int, _ store: (any ReadModelStore)?) {
        self.partition = partition
        self.store = store
    }

    /// Reads the row of a cart; nil if it cannot be read.
    func read(_ cart: Identifier, completion: @escaping @LoopActor (Found?) -> Void) {
        guard let store else { return completion(nil) }
        waiting[cart, default: []].append(completion)
        readNext(store)
    }

    private func readNext(_ store: any ReadModelStore) {
        guard !isReading, !waiting.isEmpty else { return }
        isReading = true
        let carts = Array(waiting.keys.prefix(ReadModel.keysAtOnce))
        let asked = carts.map { ($0, waiting.removeValue(forKey: $0) ?? []) }
        LoopActor.task { [self] in
            let found = try? await store.rows(of: ReadModel.carts, with: carts, in: partition)
            isReading = false
            readNext(store)
            var rows: [Identifier: CartCountRow] = [:]
            for number in 0..<(found?.rows.count ?? 0) {
                guard let row = found.flatMap({ try? CartCounts.row(number, of: $0.rows) }) else { continue }
                rows[row.cart] = row
            }
            for (cart, completions) in asked {
                for completion in completions { completion(found.map { ($0.generation, $0.position, rows[cart]) }) }
            }
        }
    }
}
