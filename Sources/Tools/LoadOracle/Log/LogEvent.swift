internal import TextFormats

/// An event as `LOG.READ` shows it.
struct LogEvent: Equatable {
    var partition: Int64 = 0
    var position: Int64 = 0
    var stream = ""
    var version: Int64 = 0
    var kind = ""
    var payload = JSON.null
    /// The `ID` of the command that it came from.
    var id: String?
    var recordedAt = ""

    /// nil if the bytes are not such an event.
    init?(_ bytes: [UInt8]) {
        do {
            try JSONReader.read(bytes) { reader throws(JSONReadingError) in try read(&reader) }
        } catch {
            return nil
        }
        guard position > 0, version > 0, !stream.isEmpty, !kind.isEmpty else { return nil }
    }

    private mutating func read(_ reader: inout JSONReader) throws(JSONReadingError) {
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "partition": partition = try reader.integer()
            case "position": position = try reader.integer()
            case "stream": stream = try reader.string()
            case "version": version = try reader.integer()
            case "kind": kind = try reader.string()
            case "payload": payload = try JSON(from: &reader)
            case "metadata": try readMetadata(&reader)
            case "recordedAt": recordedAt = try reader.string()
            default: _ = try reader.rawValue()
            }
        }
    }

    private mutating func readMetadata(_ reader: inout JSONReader) throws(JSONReadingError) {
        try reader.beginObject()
        while let key = try reader.nextKey() {
            if key == "id" { id = try reader.string() } else { _ = try reader.rawValue() }
        }
    }

    func number(_ key: Text) -> Int64 { payload[key]?.integer ?? 0 }
}
