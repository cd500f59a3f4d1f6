import TextFormats

@testable import LoadOracle

/// What is read as a document is written so that it is read as the same; and whoever passes over a value takes the
/// same texts as whoever reads it, and those with a key twice besides.
enum JSONTarget {
    static func check(_ input: [UInt8]) throws {
        let passed: Int? = try? JSONReader.read(input) { reader throws(JSONReadingError) in
            try reader.rawValue().count
        }
        let oracle = JSON(input)
        guard let value = try? JSONValue(input) else {
            return try promise(passed == nil || oracle == nil, "a value is passed over and cannot be read")
        }
        try promise(passed != nil, "a value is read and cannot be passed over")
        try promise(oracle != nil, "a key is there twice")
        let written = value.text
        try promise((try? JSONValue(written)) == value, "written as \(String(decoding: written, as: UTF8.self))")
        if case .number(let text) = value {
            let integer = try? JSONReader.read(input) { reader throws(JSONReadingError) in try reader.integer() }
            try promise(integer == Int64(text), "\(text) is read as \(integer.map(String.init) ?? "no integer")")
        }
    }
}

/// A patch leads from one document to the other, as the oracle applies it, which shares no code with the one that
/// makes it.
enum PatchTarget {
    /// Between the documents: no byte of UTF-8.
    private static let separator: UInt8 = 0xFF

    static func check(_ input: [UInt8]) throws {
        guard let end = input.firstIndex(of: separator) else { return }
        let (old, new) = (Array(input[..<end]), Array(input[(end + 1)...]))
        guard let patch = try? JSONPatch.bytes(from: old, to: new) else {
            return try promise((try? JSONValue(old)) == nil || (try? JSONValue(new)) == nil, "no patch")
        }
        try promise(patch.count <= JSONPatch.replacement(with: new).count, "longer than the document")
        // Not everything that is no document is noticed; all that counts then is that nothing breaks.
        guard let before = JSON(old), let after = JSON(new) else { return }
        guard let operations = JSON(patch)?.array else { throw BrokenPromise(description: "not a patch") }
        try promise(try before.patched(by: operations) == after, String(decoding: patch, as: UTF8.self))
    }
}

extension JSONValue {
    /// The value as text.
    var text: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }
}
