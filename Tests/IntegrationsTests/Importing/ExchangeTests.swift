import Domain
import EventLoop
import LineClient
import LineProtocol
import Testing

@testable import Integrations

@Suite struct `Sending outlets` {
    init() { LoopActor.startInBackground() }

    private let options = OutletImportOptions(map: ColumnMap(), currency: "INR", timeZone: "Asia/Kolkata")

    private func rows(_ count: Int) -> [OutletRow] {
        (0..<count).map { OutletRow(line: $0 + 2, id: "o-\($0)", name: "Outlet \($0)") }
    }

    @LoopActor private func run(
        _ rows: [OutletRow], _ connection: DirectConnection, opensAll: Bool = false
    ) async throws -> OutletExchange.Outcome {
        var options = options
        options.opensAll = opensAll
        var exchange = OutletExchange(rows, options: options)
        var progress: [Int] = []
        try await connection.run(&exchange) { progress.append($0.finishedCount) }
        #expect(progress == progress.sorted())
        #expect(progress.last == rows.count)
        return exchange.outcome
    }

    @Test @LoopActor func `New outlets are registered and opened, and a second run changes nothing`() async throws {
        let connection = DirectConnection()
        let first = try await run(rows(1_000), connection)
        #expect(first == .init(created: 1_000, opened: 1_000))
        #expect(connection.catalogue.outlets.values.allSatisfy { $0.status == "open" && $0.version == 2 })
        let second = try await run(rows(1_000), connection)
        #expect(second == .init(unchanged: 1_000))
    }

    @Test @LoopActor func `The number of commands in flight is bounded, and reaches the bound`() async throws {
        let connection = DirectConnection()
        _ = try await run(rows(1_000), connection)
        #expect(connection.mostUnanswered == DirectConnection.exchangeWindow)
    }

    @Test @LoopActor func `Outlets that differ are changed, and stay open`() async throws {
        let connection = DirectConnection()
        var rows = rows(10)
        _ = try await run(rows, connection)
        rows[3].name = "Renamed"
        #expect(try await run(rows, connection) == .init(changed: 1, unchanged: 9))
    }

