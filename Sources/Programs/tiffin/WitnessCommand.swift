internal import CommandLineOptions
internal import EventLog
internal import EventLoop
internal import Integrations

enum WitnessCommand: Subcommand {
    static let name = "witness"
    static let summary = "cosigns the heads of logs that go on from what it has seen of them"
    static let options: [any DeclaredOption] = [key, NoteKeys.name, log, state, listen]

    static let about: String? = """
        Run it where nobody can reach it who can change the log. It needs no database and no server: logs bring their
        heads, with a proof that each goes on from the one before (c2sp.org/tlog-witness). One that does not is refused,
        so a log that shows two histories gets its cosignature for one of them only.
        """

    private static let key = Option.optional("key", "file", "the witness's key", .text)
    private static let log = NoteKeys.option("log", "the key of a log that it cosigns", .signer)
    private static let state = Option.value(
        "state", "dir", "where it keeps what it has cosigned", .text, default: "cosigned-heads")
    private static let listen = Option.value(
        "listen", "host:port", "where to listen", OptionValue("host:port", ServeCommand.listenAddress),
        default: "127.0.0.1:7390")

    static func run(_ options: Options) async throws -> ExitCode {
        guard let path = options[key] else { throw UsageError("--key is needed") }
        guard !options[log].isEmpty else { throw UsageError("--log is needed") }
        let signer = try NoteKeys.signer(path, name: try NoteKeys.name(options), kind: .cosigner)
        let server = WitnessServer(
            Witness(signer: signer, logs: options[log], folder: try NoteFolder(options[state]))
        ) {
            Terminal.printError("tiffin witness: \($0)")
        }
        let (host, port) = options[listen]
        Terminal.print("tiffin witness: on http://\(try server.listen(host: host, port: port))")
        Terminal.print("tiffin witness: \(signer.verifier)")
        await StopSignal().wait()
        server.close()
        return .success
    }
}
