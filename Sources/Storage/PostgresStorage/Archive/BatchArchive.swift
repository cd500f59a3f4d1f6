internal import Domain
internal import EventLog
internal import Foundation
internal import TextFormats

/// Reads the events of archived batches in the folder of a backup. What it gives is what the batch's digest covers,
/// whatever has become of the files.
actor BatchArchive {
    /// How many files are kept open.
    private static let filesKept = 4

    private let folder: BackupFolder
    /// The first position of each file of a partition, in order.
    private var firsts: [Int: [Int64]] = [:]
    /// The last one used is the last.
    private var files: [(name: String, file: BatchFile)] = []

    /// The last one that was read: events of a batch are often asked for one after the other.
    private var last: (batch: Commit, lines: [UInt8])?

    init(_ path: String) { folder = BackupFolder(at: path) }

    /// The events of each of these batches, as ``EventLines`` has them.
    func lines(of batches: [Commit]) throws(BackupError) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for batch in batches { found.append(try lines(of: batch)) }
        return found
    }

    private func lines(of batch: Commit) throws(BackupError) -> [UInt8] {
        if let last, last.batch == batch { return last.lines }
        var found = try row(of: batch)
        if found == nil {
            // Another backup may have added files.
            firsts[batch.partition] = nil
            found = try row(of: batch)
        }
        guard let (row, file) = found, let lines = BatchArchive.events(row) else {
            throw BackupError("\(folder.path) lacks \(BatchArchive.name(batch))")
        }
        guard BatchArchive.isContent(lines, of: batch) else {
            throw BackupError("\(file): \(BatchArchive.name(batch)) is not what the log has a digest of")
        }
        last = (batch, lines)
        return lines
    }

    private func row(of batch: Commit) throws(BackupError) -> (row: [UInt8], file: String)? {
        guard let name = file(with: batch), let row = try opened(name).row(beginningAt: batch.firstPosition) else {
            return nil
        }
        return (row, "\(folder.path)/\(name)")
    }

    private static func name(_ batch: Commit) -> String {
        "batch \(batch.firstPosition)–\(batch.lastPosition) of partition \(batch.partition)"
    }

    /// The events in a row of a file; nil if it has none.
    private static func events(_ row: [UInt8]) -> [UInt8]? {
        let text = try? row.withUnsafeBytes { bytes in
            try JSONReader.read(bytes) { reader throws(JSONReadingError) in
                var text: String?
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    switch key {
                    case "events": if !reader.takeNull() { text = try reader.string() }
                    default: _ = try reader.rawValue()
                    }
                }
                return text
            }
        }
        return text.map { Array($0.utf8) }
    }

    private static func isContent(_ lines: [UInt8], of batch: Commit) -> Bool {
        // The positions of a damaged batch may be any numbers.
        let (distance, isBeyond) = batch.lastPosition.subtractingReportingOverflow(batch.firstPosition)
        guard !isBeyond, (0..<Int64(EventBatch.maximumEvents)).contains(distance) else { return false }
        var leaves: [Digest] = []
        var maker = LeafMaker()
        lines.withUnsafeBytes { lines in
            EventLines.forEach(
                in: lines, distance + 1, partition: batch.partition, firstPosition: batch.firstPosition,
                recordedAt: batch.recordedAt
            ) { leaves.append(maker.leaf(of: $0)) }
        }
        return MerkleTree.root(leaves) == batch.contentDigest
    }

    // MARK: Files

    /// The file that has the batch if any has it: the last one that begins at its position or before.
    private func file(with batch: Commit) -> String? {
        let known = firsts[batch.partition] ?? folder.firstPositions(of: batch.partition)
        firsts[batch.partition] = known
        return known.last { $0 <= batch.firstPosition }.map {
            BackupFolder.nameOfBatches(of: batch.partition, from: $0)
        }
    }

    private func opened(_ name: String) throws(BackupError) -> BatchFile {
        if let index = files.firstIndex(where: { $0.name == name }) {
            files.append(files.remove(at: index))
        } else {
            files.append((name, try BatchFile("\(folder.path)/\(name)")))
            if files.count > BatchArchive.filesKept { files.removeFirst() }
        }
        return files[files.count - 1].file
    }
}

/// A file with the rows of batches, in the order of positions: a JSON object a line, which names its partition and its first
/// position before anything else.
private final class BatchFile {
    /// More than any backup writes into a file.
    private static let longest = 1 << 28
    /// Fewer than the digests in a row have.
    private static let shortestRow = 128

    private let path: String
    private let file: Int32
    /// Where each row begins, and where the last one ends.
    private var offsets = [0]
    /// The row behind the last one that was found: mostly the next that is asked for.
    private var next = 0

    init(_ path: String) throws(BackupError) {
        self.path = path
        file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw BackupError(path, errno) }
        var at = 0
        while true {
            let bytes = try read(1 << 20, at: at)
            if bytes.isEmpty { break }
            var rest = bytes[...]
            while let index = rest.firstIndex(of: UInt8(ascii: "\n")) {
                rest = rest[(index + 1)...]
                let end = at + index + 1
                guard end - offsets[offsets.count - 1] >= BatchFile.shortestRow else { throw notBatches }
                offsets.append(end)
            }
            at += bytes.count
            guard at <= BatchFile.longest else { throw notBatches }
        }
    }

    deinit { close(file) }

    /// The row of the batch that begins at a position; nil if there is none.
    func row(beginningAt position: Int64) throws(BackupError) -> [UInt8]? {
        var (low, middle, high) = (0, next, offsets.count - 1)
        while low < high {
            if middle >= high { middle = (low + high) / 2 }
            let first = try firstPosition(ofRow: middle)
            if first == position {
                next = middle + 1
                return try read(offsets[next] - offsets[middle], at: offsets[middle])
            }
            if first < position { low = middle + 1 } else { high = middle }
            middle = (low + high) / 2
        }
        return nil
    }

    private func firstPosition(ofRow row: Int) throws(BackupError) -> Int64 {
        let beginning = try read(BatchFile.shortestRow, at: offsets[row])
        do {
            return try beginning.withUnsafeBytes { bytes in
                var reader = JSONReader(bytes)
                try reader.beginObject()
                _ = try reader.nextKey()
                _ = try reader.integer()
                guard case "first_position"? = try reader.nextKey() else { throw notBatches }
                return try reader.integer()
            }
        } catch {
            throw notBatches
        }
    }

    /// As many bytes as there are, up to a number of them.
    private func read(_ count: Int, at offset: Int) throws(BackupError) -> [UInt8] {
        var got = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { room, initialized in
            while initialized < count {
                got = pread(file, room.baseAddress! + initialized, count - initialized, off_t(offset + initialized))
                if got < 0, errno == EINTR { continue }
                if got <= 0 { break }
                initialized += got
            }
        }
        guard got >= 0 else { throw BackupError(path, errno) }
        return bytes
    }

    private var notBatches: BackupError { BackupError("\(path) is not a file of batches") }
}
