package import EventLoop
package import LineProtocol

/// Who logs in to a server, and with what.
package struct Login: Equatable, Sendable {
    /// The user's name.
    package var user: String
    /// The password, or a token.
    package var password: String
}

/// A server, and how to talk to it.
package struct ServerEndpoint: Sendable, CustomStringConvertible {
    /// Where a server listens unless told otherwise.
    package static let standard = ServerEndpoint(.standard)

    /// Where it listens.
    package var address: ServerAddress
    /// What the client needs for TLS; nil for a plain connection.
    package var tls: TLSContext?
    /// Who logs in; nil for no login.
    package var login: Login?

    /// The server at an address.
    package init(_ address: ServerAddress, tls: TLSContext? = nil, login: Login? = nil) {
        self.address = address
        self.tls = tls
        self.login = login
    }

    /// Its address.
    package var description: String { "\(address)" }
}
