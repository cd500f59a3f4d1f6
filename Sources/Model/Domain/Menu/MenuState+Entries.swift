extension MenuState {
    /// Items by their ids, in the order of the ids: lists, which take half the room of a table of hashes. They are short,
    /// so that a copy of a menu shares nearly everything when one item changes.
    public struct Entries: Sendable {
        private static let maximumPiece = 64

        /// None is empty.
        private var pieces: [[Entry]] = []
        /// The number of items.
        public private(set) var count = 0
        /// The bytes of the texts and attributes of all items.
        private(set) var bytes = 0
        /// How many items have an attribute of each name.
        private var attributes: [Identifier: Int] = [:]

        /// The items, in the order of their ids.
        public var values: some Sequence<Entry> { pieces.joined() }

        /// The item of that id, if there is one. Setting nil removes it.
        public subscript(id: Identifier) -> Entry? {
            get {
                let place = place(of: id)
                return place.isTaken ? pieces[place.piece][place.index] : nil
            }
            set {
                let place = place(of: id)
                let old = place.isTaken ? pieces[place.piece][place.index] : nil
                bytes += (newValue?.bytes ?? 0) - (old?.bytes ?? 0)
                count(attributesOf: newValue, 1)
                count(attributesOf: old, -1)
                switch (place.isTaken, newValue) {
                case (true, let entry?): pieces[place.piece][place.index] = entry
                case (true, nil): remove(at: place)
                case (false, let entry?): insert(entry, at: place)
                case (false, nil): break
                }
            }
        }

        private typealias Place = (piece: Int, index: Int, isTaken: Bool)

        private mutating func insert(_ entry: Entry, at place: Place) {
            count += 1
            guard place.piece < pieces.count else { return pieces.append([entry]) }
            pieces[place.piece].insert(entry, at: place.index)
            guard pieces[place.piece].count > Self.maximumPiece else { return }
            // A menu is mostly read in order, which fills one piece after the other.
            let isLast = place.index == Self.maximumPiece
            let half = pieces[place.piece][(isLast ? Self.maximumPiece : Self.maximumPiece / 2)...]
            pieces[place.piece].removeLast(half.count)
            pieces.insert(Array(half), at: place.piece + 1)
        }

        private mutating func remove(at place: Place) {
            count -= 1
            pieces[place.piece].remove(at: place.index)
            if pieces[place.piece].isEmpty { pieces.remove(at: place.piece) }
        }

        private mutating func count(attributesOf entry: Entry?, _ change: Int) {
            entry?.forEachAttributeName { name in
                attributes[name, default: 0] += change
                if change < 0, attributes[name] == 0 { attributes[name] = nil }
            }
        }

        /// The number of different names of attributes if one item took the place of another.
        func attributeNames(replacing old: Entry?, with new: MenuItem) -> Int {
            let added = new.attributes.list.count { attributes[$0.name] == nil }
            var gone = 0
            old?.forEachAttributeName { if attributes[$0] == 1, new.attributes[$0] == nil { gone += 1 } }
            return attributes.count + added - gone
        }

        private func place(of id: Identifier) -> Place {
            // The first piece that does not end before the id; one that comes last is put into the last.
            let piece = max(0, min(pieces.partitionPoint { $0.last.map { $0.id < id } ?? true }, pieces.count - 1))
            guard piece < pieces.count else { return (piece, 0, false) }
            let list = pieces[piece]
            let index = list.partitionPoint { $0.id < id }
            return (piece, index, index < list.count && list[index].id == id)
        }
    }
}

extension MenuState.Entries: Equatable {
    /// Whether the items are the same, however they are divided.
    public static func == (a: Self, b: Self) -> Bool { a.count == b.count && a.values.elementsEqual(b.values) }
}

extension Array {
    /// How many elements at the beginning satisfy a condition that none after them does.
    fileprivate func partitionPoint(_ isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
