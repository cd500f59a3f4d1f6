internal import CLibUV

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension TCPConnection {
    /// Connects to an address literal or a name, of which the first address is taken. Looking a name up blocks;
    /// connecting does not.
    public static func connect(host: String, port: UInt16) async throws(LoopError) -> TCPConnection {
        let action = "connect to \(host):\(port)"
        let handle = LoopHandle<uv_tcp_t>()
        let code = uv_tcp_init(LoopActor.loop, handle.raw)
        if code < 0 {
            handle.discard()
            throw LoopError(code, action)
        }
        do throws(LoopError) {
            let attempt = ConnectionAttempt()
            try attempt.start(handle, host: host, port: port, action)
            try LoopError.check(await attempt.status(), action)
            return try TCPConnection(connected: handle)
        } catch {
            handle.close()
            throw error
        }
    }
}

/// A connection that is not there yet.
@LoopActor
private final class ConnectionAttempt {
    private var outcome: Int32?
    private var waiter: CheckedContinuation<Int32, Never>?

    func start(
        _ handle: LoopHandle<uv_tcp_t>, host: String, port: UInt16, _ action: String
    ) throws(LoopError) {
        var request = uv_getaddrinfo_t()
        try SocketAddress.resolve(&request, host: host, port: port, flags: 0, action)
        defer { uv_freeaddrinfo(request.addrinfo) }
        let connect = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        connect.initialize(to: uv_connect_t())
        connect.pointee.data = Unmanaged.passRetained(self).toOpaque()
        let code = uv_tcp_connect(connect, handle.raw, request.addrinfo.pointee.ai_addr) { connect, status in
            let attempt = Unmanaged<ConnectionAttempt>.fromOpaque(connect!.pointee.data).takeRetainedValue()
            connect!.deallocate()
            LoopActor.assumeIsolated { attempt.ended(status) }
        }
        guard code < 0 else { return }
        Unmanaged<ConnectionAttempt>.fromOpaque(connect.pointee.data).release()
        connect.deallocate()
        throw LoopError(code, action)
    }

    func status() async -> Int32 {
        if let outcome { return outcome }
        return await withCheckedContinuation { waiter = $0 }
    }

    private func ended(_ status: Int32) {
        outcome = status
        waiter?.resume(returning: status)
        waiter = nil
    }
}
