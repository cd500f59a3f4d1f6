// What an auditor does with the log, and without it: anchors, which are heads kept elsewhere, and the check of a
// receipt. This code reads, and never decides or appends.

public import Domain
public import EventLog
internal import Projections
public import TextFormats

/// Where a partition ended at some time, kept out of reach of anybody who can change the log.
public struct Anchor: Equatable, Sendable {
    /// The partition.
    public var partition: Int
    /// The position of its last event; 0 if there was none.
    public var position: Int64
    /// The chain over every batch up to there.
    public var digest: Digest
    /// The tree over these batches; nil in anchors from before there were trees.
    public var tree: Tree?
    /// When it was taken.
    public var time: Timestamp

    /// A tree.
    public struct Tree: Equatable, Sendable {
        /// How many batches it has.
        public var size: Int64
        /// The root over them.
        public var root: Digest

        /// A tree.
        public init(size: Int64, root: Digest) {
            self.size = size
            self.root = root
        }
    }

    /// An anchor.
    public init(partition: Int, position: Int64, digest: Digest, tree: Tree? = nil, time: Timestamp) {
        self.partition = partition
        self.position = position
        self.digest = digest
        self.tree = tree
        self.time = time
    }

    /// An anchor of a head.
    public init(_ head: LogHead, at time: Timestamp) {
        self.init(partition: head.partition, position: head.position, digest: head.digest, time: time)
    }

    /// An anchor of a head with its tree.
    public init(_ head: TreeHead, at time: Timestamp) {
        self.init(
            partition: head.partition, position: head.position, digest: head.digest,
            tree: Tree(size: head.size, root: head.root), time: time)
    }

    // MARK: JSON

    /// The anchor as a line of an anchor file, without its end.
    public var json: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        writer.field("partition", partition)
        writer.field("position", position)
        writer.field("digest", digest.description)
        if let tree {
            writer.field("size", tree.size)
            writer.field("root", tree.root.description)
        }
        writer.field("time", time.rfc3339)
        writer.endObject()
        return writer.bytes
    }

    /// The anchor in a line, which must have every field once and no other; those of the tree may be missing.
    public init(json line: [UInt8]) throws(JSONReadingError) {
        let names = try JSONReader.read(line) { reader throws(JSONReadingError) in
            var hasTree = false
            try reader.beginObject()
            while let key = try reader.nextKey() {
                if key == "root" { hasTree = true }
                _ = try reader.rawValue()
            }
            return ["partition", "position", "digest", "time"] + (hasTree ? ["size", "root"] : [])
        }
        self = try JSONReader.read(line) { reader throws(JSONReadingError) in
            var anchor = Anchor(
                partition: 0, position: 0, digest: .zero, time: Timestamp(millisecondsSinceEpoch: 0))
            var tree = Tree(size: 0, root: .zero)
            try reader.members(names) { (reader, key) throws(JSONReadingError) in
                switch key {
                case "partition":
                    anchor.partition = Int(try reader.integer(in: 0...Int64(Receipt.maximumPartitions) - 1))
                case "position": anchor.position = try reader.integer(in: 0...Int64.max)
                case "digest": anchor.digest = try reader.digest()
                case "size": tree.size = try reader.integer(in: 0...Int64.max)
                case "root": tree.root = try reader.digest()
                default:
                    guard let time = Timestamp(rfc3339: try reader.string()) else {
                        throw reader.failure("a time such as 2026-03-01T12:00:00Z")
                    }
                    anchor.time = time
                }
            }
            if names.count > 4 { anchor.tree = tree }
            return anchor
        }
    }
}

extension Anchor: CustomStringConvertible {
    /// The anchor as people read it.
    public var description: String {
        "the anchor of \(time.rfc3339) at position \(position) of partition \(partition)"
    }
}
