public import Domain
public import TextFormats

/// What a payment service reported, as members of an object.
public enum PaymentCodec {
    /// Writes an array of reports.
    public static func encode(_ payments: [Order.Payment], to writer: inout JSONWriter) {
        writer.beginArray()
        for payment in payments {
            writer.beginObject()
            encode(payment, to: &writer)
            writer.endObject()
        }
        writer.endArray()
    }

    /// Reads an array of reports.
    public static func decode(from reader: inout JSONReader) throws(JSONReadingError) -> [Order.Payment] {
        var payments: [Order.Payment] = []
        try reader.beginArray()
        while try reader.nextElement() { payments.append(try payment(from: &reader)) }
        return payments
    }

    /// Writes the members of a report.
    static func encode(_ payment: Order.Payment, to writer: inout JSONWriter) {
        writer.field("ref", payment.reference.string)
        writer.field("state", payment.kind.rawValue)
        writer.field("amount", payment.amount.minorUnits)
        switch payment.parent {
        case .own: break
        case .report(let reference): writer.field("of", reference.string)
        case .unclear:
            writer.key("of")
            writer.null()
        }
    }

    /// Reads the member `of`.
    static func parent(from reader: inout JSONReader) throws(JSONReadingError) -> Order.Payment.Parent {
        reader.takeNull() ? .unclear : .report(try reader.text())
    }

    private static func payment(from reader: inout JSONReader) throws(JSONReadingError) -> Order.Payment {
        var reference: Text?
        var kind: Order.PaymentKind?
        var amount: Amount?
        var parent = Order.Payment.Parent.own
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "ref": reference = try reader.text()
            case "state": kind = Order.PaymentKind(rawValue: try reader.string())
            case "amount": amount = Amount(minorUnits: try reader.integer())
            case "of": parent = try self.parent(from: &reader)
            default: _ = try reader.rawValue()
            }
        }
        guard let reference, let kind, let amount else { throw reader.failure("a report of a payment") }
        return Order.Payment(reference: reference, kind, amount, of: parent)
    }
}

extension PaymentCodec {
    /// The members of a report.
    static let members: [JSONSchema.Member] = [
        .member("ref", .string, "what the payment service calls it"),
        .member("state", .words(of: Order.PaymentKind.self)), .member("amount", .money),
        .optional("of", .string.orNull, "the `ref` of the report that it is a part of; null where it may be several"),
    ]
}
