internal import TextFormats

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A file of anchors, one line of JSON each, that is only appended to.
public struct AnchorFile: Sendable {
    /// The largest file that is read, in bytes: about 400,000 anchors.
    public static let maximumLength = 64 << 20

    /// Its path.
    public let path: String

    /// The file at a path. It need not exist yet.
    public init(_ path: String) { self.path = path }

    /// Why a file of anchors cannot be used, in a sentence without a full stop.
    public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// What is wrong.
        public var description: String
    }

    /// Every anchor, oldest first.
    public func read() throws(Failure) -> [Anchor] { try parse(try contents(open(O_RDONLY))) }

    /// Appends anchors, and creates the file if there is none. They are on the disk when this returns.
    public func append(_ anchors: [Anchor]) throws(Failure) {
        let file = try open(O_RDWR | O_CREAT | O_APPEND)
        defer { close(file) }
        // Appending to a file that cannot be read would hide that.
        _ = try parse(try contents(try open(O_RDONLY)))
        var lines: [UInt8] = []
        for anchor in anchors { lines += anchor.json + [UInt8(ascii: "\n")] }
        var rest = lines[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(AnchorFile.lastError) }
            rest.removeFirst(count)
        }
        guard fsync(file) == 0 else { throw failure(AnchorFile.lastError) }
    }

    // MARK: Parts

    private func parse(_ bytes: [UInt8]) throws(Failure) -> [Anchor] {
        guard let last = bytes.last else { return [] }
        guard last == UInt8(ascii: "\n") else { throw failure("its last line is not finished") }
        var anchors: [Anchor] = []
        for line in bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            do throws(JSONReadingError) {
                anchors.append(try Anchor(json: Array(line)))
            } catch {
                throw failure("line \(anchors.count + 1) is not an anchor: \(error)")
            }
        }
        return anchors
    }

    private func open(_ flags: Int32) throws(Failure) -> Int32 {
        let file = openFile(path, flags | O_CLOEXEC)
        guard file >= 0 else { throw failure(AnchorFile.lastError) }
        return file
    }

    /// What is in an open file, which is closed.
    private func contents(_ file: Int32) throws(Failure) -> [UInt8] {
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = chunk.withUnsafeMutableBytes { readFile(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(AnchorFile.lastError) }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= AnchorFile.maximumLength else {
                throw failure("is larger than \(AnchorFile.maximumLength >> 20) MiB")
            }
        }
    }

    private func failure(_ reason: String) -> Failure { Failure(description: "\(path): \(reason)") }

    private static var lastError: String { String(cString: strerror(errno)) }
}

// The system's calls: methods of the same names hide them above.

private func openFile(_ path: String, _ flags: Int32) -> Int32 { open(path, flags, 0o644) }

private func readFile(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(file, buffer, count)
}
