// TLS without sockets, by OpenSSL: bytes of the peer go in, and plain bytes and bytes for the peer come out.
//
// It promises:
// - no bytes of a peer can stop the process, and none are lost, wherever the network cuts them;
// - what the peer is given to read was sent by whom the certificates name, complete and in order;
// - OpenSSL never leaves this target.

internal import CLibSSL

/// One end of one TLS connection. It is used by one thread.
public final class TLSEngine {
    /// How far it is.
    public enum State: Equatable, Sendable {
        /// Nothing can be sent yet.
        case handshaking
        /// Both sides can send.
        case open
        /// The peer has ended its side. This side can still send.
        case ended
        /// It is of no more use. OpenSSL says why.
        case failed(String)
    }

    /// A peer may change its keys this often. It does so after many gigabytes; each change costs us a hundred times
    /// what it costs the peer to ask.
    static let maximumKeyUpdates = 32
    /// The most plain bytes that are sealed at once. They become four records, and leave in one write.
    public static let maximumSealing = 64 * 1_024

    /// How far it is.
    public private(set) var state = State.handshaking
    /// Whether the peer has sent bytes beyond the handshake: `receive` takes them first.
    public var hasUnread: Bool { !unread.isEmpty }

    private let ssl: OpaquePointer
    private let buffers: TLSBuffers
    /// What the peer sent and OpenSSL has not taken, during a call.
    private var incoming = UnsafeRawBufferPointer(start: nil, count: 0)
    private var unread: [UInt8] = []
    private var keyUpdates = 0

    /// The server's end of a connection.
    public convenience init(server context: TLSContext, _ buffers: TLSBuffers) {
        precondition(context.isServer, "the context of a client")
        self.init(context, buffers)
        SSL_set_accept_state(ssl)
    }

    /// The client's end of a connection.
    ///
    /// - Parameter host: the name or address that the server's certificate has to be made for.
    public convenience init(client context: TLSContext, host: String, _ buffers: TLSBuffers) {
        precondition(!context.isServer, "the context of a server")
        self.init(context, buffers)
        SSL_set_connect_state(ssl)
        let rules = SSL_get0_param(ssl)
        guard X509_VERIFY_PARAM_set1_ip_asc(rules, host) != 1 else { return }
        // Certificates and SNI have names without the dot at the end of a complete one.
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        X509_VERIFY_PARAM_set_hostflags(rules, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        guard !name.isEmpty, SSL_set1_host(ssl, name) == 1 else {
            state = .failed("'\(host)' is not the name of a host")
            return
        }
        name.withCString { name in
            _ = SSL_ctrl(
                ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name),
                UnsafeMutableRawPointer(mutating: name))
        }
    }

    private init(_ context: TLSContext, _ buffers: TLSBuffers) {
        guard let ssl = SSL_new(context.pointer), let channel = BIO_new(TLSEngine.method.pointer) else {
            preconditionFailure("OpenSSL has no memory")
        }
        (self.ssl, self.buffers) = (ssl, buffers)
        let owner = Unmanaged.passUnretained(self).toOpaque()
        BIO_set_data(channel, owner)
        SSL_set_bio(ssl, channel, channel)
        SSL_set_msg_callback(ssl) { isOutgoing, _, type, bytes, count, _, owner in
            guard isOutgoing == 0, type == SSL3_RT_HANDSHAKE, count > 0,
                bytes!.load(as: UInt8.self) == UInt8(SSL3_MT_KEY_UPDATE)
            else { return }
            TLSEngine.of(owner).keyUpdates += 1
        }
        SSL_ctrl(ssl, SSL_CTRL_SET_MSG_CALLBACK_ARG, 0, owner)
    }

    deinit { SSL_free(ssl) }

    /// What only the two ends of this connection know (RFC 9266): whoever sits between them has two connections, and two
    /// of these. nil before the handshake is over.
    var channelBinding: [UInt8]? {
        let label = "EXPORTER-Channel-Binding"
        var binding = [UInt8](repeating: 0, count: 32)
        guard state == .open,
            SSL_export_keying_material(ssl, &binding, binding.count, label, label.utf8.count, nil, 0, 0) == 1
        else { return nil }
        return binding
    }

    // MARK: Calls

