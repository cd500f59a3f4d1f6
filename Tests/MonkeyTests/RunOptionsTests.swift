import CommandLineOptions
import EventLoop
import Foundation
import LineClient
import LineProtocol
import LoadOracle
import Testing

@testable import Monkey

@Suite("The command line")
struct RunOptionsTests {
    init() { LoopActor.startInBackground() }

    private struct NoSuchFile: Error, CustomStringConvertible {
        let description = "there is no such file"
    }

    @LoopActor
    private static func parse(
        _ line: String, environment: [String: String] = [:], files: [String: String] = [:]
    ) throws -> RunOptions? {
        let words = line.split(separator: " ").map { String($0) }
        return try RunOptions.parse(words, environment: environment, seed: 77) { path in
            guard let text = files[path] else { throw NoSuchFile() }
            return Array(text.utf8)
        }
    }

    @LoopActor
    private static func options(
        _ line: String, environment: [String: String] = [:], files: [String: String] = [:]
    ) throws -> RunOptions {
        try #require(try parse(line, environment: environment, files: files))
    }

    @Test("without options is the local server, everything at random, ten seconds")
    @LoopActor
    func usual() throws {
        let options = try Self.options("")
        #expect(options.servers == [.standard] && !options.starts && !options.isChaotic && !options.isQuiet)
        #expect(options.scenarios == [.init(scenario: "monkey", weight: 1)])
        #expect(options.mode == .open(stages: nil) && options.seconds == 10)
        #expect(options.connections == 50 && options.shoppers == nil)
        #expect(options.size == World.Size(outlets: 8, items: 320, carts: 0, kitchens: 4) && options.seed == 77)
        #expect(options.command == "tiffin-monkey --seed 77")
    }

    @Test("asks for help wherever it is", arguments: ["--help", "-h", "--rate x --help", "--nothing -h"])
    @LoopActor
    func help(line: String) throws {
        #expect(try Self.parse(line) == nil)
    }

