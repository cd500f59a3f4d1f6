public import Domain
public import TextFormats

/// What is recorded with an event: which command it came from.
///
/// Most commands say nothing of this, and what the others say is one reference: metadata is copied from layer to layer.
public struct EventMetadata: Equatable, Sendable {
    private var box = Box.none

    private indirect enum Box: Equatable, Sendable {
        case none
        case some(Said)
    }

    private struct Said: Equatable, Sendable {
        var commandID: Text?
        var fingerprint: Text?
        var flow: Text?
        var trace: TraceParent?
        var actor: Text?
        var claim = Claim.actor
        var cause: Text?
    }

    private var said: Said {
        get { if case .some(let said) = box { said } else { Said() } }
        set { box = newValue == Said() ? .none : .some(newValue) }
    }

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
        said = Said(
            commandID: commandID, fingerprint: fingerprint, flow: flow, trace: trace, actor: actor, claim: claim,
            cause: cause)
    }

    /// Metadata of what the server does by itself, because of an event.
    public static func byItself(because stream: StreamName, version: Int64) -> EventMetadata {
        EventMetadata(commandID: nil, fingerprint: nil, actor: "tiffin", cause: "\(stream)@\(version)")
    }

    /// The id that the client gave to the command, if any.
    public var commandID: Text? {
        get { if case .some(let said) = box { said.commandID } else { nil } }
        set { said.commandID = newValue }
    }

    /// A fingerprint of the command's arguments, in hexadecimal; there when ``commandID`` is.
    public var fingerprint: Text? {
        get { said.fingerprint }
        set { said.fingerprint = newValue }
    }

    /// What the command belongs to, by an id that all commands of one thing share, whichever client sent them.
    public var flow: Text? {
        get { said.flow }
        set { said.flow = newValue }
    }

    /// Where the command belongs in a trace, as its client says.
    public var trace: TraceParent? {
        get { said.trace }
        set { said.trace = newValue }
    }

    /// Who gave the command: the user who had logged in, or, where no login was required, what the client says.
    public var actor: Text? {
        get { said.actor }
        set { said.actor = newValue }
    }

    /// What the client says about who gave the command, besides the login.
    public var claim: Claim {
        get { said.claim }
        set { said.claim = newValue }
    }

    /// What the server did it for by itself: a stream and the version of an event, such as `order-x@3`.
    public var cause: Text? {
        get { said.cause }
        set { said.cause = newValue }
    }

    /// The metadata as JSON text; `{}` for none.
    public func encoded() -> [UInt8] {
        guard case .some(let said) = box else { return EventMetadata.encodedNone }
        var writer = JSONWriter(reservingCapacity: 64)
        writer.beginObject()
        if let commandID = said.commandID { writer.field("id", commandID.string) }
        if let fingerprint = said.fingerprint { writer.field("args", fingerprint.string) }
        if let flow = said.flow { writer.field("flow", flow.string) }
        if let trace = said.trace { writer.field("trace", trace.description) }
        if let actor = said.actor { writer.field("actor", actor.string) }
        if case .besides(let claim) = said.claim { writer.field("claim", claim?.string) }
        if let cause = said.cause { writer.field("cause", cause.string) }
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
