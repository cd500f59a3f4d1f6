internal import CLibUV

/// A TCP connection, accepted or made here. Lives until either side closes it.
///
/// With TLS, its owner reads and writes plain bytes. If the peer goes away without saying that this is the end, the
/// connection has failed: a third party may have cut it.
@LoopActor
public final class TCPConnection {
    /// How long `closeAfterWrites` waits for the peer to close its side.
    public static let lingerMilliseconds: UInt64 = 1_000
    /// How long `closeAfterWrites` waits for the peer to take what was written.
    public static let drainMilliseconds: UInt64 = 10_000
    /// After this many seconds of silence the system asks whether the peer is still there. So a peer that vanished is
    /// noticed even if nothing is expected of it.
    public static let keepAliveSeconds: UInt32 = 300

    /// The peer's address: `127.0.0.1:50100`, `[::1]:50100`.
    public let peerAddress: String
    /// The address the peer connected to.
    public let localAddress: String
    /// Whether the peer is on this machine.
    public let isLoopbackPeer: Bool

    /// The peer has ended its side and may still read; the owner decides when to close. Without this
    /// callback the connection closes after its writes.
    public var onEnd: (@LoopActor () -> Void)?
    /// Everything that had to wait has been passed to the system.
    public var onDrain: (@LoopActor () -> Void)?
    /// The connection is gone. Called once, last, and never from inside another call; with an error unless one of the
    /// sides closed in good order.
    public var onClose: (@LoopActor (LoopError?) -> Void)?
    /// The most bytes that may wait for a slow peer; one byte more closes the connection with `ENOBUFS`.
    public var outgoingLimit = 32 * 1024 * 1024

    /// nil once closing.
    private var handle: LoopHandle<uv_tcp_t>?
    private var onRead: (@LoopActor (UnsafeRawBufferPointer) -> Void)?
    private var hasPeerEnded = false
    private var isFinishing = false
    /// This side ends once everything that waits has been sent.
    private var endsWhenSent = false
    private var failure: LoopError?
    private var linger: LoopTimer?
    /// nil where bytes travel as they are.
    private var tls: TLSEngine?

    /// Waits for `sending`, which libuv is writing.
    private var waiting = OutgoingBytes()
    private var sending = OutgoingBytes()
    private var isSending = false
    /// Most connections never have to wait, and never allocate it.
    private lazy var writeRequest = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
    private var hasWriteRequest = false

    convenience init(acceptedBy listener: LoopHandle<uv_tcp_t>) throws(LoopError) {
        let handle = LoopHandle<uv_tcp_t>()
        let code = uv_tcp_init(LoopActor.loop, handle.raw)
        if code < 0 {
            handle.discard()
            throw LoopError(code, "create a socket")
        }
        do throws(LoopError) {
            try LoopError.check(uv_accept(listener.stream, handle.stream), "accept a connection")
            try self.init(connected: handle)
        } catch {
            handle.close()
            throw error
        }
    }

    /// Takes over a connected socket. If it throws, the socket still belongs to the caller.
    init(connected handle: LoopHandle<uv_tcp_t>) throws(LoopError) {
        try LoopError.check(uv_tcp_nodelay(handle.raw, 1), "set TCP_NODELAY")
        try LoopError.check(uv_tcp_keepalive(handle.raw, 1, Self.keepAliveSeconds), "set SO_KEEPALIVE")
        let peer = SocketAddress(of: handle.raw, uv_tcp_getpeername)
        peerAddress = peer?.description ?? ""
        isLoopbackPeer = peer?.isLoopback ?? false
        localAddress = SocketAddress(of: handle.raw, uv_tcp_getsockname)?.description ?? ""
        self.handle = handle
        handle.setOwner(self)
    }

    /// With TLS, what only both ends of the connection know; empty without.
    public var channelBinding: [UInt8] { tls?.channelBinding ?? [] }

    /// Whether the connection has neither closed nor begun to.
    public var isOpen: Bool { handle != nil && !isFinishing }

    /// Seals everything from now on. The handshake is over, and nothing is being read.
    func secure(with engine: TLSEngine) { tls = engine }

    // MARK: Reading

