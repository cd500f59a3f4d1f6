package import Domain
internal import TextFormats

/// What an outlet's supply answers to the claims of an order, as one server tells another.
package enum ClaimReply {
    /// The answer as a document; null where the order is not remembered any more.
    package static func answer(_ answer: Supply.Answer?) -> Answer {
        guard let answer else { return .null }
        var writer = JSONWriter(reservingCapacity: 64)
        writer.beginObject()
        switch answer {
        case .held: writer.field("held", true)
        case .refused(let refusal):
            writer.field("code", refusal.code.rawValue)
            writer.field("text", refusal.text.string)
        }
        writer.endObject()
        return .document(writer.bytes)
    }

    /// What an answer says; nil where it says nothing.
    package static func read(_ answer: Answer) -> Cart.ClaimAnswer? {
        let bytes: [UInt8]
        switch answer {
        case .document(let document): bytes = document
        // As it comes from another server.
        case .text(let text): bytes = Array(text.utf8)
        case .null, .integer, .parts, .documents: return nil
        }
        var isHeld = false
        var code: Rejection.Code?
        var text: Text?
        try? JSONReader.read(bytes) { reader throws(JSONReadingError) in
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "held": isHeld = try reader.bool()
                case "code": code = Rejection.Code(rawValue: try reader.string())
                case "text": text = Text(try reader.string())
                default: _ = try reader.rawValue()
                }
            }
        }
        if isHeld { return .held }
        guard let code, let text else { return nil }
        return .refused(Supply.Refusal(code, text))
    }
}
