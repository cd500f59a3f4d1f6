internal import Domain
internal import EventLog

/// A topic's document at a moment.
struct TopicDocument {
    /// The document of what is not there.
    static let null = Array("null".utf8)

    /// Its revision, as messages name it; 0 where there is nothing.
    var revision: Int64
    /// The document, as JSON text.
    var json: [UInt8]
    /// What has to change before it can be another one.
    var sources: [TopicSource]
}

/// What topics' documents are made of.
enum TopicSource: Hashable {
    /// One stream.
    case stream(StreamName)
    /// Every stream of a kind.
    case every(StreamName.Category)
    /// The answer to a saved question.
    case savedQuestion(Identifier)
}
