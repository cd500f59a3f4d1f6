internal import CLibUV

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// One end of a TCP connection, as people and rules need it.
struct SocketAddress: CustomStringConvertible {
    /// `127.0.0.1:7379` or `[::1]:7379`.
    let description: String
    let port: Int
    /// In 127.0.0.0/8, also when mapped into IPv6, or `::1`.
    let isLoopback: Bool

    /// Asks libuv for one of a socket's two addresses; nil if the socket no longer has them.
    @LoopActor
    init?(
        of tcp: UnsafePointer<uv_tcp_t>,
        _ ask: (UnsafePointer<uv_tcp_t>?, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<Int32>?) ->
            Int32
    ) {
        var storage = sockaddr_storage()
        var length = Int32(MemoryLayout<sockaddr_storage>.size)
        let isKnown = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(tcp, $0, &length) == 0 }
        }
        guard isKnown else { return nil }
        self.init(storage)
    }

    private init?(_ storage: sockaddr_storage) {
        let host = withUnsafePointer(to: storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) {
                    text -> String? in
                    guard uv_ip_name(address, text.baseAddress, text.count) == 0 else { return nil }
                    return String(cString: text.baseAddress!)
                }
            }
        }
        guard let host else { return nil }
        if Int32(storage.ss_family) == AF_INET6 {
            let address = withUnsafeBytes(of: storage) { $0.load(as: sockaddr_in6.self) }
            port = Int(UInt16(bigEndian: address.sin6_port))
            description = "[\(host)]:\(port)"
            isLoopback = host == "::1" || host.hasPrefix("::ffff:127.")
        } else {
            let address = withUnsafeBytes(of: storage) { $0.load(as: sockaddr_in.self) }
            port = Int(UInt16(bigEndian: address.sin_port))
            description = "\(host):\(port)"
            isLoopback = host.hasPrefix("127.")
        }
    }

    /// Looks up a host and a port, which blocks; the caller frees the request's addresses.
    @LoopActor
    static func resolve(
        _ request: inout uv_getaddrinfo_t, host: String, port: UInt16, flags: Int32, _ action: String
    ) throws(LoopError) {
        var hints = addrinfo()
        #if canImport(Darwin)
            hints.ai_socktype = SOCK_STREAM
        #else
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        hints.ai_flags = flags | AI_NUMERICSERV
        try LoopError.check(
            uv_getaddrinfo(LoopActor.loop, &request, nil, host, String(port), &hints), action)
    }

    /// The addresses of a host, in the order in which to try them; looking them up blocks.
    @LoopActor
    static func all(host: String, port: UInt16, _ action: String) throws(LoopError) -> [sockaddr_storage] {
        var request = uv_getaddrinfo_t()
        try resolve(&request, host: host, port: port, flags: 0, action)
        defer { uv_freeaddrinfo(request.addrinfo) }
        var addresses: [sockaddr_storage] = []
        var candidate = request.addrinfo
        while let info = candidate?.pointee {
            var address = sockaddr_storage()
            withUnsafeMutableBytes(of: &address) {
                $0.copyMemory(
                    from: UnsafeRawBufferPointer(start: info.ai_addr, count: min(Int(info.ai_addrlen), $0.count)))
            }
            addresses.append(address)
            candidate = info.ai_next
        }
        return addresses
    }
}
