/// What may stand where a client shows a picture or follows a link: an absolute address by `http` or `https`, or a path
/// on whatever serves the page. So no `javascript:`, and nothing that only looks like an address.
///
/// Histories from before this rule may hold other texts: only commands are checked.
public enum WebAddress {
    /// Rejects a text that is no such address, or too long, naming its field.
    static func check(_ text: Text, _ subject: @autoclosure () -> Rejection.Subject) throws(Rejection) {
        try TextRules.check(text, subject(), TextRules.url)
        guard isAbsolute(text) || isPath(text) else {
            throw .invalid(subject(), "must be an address by http or https, or a path that begins with /")
        }
    }

    /// As ``check(_:_:)``, if there is a text.
    static func check(_ text: Text?, _ subject: @autoclosure () -> Rejection.Subject) throws(Rejection) {
        if let text { try check(text, subject()) }
    }

    /// Whether a text is an address by `http` or `https`, with a host and without a user.
    public static func isAbsolute(_ text: Text) -> Bool {
        let bytes = text.utf8
        guard hasNoOddBytes(bytes), let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return false }
        guard ["http", "https"].contains(String(bytes[..<colon])?.lowercased() ?? ""),
            bytes[colon...].starts(with: "://".utf8)
        else { return false }
        let host = bytes[colon...].dropFirst(3).prefix { !"/?#".utf8.contains($0) }
        guard let first = host.first, first == UInt8(ascii: "[") || isOfName(first) else { return false }
        return host.allSatisfy { isOfName($0) || ".-:[]".utf8.contains($0) }
    }

    /// Whether a text is a path from the root. `//` would begin a host.
    private static func isPath(_ text: Text) -> Bool {
        let bytes = text.utf8
        return hasNoOddBytes(bytes) && bytes.first == UInt8(ascii: "/") && !bytes.starts(with: "//".utf8)
    }

    /// Whether there are no blanks, control characters, and none of those that addresses never contain as they are.
    private static func hasNoOddBytes(_ bytes: String.UTF8View) -> Bool {
        bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"\"<>\\^`{|}".utf8.contains($0) }
    }

    /// Whether a byte can be in a label of a host's name; those of other scripts have bytes from 0x80 on.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
