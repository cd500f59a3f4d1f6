#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A file read whole, for formats whose rows are looked at together before the first is sent.
enum InputFile {
    private static let chunkLength = 1 << 20

    /// The bytes of a file, without a byte order mark.
    static func contents(of path: String, atMost maximumLength: Int) throws(UnreadableFile) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw UnreadableFile(path: path, reason: lastError()) }
        defer { close(file) }
        return try contents(of: file, named: path, atMost: maximumLength)
    }

    /// What comes from standard input until its end.
    static func standardInput(named name: String, atMost maximumLength: Int) throws(UnreadableFile) -> [UInt8] {
        try contents(of: STDIN_FILENO, named: name, atMost: maximumLength)
    }

    private static func contents(
        of file: Int32, named path: String, atMost maximumLength: Int
    ) throws(UnreadableFile) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: chunkLength)
        while true {
            let count = fill(&chunk, from: file)
            guard count >= 0 else { throw UnreadableFile(path: path, reason: lastError()) }
            guard count > 0 else {
                bytes.removeByteOrderMark()
                return bytes
            }
            guard count <= maximumLength - bytes.count else {
                throw UnreadableFile(path: path, reason: "has more than \(maximumLength) bytes")
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

    private static func lastError() -> String {
        String(cString: strerror(errno))
    }
}

extension [UInt8] {
    /// Some programs begin a text with it.
    mutating func removeByteOrderMark() {
        if starts(with: [0xEF, 0xBB, 0xBF]) { removeFirst(3) }
    }
}
