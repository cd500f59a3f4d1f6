/// A JSON Patch that cannot be applied.
struct PatchFailure: Error, CustomStringConvertible {
    var description: String
}

/// RFC 6902, applied to documents as RFC 6901 points into them.
extension JSON {
    /// The document that the patch turns this one into.
    func patched(by operations: [JSON]) throws(PatchFailure) -> JSON {
        var document = self
        for operation in operations { try document.apply(operation) }
        return document
    }

    /// Applies one operation.
    mutating func apply(_ operation: JSON) throws(PatchFailure) {
        guard let name = operation["op"]?.string, let path = operation["path"]?.string else {
            throw PatchFailure(description: "an operation without op or path")
        }
        let target = try JSON.tokens(path)
        switch name {
        case "add": try add(try value(of: operation), at: target[...])
        case "remove": _ = try remove(at: target[...])
        case "replace":
            _ = try remove(at: target[...])
            try add(try value(of: operation), at: target[...])
        case "move":
            let source = try JSON.tokens(operation["from"]?.string ?? "?")
            try add(try remove(at: source[...]), at: target[...])
        case "copy":
            let source = try JSON.tokens(operation["from"]?.string ?? "?")
            try add(try value(at: source[...]), at: target[...])
        case "test":
            let found = try value(at: target[...])
            guard found == (try value(of: operation)) else {
                throw PatchFailure(description: "test failed at '\(path)'")
            }
        default: throw PatchFailure(description: "an operation '\(name)'")
        }
    }

    private func value(of operation: JSON) throws(PatchFailure) -> JSON {
        guard let value = operation["value"] else { throw PatchFailure(description: "an operation without its value") }
        return value
    }

    /// The parts of a JSON Pointer. It is read by bytes: a mark that combines with a slash makes another character of
    /// it, and is no part of the syntax.
    static func tokens(_ pointer: String) throws(PatchFailure) -> [Text] {
        let parts = pointer.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts[0].isEmpty else { throw PatchFailure(description: "a path '\(pointer)'") }
        return parts.dropFirst().map { Text(unescaped($0)) }
    }

    /// A part of a JSON Pointer with `/` for `~1` and `~` for `~0`.
    private static func unescaped(_ part: Substring.UTF8View) -> String {
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in part {
            switch (isEscaped, byte) {
            case (false, UInt8(ascii: "~")):
                isEscaped = true
                continue
            case (true, UInt8(ascii: "0")): bytes.append(UInt8(ascii: "~"))
            case (true, UInt8(ascii: "1")): bytes.append(UInt8(ascii: "/"))
            case (true, _): bytes += [UInt8(ascii: "~"), byte]
            case (false, _): bytes.append(byte)
            }
            isEscaped = false
        }
        return String(decoding: isEscaped ? bytes + [UInt8(ascii: "~")] : bytes, as: UTF8.self)
    }

    private func value(at path: ArraySlice<Text>) throws(PatchFailure) -> JSON {
        guard let token = path.first else { return self }
        return try child(token).value(at: path.dropFirst())
    }

    private func child(_ token: Text) throws(PatchFailure) -> JSON {
        switch self {
        case .object(let members):
            if let member = members[token] { return member }
        case .array(let elements):
            if let index = JSON.index(token), index < elements.count { return elements[index] }
        default: break
        }
        throw PatchFailure(description: "nothing is at '\(token)'")
    }

    /// Adds a member or an element; an empty path replaces the whole.
    private mutating func add(_ value: JSON, at path: ArraySlice<Text>) throws(PatchFailure) {
        guard let token = path.first else {
            self = value
            return
        }
        guard path.count == 1 else {
            return try edit(token) { child throws(PatchFailure) in try child.add(value, at: path.dropFirst()) }
        }
        switch self {
        case .object(var members):
            self = .null
            members[token] = value
            self = .object(members)
        case .array(var elements):
            guard let index = token == "-" ? elements.count : JSON.index(token), index <= elements.count else {
                throw PatchFailure(description: "no place '\(token)' in an array of \(elements.count)")
            }
            self = .null
            elements.insert(value, at: index)
            self = .array(elements)
        default: throw PatchFailure(description: "'\(token)' in a value without parts")
        }
    }

    private mutating func remove(at path: ArraySlice<Text>) throws(PatchFailure) -> JSON {
        guard let token = path.first else {
            let whole = self
            self = .null
            return whole
        }
        let found = try child(token)
        guard path.count == 1 else {
            var removed = JSON.null
            try edit(token) { child throws(PatchFailure) in removed = try child.remove(at: path.dropFirst()) }
            return removed
        }
        switch self {
        case .object(var members):
            self = .null
            members[token] = nil
            self = .object(members)
        case .array(var elements):
            self = .null
            elements.remove(at: JSON.index(token) ?? 0)
            self = .array(elements)
        default: break
        }
        return found
    }

    /// Changes a child in place.
    private mutating func edit(
        _ token: Text, _ body: (inout JSON) throws(PatchFailure) -> Void
    ) throws(PatchFailure) {
        var child = try child(token)
        switch self {
        case .object(var members):
            self = .null
            members[token] = nil
            try body(&child)
            members[token] = child
            self = .object(members)
        case .array(var elements):
            guard let index = JSON.index(token) else { return }
            self = .null
            elements[index] = .null
            try body(&child)
            elements[index] = child
            self = .array(elements)
        default: break
        }
    }

    private static func index(_ token: Text) -> Int? {
        guard let index = Int(token.string), index >= 0, isSame("\(index)", token.string) else { return nil }
        return index
    }
}
