extension MenuState {
    /// Items by their ids, in the order of the ids: a list, which takes half the room of a table of hashes.
    public struct Entries: Equatable, Sendable {
        private var list: [Entry] = []
        /// The bytes of the texts and attributes of all items.
        private(set) var bytes = 0
        /// How many items have an attribute of each name.
        private var attributes: [Identifier: Int] = [:]

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
                let old = place.isTaken ? list[place.index] : nil
                bytes += (newValue?.bytes ?? 0) - (old?.bytes ?? 0)
                count(attributesOf: newValue, 1)
                count(attributesOf: old, -1)
                switch (place.isTaken, newValue) {
                case (true, let entry?): list[place.index] = entry
                case (true, nil): list.remove(at: place.index)
                case (false, let entry?): list.insert(entry, at: place.index)
                case (false, nil): break
                }
            }
        }

        private mutating func count(attributesOf entry: Entry?, _ change: Int) {
            guard let entry, entry.hasAttributes else { return }
            for attribute in entry.item.attributes.list {
                let count = attributes[attribute.name, default: 0] + change
                attributes[attribute.name] = count == 0 ? nil : count
            }
        }

        /// The number of different names of attributes if one item took the place of another.
        func attributeNames(replacing old: Entry?, with new: MenuItem) -> Int {
            let added = new.attributes.list.count { attributes[$0.name] == nil }
            let gone = old.map { old in
                guard old.hasAttributes else { return 0 }
                return old.item.attributes.list.count { attributes[$0.name] == 1 && new.attributes[$0.name] == nil }
            }
            return attributes.count + added - (gone ?? 0)
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
