internal import CLibSSL

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Certificates and rules of one side: what all its connections share. It never changes. Connections keep the one that
/// they began with.
public final class TLSContext: @unchecked Sendable {
    // OpenSSL lets any thread use it, once it is set up.
    let pointer: OpaquePointer
    let isServer: Bool
    /// Until when its certificate is valid, such as `2027-05-31`; empty where there is none.
    public private(set) var validUntil = ""
    /// What an operator should know about the files, although they can be used.
    public private(set) var warnings: [String] = []

    /// Why files cannot be used.
    public struct Failure: Error, CustomStringConvertible {
        /// The file, and what is wrong with it.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    private init(isServer: Bool) throws(Failure) {
        ERR_clear_error()
        guard let pointer = SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else {
            throw Failure("OpenSSL cannot start: \(TLSContext.reason)")
        }
        (self.pointer, self.isServer) = (pointer, isServer)
        SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        SSL_CTX_set_options(pointer, tls_no_renegotiation)
        // A silent connection keeps no buffers.
        SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        // Tickets, which clients keep, resume sessions. A cache would keep them here.
        SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        // OpenSSL would ask the terminal for it.
        SSL_CTX_set_default_passwd_cb(pointer) { _, _, _, _ in -1 }
    }

    deinit { SSL_CTX_free(pointer) }

    /// A server's side.
    ///
    /// - Parameters:
    ///   - certificate: a PEM file with the certificate, and those that lead from it to its authority.
    ///   - key: a PEM file with its private key.
    ///   - clientAuthority: a PEM file with the authorities of clients. If it is given, clients need a certificate.
    public static func server(
        certificate: String, key: String, clientAuthority: String? = nil
    ) throws(Failure) -> TLSContext {
        let context = try TLSContext(isServer: true)
        try context.use(certificate: certificate, key: key)
        if let clientAuthority {
            try context.trust(clientAuthority)
            // The names of the authorities are sent to clients, so that they can choose a certificate.
            SSL_CTX_set_client_CA_list(context.pointer, SSL_load_client_CA_file(clientAuthority))
            SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            // Without a name for its sessions, OpenSSL resumes none whose client has a certificate.
            let name = Array("tiffin".utf8)
            SSL_CTX_set_session_id_context(context.pointer, name, UInt32(name.count))
        }
        return context
    }

    /// A client's side. It talks only to a server whose certificate fits the server's name.
    ///
    /// - Parameters:
    ///   - authority: a PEM file with the authorities that may have signed the server's certificate; nil for those
    ///     that the system trusts.
    ///   - certificate: a PEM file with the client's own certificate, if it has one.
    ///   - key: a PEM file with its private key; nil if that is in the same file.
    public static func client(
        authority: String? = nil, certificate: String? = nil, key: String? = nil
    ) throws(Failure) -> TLSContext {
        let context = try TLSContext(isServer: false)
        if let certificate { try context.use(certificate: certificate, key: key ?? certificate) }
        if let authority {
            try context.trust(authority)
        } else if SSL_CTX_set_default_verify_paths(context.pointer) != 1 {
            throw Failure("the authorities that the system trusts cannot be read: \(reason)")
        }
        SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
        return context
    }

    /// The side of a client that finds out by itself whom it talks to, such as by a secret that both ends prove to know
    /// together with ``TCPConnection/channelBinding``: it takes any certificate.
    ///
    /// - Parameters:
    ///   - certificate: a PEM file with a certificate of its own, for servers that want one.
    ///   - key: a PEM file with its private key.
    public static func unverifiedClient(certificate: String, key: String) throws(Failure) -> TLSContext {
        let context = try TLSContext(isServer: false)
        try context.use(certificate: certificate, key: key)
        SSL_CTX_set_verify(context.pointer, SSL_VERIFY_NONE, nil)
        return context
    }

    // MARK: Files

    private func use(certificate: String, key: String) throws(Failure) {
        try TLSContext.checkReadable(certificate)
        try TLSContext.checkReadable(key)
        guard SSL_CTX_use_certificate_chain_file(pointer, certificate) == 1 else {
            throw Failure("'\(certificate)' has no certificate that can be used: \(TLSContext.reason)")
        }
        let isKey = SSL_CTX_use_PrivateKey_file(pointer, key, SSL_FILETYPE_PEM) == 1
        let code = ERR_GET_REASON(ERR_peek_last_error())
        guard isKey || code == X509_R_KEY_VALUES_MISMATCH || code == X509_R_KEY_TYPE_MISMATCH else {
            throw Failure(
                "'\(key)' has no private key that can be used: \(TLSContext.reason). It may not have a password")
        }
        guard isKey, SSL_CTX_check_private_key(pointer) == 1 else {
            ERR_clear_error()
            throw Failure("the key in '\(key)' does not belong to the certificate in '\(certificate)'")
        }
        checkValidity(of: certificate)
        checkSecrecy(of: key)
    }

    private func trust(_ authority: String) throws(Failure) {
        try TLSContext.checkReadable(authority)
        guard SSL_CTX_load_verify_locations(pointer, authority, nil) == 1 else {
            throw Failure("'\(authority)' has no certificate that can be used: \(TLSContext.reason)")
        }
    }

    private func checkValidity(of file: String) {
        guard let certificate = SSL_CTX_get0_certificate(pointer) else { return }
        let (from, until) = (X509_get0_notBefore(certificate), X509_get0_notAfter(certificate))
        validUntil = TLSContext.day(until)
        if X509_cmp_current_time(until) < 0 {
            warnings.append("the certificate in '\(file)' expired on \(validUntil): clients will refuse it")
        } else if X509_cmp_current_time(from) > 0 {
            warnings.append("the certificate in '\(file)' is valid only from \(TLSContext.day(from)) on")
        }
    }

    private func checkSecrecy(of file: String) {
        var status = stat()
        if stat(file, &status) == 0, status.st_mode & 0o007 != 0 {
            warnings.append("every user of this machine can read the key in '\(file)': chmod o= '\(file)'")
        }
    }

    private static func day(_ time: UnsafePointer<ASN1_TIME>?) -> String {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { return "an unknown day" }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(1900 + Int(parts.tm_year))-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    }

    private static func checkReadable(_ file: String) throws(Failure) {
        ERR_clear_error()
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure("'\(file)' cannot be read: \(String(cString: strerror(errno)))") }
        close(descriptor)
    }

    /// OpenSSL's words for what failed last on this thread.
    static var reason: String {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        guard let text = ERR_reason_error_string(code) else { return "unknown error" }
        return String(cString: text)
    }
}
