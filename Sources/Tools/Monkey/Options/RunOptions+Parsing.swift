internal import CommandLineOptions
internal import EventLoop
internal import Foundation
internal import LineClient
internal import LoadOracle

extension RunOptions {
    /// Reads a command line; nil where it asks for help.
    ///
    /// - Parameter seed: what is taken where none is given.
    @LoopActor
    static func parse(
        _ arguments: [String], environment: [String: String], seed: UInt64,
        contents: (String) throws -> [UInt8]
    ) throws(UsageError) -> RunOptions? {
        guard let line = try MonkeyOption.syntax.parse(arguments, environment: environment) else { return nil }
        var options = RunOptions()
        options.seed = line[MonkeyOption.seed] ?? seed
        if let path = line[MonkeyOption.judge] {
            guard MonkeyOption.syntax.options.count(where: { line.isGiven($0) }) == 1 else {
                throw UsageError("--judge judges a record, and takes no other option")
            }
            options.judge = path
            return options
        }
        options.servers = line[MonkeyOption.server]
        options.starts = line[MonkeyOption.start]
        options.executable = line[MonkeyOption.tiffin]
        guard !options.starts || !line.isGiven(MonkeyOption.server) else {
            throw UsageError("--start and --server exclude each other")
        }
        options.connection = try ConnectionOptions(line)
        guard !options.starts || options.connection == ConnectionOptions() else {
            throw UsageError("--start starts a server without TLS and users")
        }
        options.scenarios = try scenarios(line[MonkeyOption.scenario], contents)
        try options.readSize(line)
        try options.readLoad(line)
        options.isChaotic = line[MonkeyOption.chaos]
        options.thresholds = line[MonkeyOption.threshold]
        try options.readBaseline(line, contents)
        options.json = line[MonkeyOption.json]
        options.junit = line[MonkeyOption.junit]
        options.html = line[MonkeyOption.html]
        options.record = line[MonkeyOption.record]
        options.isQuiet = line[MonkeyOption.quiet]
        options.command = repeating(line, seed: options.seed)
        return options
    }

    @LoopActor
    private mutating func readSize(_ line: Options) throws(UsageError) {
        if scenarios.contains(where: { $0.scenario == Stress.name }) { size = .stress }
        size.outlets = line[MonkeyOption.outlets] ?? size.outlets
        size.items = line[MonkeyOption.items] ?? size.items
        size.carts = line[MonkeyOption.carts] ?? size.carts
        if scenarios.contains(where: { Scenarios.named($0.scenario)?.needsKitchens ?? false }) {
            size.kitchens = KitchenTerms.kitchens
        }
        guard size.items >= size.outlets else {
            throw UsageError("--items: \(size.items) is less than one for each outlet")
        }
        guard size.items / size.outlets < World.Size.itemsOfAnOutlet else {
            throw UsageError("--items: a menu takes fewer than \(World.Size.itemsOfAnOutlet); give more --outlets")
        }
    }

    private mutating func readLoad(_ line: Options) throws(UsageError) {
        seconds = line[MonkeyOption.duration]
        commands = line[MonkeyOption.commands]
        connections = line[MonkeyOption.connections]
        if line[MonkeyOption.closed] {
            let ofOpenLoads: [any DeclaredOption] = [MonkeyOption.rate, MonkeyOption.stages, MonkeyOption.shoppers]
            if let option = ofOpenLoads.first(where: { line.isGiven($0) }) {
                let name = option.declaration.name
                throw UsageError("--\(name) is of an open load, and --closed asks for the other kind")
            }
            mode = .closed(pipeline: line[MonkeyOption.pipeline])
            return
        }
        guard !line.isGiven(MonkeyOption.pipeline) else {
            throw UsageError("--pipeline is of a closed load: give --closed, too")
        }
        shoppers = line[MonkeyOption.shoppers]
        if let shoppers, shoppers < connections {
            throw UsageError("--shoppers: \(shoppers) is less than one for each connection")
        }
        if let stages = line[MonkeyOption.stages] {
            guard !line.isGiven(MonkeyOption.rate), !line.isGiven(MonkeyOption.duration) else {
                throw UsageError("--stages says rates and times: leave out --rate and --duration")
            }
            seconds = stages.reduce(0) { $0 + $1.seconds }
            mode = .open(stages: stages)
        } else if let rate = line[MonkeyOption.rate] {
            mode = .open(stages: [RunReport.Stage(seconds: seconds, rate: rate)])
        }
    }

