internal import EventLoop
internal import Foundation
internal import LineProtocol
internal import LoadOracle
internal import LoadReports

extension RunOptions {
    /// The environment variable that names the server where no option does.
    static let serverVariable = "TIFFIN_SERVER"

    /// Reads a command line; nil where it asks for help.
    ///
    /// - Parameter seed: what is taken where none is given.
    @LoopActor
    static func parse(
        _ arguments: [String], environment: [String: String], seed: UInt64,
        contents: (String) throws -> [UInt8]
    ) throws(UsageError) -> RunOptions? {
        if arguments.contains("--help") || arguments.contains("-h") { return nil }
        let line = try CommandLine(arguments)
        var options = RunOptions()
        options.seed = seed
        if let path = line[.judge] {
            guard line.count == 1 else { throw UsageError("--judge judges a record, and takes no other option") }
            options.judge = path
            return options
        }
        options.server = try line.server(environment)
        options.starts = line.has(.start)
        options.executable = line[.tiffin]
        guard !options.starts || line[.server] == nil else {
            throw UsageError("--start and --server exclude each other")
        }
        if let text = line[.scenario] { options.scenarios = try scenarios(text, contents) }
        if options.scenarios.contains(where: { $0.scenario == Stress.name }) { options.size = .stress }
        options.size.outlets = try line.number(.outlets, 1...World.Size.outletLimit) ?? options.size.outlets
        options.size.items = try line.number(.items, 1...World.Size.itemLimit) ?? options.size.items
        options.size.carts = try line.number(.carts, 0...World.Size.cartLimit) ?? options.size.carts
        guard options.size.items >= options.size.outlets else {
            throw UsageError("--items: \(options.size.items) is less than one for each outlet")
        }
        guard options.size.items / options.size.outlets < World.Size.itemsOfAnOutlet else {
            throw UsageError("--items: a menu takes fewer than \(World.Size.itemsOfAnOutlet); give more --outlets")
        }
        options.connections = try line.number(.connections, 1...10_000) ?? options.connections
        options.shoppers = try line.number(.shoppers, options.connections...1_000_000)
        if let seed = line[.seed] {
            guard let number = UInt64(seed) else { throw UsageError("--seed: '\(seed)' is not a whole number") }
            options.seed = number
        }
        try options.readLoad(line)
        options.isChaotic = line.has(.chaos)
        try options.readJudgements(line, contents)
        // Without a length and a rate of its own, the run is as the baseline was.
        if case .open(nil) = options.mode, !line.has(.duration), let earlier = options.baseline?.earlier.load,
            !earlier.isClosed
        {
            options.seconds = earlier.seconds
        }
        (options.json, options.junit, options.html) = (line[.json], line[.junit], line[.html])
        options.record = line[.record]
        options.isQuiet = line.has(.quiet)
        options.command = line.repeating(seed: options.seed)
        return options
    }

    private mutating func readLoad(_ line: CommandLine) throws(UsageError) {
        if let text = line[.duration] { seconds = try RunOptions.seconds(text, "--duration") }
        let pipeline = try line.number(.pipeline, 1...1_000)
        if line.has(.closed) {
            for option in [MonkeyOption.rate, .stages, .shoppers] where line.has(option) {
                throw UsageError("--\(option.rawValue) is of an open load, and --closed asks for the other kind")
            }
            mode = .closed(pipeline: pipeline ?? 1)
            return
        }
        guard pipeline == nil else { throw UsageError("--pipeline is of a closed load: give --closed, too") }
        if let text = line[.stages] {
            guard !line.has(.rate), !line.has(.duration) else {
                throw UsageError("--stages says rates and times: leave out --rate and --duration")
            }
            let stages = try RunOptions.stages(text)
            seconds = stages.reduce(0) { $0 + $1.seconds }
            mode = .open(stages: stages)
        } else if let text = line[.rate] {
            mode = .open(stages: [RunReport.Stage(seconds: seconds, rate: try RunOptions.rate(text, "--rate"))])
        }
    }

