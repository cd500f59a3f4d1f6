/// A value where it stands in a text; the text has to outlive it. The value is taken apart only on demand: of two long
/// texts, only the parts that differ.
struct JSONSlice {
    /// A member of an object.
    struct Member {
        let key: JSONKey
        let value: JSONSlice

        /// The key as it is written: two that are written otherwise count as two.
        var name: JSONSlice { JSONSlice(key.bytes) }
    }

    /// As it is written.
    let bytes: UnsafeRawBufferPointer
    /// Where this array has the commas between its elements; nil if they have not been looked for.
    private let commas: [Int]?

    init(_ bytes: UnsafeRawBufferPointer, commas: [Int]? = nil) {
        self.bytes = bytes
        self.commas = commas
    }

    /// The value that a text holds, or a part of one: without the white space around it.
    init(of text: UnsafeRawBufferPointer) throws(JSONReadingError) {
        self.init(JSONSlice.trimmed(text))
        guard !bytes.isEmpty else { throw JSONReader(text).failure("a value") }
    }

    private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var (start, end) = (0, text.count)
        while start < end, JSONReader.isWhitespace(text[start]) { start += 1 }
        while start < end, JSONReader.isWhitespace(text[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: text[start..<end])
    }

    var isObject: Bool { bytes.first == UInt8(ascii: "{") }
    var isArray: Bool { bytes.first == UInt8(ascii: "[") }
    var isString: Bool { bytes.first == UInt8(ascii: "\"") }

    /// The members of this object.
    ///
    /// - Parameter known: a member whose elements are known.
    func members(_ known: KnownArray? = nil) throws(JSONReadingError) -> [Member] {
        var members: [Member] = []
        try forEachMember(known) { member in
            members.append(member)
            return true
        }
        return members
    }

    /// Gives the members of this object one after the other, as long as more are wanted.
    func forEachMember(_ known: KnownArray? = nil, _ body: (Member) -> Bool) throws(JSONReadingError) {
        var reader = JSONReader(bytes)
        try reader.beginObject()
        while let key = try reader.nextKey() {
            guard body(Member(key: key, value: try reader.slice(known))) else { return }
        }
        try reader.end()
    }

    /// The elements of this array.
    func elements() throws(JSONReadingError) -> [JSONSlice] {
        let commas = if let known = self.commas { known } else { try findCommas() }
        if commas.isEmpty, JSONSlice.trimmed(inside(from: 1, to: bytes.count - 1)).isEmpty { return [] }
        var elements: [JSONSlice] = []
        elements.reserveCapacity(commas.count + 1)
        var start = 1
        for end in commas + CollectionOfOne(bytes.count - 1) {
            guard start <= end, end < bytes.count else { throw JSONReader(bytes).failure("other commas") }
            elements.append(try JSONSlice(of: inside(from: start, to: end)))
            start = end + 1
        }
        return elements
    }

    private func findCommas() throws(JSONReadingError) -> [Int] {
        try JSONReader.read(bytes) { reader throws(JSONReadingError) in try reader.slice().commas ?? [] }
    }

    private func inside(from start: Int, to end: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }
}

extension JSONSlice: Hashable {
    /// Whether both are written with the same bytes.
    static func == (a: JSONSlice, b: JSONSlice) -> Bool { a.bytes.isEqual(to: b.bytes) }

    func hash(into hasher: inout Hasher) { hasher.combine(bytes: bytes) }
}
