internal import TextFormats

/// A JSON document as the oracle compares it: the members of an object in any order, texts by their bytes. It shares
/// no code with the server's documents and patches.
package indirect enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(Text)
    case array([JSON])
    case object([Text: JSON])

    /// Reads a document; nil if the bytes are not one.
    package init?(_ bytes: [UInt8]) {
        let value = try? JSONReader.read(bytes) { reader throws(JSONReadingError) in try JSON(from: &reader) }
        guard let value else { return nil }
        self = value
    }

    package init(_ text: String) { self = .string(Text(text)) }
    package init(_ number: some BinaryInteger) { self = .number(Double(number)) }

    init(from reader: inout JSONReader) throws(JSONReadingError) {
        switch reader.nextByte() {
        case UInt8(ascii: "{"):
            var members: [Text: JSON] = [:]
            try reader.beginObject()
            while let key = try reader.nextKey() {
                guard members.updateValue(try JSON(from: &reader), forKey: Text(key.description)) == nil else {
                    throw reader.failure("a key that is not repeated")
                }
            }
            self = .object(members)
        case UInt8(ascii: "["):
            var elements: [JSON] = []
            try reader.beginArray()
            while try reader.nextElement() { elements.append(try JSON(from: &reader)) }
            self = .array(elements)
        case UInt8(ascii: "\""): self = .string(Text(try reader.string()))
        case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .bool(try reader.bool())
        case UInt8(ascii: "n"):
            guard reader.takeNull() else { throw reader.failure("null") }
            self = .null
        default:
            guard let number = Double(String(decoding: try reader.rawValue(), as: UTF8.self)) else {
                throw reader.failure("a number")
            }
            self = .number(number)
        }
    }

    package subscript(key: Text) -> JSON? {
        get { if case .object(let members) = self { members[key] } else { nil } }
        set {
            guard case .object(var members) = self else { return }
            self = .null
            members[key] = newValue
            self = .object(members)
        }
    }

    var text: Text? { if case .string(let text) = self { text } else { nil } }
    package var string: String? { text?.string }
    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var array: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
    package var integer: Int64? { if case .number(let value) = self { Int64(exactly: value) } else { nil } }

    /// The first difference between two documents, as a JSON Pointer with both values; nil if they are equal.
    static func difference(_ one: JSON, _ other: JSON, at path: String = "") -> String? {
        switch (one, other) {
        case (.object(let ours), .object(let theirs)):
            for key in Set(ours.keys).union(theirs.keys).sorted() {
                guard let our = ours[key] else { return "\(path)/\(key): absent and \(theirs[key]?.summary ?? "")" }
                guard let their = theirs[key] else { return "\(path)/\(key): \(our.summary) and absent" }
                if let found = difference(our, their, at: "\(path)/\(key)") { return found }
            }
            return nil
        case (.array(let ours), .array(let theirs)):
            for (index, pair) in zip(ours, theirs).enumerated() {
                if let found = difference(pair.0, pair.1, at: "\(path)/\(index)") { return found }
            }
            return ours.count == theirs.count ? nil : "\(path): \(ours.count) and \(theirs.count) elements"
        default:
            return one == other ? nil : "\(path): \(one.summary) and \(other.summary)"
        }
    }

    /// The value for a message, shortened.
    var summary: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): Int64(exactly: value).map { "\($0)" } ?? "\(value)"
        case .string(let text): "\"\(text.string.prefix(80))\""
        case .array(let elements): "an array of \(elements.count)"
        case .object(let members): "an object of \(members.count)"
        }
    }
}
