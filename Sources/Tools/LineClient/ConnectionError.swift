package import LineProtocol

/// Why the server can no longer be talked to.
package enum ConnectionError: Error, Equatable, CustomStringConvertible {
    /// No server answers at the address.
    case unreachable(ServerAddress, reason: String)
    /// The connection ended, or was silent for too long.
    case lost(ServerAddress, reason: String)
    /// The server takes nothing from us, whatever we ask.
    case refused(String)

    /// Codes of errors that every further command would meet: no rights, no database, no Tiffin.
    private static let fatalCodes: Set<String> = ["ERR", "NOAUTH", "NOPERM", "DENIED", "UNAVAILABLE"]

    /// The refusal that an error reply is; nil where it is about its command alone.
    package init?(fatal reply: Reply) {
        guard case .error(let code, let message) = reply, ConnectionError.fatalCodes.contains(code) else {
            return nil
        }
        self = .refused("\(code) \(message)")
    }

    /// What went wrong, for people.
    package var description: String {
        switch self {
        case .unreachable(let address, let reason): "cannot connect to \(address): \(reason)"
        case .lost(let address, let reason): "lost the connection to \(address): \(reason)"
        case .refused(let text):
            "the server refuses: \(text)" + (text.hasPrefix("NOAUTH") ? " Log in with --user." : "")
        }
    }
}
