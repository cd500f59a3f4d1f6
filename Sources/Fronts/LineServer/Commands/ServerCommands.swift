internal import Application
internal import Domain
internal import EventLoop
internal import Foundation
internal import LineProtocol
internal import Serving
internal import TextFormats
internal import Users

/// What the server says about itself.
enum ServerCommands {
    static let all = general + configuration + commands

    private static let general: [LineCommand] = [
        LineCommand("INFO", .server, "Describes the state of the server, in sections.") { parameters in
            let sections = parameters.repeated("section", accepting: "a section of INFO", isOptional: true)
            return { session, call throws(Failure) in
                let text = session.server.information(sections: call[sections].map(\.lowercased))
                session.reply { $0.verbatim(text) }
            }
        },
        LineCommand("TIME", .server, "Returns the time: seconds since 1970, and microseconds.") { _ in
            { session, _ in
                let milliseconds = session.server.service.clock().millisecondsSinceEpoch
                session.reply { replies in
                    replies.array(2)
                    replies.bulk(String(milliseconds / 1_000))
                    replies.bulk(String(milliseconds % 1_000 * 1_000))
                }
            }
        },
        LineCommand("HELP", .server, "Lists the commands, or describes one.") { parameters in
            let words = parameters.repeated("command", accepting: "the name of a command", isOptional: true)
            return { session, call throws(Failure) in
                let lines = try LineCommandTable.shared.help(on: call[words])
                session.reply { $0.verbatim(lines.map { $0 + "\n" }.joined()) }
            }
        },
    ]

    // MARK: CONFIG

    private static let configuration: [LineCommand] = [
        LineCommand("CONFIG GET", .server, role: .admin, "Returns the settings whose names match a pattern.") {
            parameters in
            let patterns = parameters.repeated("pattern", accepting: "the name of a setting, or a pattern with * and ?")
            return { session, call throws(Failure) in
                let patterns = call[patterns].map(\.lowercased)
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
            }
        },
        LineCommand("CONFIG RESETSTAT", .server, role: .admin, "Resets the counts of INFO.") { _ in
            { session, _ in
                session.server.resetStatistics()
                session.reply { $0.simpleString("OK") }
            }
        },
    ]

    // MARK: COMMAND

    private static let commands: [LineCommand] = [
        LineCommand("COMMAND", .server, "Describes every command.") { _ in
            { session, _ in
                let entries = LineCommandTable.shared.entries
                session.reply { replies in
                    replies.array(entries.count)
                    for entry in entries { replies.information(of: entry) }
                }
            }
        },
        LineCommand(
            "COMMAND HELP", .server,
            "Lists the commands, or describes one, also in redis-cli, which keeps HELP for itself."
        ) { parameters in
            let words = parameters.repeated("command", accepting: "the name of a command", isOptional: true)
            return { session, call throws(Failure) in
                let lines = try LineCommandTable.shared.help(on: call[words])
                session.reply { replies in
                    replies.array(lines.count)
                    for line in lines { replies.simpleString(line) }
                }
            }
        },
        LineCommand("COMMAND COUNT", .server, "Returns how many commands there are.") { _ in
            { session, _ in session.reply { $0.integer(Int64(LineCommandTable.shared.entries.count)) } }
        },
        LineCommand("COMMAND LIST", .server, "Returns the names of all commands.") { _ in
            { session, _ in
                let entries = LineCommandTable.shared.entries
                session.reply { replies in
                    replies.array(entries.count)
                    for entry in entries { replies.bulk(entry.name) }
                }
            }
        },
        LineCommand("COMMAND INFO", .server, "Describes commands: arity, flags, the place of the key, and groups.") {
            parameters in
            let names = parameters.repeated("command", accepting: "the name of a command", isOptional: true)
            return { session, call throws(Failure) in
                let entries = LineCommandTable.shared.entries(named: call[names])
                session.reply { replies in
                    replies.array(entries.count)
                    for entry in entries {
                        if let entry { replies.information(of: entry) } else { replies.null() }
                    }
                }
            }
        },
        LineCommand(
            "COMMAND GETKEYS", .server, "Returns the key of a command: the outlet, cart or order that it is about."
        ) { parameters in
            let words = parameters.repeated("command", accepting: "a command with its arguments")
            return { session, call throws(Failure) in
                let (_, key) = try LineCommandTable.shared.key(of: call[words])
                session.reply { replies in
                    replies.array(1)
                    replies.bulk(key)
                }
            }
        },
        LineCommand(
            "COMMAND GETKEYSANDFLAGS", .server,
            "Returns the key of a command, and whether the command reads or writes it."
        ) { parameters in
            let words = parameters.repeated("command", accepting: "a command with its arguments")
            return { session, call throws(Failure) in
                let (command, key) = try LineCommandTable.shared.key(of: call[words])
                let flags = if case .write = command.effect { ["RW", "update"] } else { ["RO", "access"] }
                session.reply { replies in
                    replies.array(1)
                    replies.array(2)
                    replies.bulk(key)
                    replies.array(flags.count)
                    for flag in flags { replies.simpleString(flag) }
                }
            }
        },
        LineCommand("COMMAND DOCS", .server, "Describes commands: summary and arguments.") { parameters in
            let names = parameters.repeated("command", accepting: "the name of a command", isOptional: true)
            return { session, call throws(Failure) in
                let entries = LineCommandTable.shared.entries(named: call[names]).compactMap(\.self)
                session.reply { replies in
                    replies.map(entries.count)
                    for entry in entries { replies.documentation(of: entry) }
                }
            }
        },
    ]
}

