public import CommandLineOptions
public import LineProtocol
public import TLS

/// What the command line of a client says about TLS.
public struct TLSOptions: Equatable, Sendable {
    private static let tls = Option.flag("tls", "talk TLS to the server, whose certificate has to fit its host")
    private static let authority = Option.optional(
        "tls-ca", "file", "who may have signed that (default those that this machine trusts)", .text)
    private static let certificate = Option.optional(
        "tls-cert", "file", "this client's certificate, if the server asks for one", .text)
    private static let key = Option.optional(
        "tls-key", "file", "the key of that certificate (default in the same file)", .text)

    /// The options, for the syntax of every program that connects to a server.
    public static let declarations: [any DeclaredOption] = [tls, authority, certificate, key]

    private var isUsed = false
    private var authority: String?
    private var certificate: String?
    private var key: String?

    /// Plain connections.
    public init() {}

    /// What was given.
    public init(_ options: Options) throws(UsageError) {
        isUsed = options[TLSOptions.tls]
        for option in [TLSOptions.authority, TLSOptions.certificate, TLSOptions.key]
        where options.isGiven(option) && !isUsed {
            throw UsageError("--\(option.declaration.name) goes with --tls")
        }
        authority = options[TLSOptions.authority]
        certificate = options[TLSOptions.certificate]
        key = options[TLSOptions.key]
        guard key == nil || certificate != nil || !isUsed else { throw UsageError("--tls-key goes with --tls-cert") }
    }

    /// The server at an address, talked to in this way.
    public func server(at address: ServerAddress) throws(TLSContext.Failure) -> ServerEndpoint {
        guard isUsed else { return ServerEndpoint(address) }
        return ServerEndpoint(
            address, tls: try TLSContext.client(authority: authority, certificate: certificate, key: key))
    }
}
