import Glibc
import SimulatedLoop

private func fail(_ text: String) -> Never {
    print(text)
    exit(2)
}

/// Runs plans, each in a process of its own: so a trap is found like any other mistake, and every run begins alike.
@main
struct Simulate {
    private struct Outcome {
        var violations: [String] = []
        var faults: [String: Int] = [:]
        var trace: [Substring] = []
        /// What tells runs apart.
        var digest = ""
        var nanoseconds: UInt64 = 0
        var replies = 0
        var events = 0
        /// What the logs have, by what it is.
        var tallies: [String: Int] = [:]

        /// What there was in all, and how fast.
        func told(after seconds: Double) -> String {
            let simulated = Double(nanoseconds) / 1e9
            let tallies = tallies.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key), " }.joined()
            return "\(replies) replies, \(events) events, \(tallies)\(Int(simulated)) s simulated in "
                + "\(Int(seconds.rounded(.up))) s, \(Int(simulated / max(seconds, 0.001))) simulated seconds a second"
        }
    }

    private static let usage = """
        usage: tiffin-simulate [--seeds N] [--first M] [--actions N] [--without FAULT,…] [--trace] [--brief]
               tiffin-simulate --script SEED

        Runs seeds, and shrinks the first that fails, unless it is to be brief. --trace tells what happens in one.
        --script has the simulated database answer what a seed asks of it, and prints the answers.
        Faults: \(Fault.allCases.map(\.rawValue).joined(separator: ", "))
        """

    private var starter = Starter()
    /// Whether a seed that fails is not shrunk.
    private var isBrief = false

    static func main() {
        simulated_begin(CommandLine.unsafeArgv)
        var simulate = Simulate()
        var (count, first, isTold) = (UInt64(100), UInt64(0), false)
        var plan = Plan(seed: 0)
        var words = CommandLine.arguments.dropFirst()
        while let word = words.popFirst() {
            if word == "--trace" {
                isTold = true
                continue
            }
            if word == "--brief" {
                simulate.isBrief = true
                continue
            }
            guard let text = words.popFirst() else { fail(usage) }
            if word == "--without" {
                for name in text.split(separator: ",") {
                    guard let fault = Fault(rawValue: String(name)) else { fail(usage) }
                    plan.without.insert(fault)
                }
                continue
            }
            guard let number = UInt64(text) else { fail(usage) }
            switch word {
            case "--script": Script.run(seed: number)
            case "--seeds": count = number
            case "--first": first = number
            case "--actions": plan.actions = Int(clamping: number)
            default: fail(usage)
            }
        }
        guard count > 0, first <= .max - count else { fail(usage) }
        if isTold {
            plan.seed = first
            return show(simulate.run(plan, isTold: true))
        }
        simulate.runAll(plan, first..<first + count)
    }

    private mutating func runAll(_ plan: Plan, _ seeds: Range<UInt64>) {
        var plan = plan
        var total = Outcome()
        let began = Simulate.seconds()
        for seed in seeds {
            plan.seed = seed
            let outcome = run(plan)
            guard outcome.violations.isEmpty else { report(plan, outcome) }
            // A seed is one run. Every hundredth is run again, to see whether that is so.
            if seed % 100 == 0, run(plan).digest != outcome.digest {
                print("seed \(seed) led to two runs")
                exit(1)
            }
            total.faults.merge(outcome.faults, uniquingKeysWith: +)
            total.nanoseconds += outcome.nanoseconds
            total.replies += outcome.replies
            total.events += outcome.events
            total.tallies.merge(outcome.tallies, uniquingKeysWith: +)
            let done = seed - seeds.lowerBound + 1
            if done % 1_000 == 0 || seed == seeds.upperBound - 1 {
                print("\(done) seeds from \(seeds.lowerBound): \(total.told(after: Simulate.seconds() - began))")
                // Whoever reads along is not to wait until there is a page of it.
                fflush(nil)
            }
        }
        print(
            "faults: " + total.faults.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        )
    }

    /// The time, in seconds since some moment.
    private static func seconds() -> Double {
        var clock = timespec()
        clock_gettime(CLOCK_MONOTONIC, &clock)
        return Double(clock.tv_sec) + Double(clock.tv_nsec) / 1e9
    }

    // MARK: A run that fails

    private mutating func report(_ plan: Plan, _ outcome: Outcome) -> Never {
        print("seed \(plan.seed) fails: \(outcome.violations[0])")
        if isBrief { exit(1) }
        var plan = plan
        // Without as many kinds of faults as possible, and then as short as possible.
        for fault in Fault.allCases {
            var simpler = plan
            simpler.without.insert(fault)
            if !run(simpler).violations.isEmpty { plan = simpler }
        }
        var (passes, fails) = (0, plan.actions)
        while fails - passes > 1 {
            plan.actions = (passes + fails) / 2
            if run(plan).violations.isEmpty { passes = plan.actions } else { fails = plan.actions }
        }
        plan.actions = fails
        Simulate.show(run(plan, isTold: true))
        let without = Fault.allCases.filter(plan.without.contains).map(\.rawValue).joined(separator: ",")
        print(
            "again: tiffin-simulate --first \(plan.seed) --actions \(plan.actions)"
                + (without.isEmpty ? "" : " --without \(without)") + " --trace")
        exit(1)
    }

    private static func show(_ outcome: Outcome) {
        for line in outcome.trace { print(line) }
        for violation in outcome.violations { print("violation: \(violation)") }
    }

    // MARK: A process for each

    /// The process that starts runs: it is told plans, and what comes back has a line for everything.
    private struct Starter {
        private let plans: Int32
        private let results: Int32
        private var received: [UInt8] = []

        init() {
            var (plans, results): ([Int32], [Int32]) = ([0, 0], [0, 0])
            guard pipe(&plans) == 0, pipe(&results) == 0 else { fail("no pipe") }
            let child = simulated_fork()
            guard child >= 0 else { fail("no process") }
            if child == 0 {
                close(plans[1])
                close(results[0])
                Server.prepare()
                var words: [UInt64] = [0, 0, 0, 0]
                simulated_runs(plans[0], results[1], &words)
                // A run that goes round in circles ends, too. What the machine does meanwhile does not count.
                var minute = itimerval(it_interval: timeval(), it_value: timeval(tv_sec: 60, tv_usec: 0))
                setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &minute, nil)
                World.run(Plan(words), result: results[1])
            }
            close(plans[0])
            close(results[1])
            (self.plans, self.results) = (plans[1], results[0])
        }

        /// Runs a plan. Returns what it says, and its status.
        mutating func run(_ plan: Plan) -> (lines: [Substring], status: Int) {
            guard write(plans, plan.words, 32) == 32 else { fail("the starter of runs is gone") }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            received = []
            while true {
                let count = read(results, &buffer, buffer.count)
                guard count > 0 else { fail("the starter of runs is gone") }
                received += buffer[..<count]
                guard received.last == UInt8(ascii: "\n") else { continue }
                let lines = String(decoding: received, as: UTF8.self).split(separator: "\n")
                let words = lines.last?.split(separator: " ") ?? []
                if words.first == "end" { return (lines.dropLast(), Int(words[1]) ?? -1) }
            }
        }
    }

    private mutating func run(_ plan: Plan, isTold: Bool = false) -> Outcome {
        var plan = plan
        plan.isTold = isTold
        var outcome = Outcome()
        let (lines, status) = starter.run(plan)
        for line in lines {
            let words = line.split(separator: " ")
            switch words[0] {
            case "|": outcome.trace.append(line)
            case "violation": outcome.violations.append(String(line.dropFirst("violation ".count)))
            case "fault": outcome.faults[String(words[1])] = Int(words[2])
            case "tally": outcome.tallies[words[2...].joined(separator: " ")] = Int(words[1])
            case "done":
                outcome.digest = String(words[1])
                outcome.nanoseconds = UInt64(words[2]) ?? 0
                outcome.replies = Int(words[3]) ?? 0
                outcome.events = Int(words[4]) ?? 0
            default: outcome.violations.append("it said: \(line)")
            }
        }
        if status != 0 || outcome.digest.isEmpty {
            outcome.violations.append("the process ended with status \(status)")
        }
        return outcome
    }
}
