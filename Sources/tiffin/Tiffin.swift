// The executable: reads options, puts the parts together, and runs.

internal import EventLoop

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

@main
struct Tiffin {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        guard let name = words.first, !["help", "--help", "-h"].contains(name) else {
            Terminal.print(help(for: words.dropFirst().first))
            exit(words.isEmpty ? ExitCode.usage.rawValue : ExitCode.success.rawValue)
        }
        if ["version", "--version"].contains(name) { return VersionCommand.run() }
        guard let command = commands.first(where: { $0.name == name }) else {
            Terminal.printError("tiffin: unknown command '\(name)'; 'tiffin --help' lists them")
            exit(ExitCode.usage.rawValue)
        }
        let arguments = Array(words.dropFirst())
        Task { @LoopActor in
            exit(await command.run(arguments))
        }
        LoopActor.run()
    }

    static let commands: [any AnySubcommand.Type] = [
        ServeCommand.self, MigrateCommand.self, ImportSubcommand.self, LogCommand.self, ReplayCommand.self,
        AuditCommand.self, RebuildCommand.self, VerifyCommand.self, WhyCommand.self, ForgetCommand.self,
    ]

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

enum Terminal {
    /// Prints a line at once, whoever reads it. Returns false where nobody does any more.
    @discardableResult
    static func print(_ text: String) -> Bool { write(text, to: 1) }
    static func printError(_ text: String) { _ = write(text, to: 2) }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var bytes = Array("\(text)\n".utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { platformWrite(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            bytes.removeFirst(count)
        }
        return true
    }
}

private func platformWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
