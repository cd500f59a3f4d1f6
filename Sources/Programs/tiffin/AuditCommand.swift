internal import Audit
internal import CommandLineOptions
internal import Domain
internal import EventLog
internal import EventLoop
internal import Foundation
internal import LineClient
internal import LineProtocol
internal import PostgresStorage
internal import Projections

enum AuditCommand: Subcommand {
    static let name = "audit"
    static let summary = "derives everything from the log again, and compares it with what is stored"

    static let options: [any DeclaredOption] =
        Database.options + [anchor, newAnchor, server] + ConnectionOptions.declarations
    static let failureCode = Verdict.couldNotRun

    static let about: String? = """
        Recomputes every digest and the chain, checks that positions and versions have no gaps, that streams lie
        in their partitions and that every history is possible, compares orders with their carts, and compares
        the stored read models row by row. It changes nothing, and runs while servers write, as a user who may
        only read, or on a replica.

        Exit codes: 0 sound, 1 a difference, 2 tampering, 3 the audit could not run, 4 something could not be compared,
        5 the log has lost what anchors vouch for. Of several, the worst: 2, 5, 1, 4.
        """

    private static let anchor = Option.optional(
        "anchor", "file", "compares the log with the anchors in the file, and adds where it stands now", .text)
    private static let newAnchor = Option.optional(
        "new-anchor", "file", "begins such a file with where the log stands now", .text)
    private static let server = Option.optional(
        "server", "host:port", "also compares every home and count that a running server answers with the log",
        OptionValue("host:port") { ServerAddress($0) })

    /// What it exits with.
    private enum Verdict {
        static let sound = ExitCode.success
        static let difference = ExitCode(rawValue: 1)
        static let tampering = ExitCode(rawValue: 2)
        static let couldNotRun = ExitCode(rawValue: 3)
        static let unknown = ExitCode(rawValue: 4)
        static let lost = ExitCode(rawValue: 5)
    }

    static func run(_ options: Options) async throws -> ExitCode {
        let connection = try ConnectionOptions(options)
        let server = try options[server].map { try connection.server(at: $0) }
        let file = (options[anchor] ?? options[newAnchor]).map(AnchorFile.init)
        return try await audit(options, file, try anchors(in: file, options), server)
    }

    /// Audits a database, and compares it with the anchors of a file that is not added to.
    @LoopActor
    static func audit(_ options: Options, comparedWith file: AnchorFile) async throws -> ExitCode {
        try await audit(options, nil, try file.read(), nil)
    }

