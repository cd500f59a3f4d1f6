internal import Application
internal import CommandLineOptions
internal import EventLoop
internal import LineServer
internal import Serving

/// What a server shows its clients, from files that may be replaced while it runs.
@LoopActor
final class ServerCertificates {
    nonisolated private static let certificate = Option.optional(
        "tls-cert", "file",
        "the server's certificate with those that lead to its authority, in PEM: clients have to talk TLS", .text)
    nonisolated private static let key = Option.optional(
        "tls-key", "file", "the private key of the certificate, in PEM and without a password", .text)
    nonisolated private static let clientAuthority = Option.optional(
        "tls-client-ca", "file", "serve only clients with a certificate that one of these authorities signed", .text)
    nonisolated static let options: [any DeclaredOption] = [certificate, key, clientAuthority]

    /// What the files said when they were read last.
    private(set) var context: TLSContext
    /// Told of other certificates.
    weak var server: LineServer?

    private let certificate: String
    private let key: String
    private let clientAuthority: String?
    private let logger: Logger

    /// Reads the files; nil if there are to be none.
    init?(_ options: Options, _ logger: Logger) throws {
        let clientAuthority = options[ServerCertificates.clientAuthority]
        switch (options[ServerCertificates.certificate], options[ServerCertificates.key]) {
        case (nil, nil):
            guard clientAuthority == nil else { throw UsageError("--tls-client-ca goes with --tls-cert") }
            return nil
        case (let certificate?, let key?):
            self.certificate = certificate
            self.key = key
            self.clientAuthority = clientAuthority
            self.logger = logger
            context = try TLSContext.server(certificate: certificate, key: key, clientAuthority: clientAuthority)
            report()
        default: throw UsageError("--tls-cert and --tls-key go together")
        }
    }

    /// What other servers are reached with: they prove otherwise who they are.
    func peers() throws -> TLSContext { try .unverifiedClient(certificate: certificate, key: key) }

    /// Reads the files again, for clients that connect from now on. If they cannot be used, nothing changes.
    func reload() {
        do {
            context = try TLSContext.server(certificate: certificate, key: key, clientAuthority: clientAuthority)
            server?.replace(context)
            report()
        } catch {
            logger.error("the certificates were not reloaded, and the old ones stay in use: \(error)")
        }
    }

    private func report() {
        for warning in context.warnings { logger.error(warning) }
        logger.info("TLS with the certificate in '\(certificate)', valid until \(context.validUntil)")
    }
}
