public import Domain
public import TextFormats

/// What is recorded with an event: which command it came from.
public struct EventMetadata: Equatable, Sendable {
    /// The id that the client gave to the command, if any.
    public var commandID: Text?
    /// A fingerprint of the command's arguments, in hexadecimal; there when ``commandID`` is.
    public var fingerprint: Text?
    /// Who gave the command: the user who had logged in, or, where no login was required, what the client says.
    public var actor: Text?
    /// What the client says about who gave the command, besides the login.
    public var claim = Claim.actor
    private var context: Context?

    /// What a client says of itself.
    public enum Claim: Equatable, Sendable {
        /// No login was required: if there is an ``EventMetadata/actor``, it is what the client says.
        case actor
        /// The actor had logged in, and the client says this, or nothing.
        case besides(Text?)
    }

    /// Nothing known.
    public static let none = EventMetadata(commandID: nil, fingerprint: nil)

    /// Metadata of an event of that command.
    public init(
        commandID: Text?, fingerprint: Text?, flow: Text? = nil, trace: TraceParent? = nil, actor: Text? = nil,
        claim: Claim = .actor, cause: Text? = nil
    ) {
        self.commandID = commandID
        self.fingerprint = fingerprint
        self.actor = actor
        self.claim = claim
        context = Context(flow, trace, cause)
    }

    /// Metadata of what the server does by itself, because of an event.
    public static func byItself(because stream: StreamName, version: Int64) -> EventMetadata {
        EventMetadata(commandID: nil, fingerprint: nil, actor: "tiffin", cause: "\(stream)@\(version)")
    }

    /// What the command belongs to, by an id that all commands of one thing share, whichever client sent them.
    public var flow: Text? {
        get { context?.flow }
        set { context = Context(newValue, trace, cause) }
    }

    /// Where the command belongs in a trace, as its client says.
    public var trace: TraceParent? {
        get { context?.trace }
        set { context = Context(flow, newValue, cause) }
    }

    /// What the server did it for by itself: a stream and the version of an event, such as `order-x@3`.
    public var cause: Text? {
        get { context?.cause }
        set { context = Context(flow, trace, newValue) }
    }

    /// What few commands have. Copies of the metadata share it, as they pass from layer to layer.
    private final class Context: Equatable, Sendable {
        let flow: Text?
        let trace: TraceParent?
        let cause: Text?

        /// Nil where there is nothing.
        init?(_ flow: Text?, _ trace: TraceParent?, _ cause: Text?) {
            guard flow != nil || trace != nil || cause != nil else { return nil }
            (self.flow, self.trace, self.cause) = (flow, trace, cause)
        }

        static func == (a: Context, b: Context) -> Bool {
            a.flow == b.flow && a.trace == b.trace && a.cause == b.cause
        }
    }

    /// The metadata as JSON text; `{}` for none.
    public func encoded() -> [UInt8] {
        guard self != .none else { return EventMetadata.encodedNone }
        var writer = JSONWriter(reservingCapacity: 64)
        writer.beginObject()
        if let commandID { writer.field("id", commandID.string) }
        if let fingerprint { writer.field("args", fingerprint.string) }
        if let flow { writer.field("flow", flow.string) }
        if let trace { writer.field("trace", trace.description) }
        if let actor { writer.field("actor", actor.string) }
        if case .besides(let claim) = claim { writer.field("claim", claim?.string) }
        if let cause { writer.field("cause", cause.string) }
        writer.endObject()
        return writer.bytes
    }

    /// Metadata from JSON text; unknown keys are ignored.
    public init(decoding text: [UInt8]) throws(JSONReadingError) {
        self = try text.withUnsafeBufferPointer { text throws(JSONReadingError) in
            try EventMetadata(decoding: UnsafeRawBufferPointer(text))
        }
    }

    /// Metadata from JSON text; unknown keys are ignored.
    public init(decoding text: UnsafeRawBufferPointer) throws(JSONReadingError) {
        self = .none
        if text.isText("{}") { return }
        self = try JSONReader.read(text) { reader throws(JSONReadingError) in
            var metadata = EventMetadata.none
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "id": metadata.commandID = try reader.text()
                case "args": metadata.fingerprint = try reader.text()
                case "flow": metadata.flow = try reader.text()
                case "trace": metadata.trace = TraceParent(try reader.text().string)
                case "actor": metadata.actor = try reader.text()
                case "claim": metadata.claim = .besides(try reader.optionalText())
                case "cause": metadata.cause = try reader.text()
                default: _ = try reader.rawValue()
                }
            }
            return metadata
        }
    }

    /// The bytes of metadata as an array; the same array for all that equal ``none``, as most do.
    public static func shared(_ text: UnsafeRawBufferPointer) -> [UInt8] {
        text.isText("{}") ? encodedNone : Array(text)
    }

    private static let encodedNone = Array("{}".utf8)
}

extension EventMetadata {
    /// The schema of ``encoded()``.
    public static let schema = JSONSchema.object([
        .optional("id", .string, "the ID of the command"),
        .optional("args", .string, "a fingerprint of its arguments, in hexadecimal"),
        .optional("flow", .string, "what commands of one thing share"),
        .optional("trace", .string, "where it belongs in a trace: a traceparent of W3C Trace Context"),
        .optional("actor", .string, "who gave it"),
        .optional("claim", .string.orNull, "what the client says besides, where the actor had logged in"),
        .optional("cause", .string, "what the server did it for: a stream and a version, order-x@3"),
    ]).named("EventMetadata")
}
