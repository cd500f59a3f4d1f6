/// An operation of JSON Patch (RFC 6902).
struct Operation: Decodable {
    var op: String
    var path: String
    var from: String?
    var value: JSON

    enum CodingKeys: CodingKey { case op, path, from, value }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        op = try container.decode(String.self, forKey: .op)
        path = try container.decode(String.self, forKey: .path)
        from = try container.decodeIfPresent(String.self, forKey: .from)
        value = try container.decodeIfPresent(JSON.self, forKey: .value) ?? .null
    }

    /// Whether it is a document as a whole.
    var isWhole: Bool { op == "replace" && path.isEmpty }
}

/// A patch that does not fit its document.
struct PatchError: Error {}

extension JSON {
    /// The document after all operations.
    func applying(_ patch: [Operation]) throws -> JSON {
        var document = self
        for operation in patch { try document.apply(operation) }
        return document
    }

    private mutating func apply(_ operation: Operation) throws {
        let path = JSON.tokens(operation.path)
        switch operation.op {
        case "add": try add(operation.value, at: path)
        case "remove": _ = try remove(at: path)
        case "replace":
            if path.isEmpty {
                self = operation.value
            } else {
                _ = try value(at: path)
                try change(path) { container, key in try container.set(key, to: operation.value) }
            }
        case "move":
            let moved = try remove(at: JSON.tokens(operation.from ?? ""))
            try add(moved, at: path)
        case "copy": try add(value(at: JSON.tokens(operation.from ?? "")), at: path)
        case "test": guard try value(at: path) == operation.value else { throw PatchError() }
        default: throw PatchError()
        }
    }

    private mutating func add(_ value: JSON, at path: ArraySlice<String>) throws {
        guard !path.isEmpty else { return self = value }
        try change(path) { container, key in
            if case .array(var elements) = container {
                elements.insert(value, at: key == "-" ? elements.count : try JSON.index(key, below: elements.count + 1))
                container = .array(elements)
            } else {
                try container.set(key, to: value)
            }
        }
    }

    private mutating func remove(at path: ArraySlice<String>) throws -> JSON {
        let removed = try value(at: path)
        try change(path) { container, key in
            switch container {
            case .array(var elements):
                elements.remove(at: try JSON.index(key, below: elements.count))
                container = .array(elements)
            case .object(var members):
                members[key] = nil
                container = .object(members)
            default: throw PatchError()
            }
        }
        return removed
    }

    /// Changes the container of the last token.
    private mutating func change(_ path: ArraySlice<String>, _ body: (inout JSON, String) throws -> Void) throws {
        guard let key = path.first else { throw PatchError() }
        guard path.count > 1 else { return try body(&self, key) }
        var inner = try value(at: path.prefix(1))
        try inner.change(path.dropFirst(), body)
        try set(key, to: inner)
    }

    private mutating func set(_ key: String, to value: JSON) throws {
        switch self {
        case .array(var elements):
            elements[try JSON.index(key, below: elements.count)] = value
            self = .array(elements)
        case .object(var members):
            members[key] = value
            self = .object(members)
        default: throw PatchError()
        }
    }

    private func value(at path: ArraySlice<String>) throws -> JSON {
        var found = self
        for token in path {
            switch found {
            case .array(let elements): found = elements[try JSON.index(token, below: elements.count)]
            case .object(let members):
                guard let member = members[token] else { throw PatchError() }
                found = member
            default: throw PatchError()
            }
        }
        return found
    }

    private static func index(_ token: String, below count: Int) throws -> Int {
        guard let place = Int(token), String(place) == token, (0..<count).contains(place) else { throw PatchError() }
        return place
    }

    private static func tokens(_ pointer: String) -> ArraySlice<String> {
        pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
            String($0.replacing("~1", with: "/").replacing("~0", with: "~"))
        }[...]
    }
}
