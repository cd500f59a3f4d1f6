#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A file read whole, for formats whose rows are looked at together before the first is sent.
enum InputFile {
    /// The largest file that is read, in bytes.
    static let maximumLength = 256 << 20

    private static let chunkLength = 1 << 20

    /// The bytes of a file, without a byte order mark.
    static func contents(of path: String) throws(UnreadableFile) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw UnreadableFile(path: path, reason: lastError()) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: chunkLength)
        while true {
            let count = fill(&chunk, from: file)
            guard count >= 0 else { throw UnreadableFile(path: path, reason: lastError()) }
            guard count > 0 else { return withoutByteOrderMark(bytes) }
            guard bytes.count + count <= maximumLength else {
                throw UnreadableFile(path: path, reason: "is larger than \(maximumLength >> 20) MiB")
            }
            bytes += chunk[..<count]
        }
    }

    private static func fill(_ chunk: inout [UInt8], from file: Int32) -> Int {
        while true {
            let count = read(file, &chunk, chunk.count)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    private static func withoutByteOrderMark(_ bytes: [UInt8]) -> [UInt8] {
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    private static func lastError() -> String {
        String(cString: strerror(errno))
    }
}
