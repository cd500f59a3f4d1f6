internal import Audit
internal import EventLog
internal import EventLoop
internal import LineClient
internal import LineProtocol
internal import PostgresAudit

/// Asks a live server everything, and holds its answers against a replay.
@LoopActor
struct ServerComparison {
    /// Questions on their way at once.
    private static let window = 500
    /// Events that are read at once.
    private static let page = 5_000

    let address: ServerAddress
    let source: PostgresAuditSource

    /// What differs, and how many answers were compared.
    func compare(_ reports: [Audit.PartitionReport]) async throws -> (findings: [Findings], count: Int) {
        let client = try await Client.connect(to: address)
        defer { client.close() }
        var all: [Findings] = []
        var count = 0
        for report in reports {
            var answers = ServerAnswers(report.model)
            for start in stride(from: 0, to: answers.questions.count, by: ServerComparison.window) {
                let numbers = start..<min(start + ServerComparison.window, answers.questions.count)
                let waiting = numbers.map { number in
                    let question = Question()
                    client.send(to: question, tag: number) { $0.write(answers.questions[number].words) }
                    return question
                }
                client.flush()
                for (number, question) in zip(numbers, waiting) {
                    guard let reply = await question.answer() else { throw ConnectionLost() }
                    answers.take(ServerAnswers.Answer(reply), to: number, shown: reply.summary)
                }
            }
            count += answers.questions.count
            // What was written meanwhile is answered as it is now, and rightly so.
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
