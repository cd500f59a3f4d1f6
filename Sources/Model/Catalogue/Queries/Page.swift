internal import Domain

/// The rows of one page.
struct Page {
    var rows: [UInt32]
    /// Where the next page begins; nil on the last.
    var next: Cursor?
}

/// A page as clients get it.
public struct PageDocument {
    /// The document, as JSON text.
    public var bytes: [UInt8]
    /// Where it has the cursor of the next page.
    var cursor: Range<Int>

    /// What the page says, without its cursor. That says when the page was read, so it is another one after every event.
    public var content: [UInt8] { Array(bytes[..<cursor.lowerBound] + bytes[cursor.upperBound...]) }
}

/// The matches of a query, sorted into tiers of relevance if it ranks.
struct Matches {
    var all: Bitmap
    var tiers: [Bitmap]
    /// No match has a smaller key in the requested order.
    var leastKey: Int64
}

extension SearchIndex {
    /// How many steps along an order cost as much as examining one match.
    private static let stepsPerMatch = 3
    /// How many steps along an order cost as much as sorting one match among others.
    private static let stepsPerSorted = 64
    /// Up to this rank, rows are found as those of a first page are.
    private static let fewRanks = 1_000
    /// Up to this many matches, a random one is chosen from the matches; beyond, from all rows until one matches.
    private static let fewChoices = 4_096

    // MARK: Matching

    func matches(_ query: CatalogueQuery) -> Matches {
        var found: Bitmap?
        var tiers: [Bitmap]?
        let (late, early) = query.narrowings.reduce(into: ([(Int, Narrowing)](), [(Int, Narrowing)]())) { parts, next in
            let isEarly = next.narrowing.rowsAmong == nil || asksItems(next.filter)
            if isEarly { parts.1.append(next) } else { parts.0.append(next) }
        }
        for (filter, narrowing) in early {
            var rows: Bitmap
            if query.sort.ranksMatches, tiers == nil, let ranked = narrowing.tiers?(filters[filter]) {
                tiers = ranked.tiers
                rows = ranked.all
            } else {
                rows = self.rows(narrowing, filter)
            }
            found = found.map { $0.intersection(rows) } ?? rows
        }
        for (filter, narrowing) in late {
            if let rows = found, let among = narrowing.rowsAmong {
                let satisfying = among(filters[filter], rows)
                found = narrowing.isExclusion ? rows.subtracting(satisfying) : satisfying
            } else {
                let rows = self.rows(narrowing, filter)
                found = found.map { $0.intersection(rows) } ?? rows
            }
        }
        let all = found ?? self.all
        return Matches(
            all: all, tiers: tiers.map { $0.map(all.intersection) } ?? [all],
            leastKey: query.leastKey)
    }

    /// Whether a listing matches.
    func accepts(_ listing: Listing, _ query: CatalogueQuery) -> Bool {
        query.narrowings.allSatisfy {
            $0.narrowing.accepts(filters[$0.filter], listing) != $0.narrowing.isExclusion
        }
    }

    /// Whether outlets are found by their items.
    func asksItems(_ query: CatalogueQuery) -> Bool { query.narrowings.contains { asksItems($0.filter) } }

    /// Whether listings come or go as time passes.
    func usesAvailability(_ query: CatalogueQuery) -> Bool {
        query.narrowings.contains { filters[$0.filter] is AvailabilityIndex }
    }

    /// Whether listings go as time passes.
    func excludesAvailability(_ query: CatalogueQuery) -> Bool {
        query.narrowings.contains { filters[$0.filter] is AvailabilityIndex && $0.narrowing.isExclusion }
    }

    /// The sort key of a listing among the matches.
    func key(of listing: Listing, _ query: CatalogueQuery, foldedName: Text? = nil) -> SortKey {
        var tier = 0
        if query.sort.ranksMatches, let ranking = query.narrowings.first(where: { $0.narrowing.tier != nil }) {
            tier = ranking.narrowing.tier?(filters[ranking.filter], listing) ?? 0
        }
        return key(of: listing, in: query.sort.order, tier: tier, foldedName: foldedName)
    }

