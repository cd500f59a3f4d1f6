internal import EventLog
internal import Foundation

/// The folder of a backup: files of rows, each a JSON object a line, and a list of them. What the list does not name is
/// not there.
struct BackupFolder {
    /// Rows of a table.
    struct Piece: Codable, Equatable {
        /// The file's path in the folder.
        var name: String
        /// The table, without its schema.
        var table: String
        /// The partition, of batches.
        var partition: Int?
        /// The position of the first event, of batches.
        var first: Int64?
        /// SHA-256 of the file.
        var digest: String
    }

    /// Where a partition ends.
    struct End: Codable, Equatable {
        var partition: Int
        var position: Int64
        var digest: String
        var epoch: Int64
    }

    /// Everything as of one moment.
    struct Moment: Codable, Equatable {
        /// RFC 3339.
        var time: String
        var ends: [End]
        /// Every table but the batches.
        var tables: [Piece]
    }

    /// What the folder has.
    struct List: Codable, Equatable {
        /// The number of this format.
        var backup = BackupFolder.format
        /// The newest migration of the database.
        var migration: Int
        var partitions: Int
        var placement: String
        /// Batches, in the order of positions.
        var batches: [Piece] = []
        /// Up to where these go, which may be beyond the moment.
        var reached: [End] = []
        /// What can be restored; nil while the first backup is not whole.
        var moment: Moment?
    }

    static let format = 1
    private static let listName = "backup.json"
    let path: String
    private var lock: Lock?

    /// A folder, which is made if there is none, and that only its owner can read: it has customers' keys. Nobody else works
    /// on it until this is gone: two that write the list would lose what one of them has.
    init(making path: String) throws(BackupError) {
        self.path = path
        for folder in [path, "\(path)/batches", "\(path)/tables"] {
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw BackupError(folder, errno) }
        }
        lock = try Lock(path)
    }

    /// A lock on a folder, which ends with the process at the latest.
    private final class Lock {
        private let file: Int32

        init(_ folder: String) throws(BackupError) {
            file = open(folder, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { throw BackupError(folder, errno) }
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                throw errno == EWOULDBLOCK
                    ? BackupError("\(folder): another backup is at work there") : BackupError(folder, errno)
            }
        }

        deinit { close(file) }
    }

    /// A folder that is only read.
    init(at path: String) { self.path = path }

    // MARK: The list

    /// nil if there is none.
    func list() throws(BackupError) -> List? {
        let file = "\(path)/\(BackupFolder.listName)"
        guard access(file, F_OK) == 0 else { return nil }
        guard let list = try? JSONDecoder().decode(List.self, from: Data(try bytes(of: BackupFolder.listName))),
            list.backup == BackupFolder.format
        else { throw BackupError("\(file) is not the list of a backup of this version") }
        return list
    }

    /// Replaces the list. It is on the disk when this returns, with every file that it names.
    func keep(_ list: List) throws(BackupError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(list) else { throw BackupError("the list cannot be written") }
        try write([UInt8](data) + [UInt8(ascii: "\n")], to: "\(BackupFolder.listName).new")
        let new = "\(path)/\(BackupFolder.listName).new"
        guard rename(new, "\(path)/\(BackupFolder.listName)") == 0 else { throw BackupError(new, errno) }
        try sync(path)
    }

    // MARK: Pieces

    private static let digits = 19

    /// The file with batches of a partition, of which the first begins at a position.
    static func nameOfBatches(of partition: Int, from first: Int64) -> String {
        "batches/\(partition)-\(String(repeating: "0", count: digits - "\(first)".count))\(first).jsonl"
    }

    /// The positions at which files of batches of a partition begin, in order.
    func firstPositions(of partition: Int) -> [Int64] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/batches")) ?? []
        return files.compactMap { file in
            let parts = file.split(whereSeparator: { "-.".contains($0) })
            guard parts.count == 3, parts[0] == "\(partition)", parts[1].utf8.count == BackupFolder.digits else {
                return nil
            }
            return Int64(parts[1])
        }.sorted()
    }

    /// Writes rows to a file. They are on the disk when this returns.
    func write(_ rows: [String], to name: String) throws(BackupError) -> String {
        var bytes: [UInt8] = []
        for row in rows {
            bytes += row.utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        try write(bytes, to: name)
        try sync("\(path)/\(name.split(separator: "/")[0])")
        return Digest.of(bytes).description
    }

    /// The rows of a file.
    ///
    /// - Throws: if it is not the file that was written.
    func rows(of piece: Piece) throws(BackupError) -> [String] {
        let bytes = try bytes(of: piece.name)
        guard Digest.of(bytes).description == piece.digest else {
            throw BackupError("\(path)/\(piece.name) is not as it was written: its digest is another")
        }
        return bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Removes the files of tables that a list does not name, and what was not finished.
    func removeOthers(_ list: List) {
        let named = Set((list.batches + (list.moment?.tables ?? [])).map(\.name))
        for folder in ["batches", "tables"] {
            for file in (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)")) ?? []
            where !named.contains("\(folder)/\(file)") {
                unlink("\(path)/\(folder)/\(file)")
            }
        }
    }

    // MARK: Files

    private func write(_ bytes: [UInt8], to name: String) throws(BackupError) {
        let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw BackupError("\(path)/\(name)", errno) }
        defer { close(file) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw BackupError("\(path)/\(name)", errno) }
            rest.removeFirst(count)
        }
        guard fsync(file) == 0 else { throw BackupError("\(path)/\(name)", errno) }
    }

    private func bytes(of name: String) throws(BackupError) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: "\(path)/\(name)") else {
            throw BackupError("\(path)/\(name) cannot be read")
        }
        return [UInt8](data)
    }

    private func sync(_ folder: String) throws(BackupError) {
        let file = open(folder, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw BackupError(folder, errno) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw BackupError(folder, errno) }
    }
}

/// Why there is no backup, or none can be restored.
package struct BackupError: Error, CustomStringConvertible {
    /// The reason, for people.
    package let description: String

    init(_ description: String) { self.description = description }

    init(_ path: String, _ code: Int32) { description = "\(path): \(String(cString: strerror(code)))" }
}
