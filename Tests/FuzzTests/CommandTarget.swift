import Application
import Dispatch
import Domain
import EventLog
import EventLoop
import LineProtocol
import TextFormats

@testable import LineServer

/// A whole server, with its log in memory, answers each request once, and the same however a client's bytes are cut.
/// It has the outlet `o` with the item `tea` already.
enum CommandTarget {
    private static let time = Timestamp(millisecondsSinceEpoch: 1_700_000_000_000)
    private static let logger = Logger(level: .error)
    private static let catalogue: [[String]] = [
        ["OUTLET.PUT", "o", #"{"name":"Spice Route","currency":"INR","timeZone":"Asia/Kolkata","cuisines":["Thai"]}"#],
        ["OUTLET.OPEN", "o"],
        [
            "MENU.PUT", "o",
            #"{"sections":[{"id":"s","title":"S","kind":"menuItems","items":["#
                + #"{"id":"tea","kind":"menuItem","name":"Tea","price":250,"tags":["hot"],"maxQuantity":9}]}]}"#,
        ],
    ]
    /// What is answered by time, chance, the size of batches or the connection.
    private static let unpredictable: Set = [
        "CHOOSE", "CLIENT INFO", "CLIENT KILL", "CLIENT LIST", "CONFIG GET", "INFO", "LATENCY HISTORY",
        "LATENCY LATEST", "LATENCY RESET", "LOG.HEAD", "LOG.PROVE", "LOG.READ", "SLOWLOG GET", "SLOWLOG LEN",
        "SUBSCRIBE", "SURPRISE", "TIME", "UNSUBSCRIBE",
    ]
    /// What is not answered once, or ends the connection.
    private static let uncountable: Set = ["CLIENT KILL", "HOST:", "POST", "QUIT", "SUBSCRIBE", "UNSUBSCRIBE"]

    static func check(_ input: [UInt8]) throws {
        guard let input = CutInput(input) else { return }
        let asked = RequestTarget.read([input.bytes], RequestLimits(), isAuthenticated: true)
        guard !asked.requests.isEmpty || asked.failure != nil else { return }
        let commands = Set(asked.requests.map(command))
        let answer = try converse(input.isFlagged ? input.chunks : [input.bytes])
        if commands.isDisjoint(with: uncountable) {
            let expected = asked.requests.count + (asked.failure == nil ? 0 : 1)
            let count = try replyCount(answer)
            try promise(count == expected, "\(count) replies to \(expected) requests")
        }
        guard commands.isDisjoint(with: unpredictable) else { return }
        let other = try converse(input.isFlagged ? [input.bytes] : input.chunks)
        try promise(
            answer == other,
            "'\(String(decoding: answer, as: UTF8.self))', cut otherwise: '\(String(decoding: other, as: UTF8.self))'")
    }

    /// The name of the command that the words ask for; their first where there is none.
    private static func command(_ words: [[UInt8]]) -> String {
        Arguments.with(words) { arguments in
            let index = LineCommandTable.shared.index(of: arguments)
            return index.map { LineCommandTable.shared.commands[$0].declaration.name }
                ?? String(decoding: arguments[0].uppercased, as: UTF8.self)
        }
    }

    private static func replyCount(_ bytes: [UInt8]) throws -> Int {
        var parser = ReplyParser()
        bytes.withUnsafeBytes { parser.append($0) }
        var count = 0
        while try parser.next() != nil { count += 1 }
        try promise(parser.unread == 0, "half a reply")
        return count
    }

    /// What a new server answers to a client that sends these chunks, one in a turn of the loop, and then no more.
    private static func converse(_ chunks: [[UInt8]]) throws -> [UInt8] {
        LoopActor.startInBackground()
        nonisolated(unsafe) var answer: Result<[UInt8], any Error>?
        let isDone = DispatchSemaphore(value: 0)
        LoopActor.task {
            do {
                answer = .success(try await talk(chunks))
            } catch {
                answer = .failure(error)
            }
            isDone.signal()
        }
        isDone.wait()
        return try answer!.get()
    }

    @LoopActor
    private static func talk(_ chunks: [[UInt8]]) async throws -> [UInt8] {
        let log = InMemoryEventLog()
        let application = try await Application(
            configuration: Configuration(), log: log, history: log, keys: InMemoryCustomerKeys(), store: nil,
            logger: logger
        ) { time }
        var configuration = LineConfiguration()
        configuration.port = 0
        let server = LineServer(application, configuration: configuration, logger: logger)
        application.start()
        for command in catalogue { _ = try await application.perform(command.map { Array($0.utf8) }) }

        let (closed, close) = AsyncStream<Never>.makeStream()
        let connection = try await TCPConnection.connect(host: "127.0.0.1", port: UInt16(try server.listen().port))
        var answer: [UInt8] = []
        connection.onEnd = { connection.close() }
        connection.onClose = { _ in close.finish() }
        connection.startReading { answer += $0 }
        for chunk in chunks {
            chunk.withUnsafeBytes { connection.write($0) }
            // The server reads between one turn and the next.
            for _ in 0..<2 { await withCheckedContinuation { turn in _ = NextTurn { turn.resume() } } }
        }
        connection.endWriting()
        for await _ in closed {}

        server.drain()
        await application.stop()
        server.close()
        return answer
    }
}
