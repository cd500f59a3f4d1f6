/// A JSON value as a tree, for what must handle shapes it does not know: upcasters of old events, and what
/// clients send.
public enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// The number's text, so that no digit is lost.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// The members in their order.
    case object([Member])

    /// A key and its value.
    public struct Member: Equatable, Sendable {
        /// The key.
        public var key: String
        /// The value.
        public var value: JSONValue

        /// Whether the key has these bytes.
        public func isNamed(_ name: String) -> Bool {
            key.utf8.count == name.utf8.count && key.utf8.elementsEqual(name.utf8)
        }

        /// Whether the keys have the same bytes, and the values are the same.
        public static func == (a: Member, b: Member) -> Bool { a.isNamed(b.key) && a.value == b.value }
    }

    /// The value that the text holds. An object with a key twice is none: two readers could take different values of it.
    public init(_ text: [UInt8]) throws(JSONReadingError) {
        self = try JSONReader.read(text) { reader throws(JSONReadingError) in try JSONValue(from: &reader) }
    }

    /// The value that the text holds. An object with a key twice is none: two readers could take different values of it.
    public init(_ text: UnsafeRawBufferPointer) throws(JSONReadingError) {
        self = try JSONReader.read(text) { reader throws(JSONReadingError) in try JSONValue(from: &reader) }
    }

    private init(from reader: inout JSONReader) throws(JSONReadingError) {
        switch reader.nextByte() {
        case UInt8(ascii: "{"):
            var members: [Member] = []
            var keys: Set<[UInt8]> = []
            try reader.beginObject()
            while let key = try reader.nextKey() {
                let name = key.description
                guard JSONValue.isNew(name, among: members, &keys) else {
                    throw reader.failure("no key that the object already has", at: key)
                }
                members.append(Member(key: name, value: try JSONValue(from: &reader)))
            }
            self = .object(members)
        case UInt8(ascii: "["):
            var elements: [JSONValue] = []
            try reader.beginArray()
            while try reader.nextElement() { elements.append(try JSONValue(from: &reader)) }
            self = .array(elements)
        case UInt8(ascii: "\""): self = .string(try reader.string())
        case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .bool(try reader.bool())
        case UInt8(ascii: "n"):
            guard reader.takeNull() else { throw reader.failure("null") }
            self = .null
        default: self = .number(String(decoding: try reader.rawValue(), as: UTF8.self))
        }
    }

    /// The most members of an object that are looked through for a key.
    private static let fewMembers = 16

    /// Whether no member has this key. Where there are many members, their keys are in `keys`.
    private static func isNew(_ key: String, among members: [Member], _ keys: inout Set<[UInt8]>) -> Bool {
        guard members.count > fewMembers else { return !members.contains { $0.isNamed(key) } }
        if keys.isEmpty { keys = Set(members.map { Array($0.key.utf8) }) }
        return keys.insert(Array(key.utf8)).inserted
    }

    /// Writes the value.
    public func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let value): writer.bool(value)
        case .number(let text): writer.raw(text.utf8)
        case .string(let text): writer.string(text)
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for member in members {
                writer.key(dynamic: member.key)
                member.value.write(to: &writer)
            }
            writer.endObject()
        }
    }

    /// A member of an object; nil where there is none, or this is no object. Setting nil removes it; setting
    /// another value replaces it, or adds it at the end.
    public subscript(key: String) -> JSONValue? {
        get {
            guard case .object(let members) = self else { return nil }
            return members.first { $0.isNamed(key) }?.value
        }
        set {
            guard case .object(var members) = self else { return }
            let index = members.firstIndex { $0.isNamed(key) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(key: key.description, value: value))
            case (nil, nil): return
            }
            self = .object(members)
        }
    }
}

extension JSONValue: Equatable {
    /// Whether it is the same value: numbers and strings to the byte, where `==` takes some strings for equal that
    /// are not, and members in the same order.
    public static func == (a: JSONValue, b: JSONValue) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.number(let a), .number(let b)), (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.array(let a), .array(let b)): a == b
        case (.object(let a), .object(let b)): a == b
        case (.null, _), (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _): false
        }
    }
}
