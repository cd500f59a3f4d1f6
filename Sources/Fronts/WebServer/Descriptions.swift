internal import Application
internal import EventLog
package import TextFormats

/// What this version says of itself, for programs: `tiffin schema` prints it.
package enum Descriptions {
    /// The OpenAPI document of both sites.
    package static var openAPI: String { Route.openAPI() }
    /// The AsyncAPI document.
    package static var asyncAPI: String { AsyncAPI.document }
    /// Every schema of a document and of its parts, by name.
    package static var documents: [(name: String, schema: JSONSchema)] {
        Route.definitions.sorted { $0.name < $1.name }
    }
}

/// What is sent without being asked for, as AsyncAPI 3.0: changes of documents to who listens, and every event to the
/// address of a relay.
enum AsyncAPI {
    static var document: String {
        var writer = JSONWriter(reservingCapacity: 64 << 10)
        writer.beginObject()
        writer.field("asyncapi", "3.0.0")
        writer.key("info")
        writer.beginObject()
        writer.field("title", "Tiffin")
        writer.field("version", Version.current)
        writer.field(
            "description",
            "Topics of SUBSCRIBE and of /v1/stream, as docs/subscriptions.md describes them, and the webhooks of "
                + "tiffin relay, as docs/commands.md does.")
        writer.endObject()
        writeServers(to: &writer)
        writer.key("channels")
        writer.beginObject()
        for kind in TopicKind.all { write(kind, to: &writer) }
        writeEvents(to: &writer)
        writer.endObject()
        writer.key("operations")
        writer.beginObject()
        for kind in TopicKind.all { writeSending(kind.name, to: &writer) }
        writeSending("events", to: &writer)
        writer.endObject()
        writer.key("components")
        writer.beginObject()
        writeMessages(to: &writer)
        writer.key("schemas")
        let schemas =
            TopicKind.all.flatMap { [$0.message, $0.document] } + EventSchema.all.map(\.event) + [webhookHeaders]
        JSONSchema.write(JSONSchema.definitions(in: schemas), to: &writer, in: .asyncAPI)
        writer.endObject()
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static let servers: [(name: StaticString, host: String, protocol: String, path: String?, meaning: String)] =
        [
            ("line", "127.0.0.1:7379", "redis", nil, "SUBSCRIBE of the line protocol; the channel is its address"),
            ("store", "127.0.0.1:7380", "http", "/v1/stream", "server-sent events; the channel is a t of the query"),
            ("console", "127.0.0.1:7381", "http", "/v1/stream", "the same"),
            ("webhook", "your.example", "https", nil, "the address that tiffin relay posts to"),
        ]

    private static func writeServers(to writer: inout JSONWriter) {
        writer.key("servers")
        writer.beginObject()
        for server in servers {
            writer.key(server.name)
            writer.beginObject()
            writer.field("host", server.host)
            writer.field("protocol", server.protocol)
            if let path = server.path { writer.field("pathname", path) }
            writer.field("description", server.meaning)
            writer.endObject()
        }
        writer.endObject()
    }

    /// The channel of a kind of topic.
    private static func write(_ kind: TopicKind, to writer: inout JSONWriter) {
        let member = kind.member.description
        writer.key(dynamic: kind.name)
        writer.beginObject()
        writer.field("address", "\(kind.prefix):{\(member)}")
        write(servers: ["line", "store", "console"], to: &writer)
        writer.key("parameters")
        writer.beginObject()
        writer.key(kind.member)
        writer.beginObject()
        writer.field("description", "an id")
        writer.endObject()
        writer.endObject()
        writer.key("messages")
        writer.beginObject()
        writeReference("change", "#/components/messages/\(kind.message.name ?? "")", to: &writer)
        writer.endObject()
        // What the patches of its messages make.
        writer.key("x-document")
        kind.document.write(to: &writer, in: .asyncAPI)
        writer.endObject()
    }

    private static func writeEvents(to writer: inout JSONWriter) {
        writer.key("events")
        writer.beginObject()
        writer.field("address", "/")
        write(servers: ["webhook"], to: &writer)
        writer.key("messages")
        writer.beginObject()
        for event in EventSchema.all { writeReference(event.kind, "#/components/messages/\(event.kind)", to: &writer) }
        writer.endObject()
        writer.endObject()
    }

    private static func write(servers: [String], to writer: inout JSONWriter) {
        writer.key("servers")
        writer.beginArray()
        for server in servers {
            writer.beginObject()
            writer.field("$ref", "#/servers/\(server)")
            writer.endObject()
        }
        writer.endArray()
    }

    private static func writeReference(_ key: String, _ target: String, to writer: inout JSONWriter) {
        writer.key(dynamic: key)
        writer.beginObject()
        writer.field("$ref", target)
        writer.endObject()
    }

    /// That what is said on a channel is sent.
    private static func writeSending(_ channel: String, to writer: inout JSONWriter) {
        writer.key(dynamic: "send\(channel.prefix(1).uppercased())\(channel.dropFirst())")
        writer.beginObject()
        writer.field("action", "send")
        writeReference("channel", "#/channels/\(channel)", to: &writer)
        writer.endObject()
    }

    private static func writeMessages(to writer: inout JSONWriter) {
        writer.key("messages")
        writer.beginObject()
        var written: Set<String> = []
        for kind in TopicKind.all {
            guard let name = kind.message.name, written.insert(name).inserted else { continue }
            writer.key(dynamic: name)
            writer.beginObject()
            writer.field("contentType", "application/json")
            writer.key("payload")
            kind.message.write(to: &writer, in: .asyncAPI)
            writer.endObject()
        }
        for event in EventSchema.all {
            writer.key(dynamic: event.kind)
            writer.beginObject()
            writer.field("summary", event.meaning)
            writer.field("contentType", "application/json")
            writer.key("headers")
            webhookHeaders.write(to: &writer, in: .asyncAPI)
            writer.key("payload")
            event.event.write(to: &writer, in: .asyncAPI)
            writer.endObject()
        }
        writer.endObject()
    }

    private static let webhookHeaders = JSONSchema.object([
        .member("webhook-id", .string, "the partition and the position, 0-104"),
        .member("webhook-timestamp", .string, "seconds since 1970"),
        .member("webhook-signature", .string, "as Standard Webhooks has it"),
        .optional("traceparent", .string, "where the command belongs in a trace, if its client said that"),
    ]).named("WebhookHeaders")
}

extension TopicKind {
    /// What its channel is called: `cartCount`.
    fileprivate var name: String {
        let words = prefix.split(separator: "_")
        return words.dropFirst().reduce(String(words[0])) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }
}
