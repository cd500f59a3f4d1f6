public import TextFormats

/// What an event of a kind says, and what follows from it. Each is declared beside the codec of its kind, and
/// docs/events.md is written from all of them.
public struct EventSchema: Sendable {
    /// The kind.
    public let kind: String
    /// What follows from it, in a sentence.
    public let meaning: String
    /// What it has, in every version that is written now.
    public let payload: JSONSchema

    init(_ kind: String, _ meaning: String, _ members: [JSONSchema.Member]...) {
        self.kind = kind
        self.meaning = meaning
        payload = .object(Array(members.joined()))
    }

    /// An event of this kind, as `LOG.READ` and relays show it.
    public var event: JSONSchema {
        LogDocument.schema(kind: .words([kind]), payload: payload).saying(meaning)
    }

    /// Every kind.
    public static let all: [EventSchema] =
        OutletEventCodec.schemas + MenuEventCodec.schemas + PromotionCodec.schemas + SupplyEventCodec.schemas
        + CartEventCodec.schemas + OrderEventCodec.schemas + DeedCodec.schemas

    /// The versions that events of this kind are written with, in ascending order: the first where they say nothing that
    /// came later.
    public var versions: [Int] { Set(schema.versions).sorted() }

    /// What the versions have that others do not; nil where there is one.
    public var history: String? { schema.history }

    private var schema: Upcaster.Schema {
        var kind = kind
        return kind.withUTF8 { Upcaster.schema(of: EventName(UnsafeRawBufferPointer($0))) }
    }
}

extension JSONSchema {
    /// A time in an event.
    static let moment = integer.counted(in: "milliseconds since 1970-01-01T00:00:00Z")
    /// A part of something.
    public static let rate = integer.counted(in: "thousandths of a percent")
    /// A text that only the key of its customer opens.
    static let sealed = string.saying("sealed with the customer's key")
    /// Minutes of a day, after midnight.
    static let minutes = integer.counted(in: "minutes after midnight")
}