    /// Delivers bytes as they come. They are valid only during the call: the buffer is the loop's, and all its
    /// connections share it.
    public func startReading(_ handler: @escaping @LoopActor (UnsafeRawBufferPointer) -> Void) {
        guard isOpen else { return }
        onRead = handler
        resumeReading()
        // Not inside this call.
        if let tls, tls.hasUnread {
            _ = NextTurn { [self] in receive(UnsafeRawBufferPointer(start: nil, count: 0), tls) }
        }
    }

    /// Stops reading, so that the peer has to wait; `startReading` goes on.
    public func stopReading() {
        guard isOpen, let handle else { return }
        uv_read_stop(handle.stream)
    }

    private func resumeReading() {
        guard let handle, !hasPeerEnded else { return }
        let code = uv_read_start(
            handle.stream,
            { _, _, buffer in
                nonisolated(unsafe) let buffer = buffer!
                LoopActor.assumeIsolated { ReadBuffer.lend(buffer) }
            },
            { raw, count, buffer in
                let connection = handleOwner(raw!.pointee.data, as: TCPConnection.self)
                // Used only during this call, on this thread.
                nonisolated(unsafe) let bytes = UnsafeRawBufferPointer(
                    start: buffer!.pointee.base, count: max(count, 0))
                LoopActor.assumeIsolated { connection.didRead(bytes, status: count) }
            })
        if code < 0 && code != UV_EALREADY.rawValue {
            close(LoopError(code, "read from \(peerAddress)"))
        }
    }

    private func didRead(_ bytes: UnsafeRawBufferPointer, status: Int) {
        if let tls, tls.hasUnread {
            receive(UnsafeRawBufferPointer(start: nil, count: 0), tls)
            guard handle != nil, !hasPeerEnded else { return }
        }
        if status > 0 {
            if let tls { receive(bytes, tls) } else { onRead?(bytes) }
        } else if status == Int(UV_EOF.rawValue) {
            if tls != nil, !isFinishing {
                close(LoopError(UV_ECONNRESET.rawValue, "read from \(peerAddress)", "the connection was cut"))
            } else {
                peerEnded()
            }
        } else if status < 0 {
            close(LoopError(Int32(status), "read from \(peerAddress)"))
        }
    }

    private func peerEnded() {
        hasPeerEnded = true
        if isFinishing {
            if !isSending { close() }
        } else if let onEnd {
            onEnd()
        } else {
            closeAfterWrites()
        }
    }

    /// Opens what came, and delivers it.
    private func receive(_ bytes: UnsafeRawBufferPointer, _ tls: TLSEngine) {
        // What comes after the end is dropped.
        guard isOpen, !hasPeerEnded else { return }
        tls.receive(bytes) { onRead?($0) }
        Self.buffers.flush { pass($0) }
        switch tls.state {
        case .handshaking, .open: break
        case .ended:
            guard let handle else { return }
            uv_read_stop(handle.stream)
            peerEnded()
        case .failed(let reason): close(LoopError(UV_EPROTO.rawValue, "read from \(peerAddress)", reason))
        }
    }

    // MARK: Writing

    /// Bytes accepted by `write` that the system has not taken yet.
    public var pendingBytes: Int {
        guard isSending, let handle else { return 0 }
        return waiting.count + uv_stream_get_write_queue_size(handle.stream)
    }

