internal import CLibUV

/// Tells when a file descriptor that belongs to someone else can be read or written.
///
/// The owner closes the source before the descriptor.
@LoopActor
public final class PollSource {
    /// What to wait for, and what has come.
    public struct Interest: OptionSet, Sendable {
        /// The bits, as libuv has them.
        public let rawValue: Int32

        /// An interest with these bits.
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// There is something to read, or the end.
        public static let read = Interest(rawValue: Int32(UV_READABLE.rawValue))
        /// There is room to write.
        public static let write = Interest(rawValue: Int32(UV_WRITABLE.rawValue))
    }

    private var handle: LoopHandle<uv_poll_t>?
    private var onReady: (@LoopActor (Interest) -> Void)?
    private var interest: Interest = []

    /// Prepares to watch a descriptor; nothing is reported until `wait(for:)`.
    ///
    /// An error of the descriptor is reported as ready for both, so that its owner meets it at the next read or
    /// write. After that nothing is watched until `wait(for:)` is called again.
    public init(fileDescriptor: Int32, onReady: @escaping @LoopActor (Interest) -> Void) throws(LoopError) {
        let handle = LoopHandle<uv_poll_t>()
        self.onReady = onReady
        let code = uv_poll_init(LoopActor.loop, handle.raw, fileDescriptor)
        if code < 0 {
            handle.discard()
            throw LoopError(code, "watch file descriptor \(fileDescriptor)")
        }
        handle.setOwner(self)
        self.handle = handle
    }

    /// Changes what to wait for. Costs nothing if that is the same.
    public func wait(for interest: Interest) throws(LoopError) {
        guard let handle, interest != self.interest else { return }
        let code =
            if interest.isEmpty {
                uv_poll_stop(handle.raw)
            } else {
                uv_poll_start(handle.raw, interest.rawValue) { raw, status, events in
                    let source = handleOwner(raw!.pointee.data, as: PollSource.self)
                    LoopActor.assumeIsolated { source.report(status, Interest(rawValue: events)) }
                }
            }
        try LoopError.check(code, "watch a file descriptor")
        self.interest = interest
    }

    private func report(_ status: Int32, _ events: Interest) {
        guard status < 0 else {
            onReady?(events)
            return
        }
        // libuv has stopped watching. There may be bytes before the error, and then the owner waits again.
        interest = []
        onReady?([.read, .write])
    }

    /// Stops watching at once.
    public func close() {
        handle?.close()
        handle = nil
        onReady = nil
    }
}
