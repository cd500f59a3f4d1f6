internal import CommandLineOptions
internal import Domain
internal import EventLog
internal import EventLoop
internal import PostgresStorage
internal import Users

enum UserCommand: Subcommand {
    static let name = "user"
    static let summary = "adds, changes, lists and removes users"

    static let operands = [Action.allCases.map(\.rawValue).joined(separator: "|"), "<name>"]
    static let options: [any DeclaredOption] = [role, only, everything, noPassword, revoke] + Database.options

    static let about: String? = """
          add NAME --role ROLE   adds a user; asks for a password
          remove NAME            removes a user, and closes its connections
          list                   lists users: role, what they are confined to, tokens
          password NAME          sets a password
          grant NAME             sets --role, and what the user is confined to: --only, or --everything
          token NAME             prints a new token, which a program gives in place of the password; with
                                 --revoke takes tokens back
          enable, disable NAME   lets a user log in again, or no more

        From the first user on, nobody can do anything without a login. Passwords are asked for without an
        echo; where there is no terminal, one line of standard input is read. Only a hash of a password or a
        token is kept. Works beside running servers, which take changes within a second.
        """

    private enum Action: String, CaseIterable {
        case add, remove, list, password, grant, token, enable, disable
    }

    private static let role = Option.optional(
        "role", "role", "customer, merchant, auditor or admin",
        OptionValue("customer, merchant, auditor or admin") { text in
            Role.ofUsers.first { $0.rawValue == text }
        })
    private static let only = Option(
        OptionDeclaration(
            "only", "id", "confines a customer to what carries this id, or a merchant to this outlet; may be repeated",
            isRepeatable: true)
    ) { texts throws(UsageError) in
        try texts.map { text throws(UsageError) in
            guard let id = Identifier(text) else { throw UsageError("--only: '\(text)' is not an identifier") }
            return id
        }
    }
    private static let everything = Option.flag("everything", "confines the user to nothing any more")
    private static let noPassword = Option.flag("no-password", "adds a user who can log in with tokens only")
    private static let revoke = Option.optional(
        "revoke", "token", "the token to take back, as 'list' names it, or 'all'", .text)

    static func run(_ options: Options) async throws -> ExitCode {
        guard let action = options.operands.first.flatMap({ Action(rawValue: $0) }) else {
            throw UsageError("what is to be done? \(operands[0])")
        }
        if action == .list {
            guard options.operands.count == 1 else { throw UsageError("list takes no name") }
            try await change(options) { try await list($0) }
            return .success
        }
        guard options.operands.count == 2, let name = Identifier(options.operands[1]) else {
            throw UsageError("name a user, by 1–64 of the characters \(Identifier.characters)")
        }
        try await run(action, name, options)
        return .success
    }

    private static func run(_ action: Action, _ name: Identifier, _ options: Options) async throws {
        switch action {
        case .add:
            guard let role = options[role] else { throw UsageError("--role is needed") }
            if let problem = User.problem(confining: role, to: options[only]) { throw UsageError("--only: \(problem)") }
            let password = options[noPassword] ? nil : PasswordHash(of: try PasswordPrompt.read(for: name))
            let user = User(name, role: role, password: password, grants: options[only])
            try await change(options) { try await $0.add(user) }
            Terminal.print("user '\(name)' added: \(describe(user))")
        case .remove:
            try await change(options) { try await $0.remove(name) }
            Terminal.print("user '\(name)' removed")
        case .password:
            let password = PasswordHash(of: try PasswordPrompt.read(for: name))
            try await change(options) { try await $0.set(password, of: name) }
            Terminal.print("the password of '\(name)' is changed")
        case .grant:
            let (role, grants) = (options[role], options[only])
            guard role != nil || !grants.isEmpty || options[everything] else {
                throw UsageError("grant takes --role, --only or --everything")
            }
            guard grants.isEmpty || !options[everything] else {
                throw UsageError("--only and --everything exclude each other")
            }
            let user = try await change(options) { table in
                try await table.grant(role, options[everything] ? [] : grants.isEmpty ? nil : grants, to: name)
                return try await table.all().first { $0.user.name == name }?.user
            }
            if let user { Terminal.print("user '\(name)': \(describe(user))") }
        case .token:
            if let token = options[revoke] {
                let count = try await change(options) { try await $0.revoke(token == "all" ? nil : token, of: name) }
                Terminal.print("\(count) token\(count == 1 ? "" : "s") of '\(name)' revoked")
            } else {
                let token = Token.random()
                try await change(options) { try await $0.add(token, to: name) }
                Terminal.print(token.text)
            }
        case .enable, .disable:
            try await change(options) { try await $0.set(isEnabled: action == .enable, of: name) }
            Terminal.print("user '\(name)' is \(action)d")
        case .list: preconditionFailure("listing needs no name")
        }
    }

    private static func change<Result: Sendable>(
        _ options: Options, _ body: @escaping @LoopActor (UserTable) async throws -> Result
    ) async throws -> Result {
        var result: Result?
        try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
            databases in
            result = try await UserTable.with(databases.first, for: .operator, body)
            try await PendingDeeds.deliver(in: databases)
        }
        guard let result else { preconditionFailure("a body that did not run") }
        return result
    }

    @LoopActor
    private static func list(_ table: UserTable) async throws {
        let rows = try await table.all()
        if rows.isEmpty { Terminal.print("no users: servers serve everybody on their own machine") }
        let width = rows.map(\.user.name.rawValue.count).max() ?? 0
        for row in rows {
            Terminal.print(
                "\(row.user.name.rawValue.padded(to: width))  \(describe(row.user)); added \(row.addedAt.rfc3339)")
        }
    }

    private static func describe(_ user: User) -> String {
        var parts = [user.role.rawValue]
        if !user.grants.isEmpty { parts.append("only \(user.grants.map(\.rawValue).joined(separator: " "))") }
        if user.password == nil { parts.append("no password") }
        if !user.tokens.isEmpty {
            parts.append("tokens \(user.tokens.map { Token.name(of: $0) }.joined(separator: " "))")
        }
        if !user.isEnabled { parts.append("disabled") }
        return parts.joined(separator: ", ")
    }
}
