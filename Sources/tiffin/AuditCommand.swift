internal import Audit
internal import Domain
internal import EventLog
internal import EventLoop
internal import Foundation
internal import LineProtocol
internal import PostgresAudit
internal import Projections

enum AuditCommand: Subcommand {
    static let name = "audit"
    static let summary = "derives everything from the log anew, and compares it with what is stored"

    static var help: String {
        Options.help(
            name, summary, specs,
            about: """
                Recomputes every digest and the chain, checks that positions and versions have no gaps and that every
                history can have happened, folds the read models and compares them row by row, and holds carts and
                orders against each other. Changes nothing; works beside servers that write, as a user who may only
                read, and on a replica.

                Exit codes: 0 sound, 1 a difference, 2 tampering, 3 it could not be run.
                """)
    }

    private static let specs =
        Database.specs + [
            Options.Spec(
                name: "anchor", value: "file",
                help: "holds the log against the anchors in the file, and adds where it stands now"),
            Options.Spec(
                name: "server", value: "host:port",
                help: "holds every home and count that a live server answers against the log, too"),
        ]

    /// What it exits with.
    private enum Verdict: Int32 {
        case sound = 0
        case difference = 1
        case tampering = 2
        case couldNotRun = 3
    }

    static func run(_ arguments: [String]) async -> Int32 {
        do {
            let options = try Options(arguments, specs)
            if options.wantsHelp {
                Terminal.print(help)
                return Verdict.sound.rawValue
            }
            let server = try options["server"].map { text throws(Options.UsageError) in
                guard let address = ServerAddress(text) else {
                    throw Options.UsageError(message: "--server must be host:port, not '\(text)'")
                }
                return address
            }
            var verdict = Verdict.couldNotRun
            try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
                address in
                let source = try await PostgresAuditSource.open(address)
                defer { source.close() }
                verdict = try await audit(source, options["anchor"].map(AnchorFile.init), server)
            }
            return verdict.rawValue
        } catch let error as Options.UsageError {
            Terminal.printError("tiffin audit: \(error.message); 'tiffin audit --help' tells more")
            return ExitCode.usage.rawValue
        } catch {
            Terminal.printError("tiffin audit: \(error)")
            return Verdict.couldNotRun.rawValue
        }
    }

    private static var now: Timestamp {
        Timestamp(millisecondsSinceEpoch: Int64(Date().timeIntervalSince1970 * 1_000))
    }

    @LoopActor
    private static func audit(
        _ source: PostgresAuditSource, _ file: AnchorFile?, _ server: ServerAddress?
    ) async throws -> Verdict {
        let anchors = try file.map { FileManager.default.fileExists(atPath: $0.path) ? try $0.read() : [] } ?? []
        let faults = try await AnchorCheck.faults(of: anchors, in: source.eventLog)
        for fault in faults { Terminal.print("\(Finding.Kind.tampering.rawValue.padded(to: 12))\(fault)") }
        let progress = PassProgress()
        let began = LoopActor.now
        var reports = try await Audit(source).run { partition, done, total in
            progress.showSoon(done, of: total, "partition \(partition)")
        }
        progress.finish()
        let seconds = Double(LoopActor.now - began) / 1e9
        var answers: Int?
        if let server {
            let comparison = try await ServerComparison(address: server, source: source).compare(reports)
            for (index, findings) in comparison.findings.enumerated() { reports[index].findings.add(findings) }
            answers = comparison.count
        }
        for report in reports { tell(report) }
        if let answers { Terminal.print("server      \(answers) answers compared") }
        if file != nil { Terminal.print("anchors     \(anchors.count - faults.count) of \(anchors.count) hold") }
        let events = reports.reduce(0) { $0 + $1.eventCount }
        let findings = reports.reduce(faults.count) { $0 + $1.findings.count }
        let hasTampering = !faults.isEmpty || reports.contains { $0.findings.hasTampering }
        let verdict: Verdict = findings == 0 ? .sound : hasTampering ? .tampering : .difference
        let told =
            switch verdict {
            case .sound: "sound"
            case .tampering: "TAMPERED WITH: \(findings) findings"
            case .difference, .couldNotRun: "DIFFERENT: \(findings) findings"
            }
        // What was tampered with is not vouched for.
        if let file, verdict != .tampering { try file.append(reports.map { Anchor($0.head, at: now) }) }
        Terminal.print(
            "\(told)  (\(events) events in \(String(format: "%.2f", seconds)) s, "
                + "\(Int(Double(events) / max(seconds, 1e-6))) a second)")
        return verdict
    }

    private static func tell(_ report: Audit.PartitionReport) {
        for finding in report.findings.kept {
            let place = finding.position.map { $0 > 0 ? "position \($0), " : "" } ?? ""
            Terminal.print("\(finding.kind.rawValue.padded(to: 12))\(place)\(finding.subject) \(finding.message)")
        }
        if report.findings.count > report.findings.kept.count {
            Terminal.print("and \(report.findings.count - report.findings.kept.count) more")
        }
        Terminal.print(
            """
            partition \(report.partition)
              log       \(report.eventCount) events in \(report.commitCount) batches; head \(report.head.position), \
            digest \(report.head.digest)
              books     \(report.cartCount) carts, \(report.orderCount) orders
              stored    \(stored(report))
            """)
    }

    private static func stored(_ report: Audit.PartitionReport) -> String {
        guard let position = report.comparedAt else { return "not compared: \(report.remark ?? "nothing is stored")" }
        let rows = ProjectionName.allCases.map { "\(report.comparedRows[$0] ?? 0) rows of \($0.rawValue)" }
        return "\(rows.joined(separator: ", ")) compared at position \(position)"
    }
}
