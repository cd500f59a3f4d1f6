package import CommandLineOptions
internal import EventLoop
internal import Foundation
package import LineProtocol

/// What the command line of a client says about TLS, and about the user to log in as.
///
/// A password is never an option, because everybody on the machine can read those.
package struct ConnectionOptions: Equatable, Sendable {
    private static let tls = Option.flag("tls", "talk TLS to the server, whose certificate has to fit its host")
    private static let authority = Option.optional(
        "tls-ca", "file", "who may have signed that (default those that this machine trusts)", .text)
    private static let certificate = Option.optional(
        "tls-cert", "file", "this client's certificate, if the server asks for one", .text)
    private static let key = Option.optional(
        "tls-key", "file", "the key of that certificate (default in the same file)", .text)

    private static let user = Option.optional(
        "user", "name", "logs in as this user, with the password or token in TIFFIN_PASSWORD", .text)
    private static let passwordFile = Option.optional(
        "password-file", "file", "has the password or token in its first line, in place of TIFFIN_PASSWORD", .text)

    /// The options, for the syntax of every program that connects to a server.
    package static let declarations: [any DeclaredOption] = [tls, authority, certificate, key, user, passwordFile]

    private var isUsed = false
    private var authority: String?
    private var certificate: String?
    private var key: String?
    private var user: String?
    private var passwordFile: String?

    /// Plain connections without a login.
    package init() {}

    /// What was given.
    package init(_ options: Options) throws(UsageError) {
        isUsed = options[ConnectionOptions.tls]
        for option in [ConnectionOptions.authority, ConnectionOptions.certificate, ConnectionOptions.key]
        where options.isGiven(option) && !isUsed {
            throw UsageError("--\(option.declaration.name) goes with --tls")
        }
        authority = options[ConnectionOptions.authority]
        certificate = options[ConnectionOptions.certificate]
        key = options[ConnectionOptions.key]
        guard key == nil || certificate != nil || !isUsed else { throw UsageError("--tls-key goes with --tls-cert") }
        user = options[ConnectionOptions.user]
        passwordFile = options[ConnectionOptions.passwordFile]
        guard user != nil || !options.isGiven(ConnectionOptions.passwordFile) else {
            throw UsageError("--password-file goes with --user")
        }
    }

    /// The server at an address, talked to in this way.
    package func server(at address: ServerAddress) throws -> ServerEndpoint {
        let tls = isUsed ? try TLSContext.client(authority: authority, certificate: certificate, key: key) : nil
        return ServerEndpoint(
            address, tls: tls, login: try user.map { Login(user: $0, password: try password(of: $0)) })
    }

    /// Of a file whose first line is a password, in bytes.
    private static let longestPasswordFile = 64 << 10

    private func password(of user: String) throws -> String {
        guard let passwordFile else {
            guard let password = ProcessInfo.processInfo.environment["TIFFIN_PASSWORD"] else {
                throw NoPassword(
                    description: "--user \(user): the password has to be in TIFFIN_PASSWORD or --password-file")
            }
            return password
        }
        let text = String(
            decoding: try NamedFile.contents(of: passwordFile, atMost: ConnectionOptions.longestPasswordFile),
            as: UTF8.self)
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }
}

/// Why a login is impossible.
private struct NoPassword: Error, CustomStringConvertible {
    var description: String
}
