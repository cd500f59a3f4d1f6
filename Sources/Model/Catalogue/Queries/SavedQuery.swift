public import Domain
public import TextFormats

/// What a saved query is called.
///
/// A name that begins with `shared:` means the same to every client. Any other belongs to one connection, and ends with
/// it. A question has a name that no client can give.
public struct SavedName: Hashable, Sendable {
    /// The name, as clients give it.
    public let name: Identifier
    /// The connection that it belongs to, from 1; nil where it is shared.
    public let client: Int64?

    /// Stands for a connection in the names of questions.
    private static let noClient: Int64 = 0

    /// What a connection means by a name.
    public init(_ name: Identifier, of client: Int64) {
        self.name = name
        self.client = name.rawValue.utf8.starts(with: "shared:".utf8) ? nil : client
    }

    /// What the catalogue calls the query behind a question.
    public init(question name: Identifier) {
        self.name = name
        client = Self.noClient
    }

    var isOfQuestion: Bool { client == Self.noClient }
}

/// The answer to a saved query: `{"browse","revision","total","from","items","state"}`.
public struct SavedAnswer: Sendable {
    /// Another one for each document.
    public let revision: Int64
    /// The document, as JSON text.
    public let bytes: [UInt8]
    /// Where it has its rows.
    public let rows: KnownArray
    /// Where begins what it says, behind its revision.
    let content: Int

    func saysTheSame(as other: SavedAnswer) -> Bool {
        bytes.withUnsafeBytes { mine in
            other.bytes.withUnsafeBytes { theirs in
                UnsafeRawBufferPointer(rebasing: mine[content...]).isEqual(
                    to: UnsafeRawBufferPointer(rebasing: theirs[other.content...]))
            }
        }
    }
}

/// A query whose answer follows every change of a listing, instead of being asked again.
///
/// It knows how many listings match, and the keys of some of them in a row: those that are shown, and some before and
/// behind. Only when those that are shown are no longer among them is the query asked again. A row is written once, and
/// copied from answer to answer until its listing changes.
final class SavedQuery {
    /// A listing that matches.
    private struct Match {
        let key: SortKey
        /// Where the answer that was last given has its row, counted from ``SavedAnswer/content``; nil if it has none.
        /// A listing that changes leaves the matches and comes back without one.
        var row: Range<Int>?
    }

    /// The most listings that are kept on each side of those that are shown.
    private static let maximumMargin = 100

    let name: SavedName
    let query: CatalogueQuery
    /// Whose share it is a part of.
    let owner: Int
    /// Rises with every change of the answer.
    private(set) var revision: Int64
    /// As it was last given.
    private var answer: SavedAnswer?
    /// Which of the matches are shown, counted from 0.
    private(set) var window: Range<Int>
    private var total = 0
    /// Some of the matches, one after the other.
    private var known: [Match] = []
    /// How many matches come before the first that is known.
    private var first = 0
    /// Whether more has changed than is worth following.
    private var isStale = true

    init(_ name: SavedName, _ query: CatalogueQuery, owner: Int, revision: Int64) {
        self.name = name
        self.query = query
        self.owner = owner
        self.revision = revision
        window = query.window
    }

    private var margin: Int { min(window.count, Self.maximumMargin) }
    /// The matches that are shown, as there may be too few.
    private var shown: Range<Int> { min(window.lowerBound, total)..<min(window.upperBound, total) }
    private var reachesEnd: Bool { first + known.count == total }

    /// Stops following: the query is asked again the next time its answer is needed.
    func forget() { isStale = true }

    /// Shows others of the matches.
    func move(to window: Range<Int>) {
        self.window = window
        askAgainIfNeeded()
    }

    // MARK: Following

    /// A listing has changed, has come (from nil) or has gone (to nil). Returns whether the answer looks different.
    func follow(from old: Listing?, to new: Listing?, in index: SearchIndex) -> Bool {
        guard !isStale else { return false }
        let before = old.flatMap { index.accepts($0, query) ? index.key(of: $0, query) : nil }
        let after = new.flatMap { index.accepts($0, query) ? index.key(of: $0, query) : nil }
        guard before != nil || after != nil else { return false }
        let left = before.map(remove)
        let came = after.map(insert)
        trim()
        askAgainIfNeeded()
        // What comes and goes changes the total. What moves changes the places between.
        guard !isStale, let left, let came else { return true }
        return min(left, came) < window.upperBound && max(left, came) >= window.lowerBound
    }

