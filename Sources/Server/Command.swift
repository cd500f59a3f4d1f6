internal import EventLog
internal import EventLoop
internal import LineProtocol

/// Who may use a command.
enum Role: String, Sendable {
    case anybody, customer, merchant, auditor
}

/// An argument of a command, as `COMMAND DOCS` and `HELP` describe it.
struct ArgumentSpec: Sendable {
    enum Kind: String, Sendable {
        case string, integer, pureToken = "pure-token"
    }

    var name: String
    var kind: Kind
    /// The word before the value, or the word itself.
    var token: String?
    var isOptional: Bool
    var isRepeated: Bool

    static func key(_ name: String) -> ArgumentSpec { value(name, .string) }

    static func value(_ name: String, _ kind: Kind = .string, repeated: Bool = false) -> ArgumentSpec {
        ArgumentSpec(name: name, kind: kind, token: nil, isOptional: false, isRepeated: repeated)
    }

    static func optional(
        _ name: String, _ kind: Kind = .string, token: String? = nil, repeated: Bool = false
    ) -> ArgumentSpec {
        ArgumentSpec(name: name, kind: kind, token: token, isOptional: true, isRepeated: repeated)
    }

    static func required(_ name: String, _ kind: Kind = .string, token: String) -> ArgumentSpec {
        ArgumentSpec(name: name, kind: kind, token: token, isOptional: false, isRepeated: false)
    }

    /// How many words it is in a call.
    var words: Int { token != nil && kind != .pureToken ? 2 : 1 }

    /// As a person reads it: `<item>`, `[NOTE <text>]`.
    var usage: String {
        // A name of several words stands for as many values, and `…` for more of the last.
        let value =
            kind == .pureToken
            ? "" : name.split(separator: " ").map { $0 == "…" ? "…" : "<\($0)>" }.joined(separator: " ")
        let words = [token, value.isEmpty ? nil : value].compactMap(\.self).joined(separator: " ")
        return (isOptional ? "[\(words)]" : words) + (isRepeated ? " …" : "")
    }
}

/// One entry of the command table, which drives dispatch, arity, help, `COMMAND` and the documentation.
final class Command: Sendable {
    enum Group: String, CaseIterable, Sendable {
        case connection, server, catalogue, browsing, carts, log
    }

    /// What a command does to the order in which those of one connection run.
    enum Effect: Sendable {
        /// It reads, or is about the connection: it waits until earlier writes of the connection are durable, so
        /// that it sees them.
        case read
        /// It writes a stream of that kind: it joins earlier writes, but for those to kinds of stream that it
        /// looks at. A menu is put to an outlet, and a cart is filled from both.
        case write(StreamName.Category)

        func waits(for earlier: StreamName.Category) -> Bool {
            switch (self, earlier) {
            case (.read, _), (.write(.menu), .outlet), (.write(.cart), .outlet), (.write(.cart), .menu): true
            case (.write, _): false
            }
        }
    }

    let name: String
    let group: Group
    let role: Role
    let effect: Effect
    /// Whether a client may send it while it listens to channels in RESP2, where messages cannot be told from
    /// replies.
    let isForSubscribers: Bool
    let summary: String
    let arguments: [ArgumentSpec]
    /// The bytes of the name.
    let capitals: [UInt8]
    /// The fewest words of a call, the name included.
    let minimumWords: Int
    /// The most words of a call, or nil where there is no bound but the protocol's.
    let maximumWords: Int?
    let run: @LoopActor (Session, Arguments) throws(Failure) -> Void

    init(
        _ name: String, _ group: Group, role: Role = .anybody, effect: Effect = .read,
        isForSubscribers: Bool = false, _ summary: String,
        _ arguments: [ArgumentSpec] = [], run: @escaping @LoopActor (Session, Arguments) throws(Failure) -> Void
    ) {
        self.name = name
        capitals = Array(name.utf8)
        self.group = group
        self.role = role
        self.effect = effect
        self.isForSubscribers = isForSubscribers
        self.summary = summary
        self.run = run
        var arguments = arguments
        if case .write = effect {
            arguments += [.optional("id", token: "ID"), .optional("version", .integer, token: "VERSION")]
        }
        self.arguments = arguments
        minimumWords = 1 + arguments.lazy.filter { !$0.isOptional }.map(\.words).reduce(0, +)
        maximumWords = arguments.contains(where: \.isRepeated) ? nil : 1 + arguments.lazy.map(\.words).reduce(0, +)
    }

    /// The arity as Redis tells it: negative where there may be more words.
    var arity: Int { minimumWords == maximumWords ? minimumWords : -minimumWords }

    /// The call as a person reads it.
    var usage: String { ([name] + arguments.map(\.usage)).joined(separator: " ") }
}

/// Every command, found by name whatever its case.
struct CommandTable: Sendable {
    static let shared = CommandTable(
        ConnectionCommands.all + ServerCommands.all + CatalogueCommands.all + BrowsingCommands.all
            + SubscriptionCommands.all + CartCommands.all + LogCommands.all)

    let commands: [Command]
    private let indices: [UInt64: Int]

    private init(_ commands: [Command]) {
        self.commands = commands
        indices = Dictionary(
            uniqueKeysWithValues: commands.enumerated().map {
                (Argument.caseInsensitiveHash(of: $1.name.utf8), $0)
            })
    }

    /// The index of the command of that name.
    func index(of name: Argument) -> Int? {
        guard let index = indices[name.caseInsensitiveHash],
            name.equals(capitals: commands[index].capitals)
        else { return nil }
        return index
    }

    /// The command of that name.
    func command(named name: Argument) -> Command? { index(of: name).map { commands[$0] } }
}
