// For documents that two programs must not read differently.

extension JSONReader {
    /// Reads an object that has each of these members once, in any order, and no other.
    public mutating func members(
        _ names: [String], _ read: (inout JSONReader, String) throws(JSONReadingError) -> Void
    ) throws(JSONReadingError) {
        var missing = names
        try beginObject()
        while let key = try nextKey() {
            let name = key.description
            // A text that two readers could understand differently is refused.
            guard let index = missing.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) else {
                throw failure("only \(names.joined(separator: ", ")), each once", at: key)
            }
            missing.remove(at: index)
            try read(&self, name)
        }
        if let name = missing.first { throw failure("'\(name)'") }
    }

    /// Reads an integer of a range.
    public mutating func integer(in range: ClosedRange<Int64>) throws(JSONReadingError) -> Int64 {
        let value = try integer()
        guard range.contains(value) else {
            throw failure("a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}
