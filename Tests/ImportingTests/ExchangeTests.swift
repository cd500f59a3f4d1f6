import LineProtocol
import Testing

@testable import Importing

@Suite struct `Sending outlets` {
    private let options = OutletImportOptions(map: ColumnMap(), currency: "INR", timeZone: "Asia/Kolkata")

    private func rows(_ count: Int) -> [OutletRow] {
        (0..<count).map { OutletRow(line: $0 + 2, id: "o-\($0)", name: "Outlet \($0)") }
    }

    private func run(
        _ rows: [OutletRow], _ connection: DirectConnection, opensAll: Bool = false
    ) throws -> OutletExchange.Outcome {
        var options = options
        options.opensAll = opensAll
        var exchange = OutletExchange(rows, options: options)
        var progress: [Int] = []
        try Pipeline.run(&exchange, over: connection) { progress.append($0) }
        #expect(progress == progress.sorted())
        #expect(progress.last == rows.count)
        return exchange.outcome
    }

    @Test func `New outlets are registered and opened, and a second run changes nothing`() throws {
        let connection = DirectConnection()
        let first = try run(rows(1_000), connection)
        #expect(first == .init(created: 1_000, opened: 1_000))
        #expect(connection.catalogue.outlets.values.allSatisfy { $0.status == "open" && $0.version == 2 })
        let second = try run(rows(1_000), connection)
        #expect(second == .init(unchanged: 1_000))
    }

    @Test func `The commands on their way are bounded, and as many as that`() throws {
        let connection = DirectConnection()
        _ = try run(rows(1_000), connection)
        #expect(connection.mostUnanswered == Pipeline.maximumInFlight)
    }

    @Test func `Outlets that differ are changed, and stay open`() throws {
        let connection = DirectConnection()
        var rows = rows(10)
        _ = try run(rows, connection)
        rows[3].name = "Renamed"
        #expect(try run(rows, connection) == .init(changed: 1, unchanged: 9))
    }

    @Test(arguments: ["closed", "paused"])
    func `What a merchant has closed since stays closed, unless all are to be opened`(status: String) throws {
        let connection = DirectConnection()
        _ = try run(rows(3), connection)
        connection.catalogue.outlets["o-1"]?.status = status
        connection.catalogue.outlets["o-1"]?.version = 3
        #expect(try run(rows(3), connection) == .init(unchanged: 3))
        #expect(connection.catalogue.outlets["o-1"]?.status == status)
        #expect(try run(rows(3), connection, opensAll: true) == .init(unchanged: 3, opened: 1))
        #expect(connection.catalogue.outlets["o-1"]?.status == "open")
    }

    @Test func `An import that was interrupted before opening is completed`() throws {
        let connection = DirectConnection()
        let rows = rows(3)
        _ = connection.catalogue.answer([
            "OUTLET.PUT", "o-1", rows[1].document(currency: "INR", timeZone: "Asia/Kolkata"),
        ])
        #expect(try run(rows, connection) == .init(created: 2, unchanged: 1, opened: 3))
    }

    @Test func `What the server refuses is a problem of its row alone`() throws {
        let connection = DirectConnection()
        connection.catalogue.refusals = [
            "OUTLET.GET o-1": .error(code: "CORRUPT", message: "at 7"),
            "OUTLET.PUT o-1": .error(code: "CORRUPT", message: "at 7"),
            "OUTLET.PUT o-2": .error(code: "INVALID", message: "name must have 1–200 bytes"),
            "OUTLET.OPEN o-3": .error(code: "BUSY", message: "try again"),
            "OUTLET.GET o-4": .integer(7),
        ]
        let outcome = try run(rows(6), connection)
        #expect(outcome.created == 3)
        #expect(outcome.opened == 2)
        #expect(
            outcome.problems.map(\.description).sorted() == [
                "3: OUTLET.GET: CORRUPT at 7", "4: OUTLET.PUT: INVALID name must have 1–200 bytes",
                "5: OUTLET.OPEN: BUSY try again", "6: OUTLET.GET: the answer is not understood",
            ])
    }

    @Test(arguments: ["ERR", "NOAUTH", "NOPERM", "DENIED", "UNAVAILABLE"])
    func `What every row would meet ends the import`(code: String) {
        let connection = DirectConnection()
        connection.catalogue.refusals["OUTLET.PUT o-5"] = .error(code: code, message: "no")
        var exchange = OutletExchange(rows(1_000), options: options)
        #expect(throws: ConnectionError.refused("\(code) no")) {
            try Pipeline.run(&exchange, over: connection) { _ in }
        }
        #expect(exchange.outcome.problems.isEmpty)
        #expect(connection.catalogue.commands.count <= Pipeline.maximumInFlight)
    }
}

@Suite struct `Sending a menu` {
    private let registration = MenuExchange.Registration(name: "Kitchen", currency: "USD", timeZone: "UTC")

    private func run(
        _ connection: DirectConnection, menu: String = "{}", registering: Bool = true
    ) throws -> MenuExchange.Outcome {
        var exchange = MenuExchange(outlet: "k", menu: menu, registration: registering ? registration : nil)
        try Pipeline.run(&exchange, over: connection) { _ in }
        return exchange.outcome
    }

    @Test func `A new outlet is registered and opened, and a second run changes nothing`() throws {
        let connection = DirectConnection()
        #expect(try run(connection) == .init(registered: true, opened: true, version: 1, changed: true))
        #expect(connection.catalogue.outlets["k"]?.document["name"] == .text("Kitchen"))
        #expect(try run(connection) == .init(version: 1))
        #expect(try run(connection, menu: "{\"sections\":[]}") == .init(version: 2, changed: true))
    }

    @Test func `An outlet that is there keeps its name and stays closed`() throws {
        let connection = DirectConnection()
        _ = try run(connection)
        connection.catalogue.outlets["k"]?.status = "closed"
        connection.catalogue.outlets["k"]?.version = 7
        _ = try run(connection)
        #expect(connection.catalogue.outlets["k"]?.status == "closed")
        #expect(connection.catalogue.commands.count { $0 == "OUTLET.PUT" } == 1)
    }

    @Test func `Prices in another currency than the outlet's are not put`() throws {
        let connection = DirectConnection()
        _ = connection.catalogue.answer(["OUTLET.PUT", "k", #"{"currency":"INR"}"#])
        let outcome = try run(connection)
        #expect(outcome.problems.map(\.description) == ["k: is in INR, and cannot have prices in USD"])
        #expect(connection.catalogue.menus.isEmpty)
    }

    @Test func `A menu alone registers nothing`() throws {
        let connection = DirectConnection()
        let outcome = try run(connection, registering: false)
        #expect(outcome.problems.map(\.description) == ["MENU.PUT: NOTFOUND no such outlet"])
        #expect(connection.catalogue.outlets.isEmpty)
    }

    @Test func `Without an outlet there is no menu`() throws {
        let connection = DirectConnection()
        connection.catalogue.refusals["OUTLET.PUT k"] = .error(code: "INVALID", message: "name")
        let outcome = try run(connection)
        #expect(outcome.problems.map(\.description) == ["OUTLET.PUT: INVALID name"])
        #expect(connection.catalogue.commands == ["OUTLET.GET", "OUTLET.PUT"])
    }
}
