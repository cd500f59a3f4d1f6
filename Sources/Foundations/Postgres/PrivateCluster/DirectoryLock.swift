internal import Foundation

/// Holds a data directory for this process. The system releases it when the process ends, however it ends.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    init(_ directory: String) throws(EmbeddedPostgresError) {
        let path = directory + "/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Files.failure("open \(path)") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            let holder = Files.text(path)?.split(separator: "\n").first.map { " (process \($0))" } ?? ""
            throw EmbeddedPostgresError("another Tiffin\(holder) is using \(directory)")
        }
        let holder = "\(getpid())\n"
        ftruncate(descriptor, 0)
        pwrite(descriptor, holder, holder.utf8.count, 0)
        self.descriptor = descriptor
    }

    func release() {
        flock(descriptor, LOCK_UN)
    }

    deinit { close(descriptor) }
}
