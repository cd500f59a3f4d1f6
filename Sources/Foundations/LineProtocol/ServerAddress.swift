/// Where a server listens, written `host:port`, `[::1]:port`, or `:port` for this machine.
public struct ServerAddress: Equatable, Sendable, CustomStringConvertible {
    /// Where a server listens unless told otherwise.
    public static let standard = ServerAddress(host: "127.0.0.1", port: 7379)

    /// A name or an address.
    public var host: String
    /// A port, never 0.
    public var port: UInt16

    /// The server at a host and port.
    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// The address that a text describes; nil if it is not an address.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            port > 0
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        self.init(host: host.isEmpty ? ServerAddress.standard.host : String(host), port: port)
    }

    /// The address as it is written.
    public var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
