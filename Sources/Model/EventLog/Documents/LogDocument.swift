internal import Domain
public import TextFormats

/// The log as JSON.
public enum LogDocument {
    /// The heads of every partition.
    public static func bytes(of heads: [LogHead]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        for head in heads {
            writer.beginObject()
            writer.field("partition", head.partition)
            writer.field("position", head.position)
            writer.field("digest", head.digest.description)
            writer.endObject()
        }
        writer.endArray()
        return writer.bytes
    }

    /// A signed head of a partition.
    public static func bytes(of head: PublishedHead, _ partition: Int) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("partition", partition)
        writer.field("position", head.position)
        writer.field("note", head.note)
        writer.endObject()
        return writer.bytes
    }

    /// The schema of a signed head.
    public static let signedHeadSchema = JSONSchema.object([
        .member("partition", .count), .member("position", .count, "where its last batch ends"),
        .member("note", .string, "with the signatures, as docs/audit.md has it"),
    ]).named("SignedHead")

    /// What a filter found, and how far it was looked for: `{"events":[…],"to":5000,"next":5001}`.
    public static func bytes(of found: FilteredEvents) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 512 * (found.events.count + 1))
        writer.beginObject()
        writer.key("events")
        writer.beginArray()
        for event in found.events { writer.raw(bytes(of: event)) }
        writer.endArray()
        writer.field("to", found.end)
        writer.field("next", found.isAtEnd ? nil : found.end + 1)
        writer.endObject()
        return writer.bytes
    }

    /// An event, as `LOG.READ` and `tiffin log` show it. A payload that is not JSON is shown as text.
    public static func bytes(of event: RecordedEvent) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256 + event.payload.count)
        writer.beginObject()
        writer.field("partition", event.partition)
        writer.field("position", event.position)
        writer.field("stream", event.stream)
        writer.field("version", event.version)
        writer.field("kind", event.kind.name)
        writer.field("schemaVersion", event.kind.schemaVersion)
        writer.key("payload")
        write(event.payload, to: &writer)
        writer.key("metadata")
        write(event.metadata, to: &writer)
        writer.field("recordedAt", event.recordedAt.rfc3339)
        writer.endObject()
        return writer.bytes
    }

    /// The event of such a document. A payload that is not a JSON object does not come back unchanged: no event has
    /// such a payload anyway.
    public static func event(_ document: [UInt8]) throws -> RecordedEvent {
        try JSONReader.read(document) { reader throws(JSONReadingError) in
            var event = RecordedEvent(
                partition: 0, position: 0, stream: "", version: 0, kind: EventKind(name: "", schemaVersion: 0),
                payload: [], metadata: [], recordedAt: Timestamp(millisecondsSinceEpoch: 0))
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "partition": event.partition = Int(try reader.integer())
                case "position": event.position = try reader.integer()
                case "stream": event.stream = try reader.string()
                case "version": event.version = try reader.integer()
                case "kind": event.kind.name = try reader.string()
                case "schemaVersion": event.kind.schemaVersion = Int(try reader.integer())
                case "payload": event.payload = Array(try reader.rawValue())
                case "metadata": event.metadata = Array(try reader.rawValue())
                case "recordedAt":
                    guard let time = Timestamp(rfc3339: try reader.string()) else { throw reader.failure("a time") }
                    event.recordedAt = time
                default: _ = try reader.rawValue()
                }
            }
            return event
        }
    }

    private static func write(_ json: [UInt8], to writer: inout JSONWriter) {
        if (try? JSONValue(json)) != nil {
            writer.raw(json)
        } else {
            writer.string(String(decoding: json, as: UTF8.self))
        }
    }
}

extension LogDocument {
    /// An event, as ``bytes(of:)-(RecordedEvent)`` shows it. `EventSchema` says what the payloads are.
    public static let eventSchema = schema(
        kind: .string, payload: .object(others: .any).saying("by kind and schemaVersion, as docs/events.md has it")
    ).named("Event")

    static func schema(kind: JSONSchema, payload: JSONSchema) -> JSONSchema {
        .object([
            .member("partition", .count), .member("position", .count), .member("stream", .string),
            .member("version", .count, "of the stream"), .member("kind", kind),
            .member("schemaVersion", .count, "of the kind's payload"), .member("payload", payload),
            .member("metadata", EventMetadata.schema), .member("recordedAt", .time),
        ])
    }

    /// Events that a filter found.
    public static let foundSchema = JSONSchema.object([
        .member("events", .list(of: eventSchema)), .member("to", .integer, "how far it was looked"),
        .member("next", .integer.orNull, "where to go on; null at the end"),
    ]).named("FoundEvents")

    /// The heads of every partition.
    public static let headsSchema = JSONSchema.list(
        of: .object([.member("partition", .count), .member("position", .count), .member("digest", .string)])
            .named("LogHead"))
}
