internal import JSONText

/// An event as `LOG.READ` tells it, as far as the monkey looks at it.
struct LogEvent: Equatable {
    /// What of the payload changes a cart's count, or says what an order is of.
    struct Payload: Equatable {
        var quantity: Int64 = 0
        var from: Int64 = 0
        var to: Int64 = 0
        var total: Int64?
        /// What an order is of.
        var cart: String?
    }

    var position: Int64 = 0
    var stream = ""
    var version: Int64 = 0
    var kind = ""
    var payload = Payload()
    /// The `ID` of the command that it comes from.
    var id: String?

    /// nil where the bytes are no such event.
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
            case "position": position = try reader.integer()
            case "stream": stream = try reader.string()
            case "version": version = try reader.integer()
            case "kind": kind = try reader.string()
            case "payload": try readPayload(&reader)
            case "metadata": try readMetadata(&reader)
            default: _ = try reader.rawValue()
            }
        }
    }

    private mutating func readPayload(_ reader: inout JSONReader) throws(JSONReadingError) {
        try reader.beginObject()
        while let key = try reader.nextKey() {
            // Other events have other things under these names, a menu's section among them.
            guard kind.hasPrefix("cart.") || kind.hasPrefix("order.") else {
                _ = try reader.rawValue()
                continue
            }
            switch key {
            case "quantity": payload.quantity = try reader.integer()
            case "from": payload.from = try reader.integer()
            case "to": payload.to = try reader.integer()
            case "total": payload.total = try reader.integer()
            case "cart": payload.cart = try reader.string()
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
}
