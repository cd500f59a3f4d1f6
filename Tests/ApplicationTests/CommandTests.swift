import CommandHandling
import Domain
import EventLog
import Projections
import Testing
import Users

@testable import Application

/// Commands, served from memory: what they ask for, and what they refuse.
@Suite struct CommandTests {
    private let service = MemoryService()

    /// Why a command is refused; nil if it is not.
    private func refusal(
        _ words: String..., within confinement: Confinement? = nil, with rights: Rights = .all
    ) throws -> String? {
        try failure { _ = try service.run(words, within: confinement, with: rights) }
    }

    private func id(_ text: String) -> Identifier { Identifier(text)! }

    /// The text of an answer that is there at once.
    private func shown(_ response: Response) -> String? {
        switch response {
        case .answer(.null): "null"
        case .answer(.integer(let number)): "\(number)"
        case .answer(.text(let text)): text
        case .answer(.document(let document)): String(decoding: document, as: UTF8.self)
        case .answer(.parts(let start, let end)): String(decoding: start, as: UTF8.self) + end
        case .answer(.documents(let documents)): documents.map { String(decoding: $0, as: UTF8.self) }.joined()
        case .promise(let promise): answer(of: promise)
        }
    }

    private func answer(of promise: Promise) -> String? {
        var shown: String?
        promise.whenKnown { if case .success(let answer) = $0 { shown = self.shown(.answer(answer)) } }
        return shown
    }

    // MARK: Carts

