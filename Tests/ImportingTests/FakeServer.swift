import Dispatch
import Foundation
import LineProtocol
import Synchronization

@testable import Importing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A catalogue behind a socket on this machine, on a port that was free; it serves one connection after the
/// other until it is stopped.
final class FakeServer: Sendable {
    private let listener: Int32
    let address: ServerAddress
    private let state = Mutex(State())
    private let stopped = DispatchSemaphore(value: 0)

    struct State {
        var catalogue = Catalogue()
        /// Commands that are answered before the connection is closed; nil for all.
        var patience: Int?
        /// What is said before any reply.
        var greeting: String?
        fileprivate var isStopped = false
    }

    init(_ prepare: (inout State) -> Void = { _ in }) {
        let (listener, port) = Self.bindLoopback()
        self.listener = listener
        address = ServerAddress(host: "127.0.0.1", port: port)
        state.withLock { prepare(&$0) }
        Thread.detachNewThread { [self] in serve() }
    }

    /// A socket that listens on the loopback address, and its port.
    private static func bindLoopback() -> (listener: Int32, port: UInt16) {
        #if canImport(Glibc)
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                precondition(bind(listener, address, length) == 0, "no loopback")
                precondition(listen(listener, 8) == 0, "cannot listen")
                precondition(getsockname(listener, address, &length) == 0, "no name")
            }
        }
        return (listener, UInt16(bigEndian: name.sin_port))
    }

    /// Ends the thread and frees the port, so that nobody answers at the address.
    func stop() {
        state.withLock { $0.isStopped = true }
        // Wakes the thread, which waits for a connection.
        _ = try? ServerConnection(to: address)
        stopped.wait()
    }

    func withState<Value: Sendable>(_ body: @Sendable (inout State) -> Value) -> Value {
        state.withLock { body(&$0) }
    }

    private func serve() {
        while !state.withLock({ $0.isStopped }) {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { break }
            if !state.withLock({ $0.isStopped }) { converse(with: client) }
            close(client)
        }
        close(listener)
        stopped.signal()
    }

    private func converse(with client: Int32) {
        var input = ByteBuffer()
        var parser = RequestParser()
        var replies = ReplyBuffer()
        if let greeting = state.withLock({ $0.greeting }) {
            Array(greeting.utf8).withUnsafeBytes { replies.append(encoded: $0) }
        }
        while Self.flush(&replies, to: client) {
            var received = 0
            input.fill(atLeast: 4096) { room in
                received = max(recv(client, room.baseAddress, room.count, 0), 0)
                return received
            }
            guard received > 0 else { return }
            guard answer(&input, &parser, &replies) else {
                _ = Self.flush(&replies, to: client)
                return
            }
        }
    }

    /// Whether the conversation goes on.
    private func answer(
        _ input: inout ByteBuffer, _ parser: inout RequestParser, _ replies: inout ReplyBuffer
    ) -> Bool {
        while true {
            switch parser.next(input.bytes, within: RequestLimits()) {
            case .request(let arguments, let consumed):
                let command = arguments.map { $0.string ?? "" }
                let reply = state.withLock { state -> Reply? in
                    if state.patience == 0 { return nil }
                    state.patience = state.patience.map { $0 - 1 }
                    return state.catalogue.answer(command)
                }
                guard let reply else { return false }
                replies.write(reply)
                input.consume(consumed)
            case .incomplete(let consumed):
                input.consume(consumed)
                return true
            case .failure(let error):
                replies.error("ERR", error.message)
                return false
            }
        }
    }

    private static func flush(_ replies: inout ReplyBuffer, to client: Int32) -> Bool {
        #if canImport(Glibc)
            let flags = Int32(MSG_NOSIGNAL)
        #else
            let flags: Int32 = 0
        #endif
        while replies.count > 0 {
            let count = send(client, replies.bytes.baseAddress, replies.count, flags)
            guard count > 0 else { return false }
            replies.consume(count)
        }
        return true
    }
}

extension ReplyBuffer {
    /// Writes what a catalogue answers.
    fileprivate mutating func write(_ reply: Reply) {
        switch reply {
        case .null: null()
        case .integer(let value): integer(value)
        case .bulk(let bytes): bulk(bytes)
        case .error(let code, let message): error(code, message)
        default: preconditionFailure("a catalogue does not answer \(reply)")
        }
    }
}
