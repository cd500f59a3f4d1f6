// The executable: reads options, puts the parts together, and runs.

internal import EventLoop
internal import TextFormats

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

@main
struct Tiffin {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        hidePasswords()
        guard let name = words.first, !["help", "--help", "-h"].contains(name) else {
            Terminal.print(lines: help(for: words.dropFirst().first))
            exit(words.isEmpty ? ExitCode.usage.rawValue : ExitCode.success.rawValue)
        }
        if ["version", "--version"].contains(name) { return VersionCommand.run() }
        guard let command = commands.first(where: { $0.name == name }) else {
            Terminal.printError("tiffin: unknown command '\(name)'; 'tiffin --help' lists them")
            end(ExitCode.usage.rawValue)
        }
        let arguments = Array(words.dropFirst())
        Task { @LoopActor in
            end(await command.run(arguments))
        }
        LoopActor.run()
    }

    static let commands: [any AnySubcommand.Type] = [
        ServeCommand.self, MigrateCommand.self, ImportSubcommand.self, LogCommand.self, ReplayCommand.self,
        AuditCommand.self, RebuildCommand.self, MoveCommand.self, VerifyCommand.self, KeyCommand.self,
        SignCommand.self, WitnessCommand.self, BackupCommand.self, RestoreCommand.self, ArchiveCommand.self,
        WhyCommand.self, ForgetCommand.self, UserCommand.self, RelayCommand.self, TakingsCommand.self,
        SchemaCommand.self, ModelCommand.self,
    ]

    /// Ends the process, with its last words.
    private static func end(_ code: Int32) -> Never {
        LineOutput.standardError.flush()
        exit(code)
    }

    /// Everybody on the machine can see the arguments of a process: overwrites those with a database's password.
    private static func hidePasswords() {
        for argument in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)) {
            guard let argument else { continue }
            // postgres://user:password@host/name, or a keyword.
            guard String(cString: argument).contains(/:\/\/[^@]*:.*@|password *=/) else { continue }
            memset(argument, Int32(UInt8(ascii: "*")), strlen(argument))
        }
    }

    private static func help(for name: String?) -> String {
        if let name, let command = commands.first(where: { $0.name == name }) { return command.help }
        let lines = commands.map { "  \($0.name.padded(to: 10))\($0.summary)" }
        return """
            tiffin: an event-sourced ordering and cart server that speaks the Redis protocol.

            usage: tiffin <command> [options]

            \(lines.joined(separator: "\n"))
              version   prints the version
              help      prints this, or the help of a command

            'tiffin <command> --help' lists its options.
            """
    }
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
