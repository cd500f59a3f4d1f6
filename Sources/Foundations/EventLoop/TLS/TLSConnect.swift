internal import CLibUV

extension TCPConnection {
    /// The memory that all connections of the loop seal and open in.
    static let buffers = TLSBuffers()

    /// Connects, and does a client's part of the TLS handshake. The server's certificate has to be made for the host.
    ///
    /// - Throws: why the server could not be reached, or is not trusted.
    public static func connect(host: String, port: UInt16, tls context: TLSContext) async throws(LoopError)
        -> TCPConnection
    {
        let connection = try await connect(host: host, port: port)
        let handshake = ClientHandshake(connection, TLSEngine(client: context, host: host, buffers))
        if let failure = await handshake.run() { throw failure }
        return connection
    }
}

/// The handshake of a client.
@LoopActor
private final class ClientHandshake {
    private let connection: TCPConnection
    private let engine: TLSEngine
    private var waiter: CheckedContinuation<LoopError?, Never>?

    init(_ connection: TCPConnection, _ engine: TLSEngine) {
        (self.connection, self.engine) = (connection, engine)
    }

    /// Returns what went wrong. Then the connection closes.
    func run() async -> LoopError? {
        var ticks = 0
        let clock = LoopTimer(milliseconds: TLSHandshakes.tick, repeating: true) { [self] in
            ticks += 1
            if ticks == TLSHandshakes.timeLimit { end(failure(UV_ETIMEDOUT.rawValue, "the handshake took too long")) }
        }
        defer { clock.cancel() }
        return await withCheckedContinuation { waiter in
            self.waiter = waiter
            connection.onEnd = { [self] in
                end(failure(UV_ECONNRESET.rawValue, "the server ended the connection before the handshake"))
            }
            connection.onClose = { [self] in
                end($0 ?? failure(UV_ECONNRESET.rawValue, "the connection was closed before the handshake"))
            }
            connection.startReading { [self] in advance($0) }
            advance(UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    private func advance(_ bytes: UnsafeRawBufferPointer) {
        engine.handshake(bytes)
        TCPConnection.buffers.flush { connection.write($0) }
        switch engine.state {
        case .handshaking: break
        case .failed(let reason): end(failure(UV_EPROTO.rawValue, "no TLS: \(reason)"))
        case .open, .ended:
            guard connection.isOpen else { return }
            connection.secure(with: engine)
            end(nil)
        }
    }

    private func end(_ failure: LoopError?) {
        guard let waiter else { return }
        self.waiter = nil
        connection.stopReading()
        (connection.onEnd, connection.onClose) = (nil, nil)
        // The server is told why.
        if failure != nil { connection.closeAfterWrites() }
        waiter.resume(returning: failure)
    }

    private func failure(_ code: Int32, _ reason: String) -> LoopError {
        LoopError(code, "connect to \(connection.peerAddress)", reason)
    }
}