    @Test func `CART.ADD asks for an addition, at what the menu says when it is decided`() throws {
        let words = "CART.ADD c o tea 2 NOTE hot OPTIONS large,cheese*2 ID 7 VERSION 4 FLOW f ACTOR desk".words
        let response = try service.run(words)
        guard case .promise(let promise) = response else {
            Issue.record("answered before it is durable")
            return
        }
        #expect(promise.category == .cart && !promise.isHolding)
        let write = try #require(service.writes.first)
        #expect(write.stream == StreamName(.cart, id("c")) && write.expectedVersion == 4 && write.customer == nil)
        #expect(write.metadata.commandID == "7" && write.metadata.flow == "f" && write.metadata.actor == "desk")
        #expect(service.offersAsked.isEmpty)
        service.offer = .noOutlet
        guard case .cart(.add(let addition)) = write.command(.cart(.empty)) else {
            Issue.record("no addition")
            return
        }
        #expect(
            addition
                == Cart.Addition(
                    outlet: id("o"), item: id("tea"), quantity: 2, note: .plain("hot"), offer: .noOutlet))
        let asked = try #require(service.offersAsked.first)
        #expect(asked.item == id("tea") && asked.outlet == id("o"))
        // In the order of the ids, however they were given.
        #expect(asked.chosen.map(\.id) == ["cheese", "large"].map(id) && asked.chosen.map(\.units) == [2, 1])
    }

    @Test func `CART.ADD of a customer has its note sealed`() throws {
        _ = try service.run("CART.ADD c o tea 2 NOTE hot CUSTOMER asha".words)
        let write = try #require(service.writes.first)
        #expect(write.customer == id("asha") && write.text == "hot" && write.kind == .note)
        guard case .cart(.add(let addition)) = write.command(.cart(.empty)) else {
            Issue.record("no addition")
            return
        }
        #expect(addition.note == .sealed(SealedText(ciphertext: "sealed hot")) && addition.customer == id("asha"))
    }

    @Test func `CART.CHECKOUT takes one agreement, and a name of customers only`() throws {
        #expect(
            try refusal("CART.CHECKOUT", "c")
                == "INVALID what the customer agrees to is missing: give TOTAL or QUOTE")
        #expect(
            try refusal("CART.CHECKOUT", "c", "TOTAL", "5", "QUOTE", "c547b9878322fee2")
                == "INVALID TOTAL and QUOTE exclude each other: give one of them")
        #expect(try refusal("CART.CHECKOUT", "c", "TOTAL", "5", "NAME", "A")?.hasPrefix("INVALID NAME: ") ?? false)
        #expect(service.writes.isEmpty)
        _ = try service.run("CART.CHECKOUT c TOTAL 5 NAME A CUSTOMER asha".words)
        #expect(service.writes.map(\.kind) == [.name])
    }

    @Test func `CART.EDIT with nothing to change is refused, and an empty note is none`() throws {
        #expect(try refusal("CART.EDIT", "c", "tea")?.hasPrefix("INVALID nothing is to be changed") ?? false)
        _ = try service.run(["CART.EDIT", "c", "tea", "NOTE", ""])
        guard case .cart(.edit(let edit))? = service.writes.first?.command(.cart(.empty)) else {
            Issue.record("no edit")
            return
        }
        #expect(edit.note == .some(nil) && edit.offer == .noItem)
    }

    // MARK: Homes

    @Test func `OUTLET.HOME is asked for now, since a revision, or at a moment`() throws {
        #expect(
            try refusal("OUTLET.HOME", "o", "AT", "3", "SINCE", "2")
                == "ERR syntax error: SINCE and AT exclude each other")
        #expect(
            try refusal("OUTLET.HOME", "o", "AT", "2030-01-01T00:00:00Z")
                == "INVALID AT: must not lie in the future: it is 2023-11-14T22:13:20Z")
        #expect(service.pastQuestions.isEmpty && service.updates.isEmpty)
        service.homes[id("o")] = Home(revision: 9, document: Array(#"{"a":1}"#.utf8))
        service.counts[id("c")] = 3
        #expect(shown(try service.run("OUTLET.HOME x".words)) == "null")
        #expect(shown(try service.run("OUTLET.HOME o".words)) == #"{"a":1}"#)
        #expect(shown(try service.run("OUTLET.HOME o CART c".words)) == #"{"a":1,"cartCount":3}"#)
        _ = try service.run("OUTLET.HOME o AT 3 CART c".words)
        #expect(service.pastQuestions == [.home(of: id("o"), cart: id("c"), at: .position(3))])
    }

    @Test func `OUTLET.HOME since today's revision is null, unless a cart's count is asked for`() throws {
        service.homes[id("o")] = Home(revision: 9, document: Array("{}".utf8))
        service.counts[id("c")] = 3
        #expect(shown(try service.run("OUTLET.HOME o SINCE 9".words)) == "null")
        #expect(
            shown(try service.run("OUTLET.HOME o SINCE 9 CART c".words))
                == #"{"outlet":"o","from":9,"to":9,"patch":[{"op":"add","path":"/cartCount","value":3}]}"#)
        #expect(
            shown(try service.run("OUTLET.HOME o SINCE 8".words)) == #"{"outlet":"o","from":8,"to":9,"patch":[]}"#)
        // Null would say that nothing has changed.
        var failure: Failure?
        try service.run("OUTLET.HOME x SINCE 9".words).whenKnown { if case .failure(let why) = $0 { failure = why } }
        #expect(failure?.code == .notFound)
    }

    @Test(arguments: [
        "SINCE 1 AT 1", "AT 1 SINCE 1", "SINCE", "SINCE 1 SINCE 1", "SINCE 1 CART", "SINCE 1 2", "CART c SINCE",
    ])
    func `options of OUTLET.HOME that make no sense are a syntax error`(options: String) throws {
        let answer = try failure { _ = try service.run("OUTLET.HOME o".words + options.words) }
        #expect(answer?.hasPrefix("ERR ") ?? false)
    }

    @Test(arguments: ["-1", "x", "1.5", "01", "9223372036854775808", ""])
    func `a revision is a whole number from 0`(revision: String) throws {
        #expect(try refusal("OUTLET.HOME", "o", "SINCE", revision) == "INVALID SINCE: must be a whole number from 0")
    }

    // MARK: The log

    /// A log of events a minute apart: `cart.cleared` by `desk` and by nobody, in turns.
    private func log() async throws -> InMemoryEventLog {
        let log = InMemoryEventLog()
        for number in 1...6 as ClosedRange<Int64> {
            let metadata = EventMetadata(commandID: nil, fingerprint: nil, actor: number % 2 == 0 ? "desk" : nil)
            let stream = StreamName(number > 4 ? .order : .cart, id("s"))
            let event = NewEvent(
                stream: stream, version: number > 4 ? number - 4 : number,
                kind: EventKind(name: number > 4 ? "order.readied" : "cart.cleared", schemaVersion: 1),
                payload: Array("{}".utf8), metadata: metadata.encoded())
            let batch = EventBatch(
                partition: 0, events: [event], groups: [0],
                recordedAt: Timestamp(millisecondsSinceEpoch: 60_000 * number))
            _ = try await log.append(batch, seen: try await log.end(of: 0))
        }
        return log
    }

    @Test(
        arguments: [
            ("", [1, 2, 3, 4, 5, 6]), ("FROM 3 COUNT 2", [3, 4]), ("KIND order", [5, 6]),
            ("KIND cart.cleared COUNT 3", [1, 2, 3]),
            ("KIND order,cart.cleared ACTOR desk", [2, 4, 6]), ("SINCE 1970-01-01T00:03:00Z", [3, 4, 5, 6]),
            ("SINCE 1970-01-01T00:02:00Z UNTIL 1970-01-01T00:04:00Z", [2, 3]), ("ACTOR nobody", []),
            ("STREAM cart-s", [1, 2, 3, 4]), ("STREAM cart-s ACTOR desk", [2, 4]), ("STREAM order-s FROM 2", [6]),
        ] as [(String, [Int64])])
    func `LOG.READ finds what its filters let through`(filters: String, positions: [Int64]) async throws {
        _ = try service.run(["LOG.READ"] + filters.words)
        let reading = try #require(service.readings.first)
        let text = try #require(shown(.answer(try await reading.read(try await log()))))
        #expect(text.matches(of: /"position":([0-9]+)/).compactMap { Int64($0.1) } == positions)
        #expect(reading.event == nil)
    }

    @Test func `LOG.READ waits for the event that it begins with`() throws {
        service.partitioning = Partitioning(count: 3)
        _ = try service.run("LOG.READ PARTITION 2 FROM 8 WAIT 500".words)
        let event = try #require(service.readings.first?.event)
        #expect(event.partition == 2 && event.position == 8 && event.milliseconds == 500)
    }

    @Test func `LOG.READ refuses what makes no sense together`() throws {
        #expect(
            try refusal("LOG.READ", "STREAM", "cart-c", "PARTITION", "0")
                == "INVALID PARTITION: follows from the stream")
        #expect(
            try refusal("LOG.READ", "STREAM", "cart-c", "WAIT", "5")
                == "INVALID WAIT: is for a partition, not for a stream")
        #expect(try refusal("LOG.READ", "PARTITION", "1") == "INVALID PARTITION: must be 0")
        service.partitioning = Partitioning(count: 4)
        #expect(try refusal("LOG.READ", "PARTITION", "4") == "INVALID PARTITION: must be from 0 to 3")
        #expect(try refusal("LOG.READ", "COUNT", "1001")?.hasPrefix("INVALID COUNT: ") ?? false)
        for milliseconds in ["-1", "20001"] {
            #expect(try refusal("LOG.READ", "WAIT", milliseconds)?.hasPrefix("INVALID WAIT: ") ?? false)
        }
        for kinds in ["", "order.", "order.placed,", "a.b.c", "a b"] {
            #expect(try refusal("LOG.READ", "KIND", kinds)?.hasPrefix("INVALID KIND: ") ?? false)
        }
        #expect(try refusal("LOG.READ", "SINCE", "today")?.hasPrefix("INVALID SINCE: ") ?? false)
        #expect(try refusal("LOG.READ", "UNTIL", "1")?.hasPrefix("INVALID UNTIL: ") ?? false)
        #expect(service.readings.isEmpty)
    }

    // MARK: Orders

    @Test func `ORDERS goes on from a cursor of as many partitions`() throws {
        service.partitioning = Partitioning(count: 2)
        _ = try service.run("ORDERS OUTLET o CUSTOMER asha STATUS placed,ready AFTER 5-7 COUNT 3".words)
        let asked = try #require(service.orderQuestions.first)
        #expect(asked.question.cursor?.positions == [5, 7] && asked.question.count == 3 && asked.moment == nil)
        #expect(asked.question.filter.outlet == id("o") && asked.question.filter.customer == id("asha"))
        #expect(asked.question.filter.statuses == [.placed, .ready])
        for cursor in ["5", "5-7-9", "5-", "-5", "5-x", "5-+7", "5-99999999999999999999"] {
            #expect(try refusal("ORDERS", "AFTER", cursor) == "INVALID AFTER: is not a cursor of ORDERS")
        }
        _ = try service.run("ORDERS AT 1970-01-01T00:00:00Z".words)
        #expect(service.orderQuestions.last?.moment == .time(Timestamp(millisecondsSinceEpoch: 0)))
        #expect(service.orderQuestions.last?.question.count == 20)
    }

    @Test func `ORDERS of days are of those of the outlet`() throws {
        var details = OutletDetails(name: "O", currency: Currency("EUR")!, timeZone: "Europe/Berlin")
        details.dayStarts = 240
        service.details[id("o")] = details
        _ = try service.run("ORDERS OUTLET o FROM 2026-03-28".words)
        _ = try service.run("ORDERS OUTLET o FROM 2026-03-28 UNTIL 2026-03-30".words)
        let placed = service.orderQuestions.map { $0.question.filter.placed }
        #expect(placed.map { $0?.lowerBound.rfc3339 } == ["2026-03-28T03:00:00Z", "2026-03-28T03:00:00Z"])
        #expect(placed.map { $0?.upperBound.rfc3339 } == ["2026-03-29T02:00:00Z", "2026-03-31T02:00:00Z"])
        #expect(try refusal("ORDERS", "FROM", "2026-03-28")?.hasPrefix("INVALID FROM: needs an OUTLET") ?? false)
        for (words, field) in [
            (["UNTIL", "2026-03-28"], "UNTIL"), (["FROM", "2026-03-28", "UNTIL", "2026-03-27"], "UNTIL"),
            (["FROM", "2026-02-30"], "FROM"), (["FROM", "2026-01-01", "UNTIL", "2026-04-11"], "UNTIL"),
        ] {
            let refused = try failure { _ = try service.run(["ORDERS", "OUTLET", "o"] + words) }
            #expect(refused?.hasPrefix("INVALID \(field): ") ?? false, "\(words)")
        }
        #expect(try refusal("ORDERS", "OUTLET", "p", "FROM", "2026-03-28")?.hasPrefix("NOTFOUND ") ?? false)
    }

    @Test func `whoever is confined says whose orders they are`() throws {
        let (asha, merchant) = (Confinement(ofCustomer: id("asha")), User(id("m"), role: .merchant, grants: [id("o")]))
        #expect(try refusal("ORDERS", within: asha)?.hasPrefix("NOPERM ") ?? false)
        #expect(try refusal("ORDERS", "OUTLET", "o", within: asha)?.hasPrefix("NOPERM ") ?? false)
        #expect(try refusal("ORDERS", "CUSTOMER", "ben", within: asha)?.hasPrefix("NOPERM ") ?? false)
        #expect(try refusal("ORDERS", "CUSTOMER", "asha", within: asha) == nil)
        #expect(try refusal("ORDERS", within: merchant.confinement)?.hasPrefix("NOPERM ") ?? false)
        #expect(try refusal("ORDERS", "OUTLET", "p", within: merchant.confinement)?.hasPrefix("NOPERM ") ?? false)
        #expect(try refusal("ORDERS", "OUTLET", "o", within: merchant.confinement) == nil)
        #expect(service.orderQuestions.count == 2)
    }

    @Test(
        arguments: [
            ("", nil), ("AMOUNT 5", nil), ("LINE tea QTY 2", nil), ("LINE tea", "INVALID QTY: is missing"),
            ("QTY 2", "INVALID LINE: is missing"), ("AMOUNT 5 QTY 2", "INVALID AMOUNT stands alone"),
            ("AMOUNT 5 LINE tea", "INVALID AMOUNT stands alone"),
        ] as [(String, String?)])
    func `ORDER.REFUND gives back a part that is named whole`(words: String, refusal: String?) throws {
        let answer = try failure { _ = try service.run("ORDER.REFUND x CODE OTHER".words + words.words) }
        #expect(refusal.map { answer?.hasPrefix($0) ?? false } ?? (answer == nil))
        #expect(service.writes.count == (refusal == nil ? 1 : 0))
    }

    @Test func `an order is cancelled in one's own name`() throws {
        let words = ["ORDER.CANCEL", "x", "CODE", "OTHER", "BY"]
        func answer(_ party: String, _ role: Role) throws -> String? {
            try failure { _ = try service.run(words + [party], with: Rights(of: role)) }
        }
        #expect(try answer("customer", .customer) == nil)
        #expect(try answer("merchant", .merchant) == nil)
        #expect(try answer("merchant", .customer)?.hasPrefix("NOPERM ") ?? false)
        #expect(try answer("system", .admin)?.hasPrefix("INVALID BY: ") ?? false)
    }

    @Test func `an order is changed in one's own name, and agreed to by whoever the caller speaks for`() throws {
        func command(_ words: [String], _ role: Role) throws -> DomainCommand {
            _ = try service.run(words, with: Rights(of: role))
            return try #require(service.writes.last).command(.order(.unplaced))
        }
        let change = ["ORDER.CHANGE", "x", #"{"lines":[{"line":"pie","quantity":1}]}"#, "BY"]
        guard case .order(.propose(let edits, .customer, 600, _, _)) = try command(change + ["customer"], .customer)
        else {
            Issue.record("another command")
            return
        }
        #expect(edits == [.reduce(line: "pie", to: 1)])
        #expect(
            try failure { _ = try service.run(change + ["merchant"], with: Rights(of: .customer)) }?
                .hasPrefix("NOPERM ") ?? false)
        for (role, parties) in [(Role.customer, [Order.Party.customer]), (.merchant, [.merchant])] {
            guard case .order(.agree(_, parties)) = try command(["ORDER.AGREE", "x", "0123456789abcdef"], role),
                case .order(.decline(parties)) = try command(["ORDER.DECLINE", "x"], role)
            else {
                Issue.record("another party than \(role)")
                return
            }
        }
    }
}
