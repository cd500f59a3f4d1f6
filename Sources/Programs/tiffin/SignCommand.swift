internal import CommandLineOptions
internal import EventLog
internal import EventLoop
internal import Integrations
internal import PostgresStorage

enum SignCommand: Subcommand {
    static let name = "sign"
    static let summary = "signs what the log is, has witnesses cosign it, and publishes that"
    static let options: [any DeclaredOption] =
        [key, NoteKeys.name, state, witness, every, once, Database.partition] + Database.options

    static let about: String? = """
        Run one beside the servers of a log. It signs only what goes on from what it has signed before, which it keeps
        in its own folder: where the database has lost something, or is another one, it says so and signs nothing.
        Servers give the newest signed head to whoever asks (LOG.SIGNED), and prove by it (LOG.PROVE).
        """

    private static let key = Option(
        OptionDeclaration(
            "key", "file", "the log's key; two while it changes from one to another", isRepeatable: true)
    ) { texts throws(UsageError) in texts }
    private static let state = Option.value(
        "state", "dir", "where it keeps what it has signed", .text, default: "signed-heads")
    private static let witness = Option(
        OptionDeclaration(
            "witness", "address key", "a witness's address and key, with a space between them; may be repeated",
            isRepeatable: true)
    ) { texts throws(UsageError) in
        try texts.map { text throws(UsageError) in
            guard let witness = WitnessAddress(text) else {
                throw UsageError("--witness must be an address and a key, as in 'http://host:7390 name+hash+key'")
            }
            return witness
        }
    }
    private static let every = Option.value(
        "every", "s", "how often it signs", .integer(1...86_400), default: "60")
    private static let once = Option.flag("once", "signs once, and ends")

    static func run(_ options: Options) async throws -> ExitCode {
        let name = try NoteKeys.name(options)
        guard !options[key].isEmpty else { throw UsageError("--key is needed") }
        let signers = try options[key].map { try NoteKeys.signer($0, name: name, kind: .signer) }
        let folder = try NoteFolder(options[state])
        var isSound = true
        try await Database.run(options, log: { say($0) }, besideServer: true) { databases in
            let storage = try await LogStorage.open(databases, isReadOnly: true)
            defer { storage.close() }
            let heads = SignedHeads(databases)
            defer { heads.close() }
            let signer = LogSigner(
                name, signers: signers, witnesses: options[witness], folder: folder, log: storage.history
            ) { head, partition in
                try await heads.publish(head, of: partition)
            } say: {
                say($0)
            }
            let stopping = StopSignal()
            let partitions = try Database.partitions(options, of: storage.log.partitionCount)
            repeat {
                isSound = true
                for partition in partitions {
                    do {
                        let outcome = try await signer.sign(partition)
                        if outcome == .refused { isSound = false }
                        if case .signed(let size, let cosignatures) = outcome {
                            Terminal.print(
                                "partition \(partition): signed over \(size) batches, cosigned by \(cosignatures) of "
                                    + "\(options[witness].count)")
                        }
                    } catch {
                        isSound = false
                        say("partition \(partition): \(error)")
                    }
                }
                if options[once] { return }
            } while await !stopping.wait(milliseconds: 1_000 * UInt64(options[every]))
        }
        return isSound ? .success : .failure
    }

    private static func say(_ text: String) { Terminal.printError("tiffin sign: \(text)") }
}
