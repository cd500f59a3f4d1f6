#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A port that listens and never accepts a connection.
struct DeafListener {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        #if canImport(Darwin)
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) | listen(descriptor, 0) | getsockname(descriptor, address, &length)
            }
        }
        guard code == 0 else { throw BlockingClient.Failure(errno: errno) }
        port = UInt16(bigEndian: address.sin_port)
    }

    func close() { _ = shut(descriptor) }
}

private func shut(_ descriptor: Int32) -> Int32 { close(descriptor) }
