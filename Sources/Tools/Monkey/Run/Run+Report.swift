internal import EventLoop
internal import LoadOracle
internal import Measurement

/// What a report contains besides the recorder's figures.
struct RunFrame {
    var startedAt: String
    var stages: [RunReport.Stage]
    var environment: [RunReport.Fact]
    var server: RunReport.ServerUsage?
    /// The part of the load's time that this process was busy.
    var busy: Double
}

extension Run {
    /// If its one thread is busy for more of the time than this, the monkey is the limit.
    private static let busyLimit = 0.9
    /// The same if one send in a hundred is later than this for the monkey's own reasons.
    private static let lateLimit: UInt64 = 5_000_000

    /// The whole run, without judgements.
    func report(_ frame: RunFrame) -> RunReport {
        let unknown = oracle.unanswered
        let kinds = Call.Kind.allCases.filter { kind in
            recorder.tallies[kind.rawValue].response.count > 0 || unknown.contains(kind)
        }
        let calls = kinds.map { callReport($0.name, isWrite: $0.isWrite, [$0], unknown) }
        let sums = [false, true].map { isWrite in
            callReport(isWrite ? "writes" : "reads", isWrite: isWrite, kinds.filter { $0.isWrite == isWrite }, unknown)
        }
        return RunReport(
            startedAt: frame.startedAt, command: repeating(frame.stages), load: load(frame.stages),
            environment: frame.environment, seconds: max(recorder.seconds, 1e-9), calls: sums + calls,
            windows: recorder.windows, sending: sending(frame), errors: errorCounts(), checks: RunReport.Checks(oracle),
            faults: faults(), server: frame.server, outcome: RunReport.Outcome(oracle))
    }

    /// What the run was asked to do.
    func load(_ stages: [RunReport.Stage]) -> RunReport.Load {
        var load = RunReport.Load(
            scenarios: options.scenarios, seed: options.seed, isClosed: false, stages: stages,
            connections: options.connections, pipeline: 1, seconds: options.seconds, isChaotic: options.isChaotic,
            size: .init(
                outlets: options.size.outlets, items: options.size.items, carts: options.size.carts,
                shoppers: shoppers.count))
        if case .closed(let pipeline) = options.mode { (load.isClosed, load.pipeline) = (true, pipeline) }
        return load
    }

    /// The run as it is shown while it goes on.
    var snapshot: LiveSnapshot {
        LiveSnapshot(
            elapsed: recorder.seconds, planned: options.seconds,
            windows: recorder.windows.suffix(LiveView.secondsShown),
            errors: errorCounts(), checks: oracle.checkCount,
            violations: oracle.findings.count + oracle.furtherFindings,
            inFlight: recorder.inFlight, late: recorder.late, dropped: recorder.dropped, faults: faults())
    }

    private func callReport(
        _ name: String, isWrite: Bool, _ kinds: [Call.Kind], _ unknown: [Call.Kind]
    ) -> RunReport.CallReport {
        let tallies = kinds.map { recorder.tallies[$0.rawValue] }
        var (response, service) = (Histogram(), Histogram())
        for tally in tallies {
            response.merge(tally.response)
            service.merge(tally.service)
        }
        return RunReport.CallReport(
            name: name, isWrite: isWrite, accepted: tallies.reduce(0) { $0 + $1.accepted },
            refused: tallies.reduce(0) { $0 + $1.refused }, unknown: unknown.count(where: kinds.contains),
            responseTime: .init(response), serviceTime: .init(service))
    }

    /// The command line with the rate that was found, so that it does the same again.
    private func repeating(_ stages: [RunReport.Stage]) -> String {
        guard case .open(nil) = options.mode, let rate = stages.first?.rate else { return options.command }
        // The duration may be that of a baseline.
        let length = options.command.contains("--duration") || options.seconds == Double(RunOptions.usualSeconds)
        return options.command + " --rate \(Int(rate))"
            + (length ? "" : " --duration \(Int(options.seconds * 1_000))ms")
    }

    private func sending(_ frame: RunFrame) -> RunReport.Sending {
        var limit: String?
        let delay = recorder.ownDelay.quantile(0.99)
        if frame.busy > Run.busyLimit {
            limit = "its one thread was busy \(Int(frame.busy * 100)) % of the time"
        } else if delay > Run.lateLimit {
            limit = "one send in a hundred was \(delay / 1_000_000) ms late for no reason but its own"
        }
        let isClosed = if case .closed = options.mode { true } else { false }
        return RunReport.Sending(
            planned: isClosed ? recorder.sent : recorder.planned, sent: recorder.sent, late: recorder.late,
            dropped: recorder.dropped, ownDelay: .init(recorder.ownDelay), busy: frame.busy, limit: limit)
    }

    private func errorCounts() -> [RunReport.ErrorCount] {
        recorder.errors.map { key, count in
            RunReport.ErrorCount(call: key.call.name, code: key.code, count: count, isExpected: key.isExpected)
        }
        .sorted { ($0.count, $1.call, $1.code) > ($1.count, $0.call, $0.code) }
    }

    private func faults() -> [RunReport.Fault] {
        recorder.faults.map { kind, fault in
            RunReport.Fault(
                kind: kind, count: fault.count, firstAt: recorder.seconds(at: fault.times[0]),
                times: fault.times.map { recorder.seconds(at: $0) })
        }
        .sorted { ($0.firstAt, $0.kind) < ($1.firstAt, $1.kind) }
    }
}

extension RunReport.Checks {
    /// What an oracle compared and found.
    init(_ oracle: Oracle) {
        self.init(
            made: oracle.checksMade.filter { $0.count > 0 }.map { .init(name: $0.check.name, count: $0.count) },
            violations: oracle.findings.map { finding in
                let time = finding.time - min(finding.time, oracle.loadBegan)
                return RunReport.Violation(
                    check: finding.check.name, message: finding.message, history: finding.history,
                    at: Double(time) / 1e9)
            },
            furtherViolations: oracle.furtherFindings)
    }
}

extension RunReport.Outcome {
    /// How a run ended, as far as the oracle knows.
    init(_ oracle: Oracle) {
        self =
            !oracle.findings.isEmpty
            ? .checkFailed : !oracle.unanswered.isEmpty || oracle.unreadLog != nil ? .unknown : .held
    }
}