    @Test @LoopActor func `Fields that are not mapped stay, and mapped ones that are empty go`() async throws {
        let connection = DirectConnection()
        let before = #"{"name":"Hut","currency":"INR","timeZone":"UTC","city":"Chennai","area":"Adyar","rating":4.2}"#
        _ = connection.catalogue.answer(["OUTLET.PUT", "o", before])
        var options = options
        try options.map.add("id=id,name=name,rating=r,deliveryMinutes=m")
        let row = OutletRow(line: 2, id: "o", name: "Hut", deliveryMinutes: 30)
        var exchange = OutletExchange([row], options: options)
        try await connection.run(&exchange)
        #expect(exchange.outcome == .init(changed: 1, opened: 1))
        #expect(
            connection.catalogue.outlets["o"]?.document == [
                "name": .text("Hut"), "currency": .text("INR"), "timeZone": .text("Asia/Kolkata"),
                "city": .text("Chennai"), "area": .text("Adyar"), "deliveryMinutes": .number(30),
            ])
    }

    @Test @LoopActor func `What somebody else changes meanwhile is not overwritten`() async throws {
        let connection = DirectConnection()
        let rows = rows(2)
        _ = try await run(rows, connection)
        connection.catalogue.changedAfterLook = "o-1"
        var exchange = OutletExchange(rows, options: options)
        try await connection.run(&exchange)
        #expect(exchange.outcome.unchanged == 1)
        #expect(exchange.outcome.problems.map(\.description) == ["3: OUTLET.PUT: CONFLICT expected version 2, found 3"])
        #expect(connection.catalogue.outlets["o-1"]?.document["name"] == .text("by somebody else"))
    }

    @Test(arguments: ["closed", "paused"])
    @LoopActor func `An outlet closed since stays closed, unless all are to be opened`(status: String)
        async throws
    {
        let connection = DirectConnection()
        _ = try await run(rows(3), connection)
        connection.catalogue.outlets["o-1"]?.status = status
        connection.catalogue.outlets["o-1"]?.version = 3
        #expect(try await run(rows(3), connection) == .init(unchanged: 3))
        #expect(connection.catalogue.outlets["o-1"]?.status == status)
        #expect(try await run(rows(3), connection, opensAll: true) == .init(unchanged: 3, opened: 1))
        #expect(connection.catalogue.outlets["o-1"]?.status == "open")
    }

    @Test @LoopActor func `An import that was interrupted before opening is completed`() async throws {
        let connection = DirectConnection()
        let rows = rows(3)
        _ = connection.catalogue.answer([
            "OUTLET.PUT", "o-1", rows[1].document(currency: "INR", timeZone: "Asia/Kolkata"),
        ])
        #expect(try await run(rows, connection) == .init(created: 2, unchanged: 1, opened: 3))
    }

    @Test @LoopActor func `A refusal by the server is a problem of one row alone`() async throws {
        let connection = DirectConnection()
        connection.catalogue.refusals = [
            "OUTLET.GET o-1": .error(code: "CORRUPT", message: "at 7"),
            "OUTLET.PUT o-1": .error(code: "CORRUPT", message: "at 7"),
            "OUTLET.PUT o-2": .error(code: "INVALID", message: "name must have 1–200 bytes"),
            "OUTLET.OPEN o-3": .error(code: "BUSY", message: "try again"),
            "OUTLET.GET o-4": .integer(7),
        ]
        let outcome = try await run(rows(6), connection)
        #expect(outcome.created == 3)
        #expect(outcome.opened == 2)
        #expect(
            outcome.problems.map(\.description).sorted() == [
                "3: OUTLET.GET: CORRUPT at 7", "4: OUTLET.PUT: INVALID name must have 1–200 bytes",
                "5: OUTLET.OPEN: BUSY try again", "6: OUTLET.GET: the answer is not understood",
            ])
    }

    @Test(arguments: ["ERR", "NOAUTH", "NOPERM", "DENIED", "UNAVAILABLE"])
    @LoopActor func `An error that every row would get ends the import`(code: String) async throws {
        let connection = DirectConnection()
        connection.catalogue.refusals["OUTLET.PUT o-5"] = .error(code: code, message: "no")
        var exchange = OutletExchange(rows(1_000), options: options)
        await #expect(throws: ConnectionError.refused("\(code) no")) {
            try await connection.run(&exchange)
        }
        #expect(exchange.outcome.problems.isEmpty)
        #expect(connection.catalogue.commands.count <= DirectConnection.exchangeWindow)
    }
}

@Suite struct `Sending a menu` {
    init() { LoopActor.startInBackground() }

    private let registration = MenuExchange.Registration(name: "Kitchen", currency: "USD", timeZone: "UTC")
    private let report = FeedReport(.ready, source: "menu.json")

    @LoopActor private func run(
        _ connection: DirectConnection, menu: String? = "{}", registering: Bool = true
    ) async throws -> MenuExchange.Outcome {
        var exchange = MenuExchange(
            outlet: "k", menu: menu, report: report, registration: registering ? registration : nil)
        try await connection.run(&exchange)
        return exchange.outcome
    }

    @Test @LoopActor func `A new outlet is registered and opened, and a second run changes nothing`() async throws {
        let connection = DirectConnection()
        #expect(try await run(connection) == .init(registered: true, opened: true, version: 1, changed: true))
        #expect(connection.catalogue.outlets["k"]?.document["name"] == .text("Kitchen"))
        #expect(try await run(connection) == .init(version: 1))
        #expect(try await run(connection, menu: "{\"sections\":[]}") == .init(version: 2, changed: true))
    }

