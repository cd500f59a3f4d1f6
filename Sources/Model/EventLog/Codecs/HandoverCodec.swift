internal import Domain
internal import TextFormats

/// How an order is handed over, as fields of an event.
enum HandoverCodec {
    static func encode(_ handover: Handover, to writer: inout JSONWriter) {
        if let service = handover.service { writer.field("service", service.rawValue) }
        if let table = handover.table { writer.field("table", table.string) }
        if let phone = handover.phone { writer.field("sealedPhone", phone.ciphertext.string) }
        if let address = handover.address { writer.field("sealedAddress", address.ciphertext.string) }
    }

    /// Reads the value of the key if it is one of a handover's.
    static func read(
        _ key: JSONKey, into handover: inout Handover, from reader: inout JSONReader
    ) throws(JSONReadingError) -> Bool {
        switch key {
        case "service":
            guard let service = ServiceKind(rawValue: try reader.string()) else {
                throw reader.failure("a way to have an order")
            }
            handover.service = service
        case "table": handover.table = try reader.text()
        case "sealedPhone": handover.phone = SealedText(ciphertext: try reader.text())
        case "sealedAddress": handover.address = SealedText(ciphertext: try reader.text())
        default: return false
        }
        return true
    }
}

extension HandoverCodec {
    static let members: [JSONSchema.Member] = [
        .optional("service", .words(of: ServiceKind.self)), .optional("table", .string),
        .optional("sealedPhone", .sealed), .optional("sealedAddress", .sealed),
    ]
}
