internal import EventLoop
internal import Foundation
internal import LineClient
internal import LineProtocol
internal import LoadOracle

/// A run from beginning to end: the server is found or started and observed under load, and its log is read.
@LoopActor
final class Session {
    /// How often, and how long each time, a server is waited for in the end.
    private static let pauses = 75
    private static let pauseMilliseconds: UInt64 = 200

    private let options: RunOptions
    private let progress: Progress
    private let observer: Observer
    /// Where the first server listens, which is the one that is observed.
    private let address: ServerEndpoint
    private let started: StartedServer?
    private let run: Run
    private var serverFaults: ServerFaults?
    private var startedAt = Date()
    private var lastProcessorTime: Int64?
    private var wasStopped = false
    /// Whether outlets of the run may be on the server.
    private var hasBuilt = false
    private var failedThreshold: Threshold?

    private init(_ options: RunOptions, _ progress: Progress, _ servers: [ServerEndpoint], _ started: StartedServer?)
        throws
    {
        self.options = options
        self.progress = progress
        let address = servers[0]
        self.address = address
        self.started = started
        observer = Observer { address }
        run = Run(options) { servers[$0 % servers.count] }
        if let path = options.record {
            run.record = try RecordFile(
                path, RecordWriter(run.world, connections: options.connections, command: options.command))
        }
    }

    /// Runs to the end, or until `stop` is called.
    static func run(
        _ options: RunOptions, _ progress: Progress, stop: (@escaping @LoopActor () -> Void) -> Void
    ) async throws -> RunReport {
        if options.starts { progress.say("starting a server") }
        let servers = try options.servers.map { try options.connection.server(at: $0) }
        let started = options.starts ? try await StartedServer.start(executable: options.executable) : nil
        let session: Session
        do {
            session = try Session(options, progress, started.map { [ServerEndpoint($0.address)] } ?? servers, started)
        } catch {
            await started?.stop()
            throw error
        }
        stop {
            session.wasStopped = true
            session.run.end()
        }
        do {
            var report = try await session.run()
            if let remark = await session.close() { report.remarks.append(remark) }
            return report
        } catch {
            if let remark = await session.close() { progress.say(remark) }
            throw error
        }
    }

    /// Leaves the server as it was, but for the log. Returns what was left behind, if that failed.
    private func close() async -> String? {
        progress.finish()
        run.close()
        var remark: String?
        // A server of its own goes with everything that is on it.
        if hasBuilt, started == nil {
            do {
                try await observer.removeOutlets(
                    of: run.world.name, hidden: run.world.outlets.filter(\.mayBeHidden).map(\.id))
            } catch {
                remark = "outlets may be left in the city \(run.world.name): \(error)"
            }
        }
        observer.close()
        await started?.stop()
        return remark
    }

    private func run() async throws -> RunReport {
        let (info, heads) = try await greet()
        try await run.connect()
        let size = options.size
        progress.say(
            "building \(Figures.count(size.outlets)) outlets with \(Figures.count(size.items)) items"
                + (size.kitchens > 0 ? ", \(size.kitchens) kitchens" : "")
                + (size.carts > 0 ? ", filling \(Figures.count(size.carts)) carts" : ""))
        hasBuilt = true
        try await run.prepare()
        let stages = await stages()
        if let baseline = options.baseline { try baseline.check(run.load(stages)) }
        let (usage, busy) = await load(stages, info)
        await run.drain()
        do {
            // Do not wait for a server that is gone.
            if run.isAnythingUnanswered { _ = try await observer.info() }
            await run.settle()
            run.giveUp()
            try await audit(from: heads)
        } catch {
            run.giveUp()
            run.observe(.logUnread(reason: "\(error)"))
        }
        let frame = RunFrame(
            startedAt: startedAt.formatted(.iso8601), stages: stages, environment: facts(info), server: usage,
            busy: busy)
        run.record?.end()
        return try judge(run.report(frame))
    }

