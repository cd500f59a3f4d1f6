internal import Audit
internal import CommandLineOptions
internal import EventLog
internal import EventLoop

enum VerifyCommand: Subcommand {
    static let name = "verify"
    static let summary = "checks a receipt of LOG.PROVE, or the proof of an order, without a server or a database"
    static let operands = ["<receipt>"]
    static let options: [any DeclaredOption] = [head, anchor, log, witness]
    static let failureCode = ExitCode.unreadable

    static let about: String? = """
        The receipt is a file, or - for standard input: redis-cli -p 7379 LOG.PROVE cart-cart-1 3 | tiffin verify -
        Of an answer of ORDER.PROVE it works out again what the order cost and what was given back of it.
        Exit codes: 0 proven, 1 not proven, 3 something cannot be read, 64 wrong options.
        """

    private static let head = Option.optional(
        "head", "digest", "the root of the log's tree, or a digest of its chain, that you got elsewhere",
        OptionValue("64 hexadecimal digits") { Digest(hexadecimal: $0.lowercased()) })
    private static let anchor = Option.optional(
        "anchor", "file", "anchors of the log: those from the event to the head must hold", .text)

    private static let log = NoteKeys.option("log", "a key of the log, which must have signed the root", .signer)
    private static let witness = NoteKeys.option(
        "witness", "the key of a witness, which must have cosigned the root", .cosigner)

    /// The largest receipt that is read, in bytes.
    private static let maximumLength = 64 << 20

    private struct Unreadable: Error, CustomStringConvertible {
        var description: String
    }

    static func run(_ options: Options) async throws -> ExitCode {
        let verdict = try verdict(options)
        for line in verdict.lines { Terminal.print(line) }
        return verdict.isProven ? .success : .failure
    }

    private static func verdict(_ options: Options) throws -> (isProven: Bool, lines: [String]) {
        guard let path = options.operands.first else { throw UsageError("which receipt?") }
        let anchors = try options[anchor].map { try AnchorFile($0).read() }
        let text =
            path == "-"
            ? try NamedFile.standardInput(named: "standard input", atMost: maximumLength)
            : try NamedFile.contents(of: path, atMost: maximumLength)
        do {
            if let proof = try OrderProof(json: text) {
                let verdict = OrderVerdict(
                    of: proof, head: options[head], anchors: anchors, logs: options[log], witnesses: options[witness])
                return (verdict.isProven, verdict.lines)
            }
            let verdict = ReceiptVerdict(
                of: try Receipt(json: text), head: options[head], anchors: anchors, logs: options[log],
                witnesses: options[witness])
            return (verdict.isProven, verdict.lines)
        } catch {
            throw Unreadable(
                description:
                    "\(path == "-" ? "standard input" : path) is not a receipt or the proof of an order: \(error)")
        }
    }
}

extension ExitCode {
    /// What was to be checked cannot be read.
    fileprivate static let unreadable = ExitCode(rawValue: 3)
}
