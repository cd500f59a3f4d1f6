import LineProtocol
import OracleScene
import SeededRandom
import Testing

@testable import LoadOracle

/// Guests and cooks at kitchens whose server makes no mistakes. Each has a step on its way at most, which the server
/// decides at some moment before the answer.
private final class KitchenPlay {
    private struct Flight {
        var call: Call
        var sent: UInt64
        var write: Int
        /// The server's answer; nil until it has decided.
        var reply: Reply?
    }

    let trial: Trial
    private(set) var answers: [String: Int] = [:]
    private(set) var orders: [String] = []
    private var random: SeededGenerator
    private var flights: [Int: Flight] = [:]

    init(seed: UInt64) throws {
        trial = try Trial(outlets: 1, items: 12, customers: 4, seed: seed, kitchens: KitchenTerms.kitchens)
        random = SeededGenerator(seed: seed)
    }

    /// Orders something by a quote, and returns the order.
    @discardableResult
    func order(kitchen: Int? = nil) throws -> String {
        let customer = trial.customer
        try trial.observe(.newCart(customer: customer.index))
        let outlet = trial.world.outlets[1 + (kitchen ?? random.number(0..<4))]
        while customer.cart.lines.count < 2 {
            try trial.ask(
                .add(
                    customer.cart.id, outlet: outlet.index, item: random.number(0..<14),
                    quantity: random.number(1..<6),
                    options: random.pick([
                        nil, "small,cheese*2", "large,bacon,cheese", "slaw", "fries,ketchup*2", "egg",
                    ]),
                    note: nil))
        }
        if random.chance(50) { try trial.ask(.tip(customer.cart.id, minor: Int64(random.number(0..<300)))) }
        if random.chance(50) { try choose(customer.cart) }
        if random.chance(30),
            let soldOut = customer.cart.lines.flatMap(\.chosen).map(\.id).first(where: {
                GroupPlan.spareOptions.contains($0)
            })
        {
            // Of what cannot be had there is no quote, and no order.
            try trial.own(.suspendOption(outlet: outlet.index, option: soldOut))
            try trial.ask(.quote(customer.cart.id))
            #expect(customer.quote == nil)
            #expect(
                try trial.ask(.checkOut(customer.cart.id, total: customer.cart.agreeableTotal))
                    == .refused(code: "SOLDOUT"))
            try trial.own(.resumeOption(outlet: outlet.index, option: soldOut))
        }
        if customer.cart.lacksTable {
            // The total is right, and the order is not.
            try trial.ask(.quote(customer.cart.id))
            #expect(
                try trial.ask(.checkOut(customer.cart.id, total: customer.cart.agreeableTotal))
                    == .refused(code: "REQUIRED"))
            try trial.ask(.service(customer.cart.id, name: "table", table: "t1"))
        }
        try trial.ask(.quote(customer.cart.id))
        let quote = try #require(customer.quote)
        #expect(try trial.ask(.checkOutQuote(customer.cart.id, quote: quote.digest)) == .accepted)
        guard case .checkedOut(let order) = customer.cart.status else { throw Violation(.order, "no order") }
        orders.append(order)
        for call in [
            Call.order(order), .cart(customer.cart.id), .quote(customer.cart.id), .kitchen(outlet: outlet.index),
        ] {
            try trial.ask(call)
        }
        return order
    }

    /// Says how the order is to be had, or what cannot be.
    private func choose(_ cart: CartModel) throws {
        for _ in 0..<random.number(1..<4) {
            let name = random.pick(["pickup", "delivery", "table"])
            let table = random.chance(40) ? random.pick(["t1", "t2"]) : nil
            try trial.ask(.service(cart.id, name: name, table: table))
            try trial.ask(random.pick([.quote(cart.id), .cart(cart.id)]))
        }
    }

    func model(_ order: String) throws -> OrderModel { try #require(trial.oracle.order(order)) }

    /// A step at random.
    private func step(_ order: OrderModel) -> OrderStep {
        let time = random.pick(["2999-01-01T00:00:00Z", Moment.text(day: day + 3, minute: 30)])
        let readyBy = Moment.text(day: day + 2, minute: 60 * random.number(0..<2))
        switch random.number(0..<19) {
        case 14...18: return change(order)
        case 0, 1: return .accept(readyBy: random.chance(50) ? nil : readyBy)
        case 2: return .reject(code: random.pick(["ITEMS", "BUSY"]))
        case 3: return .prepare
        case 4: return .ready
        case 5: return .complete
        case 6: return .delay(readyBy: time.hasPrefix("2999") ? readyBy : time)
        case 7: return .cancel(by: random.pick(["customer", "merchant"]), code: random.pick(["CUSTOMER", "ITEMS"]))
        case 8, 9:
            return .pay(
                reference: random.pick(["a", "b", "c"]),
                kind: random.pick(["authorised", "captured", "voided", "refunded", "chargedBack", "failed"]),
                minor: random.chance(50) ? order.total : order.total / 2,
                of: random.pick([nil, nil, "a", "b", "c"]))
        case 10 where order.canRefund: return .refund(.rest, code: "OTHER")
        case 11 where order.canRefund: return .refund(.amount(Int64(random.number(1..<900))), code: "OTHER")
        default:
            guard order.canRefund else { return .prepare }
            let line = random.pick(order.lines)
            return .refund(.units(line: line.id, quantity: random.number(1..<(line.quantity + 2))), code: "ITEMS")
        }
    }

    /// A change, or an answer to one.
    private func change(_ order: OrderModel) -> OrderStep {
        switch random.number(0..<6) {
        case 0: return .note
        case 1: return .decline(by: random.pick([nil, "merchant", "customer"]))
        case 2: return .agree(digest: order.proposedDigest ?? "0123456789abcdef")
        case 3 where order.canRefund: return .refund(.amount(1), code: "OTHER")
        default:
            guard order.canChange else { return .note }
            var edits: [OrderEdit] = []
            for line in order.lines where random.chance(40) {
                edits.append(
                    random.chance(30)
                        ? .replace(line: line.id, item: random.number(0..<14), quantity: random.number(1..<4))
                        : .leave(line: line.id, quantity: random.number(0..<(line.quantity + 1))))
            }
            if random.chance(30) { edits.append(.add(item: random.number(0..<14), quantity: random.number(1..<4))) }
            return .change(edits, by: random.pick(["merchant", "customer"]), within: random.pick([nil, 900]))
        }
    }

    private var day: Int { Int(trial.server.seconds / 86_400) }

    /// Somebody sends a step, the server decides it, or it is answered; or time passes.
    func move() throws {
        if orders.isEmpty || random.chance(3) { try order() }
        let customer = random.number(0..<3)
        guard var flight = flights[customer] else {
            let id = random.pick(orders.suffix(3).map(\.self))
            let call = Call.step(order: id, step(try model(id)))
            let sent = trial.tick()
            try trial.observe(.stepSent(customer: customer, call: call, at: sent))
            return flights[customer] = Flight(call: call, sent: sent, write: trial.write(call, of: customer))
        }
        if flight.reply == nil {
            flight.reply = trial.server.answer(flight.call, id: "\(customer)-\(flight.write)")
            return flights[customer] = flight
        }
        if random.chance(20), let id = orders.last {
            if let deadline = try model(id).deadline, [2, 3].contains(try model(id).outlet), random.chance(20) {
                try wait(until: deadline)
            }
            let outlet = try model(id).outlet
            try trial.ask(random.pick([.order(id), .kitchen(outlet: outlet), list(outlet)]))
        }
        flights[customer] = nil
        let verdict = try trial.judge(
            flight.call, flight.reply ?? .null, of: customer, sentAt: flight.sent, write: flight.write)
        if case .error(let code, _) = flight.reply { answers[code, default: 0] += 1 }
        answers["\(verdict)", default: 0] += 1
    }

    /// The next page of the list that the customer looks at, or the first one of another.
    private func list(_ outlet: Int) -> Call {
        guard let pages = trial.customer.pages, random.chance(80) else {
            let statuses = random.pick([[], ["placed", "accepted"], ["cancelled", "rejected"], ["completed"]])
            return .orders(Call.OrderList(outlet: outlet, statuses: statuses, count: random.number(1..<4)))
        }
        var list = pages.list
        list.after = pages.next
        return .orders(list)
    }

    /// Time passes, and every deadline until then is met.
    private func wait(until time: UInt64) throws {
        trial.wait(Double(time - min(time, trial.clock)) / 1e9 + 0.1)
        for id in orders {
            if let deadline = try model(id).deadline, deadline <= trial.clock { _ = trial.server.passTime(of: id) }
        }
    }

    func settle() throws {
        for (customer, flight) in flights.sorted(by: { $0.key < $1.key }) {
            let reply = flight.reply ?? trial.server.answer(flight.call, id: "\(customer)-\(flight.write)")
            try trial.judge(flight.call, reply, of: customer, sentAt: flight.sent, write: flight.write)
        }
        flights = [:]
        for id in orders { try trial.ask(.order(id)) }
        for outlet in 1...4 {
            try trial.ask(.kitchen(outlet: outlet))
            try trial.ask(.orders(Call.OrderList(outlet: outlet, count: 2)))
            while let pages = trial.customer.pages {
                var list = pages.list
                list.after = pages.next
                try trial.ask(.orders(list))
            }
        }
    }

    /// Sends a step and returns its right answer, without telling the oracle.
    func sent(_ call: Call, of customer: Int = 0) throws -> Reply {
        try trial.observe(.stepSent(customer: customer, call: call, at: trial.tick()))
        return trial.server.answer(call, id: "\(customer)-\(trial.write(call, of: customer))")
    }
}

