/// Text as targets and forms write it, with `%20` and so on.
public enum FormText {
    /// The parts of a path, between its slashes; nil where a `%` is not followed by two digits, or the text is no
    /// UTF-8.
    ///
    /// - Parameter path: begins with `/`.
    public static func segments(ofPath path: String) -> [String]? {
        var segments: [String] = []
        var rest = Substring(path).utf8.dropFirst()
        while true {
            let end = rest.firstIndex(of: .slash) ?? rest.endIndex
            guard let segment = decoded(rest[..<end], plusIsBlank: false) else { return nil }
            segments.append(segment)
            guard end < rest.endIndex else { return segments }
            rest = rest[end...].dropFirst()
        }
    }

    /// The names and values of a query, in their order; nil as above. A name without `=` has an empty value.
    public static func items(ofQuery query: String) -> [(name: String, value: String)]? {
        var items: [(name: String, value: String)] = []
        for part in query.utf8.split(separator: UInt8(ascii: "&")) {
            let sign = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = decoded(part[..<sign], plusIsBlank: true),
                let value = decoded(part[sign...].dropFirst(), plusIsBlank: true)
            else { return nil }
            items.append((name, value))
        }
        return items
    }

    private static func decoded(_ text: Substring.UTF8View, plusIsBlank: Bool) -> String? {
        guard text.contains(where: { $0 == UInt8(ascii: "%") || plusIsBlank && $0 == UInt8(ascii: "+") }) else {
            return String(Substring(text))
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where plusIsBlank: bytes.append(.space)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Cookies as a client sends them.
public enum Cookies {
    /// The value of a cookie; nil where there is none, or more than one: then it is unknown who set which.
    public static func value(of name: String, in field: String) -> String? {
        var value: String?
        for part in field.split(separator: ";") {
            let cookie = part.drop { $0 == " " }
            guard cookie.utf8.starts(with: "\(name)=".utf8) else { continue }
            guard value == nil else { return nil }
            value = String(cookie.dropFirst(name.count + 1))
        }
        return value
    }
}
