public import Domain

/// Which events of the log somebody wants to see.
public struct EventFilter: Sendable {
    /// Kinds such as `order.refunded`, or `order` for all that are about orders; nil for every kind.
    public var kinds: Kinds?
    /// The events recorded then or later.
    public var since: Timestamp?
    /// The events recorded before.
    public var until: Timestamp?
    /// Those of commands that this actor gave.
    public var actor: Text?

    /// A filter.
    public init(kinds: Kinds? = nil, since: Timestamp? = nil, until: Timestamp? = nil, actor: Text? = nil) {
        self.kinds = kinds
        self.since = since
        self.until = until
        self.actor = actor
    }

    /// Whether it lets every event through.
    public var isEmpty: Bool { kinds == nil && since == nil && until == nil && actor == nil }

    /// Whether an event is one of those wanted.
    public func matches(_ event: RecordedEvent) -> Bool {
        guard since.map({ event.recordedAt >= $0 }) ?? true, until.map({ event.recordedAt < $0 }) ?? true,
            kinds?.contain(event.kind.name) ?? true
        else { return false }
        guard let actor else { return true }
        return (try? EventMetadata(decoding: event.metadata))?.actor == actor
    }

    /// Kinds of events.
    public struct Kinds: Equatable, Sendable {
        /// What these kinds look like, for messages.
        public static let form = "a list of kinds such as order.placed,order.refunded, or order for all of orders"

        private let words: Set<String>

        /// The kinds in a text, with commas between them; nil where it has anything else.
        public init?(_ text: String) {
            let words = text.split(separator: ",", omittingEmptySubsequences: false)
            guard words.allSatisfy(Kinds.isKind) else { return nil }
            self.words = Set(words.map(String.init))
        }

        private static func isKind(_ word: Substring) -> Bool {
            let parts = word.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count <= 2
                && parts.allSatisfy { part in
                    !part.isEmpty && part.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 }
                }
        }

        fileprivate func contain(_ kind: String) -> Bool {
            words.contains(kind) || words.contains(String(kind.prefix { $0 != "." }))
        }
    }
}

/// The events that a filter lets through, and how far was looked for them.
public struct FilteredEvents: Sendable {
    /// The most events that are looked at in one go.
    public static let patience = 10_000
    /// About the most bytes of payloads and metadata that are found in one go.
    public static let maximumBytes = 8 << 20

    /// The events, in order.
    public internal(set) var events: [RecordedEvent] = []
    /// The number of the last event that was looked at.
    public internal(set) var end: Int64
    /// Whether there is nothing behind it yet.
    public internal(set) var isAtEnd = false
}

extension EventLog {
    /// Looks through the log for the events that a filter lets through, until there are `limit` of them, or it has
    /// looked at as much as one may in one go.
    ///
    /// - Parameters:
    ///   - number: where to begin: behind this position, or version of a stream.
    ///   - numbered: that number of an event.
    ///   - read: reads the events behind a number, at most so many.
    public func find(
        _ filter: EventFilter, after number: Int64, limit: Int, numbered: (RecordedEvent) -> Int64,
        _ read: (Int64, Int) async throws(EventLogError) -> [RecordedEvent]
    ) async throws(EventLogError) -> FilteredEvents {
        var found = FilteredEvents(end: number)
        var (looked, bytes) = (0, 0)
        while looked < FilteredEvents.patience {
            let events = try await read(found.end, min(1_000, FilteredEvents.patience - looked))
            guard !events.isEmpty else {
                found.isAtEnd = true
                break
            }
            looked += events.count
            for event in events {
                found.end = numbered(event)
                guard filter.matches(event) else { continue }
                found.events.append(event)
                bytes += event.payload.count + event.metadata.count
                if found.events.count == limit || bytes >= FilteredEvents.maximumBytes { return found }
            }
        }
        return found
    }
}
