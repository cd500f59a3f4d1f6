internal import TextFormats

/// An event as `LOG.READ` gives it.
struct RelayedEvent {
    /// The document, which is posted as it is.
    let document: [UInt8]
    let position: Int64
    let stream: String
    let kind: String
    /// RFC 3339.
    let recordedAt: String
    /// Where its command belongs in a trace; nil where that is not known.
    let trace: TraceParent?
    /// Which event it is, in words that another event does not share: a cursor has them to notice another log.
    let mark: String

    init(_ document: [UInt8]) throws(RelayError) {
        guard let value = try? JSONValue(document), case .number(let position)? = value["position"],
            let position = Int64(position), case .string(let stream)? = value["stream"],
            case .number(let version)? = value["version"], case .string(let kind)? = value["kind"],
            case .string(let recordedAt)? = value["recordedAt"]
        else { throw RelayError("LOG.READ was answered with what is no event") }
        self.document = document
        self.position = position
        self.stream = stream
        self.kind = kind
        self.recordedAt = recordedAt
        trace = if case .string(let trace)? = value["metadata"]?["trace"] { TraceParent(trace) } else { nil }
        mark = "\(stream)@\(version) \(kind) \(recordedAt)"
    }

    /// Whether it is of one of these kinds: `order.placed`, or `order` for all that begin with `order.`. Without any,
    /// every event is.
    func isOf(_ kinds: [String]) -> Bool {
        kinds.isEmpty || kinds.contains { kind == $0 || kind.hasPrefix($0 + ".") }
    }
}

/// Why a relay cannot go on.
package struct RelayError: Error, CustomStringConvertible {
    /// The reason, for an operator.
    package let description: String

    init(_ description: String) { self.description = description }
}
