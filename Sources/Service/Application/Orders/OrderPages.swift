internal import Domain
internal import EventLog
internal import EventLoop
internal import Projections

/// A question for a page of orders, the newest first.
struct OrderQuestion: Sendable {
    /// How many orders may be looked at for a page.
    static let patience = 10_000
    /// How many of them are read from the log for a page of the past.
    static let maximumOfPast = 200

    /// Which orders.
    var filter: OrderFilter
    /// Where the page begins; nil for the newest orders.
    var cursor: OrderCursor?
    /// The most orders of the page. A page has fewer, and a cursor, if most orders do not meet the conditions.
    var count: Int

    /// How many orders of each partition are read from the log for a page of the past. Their status then is not known
    /// beforehand.
    func maximumOfPast(partitions: Int) -> Int {
        max(1, min(filter.statuses.isEmpty ? count : .max, OrderQuestion.maximumOfPast / partitions))
    }

    /// The answer.
    ///
    /// - Parameters:
    ///   - positions: before which position of each partition the page begins.
    ///   - newest: the newest order of a partition before a position.
    func page(
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
struct OrderCursor: Sendable {
    var positions: [Int64]

    /// The cursor as one word that needs no quotes.
    var text: String { positions.map { "\($0)" }.joined(separator: "-") }

    init(positions: [Int64]) { self.positions = positions }

    /// The cursor in a text; nil if the text is not a cursor of a log with so many partitions.
    init?(_ text: String, partitions: Int) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        positions = parts.compactMap { part in
            part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(part) : nil
        }
        guard parts.count == partitions, positions.count == partitions else { return nil }
    }
}

extension Application {
    /// How long a page of the past waits until this server knows what others have written, in milliseconds.
    private static let longestWait: Int64 = 1_000

    /// A page of orders.
    func orders(_ question: OrderQuestion) -> [UInt8] {
        var patience = OrderQuestion.patience
        let positions = question.cursor?.positions ?? partitions.map { $0.position + 1 }
        return question.page(before: positions) { partition, position in
            let next = partitions[partition].model.ask {
                $0.orders.newest(question.filter, before: position, patience: &patience)
            }
            #if DEBUG
                if case .order(let row) = next, configuration.plantedFault?.strikes(.lostRow) ?? false {
                    return partitions[partition].model.ask {
                        $0.orders.newest(question.filter, before: row.position, patience: &patience)
                    }
                }
            #endif
            return next
        }
    }

    /// A page of orders as it was at a moment, as soon as it is known.
    func orders(_ question: OrderQuestion, at moment: Moment, for caller: Caller) throws(Failure) -> Response {
        let promise = Promise(about: .order)
        try historyQueue.add(for: caller) { [self] in
            // A task of its own may leave the loop's thread.
            let page = await Task { [history] in
                await PastState.page(of: question, at: moment, in: history) { range throws(Failure) in
                    try await placed(question.filter, range, for: caller)
                }
            }.value
            promise.end(page.map(Answer.document))
        }
        return .promise(promise)
    }

    /// Orders of the log, as far as they are in the read model: an order that was placed never leaves it.
    private func placed(
        _ filter: OrderFilter, _ range: PastState.PlacedRange, for caller: Caller
    ) async throws(Failure) -> PlacedOrders {
        let event = LogWaits.Event(
            partition: range.partition, position: range.end, milliseconds: Application.longestWait)
        if partitions[event.partition].position < event.position {
            try await withCheckedContinuation { (known: CheckedContinuation<Result<Void, Failure>, Never>) in
                do throws(Failure) {
                    try logWaits.add(event, for: caller) { _ in known.resume(returning: .success(())) }
                } catch {
                    known.resume(returning: .failure(error))
                }
            }.get()
        }
        guard partitions[event.partition].position >= event.position else {
            throw .unavailable("this server does not know the whole log yet")
        }
        return partitions[event.partition].model.ask {
            $0.orders.placed(filter, before: range.before, limit: range.limit, patience: OrderQuestion.patience)
        }
    }
}