    // MARK: Pages

    /// The rows after `after`, in order, at most `limit`. A listing that has moved since the reader began is where it
    /// was then.
    ///
    /// - Parameter moved: the versions, when the reader began, of listings that have moved since.
    func page(
        of matches: Matches, _ query: CatalogueQuery, after: Cursor?, limit: Int, revision: Int64,
        moved: [ListingID: MoveLog.Move], row: (ListingID) -> UInt32?
    ) -> Page {
        var elsewhere: [UInt32: SortKey] = [:]
        for (id, before) in moved {
            guard let row = row(id), matches.all.contains(row) else { continue }
            elsewhere[row] = key(of: before.listing, query, foldedName: before.foldedName)
        }
        // One more than requested tells whether there is a next page.
        var rows = rows(of: matches, query.sort.order, after: after?.key, limit: limit + 1, without: elsewhere)
        let key = { (row: UInt32) in elsewhere[row] ?? self.key(of: self.source.listing(at: row), query) }
        let behind = elsewhere.filter { row, key in after.map { SortKey.precedes($0.key, key) } ?? true }
        if !behind.isEmpty {
            rows = (rows + behind.keys).map { (key: key($0), row: $0) }.sorted { SortKey.precedes($0.key, $1.key) }
                .map(\.row)
        }
        guard rows.count > limit else { return Page(rows: rows, next: nil) }
        let cursor = Cursor(
            query: query.fingerprint, revision: after?.revision ?? revision, key: key(rows[limit - 1]))
        return Page(rows: Array(rows[..<limit]), next: cursor)
    }

    /// The first rows after a key, in order.
    func rows(
        of matches: Matches, _ order: ListingOrder, after: SortKey?, limit: Int, without elsewhere: [UInt32: SortKey]
    ) -> [UInt32] {
        var rows: [UInt32] = []
        for (tier, set) in matches.tiers.enumerated() where rows.count < limit && !set.isEmpty {
            if let after, tier < after.tier { continue }
            let start = after.flatMap { $0.tier == tier ? $0 : nil }
            rows += self.rows(
                of: set, order, from: matches.leastKey, after: start, limit: limit - rows.count, without: elsewhere)
        }
        return rows
    }

    private func rows(
        of set: Bitmap, _ order: ListingOrder, from leastKey: Int64, after: SortKey?, limit: Int,
        without elsewhere: [UInt32: SortKey]
    ) -> [UInt32] {
        // Walks along the order until there are enough matches, if that is expected to be faster than examining every
        // match; gives up when it has cost as much.
        let maximumSteps = Self.stepsPerMatch * set.count
        if limit * all.count / set.count < maximumSteps {
            var rows: [UInt32] = []
            var steps = 0
            var isComplete = true
            let keys = orders[order.rawValue].keys
            orders[order.rawValue].rows.forEach(
                from: { row in keys.key(row) < leastKey || after.map { !isBehind(row, $0, order) } ?? false }
            ) { row in
                steps += 1
                if steps > maximumSteps {
                    isComplete = false
                    return false
                }
                if set.contains(row), elsewhere[row] == nil { rows.append(row) }
                return rows.count < limit
            }
            if isComplete { return rows }
        }
        return smallest(limit, of: set, order, after: after, without: elsewhere)
    }

    /// The rows at some ranks, in order.
    func rows(of matches: Matches, _ order: ListingOrder, at ranks: Range<Int>) -> [UInt32] {
        var rows: [UInt32] = []
        var before = 0
        for set in matches.tiers where before < ranks.upperBound {
            let count = set.count
            let part = ranks.clamped(to: before..<before + count)
            if !part.isEmpty {
                rows += self.rows(
                    of: set, order, from: matches.leastKey, at: part.lowerBound - before..<part.upperBound - before)
            }
            before += count
        }
        return rows
    }

