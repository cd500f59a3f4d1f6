/// Writes the operations of a patch, each to be applied to what those before it made.
struct PatchWriter {
    private var writer = JSONWriter()
    private let limit: Int

    /// A writer that gives up once the patch is longer than `limit` bytes.
    init(limit: Int) {
        self.limit = limit
        writer.beginArray()
    }

    /// The patch; nil where it is longer than the limit.
    consuming func finish() -> [UInt8]? {
        writer.endArray()
        return isTooLong ? nil : writer.bytes
    }

    private var isTooLong: Bool { writer.count > limit }

    // MARK: Differences

    /// Writes what makes the new value of the old one, which stands at `path`.
    ///
    /// - Parameter known: arrays in both whose elements are known, if they are objects.
    mutating func difference(
        _ old: JSONSlice, _ new: JSONSlice, at path: String, _ known: (old: KnownArray?, new: KnownArray?) = (nil, nil)
    ) throws(JSONReadingError) {
        guard !isTooLong, old != new else { return }
        if old.isObject, new.isObject {
            try difference(try old.members(known.old), try new.members(known.new), at: path)
        } else if old.isArray, new.isArray {
            try difference(try old.elements(), try new.elements(), at: path)
        } else {
            replace(path, with: new)
        }
    }

    private mutating func difference(
        _ old: [JSONSlice.Member], _ new: [JSONSlice.Member], at path: String
    ) throws(JSONReadingError) {
        // Mostly both have the same members in the same order.
        if old.count == new.count, zip(old, new).allSatisfy({ $0.name == $1.name }) {
            for (old, new) in zip(old, new) where old.value != new.value {
                try difference(old.value, new.value, at: path.appending(new.key.description))
            }
            return
        }
        let (oldByName, newByName) = (PatchWriter.byName(old), PatchWriter.byName(new))
        for member in old where newByName[member.name] == nil { remove(path.appending(member.key.description)) }
        for member in new {
            if let value = oldByName[member.name] {
                // The path is made for the few that differ.
                guard value != member.value else { continue }
                try difference(value, member.value, at: path.appending(member.key.description))
            } else {
                add(member.value, at: path.appending(member.key.description))
            }
        }
    }

    private static func byName(_ members: [JSONSlice.Member]) -> [JSONSlice: JSONSlice] {
        Dictionary(members.map { ($0.name, $0.value) }) { $1 }
    }

    private mutating func difference(
        _ old: [JSONSlice], _ new: [JSONSlice], at path: String
    ) throws(JSONReadingError) {
        // What stands at both ends as it did needs no identity.
        let shorter = min(old.count, new.count)
        let prefix = (0..<shorter).first { old[$0] != new[$0] } ?? shorter
        let suffix =
            (0..<shorter - prefix).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] }
            ?? shorter - prefix
        let (old, new) = (old[prefix..<old.count - suffix], new[prefix..<new.count - suffix])
        if let places = try ElementIdentity.places(of: old, in: new) {
            try matched(old, places, new, at: path)
        } else {
            try unmatched(old, new, at: path)
        }
    }

    // Arrays without their common ends: what is left of both begins at the same index.

    private mutating func unmatched(
        _ old: ArraySlice<JSONSlice>, _ new: ArraySlice<JSONSlice>, at path: String
    ) throws(JSONReadingError) {
        let common = old.startIndex..<min(old.endIndex, new.endIndex)
        for index in common { try difference(old[index], new[index], at: path.appending(index)) }
        // The last one first, so that each index is still right.
        for index in (common.upperBound..<old.endIndex).reversed() { remove(path.appending(index)) }
        for index in common.upperBound..<new.endIndex { add(new[index], at: path.appending(index)) }
    }

    /// - Parameter places: where in the new array each element of the old one stands.
    private mutating func matched(
        _ old: ArraySlice<JSONSlice>, _ places: [Int?], _ new: ArraySlice<JSONSlice>, at path: String
    ) throws(JSONReadingError) {
        let start = new.startIndex
        var oldOfNew: [JSONSlice?] = Array(repeating: nil, count: new.count)
        for (value, place) in zip(old, places) { if let place { oldOfNew[place - start] = value } }
        for (index, place) in zip(old.indices, places).reversed() where place == nil { remove(path.appending(index)) }

        /// What is in the array while the operations are applied: indices into the new one.
        var standing = places.compactMap(\.self)
        let staying = Set(PatchWriter.longestIncreasing(standing))
        /// Where the element before the next one stands in the rest of the array.
        var place = -1
        for index in new.indices where !isTooLong {
            if oldOfNew[index - start] == nil {
                place += 1
                add(new[index], at: path.appending(start + place))
                standing.insert(index, at: place)
            } else if staying.contains(index) {
                // Those that it passes are moved in front of others later.
                while standing[place + 1] != index { place += 1 }
                place += 1
            } else if let from = standing.firstIndex(of: index) {
                if from > place { place += 1 }
                guard from != place else { continue }
                move(from: path.appending(start + from), to: path.appending(start + place))
                standing.remove(at: from)
                standing.insert(index, at: place)
            }
        }
        for (index, value) in zip(new.indices, oldOfNew) {
            guard let value, value != new[index] else { continue }
            try difference(value, new[index], at: path.appending(index))
        }
    }

    /// The longest part of a sequence of different numbers in which they rise.
    private static func longestIncreasing(_ numbers: [Int]) -> [Int] {
        /// Of each length, where the part of that length ends whose end is smallest.
        var ends: [Int] = []
        var previous: [Int?] = []
        for (index, number) in numbers.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            previous.append(low > 0 ? ends[low - 1] : nil)
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var result: [Int] = []
        var next = ends.last
        while let index = next {
            result.append(numbers[index])
            next = previous[index]
        }
        return result
    }

    // MARK: Operations

    private mutating func remove(_ path: String) {
        begin("remove", path)
        writer.endObject()
    }

    private mutating func move(from: String, to path: String) {
        begin("move", path)
        writer.field("from", from)
        writer.endObject()
    }

    private mutating func add(_ value: JSONSlice, at path: String) {
        begin("add", path)
        end(with: value)
    }

    private mutating func replace(_ path: String, with value: JSONSlice) {
        begin("replace", path)
        end(with: value)
    }

    private mutating func begin(_ operation: String, _ path: String) {
        writer.beginObject()
        writer.field("op", operation)
        writer.field("path", path)
    }

    private mutating func end(with value: JSONSlice) {
        writer.key("value")
        writer.raw(value.bytes)
        writer.endObject()
    }
}

extension String {
    /// This JSON Pointer, and one member further.
    fileprivate func appending(_ key: String) -> String {
        let isPlain = key.utf8.allSatisfy { $0 != UInt8(ascii: "~") && $0 != UInt8(ascii: "/") }
        if isPlain { return "\(self)/\(key)" }
        var pointer = "\(self)/"
        for scalar in key.unicodeScalars {
            switch scalar {
            case "~": pointer += "~0"
            case "/": pointer += "~1"
            default: pointer.unicodeScalars.append(scalar)
            }
        }
        return pointer
    }

    /// This JSON Pointer, and one element further.
    fileprivate func appending(_ index: Int) -> String { "\(self)/\(index)" }
}
