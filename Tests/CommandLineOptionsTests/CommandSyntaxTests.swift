import CommandLineOptions
import Testing

@Suite struct `The syntax of a command` {
    private enum Format: String, CaseIterable { case table, json }

    private static let server = Option.optional("server", "host:port", "where it listens", .text, variable: "SERVER")
    private static let count = Option.value("count", "n", "how many", .integer(1...9), default: "3")
    private static let format = Option.optional("format", "name", "how it is printed", OptionValue<Format>.choice)
    private static let outlet = Option.required("outlet", "id", "whose menu", .text)
    private static let limits = Option.repeated("limit", "text", "what must hold")
    private static let quiet = Option.flag("quiet", "no progress")
    private static let all: [any DeclaredOption] = [server, count, format, limits, quiet]

    private func parse(
        _ line: String, operands: [String] = ["<file>"], options: [any DeclaredOption] = all,
        repetition: CommandSyntax.Repetition = .refused, prefix: String? = nil, environment: [String: String] = [:]
    ) throws -> Options {
        let syntax = CommandSyntax(
            "tool", operands: operands, options: options, repetition: repetition, variablePrefix: prefix)
        let words = line.split(separator: " ").map { $0 == "''" ? "" : String($0) }
        return try #require(try syntax.parse(words, environment: environment))
    }

    @Test func `The last operand may be given more than once, if it is said to`() throws {
        #expect(try parse("a --quiet b c", operands: ["<file>…"]).operands == ["a", "b", "c"])
    }

    @Test func `Options may be anywhere, with their values after them or after an equals sign`() throws {
        let options = try parse("--count 4 file --server=a=b --limit x --quiet --limit=y --format json")
        #expect(options[Self.count] == 4)
        #expect(options[Self.server] == "a=b")
        #expect(options[Self.limits] == ["x", "y"])
        #expect(options[Self.format] == .json)
        #expect(options[Self.quiet])
        #expect(options.operands == ["file"])
    }

    @Test func `An option that is not given has its default, or is nil, empty or false`() throws {
        let options = try parse("")
        #expect(options[Self.count] == 3)
        #expect(options[Self.server] == nil)
        #expect(options[Self.limits] == [])
        #expect(!options[Self.quiet])
        #expect(!options.isGiven(Self.count) && options.operands == [])
    }

    @Test func `A value may begin with a dash, and two dashes end the options`() throws {
        #expect(try parse("--server -1")[Self.server] == "-1")
        #expect(try parse("-").operands == ["-"])
        #expect(try parse("--quiet -- --count").operands == ["--count"])
        #expect(try parse("-- --help").operands == ["--help"])
    }

    @Test func `A number of bytes may have a unit, and has bounds`() throws {
        let size = Option.value("size", "bytes", "how large", .bytes(1 << 20...1 << 30), default: "1mb")
        for (text, bytes) in [
            ("1048576", 1 << 20), ("1048577b", 1_048_577), ("2048kb", 2 << 20), ("3MB", 3 << 20), ("1gb", 1 << 30),
        ] {
            #expect(try parse("--size \(text)", options: [size])[size] == bytes)
        }
        for text in ["1", "2gb", "-1mb", "1.5mb", "mb", "9223372036854775807gb", "99999999999999999999", "1tb", "٣mb"] {
            #expect(throws: UsageError("--size: '\(text)' is not a number of bytes from 1mb to 1gb, such as 512mb")) {
                try parse("--size=\(text)", options: [size])
            }
        }
    }

    @Test func `The environment is read if an option is not given`() throws {
        #expect(try parse("", environment: ["SERVER": "x", "TOOL_COUNT": "5"])[Self.server] == "x")
        #expect(try parse("--server y", environment: ["SERVER": "x"])[Self.server] == "y")
        #expect(try parse("--server y").isGiven(Self.server))
        #expect(try !parse("", environment: ["SERVER": "x"]).isGiven(Self.server))
        #expect(try parse("", environment: ["SERVER": ""])[Self.server] == nil)
        #expect(try parse("", environment: ["TOOL_COUNT": "5"])[Self.count] == 3)
        #expect(try parse("", prefix: "TOOL_", environment: ["TOOL_COUNT": "5"])[Self.count] == 5)
        let names = ["yes": true, "1": true, "TRUE": true, "on": true, "no": false, "0": false]
        for (text, isOn) in names {
            #expect(try parse("", prefix: "TOOL_", environment: ["TOOL_QUIET": text])[Self.quiet] == isOn)
        }
        #expect(throws: UsageError("--count: 'x' is not a whole number from 1 to 9")) {
            try parse("", prefix: "TOOL_", environment: ["TOOL_COUNT": "x"])
        }
    }

    @Test func `If the last one counts, an option overrides an earlier one`() throws {
        #expect(try parse("--count 1 --count 2 --limit a --limit b", repetition: .lastCounts)[Self.count] == 2)
        #expect(try parse("--limit a --limit b", repetition: .lastCounts)[Self.limits] == ["a", "b"])
    }

    @Test(arguments: [
        ("--nothing", "unknown option '--nothing'"), ("--nothing=1", "unknown option '--nothing'"),
        ("-q", "unknown option '-q'"), ("--coun 1", "unknown option '--coun'"), ("a b", "unexpected argument 'b'"),
        ("--count", "--count needs a value"), ("--count ''", "--count needs a value"),
        ("--count=", "--count needs a value"), ("--quiet=yes", "--quiet takes no value"),
        ("--count 1 --count 1", "--count is given twice"),
        ("--count 0", "--count: '0' is not a whole number from 1 to 9"),
        ("--count 10", "--count: '10' is not a whole number from 1 to 9"),
        ("--count 1.5", "--count: '1.5' is not a whole number from 1 to 9"),
        ("--count 99999999999999999999", "--count: '99999999999999999999' is not a whole number from 1 to 9"),
        ("--format xml", "--format: 'xml' is not one of table, json"),
    ])
    func `A mistake is named`(line: String, message: String) {
        #expect(throws: UsageError(message)) { try parse(line) }
    }

    @Test func `A missing option that is required is named`() throws {
        #expect(throws: UsageError("--outlet is needed")) { try parse("", options: [Self.outlet]) }
        #expect(try parse("--outlet o", options: [Self.outlet])[Self.outlet] == "o")
    }

    @Test(arguments: ["--help", "-h", "--count x --help", "--nothing -h", "a b c --help", "--count --help"])
    func `A request for help may be anywhere`(line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        #expect(try CommandSyntax("tool", options: Self.all).parse(words, environment: [:]) == nil)
    }

    @Test func `The help shows the usage, and every option with its default and variable`() {
        let syntax = CommandSyntax("tool run", operands: ["<file>"], options: [Self.outlet] + Self.all)
        #expect(syntax.usage == "usage: tool run <file> --outlet <id> [options]")
        #expect(
            syntax.optionTable == """
                  --outlet <id>         whose menu
                  --server <host:port>  where it listens
                                        [SERVER]
                  --count <n>           how many (default 3)
                  --format <name>       how it is printed
                  --limit <text>        what must hold
                  --quiet               no progress

                An option that is not given is read from the environment variable in brackets.
                """)
    }
}
