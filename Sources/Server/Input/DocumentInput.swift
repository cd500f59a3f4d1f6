internal import Foundation
internal import LineProtocol

/// A document that a client sent as JSON, decoded by Foundation and checked for fields that nobody knows.
enum DocumentInput {
    /// The document in the argument, or an `INVALID` that names the field.
    static func decode<Document: Decodable>(
        _ type: Document.Type, from argument: Argument
    ) throws(Failure) -> Document {
        do {
            return try JSONDecoder().decode(type, from: Data(argument.bytes))
        } catch let error as DecodingError {
            throw failure(error)
        } catch let error as InputError {
            throw .invalid(path(error.path), error.reason)
        } catch {
            throw .invalid("json", "\(error)")
        }
    }

    private static func failure(_ error: DecodingError) -> Failure {
        switch error {
        case .keyNotFound(let key, let context):
            .invalid(path(context.codingPath + [key]), "is missing")
        case .typeMismatch(let type, let context):
            .invalid(path(context.codingPath), "must be \(name(of: type))")
        case .valueNotFound(let type, let context):
            .invalid(path(context.codingPath), "must be \(name(of: type)), not null")
        case .dataCorrupted(let context):
            .invalid(
                path(context.codingPath),
                context.codingPath.isEmpty ? "must be one JSON document in UTF-8" : context.debugDescription)
        @unknown default:
            .invalid("json", "\(error)")
        }
    }

    fileprivate static func name(of type: Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Int.Type, is Int64.Type: "a whole number"
        case is Double.Type: "a number"
        case is Bool.Type: "true or false"
        case is [String: Any].Type: "an object"
        case is any Collection.Type: "an array"
        default: "an object"
        }
    }

    /// As a person would write it: `sections[0].items[2].price`.
    private static func path(_ keys: [any CodingKey]) -> String {
        let path = keys.reduce(into: "") { path, key in
            if let index = key.intValue { path += "[\(index)]" } else { path += ".\(key.stringValue)" }
        }
        return path.isEmpty ? "json" : path.hasPrefix(".") ? String(path.dropFirst()) : path
    }
}

/// A value of the right type that is out of range.
struct InputError: Error {
    var path: [any CodingKey]
    var reason: String
}

/// The fields of an object: reads those that are known, and rejects any other.
struct InputFields {
    private let container: KeyedDecodingContainer<Key>

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(_ decoder: any Decoder, _ known: String...) throws {
        container = try decoder.container(keyedBy: Key.self)
        if let unknown = container.allKeys.first(where: { !known.contains($0.stringValue) }) {
            throw InputError(path: container.codingPath + [unknown], reason: "unknown field")
        }
    }

    func required<Value: Decodable>(_ key: String) throws -> Value {
        try naming(key, Value.self) { try container.decode(Value.self, forKey: $0) }
    }

    func optional<Value: Decodable>(_ key: String) throws -> Value? {
        try naming(key, Value.self) { try container.decodeIfPresent(Value.self, forKey: $0) }
    }

    /// Foundation does not say which number it is that does not fit its type.
    private func naming<Value, Decoded>(
        _ key: String, _: Value.Type, _ decode: (Key) throws -> Decoded
    ) throws -> Decoded {
        do {
            return try decode(Key(stringValue: key))
        } catch {
            guard !(error is DecodingError || error is InputError) else { throw error }
            throw failure(key, "must be \(DocumentInput.name(of: Value.self))")
        }
    }

    func failure(_ key: String, _ reason: String) -> InputError {
        InputError(path: container.codingPath + [Key(stringValue: key)], reason: reason)
    }
}