    private mutating func readBaseline(
        _ line: Options, _ contents: (String) throws -> [UInt8]
    ) throws(UsageError) {
        guard let path = line[MonkeyOption.baseline] else {
            guard !line.isGiven(MonkeyOption.regress) else {
                throw UsageError("--regress says how much worse than a --baseline is too much: give one")
            }
            return
        }
        let earlier: RunReport
        do {
            earlier = try RunReport(json: String(decoding: try contents(path), as: UTF8.self))
        } catch {
            throw UsageError("--baseline: \(path) cannot be used: \(error)")
        }
        baseline = Baseline(earlier: earlier, allowed: line[MonkeyOption.regress])
        // Without a length and a rate of its own, the run is as the baseline was.
        if case .open(nil) = mode, !line.isGiven(MonkeyOption.duration), !earlier.load.isClosed {
            seconds = earlier.load.seconds
        }
    }

    /// The command line that repeats the run, with its seed and without what says where to write and how to judge.
    private static func repeating(_ line: Options, seed: UInt64) -> String {
        let omitted = Set((MonkeyOption.reporting + [MonkeyOption.seed]).map(\.declaration.name))
        var words = [MonkeyOption.syntax.command]
        for option in MonkeyOption.syntax.options where line.isGiven(option) {
            let declaration = option.declaration
            guard !omitted.contains(declaration.name) else { continue }
            words.append("--\(declaration.name)")
            if declaration.placeholder != nil { words += line.texts(of: option) }
        }
        return (words + ["--seed", "\(seed)"]).joined(separator: " ")
    }

    // MARK: Scenarios

    @LoopActor
    private static func scenarios(
        _ text: String, _ contents: (String) throws -> [UInt8]
    ) throws(UsageError) -> [RunReport.Share] {
        let shares = text.hasSuffix(".json") ? try mix(text, contents) : try mix(text)
        for share in shares where Scenarios.named(share.scenario) == nil {
            let names = Scenarios.all.map { $0.name }.joined(separator: ", ")
            throw UsageError("there is no scenario '\(share.scenario)'; there are \(names)")
        }
        guard !shares.isEmpty, shares.allSatisfy({ $0.weight > 0 && $0.weight <= 1e6 }) else {
            throw UsageError("--scenario: every weight has to be more than 0, and at most 1000000")
        }
        return shares
    }

    private static func mix(_ text: String) throws(UsageError) -> [RunReport.Share] {
        var shares: [RunReport.Share] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", omittingEmptySubsequences: false)
            let weight = sides.count == 2 ? Double(sides[1]) : sides.count == 1 ? 1 : nil
            guard let weight else { throw UsageError("--scenario: '\(part)' is not name or name=weight") }
            shares.append(RunReport.Share(scenario: String(sides[0]), weight: weight))
        }
        return shares
    }

    private struct ScenarioFile: Decodable {
        var scenarios: [String: Double]
    }

    private static func mix(
        _ path: String, _ contents: (String) throws -> [UInt8]
    ) throws(UsageError) -> [RunReport.Share] {
        let bytes: [UInt8]
        do { bytes = try contents(path) } catch { throw UsageError("--scenario: \(path) cannot be read: \(error)") }
        guard let file = try? JSONDecoder().decode(ScenarioFile.self, from: Data(bytes)) else {
            throw UsageError("--scenario: \(path) is not {\"scenarios\": {\"cart\": 3, \"browse\": 1}}")
        }
        return file.scenarios.sorted { $0.key < $1.key }.map { RunReport.Share(scenario: $0.key, weight: $0.value) }
    }
}