    @LoopActor
    private static func audit(
        _ options: Options, _ file: AnchorFile?, _ anchors: [Anchor], _ server: ServerEndpoint?
    ) async throws -> ExitCode {
        var verdict = Verdict.couldNotRun
        try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
            let source = try await AuditSources.open($0)
            defer { source.close() }
            verdict = try await audit(source, file, anchors, server)
        }
        return verdict
    }

    private struct CannotCompare: Error, CustomStringConvertible {
        var description: String
    }

    /// The anchors that the log is compared with. A file that is mistyped is none: it would be compared with nothing, and
    /// be sound.
    private static func anchors(in file: AnchorFile?, _ options: Options) throws -> [Anchor] {
        guard let file else { return [] }
        guard let new = options[newAnchor] else {
            do throws(AnchorFile.Failure) {
                let anchors = try file.read()
                guard anchors.isEmpty else { return anchors }
            } catch {
                throw CannotCompare(description: "\(error); --new-anchor begins a file")
            }
            throw CannotCompare(description: "\(file.path): there are no anchors in it; --new-anchor begins a file")
        }
        guard options[anchor] == nil else { throw UsageError("give --anchor or --new-anchor, not both") }
        guard !FileManager.default.fileExists(atPath: new) else {
            throw CannotCompare(description: "\(new): is there already; --anchor compares the log with it")
        }
        return []
    }

    private static var now: Timestamp {
        Timestamp(millisecondsSinceEpoch: Int64(Date().timeIntervalSince1970 * 1_000))
    }

    @LoopActor
    private static func audit(
        _ source: any StoredAuditSource, _ file: AnchorFile?, _ anchors: [Anchor], _ server: ServerEndpoint?
    ) async throws -> ExitCode {
        let faults = try await AnchorCheck.faults(of: anchors, in: source.eventLog)
        let kinds = faults.map { $0.isLoss ? Finding.Kind.lost : .tampering }
        for (fault, kind) in zip(faults, kinds) { Terminal.print("\(kind.rawValue.padded(to: 14))\(fault)") }
        let progress = PassProgress()
        let began = LoopActor.now
        var report = try await Audit(source).run { partition, done, total in
            progress.showSoon(done, of: total, "partition \(partition)")
        }
        progress.finish()
        let seconds = Double(LoopActor.now - began) / 1e9
        var answers: Int?
        if let server {
            let comparison = try await ServerComparison(server: server, source: source).compare(report.partitions)
            for (index, findings) in comparison.findings.enumerated() {
                report.partitions[index].findings.add(findings)
            }
            answers = comparison.count
        }
        show(report.findings)
        for partition in report.partitions { show(partition) }
        if let answers { Terminal.print("server      \(answers) answers compared") }
        if !anchors.isEmpty { Terminal.print("anchors     \(anchors.count - faults.count) of \(anchors.count) hold") }
        let events = report.partitions.reduce(0) { $0 + $1.eventCount }
        let found = report.kinds.union(kinds)
        let (verdict, word) =
            if found.contains(.tampering) {
                (Verdict.tampering, "TAMPERED WITH")
            } else if found.contains(.lost) {
                (Verdict.lost, "LOST")
            } else if found.contains(.difference) {
                (Verdict.difference, "DIFFERENT")
            } else if found.contains(.unknown) {
                (Verdict.unknown, "NOT COMPARED")
            } else {
                (Verdict.sound, "sound")
            }
        let result = found.isEmpty ? word : "\(word): \((faults.count + report.findingCount).counted("finding"))"
        // No anchor vouches for a log that was tampered with, or is not the one of the anchors before.
        if let file, found.isDisjoint(with: [.tampering, .lost]) {
            try file.append(report.partitions.map { Anchor($0.tree, at: now) })
            if anchors.isEmpty { Terminal.print("anchors     begun in \(file.path)") }
        }
        Terminal.print(
            "\(result)  (\(events) events in \(String(format: "%.2f", seconds)) s, "
                + "\(Int(Double(events) / max(seconds, 1e-6))) a second)")
        return verdict
    }

    private static func show(_ findings: Findings) {
        for finding in findings.kept {
            let place = finding.position.map { $0 > 0 ? "position \($0), " : "" } ?? ""
            Terminal.print("\(finding.kind.rawValue.padded(to: 14))\(place)\(finding.subject) \(finding.message)")
        }
        if findings.count > findings.kept.count {
            Terminal.print("and \(findings.count - findings.kept.count) more")
        }
    }

    private static func show(_ report: Audit.PartitionReport) {
        show(report.findings)
        Terminal.print(
            lines: """
                partition \(report.partition)
                  log       \(report.eventCount) events in \(report.commitCount) batches; head \(report.head.position), \
                digest \(report.head.digest)
                  histories \(report.cartCount.counted("cart")), \(report.orderCount.counted("order"))
                  stored    \(stored(report))
                """)
    }

    private static func stored(_ report: Audit.PartitionReport) -> String {
        guard let position = report.comparedAt else { return "not compared: \(report.remark ?? "nothing is stored")" }
        let rows = ReadModel.projections.map { "\((report.comparedRows[$0] ?? 0).counted("row")) of \($0)" }
        let others = report.otherRows > 0 ? ", and \(report.otherRows.counted("row")) that no server uses" : ""
        return "\(rows.joined(separator: ", ")) compared at position \(position)\(others)"
    }
}
