internal import Catalogue
internal import Domain
internal import EventLog
internal import TextFormats

/// A topic's document at a moment.
struct TopicDocument: Sendable {
    /// The document of something that does not exist.
    static let null = Array("null".utf8)

    /// Its revision, as messages name it; 0 where there is nothing.
    var revision: Int64
    /// The document, as JSON text.
    var json: [UInt8]
    /// Where it has its rows, if that is known.
    var rows: KnownArray?
    /// What it depends on besides the sources of its kind: it stays the same until one of all these changes.
    var sources: [TopicSource] = []
}

extension TopicDocument {
    /// The answer to a saved query.
    init(_ answer: SavedAnswer?) {
        self.init(revision: answer?.revision ?? 0, json: answer?.bytes ?? TopicDocument.null, rows: answer?.rows)
    }
}

/// What topics' documents depend on.
enum TopicSource: Hashable, Sendable {
    /// One stream.
    case stream(StreamName)
    /// Every stream of a category.
    case every(StreamName.Category)
    /// What an outlet's kitchen sees.
    case kitchen(Identifier)
    /// The answer to a saved query.
    case savedQuery(SavedName)
}
