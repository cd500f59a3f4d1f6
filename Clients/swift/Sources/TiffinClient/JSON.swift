import Foundation

/// A value of JSON.
public enum JSON: Codable, Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// A member of an object; nil if there is none.
    public subscript(name: String) -> JSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// An element of an array; nil if there is none.
    public subscript(place: Int) -> JSON? {
        if case .array(let elements) = self, elements.indices.contains(place) { elements[place] } else { nil }
    }

    /// The text; nil of anything else.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The whole number; nil of anything else.
    public var integer: Int? { if case .integer(let value) = self { value } else { nil } }

    /// The value as a type.
    func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        if let value = self as? Value { return value }
        return try JSONDecoder().decode(type, from: JSONEncoder().encode(self))
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral members: (String, JSON)...) {
        self = .object(Dictionary(uniqueKeysWithValues: members))
    }
    public init(nilLiteral: ()) { self = .null }
}

/// The name of any member of an object.
struct MemberName: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue _: Int) { nil }
}

extension Decoder {
    /// The word that a member has in an object; nil if it has none.
    func word(of name: String) throws -> String? {
        try container(keyedBy: MemberName.self).decodeIfPresent(String.self, forKey: MemberName(stringValue: name))
    }
}
