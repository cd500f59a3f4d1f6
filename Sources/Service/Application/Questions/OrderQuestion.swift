internal import Domain
package import Projections

/// A question for a page of orders, the newest first.
package struct OrderQuestion: Sendable {
    /// How many orders may be looked at for a page.
    package static let patience = 10_000
    /// How many of them are read from the log for a page of the past.
    package static let maximumOfPast = 200

    /// Which orders.
    package var filter: OrderFilter
    /// Where the page begins; nil for the newest orders.
    package var cursor: OrderCursor?
    /// The most orders of the page. A page has fewer, and a cursor, if most orders do not meet the conditions.
    package var count: Int

    /// How many orders of each partition are read from the log for a page of the past. Their status then is not known
    /// beforehand.
    package func maximumOfPast(partitions: Int) -> Int {
        max(1, min(filter.statuses.isEmpty ? count : .max, OrderQuestion.maximumOfPast / partitions))
    }

    /// The answer.
    ///
    /// - Parameters:
    ///   - positions: before which position of each partition the page begins.
    ///   - newest: the newest order of a partition before a position.
    package func page(
        before positions: [Int64], newest: (_ partition: Int, _ position: Int64) -> Orders.Next
    ) -> [UInt8] {
        var positions = positions
        var rows: [OrderRow] = []
        var next = positions.map { Orders.Next.none(from: $0) }
        while rows.count < count {
            for (index, candidate) in next.enumerated() {
                guard case .none(let position) = candidate else { continue }
                next[index] = newest(index, position)
                if case .none(let position) = next[index] { positions[index] = position }
                if case .end = next[index] { positions[index] = 0 }
            }
            // The newest of all can only be told if each partition has said which is its own.
            let candidates = next.indices.compactMap { index in
                if case .order(let row) = next[index] { (index: index, row: row) } else { nil }
            }
            let isTold = next.allSatisfy { if case .none = $0 { false } else { true } }
            guard isTold, let newest = candidates.max(by: { $0.row.placedAt < $1.row.placedAt }) else { break }
            rows.append(newest.row)
            positions[newest.index] = newest.row.position
            next[newest.index] = .none(from: newest.row.position)
        }
        let isEnd = positions.allSatisfy { $0 <= 1 }
        return OrderPageDocument.bytes(of: rows, next: isEnd ? nil : OrderCursor(positions: positions).text)
    }
}

/// Where a page of orders begins: in each partition before a position.
package struct OrderCursor: Sendable {
    package var positions: [Int64]

    /// The cursor as one word that needs no quotes.
    package var text: String { positions.map { "\($0)" }.joined(separator: "-") }

    package init(positions: [Int64]) { self.positions = positions }

    /// The cursor in a text; nil if the text is not a cursor of a log with so many partitions.
    package init?(_ text: String, partitions: Int) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        positions = parts.compactMap { part in
            part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(part) : nil
        }
        guard parts.count == partitions, positions.count == partitions else { return nil }
    }
}
