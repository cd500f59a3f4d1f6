public import Domain
public import JSONText

/// What is recorded with an event: which command it came from.
public struct EventMetadata: Equatable, Sendable {
    /// The id that the client gave to the command, if any.
    public var commandID: Text?
    /// A fingerprint of the command's arguments, in hexadecimal; there when ``commandID`` is.
    public var fingerprint: Text?

    /// Nothing known.
    public static let none = EventMetadata(commandID: nil, fingerprint: nil)

    /// Metadata of an event of that command.
    public init(commandID: Text?, fingerprint: Text?) {
        self.commandID = commandID
        self.fingerprint = fingerprint
    }

    /// The metadata as JSON text; `{}` for none.
    public func encoded() -> [UInt8] {
        guard let commandID else { return EventMetadata.encodedNone }
        var writer = JSONWriter(reservingCapacity: 64)
        writer.beginObject()
        writer.field("id", commandID.string)
        if let fingerprint { writer.field("args", fingerprint.string) }
        writer.endObject()
        return writer.bytes
    }

    /// Metadata from JSON text; unknown keys are ignored.
    public init(decoding text: [UInt8]) throws(JSONReadingError) {
        self = try text.withUnsafeBufferPointer { text throws(JSONReadingError) in
            try EventMetadata(decoding: UnsafeRawBufferPointer(text))
        }
    }

    /// Metadata from JSON text; unknown keys are ignored.
    public init(decoding text: UnsafeRawBufferPointer) throws(JSONReadingError) {
        self = .none
        if text.isText("{}") { return }
        self = try JSONReader.read(text) { reader throws(JSONReadingError) in
            var metadata = EventMetadata.none
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "id": metadata.commandID = try reader.text()
                case "args": metadata.fingerprint = try reader.text()
                default: _ = try reader.rawValue()
                }
            }
            return metadata
        }
    }

    /// The bytes of metadata as an array; the same array for all that equal ``none``, as most do.
    public static func shared(_ text: UnsafeRawBufferPointer) -> [UInt8] {
        text.isText("{}") ? encodedNone : Array(text)
    }

    private static let encodedNone = Array("{}".utf8)
}
