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
    mutating func difference(_ old: JSONValue, _ new: JSONValue, at path: String) {
        guard !isTooLong, old != new else { return }
        switch (old, new) {
        case (.object(let old), .object(let new)): difference(old, new, at: path)
        case (.array(let old), .array(let new)): difference(old, new, at: path)
        default: replace(path, with: new)
        }
    }

    private mutating func difference(_ old: [JSONValue.Member], _ new: [JSONValue.Member], at path: String) {
        let (oldByKey, newByKey) = (PatchWriter.byKey(old), PatchWriter.byKey(new))
        for member in old where newByKey[Array(member.key.utf8)] == nil { remove(path.appending(member.key)) }
        for member in new {
            if let value = oldByKey[Array(member.key.utf8)] {
                // The path is made for the few that differ.
                guard value != member.value else { continue }
                difference(value, member.value, at: path.appending(member.key))
            } else {
                add(member.value, at: path.appending(member.key))
            }
        }
    }

    /// By the bytes of keys, as Swift takes some strings for equal that are not. No object that was read has a key
    /// twice.
    private static func byKey(_ members: [JSONValue.Member]) -> [[UInt8]: JSONValue] {
        Dictionary(uniqueKeysWithValues: members.map { (Array($0.key.utf8), $0.value) })
    }

    private mutating func difference(_ old: [JSONValue], _ new: [JSONValue], at path: String) {
        if let (oldIDs, newIDs) = ElementIdentity.identities(of: old, and: new) {
            matched(old, oldIDs, new, newIDs, at: path)
        } else {
            unmatched(old, new, at: path)
        }
    }

    // MARK: Arrays without identities

    private mutating func unmatched(_ old: [JSONValue], _ new: [JSONValue], at path: String) {
        let shorter = min(old.count, new.count)
        let prefix = (0..<shorter).first { old[$0] != new[$0] } ?? shorter
        let suffix =
            (0..<shorter - prefix).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] }
            ?? shorter - prefix
        for index in prefix..<shorter - suffix {
            difference(old[index], new[index], at: path.appending(index))
        }
        // The last one first, so that each index is still right.
        for index in (shorter - suffix..<max(shorter, old.count) - suffix).reversed() {
            remove(path.appending(index))
        }
        for index in shorter - suffix..<max(shorter, new.count) - suffix {
            add(new[index], at: path.appending(index))
        }
    }

    // MARK: Arrays with identities

    private mutating func matched(
        _ old: [JSONValue], _ oldIDs: [[UInt8]], _ new: [JSONValue], _ newIDs: [[UInt8]], at path: String
    ) {
        let newIndices = Dictionary(uniqueKeysWithValues: newIDs.enumerated().map { ($1, $0) })
        var oldOfNew: [JSONValue?] = Array(repeating: nil, count: new.count)
        /// What is in the array while the operations are applied: indices into the new one.
        var standing: [Int] = []
        for (index, id) in oldIDs.enumerated() {
            guard let newIndex = newIndices[id] else { continue }
            oldOfNew[newIndex] = old[index]
            standing.append(newIndex)
        }
        for index in old.indices.reversed() where newIndices[oldIDs[index]] == nil { remove(path.appending(index)) }

        let staying = Set(PatchWriter.longestIncreasing(standing))
        /// Where the element before the next one stands.
        var place = -1
        for index in new.indices where !isTooLong {
            if oldOfNew[index] == nil {
                place += 1
                add(new[index], at: path.appending(place))
                standing.insert(index, at: place)
            } else if staying.contains(index) {
                // Those that it passes are moved in front of others later.
                while standing[place + 1] != index { place += 1 }
                place += 1
            } else if let from = standing.firstIndex(of: index) {
                if from > place { place += 1 }
                guard from != place else { continue }
                move(from: path.appending(from), to: path.appending(place))
                standing.remove(at: from)
                standing.insert(index, at: place)
            }
        }
        for (index, value) in oldOfNew.enumerated() {
            guard let value, value != new[index] else { continue }
            difference(value, new[index], at: path.appending(index))
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

    private mutating func add(_ value: JSONValue, at path: String) {
        begin("add", path)
        end(with: value)
    }

    private mutating func replace(_ path: String, with value: JSONValue) {
        begin("replace", path)
        end(with: value)
    }

    private mutating func begin(_ operation: String, _ path: String) {
        writer.beginObject()
        writer.field("op", operation)
        writer.field("path", path)
    }

    private mutating func end(with value: JSONValue) {
        writer.key("value")
        value.write(to: &writer)
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