    private mutating func readJudgements(
        _ line: CommandLine, _ contents: (String) throws -> [UInt8]
    ) throws(UsageError) {
        guard line.has(.baseline) || !line.has(.regress) else {
            throw UsageError("--regress says how much worse than a --baseline is too much: give one")
        }
        do {
            for text in line.all(.threshold) {
                thresholds.append(try Threshold(text, calls: Call.Kind.allCases.map(\.name)))
            }
            guard let path = line[.baseline] else { return }
            let json = String(decoding: try contents(path), as: UTF8.self)
            baseline = Baseline(
                earlier: try RunReport(json: json), allowed: try Baseline.allowed(line[.regress] ?? "10%"))
        } catch let error as JudgingError {
            throw UsageError(error.description)
        } catch {
            throw UsageError("--baseline: \(line[.baseline] ?? "") cannot be used: \(error)")
        }
    }

    private static func rate(_ text: some StringProtocol, _ option: String) throws(UsageError) -> Double {
        guard let rate = Double(text), (0...1_000_000).contains(rate) else {
            throw UsageError("\(option): '\(text)' is not a number of commands a second, 0 to 1000000")
        }
        return rate
    }

    /// `10s`, `500ms`, `2m`, `1h`.
    private static func seconds(_ text: some StringProtocol, _ option: String) throws(UsageError) -> Double {
        let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3_600)]
        for (unit, factor) in units where text.hasSuffix(unit) {
            guard let number = Double(text.dropLast(unit.count)), number > 0, number * factor <= 86_400 else {
                continue
            }
            return number * factor
        }
        throw UsageError("\(option): '\(text)' is not a time such as 10s, 500ms, 2m or 1h, at most a day")
    }

    private static func stages(_ text: String) throws(UsageError) -> [RunReport.Stage] {
        var stages: [RunReport.Stage] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: ":", omittingEmptySubsequences: false)
            guard sides.count == 2 else { throw UsageError("--stages: '\(part)' is not time:rate, such as 10s:5000") }
            stages.append(
                RunReport.Stage(seconds: try seconds(sides[0], "--stages"), rate: try rate(sides[1], "--stages")))
        }
        // One stage rises from nothing as the first of several does, and is then told from a level rate.
        if stages.count == 1 { stages.insert(RunReport.Stage(seconds: 0, rate: 0), at: 0) }
        return stages
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

/// The words of a command line, sorted.
private struct CommandLine {
    private var values: [MonkeyOption: [String]] = [:]

    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts[0].hasPrefix("--"), let option = MonkeyOption(rawValue: String(parts[0].dropFirst(2))) else {
                throw UsageError("there is no option '\(argument)'")
            }
            guard values[option] == nil || option.mayRepeat else {
                throw UsageError("--\(option.rawValue) is given twice")
            }
            guard option.placeholder != nil else {
                guard parts.count == 1 else { throw UsageError("--\(option.rawValue) takes no value") }
                values[option] = []
                continue
            }
            guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst(), !value.isEmpty else {
                throw UsageError("--\(option.rawValue) needs a value")
            }
            values[option, default: []].append(value)
        }
    }

    /// How many different options there are.
    var count: Int { values.count }

    subscript(option: MonkeyOption) -> String? { values[option]?.first }

    func has(_ option: MonkeyOption) -> Bool { values[option] != nil }

    func all(_ option: MonkeyOption) -> [String] { values[option] ?? [] }

    func number(_ option: MonkeyOption, _ range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = self[option] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                "--\(option.rawValue): '\(text)' is not a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func server(_ environment: [String: String]) throws(UsageError) -> ServerAddress? {
        guard let text = self[.server] ?? environment[RunOptions.serverVariable] else { return nil }
        guard let address = ServerAddress(text) else { throw UsageError("'\(text)' is not host:port") }
        return address
    }

    /// The command line that repeats the run, with its seed and without what says where to write and how to judge.
    func repeating(seed: UInt64) -> String {
        var words = ["tiffin-monkey"]
        let silent: Set<MonkeyOption> = [.seed, .json, .junit, .html, .record, .quiet, .baseline, .regress, .threshold]
        for option in MonkeyOption.allCases where has(option) && !silent.contains(option) {
            words.append("--\(option.rawValue)")
            words += all(option)
        }
        return (words + ["--seed", "\(seed)"]).joined(separator: " ")
    }
}