    /// Makes sure that it is a server, and one of ours.
    private func greet() async throws -> (ServerInfo, [Int64]) {
        do {
            return (try await observer.info(), try await observer.heads())
        } catch let error as LoopError {
            throw CannotRun("no server answers at \(address): \(error); start one, or give --start or --server")
        } catch {
            throw CannotRun("what answers at \(address) is not a Tiffin server: \(error)")
        }
    }

    // MARK: The load

    /// What was asked for, what the baseline had, or half of what the server turns out to reach.
    private func stages() async -> [RunReport.Stage] {
        switch options.mode {
        case .closed: return []
        case .open(let stages?): return stages
        case .open(nil):
            if let earlier = options.baseline?.earlier.load, earlier.seconds == options.seconds, !earlier.isClosed {
                return earlier.stages
            }
            let reached = await run.probe()
            // More than two digits would mean nothing.
            let magnitude = pow(10, max(0, floor(log10(max(1, reached / 2))) - 1))
            let rate = max(1, (reached / 2 / magnitude).rounded() * magnitude)
            progress.say(
                "a closed load reaches \(Figures.rate(reached)); this one takes half of that, \(Figures.rate(rate))")
            return [RunReport.Stage(seconds: options.seconds, rate: rate)]
        }
    }

    private func load(
        _ stages: [RunReport.Stage], _ info: ServerInfo
    ) async -> (usage: RunReport.ServerUsage?, busy: Double) {
        let before = (try? await observer.info()) ?? info
        let own = ProcessResources.current
        lastProcessorTime = before.processorMicroseconds
        startedAt = Date()
        if let started, options.isChaotic {
            serverFaults = ServerFaults(started, recorder: run.recorder, seed: options.seed)
            serverFaults?.start()
        }
        run.recorder.start()
        run.observe(.loadBegan(at: run.recorder.startedAt))
        let watch = LoopTimer(milliseconds: 1_000, repeating: true) { [self] in
            LoopActor.task { [self] in await closeWindow(stages) }
        }
        if case .closed(let pipeline) = options.mode {
            await run.loadClosed(options.connections * pipeline, seconds: options.seconds)
        } else {
            await run.loadOpen(LoadPlan(stages))
        }
        run.recorder.end()
        watch.cancel()
        let used = ProcessResources.current.microseconds - own.microseconds
        progress.finish()
        await serverFaults?.stop()
        let after = try? await observer.info()
        run.recorder.closeWindow(
            serverMicroseconds: difference(lastProcessorTime, after?.processorMicroseconds),
            serverBytes: after?.residentBytes)
        return (usage(before, after), Double(used) / 1e6 / max(run.recorder.seconds, 1e-9))
    }

    private func closeWindow(_ stages: [RunReport.Stage]) async {
        let info = try? await observer.info()
        guard run.recorder.isRecording else { return }
        run.recorder.closeWindow(
            serverMicroseconds: difference(lastProcessorTime, info?.processorMicroseconds),
            serverBytes: info?.residentBytes)
        lastProcessorTime = info?.processorMicroseconds
        progress.show(run.snapshot)
        let aborting = options.thresholds.filter { $0.abortsAfter != nil }
        guard !aborting.isEmpty else { return }
        let frame = RunFrame(
            startedAt: "", stages: stages, environment: [], server: nil, busy: 0)
        let report = run.report(frame)
        guard let failed = aborting.first(where: { $0.endsRun(report) }) else { return }
        failedThreshold = failed
        run.end()
    }

    private func difference(_ before: Int64?, _ after: Int64?) -> Int64? {
        // A restarted server counts from zero.
        guard let before, let after, after >= before else { return nil }
        return after - before
    }

    private func usage(_ before: ServerInfo, _ after: ServerInfo?) -> RunReport.ServerUsage? {
        guard let after, let used = difference(before.processorMicroseconds, after.processorMicroseconds),
            let peak = after.peakBytes
        else { return nil }
        let batches = max(0, after.batches - before.batches)
        let commits = max(0, after.commitMicroseconds - before.commitMicroseconds)
        return RunReport.ServerUsage(
            microseconds: used, peakBytes: peak, batches: batches, events: max(0, after.events - before.events),
            commitMicroseconds: batches == 0 ? 0 : Int(commits / Double(batches)))
    }

