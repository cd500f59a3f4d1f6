internal import Audit
internal import CommandLineOptions
internal import Domain
internal import EventLog
internal import EventLoop
internal import Foundation
internal import LineClient
internal import LineProtocol
internal import PostgresStorage

enum WhyCommand: Subcommand {
    static let name = "why"
    static let summary = "shows the history of a cart, an order, an outlet, its stock, a customer, a user or a relay"
    static let operands = ["cart|order|outlet|stock|customer|user|relay", "<id>"]
    static let options: [any DeclaredOption] =
        [server, database, map, directory, last] + ConnectionOptions.declarations

    /// The most events of a stream that are read.
    private static let maximumEvents = 100_000
    private static let chunk = 1_000
    /// The most sealed texts that are opened, counted from the end; others are shown as sealed.
    private static let maximumSealedTexts = 100

    private static let server = Option.optional(
        "server", "host:port",
        "asks a running server; without --database or --data-dir that of this machine, port 7379",
        OptionValue("host:port") { ServerAddress($0) })
    private static let database = Database.url.described(as: "reads this database instead: postgres://user@host/name")
    private static let map = Database.map.described(as: "reads several databases, which the file names")
    private static let directory = Database.directory.described(as: "reads the private PostgreSQL there")
    private static let last = Option.value(
        "last", "n", "the most events that are shown", .integer(1...maximumEvents), default: "50")

    private enum Kind: String {
        case cart, order, outlet, stock, customer, user, relay
    }

    static func run(_ options: Options) async throws -> ExitCode {
        let words = options.operands
        guard words.count == 2, let kind = Kind(rawValue: words[0]), let id = Identifier(words[1]) else {
            throw UsageError(
                "name a cart, an order, an outlet, an outlet's stock, a customer, a user or a relay, and its id")
        }
        for line in try await history(of: kind, id, options[last], options) {
            guard Terminal.print(line) else { break }
        }
        return .success
    }

    // MARK: Where events come from

    /// Where the log is read.
    private enum Source {
        case server(ServerConnection)
        case database(any EventLog, any CustomerKeys)
    }

