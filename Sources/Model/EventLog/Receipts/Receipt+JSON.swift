internal import Domain
internal import Foundation
public import TextFormats

extension Receipt {
    // MARK: Writing

    /// The receipt as JSON text, in one line. The number of its form says by which rule the log has its partitions, and
    /// whether it has links, the tree over the partition, or a signed head, too.
    public var json: [UInt8] {
        var writer = JSONWriter(
            reservingCapacity: 2_048 + event.payload.count + event.metadata.count + 67 * (head?.links.count ?? 0))
        writer.beginObject()
        writer.field(
            "receipt", (tree == nil ? 0 : signedHead == nil ? 2 : 4) + (partitioning.rule == .sha256 ? 1 : 2))
        writer.field("partitions", partitioning.count)
        writer.key("event")
        writeEvent(to: &writer)
        writer.key("batch")
        writeBatch(to: &writer)
        if let tree {
            writer.key("tree")
            write(tree, to: &writer)
            if let signedHead { writer.field("signedHead", signedHead.description) }
        } else {
            writer.key("head")
            writeHead(to: &writer)
        }
        writer.endObject()
        return writer.bytes
    }

    private func writeEvent(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("partition", event.partition)
        writer.field("position", event.position)
        writer.field("stream", event.stream)
        writer.field("version", event.version)
        writer.field("kind", event.kind.name)
        writer.field("schemaVersion", event.kind.schemaVersion)
        writer.field("payload", String(decoding: event.payload, as: UTF8.self))
        writer.field("metadata", String(decoding: event.metadata, as: UTF8.self))
        writer.field("recordedAtMilliseconds", event.recordedAt.millisecondsSinceEpoch)
        writer.endObject()
    }

    private func writeBatch(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("firstPosition", batch.firstPosition)
        writer.field("lastPosition", batch.lastPosition)
        writer.field("index", batch.index)
        writer.field("size", batch.size)
        guard tree == nil else {
            // What follows from the event is left out.
            writer.field("path", batch.path.base64)
            writer.field("previousChainDigest", batch.previousChainDigest.description)
            return writer.endObject()
        }
        writer.field("path", batch.path.lazy.map(\.description))
        writer.field("contentDigest", batch.contentDigest.description)
        writer.field("previousChainDigest", batch.previousChainDigest.description)
        writer.field("chainDigest", batch.chainDigest.description)
        writer.endObject()
    }

    private func write(_ tree: Tree, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("index", tree.index)
        writer.field("size", tree.size)
        writer.field("root", tree.root.description)
        writer.field("path", tree.path.base64)
        writer.endObject()
    }

    private func writeHead(to writer: inout JSONWriter) {
        guard let head else { return writer.null() }
        writer.beginObject()
        writer.field("position", head.position)
        writer.field("digest", head.digest.description)
        writer.field("links", head.links.lazy.map(\.description))
        writer.endObject()
    }

    // MARK: Reading

    /// The receipt that a JSON text holds: every field, each once and within its bounds, and no other.
    public init(json text: [UInt8]) throws(JSONReadingError) {
        let form = try Receipt.form(of: text)
        self = try JSONReader.read(text) { reader throws(JSONReadingError) in
            var partitions = 1
            var event: RecordedEvent?
            var batch: Batch?
            var head: Head?
            var tree: Tree?
            var signedHead: SignedNote?
            let end = form > 4 ? ["tree", "signedHead"] : form > 2 ? ["tree"] : ["head"]
            try reader.members(["receipt", "partitions", "event", "batch"] + end) {
                (reader, key) throws(JSONReadingError) in
                switch key {
                case "receipt": _ = try reader.integer(in: 1...6)
                case "partitions": partitions = Int(try reader.integer(in: 1...Int64(Receipt.maximumPartitions)))
                case "event": event = try RecordedEvent(ofReceipt: &reader)
                case "batch": batch = form > 2 ? try Batch(besideTree: &reader) : try Batch(from: &reader)
                case "tree": tree = try Tree(from: &reader)
                case "signedHead":
                    signedHead = SignedNote(try reader.string())
                    guard signedHead != nil else { throw reader.failure("a signed note") }
                default: head = reader.takeNull() ? nil : try Head(from: &reader)
                }
            }
            guard let event, var batch else { throw reader.failure("a receipt") }
            if tree != nil {
                // If no content follows from the event, the path is found to be wrong.
                let leaf = MerkleTree.leaf(event.canonicalBytes)
                batch.contentDigest =
                    MerkleTree.root(from: leaf, at: batch.index, of: batch.size, path: batch.path) ?? .zero
                batch.chainDigest = batch.previousChainDigest.chained(to: batch.contentDigest)
            }
            var receipt = Receipt(
                partitioning: Partitioning(count: partitions, by: form % 2 == 1 ? .sha256 : .slots), event: event,
                batch: batch, head: head, tree: tree)
            receipt.signedHead = signedHead
            return receipt
        }
    }