/// The oracle compared with the domain and the documents of the server: neither knows the other.
@Suite("The oracle of orders")
struct OracleOrderTests {
    @Test(
        "accepts whatever the domain answers, while guests, cooks and time act at once, and the log of it",
        arguments: SeededGenerator.seeds.prefix(8))
    func accepts(seed: UInt64) throws {
        let play = try KitchenPlay(seed: seed)
        for _ in 0..<300 { try play.move() }
        try play.settle()
        try play.trial.audit()
        #expect(play.answers["accepted", default: 0] > 10 && play.answers["STATE", default: 0] > 3, "\(play.answers)")
    }

    @Test("notices another version, a refusal of what is possible, and another code", arguments: UInt64(0)..<6)
    func answers(seed: UInt64) throws {
        let steps: [OrderStep] = [
            .accept(readyBy: nil), .prepare, .refund(.amount(1), code: "OTHER"), .ready, .complete,
            .reject(code: "ITEMS"),
            .cancel(by: "customer", code: "CUSTOMER"), .pay(reference: "a", kind: "captured", minor: 5),
        ]
        for step in steps {
            for change in 0..<4 {
                let play = try KitchenPlay(seed: seed)
                let order = try play.order(kitchen: 0)
                let call = Call.step(order: order, step)
                let reply = try play.sent(call)
                let wrong: Reply
                switch (change, reply) {
                case (0, .integer(let version)): wrong = .integer(version + 1)
                case (1, .integer(let version)): wrong = .integer(version - 1)
                case (2, .error): wrong = .error(code: "LIMIT", message: "")
                case (3, .error): wrong = .integer(2)
                case (2, _): wrong = .error(code: "STATE", message: "")
                default: continue
                }
                #expect(throws: Violation.self, "\(call) answered \(wrong)") {
                    try play.trial.judge(call, wrong, of: 0)
                }
            }
        }
    }

    @Test("allows an answer or a refusal while a deadline passes, and only the one before and the other after it")
    func deadlines() throws {
        func accepting(after seconds: Double, _ reply: Reply) throws {
            let play = try KitchenPlay(seed: 3)
            // Waits for a second to be accepted.
            let order = try play.order(kitchen: 1)
            play.trial.wait(seconds)
            let call = Call.step(order: order, .accept(readyBy: nil))
            try play.trial.observe(.stepSent(customer: 0, call: call, at: play.trial.tick()))
            try play.trial.judge(call, reply, of: 0)
        }
        let refusal = Reply.error(code: "STATE", message: "")
        try accepting(after: 0.5, .integer(2))
        #expect(throws: Violation.self) { try accepting(after: 0.5, refusal) }
        try accepting(after: 1.5, .integer(2))
        try accepting(after: 1.5, refusal)
    }

    @Test("notices an order that ends by itself before its time, or not at all")
    func endings() throws {
        func seeing(after seconds: Double, hasEnded: Bool, isSilent: Bool = false) throws {
            let play = try KitchenPlay(seed: 3)
            let order = try play.order(kitchen: 1)
            // A server that answers is there, and one that is silent may be away.
            for _ in 0..<(isSilent ? 0 : Int(seconds / 0.5)) {
                play.trial.wait(0.5)
                try play.trial.ask(.count(play.trial.customer.cart.id))
            }
            if isSilent { play.trial.wait(seconds) }
            if hasEnded { #expect(play.trial.server.passTime(of: order)) }
            try play.trial.ask(.order(order))
        }
        try seeing(after: 2, hasEnded: true)
        try seeing(after: 0.5, hasEnded: false)
        try seeing(after: 5, hasEnded: false)
        try seeing(after: 20, hasEnded: false, isSilent: true)
        #expect(throws: Violation.self) { try seeing(after: 0.5, hasEnded: true) }
        #expect(throws: Violation.self) { try seeing(after: 20, hasEnded: false) }
    }

    @Test("notices every number that is another in an order, a kitchen and a quote", arguments: UInt64(0)..<4)
    func documents(seed: UInt64) throws {
        let play = try KitchenPlay(seed: seed)
        let order = try play.order(kitchen: Int(seed))
        for (call, text) in [
            (Call.order(order), play.trial.server.order(order) ?? []),
            (.kitchen(outlet: 1 + Int(seed)), play.trial.server.kitchen(1 + Int(seed))),
        ] {
            let document = try #require(JSON(text))
            for (path, wrong) in document.changedNumbers() {
                let play = try KitchenPlay(seed: seed)
                try play.order(kitchen: Int(seed))
                #expect(throws: Violation.self, "\(call) with another \(path)") {
                    try play.trial.judge(call, .bulk(wrong.bytes))
                }
            }
        }
    }

    /// What may be wrong with the second page of a list.
    enum Mistake: CaseIterable {
        case lostOrder, lostLastOrder, repeatedOrder, otherOrder, otherStatus, otherOutlet, otherTotal, tooMany,
            noOrders
    }

    @Test("notices an order that a list lacks, repeats or has elsewhere, on any page", arguments: Mistake.allCases)
    func lists(mistake: Mistake) throws {
        let play = try KitchenPlay(seed: 1)
        for _ in 0..<7 { try play.order(kitchen: 0) }
        var list = Call.OrderList(outlet: 1, count: 3)
        try play.trial.ask(.orders(list))
        let first = try #require(JSON(play.trial.server.orders(list)))["orders"]?.array ?? []
        list.after = try #require(play.trial.customer.pages?.next)
        let right = try #require(JSON(play.trial.server.orders(list)))
        var rows = right["orders"]?.array ?? []
        #expect(first.count == 3 && rows.count == 3)
        switch mistake {
        case .lostOrder: rows.remove(at: 1)
        case .lostLastOrder: rows.removeFirst()
        case .repeatedOrder: rows[0] = first[2]
        case .otherOrder: rows.swapAt(0, 1)
        case .otherStatus: rows[1]["status"] = .string("completed")
        case .otherOutlet: rows[1]["outlet"] = .string("another")
        case .otherTotal: rows[1]["total"] = .number(1)
        case .tooMany: rows.append(first[0])
        case .noOrders: rows = []
        }
        var wrong = right
        wrong["orders"] = .array(rows)
        // An empty page may be one for which the server has looked at enough orders.
        if mistake == .noOrders { wrong["next"] = .null }
        play.trial.expectViolation(.orders(list), .bulk(wrong.bytes))
    }

    @Test("knows nothing of an order that was placed while a list was asked for, but that it is there once")
    func listsWhileOrdersGoOn() throws {
        let play = try KitchenPlay(seed: 2)
        for _ in 0..<3 { try play.order(kitchen: 0) }
        let list = Call.orders(Call.OrderList(outlet: 1, count: 9))
        let before = play.trial.server.answer(list)
        let sent = play.trial.tick()
        try play.order(kitchen: 0)
        for reply in [before, play.trial.server.answer(list)] {
            #expect(throws: Never.self) { try play.trial.judge(list, reply, sentAt: sent) }
        }
        play.trial.expectViolation(list, before)
        // Nor of those that become something else meanwhile.
        let accepted = Call.orders(Call.OrderList(outlet: 1, statuses: ["accepted"], count: 9))
        let order = try #require(play.orders.last)
        let none = play.trial.server.answer(accepted)
        let step = Call.step(order: order, .accept(readyBy: nil))
        let reply = try play.sent(step)
        let one = play.trial.server.answer(accepted)
        for reply in [none, one] { try play.trial.expectHeld(accepted, reply) }
        try play.trial.judge(step, reply, of: 0)
        try play.trial.expectHeld(accepted, one)
        play.trial.expectViolation(accepted, none)
    }

    @Test("records lists, and reads them again")
    func recordedLists() throws {
        let world = try Trial().world
        for list in [
            Call.OrderList(outlet: 1), .init(outlet: 0, statuses: ["placed", "ready"], after: "12-7", count: 3),
        ] {
            let call = Call.orders(list)
            #expect(Call(recorded: call.recorded(world), world) == call)
        }
        for words in [["COUNT"], ["COUNT", "x"], [], ["STATUS", "placed"], ["COUNT", "3", "SINCE", "1"]] {
            #expect(Call(recorded: ["ORDERS", "OUTLET", world.outlets[0].id] + words, world) == nil)
        }
    }

    @Test("reads and writes times")
    func times() {
        #expect(Moment.milliseconds("1970-01-01T00:00:00Z") == 0)
        #expect(Moment.milliseconds("2026-03-01T12:00:00.250Z") == 1_772_366_400_250)
        #expect(Moment.milliseconds("2024-02-29T23:59:59.5Z") == 1_709_251_199_500)
        #expect(Moment.milliseconds("soon") == nil && Moment.milliseconds("2026-03-01") == nil)
        for day in stride(from: 0, to: 60_000, by: 17) {
            #expect(Moment.milliseconds(Moment.text(day: day, minute: 61)) == Int64(day * 86_400 + 3_660) * 1_000)
        }
        #expect(Moment.text(day: 20_513, minute: 1_500) == "2026-03-02T01:00:00Z")
    }
}

extension JSON {
    /// The document with one of its numbers changed, for each.
    fileprivate func changedNumbers(_ path: String = "") -> [(path: String, document: JSON)] {
        switch self {
        case .number(let number): return [(path, .number(number + 1))]
        case .array(let elements):
            return elements.enumerated().flatMap { index, element in
                element.changedNumbers("\(path)/\(index)").map { path, changed in
                    var copy = elements
                    copy[index] = changed
                    return (path, .array(copy))
                }
            }
        case .object(let members):
            return members.sorted { $0.key < $1.key }.flatMap { key, value in
                value.changedNumbers("\(path)/\(key)").map { path, changed in
                    var copy = members
                    copy[key] = changed
                    return (path, .object(copy))
                }
            }
        case .null, .bool, .string: return []
        }
    }

    fileprivate var bytes: [UInt8] { Array(text().utf8) }

    private func text() -> String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let number): "\(Int64(number))"
        case .string(let text): "\"\(text)\""
        case .array(let elements): "[\(elements.map { $0.text() }.joined(separator: ","))]"
        case .object(let members): "{\(members.map { "\"\($0.key)\":\($0.value.text())" }.joined(separator: ","))}"
        }
    }
}