    /// Takes out a key. Returns how many matches came before it, or a number on the same side of ``window``.
    private func remove(_ key: SortKey) -> Int {
        let place = place(of: key)
        let rank = first + place
        if place < known.count, known[place].key == key {
            known.remove(at: place)
        } else if place == 0, first > 0 {
            first -= 1
        } else if place < known.count || reachesEnd {
            isStale = true
        }
        total -= 1
        return rank
    }

    /// Takes in a key. Returns how many matches come before it, or a number on the same side of ``window``.
    private func insert(_ key: SortKey) -> Int {
        let place = place(of: key)
        let rank = first + place
        if place == 0, first > 0 {
            first += 1
        } else if place < known.count || reachesEnd {
            known.insert(Match(key: key), at: place)
        }
        total += 1
        return rank
    }

    private func place(of key: SortKey) -> Int {
        known.indices.partitionPoint { SortKey.precedes(known[$0].key, key) }
    }

    /// Forgets keys that are far from those that are shown.
    private func trim() {
        let before = window.lowerBound - 2 * margin - first
        if before > 0, before < known.count {
            known.removeFirst(before)
            first += before
        }
        let behind = first + known.count - window.upperBound - 2 * margin
        if behind > 0, behind < known.count { known.removeLast(behind) }
    }

    private func askAgainIfNeeded() {
        if first > shown.lowerBound || first + known.count < shown.upperBound { isStale = true }
    }

    // MARK: Answering

    /// The answer as of now. Its revision rises if it says something else than before.
    ///
    /// - Parameters:
    ///   - revision: the least revision that it may rise to.
    ///   - write: writes the row of a listing.
    func answer(
        in index: SearchIndex, revision: Int64, write: (ListingID, inout JSONWriter) -> Void
    ) -> SavedAnswer {
        if isStale { askAgain(index) }
        let old = answer
        let next = old == nil ? self.revision : max(self.revision + 1, revision)
        var writer = JSONWriter(reservingCapacity: max(256 + 512 * shown.count, old?.bytes.count ?? 0))
        writer.beginObject()
        writer.field("browse", name.name.rawValue)
        writer.field("revision", next)
        let content = writer.count
        writer.field("total", total)
        writer.field("from", window.lowerBound)
        writer.key("items")
        let rows = writeRows(from: old, content, &writer, write)
        writer.field("state", total == 0 ? "empty" : "ready")
        writer.endObject()
        let new = SavedAnswer(revision: next, bytes: writer.bytes, rows: rows, content: content)
        if let old, old.saysTheSame(as: new) { return old }
        self.revision = next
        answer = new
        return new
    }

    /// Writes the rows that are shown, and copies those that have not changed.
    private func writeRows(
        from old: SavedAnswer?, _ content: Int, _ writer: inout JSONWriter,
        _ write: (ListingID, inout JSONWriter) -> Void
    ) -> KnownArray {
        let start = writer.count
        var commas: [Int] = []
        writer.beginArray()
        let places = shown.lowerBound - first..<shown.upperBound - first
        for place in known.indices {
            guard places.contains(place) else {
                known[place].row = nil
                continue
            }
            let isFirst = place == places.lowerBound
            if !isFirst { commas.append(writer.count - start) }
            let row = writer.count - content + (isFirst ? 0 : 1)
            if let old, let row = known[place].row {
                writer.raw(old.bytes[old.content + row.lowerBound..<old.content + row.upperBound])
            } else {
                write(known[place].key.id, &writer)
            }
            known[place].row = row..<writer.count - content
        }
        writer.endArray()
        return KnownArray(place: start..<writer.count, commas: commas)
    }

    private func askAgain(_ index: SearchIndex) {
        let matches = index.matches(query)
        total = matches.all.count
        first = max(shown.lowerBound - margin, 0)
        known = index.rows(of: matches, query.sort.order, at: first..<min(shown.upperBound + margin, total))
            .map { Match(key: index.key(of: index.source.listing(at: $0), query)) }
        isStale = false
    }
}
