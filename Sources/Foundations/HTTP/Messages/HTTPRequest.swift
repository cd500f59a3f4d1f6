/// A request: a view of the bytes that it was read from, valid as long as these stay where they are.
public struct HTTPRequest {
    let bytes: UnsafeRawBufferPointer
    let head: RequestHead

    /// The method in capital letters, such as `GET`.
    public var method: String { text(head.method) }

    /// The path as it was sent: it begins with `/`.
    public var path: String { text(head.path) }

    /// What follows the path's `?`, as it was sent; nil where there is none.
    public var query: String? { head.query.map(text) }

    /// The host that the request is for, with its port if it names one, in small letters.
    public var host: String { text(head.host).lowercased() }

    /// Whether the connection can be used for another request afterwards.
    public var keepsAlive: Bool { head.keepsAlive }

    /// The body; empty where there is none.
    public var body: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[head.length..<head.length + head.bodyLength])
    }

    /// The value of a field; nil where there is none. Several of one name are one, with commas between them, but
    /// semicolons between cookies.
    ///
    /// - Parameter name: in small letters.
    public subscript(name: StaticString) -> String? {
        var value: String?
        for field in head.fields where HTTPRequest.isNamed(bytes, field.name, name) {
            let part = text(field.value)
            value = value.map { $0 + (name.description == "cookie" ? "; " : ", ") + part } ?? part
        }
        return value
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Whether the bytes spell a name of small letters, in any letter case.
    static func isNamed(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ name: StaticString) -> Bool {
        guard range.count == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { name in
            for (index, letter) in zip(range, name) {
                let byte = bytes[index]
                guard byte == letter || HTTPRequest.isCapital(byte) && byte | 0x20 == letter else { return false }
            }
            return true
        }
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
}

/// Where the parts of a request's head lie, from the head's first byte on.
struct RequestHead: Sendable {
    struct Field: Sendable {
        var name: Range<Int>
        var value: Range<Int>
    }

    var method: Range<Int>
    var path: Range<Int>
    var query: Range<Int>?
    var host: Range<Int>
    var fields: [Field]
    var keepsAlive: Bool
    /// How many bytes the head has.
    var length: Int
    var bodyLength: Int
    var awaitsContinue: Bool
}