    /// The number of a receipt's form, which says what fields it has.
    private static func form(of text: [UInt8]) throws(JSONReadingError) -> Int64 {
        try JSONReader.read(text) { reader throws(JSONReadingError) in
            var form: Int64?
            try reader.beginObject()
            while let key = try reader.nextKey() {
                if key == "receipt" { form = try reader.integer(in: 1...6) } else { _ = try reader.rawValue() }
            }
            guard let form else { throw reader.failure("'receipt'") }
            return form
        }
    }
}

extension RecordedEvent {
    fileprivate init(ofReceipt reader: inout JSONReader) throws(JSONReadingError) {
        self.init(
            partition: 0, position: 0, stream: "", version: 0, kind: EventKind(name: "", schemaVersion: 1), payload: [],
            metadata: [], recordedAt: Timestamp(millisecondsSinceEpoch: 0))
        try reader.members([
            "partition", "position", "stream", "version", "kind", "schemaVersion", "payload", "metadata",
            "recordedAtMilliseconds",
        ]) { (reader, key) throws(JSONReadingError) in
            switch key {
            case "partition": partition = Int(try reader.integer(in: 0...Int64(Receipt.maximumPartitions) - 1))
            case "position": position = try reader.integer(in: 1...Int64.max)
            case "stream": stream = try reader.string()
            case "version": version = try reader.integer(in: 1...Int64.max)
            case "kind": kind.name = try reader.string()
            case "schemaVersion": kind.schemaVersion = Int(try reader.integer(in: 1...Int64(Int32.max)))
            case "payload": payload = Array(try reader.string().utf8)
            case "metadata": metadata = Array(try reader.string().utf8)
            default: recordedAt = Timestamp(millisecondsSinceEpoch: try reader.integer())
            }
        }
    }
}

extension Receipt.Batch {
    fileprivate init(from reader: inout JSONReader) throws(JSONReadingError) {
        self.init(
            firstPosition: 0, lastPosition: 0, index: 0, size: 0, path: [], contentDigest: .zero,
            previousChainDigest: .zero, chainDigest: .zero)
        try reader.members([
            "firstPosition", "lastPosition", "index", "size", "path", "contentDigest", "previousChainDigest",
            "chainDigest",
        ]) { (reader, key) throws(JSONReadingError) in
            switch key {
            case "firstPosition": firstPosition = try reader.integer(in: 1...Int64.max)
            case "lastPosition": lastPosition = try reader.integer(in: 1...Int64.max)
            case "index": index = Int(try reader.integer(in: 0...Int64.max))
            case "size": size = Int(try reader.integer(in: 1...Int64.max))
            case "path": path = try reader.digests()
            case "contentDigest": contentDigest = try reader.digest()
            case "previousChainDigest": previousChainDigest = try reader.digest()
            default: chainDigest = try reader.digest()
            }
        }
    }
}

extension Receipt.Batch {
    fileprivate init(besideTree reader: inout JSONReader) throws(JSONReadingError) {
        self.init(
            firstPosition: 0, lastPosition: 0, index: 0, size: 0, path: [], contentDigest: .zero,
            previousChainDigest: .zero, chainDigest: .zero)
        try reader.members(["firstPosition", "lastPosition", "index", "size", "path", "previousChainDigest"]) {
            (reader, key) throws(JSONReadingError) in
            switch key {
            case "firstPosition": firstPosition = try reader.integer(in: 1...Int64.max)
            case "lastPosition": lastPosition = try reader.integer(in: 1...Int64.max)
            case "index": index = Int(try reader.integer(in: 0...Int64.max))
            case "size": size = Int(try reader.integer(in: 1...Int64.max))
            case "path": path = try reader.base64Digests()
            default: previousChainDigest = try reader.digest()
            }
        }
    }
}

