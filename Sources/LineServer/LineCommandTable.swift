internal import Application
internal import CallArguments

/// Every command, found by its name in any letter case.
struct LineCommandTable: Sendable {
    static let shared = LineCommandTable(
        ConnectionCommands.all + ServerCommands.all + SubscriptionCommands.all
            + Application.commands.map(LineCommand.init))

    /// The commands, group by group.
    let commands: [LineCommand]
    /// The name of each, in capital letters.
    private let names: [[UInt8]]
    private let indices: [UInt64: Int]
    /// First words of names of two words, such as `CLIENT`.
    private let containers: Set<String>

    private init(_ commands: [LineCommand]) {
        self.commands = CommandDeclaration.Group.allCases.flatMap { group in
            commands.filter { $0.declaration.group == group }
        }
        names = self.commands.map { Array($0.declaration.name.utf8) }
        indices = Dictionary(
            uniqueKeysWithValues: names.enumerated().map { (Argument.caseInsensitiveHash(of: $1), $0) })
        containers = Set(
            commands.lazy.map { $0.declaration.name.split(separator: " ") }.filter { $0.count > 1 }
                .map { String($0[0]) })
    }

    /// The index of the command that the arguments begin with, a subcommand before its container.
    func index(of arguments: Arguments) -> Int? {
        if let index = index(of: arguments[0]) {
            // Only `COMMAND` is both a command and a container.
            guard arguments.count > 1, let container = container(of: arguments[0]) else { return index }
            return subcommand(of: container, arguments[1])
        }
        guard arguments.count > 1, let container = container(of: arguments[0]) else { return nil }
        return subcommand(of: container, arguments[1])
    }

    /// The index of the command with this name of one word.
    private func index(of name: Argument) -> Int? {
        guard let index = indices[name.caseInsensitiveHash], name.equals(capitals: names[index]) else { return nil }
        return index
    }

    private func subcommand(of container: String, _ name: Argument) -> Int? {
        let name = Array(container.utf8) + [UInt8(ascii: " ")] + name.uppercased
        guard let index = indices[Argument.caseInsensitiveHash(of: name)], names[index] == name else { return nil }
        return index
    }

    /// The container with this name.
    func container(of name: Argument) -> String? {
        containers.first { name.equals(capitals: Array($0.utf8)) }
    }

    /// The commands that a name stands for: one, or a container and its subcommands.
    func commands(named words: some Collection<Argument>) -> [LineCommand] {
        let name = words.map { String(decoding: $0.uppercased, as: UTF8.self) }.joined(separator: " ")
            .replacing("|", with: " ")
        return commands.filter { $0.declaration.name == name || $0.declaration.name.hasPrefix(name + " ") }
    }
}
