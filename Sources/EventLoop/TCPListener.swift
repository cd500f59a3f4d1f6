internal import CLibUV

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Accepts TCP connections. Lives until closed.
@LoopActor
public final class TCPListener {
    /// The address it is bound to: `127.0.0.1:7379`, `[::1]:7379`.
    public private(set) var address = ""
    /// The port it is bound to: the one asked for, or the one the system chose for 0.
    public private(set) var port = 0
    /// Called for connections that could not be accepted, for example because descriptors have run out.
    public var onError: (@LoopActor (LoopError) -> Void)?

    private var handle: LoopHandle<uv_tcp_t>?
    private var onConnection: (@LoopActor (TCPConnection) -> Void)?

    /// Listens on an address literal or a name, whose first address is used; port 0 lets the system choose. Looking
    /// up a name blocks.
    public init(
        host: String, port: UInt16, backlog: Int32 = 511,
        onConnection: @escaping @LoopActor (TCPConnection) -> Void
    ) throws(LoopError) {
        let action = "listen on \(host):\(port)"
        let handle = LoopHandle<uv_tcp_t>()
        let code = uv_tcp_init(LoopActor.loop, handle.raw)
        if code < 0 {
            handle.discard()
            throw LoopError(code, action)
        }
        self.handle = handle
        self.onConnection = onConnection
        handle.setOwner(self)
        do throws(LoopError) {
            try Self.bind(handle, host: host, port: port, action)
            try LoopError.check(
                uv_listen(handle.stream, backlog) { raw, status in
                    let listener = handleOwner(raw!.pointee.data, as: TCPListener.self)
                    LoopActor.assumeIsolated { listener.accept(status) }
                }, action)
        } catch {
            close()
            throw error
        }
        if let bound = SocketAddress(of: handle.raw, uv_tcp_getsockname) {
            self.address = bound.description
            self.port = bound.port
        }
    }

    /// Stops accepting and frees the port. Connections accepted before stay open.
    public func close() {
        handle?.close()
        handle = nil
        onConnection = nil
        onError = nil
    }

    private static func bind(
        _ handle: LoopHandle<uv_tcp_t>, host: String, port: UInt16, _ action: String
    ) throws(LoopError) {
        var request = uv_getaddrinfo_t()
        try SocketAddress.resolve(&request, host: host, port: port, flags: AI_PASSIVE, action)
        defer { uv_freeaddrinfo(request.addrinfo) }
        try LoopError.check(uv_tcp_bind(handle.raw, request.addrinfo.pointee.ai_addr, 0), action)
    }

    private func accept(_ status: Int32) {
        guard let handle else { return }
        do throws(LoopError) {
            try LoopError.check(status, "accept a connection on \(address)")
            onConnection?(try TCPConnection(acceptedBy: handle))
        } catch {
            onError?(error)
        }
    }
}
