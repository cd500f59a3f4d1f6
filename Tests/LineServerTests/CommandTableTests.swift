import Application
import Testing
import TextFormats

@testable import LineServer

@Suite struct CommandTableTests {
    private static let commands = LineCommandTable.shared.commands.map(\.declaration)

    private static func index(of words: [String]) -> Int? {
        Arguments.with(words.map { Array($0.utf8) }) { LineCommandTable.shared.index(of: $0) }
    }

    private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    @Test func `every name is there once, in capitals, and has at most two words`() {
        let names = Self.commands.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0 == $0.uppercased() && Self.words($0).count <= 2 })
    }

    @Test(arguments: commands.map(\.name))
    func `a command is found by its name in any letter case`(name: String) throws {
        for spelling in [name, name.lowercased(), name.prefix(1) + name.dropFirst().lowercased()] {
            let index = try #require(
                Self.index(of: Self.words(spelling) + ["COUNT", "x"].suffix(name == "COMMAND" ? 0 : 2)))
            #expect(Self.commands[index].name == name)
        }
    }

    @Test(arguments: commands.filter { $0.effect.shown.hasPrefix("write") }.map(\.name))
    func `every write has a key, which is its first argument`(name: String) throws {
        let command = try #require(Self.commands.first { $0.name == name })
        #expect(command.keyIndex == 1 && !command.hasMovableKey)
    }

    @Test func `commands about no outlet, cart or order have no key`() {
        let keyed = Self.commands.filter { $0.keyIndex != nil }.map(\.name)
        let about = [
            "CART.", "ORDER.", "OUTLET.", "MENU.", "ITEM.GET", "KITCHEN", "TAKINGS", "STOCK", "PICTURE.", "SLOTS",
            "PROMO.",
        ]
        #expect(
            keyed.sorted()
                == Self.commands.map(\.name).filter { name in about.contains(where: name.hasPrefix) }.sorted())
        #expect(Self.commands.filter(\.hasMovableKey).map(\.name) == ["OUTLETS.OWN", "ORDERS"])
    }

    @Test(arguments: ["", "CART", "CART.ADD ", "CART.ADDS", "OUTLETSS", "BROWS", "CLIENT", "CLIENT SETNAM", "ID"])
    func `other names are unknown`(name: String) {
        #expect(Self.index(of: name.isEmpty ? [""] : name.hasPrefix("CLIENT ") ? Self.words(name) : [name]) == nil)
    }

    @Test func `a name stands for a command, or for a container and its subcommands, by its bytes`() {
        func named(_ words: String...) -> [String] {
            Arguments.with(words.map { Array($0.utf8) }) { words in
                LineCommandTable.shared.commands(named: words).map(\.declaration.name)
            }
        }
        #expect(named("cart.checkout") == ["CART.CHECKOUT"])
        #expect(named("config|get") == ["CONFIG GET"] && named("Config", "Get") == ["CONFIG GET"])
        #expect(named("CONFIG") == ["CONFIG GET", "CONFIG RESETSTAT"])
        // The Kelvin sign is a K to those who compare texts.
        #expect(named("CART.CHEC\u{212A}OUT") == [] && named("CONF") == [])
    }

    @Test(arguments: commands.map(\.name))
    func `the shortest and the longest call of the usage are accepted, and no others`(name: String) throws {
        let command = try #require(Self.commands.first { $0.name == name })
        let all = Self.words(command.usage.replacing("[", with: "").replacing("]", with: "")).filter { $0 != "…" }
        let required = Self.words(command.usage.replacing(/\[[^\]]*\]/, with: "")).filter { $0 != "…" }
        let isOpen = command.usage.contains("…")
        func isAccepted(_ words: [String]) -> Bool {
            Arguments.with(words.map { Array($0.utf8) }) { arguments in (try? Call(command, arguments)) != nil }
        }
        #expect(isAccepted(required))
        #expect(isAccepted(all))
        #expect(required.count == 1 || !isAccepted(Array(required.dropLast())))
        #expect(isAccepted(all + ["x"]) == isOpen)
        #expect(command.arity == (isOpen || all.count > required.count ? -required.count : required.count))
    }

    @Test(arguments: commands.map(\.name))
    func `every argument has a name of its own`(name: String) throws {
        let parameters = try #require(Self.commands.first { $0.name == name }).parameterDescriptions
        #expect(parameters.allSatisfy { !$0.name.isEmpty && $0.name == $0.name.lowercased() })
        let tokens = parameters.compactMap(\.token)
        #expect(Set(tokens).count == tokens.count)
        let positional = parameters.filter { $0.token == nil }.map(\.name)
        #expect(Set(positional).count == positional.count)
        #expect(
            parameters.dropLast().allSatisfy { !$0.isRepeated || $0.token != nil },
            "a repeated argument comes last, or has a word of its own")
    }

    @Test(arguments: commands.map(\.name))
    func `every argument but a single word says which values it takes`(name: String) throws {
        let parameters = try #require(Self.commands.first { $0.name == name }).parameterDescriptions
        #expect(parameters.allSatisfy { $0.accepted.isEmpty == ($0.kind == .pureToken) })
        #expect(parameters.allSatisfy { $0.isOptional || $0.standard == nil })
    }

    @Test(arguments: commands.map(\.name))
    func `writes end with ID, VERSION, FLOW, ACTOR and TRACE, and reads take none but ACTOR`(name: String) throws {
        let command = try #require(Self.commands.first { $0.name == name })
        let isWrite = if case .write = command.effect { true } else { false }
        let ending = "[ID <id>] [VERSION <version>] [FLOW <id>] [ACTOR <name>] [TRACE <traceparent>]"
        #expect(command.usage.hasSuffix(ending) == isWrite)
        // ACTOR is also a filter of reads.
        let own: [String?] = ["ID", "VERSION", "FLOW", "TRACE"]
        #expect(command.parameterDescriptions.contains { own.contains($0.token) } == isWrite)
    }

    @Test(arguments: commands.map(\.name))
    func `a summary is one sentence`(name: String) throws {
        let summary = try #require(Self.commands.first { $0.name == name }).summary
        #expect(summary.first?.isUppercase ?? false)
        #expect(summary.hasSuffix("."))
        #expect(!summary.contains("\n"))
    }

    @Test func `every group has commands, which are listed together`() {
        let groups = Self.commands.map(\.group)
        let runs = groups.indices.filter { $0 == 0 || groups[$0 - 1] != groups[$0] }.map { groups[$0] }
        #expect(runs == CommandDeclaration.Group.allCases)
    }
}
