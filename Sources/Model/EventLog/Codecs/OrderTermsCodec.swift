internal import Domain
internal import TextFormats

/// What an order waits for, as fields of an event.
enum OrderTermsCodec {
    static func encode(_ terms: Order.Terms, to writer: inout JSONWriter) {
        func time(_ name: StaticString, _ time: Timestamp?, to writer: inout JSONWriter) {
            if let time { writer.field(name, time.millisecondsSinceEpoch) }
        }
        time("placedAt", terms.placedAt, to: &writer)
        time("promisedFor", terms.promisedFor, to: &writer)
        time("releaseAt", terms.releaseAt, to: &writer)
        time("acceptBy", terms.acceptBy, to: &writer)
        time("payBy", terms.payBy, to: &writer)
        if let seconds = terms.acceptWithin { writer.field("acceptWithin", seconds) }
    }

    /// Reads the value of the key if it is one of the terms'.
    static func read(
        _ key: JSONKey, into terms: inout Order.Terms, from reader: inout JSONReader
    ) throws(JSONReadingError) -> Bool {
        switch key {
        case "placedAt": terms.placedAt = try reader.timestamp()
        case "promisedFor": terms.promisedFor = try reader.timestamp()
        case "releaseAt": terms.releaseAt = try reader.timestamp()
        case "acceptBy": terms.acceptBy = try reader.timestamp()
        case "payBy": terms.payBy = try reader.timestamp()
        case "acceptWithin": terms.acceptWithin = Int(try reader.integer())
        default: return false
        }
        return true
    }
}