    // MARK: The end

    private func audit(from heads: [Int64]) async throws {
        let client = try await observer.connected()
        await awaitProcesses()
        let (ends, takings) = try await takings()
        let count = zip(heads, ends).reduce(0) { $0 + $1.1 - $1.0 }
        progress.say("reading \(Figures.count(Int(count))) events of the log")
        run.observe(.logBegins(heads: heads, at: LoopActor.now))
        for (outlet, document) in takings { run.observe(.takings(outlet: outlet, document: document)) }
        for (partition, head) in heads.enumerated() {
            let reader = LogReader(client: client, partition: partition)
            try await reader.read(from: head + 1, to: ends[partition]) { event in
                run.observe(.logEvent(partition: partition, event: event))
            }
        }
        run.observe(.logEnds(heads: ends, at: LoopActor.now))
        for (index, finding) in run.oracle.findings.enumerated() {
            guard let stream = finding.stream else { continue }
            let words = ["LOG.READ", "STREAM", stream, "COUNT", "100"]
            if case .array(let events)? = try? await client.ask(words) {
                run.oracle.explain(index, events.map(\.summary))
            }
        }
    }

    /// Waits until what orders claim and give back has been answered, for a bounded time.
    private func awaitProcesses() async {
        for _ in 0..<Session.pauses {
            if let info = try? await observer.info(), info["processes_open"] == "0" { return }
            await LoopTimer.pause(milliseconds: Session.pauseMilliseconds)
        }
    }

    /// The ends of the log, and what every kitchen took until there, once nothing was written for a moment. Where others
    /// write all the time, there are no takings.
    private func takings() async throws -> (ends: [Int64], takings: [(outlet: Int, document: [UInt8])]) {
        var ends = try await observer.heads()
        let day = run.day
        func name(_ day: Int) -> String { String(Moment.text(day: day, minute: 0).prefix(10)) }
        for _ in 0..<5 {
            await LoopTimer.pause(milliseconds: Session.pauseMilliseconds)
            var takings: [(outlet: Int, document: [UInt8])] = []
            for kitchen in run.world.kitchens {
                let words = ["TAKINGS", kitchen.id, "FROM", name(day - 1), "UNTIL", name(day + 2)]
                if case .bulk(let document) = try await observer.connected().ask(words) {
                    takings.append((kitchen.index, document))
                }
            }
            let now = try await observer.heads()
            if now == ends { return (ends, takings) }
            ends = now
        }
        return (ends, [])
    }

    private func judge(_ report: RunReport) throws -> RunReport {
        var report = report
        if wasStopped { report.remarks.append("the run was stopped early") }
        if let failedThreshold {
            report.remarks.append("the run was ended early, because \(failedThreshold.text) failed")
        }
        report.remarks += run.oracle.remarks
        if let failure = run.record?.failure { report.remarks.append("the record is not complete: \(failure)") }
        if let failure = serverFaults?.failure { report.remarks.append("a fault could not be made: \(failure)") }
        report.judgements = options.thresholds.map { $0.judge(report) }
        if let baseline = options.baseline {
            let result = try baseline.judge(report)
            report.judgements += result.judgements
            report.remarks += result.remarks
        }
        if report.outcome == .held, !report.judgements.allSatisfy(\.held) { report.outcome = .thresholdFailed }
        return report
    }

    private func facts(_ info: ServerInfo) -> [RunReport.Fact] {
        let process = ProcessInfo.processInfo
        let own = [
            ("server", started == nil ? "\(address)" : "started for the run"),
            ("cores", "\(process.activeProcessorCount)"), ("system", process.operatingSystemVersionString),
        ]
        let told = [("tiffin", "tiffin_version"), ("build", "tiffin_build"), ("PostgreSQL", "postgres_version")]
            .compactMap { name, key in info[key].map { (name, $0) } }
        return (own + told).map { RunReport.Fact(name: $0.0, value: $0.1) }
    }
}

extension ProcessResources {
    /// Processor time in total, in microseconds.
    fileprivate var microseconds: Int64 { userMicroseconds + systemMicroseconds }
}