    /// Sends bytes: as many as the system takes at once, and the rest from a copy as the peer reads.
    public func write(_ bytes: UnsafeRawBufferPointer) {
        guard let tls else { return pass(bytes) }
        var rest = bytes
        while isOpen, !rest.isEmpty {
            let count = min(rest.count, TLSEngine.maximumSealing)
            tls.seal(UnsafeRawBufferPointer(rebasing: rest[..<count]))
            Self.buffers.flush { pass($0) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Passes bytes to the system.
    private func pass(_ bytes: UnsafeRawBufferPointer) {
        guard isOpen, let handle, let start = bytes.baseAddress, bytes.count > 0 else { return }
        var sent = 0
        if !isSending {
            var buffer = Self.buffer(start, min(bytes.count, Int(Int32.max)))
            let code = uv_try_write(handle.stream, &buffer, 1)
            if code >= 0 {
                sent = Int(code)
            } else if code != UV_EAGAIN.rawValue {
                return close(LoopError(code, "write to \(peerAddress)"))
            }
        }
        if sent < bytes.count {
            enqueue(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
        }
    }

    private func enqueue(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= outgoingLimit - pendingBytes else {
            return close(LoopError(UV_ENOBUFS.rawValue, "queue \(bytes.count) bytes for \(peerAddress)"))
        }
        waiting.append(bytes)
        if !isSending { sendWaiting() }
    }

    private func sendWaiting() {
        guard let handle else { return }
        swap(&waiting, &sending)
        isSending = true
        hasWriteRequest = true
        writeRequest.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        var buffer = Self.buffer(sending.bytes.baseAddress!, sending.count)
        let code = uv_write(writeRequest, handle.stream, &buffer, 1) { request, status in
            let connection = handleOwner(request!.pointee.data, as: TCPConnection.self)
            LoopActor.assumeIsolated { connection.didSend(status) }
        }
        if code < 0 {
            close(LoopError(code, "write to \(peerAddress)"))
        }
    }

    private func didSend(_ status: Int32) {
        sending.removeAll()
        isSending = false
        guard handle != nil else { return }
        if status < 0 {
            close(LoopError(status, "write to \(peerAddress)"))
        } else if waiting.count > 0 {
            sendWaiting()
        } else if isFinishing {
            endSide()
        } else if endsWhenSent, let handle {
            shutDown(handle)
        } else {
            onDrain?()
        }
    }

    private static func buffer(_ start: UnsafeRawPointer, _ count: Int) -> uv_buf_t {
        let start = UnsafeMutableRawPointer(mutating: start).assumingMemoryBound(to: CChar.self)
        return uv_buf_init(start, UInt32(count))
    }

    // MARK: Closing

    /// Closes at once; what waits to be sent is lost.
    public func close() {
        // If something waits to be sent and is lost, this is no end in good order.
        if !isSending { endTLS() }
        close(nil)
    }

    /// Closes once everything written has been sent, or after `drainMilliseconds`: a peer that reads nothing cannot
    /// hold what waits for it. Nothing more is read or written.
    ///
    /// The peer's unread bytes are read and dropped until it closes, too, for at most `lingerMilliseconds`: closing
    /// without reading them would reset the connection and could destroy the last reply.
    public func closeAfterWrites() {
        endTLS()
        guard isOpen else { return }
        isFinishing = true
        onRead = nil
        if isSending { close(after: Self.drainMilliseconds) } else { endSide() }
    }

    /// Tells the peer that nothing more will be written, once everything written has been sent. Reading goes on.
    public func endWriting() {
        endTLS()
        guard isOpen, let handle else { return }
        if isSending { endsWhenSent = true } else { shutDown(handle) }
    }

    /// Tells the peer that this is the end, so that a third party cannot pretend it.
    private func endTLS() {
        guard isOpen, let handle, let tls else { return }
        tls.end()
        Self.buffers.flush { bytes in
            guard !isSending else { return enqueue(bytes) }
            var buffer = Self.buffer(bytes.baseAddress!, bytes.count)
            // If the peer is gone or takes nothing, it cannot be told.
            uv_try_write(handle.stream, &buffer, 1)
        }
    }

    private func shutDown(_ handle: LoopHandle<uv_tcp_t>) {
        let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
        let code = uv_shutdown(request, handle.stream) { request, _ in request?.deallocate() }
        if code < 0 {
            request.deallocate()
            close()
        }
    }

    private func endSide() {
        guard let handle, !hasPeerEnded else { return close() }
        shutDown(handle)
        close(after: Self.lingerMilliseconds)
        resumeReading()
    }

    private func close(after milliseconds: UInt64) {
        linger?.cancel()
        linger = LoopTimer(milliseconds: milliseconds) { [weak self] in self?.close() }
    }

    private func close(_ failure: LoopError?) {
        guard let handle else { return }
        self.handle = nil
        self.failure = failure
        handle.close { raw in
            let connection = handleOwner(raw!.pointee.data, as: TCPConnection.self)
            LoopActor.assumeIsolated { connection.didClose() }
            releaseHandle(raw)
        }
    }

    private func didClose() {
        linger?.cancel()
        if hasWriteRequest { writeRequest.deallocate() }
        let onClose = onClose
        (onRead, onEnd, onDrain, self.onClose) = (nil, nil, nil, nil)
        onClose?(failure)
    }
}
