internal import Domain
internal import EventLog

/// One event as a line of a history that people read.
struct EventLine: Sendable {
    var stream: String
    var position: Int64
    var version: Int64
    var recordedAt: Timestamp
    var words: String
    /// The client's id for the command.
    var commandID: String?
}

extension [EventLine] {
    /// The lines as text, in columns.
    ///
    /// - Parameters:
    ///   - last: the most of them, counted from the end; the others are said to be left out.
    ///   - namingStreams: whether a version needs its stream's kind beside it.
    func text(last: Int, namingStreams: Bool = false) -> [String] {
        let shown = suffix(last)
        let labels = shown.map { line in
            let kind = namingStreams ? line.stream.prefix { $0 != "-" } + " " : ""
            return "#\(line.position) \(kind)v\(line.version)"
        }
        let width = labels.map(\.count).max() ?? 0
        let omitted = count - shown.count
        let note = omitted > 0 ? ["(\(omitted.counted("event")) before these left out: see --last)"] : []
        return note
            + zip(shown, labels).map { line, label in
                let padding = String(repeating: " ", count: width - label.count)
                let id = line.commandID.map { " — \($0)" } ?? ""
                return "\(line.recordedAt.words)  \(label)\(padding)  \(line.words)\(id)"
            }
    }
}

/// Follows one stream from event to event for as long as it can be understood.
struct StreamReading {
    private(set) var version: Int64 = 0
    /// The version from which on it cannot be understood, as the server could not show it.
    private(set) var damagedSince: Int64?
    private(set) var lines: [EventLine] = []

    /// Takes the next event.
    ///
    /// - Parameter tell: says it in words and folds it in.
    mutating func take(_ event: RecordedEvent, _ tell: (DecodedEvent) throws -> String) {
        var line = EventLine(
            stream: event.stream, position: event.position, version: event.version, recordedAt: event.recordedAt,
            words: event.kind.name, commandID: (try? EventMetadata(decoding: event.metadata))?.commandID)
        defer { lines.append(line) }
        guard damagedSince == nil else {
            line.words += ": not shown, the history is damaged before it"
            return
        }
        do {
            let decoded = try event.decoded()
            guard event.version == version + 1 else {
                throw ImpossibleEvent("version \(event.version) after \(version)")
            }
            line.words = try tell(decoded)
            version = event.version
        } catch {
            damagedSince = event.version
            let reason = (error as? CorruptEvent)?.reason ?? "\(error)"
            line.words += ": damaged, nothing is shown from here on: \(reason)"
        }
    }
}
