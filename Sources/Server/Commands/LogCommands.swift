internal import Domain
public import EventLog
internal import EventLoop
internal import JSONText
internal import LineProtocol
internal import Projections

/// What auditors read.
enum LogCommands {
    /// The most events of one `LOG.READ`.
    static let maximumCount: Int64 = 1_000

    static let all: [Command] = [
        Command(
            "LOG.HEAD", .log, role: .auditor, "Gives the position and digest of every partition of the log."
        ) { session, _ throws(Failure) in
            let log = session.server.log
            session.replyLater { () async throws(EventLogError) in
                let heads = try await log.heads()
                return { $0.bulk(LogDocument.bytes(of: heads)) }
            }
        },
        Command(
            "LOG.READ", .log, role: .auditor, "Gives events of the log, in order.",
            [
                .optional("partition", .integer, token: "PARTITION"), .optional("position", .integer, token: "FROM"),
                .optional("count", .integer, token: "COUNT"), .optional("stream", token: "STREAM"),
            ]
        ) { session, arguments throws(Failure) in
            let options = try CallOptions(ofRead: arguments, from: 1, "PARTITION", "FROM", "COUNT", "STREAM")
            let log = session.server.log
            let partitions = Int64(log.partitionCount)
            let count = Int(try options.integer("COUNT", in: 1...maximumCount) ?? 100)
            let from = try options.integer("FROM", in: 1...Int64.max) ?? 1
            var partition = try options.integer("PARTITION", in: 0...partitions - 1).map(Int.init)
            var stream: StreamName?
            if let text = try options.text("STREAM") {
                guard partition == nil else { throw .invalid("PARTITION", "follows from the stream") }
                let name = try streamName(text, "STREAM")
                stream = name
                partition = session.server.engine.partitioning.partition(of: name)
            }
            session.replyLater { [partition, stream] () async throws(EventLogError) in
                let events =
                    if let stream {
                        try await log.read(
                            stream: stream, partition: partition ?? 0, afterVersion: from - 1, limit: count)
                    } else {
                        try await log.read(partition: partition ?? 0, after: from - 1, limit: count)
                    }
                return { replies in
                    replies.array(events.count)
                    for event in events { replies.bulk(LogDocument.bytes(of: event)) }
                }
            }
        },
        Command(
            "LOG.PROVE", .log, role: .auditor, "Gives a receipt that proves, without the log, that an event is in it.",
            [
                .value("stream"), .value("version", .integer),
                .optional("position", .integer, token: "HEAD"),
            ]
        ) { session, arguments throws(Failure) in
            let options = try CallOptions(ofRead: arguments, from: 3, "HEAD")
            let stream = try streamName(arguments[1].string, "stream")
            let version = try arguments[2].integer("version")
            guard version >= 1 else { throw .invalid("version", "must be at least 1") }
            let head = try options.integer("HEAD", in: 1...Int64.max)
            let promise = session.promise(about: .order)
            session.server.notary.prove(stream, version: version, head: head) { receipt in
                switch receipt {
                case .success(let json): promise.fulfil { $0.bulk(json) }
                case .failure(let failure): promise.fail(failure)
                }
            }
        },
    ]

    private static func streamName(_ text: String?, _ field: String) throws(Failure) -> StreamName {
        guard let text, let name = StreamName(text) else { throw .invalid(field, "must be a name such as cart-c1") }
        return name
    }
}

extension Session {
    /// Answers once something has been read from the log.
    fileprivate func replyLater(
        _ read: @escaping @Sendable () async throws(EventLogError) -> @Sendable (inout ReplyBuffer) -> Void
    ) {
        let promise = promise(about: .order)
        Task { @LoopActor in
            do throws(EventLogError) {
                promise.fulfil(try await read())
            } catch {
                promise.fail(.unavailable("\(error)"))
            }
        }
    }
}

extension CallOptions {
    fileprivate func integer(_ name: String, in range: ClosedRange<Int64>) throws(Failure) -> Int64? {
        guard let value = try self[name]?.integer(name) else { return nil }
        guard range.contains(value) else {
            throw .invalid(name, "must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}

/// The log as JSON.
public enum LogDocument {
    /// The heads of every partition.
    static func bytes(of heads: [LogHead]) -> [UInt8] {
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

    /// An event, as `LOG.READ` and `tiffin log` show it. A payload that is no JSON is shown as text.
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

    /// The event of such a document. What is no JSON text of an object comes back otherwise than it was, and is as
    /// little an event's payload as before.
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
