package import Application
internal import Domain
internal import Serving
internal import TextFormats

// What CLIENT LIST, SLOWLOG GET and LATENCY HISTORY say, as JSON, for the console.

extension LineServer {
    package func list(_ list: FrontList) -> [UInt8]? {
        switch list {
        case .clients: clientList
        case .slowCommands: slowCommands
        case .delays: delays
        }
    }

    package func closeClient(_ client: Int64) -> Bool {
        guard let session = sessions[client] else { return false }
        session.close()
        return true
    }

    /// Every connection: `{"clients":[{"id":"7","addr":"127.0.0.1:5000",…}]}`, in the words of `CLIENT LIST`.
    private var clientList: [UInt8] {
        LineServer.list("clients", sessions.values.sorted { $0.id < $1.id }) { session, writer in
            for pair in session.summary.split(separator: " ") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                writer.key(dynamic: String(parts[0]))
                writer.string(parts.count > 1 ? String(parts[1]) : "")
            }
        }
    }

    /// The commands that took long, the newest first.
    private var slowCommands: [UInt8] {
        LineServer.list("commands", slowLog.entries.reversed()) { entry, writer in
            writer.field("id", entry.id)
            writer.field("at", LineServer.time(entry.time))
            writer.field("microseconds", entry.microseconds)
            writer.field("words", entry.words.lazy.map { String(decoding: $0, as: UTF8.self) })
            writer.field("address", entry.address)
            writer.field("client", entry.client)
        }
    }

    /// What held up the server, each with its samples, the newest first.
    private var delays: [UInt8] {
        LineServer.list("events", service.latencies.series.sorted { $0.key.rawValue < $1.key.rawValue }) {
            event, writer in
            writer.field("event", event.key.rawValue)
            writer.field("maximum", event.value.maximum)
            writer.key("samples")
            writer.beginArray()
            for sample in event.value.samples.reversed() {
                writer.beginObject()
                writer.field("at", LineServer.time(sample.time))
                writer.field("milliseconds", sample.milliseconds)
                writer.endObject()
            }
            writer.endArray()
        }
    }

    private static func time(_ seconds: Int64) -> String {
        Timestamp(millisecondsSinceEpoch: seconds * 1_000).rfc3339
    }

    private static func list<Element>(
        _ name: StaticString, _ elements: [Element], _ write: (Element, inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key(name)
        writer.beginArray()
        for element in elements {
            writer.beginObject()
            write(element, &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}