    /// Goes on with the handshake, with what the peer sent; a client begins it with nothing.
    public func handshake(_ bytes: UnsafeRawBufferPointer) {
        guard state == .handshaking else { return unread.append(contentsOf: bytes) }
        incoming = bytes
        forgetErrors()
        let result = SSL_do_handshake(ssl)
        if result == 1 {
            state = .open
            unread.append(contentsOf: incoming)
        } else {
            settle(result)
        }
        incoming = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// Opens bytes of the peer and delivers their content, in one or several pieces that are valid only during the
    /// call.
    public func receive(_ bytes: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) -> Void) {
        if !unread.isEmpty {
            let earlier = unread
            unread = []
            earlier.withUnsafeBytes { open($0, deliver) }
        }
        open(bytes, deliver)
    }

    private func open(_ bytes: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) -> Void) {
        guard state == .open else { return }
        incoming = bytes
        defer { incoming = UnsafeRawBufferPointer(start: nil, count: 0) }
        let plain = buffers.plain
        while state == .open {
            var filled = 0
            while filled < plain.count {
                var count = 0
                forgetErrors()
                let result = SSL_read_ex(ssl, plain.baseAddress! + filled, plain.count - filled, &count)
                guard result == 1 else {
                    settle(result)
                    break
                }
                filled += count
                // To ask once more would cost as much as a small record.
                if incoming.isEmpty, SSL_pending(ssl) == 0 { break }
            }
            if filled > 0 { deliver(UnsafeRawBufferPointer(rebasing: plain[..<filled])) }
            guard filled == plain.count else { return }
        }
    }

    /// Seals bytes for the peer, `maximumSealing` at most.
    public func seal(_ bytes: UnsafeRawBufferPointer) {
        guard state == .open || state == .ended, bytes.count > 0 else { return }
        var count = 0
        forgetErrors()
        let result = SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
        // The buffer takes everything, so nothing is left over.
        if result != 1 { settle(result) }
    }

    /// Tells the peer that this side will send nothing more.
    public func end() {
        guard state == .open || state == .ended else { return }
        forgetErrors()
        SSL_shutdown(ssl)
    }

    /// If other code left an error, OpenSSL would take it for one of this connection.
    private func forgetErrors() {
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// A call has done as much as it could: it waits for bytes, the peer has ended, or it failed.
    private func settle(_ result: Int32) {
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: break
        case SSL_ERROR_ZERO_RETURN: state = .ended
        default:
            let verdict = SSL_get_verify_result(ssl)
            if keyUpdates > TLSEngine.maximumKeyUpdates {
                state = .failed("the keys were changed too often")
            } else if verdict != Int(X509_V_OK) {
                ERR_clear_error()
                state = .failed("certificate refused: \(String(cString: X509_verify_cert_error_string(verdict)))")
            } else {
                state = .failed(TLSContext.reason)
            }
        }
    }

    // MARK: What OpenSSL reads and writes

    private static func of(_ owner: UnsafeMutableRawPointer?) -> TLSEngine {
        Unmanaged<TLSEngine>.fromOpaque(owner!).takeUnretainedValue()
    }

    /// Returns how many bytes were there.
    private func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard keyUpdates <= TLSEngine.maximumKeyUpdates else { return 0 }
        let count = min(buffer.count, incoming.count)
        guard count > 0 else { return 0 }
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: incoming[..<count]))
        incoming = UnsafeRawBufferPointer(rebasing: incoming[count...])
        return count
    }

    // Made once and never freed. OpenSSL lets any thread use it.
    private struct Method: @unchecked Sendable {
        let pointer: OpaquePointer
    }
    private static let method: Method = {
        guard let method = BIO_meth_new(BIO_get_new_index() | tls_new_bio_type, "tiffin") else {
            preconditionFailure("OpenSSL has no memory")
        }
        BIO_meth_set_create(method) { channel in
            BIO_set_init(channel, 1)
            return 1
        }
        BIO_meth_set_read_ex(method) { channel, buffer, size, count in
            let engine = TLSEngine.of(BIO_get_data(channel))
            BIO_clear_flags(channel, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            let taken = engine.take(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
            count!.pointee = taken
            guard taken == 0 else { return 1 }
            if engine.keyUpdates <= TLSEngine.maximumKeyUpdates {
                BIO_set_flags(channel, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            }
            return 0
        }
        BIO_meth_set_write_ex(method) { channel, bytes, size, count in
            TLSEngine.of(BIO_get_data(channel)).buffers.append(
                sealed: UnsafeRawBufferPointer(start: bytes, count: size))
            count!.pointee = size
            return 1
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        return Method(pointer: method)
    }()
}