    @Test @LoopActor func `What cannot be read registers no outlet, and is recorded where there is one`() async throws {
        let connection = DirectConnection()
        func run() async throws -> MenuExchange.Outcome {
            var exchange = MenuExchange(
                outlet: "k", menu: nil, report: report, registration: registration, registersIfUnknown: false)
            try await connection.run(&exchange)
            return exchange.outcome
        }
        #expect(try await run() == .init())
        #expect(connection.catalogue.commands == ["OUTLET.GET"])
        _ = try await self.run(connection)
        connection.catalogue.feeds = [:]
        #expect(try await run() == .init())
        #expect(connection.catalogue.feeds["k"] == report.document)
    }

    @Test @LoopActor func `An existing outlet keeps its name and stays closed`() async throws {
        let connection = DirectConnection()
        _ = try await run(connection)
        connection.catalogue.outlets["k"]?.status = "closed"
        connection.catalogue.outlets["k"]?.version = 7
        _ = try await run(connection)
        #expect(connection.catalogue.outlets["k"]?.status == "closed")
        #expect(connection.catalogue.commands.count { $0 == "OUTLET.PUT" } == 1)
    }

    @Test @LoopActor func `Prices in another currency than the outlet's are not put`() async throws {
        let connection = DirectConnection()
        _ = connection.catalogue.answer(["OUTLET.PUT", "k", #"{"currency":"INR"}"#])
        let outcome = try await run(connection)
        #expect(outcome.problems.map(\.description) == ["k: is in INR, and cannot have prices in USD"])
        #expect(connection.catalogue.menus.isEmpty)
    }

    @Test @LoopActor func `A menu alone registers nothing`() async throws {
        let connection = DirectConnection()
        let outcome = try await run(connection, registering: false)
        #expect(outcome.problems.map(\.description) == ["MENU.PUT: NOTFOUND no such outlet"])
        #expect(connection.catalogue.outlets.isEmpty)
    }

    @Test @LoopActor func `Without an outlet there is no menu`() async throws {
        let connection = DirectConnection()
        connection.catalogue.refusals["OUTLET.PUT k"] = .error(code: "INVALID", message: "name")
        let outcome = try await run(connection)
        #expect(outcome.problems.map(\.description) == ["OUTLET.PUT: INVALID name"])
        #expect(connection.catalogue.commands == ["OUTLET.GET", "OUTLET.PUT"])
        #expect(connection.catalogue.feeds.isEmpty)
    }

    @Test @LoopActor func `Without a menu to put, the outlet is registered and stays closed`() async throws {
        let connection = DirectConnection()
        #expect(try await run(connection, menu: nil) == .init(registered: true))
        #expect(connection.catalogue.commands == ["OUTLET.GET", "OUTLET.PUT", "MENU.FEED.PUT"])
        #expect(connection.catalogue.feeds["k"] == report.document)
        // The first menu opens it, before the check says that there is one.
        #expect(try await run(connection) == .init(opened: true, version: 1, changed: true))
        #expect(connection.catalogue.commands.suffix(3) == ["MENU.PUT", "OUTLET.OPEN", "MENU.FEED.PUT"])
    }

    @Test(arguments: [("INVALID", true), ("LIMIT", true), ("BUSY", false), ("NOTFOUND", false)])
    @LoopActor func `A refusal of the menu is recorded if it is about the menu`(code: String, isRecorded: Bool)
        async throws
    {
        let connection = DirectConnection()
        connection.catalogue.refusals["MENU.PUT k"] = .error(code: code, message: "no")
        let problem = Problem(field: "MENU.PUT", reason: "\(code) no")
        #expect(try await run(connection) == .init(registered: true, problems: [problem]))
        let malformed = FeedReport(.malformed, source: "menu.json", problems: [problem])
        #expect(connection.catalogue.feeds["k"] == (isRecorded ? malformed.document : nil))
    }
}