    @Test("lists every option and scenario in its help")
    @LoopActor
    func helpText() {
        for option in MonkeyOption.syntax.options {
            #expect(MonkeyHelp.text.contains("\n  --\(option.declaration.name) "))
        }
        for scenario in Scenarios.all { #expect(MonkeyHelp.text.contains("\n  \(scenario.name) ")) }
        for line in MonkeyHelp.text.split(separator: "\n") { #expect(line.count <= 120, "\(line)") }
    }

    @Test("says how the load is made")
    @LoopActor
    func loads() throws {
        #expect(try Self.options("--rate 1500 --duration 2m").mode == .open(stages: [.init(seconds: 120, rate: 1500)]))
        #expect(try Self.options("--rate=0.5").mode == .open(stages: [.init(seconds: 10, rate: 0.5)]))
        let stages = try Self.options("--stages 10s:5000,500ms:0")
        #expect(
            stages.mode == .open(stages: [.init(seconds: 10, rate: 5000), .init(seconds: 0.5, rate: 0)])
                && stages.seconds == 10.5)
        // A single stage rises, too, and a single rate is level.
        let rise = try Self.options("--stages 4s:100")
        #expect(rise.mode == .open(stages: [.init(seconds: 0, rate: 0), .init(seconds: 4, rate: 100)]))
        #expect(LoadPlan([.init(seconds: 0, rate: 0), .init(seconds: 4, rate: 100)]).total == 200)
        #expect(try Self.options("--closed").mode == .closed(pipeline: 1))
        let closed = try Self.options("--closed --pipeline 16 --connections 3 --duration 250ms")
        #expect(closed.mode == .closed(pipeline: 16) && closed.connections == 3 && closed.seconds == 0.25)
        #expect(try Self.options("--commands 150").commands == 150)
        #expect(try Self.options("--shoppers 60 --connections 60").shoppers == 60)
    }

    @Test("says what users do")
    @LoopActor
    func scenarios() throws {
        #expect(
            try Self.options("--scenario cart=3,browse").scenarios
                == [.init(scenario: "cart", weight: 3), .init(scenario: "browse", weight: 1)])
        let mixed = try Self.options(
            "--scenario mix.json", files: ["mix.json": #"{"scenarios":{"watch":1,"cart":2.5}}"#])
        #expect(
            mixed.scenarios == [.init(scenario: "cart", weight: 2.5), .init(scenario: "watch", weight: 1)])
        #expect(try Self.options("--scenario stress").size.outlets == World.Size.stress.outlets)
        #expect(try Self.options("--scenario cart,watch").size == .usual)
        let small = try Self.options("--scenario cart,stress --outlets 3 --items 9 --carts 0")
        #expect(small.size == World.Size(outlets: 3, items: 9, carts: 0, kitchens: 4))
    }

    @Test("says where the server is")
    @LoopActor
    func servers() throws {
        #expect(try Self.options("--server [::1]:80").servers == [ServerAddress(host: "::1", port: 80)])
        #expect(try Self.options("--server a:1,b:2").servers == ["a:1", "b:2"].map { ServerAddress($0) })
        for wrong in ["", ",", "a:1,", "a:1,,b:2", "a:1;b:2"] {
            #expect(throws: UsageError.self) { try Self.options("--server=\(wrong)") }
        }
        let environment = ["TIFFIN_SERVER": "shop:99"]
        #expect(try Self.options("", environment: environment).servers == [ServerAddress(host: "shop", port: 99)])
        #expect(
            try Self.options("--server a:1", environment: environment).servers == [ServerAddress(host: "a", port: 1)])
        // The variable names no server for this run, so it excludes nothing.
        #expect(try Self.options("--start", environment: environment).starts)
        #expect(try Self.options("--judge a", environment: environment).judge == "a")
        #expect(try Self.options("", environment: environment).command == "tiffin-monkey --seed 77")
        let started = try Self.options("--start --tiffin /bin/tiffin --chaos --quiet")
        #expect(started.starts && started.executable == "/bin/tiffin" && started.isChaotic && started.isQuiet)
        for text in ["", ":", "a", "a:", "a:0", "a:65536", "a:-1", "a:x", "::1:80"] {
            #expect(ServerAddress(text) == nil, "\(text)")
        }
        #expect(ServerAddress(host: "::1", port: 80).description == "[::1]:80")
    }

