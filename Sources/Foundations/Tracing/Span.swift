public import TextFormats

/// Something that took time, on behalf of whoever traces it.
public struct Span: Sendable {
    /// What caused it.
    public var parent: TraceParent
    /// What was done.
    public var name: String
    /// When it began and ended, in nanoseconds since 1970.
    public var began: UInt64
    public var ended: UInt64
    /// What else is known, by names.
    public var attributes: [(name: String, value: String)]
    /// Why it failed for a reason of the server's own; nil if it did not.
    public var failure: String?

    /// Something that begins, and has not failed.
    public init(
        _ name: String, of parent: TraceParent, began: UInt64, attributes: [(name: String, value: String)]
    ) {
        self.name = name
        self.parent = parent
        self.began = began
        ended = began
        self.attributes = attributes
    }

    /// Writes the span as OTLP has it in JSON.
    func write(to writer: inout JSONWriter, id: UInt64) {
        writer.beginObject()
        writer.field("traceId", String(parent.trace))
        writer.field("spanId", String(repeating: "0", count: id.leadingZeroBitCount / 4) + String(id, radix: 16))
        writer.field("parentSpanId", String(parent.parent))
        writer.field("name", name)
        writer.field("kind", Span.server)
        // 64 bits are strings in the JSON of Protocol Buffers.
        writer.field("startTimeUnixNano", "\(began)")
        writer.field("endTimeUnixNano", "\(ended)")
        Span.write(attributes, to: &writer)
        writer.key("status")
        writer.beginObject()
        if let failure {
            writer.field("code", Span.error)
            writer.field("message", failure)
        }
        writer.endObject()
        writer.endObject()
    }

    static func write(_ attributes: [(name: String, value: String)], to writer: inout JSONWriter) {
        writer.key("attributes")
        writer.beginArray()
        for attribute in attributes {
            writer.beginObject()
            writer.field("key", attribute.name)
            writer.key("value")
            writer.beginObject()
            writer.field("stringValue", attribute.value)
            writer.endObject()
            writer.endObject()
        }
        writer.endArray()
    }

    // Numbers of OTLP's enumerations.
    private static let server = 2
    private static let error = 2
}
