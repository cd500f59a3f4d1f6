internal import EventLoop
internal import LineClient
internal import LineProtocol
internal import LoadOracle

/// Reads a part of one partition's log, page by page.
@LoopActor
struct LogReader {
    /// How many events are requested at once, and how many requests are in flight.
    private static let page: Int64 = 1_000
    private static let ahead = 2

    let client: Client
    let partition: Int

    /// Reads the events from one position to another, and passes each to `take` in the order of their positions.
    func read(from first: Int64, to last: Int64, _ take: ([UInt8]) -> Void) async throws {
        var (next, asked) = (first, first)
        var pages: [Question] = []
        var pause = PatientPause()
        while next <= last {
            while pages.count < LogReader.ahead, asked <= last {
                pages.append(ask(from: asked, count: min(LogReader.page, last - asked + 1)))
                asked += LogReader.page
            }
            let reply = try await client.answer(to: pages.removeFirst())
            if case .error(let code, _) = reply, Verdict(inability: code) != nil, await pause.next() {
                for page in pages { _ = try await client.answer(to: page) }
                (pages, asked) = ([], next)
                continue
            }
            guard case .array(let events) = reply, !events.isEmpty else {
                throw UnexpectedReply(command: "LOG.READ", reply: reply.summary)
            }
            for event in events {
                guard case .bulk(let bytes) = event else {
                    throw UnexpectedReply(command: "LOG.READ", reply: event.summary)
                }
                take(bytes)
            }
            next += LogReader.page
        }
    }

    private func ask(from position: Int64, count: Int64) -> Question {
        let question = Question()
        let words = ["LOG.READ", "PARTITION", "\(partition)", "FROM", "\(position)", "COUNT", "\(count)"]
        client.send(to: question, tag: 0) { $0.write(words) }
        client.flush()
        return question
    }
}
