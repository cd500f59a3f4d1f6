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
    /// Whether only the machine itself can reach that address.
    public private(set) var isLoopback = false
    /// Called for connections that could not be accepted, for example because descriptors have run out.
    public var onError: (@LoopActor (LoopError) -> Void)?

    private var handle: LoopHandle<uv_tcp_t>?
    private var onConnection: (@LoopActor (TCPConnection) -> Void)?
    private let handshakes: TLSHandshakes?
    /// The most connections that are accepted in one turn of the loop: those that exist have their turns, too.
    private static let maximumInTurn = 16

    private var acceptedInTurn = 0
    /// A client waits until there is room for its handshake, or for the next turn.
    private var isFull = false

    /// Listens on an address literal or a name, whose first address is used; port 0 lets the system choose. Looking
    /// up a name blocks.
    ///
    /// - Parameters:
    ///   - isShared: whether other processes may listen there, too, if they say so as well. Linux gives each of them
    ///     its part of the connections.
    ///   - tls: what a server needs for TLS; nil for plain connections.
    ///   - maximumHandshakes: the most TLS handshakes at once.
    ///   - onConnection: called for every connection, with TLS once its handshake is over.
    public init(
        host: String, port: UInt16, isShared: Bool = false, backlog: Int32 = 4_096, tls: TLSContext? = nil,
        maximumHandshakes: Int = 1_024, onConnection: @escaping @LoopActor (TCPConnection) -> Void
    ) throws(LoopError) {
        handshakes = tls.map { TLSHandshakes($0, limit: maximumHandshakes, onSecured: onConnection) }
        let action = "listen on \(host):\(port)"
        var request = uv_getaddrinfo_t()
        try SocketAddress.resolve(&request, host: host, port: port, flags: AI_PASSIVE, action)
        defer { uv_freeaddrinfo(request.addrinfo) }
        let place = request.addrinfo.pointee
        let handle = LoopHandle<uv_tcp_t>()
        // With its family, the socket is made at once.
        let code = uv_tcp_init_ex(LoopActor.loop, handle.raw, UInt32(place.ai_family))
        if code < 0 {
            handle.discard()
            throw LoopError(code, action)
        }
        self.handle = handle
        self.onConnection = onConnection
        handle.setOwner(self)
        do throws(LoopError) {
            if isShared { try Self.share(handle, action) }
            try LoopError.check(uv_tcp_bind(handle.raw, place.ai_addr, 0), action)
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
            isLoopback = bound.isLoopback
        }
        handshakes?.onRoom = { [unowned self] in if isFull { accept(0) } }
    }

    /// Uses other certificates for connections that begin from now on.
    public func replace(_ context: TLSContext) { handshakes?.context = context }

    /// Called for clients whose TLS handshake fails, with their address and the reason.
    public func onRefusal(_ body: @escaping @LoopActor (_ address: String, _ reason: String) -> Void) {
        handshakes?.onRefusal = body
    }

    /// Stops accepting and frees the port. Connections accepted before stay open.
    public func close() {
        handle?.close()
        handle = nil
        handshakes?.close()
        onConnection = nil
        onError = nil
    }

    private static func share(_ handle: LoopHandle<uv_tcp_t>, _ action: String) throws(LoopError) {
        var (descriptor, yes) = (uv_os_fd_t(), Int32(1))
        try LoopError.check(uv_fileno(handle.base, &descriptor), action)
        let code = setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &yes, socklen_t(MemoryLayout<Int32>.size))
        try LoopError.check(code == 0 ? 0 : -errno, action)
    }

    private func accept(_ status: Int32) {
        guard let handle else { return }
        // A client that is not accepted waits in the system's queue.
        isFull = handshakes?.hasRoom == false || acceptedInTurn == TCPListener.maximumInTurn
        guard !isFull else { return }
        if acceptedInTurn == 0 { countInTurn() }
        acceptedInTurn += 1
        do throws(LoopError) {
            try LoopError.check(status, "accept a connection on \(address)")
            let connection = try TCPConnection(acceptedBy: handle)
            if let handshakes { handshakes.begin(connection) } else { onConnection?(connection) }
        } catch {
            onError?(error)
        }
    }

    private func countInTurn() {
        _ = NextTurn { [weak self] in
            guard let self else { return }
            acceptedInTurn = 0
            if isFull { accept(0) }
        }
    }
}