/// A command as `COMMAND` describes it: with its subcommands, if it has any.
private struct CommandEntry {
    /// In lower case.
    var name: String
    /// The command itself; nil where the name is that of a container only.
    var command: CommandDeclaration?
    /// When it may be sent although others may not.
    var exemptions: [String] = []
    var subcommands: [CommandEntry] = []

    var arity: Int { subcommands.isEmpty ? command?.arity ?? -2 : command == nil ? -2 : -1 }
}

extension LineCommandTable {
    /// What HELP says about a command, or about all of them if none is named, line by line.
    fileprivate func help(on words: some Collection<Argument>) throws(Failure) -> [String] {
        guard !words.isEmpty else { return overview }
        let found = commands(named: words)
        guard !found.isEmpty else { throw unknown(words) }
        return LineCommandTable.help(on: found)
    }

    private func unknown(_ words: some Collection<Argument>) -> Failure {
        let name = words.map { String(decoding: $0.bytes.prefix(64), as: UTF8.self) }.joined(separator: " ").prefix(128)
        let hint = nearest(to: words).map { "; did you mean \($0)?" } ?? ";"
        return Failure(.notFound, "no such command '\(name)'\(hint) COMMAND HELP lists all of them")
    }

    /// What HELP says about the subcommands of a container, line by line.
    func help(onSubcommandsOf container: String) -> [String] {
        LineCommandTable.help(on: commands.filter { $0.declaration.name.hasPrefix("\(container) ") })
    }

    private static func help(on commands: [LineCommand]) -> [String] {
        commands.flatMap { [$0.declaration.usage, "  \($0.declaration.summary)"] }
    }

    /// Every command with its summary, by group, line by line.
    private var overview: [String] {
        CommandDeclaration.Group.allCases.flatMap { group in
            [group.rawValue]
                + commands.lazy.map(\.declaration).filter { $0.group == group }
                .flatMap { ["  \($0.usage)", "      \($0.summary)"] }
        }
    }

    /// What `COMMAND` describes.
    fileprivate var entries: [CommandEntry] {
        var entries: [CommandEntry] = []
        for entry in commands {
            let (command, exemptions) = (entry.declaration, entry.exemptions)
            let words = command.name.lowercased().split(separator: " ")
            guard words.count > 1 else {
                entries.append(CommandEntry(name: String(words[0]), command: command, exemptions: exemptions))
                continue
            }
            let container = String(words[0])
            if entries.last?.name != container { entries.append(CommandEntry(name: container)) }
            entries[entries.count - 1].subcommands.append(
                CommandEntry(name: words.joined(separator: "|"), command: command, exemptions: exemptions))
        }
        return entries
    }

    /// The entries with these names, all of them where none is given; nil for an unknown name.
    fileprivate func entries(named names: Arguments.SubSequence) -> [CommandEntry?] {
        guard !names.isEmpty else { return entries }
        let all = entries.flatMap { [$0] + $0.subcommands }
        return names.map { name in all.first { name.uppercased.elementsEqual($0.name.uppercased().utf8) } }
    }
}

extension LineCommandTable {
    /// The command that the words begin with, and its key.
    fileprivate func key(
        of words: Arguments.SubSequence
    ) throws(Failure) -> (command: CommandDeclaration, key: [UInt8]) {
        try Arguments.with(words.map { Array($0.bytes) }) { arguments throws(Failure) in
            guard let index = index(of: arguments) else { throw Failure(.error, "Invalid command specified") }
            let command = commands[index].declaration
            guard command.key != nil else { throw .noKey }
            let call: Call
            do throws(Failure) { call = try Call(command, arguments) } catch {
                throw Failure(.error, "Invalid arguments specified for command: \(error.message)")
            }
            guard let key = call.key else { throw .noKey }
            return (command, Array(key.bytes))
        }
    }
}

extension Failure {
    fileprivate static let noKey = Failure(.error, "The command has no key arguments")
}

