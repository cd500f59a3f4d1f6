import Dispatch

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The other end of a connection: an ordinary blocking socket, used away from the loop's thread.
struct BlockingClient {
    private let descriptor: Int32

    init(port: Int) throws {
        // Child processes of tests that run at the same time must not inherit it: they would keep it open.
        #if canImport(Darwin)
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #else
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Failure(errno: errno) }
    }

    struct Failure: Error { let errno: Int32 }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Failure(errno: errno) }
            sent += count
        }
    }

    func endWrites() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Everything up to the peer's end, `chunk` bytes at a time.
    func receiveAll(chunk: Int = 65_536) throws -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let part = try receive(atMost: chunk)
            if part.isEmpty { return all }
            all += part
        }
    }

    func receive(exactly count: Int) throws -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count {
            let part = try receive(atMost: count - all.count)
            guard !part.isEmpty else { throw Failure(errno: 0) }
            all += part
        }
        return all
    }

    func close() { _ = systemClose(descriptor) }

    private func receive(atMost limit: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let result = read(descriptor, buffer.baseAddress, limit)
            guard result >= 0 else { throw Failure(errno: errno) }
            count = result
        }
    }
}

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

/// Runs blocking work off the loop's thread and Swift's own threads.
func blocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Swift.Result { try work() }) }
    }
}

/// The bytes that follow from a seed.
func randomBytes(_ count: Int, seed: UInt64) -> [UInt8] {
    var state = seed
    var words = [UInt64](repeating: 0, count: count / 8 + 1)
    for index in words.indices {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        words[index] = state
    }
    return words.withUnsafeBytes { Array($0.prefix(count)) }
}

extension AsyncStream where Element: Sendable {
    /// The next element; nil at the end.
    func next() async -> Element? {
        await first { _ in true }
    }
}
