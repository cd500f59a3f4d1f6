public import LineProtocol

/// Why the server can no longer be talked to.
public enum ConnectionError: Error, Equatable, CustomStringConvertible {
    /// Nobody answers at the address.
    case unreachable(ServerAddress, reason: String)
    /// The connection ended, or was silent for too long.
    case lost(ServerAddress, reason: String)
    /// The server takes nothing from us, whatever the row.
    case refused(String)

    /// What went wrong, for people.
    public var description: String {
        switch self {
        case .unreachable(let address, let reason): "cannot connect to \(address): \(reason)"
        case .lost(let address, let reason): "lost the connection to \(address): \(reason)"
        case .refused(let text): "the server refuses: \(text)"
        }
    }
}
