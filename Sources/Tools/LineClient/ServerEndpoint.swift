public import EventLoop
public import LineProtocol

/// Who logs in to a server, and with what.
public struct Login: Equatable, Sendable {
    /// The user's name.
    public var user: String
    /// The password, or a token.
    public var password: String
}

/// A server, and how to talk to it.
public struct ServerEndpoint: Sendable, CustomStringConvertible {
    /// Where a server listens unless told otherwise.
    public static let standard = ServerEndpoint(.standard)

    /// Where it listens.
    public var address: ServerAddress
    /// What the client needs for TLS; nil for a plain connection.
    public var tls: TLSContext?
    /// Who logs in; nil for nobody.
    public var login: Login?

    /// The server at an address.
    public init(_ address: ServerAddress, tls: TLSContext? = nil, login: Login? = nil) {
        self.address = address
        self.tls = tls
        self.login = login
    }

    /// Its address.
    public var description: String { "\(address)" }
}
