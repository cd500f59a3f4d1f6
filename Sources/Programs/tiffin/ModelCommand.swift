internal import CommandLineOptions
internal import Domain
internal import EventLoop
internal import Foundation
internal import LineClient
internal import LineProtocol
internal import ModelContext
internal import TextFormats
internal import Users

enum ModelCommand: Subcommand {
    static let name = "mcp"
    static let summary = "lets a language model order, by the Model Context Protocol on standard input and output"
    static let options: [any DeclaredOption] = [server, role, customer] + ConnectionOptions.declarations

    static let about: String? = """
        The program of a language model starts it, writes requests to its standard input, a line each, and reads the
        answers from its standard output. What a model may do is what the role may do, and what the server lets the user
        do. An order is placed only for a quote that was shown. See docs/mcp.md.
        """

    private static let server = Option.value(
        "server", "host:port", "the server", OptionValue("host:port") { ServerAddress($0) }, default: "127.0.0.1:7379")
    private static let role = Option.value(
        "role", "role", "whose tools there are: customer, merchant, auditor or admin",
        OptionValue("customer, merchant, auditor or admin") { word in
            Role(rawValue: word).flatMap { Role.ofUsers.contains($0) ? $0 : nil }
        }, default: "customer")
    private static let customer = Option.optional(
        "customer", "id", "the customer whose carts are filled, such as the id that a user is confined to",
        OptionValue("an id") { Identifier($0) })

    static func run(_ options: Options) async throws -> ExitCode {
        let endpoint = try ConnectionOptions(options).server(at: options[server])
        let customer = options[customer].map { "\($0)" } ?? "mcp-\(word())"
        var session = ModelSession(of: options[role], customer: customer, word: word)
        var connection: ServerConnection?
        defer { connection?.close() }
        // There is nothing to do but for whoever writes lines, and nobody else waits.
        while let line = readLine() {
            switch session.receive(Array(line.utf8)) {
            case .nothing: break
            case .answer(let answer): write(answer)
            case .ask(let question):
                write(session.answer(to: question, await reply(to: question.words, &connection, endpoint)))
            }
        }
        return .success
    }

    private static func write(_ answer: [UInt8]) {
        _ = LineOutput.write(answer + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
    }

    /// The reply to a command; nil if none comes. After a lost connection it is sent once more: a write has its `ID`.
    @LoopActor
    private static func reply(
        to words: [String], _ connection: inout ServerConnection?, _ endpoint: ServerEndpoint
    ) async -> Reply? {
        for _ in 0..<2 {
            do {
                let open: ServerConnection
                if let connection {
                    open = connection
                } else {
                    open = try await ServerConnection(to: endpoint)
                    connection = open
                }
                open.enqueue(words)
                return try await open.nextReply()
            } catch {
                Terminal.printError("tiffin mcp: \(error)")
                connection?.close()
                connection = nil
            }
        }
        return nil
    }

    /// A word of 64 random bits.
    private static func word() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
