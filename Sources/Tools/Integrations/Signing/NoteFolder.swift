internal import CommandLineOptions
package import EventLog

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Notes in a folder, one a file, each of which is replaced as a whole and on the disk before the next step.
package struct NoteFolder: Sendable {
    private let path: String

    /// A folder, which is made if there is none.
    package init(_ path: String) throws(NoteFolderError) {
        self.path = path
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw NoteFolderError(path) }
    }

    /// A note that was kept; nil if there is none.
    ///
    /// - Parameter name: without slashes.
    package func note(_ name: String) throws(NoteFolderError) -> SignedNote? {
        guard access("\(path)/\(name)", F_OK) == 0 || errno != ENOENT else { return nil }
        let text: [UInt8]
        do throws(NamedFile.Failure) {
            text = try NamedFile.contents(of: "\(path)/\(name)", atMost: SignedNote.maximumLength)
        } catch {
            throw NoteFolderError(description: "\(error)")
        }
        guard let note = String(validating: text, as: UTF8.self).flatMap(SignedNote.init) else {
            throw NoteFolderError(description: "\(path)/\(name) is not a signed note")
        }
        return note
    }

    /// Keeps a note. It is on the disk when this returns.
    package func keep(_ note: SignedNote, as name: String) throws(NoteFolderError) {
        let new = "\(path)/\(name).new"
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw NoteFolderError(new) }
        defer { close(file) }
        var rest = Array("\(note)".utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw NoteFolderError(new) }
            rest.removeFirst(count)
        }
        guard fsync(file) == 0, rename(new, "\(path)/\(name)") == 0 else { throw NoteFolderError(new) }
        let folder = open(path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw NoteFolderError(path) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw NoteFolderError(path) }
    }
}

/// Why a note cannot be kept, or read.
package struct NoteFolderError: Error, CustomStringConvertible {
    /// The reason, for people.
    package let description: String

    fileprivate init(description: String) { self.description = description }

    /// What the system says of a path.
    fileprivate init(_ path: String) { description = "\(path): \(String(cString: strerror(errno)))" }
}
