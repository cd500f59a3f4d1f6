import Domain
import Testing

@testable import EventLog

@Suite struct LogDocumentTests {
    @Test(arguments: [
        #"{}"#, #"{"a":[1,2.50,{"b":null}],"é":"🍱 \" \\ \u0000"}"#, #"{ "spaces" : true }"#,
    ])
    func `an event comes back from its document as it was`(payload: String) throws {
        let event = RecordedEvent(
            partition: 3, position: 812, stream: "cart-c1", version: 7,
            kind: EventKind(name: "cart.itemAdded", schemaVersion: 2), payload: Array(payload.utf8),
            metadata: Array(#"{"id":"tap","args":"00ff"}"#.utf8),
            recordedAt: Timestamp(millisecondsSinceEpoch: 1_700_000_000_123))
        #expect(try LogDocument.event(LogDocument.bytes(of: event)) == event)
    }

    @Test func `a payload that is not JSON comes back as one that is not JSON`() throws {
        var event = RecordedEvent(
            partition: 0, position: 1, stream: "?", version: 1, kind: EventKind(name: "x", schemaVersion: 1),
            payload: Array("no json".utf8), metadata: Array("{}".utf8),
            recordedAt: Timestamp(millisecondsSinceEpoch: 0))
        event.payload = try LogDocument.event(LogDocument.bytes(of: event)).payload
        #expect(throws: CorruptEvent.self) { try event.decoded() }
    }

    @Test(arguments: ["", "[]", #"{"position":"x"}"#, #"{"recordedAt":"yesterday"}"#])
    func `a document that is not an event is refused`(document: String) {
        #expect(throws: (any Error).self) { try LogDocument.event(Array(document.utf8)) }
    }
}
