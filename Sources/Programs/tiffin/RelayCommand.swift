internal import CommandLineOptions
internal import Domain
internal import EventLog
internal import EventLoop
internal import Integrations
internal import LineClient
internal import LineProtocol
internal import PostgresStorage

enum RelayCommand: Subcommand {
    static let name = "relay"
    static let summary = "posts the events of a running server to a web address, signed and in order"

    static let options: [any DeclaredOption] =
        [to, server, relay, only, from, Database.partition, timeout, retryAfter, retryMost, showSecret]
        + ConnectionOptions.declarations + Database.options

    static let about: String? = """
        Every event is posted as LOG.READ gives it, until the address answers with a status from 200 to 299.
        Those of a partition come in their order, the next one when the one before is taken. Anything else than
        such a status, a redirect as well, counts as a failure: it is said on standard error, and the event is
        posted again, for ever, with growing pauses. Nothing is skipped, whenever the relay is stopped or killed;
        an event that was just taken may then come twice, with the same webhook-id.

        Messages are signed as Standard Webhooks: webhook-id is <partition>-<position>, and webhook-signature
        is made with the relay's secret, which --show-secret prints. The relay asks the server as an auditor,
        and keeps its place in the server's database.
        """

    private static let to = Option.optional(
        "to", "url", "where to post, such as https://example.com/events",
        OptionValue("an address by http or https, with a host and without a user") { text in
            WebAddress.isAbsolute(Text(text)) ? text : nil
        })
    private static let server = Option.value(
        "server", "host:port", "where the server listens", OptionValue("host:port") { ServerAddress($0) },
        default: "127.0.0.1:7379")
    private static let relay = Option.value(
        "name", "name", "which relay this is: each has its own place and secret",
        OptionValue("1–64 of the characters \(Identifier.characters)") { Identifier($0) }, default: "default")
    private static let only = Option(
        OptionDeclaration(
            "only", "kind",
            "posts only events of this kind, such as order.placed, or of all that begin so, such as order; may be "
                + "repeated", isRepeatable: true)
    ) { texts throws(UsageError) in texts }
    private static let from = Option.optional(
        "from", "n", "begins at this position; otherwise where it stopped, a new relay with the first event",
        .integer(1...Int(LogHead.maximumPosition)))
    private static let timeout = Option.value(
        "timeout", "s", "how long an answer may take", .integer(1...600), default: "15")
    private static let retryAfter = Option.value(
        "retry-after", "ms", "the pause after a failure, doubled after each further one, less by up to half",
        .integer(1...3_600_000), default: "1000")
    private static let retryMost = Option.value(
        "retry-most", "ms", "the longest pause", .integer(1...86_400_000), default: "3600000")
    private static let showSecret = Option.flag("show-secret", "prints the relay's secret, and ends")

    static func run(_ options: Options) async throws -> ExitCode {
        let name = options[relay]
        var failure: RelayError?
        try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
            databases in
            let table = RelayTable(databases.first, name: name, for: .operator)
            if options[showSecret] {
                let secret = try await table.secret(isAlone: false)
                try await PendingDeeds.deliver(in: databases)
                Terminal.print(secret.text)
                return
            }
            guard let url = options[to] else { throw UsageError("--to is needed") }
            failure = try await follow(url, table, "\(name)", options) {
                try await PendingDeeds.deliver(in: databases)
            }
        }
        if let failure { throw failure }
        return .success
    }

    /// Posts until it is stopped, or cannot go on.
    @LoopActor
    private static func follow(
        _ url: String, _ table: RelayTable, _ name: String, _ options: Options,
        recorded: @LoopActor () async throws -> Void
    ) async throws -> RelayError? {
        let settings = Relay.Settings(
            url: url, kinds: options[only], seconds: options[timeout],
            backOff: BackOff(first: UInt64(options[retryAfter]), longest: UInt64(options[retryMost])))
        let relay = Relay(
            settings, server: try ConnectionOptions(options).server(at: options[server]), table: table
        ) { Terminal.printError("tiffin relay: \($0)") }
        let places = try await relay.prepare(from: options[from].map { Int64($0) }, only: options[Database.partition])
        try await recorded()
        let list = places.enumerated().map { "\($0)-\($1)" }.joined(separator: ", ")
        Terminal.printError("tiffin relay: '\(name)' goes on with \(list)")
        let stopping = StopSignal()
        var failure: RelayError?
        for partition in places.indices {
            LoopActor.task {
                do throws(RelayError) {
                    try await relay.run(partition: partition)
                } catch {
                    failure = failure ?? error
                    stopping.fire()
                }
            }
        }
        await stopping.wait()
        return failure
    }
}
