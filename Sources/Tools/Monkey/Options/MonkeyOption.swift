internal import CommandLineOptions
internal import LineClient
internal import LineProtocol
internal import LoadOracle

/// The options of the command line.
enum MonkeyOption {
    static let syntax = CommandSyntax(
        "tiffin-monkey",
        options: [
            server, start, tiffin,
        ] + ConnectionOptions.declarations + [
            scenario, duration, commands, rate, stages, closed, connections, pipeline, shoppers, seed,
            chaos, outlets, items, carts, threshold, baseline, regress, json, junit, html, record, judge, quiet,
        ])

    /// What a run does not depend on: where it is written, and how it is judged.
    static let reporting: [any DeclaredOption] = [json, junit, html, record, quiet, baseline, regress, threshold]

    static let server = Option.value(
        "server", "host:port[,…]", "where the server listens, or each of several",
        OptionValue("host:port, or several with commas between them") { text in
            let words = text.split(separator: ",", omittingEmptySubsequences: false)
            let addresses = words.compactMap { ServerAddress(String($0)) }
            return addresses.count == words.count ? addresses : nil
        },
        default: "\(ServerAddress.standard)", variable: "TIFFIN_SERVER")
    static let start = Option.flag(
        "start", "start a server for the run, with a database of its own, and stop it afterwards")
    static let tiffin = Option.optional(
        "tiffin", "path", "the server to start (default the tiffin beside this program)", .text)

    // MARK: The load

    static let scenario = Option.value(
        "scenario", "name[=weight],…|file", "what users do, or a JSON file of scenarios and weights", .text,
        default: "monkey")
    static let duration = Option.value(
        "duration", "time", "how long the load lasts", time, default: "\(RunOptions.usualSeconds)s")
    static let commands = Option.optional(
        "commands", "n", "ends the load sooner, when this many commands are answered", .integer(1...1_000_000_000))
    static let rate = Option.optional(
        "rate", "n", "commands a second (default half of what a short closed load reaches)", commandsPerSecond)
    static let stages = Option(
        OptionDeclaration(
            "stages", "time:rate,…", "a rate that changes: 10s:5000,30s:20000 rises from 0 to 5000, then on to 20000")
    ) { texts throws(UsageError) in
        try texts.first.map { text throws(UsageError) in try readStages(text) }
    }
    static let closed = Option.flag("closed", "send the next command when the last is answered, instead of to a plan")
    static let connections = Option.value(
        "connections", "n", "connections", .integer(1...10_000), default: "\(RunOptions.usualConnections)")
    static let pipeline = Option.value(
        "pipeline", "n", "commands on their way on each connection, with --closed", .integer(1...1_000), default: "1")
    static let shoppers = Option.optional(
        "shoppers", "n", "users that share the connections, without --closed (default 1000)", .integer(1...1_000_000))
    static let seed = Option.optional(
        "seed", "n", "what all chance comes from (default the time)", OptionValue("a whole number") { UInt64($0) })
    static let chaos = Option.flag(
        "chaos", "cut connections, send twice, read slowly; with --start kill and pause the server")

    // MARK: The catalogue

    static let outlets = Option.optional(
        "outlets", "n", "outlets to build first (default 8; stress: 1000)", .integer(1...World.Size.outletLimit))
    static let items = Option.optional(
        "items", "n", "items on all their menus (default 320; stress: 100000)", .integer(1...World.Size.itemLimit))
    static let carts = Option.optional(
        "carts", "n", "carts to fill first (default 0; stress: 100000)", .integer(0...World.Size.cartLimit))

    // MARK: What is made of it

    static let threshold = Option(
        OptionDeclaration(
            "threshold", "text", "what has to hold, such as 'cart.add:p99<20ms'; may be repeated", isRepeatable: true)
    ) { texts throws(UsageError) in
        do throws(JudgingError) {
            return try texts.map { text throws(JudgingError) in
                try Threshold(text, calls: Call.Kind.allCases.map(\.name))
            }
        } catch {
            throw UsageError(error.description)
        }
    }
    static let baseline = Option.optional("baseline", "file", "an earlier --json to compare with", .text)
    static let regress = Option(
        OptionDeclaration(
            "regress", "percent", "how much worse than the baseline is too much", defaultText: "10%")
    ) { texts throws(UsageError) in
        do throws(JudgingError) {
            return try Baseline.allowed(texts[0])
        } catch {
            throw UsageError(error.description)
        }
    }
    static let json = Option.optional("json", "file", "write the report as JSON", .text)
    static let junit = Option.optional("junit", "file", "write the report as JUnit XML", .text)
    static let html = Option.optional("html", "file", "write the report as one HTML file", .text)
    static let record = Option.optional("record", "file", "record everything that was judged, for --judge", .text)
    static let judge = Option.optional(
        "judge", "file", "judge a recorded run again, without a server; no other option goes with it", .text)
    static let quiet = Option.flag("quiet", "no progress on standard error")

    // MARK: Values

    private static let commandsPerSecond = OptionValue("a number of commands a second, 0 to 1000000") { text in
        Double(text).flatMap { (0...1_000_000).contains($0) ? $0 : nil }
    }

    private static let time = OptionValue("a time such as 10s, 500ms, 2m or 1h, at most a day") { text -> Double? in
        let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3_600)]
        for (unit, factor) in units where text.hasSuffix(unit) {
            guard let number = Double(text.dropLast(unit.count)), number > 0, number * factor <= 86_400 else {
                continue
            }
            return number * factor
        }
        return nil
    }

    private static func readStages(_ text: String) throws(UsageError) -> [RunReport.Stage] {
        var stages: [RunReport.Stage] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard sides.count == 2 else { throw UsageError("--stages: '\(part)' is not time:rate, such as 10s:5000") }
            stages.append(
                RunReport.Stage(
                    seconds: try time.value(of: sides[0], for: "stages"),
                    rate: try commandsPerSecond.value(of: sides[1], for: "stages")))
        }
        // One stage rises from nothing as the first of several does, and is then told from a level rate.
        if stages.count == 1 { stages.insert(RunReport.Stage(seconds: 0, rate: 0), at: 0) }
        return stages
    }
}