extension LineCommand {
    /// When it may be sent although others may not.
    fileprivate var exemptions: [String] {
        [
            declaration.right == .login ? "before a login" : nil,
            isForSubscribers ? "as a subscriber in RESP2" : nil,
            isForTransactions ? "after MULTI" : nil,
        ].compactMap(\.self)
    }
}

extension Argument {
    /// The argument as text in lower case; bytes that are not UTF-8 are replaced.
    fileprivate var lowercased: String { String(decoding: bytes, as: UTF8.self).lowercased() }
}

extension ReplyBuffer {
    /// Name, arity, flags, first key, last key, step, categories, tips, key specifications, subcommands.
    fileprivate mutating func information(of entry: CommandEntry) {
        let first = entry.command ?? entry.subcommands[0].command!
        array(10)
        bulk(entry.name)
        integer(Int64(entry.arity))
        array(first.hasMovableKey ? 2 : 1)
        switch first.effect {
        case .read: simpleString("readonly")
        case .write: simpleString("write")
        case .maintenance: simpleString("admin")
        }
        if first.hasMovableKey { simpleString("movablekeys") }
        let key = Int64(first.keyIndex ?? 0)
        integer(key)
        integer(key)
        integer(key == 0 ? 0 : 1)
        array(1)
        simpleString("@\(first.group.rawValue)")
        for _ in 0..<2 { array(0) }
        array(entry.subcommands.count)
        for subcommand in entry.subcommands { information(of: subcommand) }
    }

    /// The name, and a map of what `COMMAND DOCS` says of a command.
    fileprivate mutating func documentation(of entry: CommandEntry) {
        let arguments = entry.command?.parameterDescriptions ?? []
        let group = (entry.command ?? entry.subcommands[0].command!).group
        bulk(entry.name)
        map(
            3 + (entry.command == nil ? 0 : 3) + (entry.exemptions.isEmpty ? 0 : 1) + (arguments.isEmpty ? 0 : 1)
                + (entry.subcommands.isEmpty ? 0 : 1))
        bulk("summary")
        bulk(entry.command?.summary ?? "A container for subcommands.")
        bulk("since")
        bulk("0.1.0")
        bulk("group")
        bulk(group.rawValue)
        if let command = entry.command {
            bulk("role")
            bulk(command.role.rawValue)
            let users = Role.ofUsers.filter { Rights(of: $0).contains(command.right) }
            bulk("users")
            array(users.count)
            for user in users { bulk(user.rawValue) }
            bulk("effect")
            bulk(command.effect.shown)
        }
        if !entry.exemptions.isEmpty {
            bulk("also")
            array(entry.exemptions.count)
            for exemption in entry.exemptions { bulk(exemption) }
        }
        if !arguments.isEmpty {
            bulk("arguments")
            array(arguments.count)
            for argument in arguments { documentation(of: argument) }
        }
        if !entry.subcommands.isEmpty {
            bulk("subcommands")
            map(entry.subcommands.count)
            for subcommand in entry.subcommands { documentation(of: subcommand) }
        }
    }

    private mutating func documentation(of argument: ParameterDescription) {
        let flags = [argument.isOptional ? "optional" : nil, argument.isRepeated ? "multiple" : nil]
            .compactMap(\.self)
        let values = [("token", argument.token), ("accepts", argument.accepted), ("default", argument.standard)]
            .filter { $0.1?.isEmpty == false }
        map(2 + values.count + (flags.isEmpty ? 0 : 1))
        bulk("name")
        bulk(argument.name)
        bulk("type")
        bulk(argument.kind.rawValue)
        for case (let key, let value?) in values {
            bulk(key)
            bulk(value)
        }
        guard !flags.isEmpty else { return }
        bulk("flags")
        array(flags.count)
        for flag in flags { simpleString(flag) }
    }
}

extension LineServer {
    /// What `CONFIG GET` gives. The first two are what redis-benchmark asks for.
    fileprivate var settings: [(name: String, value: String)] {
        [
            ("save", ""),
            ("appendonly", "yes"),
            ("maxclients", "\(configuration.maximumClients)"),
            ("maxmemory", "\(service.memory.limit)"),
            ("maxmemory-clients", "\(configuration.clientMemory)"),
            ("timeout", "\(configuration.idleSeconds)"),
            ("slowlog-log-slower-than", "\(configuration.slowLogMicroseconds)"),
            ("slowlog-max-len", "\(configuration.slowLogLength)"),
            ("latency-monitor-threshold", "\(service.latencies.milliseconds)"),
            ("port", "\(configuration.port)"),
            ("bind", configuration.host),
            ("databases", "1"),
            ("protected-mode", configuration.isProtected ? "yes" : "no"),
            ("proto-max-bulk-len", "\(configuration.requestLimits.bulkLength)"),
        ]
    }
}
