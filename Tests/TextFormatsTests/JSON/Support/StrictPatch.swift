@testable import TextFormats

/// A patch that cannot be applied.
struct UnappliedPatch: Error {
    var operation: JSONValue
}

/// Applies a patch as RFC 6902 defines it. Written independently, and strict: a value that is removed, replaced or
/// moved must exist, and an index must be in the array and spelt without needless zeros.
func applying(_ patch: [UInt8], to document: JSONValue) throws -> JSONValue {
    guard case .array(let operations) = try JSONValue(patch) else { throw UnappliedPatch(operation: .null) }
    return try operations.reduce(document) { document, operation in
        guard case .string(let name) = operation["op"], case .string(let path) = operation["path"] else {
            throw UnappliedPatch(operation: operation)
        }
        var document = document
        do {
            switch (name, operation["value"]) {
            case ("add", let value?): try document.change(pointer(path)) { _ in value }
            case ("replace", let value?):
                try document.change(pointer(path)) { old in
                    if old == nil { throw UnappliedPatch(operation: operation) }
                    return value
                } replacing: {
                    true
                }
            case ("remove", nil): _ = try document.take(pointer(path))
            case ("move", nil):
                guard case .string(let from) = operation["from"] else { throw UnappliedPatch(operation: operation) }
                let value = try document.take(pointer(from))
                try document.change(pointer(path)) { _ in value }
            default: throw UnappliedPatch(operation: operation)
            }
        } catch {
            throw UnappliedPatch(operation: operation)
        }
        return document
    }
}

private struct NoSuchPlace: Error {}

/// The reference tokens of a JSON Pointer.
private func pointer(_ text: String) throws -> [String] {
    if text.isEmpty { return [] }
    guard text.utf8.first == UInt8(ascii: "/") else { throw NoSuchPlace() }
    return text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { token in
        // Scalar by scalar: a mark that follows makes one character with the digit of an escape.
        String(
            String.UnicodeScalarView(token).replacing("~1".unicodeScalars, with: "/".unicodeScalars)
                .replacing("~0".unicodeScalars, with: "~".unicodeScalars))
    }
}

extension JSONValue {
    /// Changes the value at a place whose parent must exist. In an array the value is inserted, unless it replaces
    /// another.
    fileprivate mutating func change(
        _ path: [String], _ value: (JSONValue?) throws -> JSONValue, replacing: () -> Bool = { false }
    ) throws {
        guard let token = path.first else { return self = try value(self) }
        let isLast = path.count == 1
        switch self {
        case .object(var members):
            let index = members.firstIndex { $0.key.utf8.elementsEqual(token.utf8) }
            if isLast {
                let new = try value(index.map { members[$0].value })
                if let index { members[index].value = new } else { members.append(Member(key: token, value: new)) }
            } else {
                guard let index else { throw NoSuchPlace() }
                try members[index].value.change(Array(path.dropFirst()), value, replacing: replacing)
            }
            self = .object(members)
        case .array(var elements):
            guard let index = Int(token), "\(index)" == token, index >= 0 else { throw NoSuchPlace() }
            if isLast, !replacing() {
                guard index <= elements.count else { throw NoSuchPlace() }
                elements.insert(try value(nil), at: index)
            } else {
                guard index < elements.count else { throw NoSuchPlace() }
                try elements[index].change(Array(path.dropFirst()), value, replacing: replacing)
            }
            self = .array(elements)
        case .null, .bool, .number, .string: throw NoSuchPlace()
        }
    }

    /// Removes the value at a place.
    fileprivate mutating func take(_ path: [String]) throws -> JSONValue {
        guard let token = path.first else { throw NoSuchPlace() }
        let rest = Array(path.dropFirst())
        switch self {
        case .object(var members):
            guard let index = members.firstIndex(where: { $0.key.utf8.elementsEqual(token.utf8) }) else {
                throw NoSuchPlace()
            }
            let taken = rest.isEmpty ? members.remove(at: index).value : try members[index].value.take(rest)
            self = .object(members)
            return taken
        case .array(var elements):
            guard let index = Int(token), "\(index)" == token, elements.indices.contains(index) else {
                throw NoSuchPlace()
            }
            let taken = rest.isEmpty ? elements.remove(at: index) : try elements[index].take(rest)
            self = .array(elements)
            return taken
        case .null, .bool, .number, .string: throw NoSuchPlace()
        }
    }

    /// The value with the members of every object in the order of their names: what a patch must lead to.
    var sorted: JSONValue {
        switch self {
        case .null, .bool, .number, .string: self
        case .array(let elements): .array(elements.map(\.sorted))
        case .object(let members):
            .object(
                members.map { Member(key: $0.key, value: $0.value.sorted) }
                    .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
        }
    }
}
