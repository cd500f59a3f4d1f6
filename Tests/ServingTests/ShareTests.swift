import Catalogue
import Domain
import EventLog
import EventLoop
import Testing
import TextFormats

@testable import Application
@testable import Serving

/// What all clients have together, and one caller cannot take alone.
@Suite struct ShareTests {
    init() { LoopActor.startInBackground() }

    @LoopActor
    private static func service(
        _ keys: any CustomerKeys = InMemoryCustomerKeys(), _ configuration: Configuration = Configuration()
    ) async throws -> Server {
        let log = InMemoryEventLog()
        return try await Server(
            configuration: configuration, log: log, history: log, keys: keys, store: nil, logger: Logger(level: .error)
        ) { Timestamp(millisecondsSinceEpoch: 1) }
    }

    /// What an answer that is there at once, or an error, begins with.
    @LoopActor
    private static func reply(_ service: Server, _ words: [String], of caller: Caller) -> String {
        let command = Command.all.first { $0.declaration.name == words[0] }!
        do throws(Failure) {
            let response = try Arguments.with(words.map { Array($0.utf8) }) { arguments throws(Failure) in
                try service.run(command, try Call(command.declaration, arguments, of: caller))
            }
            if case .answer = response { return "OK" } else { return "promised" }
        } catch {
            return error.code.word
        }
    }

    @Test @LoopActor func `one caller leaves room for the saved queries of others`() async throws {
        let service = try await Self.service()
        func save(_ name: String, _ caller: Int, _ limit: Int = 1) -> String {
            Self.reply(service, ["BROWSE.SAVE", name, "COUNT", "\(limit)"], of: Caller(user: "\(caller)"))
        }
        let share = Catalogue.maximumSavedOfOwner
        for caller in 0..<Catalogue.maximumSaved / share {
            for number in 0..<share { #expect(save("\(caller)-\(number)", caller) == "OK") }
            #expect(save("one-more", caller) == "LIMIT")
            // A query that is there already, or takes the place of one, needs no room.
            #expect(save("\(caller)-0", caller) == "OK")
            #expect(save("\(caller)-1", caller, 2) == "OK")
        }
        #expect(save("one-more", share) == "LIMIT")
        // What another has replaced stays its owner's.
        #expect(save("0-0", share, 2) == "OK")
        #expect(Self.reply(service, ["BROWSE.DROP", "0-0"], of: Caller(user: "0")) == "OK")
        #expect(save("one-more", 0) == "OK")
        await service.stop()
    }

    @Test @LoopActor func `one caller leaves room for the subscriptions of others`() async throws {
        var configuration = Configuration()
        configuration.subscriptionsPerCaller = 3
        configuration.subscriptions = 5
        let service = try await Self.service(InMemoryCustomerKeys(), configuration)
        let topics = service.topics
        func subscriber(_ caller: String) -> Subscriber { Subscriber(1, of: Caller(user: caller)) { _ in } }
        func subscribe(_ subscriber: Subscriber, _ outlet: String) -> String {
            do {
                let names = try withArguments(["home:\(outlet)"]) { [try TopicName($0[0])] }
                _ = try topics.subscribe(subscriber, to: names, within: nil)
                return "OK"
            } catch {
                return (error as? Failure)?.code.word ?? "\(error)"
            }
        }
        let (first, second, other) = (subscriber("a"), subscriber("a"), subscriber("b"))
        #expect(subscribe(first, "x") == "OK" && subscribe(first, "y") == "OK" && subscribe(second, "x") == "OK")
        #expect(subscribe(second, "y") == "LIMIT")
        #expect(subscribe(other, "x") == "OK" && subscribe(other, "y") == "OK")
        #expect(subscribe(other, "z") == "BUSY")
        topics.unsubscribe(first, from: "home:x")
        #expect(subscribe(second, "y") == "OK")
        // Whoever logs in takes its subscriptions along.
        topics.assign(second, to: Caller(user: "b"))
        topics.unsubscribe(first)
        #expect(subscribe(other, "z") == "LIMIT")
        #expect(subscribe(first, "z") == "OK")
        for subscriber in [first, second, other] { topics.unsubscribe(subscriber) }
        #expect(topics.subscriptionCount == 0)
        await service.stop()
    }
}
