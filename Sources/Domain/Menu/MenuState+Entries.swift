extension MenuState {
    /// Items by their ids, in the order of the ids: a list, which takes half the room of a table of hashes.
    public struct Entries: Equatable, Sendable {
        private var list: [Entry] = []
        /// The bytes of the texts of all items.
        private(set) var bytes = 0

        /// The number of items.
        public var count: Int { list.count }

        /// The items, in the order of their ids.
        public var values: [Entry] { list }

        /// The item of that id, if there is one. Setting nil removes it.
        public subscript(id: Identifier) -> Entry? {
            get {
                let place = place(of: id)
                return place.isTaken ? list[place.index] : nil
            }
            set {
                let place = place(of: id)
                bytes += (newValue?.bytes ?? 0) - (place.isTaken ? list[place.index].bytes : 0)
                switch (place.isTaken, newValue) {
                case (true, let entry?): list[place.index] = entry
                case (true, nil): list.remove(at: place.index)
                case (false, let entry?): list.insert(entry, at: place.index)
                case (false, nil): break
                }
            }
        }

        private func place(of id: Identifier) -> (index: Int, isTaken: Bool) {
            // A menu is mostly read in order: the next one comes last.
            guard let last = list.last, !(last.id < id) else { return (list.count, false) }
            var low = 0
            var high = list.count - 1
            while low < high {
                let middle = (low + high) / 2
                if list[middle].id < id { low = middle + 1 } else { high = middle }
            }
            return (low, list[low].id == id)
        }
    }
}
