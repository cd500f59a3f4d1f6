internal import Domain
internal import EventLog
internal import TextFormats

/// One event as a line of a history, as people read it.
struct HistoryLine: Sendable {
    var stream: String
    var position: Int64
    var version: Int64
    var recordedAt: Timestamp
    var words: String
    /// The client's id for the command, what it belongs to, and who or what it came from.
    var metadata: EventMetadata
}

extension HistoryLine {
    /// What the metadata says, as the end of the line.
    fileprivate var origin: String {
        let parts = [
            metadata.commandID.map { "\($0)" }, metadata.flow.map { "flow \($0)" },
            metadata.trace.map { "trace \($0.trace)" },
            metadata.actor.map { "by \($0)\(claim)" }, metadata.cause.map { "because of \($0)" },
        ].compactMap(\.self)
        return parts.isEmpty ? "" : " — " + parts.joined(separator: ", ")
    }

    /// What the client said of itself, beside who had logged in.
    private var claim: String {
        if case .besides(let claim?) = metadata.claim { " (who says '\(claim)')" } else { "" }
    }
}

extension [HistoryLine] {
    /// The lines as text, in columns.
    ///
    /// - Parameters:
    ///   - last: the number of lines shown, counted from the end. A note says how many are not.
    ///   - namingStreams: whether each version is shown with the kind of its stream.
    func text(last: Int, namingStreams: Bool = false) -> [String] {
        let shown = suffix(last)
        let labels = shown.map { line in
            let kind = namingStreams ? line.stream.prefix { $0 != "-" } + " " : ""
            return "#\(line.position) \(kind)v\(line.version)"
        }
        let width = labels.map(\.count).max() ?? 0
        let omitted = count - shown.count
        let note = omitted > 0 ? ["(\(omitted.counted("earlier event")) not shown; see --last)"] : []
        return note
            + zip(shown, labels).map { line, label in
                let padding = String(repeating: " ", count: width - label.count)
                return "\(line.recordedAt.words)  \(label)\(padding)  \(line.words)\(line.origin)"
            }
    }
}

/// Reads one stream event by event, as far as it can be understood.
struct StreamReader {
    private(set) var version: Int64 = 0
    /// The first version that cannot be understood; the server shows nothing from there on, either.
    private(set) var damagedSince: Int64?
    private(set) var lines: [HistoryLine] = []

    /// Takes the next event.
    ///
    /// - Parameter fold: folds the event and describes it.
    mutating func take(_ event: RecordedEvent, _ fold: (DecodedEvent) throws -> String) {
        var line = HistoryLine(
            stream: event.stream, position: event.position, version: event.version, recordedAt: event.recordedAt,
            words: event.kind.name, metadata: (try? EventMetadata(decoding: event.metadata)) ?? .none)
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
            line.words = try fold(decoded)
            version = event.version
        } catch {
            damagedSince = event.version
            let reason = (error as? CorruptEvent)?.reason ?? "\(error)"
            line.words += ": damaged, nothing is shown from here on: \(reason)"
        }
    }
}
