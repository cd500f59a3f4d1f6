/// A sorted list in chunks, so that inserting or removing an element does not move all those after it.
///
/// The caller defines the order: it must pass the same function every time, and what that looks at must not change
/// while an element is in the list.
struct SortedChunks<Element> {
    /// A chunk that would grow beyond this is split in two.
    static var maximumChunk: Int { 1_024 }

    private var chunks: [[Element]] = []
    private(set) var count = 0

    init() {}

    /// A list of elements that are in order already.
    init(sorted elements: [Element]) {
        count = elements.count
        let size = Self.maximumChunk * 3 / 4
        chunks.reserveCapacity(elements.count / size + 1)
        for start in stride(from: 0, to: elements.count, by: size) {
            chunks.append(Array(elements[start..<min(start + size, elements.count)]))
        }
    }

    /// The element at an offset, which must exist.
    subscript(index: Int) -> Element {
        var rest = index
        for chunk in chunks {
            if rest < chunk.count { return chunk[rest] }
            rest -= chunk.count
        }
        preconditionFailure("no such element")
    }

    var first: Element? { chunks.first?.first }

    mutating func insert(_ element: Element, by precedes: (Element, Element) -> Bool) {
        count += 1
        guard !chunks.isEmpty else { return chunks = [[element]] }
        let (chunk, index) = place { precedes($0, element) }
        // After the last element is the end of the last chunk.
        let target = min(chunk, chunks.count - 1)
        chunks[target].insert(element, at: chunk == target ? index : chunks[target].count)
        if chunks[target].count > Self.maximumChunk {
            let half = chunks[target].count / 2
            let tail = Array(chunks[target][half...])
            chunks[target].removeLast(chunks[target].count - half)
            chunks.insert(tail, at: target + 1)
        }
    }

    /// Removes the element that neither precedes nor follows `element`. Returns whether there was one.
    @discardableResult
    mutating func remove(_ element: Element, by precedes: (Element, Element) -> Bool) -> Bool {
        let (chunk, index) = place { precedes($0, element) }
        guard chunk < chunks.count, !precedes(element, chunks[chunk][index]) else { return false }
        count -= 1
        chunks[chunk].remove(at: index)
        if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
        return true
    }

    /// Calls `body` with each element from the first for which `isBefore` is false, as long as `body` returns true.
    /// `isBefore` must be true for all elements before that.
    func forEach(from isBefore: (Element) -> Bool = { _ in false }, _ body: (Element) -> Bool) {
        let (start, offset) = place(isBefore)
        guard start < chunks.count else { return }
        for element in chunks[start][offset...] where !body(element) { return }
        for chunk in chunks[(start + 1)...] {
            for element in chunk where !body(element) { return }
        }
    }

    /// The place of the first element that is not before; the end of the last chunk counts as the start of the next.
    private func place(_ isBefore: (Element) -> Bool) -> (chunk: Int, index: Int) {
        let chunk = chunks.indices.partitionPoint { isBefore(chunks[$0][chunks[$0].count - 1]) }
        guard chunk < chunks.count else { return (chunk, 0) }
        return (chunk, chunks[chunk].indices.partitionPoint { isBefore(chunks[chunk][$0]) })
    }
}
