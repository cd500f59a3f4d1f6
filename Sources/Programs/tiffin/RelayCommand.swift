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
        [
            to, format, source, server, relay, only, from, Database.partition, timeout, retryAfter, retryMost,
            giveUpAfter, giveUpTime,
        ]
        + [list, again, skip, reason, showSecret]
        + ConnectionOptions.declarations + Database.options

    static let about: String? = """
        Every event is posted as LOG.READ gives it, until the address answers with a status from 200 to 299.
        Those of a stream come in their order, the next one when the one before is taken. Anything else than
        such a status, a redirect as well, counts as a failure: it is said on standard error, and the event is
        posted again with growing pauses, for three days unless --give-up-time says otherwise; then it is set
        aside. Until then it holds back the later events of its stream, and no others. Where nobody is reached,
        or the address answers with status 429 or 503, the partition waits. Nothing is skipped, whenever the
        relay is stopped or killed; an event that was just taken may then come twice, with the same webhook-id.

        Messages are signed as Standard Webhooks: webhook-id is <partition>-<position>, and webhook-signature
        is made with the relay's secret, which --show-secret prints. The relay asks the server as an auditor,
        and keeps its place in the server's database.
        """

    private static let to = Option.optional(
        "to", "url", "where to post, such as https://example.com/events; or file:PATH, or - for standard output",
        OptionValue(
            "an address by http or https, with a host and without a user, nor file:PATH, nor -", destination))
    private static let format = Option.value(
        "format", "name", "event: as LOG.READ gives it; cloudevents: with that as its data",
        OptionValue("event or cloudevents") { RelayFormat(rawValue: $0) }, default: "event")
    private static let source = Option.value(
        "source", "uri", "the source of CloudEvents, which says which log it is",
        OptionValue("a reference to a URI") { isReference($0) ? $0 : nil }, default: "/tiffin")
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
        "retry-most", "ms", "the longest pause, also where the address asks for a longer one", .integer(1...86_400_000),
        default: "3600000")
    private static let giveUpAfter = Option.optional(
        "give-up-after", "n", "sets an event aside after so many refusals", .integer(1...1_000_000))
    private static let giveUpTime = Option.value(
        "give-up-time", "s", "sets an event aside that is refused for so long; 0: never", .integer(0...31_536_000),
        default: "259200")
    private static let list = Option.flag("list", "prints what is held back or set aside, and ends")
    private static let again = Option.optional(
        "again", "id", "has such an event posted again at once, by its webhook-id, and ends", webhookID)
    private static let skip = Option.optional(
        "skip", "id", "leaves out such an event, which is recorded in the log with a --reason, and ends", webhookID)
    private static let reason = Option.optional(
        "reason", "text", "why it is left out",
        OptionValue("a text of 1–500 bytes") { (1...500).contains($0.utf8.count) ? Text($0) : nil })
    private static let showSecret = Option.flag("show-secret", "prints the relay's secret, and ends")

    private static let webhookID = OptionValue<(partition: Int, position: Int64)>(
        "<partition>-<position>, such as 0-104"
    ) { text in
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let partition = Int(parts[0]), let position = Int64(parts[1]),
            (0..<Migrations.maximumPartitions).contains(partition), position > 0
        else { return nil }
        return (partition, position)
    }

    /// Where events go; a file is opened later.
    private enum Destination: Sendable {
        case web(String), file(String), output
    }

    private static func destination(_ text: String) -> Destination? {
        if text == "-" { return .output }
        if text.hasPrefix("file:") { return text.count > 5 ? .file(String(text.dropFirst(5))) : nil }
        return WebAddress.isAbsolute(Text(text)) ? .web(text) : nil
    }

    private static func isReference(_ text: String) -> Bool {
        (1...200).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"<>\\^`{|}".utf8.contains($0) }
    }

    static func run(_ options: Options) async throws -> ExitCode {
        let name = options[relay]
        guard (options[skip] == nil) == (options[reason] == nil) else {
            throw UsageError("--skip and --reason belong together")
        }
        var failure: RelayError?
        try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
            databases in
            let table = RelayTable(databases, name: name, for: .operator)
            if options[showSecret] {
                let secret = try await table.secret(isAlone: false)
                try await PendingDeeds.deliver(in: databases)
                Terminal.print(secret.text)
                return
            }
            if options[list] {
                for line in try await table.list() { Terminal.print(line) }
                return
            }
            if let event = options[again] { return try await table.sendAgain(event.position, in: event.partition) }
            if let event = options[skip], let reason = options[reason] {
                try await table.skip(event.position, in: event.partition, because: reason)
                return try await PendingDeeds.deliver(in: databases)
            }
            guard let destination = options[to] else { throw UsageError("--to is needed") }
            failure = try await follow(destination, table, "\(name)", options) {
                try await PendingDeeds.deliver(in: databases)
            }
        }
        if let failure { throw failure }
        return .success
    }

    private static func opened(_ destination: Destination) throws -> RelayDestination {
        switch destination {
        case .web(let url): .web(url)
        case .file(let path): .lines(try LineFile(appendingTo: path))
        case .output: .lines(LineFile())
        }
    }

    /// Posts until it is stopped, or cannot go on.
    @LoopActor
    private static func follow(
        _ destination: Destination, _ table: RelayTable, _ name: String, _ options: Options,
        recorded: @LoopActor () async throws -> Void
    ) async throws -> RelayError? {
        let settings = Relay.Settings(
            destination: try opened(destination), format: options[format], source: options[source],
            kinds: options[only], seconds: options[timeout],
            backOff: BackOff(first: UInt64(options[retryAfter]), longest: UInt64(options[retryMost])),
            refusalLimit: options[giveUpAfter],
            refusalSeconds: options[giveUpTime] == 0 ? nil : Int64(options[giveUpTime]))
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
