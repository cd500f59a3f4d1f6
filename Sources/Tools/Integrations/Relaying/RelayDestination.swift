internal import Foundation
internal import HTTP
internal import Synchronization
internal import TextFormats

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// What a relay writes of an event.
package enum RelayFormat: String, CaseIterable, Sendable {
    /// The event as `LOG.READ` gives it.
    case event
    /// A CloudEvent 1.0 in JSON, with the event as its data.
    case cloudevents

    var contentType: String { self == .event ? "application/json" : "application/cloudevents+json" }

    /// - Parameter source: which log it is of, as a reference to a URI.
    func body(of event: RelayedEvent, id: String, source: String) -> [UInt8] {
        guard self == .cloudevents else { return event.document }
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("specversion", "1.0")
        writer.field("id", id)
        writer.field("source", source)
        writer.field("type", event.kind)
        writer.field("subject", event.stream)
        writer.field("time", event.recordedAt)
        writer.field("datacontenttype", "application/json")
        if let trace = event.trace { writer.field("traceparent", trace.description) }
        writer.key("data")
        writer.raw(event.document)
        writer.endObject()
        return writer.bytes
    }
}

/// Where a relay brings events.
package enum RelayDestination: Sendable {
    /// An absolute address by `http` or `https`.
    case web(String)
    /// A file or standard output, which gets a line for each event.
    case lines(LineFile)
}

/// Why an event was not delivered.
struct DeliveryFailure: Error {
    /// For an operator.
    let reason: String
    /// Whether the receiver refuses this event. If not, it is away or has too much to do, and any other fares alike.
    let isRefusal: Bool
    /// For how long the receiver asks to be left alone, in milliseconds.
    let pause: UInt64

    init(_ error: HTTPError) {
        reason = "the address \(error)"
        pause = 1_000 * UInt64(clamping: min(error.retryAfter, 86_400))
        // As Standard Webhooks has it, these ask for patience.
        isRefusal = error.isSent && ![429, 503].contains(error.status)
    }

    init(_ error: LineFileError) {
        reason = error.description
        isRefusal = false
        pause = 0
    }
}

/// A file to which whole lines are appended, or standard output.
package final class LineFile: Sendable {
    private let path: String
    private let file: Int32
    private let isRegular: Bool
    /// One line at a time: partitions share the file.
    private let writing = Mutex(())

    /// Standard output.
    package init() {
        path = "standard output"
        file = STDOUT_FILENO
        isRegular = false
    }

    /// A file, which is made if there is none. The beginning of a line that somebody was killed over is removed.
    package init(appendingTo path: String) throws(LineFileError) {
        self.path = path
        file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw LineFileError(path) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw LineFileError(path) }
        isRegular = status.st_mode & S_IFMT == S_IFREG
        if isRegular { try removeTornLine(from: Int64(status.st_size)) }
    }

    deinit { if file != STDOUT_FILENO { close(file) } }

    /// Appends a line. It is on the disk when this returns; of one that cannot be appended, nothing remains.
    func append(_ line: [UInt8]) throws(LineFileError) {
        // The closure of a mutex may not throw what it does not know.
        let failure = writing.withLock { _ -> LineFileError? in
            let end = isRegular ? lseek(file, 0, SEEK_END) : 0
            guard end >= 0 else { return LineFileError(path) }
            var rest = (line + [UInt8(ascii: "\n")])[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    let error = LineFileError(path)
                    if isRegular { _ = ftruncate(file, end) }
                    return error
                }
                rest.removeFirst(count)
            }
            return isRegular && fsync(file) != 0 ? LineFileError(path) : nil
        }
        if let failure { throw failure }
    }

    private func removeTornLine(from length: Int64) throws(LineFileError) {
        var end = length
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while end > 0 {
            let start = max(0, end - Int64(piece.count))
            let count = piece.withUnsafeMutableBytes { pread(file, $0.baseAddress, Int(end - start), off_t(start)) }
            guard count == Int(end - start) else { throw LineFileError(path) }
            if let last = piece[..<count].lastIndex(of: UInt8(ascii: "\n")) {
                end = start + Int64(last) + 1
                break
            }
            end = start
        }
        guard end == length || ftruncate(file, off_t(end)) == 0 else { throw LineFileError(path) }
    }
}

/// Why a line cannot be written.
package struct LineFileError: Error, CustomStringConvertible {
    /// The reason, for people.
    package let description: String
    /// Whether nobody reads any more.
    let isEnd: Bool

    /// What the system says of a path.
    fileprivate init(_ path: String) {
        isEnd = errno == EPIPE
        description = "\(path): \(String(cString: strerror(errno)))"
    }
}
