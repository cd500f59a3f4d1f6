import Catalogue
import CommandHandling
import Domain
import EventLog
import EventLoop
import SeededRandom
import Testing
import TextFormats
import Users

@testable import Application
@testable import LoadOracle
@testable import Serving

@Suite(.timeLimit(.minutes(1))) struct TopicsTests {
    init() { LoopActor.startInBackground() }

    /// A client that follows topics, and checks that each message leads on from the one before.
    @LoopActor
    private final class Reader {
        let topics: Topics
        /// What it has, by channel.
        private(set) var documents: [String: (revision: Int64, json: JSON)] = [:]
        /// Everything that it was sent.
        private(set) var messages: [TopicMessage] = []
        /// The codes of failures, by channel.
        private(set) var failures: [String: [String]] = [:]
        private(set) lazy var subscriber = Subscriber(1, of: .server) { [weak self] message in
            self?.messages.append(message)
            if message.from == nil || self?.documents[message.channel] != nil { self?.take(message) }
        }

        init(_ topics: Topics) { self.topics = topics }

        func follow(_ names: TopicName...) throws {
            _ = try topics.subscribe(subscriber, to: names, within: nil)
            for name in names { lead(on: name.channel) }
        }

        /// Is led to where a topic stands, from a document that it was given once.
        func lead(on channel: String, from old: (revision: Int64, json: JSON)? = nil) {
            // Messages that come before belong to others.
            documents[channel] = nil
            topics.lead(subscriber, on: channel, from: old?.revision, isFollower: true) { [self] message in
                if let from = message.from { documents[channel] = old ?? (from, .null) }
                take(message)
            }
        }

        private func take(_ message: TopicMessage) {
            guard let content = JSON(message.data) else {
                Issue.record("no JSON")
                return
            }
            if case .string(let code)? = content["error"]?["code"] {
                return failures[message.channel, default: []].append(code.string)
            }
            guard let known = documents[message.channel], let from = message.from else { return }
            #expect(from == known.revision, "\(message.channel)")
            guard case .array(let operations)? = content["patch"], let json = try? known.json.patched(by: operations)
            else {
                Issue.record("a patch of \(message.channel) that does not fit")
                return
            }
            documents[message.channel] = (message.revision, json)
        }
    }

    private static func name(_ channel: String) throws -> TopicName {
        try withArguments([channel]) { try TopicName($0[0]) }
    }

    /// A topic's document as it is now.
    @LoopActor
    private static func rendered(_ name: TopicName, _ rooms: Rooms) async throws -> JSON? {
        let topic = Topic(name, of: name.connection(from: 1))
        let result = await withCheckedContinuation { continuation in
            topic.rendering.render(rooms.topics.inputs, topic) { continuation.resume(returning: $0) }
            rooms.partitions.startWork()
        }
        return JSON(try result.get().json)
    }

    // MARK: Renderings

    @Test @LoopActor func `connections whose topics share a name do not share a hash`() throws {
        let name = try Self.name("cart:c")
        #expect(Set((1...100).map { Topic(name, of: $0).hashValue }).count > 90)
    }

    @Test @LoopActor func `every kind of topic has one rendering`() {
        let kinds = TopicKind.all.map(\.prefix) + [TopicKind.question.prefix]
        #expect(TopicRendering.all.map(\.kind.prefix).sorted() == kinds.sorted())
        #expect(Set(kinds).count == kinds.count)
    }

    @Test @LoopActor func `a document is what its command answers`() async throws {
        let log = InMemoryEventLog(partitionCount: 2)
        let server = try await Server(
            configuration: Configuration(), log: log, history: log, keys: InMemoryCustomerKeys(), store: nil,
            logger: Logger(level: .error)
        ) { Rooms.Clock().now }
        server.start()
        func answer(_ words: String...) async throws -> JSON? {
            switch try await server.perform(words.map { Array($0.utf8) }) {
            case .document(let document): JSON(document)
            case .parts(let start, let end): JSON(Array(start) + Array(end.utf8))
            case .integer(let number): JSON(number)
            case .text(let text): JSON(text)
            case .null, .documents: nil
            }
        }
        let menu =
            #"{"sections":[{"id":"s","title":"S","kind":"menuItems","items":["#
            + #"{"id":"tea","kind":"menuItem","name":"Tea","price":250}]}]}"#
        _ = try await answer("OUTLET.PUT", "o", #"{"name":"O","currency":"INR","timeZone":"Asia/Kolkata"}"#)
        _ = try await answer("MENU.PUT", "o", menu)
        _ = try await answer("OUTLET.OPEN", "o")
        _ = try await answer("CART.ADD", "c", "o", "tea", "2", "NOTE", "hot", "CUSTOMER", "asha")
        _ = try await answer("CART.ADD", "d", "o", "tea", "1")
        guard case .string(let order)? = try await answer("CART.CHECKOUT", "d", "TOTAL", "250") else {
            Issue.record("nothing was ordered")
            return
        }
        _ = try await answer("BROWSE.SAVE", "shared:all")
        let reader = Reader(server.topics)
        let commands = [
            ("home:o", ["OUTLET.HOME", "o"]), ("cart:c", ["CART.GET", "c"]), ("cart_count:c", ["CART.COUNT", "c"]),
            ("order:\(order)", ["ORDER.GET", order.string]), ("kitchen:o", ["KITCHEN", "o"]),
            ("browse:shared:all", ["BROWSE.SAVE", "shared:all"]),
        ]
        for (channel, _) in commands { try reader.follow(try Self.name(channel)) }
        await turns { reader.documents.count == commands.count }
        for (channel, words) in commands {
            let answer = try await server.perform(words.map { Array($0.utf8) })
            let document: JSON? =
                switch answer {
                case .document(let document): JSON(document)
                case .parts(let start, let end): JSON(Array(start) + Array(end.utf8))
                case .integer(let number): JSON(number)
                case .null, .text, .documents: nil
                }
            #expect(document != nil && reader.documents[channel]?.json == document, "\(channel)")
        }
        server.clientEnded(reader.subscriber)
        await server.stop()
    }

    // MARK: Messages

    @Test(arguments: SeededGenerator.seeds.prefix(10)) @LoopActor
    func `messages lead on from each other, to what is`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await Rooms.with { rooms in
            await rooms.open("o", items: 3)
            let catalogue = try rooms.catalogue.current
            let query = try catalogue.query([], of: .items, options: [])
            #expect(catalogue.save(query, as: SavedName("q", of: 1), for: 1))
            let question = try #require(catalogue.follow(query, for: 1))
            var names = [TopicName(question: question.name)]
            for channel in ["home:o", "cart:c", "cart_count:c", "order:order-1", "kitchen:o", "browse:q"] {
                names.append(try Self.name(channel))
            }
            let (reader, late) = (Reader(rooms.topics), Reader(rooms.topics))
            for name in names {
                try reader.follow(name)
                try late.follow(name)
            }
            var given: [String: [(revision: Int64, json: JSON)]] = [:]
            for step in 0..<40 {
                switch random.below(9) {
                case 0: await rooms.send(.menu("o"), .menu(.put(.items(random.number(1...6), named: "Tea \(step)"))))
                case 1: await rooms.send(.outlet("o"), .outlet(random.pick([.open, .close, .hide, .show])))
                case 2: await rooms.add(1, to: "c", at: "o")
                case 3:
                    let order = Identifier("order-\(random.below(3))")!
                    await rooms.place(order, Order.Terms(placedAt: rooms.clock.now, promisedFor: rooms.clock.now))
                case 4:
                    let order = Identifier("order-\(random.below(3))")!
                    await rooms.send(.order(order), .order(random.pick([.prepare, .ready, .complete])))
                case 5:
                    rooms.clock.milliseconds += 1_000
                    rooms.kitchens.followTime()
                case 6: rooms.partitions.emptyCaches()
                case 7:
                    let name = random.pick(names)
                    if let old = given[name.channel].map({ random.pick($0) }) { late.lead(on: name.channel, from: old) }
                default: for _ in 0..<random.below(20) { await LoopTimer.pause(milliseconds: 0) }
                }
                if random.chance(70) { rooms.endTurn() }
                for (channel, document) in reader.documents where given[channel]?.last?.revision != document.revision {
                    given[channel, default: []].append(document)
                }
            }
            for name in names {
                let expected = try #require(try await Self.rendered(name, rooms))
                await rooms.turns { reader.documents[name.channel]?.json == expected }
                await rooms.turns { late.documents[name.channel]?.json == expected }
            }
            for reader in [reader, late] { rooms.topics.unsubscribe(reader.subscriber) }
            #expect(rooms.topics.count == 0 && rooms.topics.subscriptionCount == 0)
            #expect(rooms.topics.listeners.isEmpty)
        }
    }

    @Test @LoopActor func `a document that takes long to render keeps no other waiting, and misses nothing`()
        async throws
    {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            await rooms.open("o")
            await rooms.add(1, to: "c", at: "o")
            let reader = Reader(rooms.topics)
            let (cart, home) = (try Self.name("cart:c"), try Self.name("home:o"))
            try reader.follow(cart, home)
            await rooms.turns { reader.documents.count == 2 }
            let before = reader.messages.count
            rooms.partitions.emptyCaches()
            log.heldStreams = [.cart("c")]
            // What is in the cart cannot be had any more.
            await rooms.send(.menu("o"), .menu(.put(.items(0))))
            await rooms.turns { log.waitingCount > 0 && reader.messages.count > before }
            #expect(reader.messages.dropFirst(before).allSatisfy { $0.channel == "home:o" })
            // While it is loaded it can be had again, and then not.
            let restored = reader.documents["home:o"]?.revision
            await rooms.send(.menu("o"), .menu(.put(.items(1, named: "Soup", price: 300))))
            await rooms.turns { reader.documents["home:o"]?.revision != restored }
            log.release()
            let expected = try #require(try await Self.rendered(cart, rooms))
            await rooms.turns { reader.documents["cart:c"]?.json == expected }
            let last = try #require(reader.messages.last { $0.channel == "cart:c" })
            // Whoever read the cart in between may have it already: such a message has all of it.
            #expect(String(decoding: last.data, as: UTF8.self).contains(#""path":"""#))
            rooms.topics.unsubscribe(reader.subscriber)
        }
    }

    /// Keys that are kept back until a test says so.
    @LoopActor
    private final class HeldKeys: CustomerKeys {
        private let inner = InMemoryCustomerKeys()
        var isHolding = false
        private(set) var waiting: [CheckedContinuation<Void, Never>] = []

        func release() {
            isHolding = false
            for continuation in waiting { continuation.resume() }
            waiting = []
        }

        @LoopActor func makeKey(of customer: Identifier, partition: Int) async throws(EventLogError) -> CustomerKey {
            try await inner.makeKey(of: customer, partition: partition)
        }

        @LoopActor func key(of customer: Identifier, partition: Int) async throws(EventLogError) -> CustomerKey {
            if isHolding { await withCheckedContinuation { waiting.append($0) } }
            return try await inner.key(of: customer, partition: partition)
        }

        @LoopActor func destroyKeys(
            of customers: Set<Identifier>, for metadata: EventMetadata
        ) async throws(EventLogError) -> Forgetting {
            try await inner.destroyKeys(of: customers, for: metadata)
        }

        @LoopActor func removeRemainders() async -> String? { nil }
    }

    @Test @LoopActor func `what changes while a document waits for its key is sent after it`() async throws {
        let keys = HeldKeys()
        guard case .known(let key) = try await keys.makeKey(of: "asha", partition: 0) else { return }
        try await Rooms.with(keys: keys) { rooms in
            await rooms.open("o")
            let note = key.seal("hot", .note, of: TextOwner(customer: "asha", cart: "c"))
            let offer = rooms.partitions.offer(of: "item-0", with: [], at: "o")
            await rooms.send(
                .cart("c"),
                .cart(
                    .add(
                        Cart.Addition(
                            outlet: "o", item: "item-0", quantity: 1, note: .sealed(note), customer: "asha",
                            offer: offer))))
            let (reader, cart) = (Reader(rooms.topics), try Self.name("cart:c"))
            try reader.follow(cart)
            await rooms.turns { reader.documents["cart:c"] != nil }
            keys.isHolding = true
            await rooms.send(.cart("c"), .cart(.set(line: "item-0", quantity: 2)))
            await rooms.turns { keys.waiting.count == 1 }
            await rooms.send(.cart("c"), .cart(.set(line: "item-0", quantity: 3)))
            for _ in 0..<10 {
                rooms.endTurn()
                await LoopTimer.pause(milliseconds: 0)
            }
            // It is not rendered twice at the same time.
            #expect(keys.waiting.count == 1)
            keys.release()
            await rooms.turns { reader.documents["cart:c"]?.revision == 3 }
            #expect(reader.documents["cart:c"]?.json["count"] == JSON(3))
            rooms.topics.unsubscribe(reader.subscriber)
        }
    }

    @Test @LoopActor func `a document that is too large is refused once, and the next one is whole`() async throws {
        try await Rooms.with { rooms in
            await rooms.open("o", items: 2)
            let reader = Reader(rooms.topics)
            try reader.follow(try Self.name("home:o"))
            await rooms.turns { reader.documents["home:o"] != nil }
            rooms.topics.documentLimit = try #require(try rooms.homes.home(of: "o")).document.count
            for count in 3...6 {
                await rooms.send(.menu("o"), .menu(.put(.items(count))))
                await rooms.turns { !reader.failures.isEmpty }
            }
            for _ in 0..<10 {
                rooms.endTurn()
                await LoopTimer.pause(milliseconds: 0)
            }
            #expect(reader.failures == ["home:o": ["LIMIT"]])
            // Somebody new is told, too.
            let other = Reader(rooms.topics)
            try other.follow(try Self.name("home:o"))
            #expect(other.failures == ["home:o": ["LIMIT"]])
            let before = reader.messages.count
            await rooms.send(.menu("o"), .menu(.put(.items(1))))
            let expected = try #require(try await Self.rendered(try Self.name("home:o"), rooms))
            await rooms.turns { reader.documents["home:o"]?.json == expected }
            #expect(reader.messages.count == before + 1)
            let last = try #require(reader.messages.last)
            #expect(String(decoding: last.data, as: UTF8.self).contains(#""path":"""#))
            for reader in [reader, other] { rooms.topics.unsubscribe(reader.subscriber) }
        }
    }

    // MARK: Listeners

    @Test @LoopActor func `a question ends with its last listener, or where nobody has begun to listen`() async throws {
        try await Rooms.with { rooms in
            await rooms.open("o")
            let catalogue = try rooms.catalogue.current
            let query = try catalogue.query([], of: .items, options: [])
            let name = TopicName(question: try #require(catalogue.follow(query, for: 1)).name)
            let readers = [Reader(rooms.topics), Reader(rooms.topics)]
            for reader in readers { try reader.follow(name) }
            rooms.topics.abandonUnheard(name)
            #expect(catalogue.savedCount == 1)
            rooms.topics.unsubscribe(readers[0].subscriber)
            #expect(catalogue.savedCount == 1)
            rooms.topics.unsubscribe(readers[1].subscriber, from: name.channel)
            #expect(catalogue.savedCount == 0)
            let unheard = TopicName(question: try #require(catalogue.follow(query, for: 1)).name)
            #expect(catalogue.savedCount == 1)
            rooms.topics.abandonUnheard(unheard)
            #expect(catalogue.savedCount == 0)
        }
    }

    @Test @LoopActor func `for topics that nobody listens to nothing is done`() async throws {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            await rooms.open("o")
            await rooms.add(1, to: "c", at: "o")
            let reader = Reader(rooms.topics)
            try reader.follow(try Self.name("cart:c"))
            await rooms.turns { reader.documents["cart:c"] != nil }
            rooms.topics.unsubscribe(reader.subscriber)
            let (sent, calls) = (reader.messages.count, log.calls.count { $0 == .load })
            rooms.partitions.emptyCaches()
            await rooms.send(.outlet("o"), .outlet(.close))
            for _ in 0..<10 {
                rooms.endTurn()
                await LoopTimer.pause(milliseconds: 0)
            }
            // The outlet was loaded for its command, and the cart for nobody.
            #expect(reader.messages.count == sent && log.calls.count { $0 == .load } == calls + 1)
        }
    }

    @Test @LoopActor func `whoever is confined listens to nothing of others`() async throws {
        try await Rooms.with { rooms in
            await rooms.open("o")
            let terms = Order.Terms(placedAt: rooms.clock.now)
            await rooms.place("theirs", from: "asha-cart", terms)
            await rooms.place("own", from: "ben-cart", terms)
            let ben = Confinement(ofCustomer: "ben")
            let reader = Reader(rooms.topics)
            for channel in ["order:theirs", "order:unknown", "cart:asha-cart", "kitchen:o"] {
                let name = try Self.name(channel)
                let failure = #expect(throws: Failure.self) {
                    _ = try rooms.topics.subscribe(reader.subscriber, to: [name], within: ben)
                }
                #expect(failure?.code == .noPermission)
            }
            let own = try ["order:own", "cart:ben-cart", "home:o"].map(Self.name)
            let counts = try rooms.topics.subscribe(reader.subscriber, to: own, within: ben)
            #expect(counts == [1, 2, 3])
            let ended = rooms.topics.unsubscribe(reader.subscriber, beyond: Confinement(ofCustomer: "asha"))
            #expect(ended.sorted() == ["cart:ben-cart", "order:own"])
            #expect(reader.subscriber.channels == ["home:o"])
            rooms.topics.unsubscribe(reader.subscriber)
        }
    }
}
