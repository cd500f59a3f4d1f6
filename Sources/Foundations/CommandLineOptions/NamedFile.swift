#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Reads what an option or an operand names, whole. Every failure is a sentence of the system's about the path.
public enum NamedFile {
    private static let chunkLength = 1 << 20

    /// Why there are no bytes.
    public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// What was to be read.
        public var path: String
        /// What is wrong, in the words of the system.
        public var reason: String

        public var description: String { "\(path): \(reason)" }
    }

    /// The bytes of a file.
    public static func contents(of path: String, atMost maximumLength: Int) throws(Failure) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Failure(path: path, reason: lastError()) }
        defer { close(file) }
        return try contents(of: file, named: path, atMost: maximumLength)
    }

    /// What comes from standard input until its end.
    public static func standardInput(named name: String, atMost maximumLength: Int) throws(Failure) -> [UInt8] {
        try contents(of: STDIN_FILENO, named: name, atMost: maximumLength)
    }

    private static func contents(
        of file: Int32, named path: String, atMost maximumLength: Int
    ) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: chunkLength)
        while true {
            let count = fill(&chunk, from: file)
            guard count >= 0 else { throw Failure(path: path, reason: lastError()) }
            guard count > 0 else { return bytes }
            guard count <= maximumLength - bytes.count else {
                throw Failure(path: path, reason: "has more than \(maximumLength) bytes")
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
