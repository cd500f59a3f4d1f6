internal import TextFormats

/// The name of a kind of event, in the memory that it was read into: compared with literals, without becoming a
/// `String` first.
struct EventName: CustomStringConvertible {
    private let bytes: UnsafeRawBufferPointer

    /// A name whose bytes must outlive it.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var description: String { String(decoding: bytes, as: UTF8.self) }

    func hasPrefix(_ prefix: StaticString) -> Bool { bytes.hasTextPrefix(prefix) }

    @inline(__always)
    static func ~= (text: StaticString, name: EventName) -> Bool { name.bytes.isText(text) }
    static func == (name: EventName, text: StaticString) -> Bool { name.bytes.isText(text) }
}
