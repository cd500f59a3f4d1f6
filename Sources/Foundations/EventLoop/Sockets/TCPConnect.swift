internal import CLibUV

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension TCPConnection {
    /// Connects to an address literal or a name, whose addresses are tried one after the other. Looking up a name
    /// blocks; connecting does not.
    ///
    /// - Parameter timeoutMilliseconds: how long each address has to answer.
    /// - Throws: why the last address could not be reached.
    public static func connect(
        host: String, port: UInt16, timeoutMilliseconds: UInt64 = 5_000
    ) async throws(LoopError) -> TCPConnection {
        let action = "connect to \(host):\(port)"
        var failure = LoopError(UV_EADDRNOTAVAIL.rawValue, action)
        for address in try SocketAddress.all(host: host, port: port, action) {
            do throws(LoopError) {
                return try await connect(to: address, timeoutMilliseconds, action)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private static func connect(
        to address: sockaddr_storage, _ timeoutMilliseconds: UInt64, _ action: String
    ) async throws(LoopError) -> TCPConnection {
        let handle = LoopHandle<uv_tcp_t>()
        let code = uv_tcp_init(LoopActor.loop, handle.raw)
        if code < 0 {
            handle.discard()
            throw LoopError(code, action)
        }
        do throws(LoopError) {
            let attempt = ConnectionAttempt()
            try attempt.start(handle, address, action)
            let timer = LoopTimer(milliseconds: timeoutMilliseconds) {
                // If the loop was busy all the time, it has not looked at the socket yet. It does so before this
                // fires.
                _ = LoopTimer(milliseconds: 1) { attempt.end(UV_ETIMEDOUT.rawValue) }
            }
            defer { timer.cancel() }
            try LoopError.check(await attempt.status(), action)
            return try TCPConnection(connected: handle)
        } catch {
            handle.close()
            throw error
        }
    }
}

/// A connection that is being established.
@LoopActor
private final class ConnectionAttempt {
    private var outcome: Int32?
    private var waiter: CheckedContinuation<Void, Never>?

    func start(_ handle: LoopHandle<uv_tcp_t>, _ address: sockaddr_storage, _ action: String) throws(LoopError) {
        let connect = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        connect.initialize(to: uv_connect_t())
        connect.pointee.data = Unmanaged.passRetained(self).toOpaque()
        let code = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                uv_tcp_connect(connect, handle.raw, address) { connect, status in
                    let attempt = Unmanaged<ConnectionAttempt>.fromOpaque(connect!.pointee.data).takeRetainedValue()
                    connect!.deallocate()
                    LoopActor.assumeIsolated { attempt.end(status) }
                }
            }
        }
        guard code < 0 else { return }
        Unmanaged<ConnectionAttempt>.fromOpaque(connect.pointee.data).release()
        connect.deallocate()
        throw LoopError(code, action)
    }

    func status() async -> Int32 {
        await LoopActor.wait(unless: { outcome != nil }) { waiter = $0 }
        return outcome ?? UV_ECANCELED.rawValue
    }

    /// Only the first result counts: closing the handle of an attempt that took too long gives another one.
    func end(_ status: Int32) {
        guard outcome == nil else { return }
        outcome = status
        waiter?.resume()
        waiter = nil
    }
}
