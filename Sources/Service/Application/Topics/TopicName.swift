internal import Catalogue
internal import Domain
package import TextFormats
package import Users

/// The name of a topic, `home:copper-ladle`.
package struct TopicName {
    /// What clients call it.
    package let channel: String
    let kind: TopicKind
    let id: Identifier

    /// Reads a channel.
    package init(_ argument: Argument) throws(Failure) {
        let bytes = argument.bytes
        let shown = "channel '\(String(decoding: bytes.prefix(128), as: UTF8.self))'"
        let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        guard colon < bytes.endIndex,
            let kind = TopicKind.all.first(where: { $0.prefix.utf8.elementsEqual(bytes[..<colon]) })
        else {
            let known = TopicKind.all.map { "\($0.prefix):<id>" }
            throw .invalid(shown, "must be \(known.joined(separator: " or "))")
        }
        let rest = Argument(UnsafeRawBufferPointer(rebasing: bytes[(colon + 1)...]))
        self.kind = kind
        id = try ArgumentType<Identifier>.identifier.read(rest, "\(shown): \(kind.member)")
        channel = "\(kind.prefix):\(id)"
    }

    /// The topic of a question.
    init(question id: Identifier) {
        kind = .question
        self.id = id
        channel = "\(kind.prefix):\(id)"
    }

    /// The connection that it belongs to, if a client on this one names it; 0 where it is the same for all.
    func connection(from client: Int64) -> Int64 {
        kind.isOfConnection ? SavedName(id, of: client).client ?? 0 : 0
    }

    /// Whether a user who is confined may listen to it.
    package func isWithin(_ confinement: Confinement) -> Bool { confinement.allows(id, as: kind.subject) }
}
