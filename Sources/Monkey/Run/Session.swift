internal import EventLoop
internal import Foundation
internal import LineProtocol

/// A run with its beginning and its end: the server found or started, observed, and read to the end.
@LoopActor
final class Session {
    let options: RunOptions
    private let log: (String) -> Void
    private let observer: Observer
    private let address: ServerAddress

    init(options: RunOptions, log: @escaping (String) -> Void) {
        self.options = options
        self.log = log
        let address = options.server ?? .standard
        self.address = address
        observer = Observer { address }
    }

    func run() async throws -> RunReport {
        defer { observer.close() }
        let before: ServerInfo
        let heads: [Int64]
        do {
            before = try await observer.info()
            heads = try await observer.heads()
        } catch let error as LoopError {
            throw CannotRun("no server answers at \(address): \(error); start one, or give --start or --server")
        }
        let address = address
        let run = Run(options) { address }
        defer { run.close() }
        try await run.connect()
        log("building \(options.size.outlets) outlets with \(options.size.items) items\n")
        await run.prepare()
        let stages = await stages(run)
        let (usage, startedAt, busy) = try await load(run, stages, before)
        _ = before
        var unknown = await run.drain()
        unknown += await run.settle()
        try await audit(run, from: heads)
        let frame = RunFrame(
            startedAt: startedAt, stages: stages, environment: facts(before), server: usage, busy: busy,
            unknown: unknown)
        return run.report(frame)
    }

    struct CannotRun: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    // MARK: The load

    /// What was asked for, or half of what the server turns out to be able to.
    private func stages(_ run: Run) async -> [RunReport.Stage] {
        switch options.mode {
        case .closed: return []
        case .open(let stages?): return stages
        case .open(nil):
            let before = run.recorder.answeredEver
            await run.loadClosed(options.connections, seconds: Run.probeSeconds)
            let reached = Double(run.recorder.answeredEver - before) / Run.probeSeconds
            _ = await run.drain()
            // Two digits are as many as that means.
            let magnitude = pow(10, max(0, floor(log10(max(1, reached / 2))) - 1))
            let rate = max(1, (reached / 2 / magnitude).rounded() * magnitude)
            log("a closed load reaches \(Int(reached)) commands a second; the load is half of that, \(Int(rate))\n")
            return [RunReport.Stage(seconds: options.seconds, rate: rate)]
        }
    }

    private func load(
        _ run: Run, _ stages: [RunReport.Stage], _ info: ServerInfo
    ) async throws -> (RunReport.ServerUsage?, String, Double) {
        let startedAt = Date().formatted(.iso8601)
        let before = (try? await observer.info()) ?? info
        let own = ProcessResources.current
        run.recorder.start()
        let watch = LoopTimer(milliseconds: 1_000, repeating: true) { [self] in closeWindow(run) }
        if case .closed(let pipeline) = options.mode {
            await run.loadClosed(options.connections * pipeline, seconds: options.seconds)
        } else {
            await run.loadOpen(LoadPlan(stages))
        }
        run.recorder.end()
        watch.cancel()
        let now = ProcessResources.current
        let busyMicroseconds =
            now.userMicroseconds + now.systemMicroseconds - own.userMicroseconds - own.systemMicroseconds
        let seconds = run.recorder.seconds(at: run.recorder.endedAt)
        let after = try? await observer.info()
        _ = run.recorder.closeWindow(
            serverMicroseconds: difference(lastProcessorTime, after?.processorMicroseconds),
            serverBytes: after?.residentBytes)
        return (usage(before, after), startedAt, Double(busyMicroseconds) / 1e6 / max(seconds, 1e-9))
    }

    private var lastProcessorTime: Int64?

    private func closeWindow(_ run: Run) {
        LoopActor.task { [self] in
            let info = try? await observer.info()
            guard run.recorder.isRecording else { return }
            let used = difference(lastProcessorTime, info?.processorMicroseconds)
            lastProcessorTime = info?.processorMicroseconds
            let window = run.recorder.closeWindow(serverMicroseconds: used, serverBytes: info?.residentBytes)
            log("\(Int(window.start)) s  writes \(window.writes.answered)  reads \(window.reads.answered)\n")
        }
    }

    private func difference(_ before: Int64?, _ after: Int64?) -> Int64? {
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

    private func audit(_ run: Run, from heads: [Int64]) async throws {
        let client = try await observer.connected()
        let ends = try await observer.heads()
        var audit = LogAudit(run)
        var tenths = 0
        try await audit.read(client, from: heads, to: ends) { part in
            guard Int(part * 10) > tenths else { return }
            tenths = Int(part * 10)
            log("reading the log: \(tenths * 10) %\n")
        }
        audit.finish()
        for (violation, stream) in audit.violations {
            var history: [String] = []
            if let stream,
                case .array(let events)? = try? await client.ask(["LOG.READ", "STREAM", stream, "COUNT", "100"])
            {
                history = events.map(\.summary)
            }
            run.violated(violation, history, by: nil)
        }
    }

    private func facts(_ info: ServerInfo) -> [RunReport.Fact] {
        var facts = [
            RunReport.Fact(name: "server", value: "\(address)"),
            RunReport.Fact(name: "cores", value: "\(ProcessInfo.processInfo.activeProcessorCount)"),
            RunReport.Fact(name: "system", value: ProcessInfo.processInfo.operatingSystemVersionString),
        ]
        for (name, key) in [
            ("tiffin", "tiffin_version"), ("build", "tiffin_build"), ("PostgreSQL", "postgres_version"),
        ] {
            if let value = info[key] { facts.append(RunReport.Fact(name: name, value: value)) }
        }
        return facts
    }
}
