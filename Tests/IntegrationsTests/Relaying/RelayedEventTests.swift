import Testing

@testable import Integrations

@Suite struct RelayedEventTests {
    private static func document(_ kind: String) -> [UInt8] {
        Array(
            """
            {"partition":0,"position":7,"stream":"order-x","version":1,"kind":"\(kind)","schemaVersion":1,"payload":{},\
            "metadata":{},"recordedAt":"2026-03-01T12:00:00.250Z"}
            """.utf8)
    }

    @Test(
        arguments: [
            ([], true), (["order.placed"], true), (["order"], true), (["cart", "order"], true), (["ord"], false),
            (["order.place"], false), (["order.placed.now"], false), (["cart"], false), ([""], false),
        ])
    func `a kind is asked for as it is, or by what is before a dot`(kinds: [String], isWanted: Bool) throws {
        let event = try RelayedEvent(RelayedEventTests.document("order.placed"))
        #expect(event.isOf(kinds) == isWanted)
        #expect(event.position == 7)
    }

    @Test func `events at one position are told apart`() throws {
        let marks = try ["order.placed", "order.accepted"].map {
            try RelayedEvent(RelayedEventTests.document($0)).mark
        }
        #expect(Set(marks).count == 2)
    }

    @Test(arguments: ["", "[]", "{}", #"{"position":"7"}"#, #"{"position":1e99,"stream":"a","version":1}"#])
    func `what is no event is refused`(text: String) {
        #expect(throws: RelayError.self) { try RelayedEvent(Array(text.utf8)) }
    }
}
