internal import Domain
internal import EventLoop
internal import Foundation
internal import LineProtocol

/// What the server tells about itself.
enum ServerCommands {
    static let all: [Command] = [
        Command(
            "COMMAND", .server, "Describes the commands: COUNT, LIST, INFO or DOCS.",
            [.optional("subcommand"), .optional("command", repeated: true)]
        ) { session, arguments throws(Failure) in
            try command(session, arguments)
        },
        Command(
            "CONFIG", .server,
            "CONFIG GET gives settings whose names match a pattern; CONFIG RESETSTAT counts from nothing.",
            [.value("subcommand"), .optional("pattern", repeated: true)]
        ) { session, arguments throws(Failure) in
            try config(session, arguments)
        },
        Command(
            "INFO", .server, "Tells how the server is doing, in sections.", [.optional("section", repeated: true)]
        ) { session, arguments throws(Failure) in
            let wanted = arguments.dropFirst().map { String(decoding: $0.bytes, as: UTF8.self).lowercased() }
            let text = session.server.info(sections: wanted)
            session.reply { $0.verbatim(text) }
        },
        Command("TIME", .server, "Gives the time: seconds since 1970 and microseconds.") {
            session, _ throws(Failure) in
            let milliseconds = session.server.engine.clock().millisecondsSinceEpoch
            session.reply { replies in
                replies.array(2)
                replies.bulk(String(milliseconds / 1_000))
                replies.bulk(String(milliseconds % 1_000 * 1_000))
            }
        },
        Command("HELP", .server, "Lists the commands, or describes one.", [.optional("command")]) {
            session, arguments throws(Failure) in
            guard arguments.count > 1 else {
                return session.reply { $0.verbatim(CommandTable.shared.overview) }
            }
            guard let command = CommandTable.shared.command(named: arguments[1]) else {
                throw Failure("NOTFOUND", "no such command; HELP lists all of them")
            }
            session.reply { $0.verbatim("\(command.usage)\n  \(command.summary)\n") }
        },
    ]

    // MARK: CONFIG

    @LoopActor
    private static func config(_ session: Session, _ arguments: Arguments) throws(Failure) {
        if arguments[1].equals(caseInsensitive: "GET") {
            guard arguments.count > 2 else { throw .wordCount(of: "config|get") }
            let patterns = arguments.dropFirst(2).map { String(decoding: $0.bytes, as: UTF8.self).lowercased() }
            let found = session.server.settings.filter { setting in
                patterns.contains { fnmatch($0, setting.name, 0) == 0 }
            }
            session.reply { replies in
                replies.map(found.count)
                for setting in found {
                    replies.bulk(setting.name)
                    replies.bulk(setting.value)
                }
            }
        } else if arguments[1].equals(caseInsensitive: "RESETSTAT") {
            guard arguments.count == 2 else { throw .wordCount(of: "config|resetstat") }
            session.server.resetStatistics()
            session.reply { $0.simpleString("OK") }
        } else {
            let name = String(decoding: arguments[1].bytes.prefix(128), as: UTF8.self)
            throw Failure("ERR", "unknown subcommand '\(name)'. Try CONFIG GET or CONFIG RESETSTAT.")
        }
    }

    // MARK: COMMAND

    @LoopActor
    private static func command(_ session: Session, _ arguments: Arguments) throws(Failure) {
        let table = CommandTable.shared
        guard arguments.count > 1 else {
            return session.reply { replies in
                replies.array(table.commands.count)
                for command in table.commands { writeInfo(of: command, to: &replies) }
            }
        }
        let subcommand = arguments[1]
        let named = arguments.dropFirst(2).map(table.command)
        if subcommand.equals(caseInsensitive: "COUNT") {
            session.reply { $0.integer(Int64(table.commands.count)) }
        } else if subcommand.equals(caseInsensitive: "LIST") {
            session.reply { replies in
                replies.array(table.commands.count)
                for command in table.commands { replies.bulk(command.name.lowercased()) }
            }
        } else if subcommand.equals(caseInsensitive: "INFO") {
            let found = named.isEmpty ? table.commands.map(Optional.some) : named
            session.reply { replies in
                replies.array(found.count)
                for command in found {
                    if let command { writeInfo(of: command, to: &replies) } else { replies.null() }
                }
            }
        } else if subcommand.equals(caseInsensitive: "DOCS") {
            let found = named.isEmpty ? table.commands : named.compactMap(\.self)
            session.reply { replies in
                replies.map(found.count)
                for command in found {
                    replies.bulk(command.name.lowercased())
                    writeDocumentation(of: command, to: &replies)
                }
            }
        } else {
            let name = String(decoding: subcommand.bytes.prefix(128), as: UTF8.self)
            throw Failure("ERR", "unknown subcommand '\(name)'. Try COMMAND DOCS.")
        }
    }

    /// Name, arity, flags, first key, last key, step, categories, tips, key specifications, subcommands.
    private static func writeInfo(of command: Command, to replies: inout ReplyBuffer) {
        replies.array(10)
        replies.bulk(command.name.lowercased())
        replies.integer(Int64(command.arity))
        replies.array(1)
        switch command.effect {
        case .read: replies.simpleString("readonly")
        case .write: replies.simpleString("write")
        }
        for _ in 0..<3 { replies.integer(0) }
        replies.array(1)
        replies.simpleString("@\(command.group.rawValue)")
        for _ in 0..<3 { replies.array(0) }
    }

    private static func writeDocumentation(of command: Command, to replies: inout ReplyBuffer) {
        replies.map(command.arguments.isEmpty ? 3 : 4)
        replies.bulk("summary")
        replies.bulk(command.summary)
        replies.bulk("since")
        replies.bulk("0.1.0")
        replies.bulk("group")
        replies.bulk(command.group.rawValue)
        guard !command.arguments.isEmpty else { return }
        replies.bulk("arguments")
        replies.array(command.arguments.count)
        for argument in command.arguments {
            let flags = [argument.isOptional ? "optional" : nil, argument.isRepeated ? "multiple" : nil]
                .compactMap(\.self)
            replies.map(2 + (argument.token == nil ? 0 : 1) + (flags.isEmpty ? 0 : 1))
            replies.bulk("name")
            replies.bulk(argument.name)
            replies.bulk("type")
            replies.bulk(argument.kind.rawValue)
            if let token = argument.token {
                replies.bulk("token")
                replies.bulk(token)
            }
            if !flags.isEmpty {
                replies.bulk("flags")
                replies.array(flags.count)
                for flag in flags { replies.simpleString(flag) }
            }
        }
    }
}

extension CommandTable {
    /// Every command with its summary, by group.
    var overview: String {
        Command.Group.allCases.map { group in
            "\(group.rawValue)\n"
                + commands.filter { $0.group == group }
                .map { "  \($0.usage)\n      \($0.summary)\n" }.joined()
        }.joined()
    }
}

extension Server {
    /// What `CONFIG GET` gives. The first two are what redis-benchmark asks for.
    var settings: [(name: String, value: String)] {
        [
            ("save", ""),
            ("appendonly", "yes"),
            ("maxclients", "\(configuration.maximumClients)"),
            ("timeout", "\(configuration.idleSeconds)"),
            ("port", "\(configuration.port)"),
            ("bind", configuration.host),
            ("databases", "1"),
            ("protected-mode", configuration.isProtected ? "yes" : "no"),
            ("proto-max-bulk-len", "\(configuration.requestLimits.bulkLength)"),
        ]
    }
}
