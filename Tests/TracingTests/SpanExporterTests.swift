import EventLoop
import Testing
import TextFormats

@testable import Tracing

@Suite struct SpanExporterTests {
    init() { LoopActor.startInBackground() }

    private let parent = TraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")!

    @Test @LoopActor func `Spans beyond those that may wait are lost`() {
        // A port that nobody listens on.
        let exporter = SpanExporter(to: "http://127.0.0.1:1", of: []) { _ in }
        // The first request takes its spans with it.
        let room = SpanExporter.maximumOfRequest + SpanExporter.maximumWaiting
        for _ in 0..<room { exporter.add(Span("x", of: parent, began: 1, attributes: [])) }
        #expect(exporter.lost == 0)
        for _ in 0..<3 { exporter.add(Span("x", of: parent, began: 1, attributes: [])) }
        #expect(exporter.lost == 3)
    }

    @Test @LoopActor func `A request is what OTLP says, whatever texts are in it`() throws {
        let exporter = SpanExporter(to: "http://127.0.0.1:1/", of: [("service.name", "a \"b\"")]) { _ in }
        var span = Span("CART.ADD", of: parent, began: .max, attributes: [("tiffin.stream", "cart-\u{1}é")])
        span.failure = "it is away"
        let request = try JSONValue(exporter.request([span]))
        let resource = try #require(request["resourceSpans"]?.first)
        let written = try #require(resource["scopeSpans"]?.first?["spans"]?.first)
        #expect(resource["resource"]?["attributes"]?.first?["value"]?["stringValue"] == .string("a \"b\""))
        #expect(written["traceId"] == .string("4bf92f3577b34da6a3ce929d0e0e4736"))
        #expect(written["parentSpanId"] == .string("00f067aa0ba902b7"))
        #expect(written["startTimeUnixNano"] == .string("\(UInt64.max)"))
        #expect(written["attributes"]?.first?["value"]?["stringValue"] == .string("cart-\u{1}é"))
        #expect(written["status"]?["message"] == .string("it is away"))
    }

    @Test @LoopActor func `An id has 16 digits, however small it is`() throws {
        for id: UInt64 in [1, 0xf, 0x10, 0xabc, .max >> 1, .max] {
            var writer = JSONWriter()
            Span("x", of: parent, began: 1, attributes: []).write(to: &writer, id: id)
            guard case .string(let digits)? = try JSONValue(writer.bytes)["spanId"] else {
                Issue.record("there is no id")
                return
            }
            #expect(digits.count == 16 && UInt64(digits, radix: 16) == id)
        }
    }
}

extension JSONValue {
    /// The first element of an array.
    fileprivate var first: JSONValue? { if case .array(let elements) = self { elements.first } else { nil } }
}
