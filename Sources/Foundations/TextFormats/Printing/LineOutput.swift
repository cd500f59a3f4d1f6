internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Lines for a reader that may not read them: a pipe that is full, a terminal that was stopped.
///
/// Adding a line never waits; another thread writes. Lines beyond a bound are dropped and counted. The descriptor stays
/// as it is: other processes may share it, and `O_NONBLOCK` would hold for them, too.
public final class LineOutput: Sendable {
    /// The most bytes that wait, besides as many that are being written.
    public static let capacity = 256 << 10
    /// How long the end of a process may wait for its last lines to be read, in milliseconds.
    public static let patience = 1_000

    /// The standard error of this process.
    public static let standardError = LineOutput(descriptor: STDERR_FILENO)

    private struct State {
        var waiting: [UInt8] = []
        var isWriting = false
        var dropped: Int64 = 0
        /// The number of these that no line has reported.
        var untold: Int64 = 0
        /// Tells of them.
        var notice: @Sendable (Int64) -> String = { _ in "" }
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "tiffin.lines")
    private let descriptor: Int32

    /// Lines for a descriptor, which stays open.
    public init(descriptor: Int32) { self.descriptor = descriptor }

    /// How many lines were dropped.
    public var droppedLines: Int64 { state.withLock { $0.dropped } }

    /// Adds a line, or drops it.
    ///
    /// - Parameters:
    ///   - line: with its line end.
    ///   - notice: a line that tells how many were dropped, where they would have been.
    public func add(_ line: String, ifDropped notice: @escaping @Sendable (Int64) -> String) {
        let begins = state.withLock { state in
            // Once one was dropped, what follows has to wait for the line that says so.
            guard state.untold == 0, state.waiting.count + line.utf8.count <= LineOutput.capacity else {
                state.dropped += 1
                state.untold += 1
                state.notice = notice
                return false
            }
            state.waiting += line.utf8
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { queue.async { [self] in drain() } }
    }

    /// Waits until every line has been written, for `patience` at most.
    public func flush() {
        let written = DispatchSemaphore(value: 0)
        queue.async { written.signal() }
        _ = written.wait(timeout: .now() + .milliseconds(LineOutput.patience))
    }

    private func drain() { while let bytes = next() { write(bytes) } }

    private func next() -> [UInt8]? {
        state.withLock { state in
            if state.waiting.isEmpty, state.untold > 0 {
                state.waiting = Array(state.notice(state.untold).utf8)
                state.untold = 0
            }
            guard !state.waiting.isEmpty else {
                state.isWriting = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    private func write(_ bytes: [UInt8]) {
        let lost = LineOutput.write(bytes, to: descriptor)
        // No line says so: it would never be read.
        let lines = Int64(lost.count { $0 == UInt8(ascii: "\n") })
        if lines > 0 { state.withLock { $0.dropped += lines } }
    }

    /// Writes bytes to a descriptor, and waits for their reader. Returns those that will never be read.
    public static func write(_ bytes: [UInt8], to descriptor: Int32) -> ArraySlice<UInt8> {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { platformWrite(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest.removeFirst(count)
            } else if count < 0, errno == EAGAIN {
                // Another process that shares the descriptor has set `O_NONBLOCK`.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else if count == 0 || errno != EINTR {
                break
            }
        }
        return rest
    }
}

private func platformWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
