internal import LineProtocol
internal import TextFormats

// A reply in a record: an integer is a number, null is null, an array is an array, and everything else is an object
// with one member that names its type.

extension Reply {
    /// Whether two replies are the same, byte for byte.
    func isSame(as other: Reply) -> Bool {
        if case .integer(let one) = self, case .integer(let other) = other { return one == other }
        return recorded == other.recorded
    }

    private var recorded: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .integer(let value) where value.magnitude < 1 << 53: return writer.integer(value)
        case .null: return writer.null()
        case .boolean(let value): return writer.bool(value)
        case .array(let values): return Reply.write(values, to: &writer)
        default: break
        }
        writer.beginObject()
        switch self {
        case .simple(let text): writer.field("simple", text)
        case .error(let code, let message):
            writer.field("error", code)
            writer.field("message", message)
        case .bulk(let bytes): Reply.write(bytes, to: &writer)
        case .verbatim(let format, let text):
            writer.field("verbatim", text)
            writer.field("format", format)
        case .double(let value): writer.field("double", "\(value)")
        case .bigNumber(let digits): writer.field("bigNumber", digits)
        case .map(let pairs):
            writer.key("map")
            Reply.write(pairs.flatMap { [$0.key, $0.value] }, to: &writer)
        case .set(let values):
            writer.key("set")
            Reply.write(values, to: &writer)
        case .push(let values):
            writer.key("push")
            Reply.write(values, to: &writer)
        case .integer(let value): writer.field("integer", "\(value)")
        case .null, .boolean, .array: break
        }
        writer.endObject()
    }

    private static func write(_ values: [Reply], to writer: inout JSONWriter) {
        writer.beginArray()
        for value in values { value.write(to: &writer) }
        writer.endArray()
    }

    /// Bytes as a member `text`; if they are not UTF-8, as a member `bytes` in hexadecimal.
    static func write(_ bytes: [UInt8], to writer: inout JSONWriter) {
        if let text = String(validating: bytes, as: UTF8.self) {
            writer.field("text", text)
        } else {
            let digits = Array("0123456789abcdef")
            writer.field("bytes", String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }))
        }
    }

    /// nil if the value is not a reply.
    init?(recorded value: JSON) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .boolean(value)
        case .number:
            guard let number = value.integer else { return nil }
            self = .integer(number)
        case .array(let values):
            guard let replies = Reply.replies(values) else { return nil }
            self = .array(replies)
        case .string: return nil
        case .object:
            if let text = value["simple"]?.string {
                self = .simple(text)
            } else if let code = value["error"]?.string, let message = value["message"]?.string {
                self = .error(code: code, message: message)
            } else if let bytes = Reply.bytes(value) {
                self = .bulk(bytes)
            } else if let text = value["verbatim"]?.string, let format = value["format"]?.string {
                self = .verbatim(format: format, text: text)
            } else if let number = value["integer"]?.string.flatMap({ Int64($0) }) {
                self = .integer(number)
            } else if let number = value["double"]?.string.flatMap(Double.init) {
                self = .double(number)
            } else if let digits = value["bigNumber"]?.string {
                self = .bigNumber(digits)
            } else if let values = value["map"]?.array.flatMap(Reply.replies), values.count % 2 == 0 {
                self = .map(stride(from: 0, to: values.count, by: 2).map { Pair(values[$0], values[$0 + 1]) })
            } else if let values = value["set"]?.array.flatMap(Reply.replies) {
                self = .set(values)
            } else if let values = value["push"]?.array.flatMap(Reply.replies) {
                self = .push(values)
            } else {
                return nil
            }
        }
    }

    private static func replies(_ values: [JSON]) -> [Reply]? {
        let replies = values.compactMap(Reply.init(recorded:))
        return replies.count == values.count ? replies : nil
    }

    /// Bytes that were written as `text` or `bytes`; nil if there are none.
    static func bytes(_ value: JSON) -> [UInt8]? {
        if let text = value["text"]?.string { return Array(text.utf8) }
        guard let text = value["bytes"]?.string else { return nil }
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}