    @Test("is repeated with its seed, and without what only says where to write")
    @LoopActor
    func repeating() throws {
        let line = "--json a.json --scenario cart=2 --chaos --rate 5 --quiet --threshold all:p99<1s --junit b.xml"
        #expect(
            try Self.options(line).command == "tiffin-monkey --scenario cart=2 --rate 5 --chaos --seed 77")
        #expect(try Self.options("--seed 18446744073709551615").command.hasSuffix("--seed 18446744073709551615"))
        // What repeats it asks for the same.
        let words = try Self.options(line).command.dropFirst("tiffin-monkey ".count)
        #expect(try Self.options(String(words)).command == Self.options(line).command)
    }

    @Test("takes every threshold and where to write")
    @LoopActor
    func outputs() throws {
        let options = try Self.options(
            "--threshold cart.add:p99<20ms --threshold checks:violations==0 --json a --junit b --html c")
        #expect(options.thresholds.map(\.text) == ["cart.add:p99<20ms", "checks:violations==0"])
        #expect((options.json, options.junit, options.html) == ("a", "b", "c"))
    }

    @Test(
        "is refused, with the reason",
        arguments: [
            ("--nothing", "unknown option '--nothing'"), ("cart", "unexpected argument 'cart'"),
            ("--seed 1 --seed 2", "--seed is given twice"),
            ("--seed -1", "--seed: '-1' is not a whole number"), ("--seed x", "--seed: 'x' is not a whole number"),
            ("--rate fast", "--rate: 'fast' is not a number of commands a second, 0 to 1000000"),
            ("--rate -1", "not a number of commands"), ("--rate 1e7", "not a number of commands"),
            ("--rate nan", "not a number of commands"), ("--duration 5", "--duration: '5' is not a time"),
            ("--duration 0s", "is not a time"), ("--duration -1s", "is not a time"),
            ("--duration 25h", "at most a day"), ("--duration infs", "is not a time"),
            ("--stages 10s", "'10s' is not time:rate"), ("--stages 10s:5,", "'' is not time:rate"),
            ("--stages 10s:5:6", "is not time:rate"), ("--stages x:5", "--stages: 'x' is not a time"),
            ("--stages 1s:5 --rate 5", "leave out --rate and --duration"),
            ("--stages 1s:5 --duration 5s", "leave out --rate and --duration"),
            ("--closed --rate 5", "--rate is of an open load"), ("--closed --stages 1s:5", "--stages is of an open"),
            ("--commands 0", "--commands: '0' is not a whole number from 1 to 1000000000"),
            ("--closed --shoppers 100", "--shoppers is of an open load"), ("--pipeline 4", "give --closed, too"),
            ("--closed --pipeline 0", "--pipeline: '0' is not a whole number from 1 to 1000"),
            ("--connections 0", "--connections: '0' is not a whole number from 1 to 10000"),
            ("--connections 2.5", "is not a whole number"),
            ("--connections 100 --shoppers 99", "--shoppers: 99 is less than one for each connection"),
            ("--outlets 0", "--outlets: '0' is not a whole number from 1"), ("--carts -1", "--carts: '-1'"),
            ("--outlets 9 --items 8", "8 is less than one for each outlet"),
            ("--outlets 1 --items 5000", "fewer than 5000"),
            ("--scenario x", "there is no scenario 'x'; there are fling,"),
            ("--scenario cart=x", "'cart=x' is not name or name=weight"), ("--scenario cart=1=2", "is not name or"),
            ("--scenario cart=0", "more than 0"), ("--scenario cart=-1", "more than 0"),
            ("--scenario cart,,fling", "there is no scenario ''"),
            ("--scenario no.json", "--scenario: no.json cannot be read: there is no such file"),
            ("--scenario bad.json", "--scenario: bad.json is not {\"scenarios\""),
            ("--scenario empty.json", "every weight has to be more than 0"),
            ("--server nowhere", "--server: 'nowhere' is not host:port"),
            ("--start --server a:1", "exclude each other"),
            ("--threshold cart.ad:p99<1s", "cart.ad"), ("--threshold p99", "p99"),
            ("--baseline no.json", "--baseline: no.json cannot be used"),
            ("--baseline bad.json", "--baseline: bad.json cannot be used"),
            ("--regress 5%", "give one"), ("--regress 100%", "give 0% to 99%"),
            ("--judge a --seed 1", "takes no other option"),
        ])
    @LoopActor
    func refused(line: String, message: String) throws {
        let files = ["bad.json": "{}", "empty.json": #"{"scenarios":{}}"#]
        do {
            _ = try Self.parse(line, files: files)
            Issue.record("\(line) was taken")
        } catch let error as UsageError {
            #expect(error.description.contains(message))
        }
    }

    @Test("gives everybody a scenario, in proportion to the weights")
    @LoopActor
    func shares() throws {
        var options = try Self.options("--scenario cart=2,fling=1 --shoppers 90 --connections 1")
        options.size = .init(outlets: 1, items: 1, carts: 0)
        let run = Run(options) { _ in .standard }
        #expect(run.shoppers.count == 90)
        options = try Self.options("--closed --pipeline 4 --connections 5")
        #expect(Run(options) { _ in .standard }.shoppers.count == 20)
        options = try Self.options("--connections 2000")
        #expect(Run(options) { _ in .standard }.shoppers.count == 2_000)
    }
}