    @LoopActor
    private static func history(of kind: Kind, _ id: Identifier, _ last: Int, _ options: Options) async throws
        -> [String]
    {
        if options[server] == nil, [database, directory, map].contains(where: { options[$0] != nil }) {
            var lines: [String] = []
            try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
                let storage = try await LogStorage.open($0, isReadOnly: true)
                defer { storage.close() }
                lines = try await history(of: kind, id, last, .database(storage.log, storage.keys))
            }
            return lines
        }
        let connection = try await ServerConnection(
            to: try ConnectionOptions(options).server(at: options[server] ?? .standard))
        defer { connection.close() }
        return try await history(of: kind, id, last, .server(connection))
    }

    @LoopActor
    private static func events(of category: StreamName.Category, _ id: Identifier, _ source: Source) async throws
        -> [RecordedEvent]
    {
        let stream = StreamName(category, id)
        var events: [RecordedEvent] = []
        var page: [RecordedEvent]
        repeat {
            page = try await read(stream, after: events.last?.version ?? 0, source)
            events += page
            guard events.count <= maximumEvents else {
                throw Failure("'\(stream)' has more than \(maximumEvents) events")
            }
        } while page.count == chunk
        return events
    }

    @LoopActor
    private static func read(_ stream: StreamName, after version: Int64, _ source: Source) async throws
        -> [RecordedEvent]
    {
        switch source {
        case .database(let log, _):
            let partition = log.partitioning.partition(of: stream)
            return try await log.read(stream: stream, partition: partition, afterVersion: version, limit: chunk)
        case .server(let connection):
            connection.enqueue(
                ["LOG.READ", "STREAM", "\(stream)", "FROM", "\(version + 1)", "COUNT", "\(chunk)"])
            let reply = try await connection.nextReply()
            if let refusal = ConnectionError(fatal: reply) { throw refusal }
            switch reply {
            case .array(let replies):
                return try replies.map { reply in
                    guard case .bulk(let bytes) = reply else { throw Failure("the server answers with no events") }
                    return try LogDocument.event(bytes)
                }
            case .error(let code, let message): throw Failure("the server refuses: \(code) \(message)")
            default: throw Failure("the server answers with no events")
            }
        }
    }

    /// What the sealed texts of events say, as far as they may be read here.
    @LoopActor
    private static func texts(of events: [RecordedEvent], _ source: Source) async throws -> DecryptedTexts {
        var texts = DecryptedTexts()
        let passages = SealedTextUse.all(in: events).prefix(maximumSealedTexts)
        switch source {
        case .database(let log, let keys):
            var openers: [TextOwner: TextOpener] = [:]
            for passage in passages {
                let owner = passage.owner
                if openers[owner] == nil {
                    let partition = log.partitioning.partition(of: StreamName(.cart, owner.cart))
                    openers[owner] = TextOpener(owner, try await keys.key(of: owner.customer, partition: partition))
                }
                texts[passage.text] = openers[owner]?.text(of: passage.text, passage.kind)
            }
        case .server(let connection):
            // Keys stay in the database: the server is asked for the documents that show the texts.
            for passage in passages { connection.enqueue(passage.question) }
            for passage in passages {
                if case .bulk(let document) = try await connection.nextReply() {
                    texts[passage.text] = passage.text(in: document)
                }
            }
        }
        return texts
    }

    private struct Failure: Error, CustomStringConvertible {
        var description: String

        init(_ description: String) {
            self.description = description
        }
    }

    // MARK: Histories

    @LoopActor
    private static func history(of kind: Kind, _ id: Identifier, _ last: Int, _ source: Source) async throws -> [String]
    {
        switch kind {
        case .cart:
            let events = try await events(of: .cart, id, source)
            guard !events.isEmpty else { throw Failure("the log has no cart '\(id)'") }
            return try await cart(id, events, source).text(last: last)
        case .order:
            let events = try await events(of: .order, id, source)
            guard !events.isEmpty else { throw Failure("the log has no order '\(id)'") }
            var origin: CartHistory?
            if let cart = OrderHistory.cart(of: events) {
                origin = try await self.cart(cart, try await self.events(of: .cart, cart, source), source)
            }
            return OrderHistory(id, events, origin, try await texts(of: events, source)).text(last: last)
        case .outlet:
            let events = try await events(of: .outlet, id, source)
            let menu = try await self.events(of: .menu, id, source)
            guard !events.isEmpty || !menu.isEmpty else { throw Failure("the log has no outlet '\(id)'") }
            let promotions = try await self.events(of: .promotions, id, source)
            return OutletHistory(id, events, menu: menu, promotions: promotions).text(last: last)
        case .stock:
            let events = try await events(of: .supply, id, source)
            guard !events.isEmpty else { throw Failure("outlet '\(id)' has counted nothing") }
            return SupplyHistory(id, events).text(last: last)
        case .customer: return try await deeds(of: .customer, id, last, source)
        case .user: return try await deeds(of: .user, id, last, source)
        case .relay: return try await deeds(of: .relay, id, last, source)
        }
    }

    @LoopActor
    private static func deeds(
        of category: StreamName.Category, _ id: Identifier, _ last: Int, _ source: Source
    ) async throws -> [String] {
        let events = try await events(of: category, id, source)
        guard !events.isEmpty else { throw Failure("the log has nothing about \(category) '\(id)'") }
        return DeedHistory(StreamName(category, id), events).text(last: last)
    }

    @LoopActor
    private static func cart(_ id: Identifier, _ events: [RecordedEvent], _ source: Source) async throws -> CartHistory
    {
        var menus: [RecordedEvent] = []
        for outlet in CartHistory.outlets(of: events) {
            menus += try await self.events(of: .outlet, outlet, source)
            menus += try await self.events(of: .menu, outlet, source)
        }
        let now = Timestamp(millisecondsSinceEpoch: Int64(Date().timeIntervalSince1970 * 1_000))
        return CartHistory(
            id, events, CurrentMenus(folding: menus, now: now), try await texts(of: events, source))
    }
}

extension SealedTextUse {
    /// What a server answers with a document that shows the text.
    fileprivate var question: [String] {
        // Of the reasons that an order was given, the document as of an event shows that event's last.
        let moment = order == nil || kind == .reason ? ["AT", "\(position)"] : []
        return (order.map { ["ORDER.GET", "\($0)"] } ?? ["CART.GET", "\(owner.cart)"]) + moment
    }

    /// The text as such a document shows it.
    fileprivate func text(in document: [UInt8]) -> String? {
        guard let document = try? JSONSerialization.jsonObject(with: Data(document)) as? [String: Any] else {
            return nil
        }
        if kind == .reason {
            let change = (document["promise"] as? [[String: Any]])?.last
            return (document["ending"] as? [String: Any] ?? change)?["reason"] as? String
        }
        guard let line else { return document["name"] as? String }
        let lines = document["lines"] as? [[String: Any]]
        return lines?.first { ($0["line"] as? String).map { Text($0) } == line }?["note"] as? String
    }
}
