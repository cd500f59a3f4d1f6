import Domain
import Testing

@testable import EventLog

@Suite struct `Older schemas` {
    private static func decode(_ version: Int, _ rating: String) throws(EventDecodingError) -> DomainEvent {
        let payload = #"{"currency":"INR","name":"A"\#(rating),"timeZone":"UTC","ratingCount":7,"city":"Pune"}"#
        return try EventCodec.decode(
            EventKind(name: "outlet.registered", schemaVersion: version), Array(payload.utf8))
    }

    @Test(
        "An outlet registered under schema 1 is the same under schema 2",
        arguments: [
            (#","rating":4.4"#, #","ratingHundredths":440"#), (#","rating":4"#, #","ratingHundredths":400"#),
            (#","rating":4.0"#, #","ratingHundredths":400"#), (#","rating":4.45"#, #","ratingHundredths":445"#),
            (#","rating":4.459"#, #","ratingHundredths":445"#), (#","rating":5"#, #","ratingHundredths":500"#),
            (#","rating":0"#, #","ratingHundredths":0"#), (#","rating":0.5"#, #","ratingHundredths":50"#),
            (#","rating":0.05"#, #","ratingHundredths":5"#), (#","rating":null"#, #","ratingHundredths":null"#),
            (#","rating":null"#, ""), ("", ""),
        ])
    func sameEvent(_ first: String, _ second: String) throws {
        #expect(try Self.decode(1, first) == Self.decode(2, second))
    }

    @Test(arguments: [
        "5.01", "6", "-1", "-0.5", "44e-1", "4.4e0", "4e2", "1E400", "99999999999999999999", "\"4.4\"", "true", "[]",
    ])
    func `An invalid rating is refused, and not lost`(_ rating: String) {
        #expect(throws: EventDecodingError.self) { try Self.decode(1, #","rating":\#(rating)"#) }
    }

    @Test func `Every rating in hundredths goes through the old schema unchanged`() throws {
        for hundredths in 0...500 {
            let decimal = "\(hundredths / 100).\(hundredths % 100 / 10)\(hundredths % 10)"
            #expect(
                try Self.decode(1, #","rating":\#(decimal)"#)
                    == Self.decode(2, #","ratingHundredths":\#(hundredths)"#))
        }
    }

    @Test func `options that were ids alone are called by them, and are one unit without a price`() throws {
        func decode(_ options: String) throws -> DomainEvent {
            let payload =
                #"{"outlet":"o","currency":"INR","line":"a","item":"a","name":"A","quantity":1,"#
                + #""unitPrice":100,"options":\#(options)}"#
            return try EventCodec.decode(EventKind(name: "cart.itemAdded", schemaVersion: 1), Array(payload.utf8))
        }
        #expect(
            try decode(#"["large","hot"]"#)
                == decode(
                    #"[{"id":"large","name":"large","units":1,"price":0,"free":0},"#
                        + #"{"id":"hot","name":"hot","units":1,"price":0,"free":0}]"#))
        #expect(try decode(#"["large"]"#) != decode("[]"))
    }

    @Test(arguments: ["[]", "null", "1", "{", "", #"{"rating":4.4}"#])
    func `An old payload that is not an outlet is refused`(_ payload: String) {
        #expect(throws: EventDecodingError.self) {
            try EventCodec.decode(EventKind(name: "outlet.registered", schemaVersion: 1), Array(payload.utf8))
        }
    }

    @Test func `A payment reported under schema 1 is of its own reference`() throws {
        let kind = EventKind(name: "order.paymentReported", schemaVersion: 1)
        #expect(
            try EventCodec.decode(kind, Array(#"{"ref":"pay_1","state":"captured","amount":500}"#.utf8))
                == .order(
                    .paymentReported(
                        Order.Payment(reference: "pay_1", .captured, Amount(minorUnits: 500), of: .report("pay_1")))))
        for payload in ["{}", "[]", #"{"ref":1,"state":"captured","amount":500}"#] {
            #expect(throws: EventDecodingError.self) { try EventCodec.decode(kind, Array(payload.utf8)) }
        }
    }

    private static let placed =
        #"{"cart":"c","outlet":"o","currency":"INR","lines":[],"charges":[{"kind":"tax","id":"vat","name":"VAT","#
        + #""amount":83,"included":true,"shares":[83]}],"total":500}"#

    @Test func `An order of schema 2 has its taxes without rates and bases`() throws {
        let event = try EventCodec.decode(
            EventKind(name: "order.placed", schemaVersion: 2), Array(Self.placed.utf8))
        guard case .order(.placed(let placement)) = event else { throw ImpossibleEvent("another event") }
        let tax = Charge(
            .tax, id: Identifier("vat"), name: "VAT", Amount(minorUnits: 83), isIncluded: true,
            shares: [Amount(minorUnits: 83)])
        #expect(placement.charges == [tax])
        #expect(placement.charges[0].base == nil)
        #expect(EventCodec.encode(event).payload == Array(Self.placed.utf8))
    }

    @Test func `A refund of schema 1 has its taxes together`() throws {
        let event = try EventCodec.decode(
            EventKind(name: "order.refunded", schemaVersion: 1),
            Array(#"{"amount":34,"tax":5,"code":"ITEMS","line":"tea","quantity":1}"#.utf8))
        #expect(
            event
                == .order(
                    .refunded(
                        Order.Refund(
                            Amount(minorUnits: 34), taxes: [Order.Refund.Tax(Amount(minorUnits: 5))], .items,
                            units: Order.Refund.Units(line: "tea", quantity: 1)))))
    }

    @Test func `A tax whose base is not the sum of its bases is refused`() {
        let payload = Self.placed.replacing(
            #""amount":83"#, with: #""rate":20000,"base":499,"amount":83,"bases":[500]"#)
        #expect(throws: EventDecodingError.self) {
            try EventCodec.decode(EventKind(name: "order.placed", schemaVersion: 3), Array(payload.utf8))
        }
    }
}
