internal import Foundation

/// What a log's signer and witnesses sign: how many batches a partition has, and the root over them. C2SP calls a note
/// with this text a checkpoint (c2sp.org/tlog-checkpoint).
public struct SignedHead: Equatable, Sendable {
    /// Which partition of which log: `<name of the log>/<partition>`.
    public var origin: String
    /// How many batches it has.
    public var size: Int64
    /// The root over them.
    public var root: Digest

    /// The end of a partition's tree.
    public init(of head: TreeHead, in log: String) {
        origin = SignedHead.origin(of: head.partition, in: log)
        size = head.size
        root = head.root
    }

    /// What a text says; nil if it is none. Lines behind the third are passed over.
    public init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 4, lines.last == "", !lines.dropLast().contains(""), let size = Int64(lines[1]), size >= 0,
            "\(size)" == lines[1], let root = Digest(base64: String(lines[2]))
        else { return nil }
        origin = String(lines[0])
        self.size = size
        self.root = root
    }

    /// The text that is signed.
    public var text: String { "\(origin)\n\(size)\n\(Data(root.bytes).base64EncodedString())\n" }

    /// The first line for a partition of a log.
    public static func origin(of partition: Int, in log: String) -> String { "\(log)/\(partition)" }

    /// Whether a first line is that of some partition of a log.
    public static func isOrigin(_ origin: String, ofLog log: String) -> Bool {
        guard origin.hasPrefix("\(log)/"), let partition = Int(origin.dropFirst(log.count + 1)) else { return false }
        return partition >= 0 && origin == self.origin(of: partition, in: log)
    }
}

extension Digest {
    /// The digest of a text in base64; nil for any other text.
    public init?(base64 text: String) {
        guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else { return nil }
        self.init(Array(data))
    }
}

/// A signed head as it is published.
public struct PublishedHead: Equatable, Sendable {
    /// The note, with its signatures.
    public var note: String
    /// Where the last of its batches ends.
    public var position: Int64

    /// A note.
    public init(note: String, position: Int64) {
        self.note = note
        self.position = position
    }
}
