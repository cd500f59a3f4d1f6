internal import Audit
internal import EventLog
internal import EventLoop
internal import LineClient
internal import LineProtocol
internal import PostgresStorage

/// Asks a running server everything, and compares its answers with a replay.
@LoopActor
struct ServerComparison {
    /// The most events read at once.
    private static let page = 5_000

    let server: ServerEndpoint
    let source: any StoredAuditSource

    /// What differs, and how many answers were compared.
    func compare(_ reports: [Audit.PartitionReport]) async throws -> (findings: [Findings], count: Int) {
        let connection = try await ServerConnection(to: server)
        defer { connection.close() }
        var all: [Findings] = []
        var count = 0
        for report in reports {
            var exchange = ComparisonExchange(answers: ServerAnswers(report.model))
            try await connection.run(&exchange)
            let answers = exchange.answers
            count += answers.questions.count
            // What was written since is answered as it is now, and that is right.
            let written = answers.hasDifferences ? try await streams(of: report) : []
            all.append(answers.findings(writtenSince: written))
        }
        return (all, count)
    }

    /// The streams that were written since a partition was audited.
    private func streams(of report: Audit.PartitionReport) async throws -> Set<StreamName> {
        var streams: Set<StreamName> = []
        var position = report.head.position
        while true {
            let page = try await source.page(
                partition: report.partition, after: position, limit: ServerComparison.page)
            guard let last = page.lastPosition else { return streams }
            page.forEach { event in if let stream = StreamName(utf8: event.stream) { streams.insert(stream) } }
            position = last
        }
    }
}

/// Asks every question of a model, and keeps what the server answers.
private struct ComparisonExchange: Exchange {
    var answers: ServerAnswers
    private var asked = 0

    init(answers: ServerAnswers) { self.answers = answers }

    mutating func next() -> Int? {
        guard asked < answers.questions.count else { return nil }
        defer { asked += 1 }
        return asked
    }

    func command(for question: Int) -> [String] { answers.questions[question].words }

    mutating func receive(_ reply: Reply, to question: Int) throws(ConnectionError) {
        // It says nothing of what is served.
        if let refusal = ConnectionError(fatal: reply) { throw refusal }
        answers.take(ServerAnswers.Answer(reply), to: question, shown: reply.summary)
    }
}

extension ServerAnswers.Answer {
    /// What a reply says, where it says one of these.
    fileprivate init?(_ reply: Reply) {
        switch reply {
        case .bulk(let bytes): self = .document(bytes)
        case .integer(let count): self = .count(Int(count))
        case .null: self = .null
        default: return nil
        }
    }
}
