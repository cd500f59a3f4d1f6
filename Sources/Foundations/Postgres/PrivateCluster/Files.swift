internal import Foundation

/// The few file operations needed here, with errors that say what failed.
enum Files {
    /// A log longer than this is set aside at the next start.
    private static let logLimit = 16 * 1024 * 1024
    private static let tailLimit: UInt64 = 2_000
    /// Enough of a log to find what a server said before it ended.
    static let excerptLimit: UInt64 = 64 * 1024

    static func failure(_ action: String) -> EmbeddedPostgresError {
        EmbeddedPostgresError("cannot \(action): \(String(cString: strerror(errno)))")
    }

    static func exists(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }

    /// Where a symbolic link leads; nil for anything else.
    static func linkTarget(_ path: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: path)
    }

    /// The path with symbolic links resolved; unchanged if it leads nowhere.
    static func realPath(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    static func text(_ path: String) -> String? {
        try? String(contentsOfFile: path, encoding: .utf8)
    }

    /// Creates a directory and its parents, readable by all.
    static func makeDirectory(_ path: String) throws(EmbeddedPostgresError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        } catch {
            throw EmbeddedPostgresError("cannot create the directory \(path): \(error.localizedDescription)")
        }
    }

    /// Creates a directory with a new name, which only its owner can access.
    static func makeTemporaryDirectory(
        _ prefix: String, owner: ServerAccount
    ) throws(EmbeddedPostgresError) -> String {
        var template = Array("\(prefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw failure("create a directory \(prefix)…") }
        let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        try owner.own(path)
        return path
    }

    static func remove(_ path: String) throws(EmbeddedPostgresError) {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            throw EmbeddedPostgresError("cannot remove \(path): \(error.localizedDescription)")
        }
    }

    /// Makes the names in a directory survive a power cut.
    static func sync(directory: String) throws(EmbeddedPostgresError) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open \(directory)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("sync \(directory)") }
    }

    static func openLog(_ path: String) throws(EmbeddedPostgresError) -> Int32 {
        var information = stat()
        if stat(path, &information) == 0, information.st_size > logLimit {
            rename(path, path + ".old")
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw failure("open \(path)") }
        return descriptor
    }

    /// How long a file is; 0 if there is none.
    static func size(_ path: String) -> UInt64 {
        var information = stat()
        return stat(path, &information) == 0 ? UInt64(clamping: information.st_size) : 0
    }

    /// How many bytes anybody may still write to the disk that has the file; nil if that is unknown.
    static func room(_ path: String) -> UInt64? {
        var information = statvfs()
        guard statvfs(path, &information) == 0 else { return nil }
        let (bytes, isMore) = UInt64(information.f_bavail).multipliedReportingOverflow(by: UInt64(information.f_frsize))
        return isMore ? .max : bytes
    }

    /// The end of a log, for an error that quotes it.
    ///
    /// - Parameters:
    ///   - start: what lies before is left out, unless the log has become shorter since.
    ///   - limit: the most bytes.
    static func tail(_ path: String, after start: UInt64 = 0, limit: UInt64 = tailLimit) -> String {
        guard let file = FileHandle(forReadingAtPath: path), let end = try? file.seekToEnd() else {
            return ""
        }
        try? file.seek(toOffset: max(end - min(end, limit), start <= end ? start : 0))
        return String(decoding: (try? file.readToEnd()) ?? Data(), as: UTF8.self)
    }
}
