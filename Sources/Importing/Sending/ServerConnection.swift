public import LineProtocol

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A TCP connection to a server. The caller's thread waits; while it does, bytes move both ways, so that
/// neither side can wait for the other to read.
public final class ServerConnection: CommandConnection {
    /// Milliseconds for a connection to be made.
    static let connectTimeout: Int32 = 5_000
    /// Milliseconds in which the server must say something, or take something.
    static let silenceTimeout: Int32 = 30_000

    private static let receiveLength = 64 << 10

    private let address: ServerAddress
    private let descriptor: Int32
    private var requests = RequestWriter()
    private var replies = ReplyParser()

    /// A connection to the server at an address.
    public init(to address: ServerAddress) throws(ConnectionError) {
        self.address = address
        descriptor = try ServerConnection.establish(to: address)
    }

    deinit { close(descriptor) }

    /// Puts a command on its way, without waiting.
    public func enqueue(_ command: [String]) {
        requests.write(command)
    }

    /// The answer to the oldest command that is unanswered.
    public func nextReply() throws(ConnectionError) -> Reply {
        while true {
            do throws(ReplyError) {
                if let reply = try replies.next() { return reply }
            } catch {
                throw .lost(address, reason: "what answers does not speak RESP")
            }
            try exchangeBytes()
        }
    }

    /// Waits until bytes can be sent or received, and moves them.
    private func exchangeBytes() throws(ConnectionError) {
        let wanted = POLLIN | (requests.count > 0 ? POLLOUT : 0)
        let ready = Self.wait(for: wanted, on: descriptor, timeout: Self.silenceTimeout)
        guard ready != 0 else {
            throw .lost(address, reason: "no answer for \(Self.silenceTimeout / 1000) seconds")
        }
        if ready & POLLOUT != 0 { try sendBytes() }
        if ready & ~POLLOUT != 0 { try receiveBytes() }
    }

    private func sendBytes() throws(ConnectionError) {
        #if canImport(Glibc)
            let flags = Int32(MSG_NOSIGNAL)
        #else
            let flags: Int32 = 0
        #endif
        let bytes = requests.bytes
        let count = send(descriptor, bytes.baseAddress, bytes.count, flags)
        if count > 0 {
            requests.consume(count)
        } else if !Self.isTransient(errno) {
            throw .lost(address, reason: Self.message(errno))
        }
    }

    private func receiveBytes() throws(ConnectionError) {
        let (descriptor, address) = (descriptor, address)
        try replies.receive(atLeast: Self.receiveLength) { room throws(ConnectionError) in
            let count = recv(descriptor, room.baseAddress, room.count, 0)
            if count > 0 { return count }
            guard count < 0 else { throw .lost(address, reason: "the server closed it") }
            guard Self.isTransient(errno) else { throw .lost(address, reason: Self.message(errno)) }
            return 0
        }
    }

    // MARK: Sockets

    /// A connected, non-blocking socket at the first address of the host that answers.
    private static func establish(to address: ServerAddress) throws(ConnectionError) -> Int32 {
        var hints = addrinfo()
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var candidates: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(address.host, String(address.port), &hints, &candidates)
        guard status == 0 else {
            throw .unreachable(address, reason: String(cString: gai_strerror(status)))
        }
        defer { freeaddrinfo(candidates) }
        var reason = "no address"
        var candidate = candidates
        while let info = candidate?.pointee {
            switch attempt(info) {
            case .success(let descriptor): return descriptor
            case .failure(let error): reason = message(error.code)
            }
            candidate = info.ai_next
        }
        throw .unreachable(address, reason: reason)
    }

    private struct SystemError: Error {
        var code: Int32
    }

    private static func attempt(_ info: addrinfo) -> Result<Int32, SystemError> {
        let descriptor = socket(info.ai_family, info.ai_socktype, info.ai_protocol)
        guard descriptor >= 0 else { return .failure(SystemError(code: errno)) }
        setOptions(of: descriptor)
        if let code = finishConnecting(descriptor, to: info) {
            close(descriptor)
            return .failure(SystemError(code: code))
        }
        return .success(descriptor)
    }

    private static func setOptions(of descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var on: Int32 = 1
        let length = socklen_t(MemoryLayout<Int32>.size)
        // Commands are written in large pieces; waiting for more only delays the last one.
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, length)
        #if canImport(Darwin)
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, length)
        #endif
    }

    /// The error that keeps the socket from being connected; nil when it is.
    private static func finishConnecting(_ descriptor: Int32, to info: addrinfo) -> Int32? {
        if connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 { return nil }
        guard errno == EINPROGRESS else { return errno }
        guard wait(for: POLLOUT, on: descriptor, timeout: connectTimeout) != 0 else { return ETIMEDOUT }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        return code == 0 ? nil : code
    }

    /// What of `events` came, or `POLLERR` or `POLLHUP`; 0 when nothing did in time.
    private static func wait(for events: Int32, on descriptor: Int32, timeout: Int32) -> Int32 {
        var polled = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            let count = poll(&polled, 1, timeout)
            if count >= 0 { return Int32(polled.revents) }
            guard errno == EINTR else { return POLLERR }
        }
    }

    private static func isTransient(_ code: Int32) -> Bool {
        code == EAGAIN || code == EWOULDBLOCK || code == EINTR
    }

    private static func message(_ code: Int32) -> String {
        String(cString: strerror(code))
    }
}