extension Receipt.Tree {
    fileprivate init(from reader: inout JSONReader) throws(JSONReadingError) {
        self.init(index: 0, size: 0, root: .zero, path: [])
        try reader.members(["index", "size", "root", "path"]) { (reader, key) throws(JSONReadingError) in
            switch key {
            case "index": index = try reader.integer(in: 0...Int64.max)
            case "size": size = try reader.integer(in: 1...Int64.max)
            case "root": root = try reader.digest()
            default: path = try reader.base64Digests()
            }
        }
    }
}

extension Receipt.Head {
    fileprivate init(from reader: inout JSONReader) throws(JSONReadingError) {
        self.init(links: [], position: 0, digest: .zero)
        try reader.members(["position", "digest", "links"]) { (reader, key) throws(JSONReadingError) in
            switch key {
            case "position": position = try reader.integer(in: 1...Int64.max)
            case "digest": digest = try reader.digest()
            default: links = try reader.digests()
            }
        }
    }
}

extension JSONReader {
    /// Reads a digest.
    public mutating func digest() throws(JSONReadingError) -> Digest {
        guard let digest = Digest(hexadecimal: try string()) else {
            throw failure("a digest: 64 hexadecimal digits in lower case")
        }
        return digest
    }

    fileprivate mutating func digests() throws(JSONReadingError) -> [Digest] {
        var digests: [Digest] = []
        try beginArray()
        while try nextElement() { digests.append(try digest()) }
        return digests
    }

    /// Reads digests as ``Swift/Collection/base64`` writes them.
    mutating func base64Digests() throws(JSONReadingError) -> [Digest] {
        let text = try string()
        guard let data = Data(base64Encoded: text), data.count % Digest.length == 0,
            data.base64EncodedString() == text
        else { throw failure("digests of 32 bytes each, in base64") }
        let bytes = Array(data)
        return stride(from: 0, to: bytes.count, by: Digest.length).map {
            Digest(bytes[$0..<$0 + Digest.length]) ?? .zero
        }
    }
}

extension Collection<Digest> {
    /// The bytes of all digests, one after the other, in base64.
    var base64: String { Data(flatMap(\.bytes)).base64EncodedString() }
}

extension Receipt {
    private static let eventMembers: [JSONSchema.Member] = [
        .member("partition", .count), .member("position", .count), .member("stream", .string),
        .member("version", .count), .member("kind", .string), .member("schemaVersion", .count),
        .member("payload", .string, "the bytes that were recorded"), .member("metadata", .string, "the same"),
        .member("recordedAtMilliseconds", .integer),
    ]
    private static let batchMembers: [JSONSchema.Member] = [
        .member("firstPosition", .count), .member("lastPosition", .count), .member("index", .count),
        .member("size", .count),
    ]

    private static func schema(_ members: [JSONSchema.Member]) -> JSONSchema {
        .object(
            [
                .member("receipt", .integer, "the number of its form"), .member("partitions", .count),
                .member("event", .object(eventMembers).named("ProvenEvent")),
            ], members)
    }

    /// The schema of ``json``, with the tree over the partition or with links.
    public static let schema = JSONSchema.oneOf([treeSchema, linksSchema])

    /// A receipt with the tree over the partition.
    public static let treeSchema: JSONSchema = schema([
        .member(
            "batch",
            .object(batchMembers, [.member("path", .string, "base64"), .member("previousChainDigest", .string)])
                .named("ProvenBatch")),
        .member(
            "tree",
            .object([
                .member("index", .count), .member("size", .count), .member("root", .string),
                .member("path", .string, "base64"),
            ]).named("TreeProof")),
        .optional("signedHead", .string, "the note over the tree's root, as docs/audit.md has it; in forms 5 and 6"),
    ]).named("Receipt")

    /// A receipt with links to a head.
    public static let linksSchema = schema([
        .member(
            "batch",
            .object(
                batchMembers,
                [
                    .member("path", .list(of: .string)), .member("contentDigest", .string),
                    .member("previousChainDigest", .string), .member("chainDigest", .string),
                ]
            ).named("LinkedBatch")),
        .member(
            "head",
            .object([
                .member("position", .count), .member("digest", .string), .member("links", .list(of: .string)),
            ]).named("LinkedHead").orNull),
    ]).named("LinkReceipt")
}
