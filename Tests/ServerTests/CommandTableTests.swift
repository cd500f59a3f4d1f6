import LineProtocol
import Testing

@testable import Server

@Suite struct CommandTableTests {
    private static let commands = CommandTable.shared.commands

    @Test func `every name is there once, in capitals`() {
        let names = Self.commands.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.filter { $0 != $0.uppercased() || $0.contains(" ") } == [])
    }

    @Test(arguments: commands.map(\.name))
    func `a command is found by its name, whatever the case`(name: String) throws {
        for spelling in [name, name.lowercased(), name.prefix(1) + name.dropFirst().lowercased()] {
            try withCall([spelling]) { #expect(CommandTable.shared.command(named: $0[0])?.name == name) }
        }
    }

    @Test(arguments: ["", "CART", "CART.ADD ", "CART.ADDS", "OUTLETSS", "BROWS"])
    func `any other name is unknown`(name: String) throws {
        try withCall([name]) { #expect(CommandTable.shared.command(named: $0[0]) == nil) }
    }

    @Test(arguments: commands.map(\.name))
    func `the shortest and the longest call of the usage are those that are let through`(name: String) throws {
        let command = try #require(Self.commands.first { $0.name == name })
        let words = command.usage.replacing("[", with: "").replacing("]", with: "").words.filter { $0 != "…" }
        let required = command.usage.replacing(/\[[^\]]*\]/, with: "").words.filter { $0 != "…" }
        #expect(command.minimumWords == required.count)
        #expect(command.maximumWords == (command.usage.contains("…") ? nil : words.count))
        #expect(abs(command.arity) == required.count)
        #expect((command.arity > 0) == (command.maximumWords == command.minimumWords))
    }

    @Test(arguments: commands.map(\.name))
    func `every argument has a name of its own`(name: String) throws {
        let arguments = try #require(Self.commands.first { $0.name == name }).arguments
        #expect(arguments.allSatisfy { !$0.name.isEmpty && $0.name == $0.name.lowercased() })
        let tokens = arguments.compactMap(\.token)
        #expect(Set(tokens).count == tokens.count)
        let positional = arguments.filter { $0.token == nil }.map(\.name)
        #expect(Set(positional).count == positional.count)
        #expect(
            arguments.dropLast().allSatisfy { !$0.isRepeated || $0.token != nil },
            "what is repeated comes last, or is told by its word")
    }

    @Test(arguments: commands.map(\.name))
    func `a write takes ID and VERSION, and nothing else does`(name: String) throws {
        let command = try #require(Self.commands.first { $0.name == name })
        let isWrite = if case .write = command.effect { true } else { false }
        #expect(command.usage.hasSuffix("[ID <id>] [VERSION <version>]") == isWrite)
        #expect(command.arguments.contains { ["ID", "VERSION"].contains($0.token) } == isWrite)
    }

    @Test(arguments: commands.map(\.name))
    func `a summary is one sentence`(name: String) throws {
        let summary = try #require(Self.commands.first { $0.name == name }).summary
        #expect(summary.first?.isUppercase ?? false)
        #expect(summary.hasSuffix("."))
        #expect(!summary.contains("\n"))
    }

    @Test func `every group has commands, which stand together`() {
        let groups = Self.commands.map(\.group)
        let runs = groups.indices.filter { $0 == 0 || groups[$0 - 1] != groups[$0] }.map { groups[$0] }
        #expect(runs == Command.Group.allCases)
    }
}
