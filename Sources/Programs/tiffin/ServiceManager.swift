internal import Foundation

/// What systemd is told where it started the server (`Type=notify`).
///
/// Source of the protocol: sd_notify(3).
enum ServiceManager {
    enum State: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
    }

    /// Does nothing where no service manager wants to know.
    static func tell(_ state: State) {
        #if os(Linux)
            guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"] else { return }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            // A name that begins with @ is not in the file system, and has a zero there.
            let name = Array(path.utf8).enumerated().map { $0 == 0 && $1 == UInt8(ascii: "@") ? 0 : $1 }
            guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
            let length = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path)! + name.count)
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = sendto(descriptor, state.rawValue, state.rawValue.utf8.count, 0, $0, length)
                }
            }
        #endif
    }
}