    private func rows(
        of set: Bitmap, _ order: ListingOrder, from leastKey: Int64, at ranks: Range<Int>
    ) -> [UInt32] {
        guard ranks.upperBound > Self.fewRanks else {
            let first = rows(of: set, order, from: leastKey, after: nil, limit: ranks.upperBound, without: [:])
            return Array(first.dropFirst(ranks.lowerBound))
        }
        let keys = orders[order.rawValue].keys
        if set.count < all.count / Self.stepsPerSorted {
            let comparesNames = order.comparesNames
            return Array(set.rows.sorted { precedes($0, $1, keys, comparesNames: comparesNames) }[ranks])
        }
        var rows: [UInt32] = []
        var rank = 0
        orders[order.rawValue].rows.forEach(from: { keys.key($0) < leastKey }) { row in
            guard set.contains(row) else { return true }
            if rank >= ranks.lowerBound { rows.append(row) }
            rank += 1
            return rank < ranks.upperBound
        }
        return rows
    }

    /// The first rows of a set in an order, found by examining every one.
    private func smallest(
        _ limit: Int, of set: Bitmap, _ order: ListingOrder, after: SortKey?, without elsewhere: [UInt32: SortKey]
    ) -> [UInt32] {
        let keys = orders[order.rawValue].keys
        let comparesNames = order.comparesNames
        var best: [UInt32] = []
        best.reserveCapacity(limit + 1)
        for row in set.rows {
            if let worst = best.last, best.count == limit {
                if keys.key(row) > keys.key(worst) { continue }
                if !precedes(row, worst, keys, comparesNames: comparesNames) { continue }
            }
            if let after, !isBehind(row, after, order) { continue }
            if elsewhere[row] != nil { continue }
            let place = best.indices.partitionPoint {
                precedes(best[$0], row, keys, comparesNames: comparesNames)
            }
            best.insert(row, at: place)
            if best.count > limit { best.removeLast() }
        }
        return best
    }

    /// Whether a row comes after a key of its tier.
    private func isBehind(_ row: UInt32, _ key: SortKey, _ order: ListingOrder) -> Bool {
        let number = orders[order.rawValue].keys.key(row)
        if number != key.number { return number > key.number }
        if order.comparesNames {
            let name = analyser.fold(source.name(at: row))
            if name != key.name { return name > key.name }
        }
        return source.id(at: row) > key.id
    }

    // MARK: Choosing one

    /// One of the rows, all equally likely.
    func choose(_ set: Bitmap) -> UInt32? {
        let count = set.count
        return count == 0 ? nil : set.row(atRank: Int.random(in: 0..<count))
    }

    /// One of the rows, all equally likely. The same random numbers choose the same listing from the same listings,
    /// however rows are numbered: the rows are taken in the order of names.
    func choose(_ set: Bitmap, using generator: inout some RandomNumberGenerator) -> UInt32? {
        let count = set.count
        guard count > 0 else { return nil }
        let order = orders[ListingOrder.name.rawValue]
        if count > Self.fewChoices {
            while true {
                let row = order.rows[Int.random(in: 0..<all.count, using: &generator)]
                if set.contains(row) { return row }
            }
        }
        var rows = set.rows
        return rows.selectSmallest(Int.random(in: 0..<count, using: &generator)) {
            precedes($0, $1, order.keys, comparesNames: true)
        }
    }
}

extension [UInt32] {
    /// The element that has `rank` others before it, found by quickselect; the rest is left in disorder.
    fileprivate mutating func selectSmallest(_ rank: Int, by precedes: (UInt32, UInt32) -> Bool) -> UInt32 {
        var part = indices
        while part.count > 1 {
            // Rows are mostly in the order of ids, so the middle one is a good pivot.
            swapAt(part.lowerBound + part.count / 2, part.upperBound - 1)
            let pivot = self[part.upperBound - 1]
            var place = part.lowerBound
            for index in part.dropLast() where precedes(self[index], pivot) {
                swapAt(index, place)
                place += 1
            }
            swapAt(place, part.upperBound - 1)
            if rank == place { break }
            part = rank < place ? part.lowerBound..<place : place + 1..<part.upperBound
        }
        return self[rank]
    }
}
