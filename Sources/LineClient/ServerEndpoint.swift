public import LineProtocol
public import TLS

/// A server, and how to talk to it.
public struct ServerEndpoint: Sendable, CustomStringConvertible {
    /// Where a server listens unless told otherwise.
    public static let standard = ServerEndpoint(.standard)

    /// Where it listens.
    public var address: ServerAddress
    /// What the client needs for TLS; nil for a plain connection.
    public var tls: TLSContext?

    /// The server at an address.
    public init(_ address: ServerAddress, tls: TLSContext? = nil) {
        self.address = address
        self.tls = tls
    }

    /// Its address.
    public var description: String { "\(address)" }
}
