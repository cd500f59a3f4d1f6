import LineProtocol
import OracleScene
import SeededRandom
import Testing

@testable import LoadOracle

/// The oracle compared with the domain: neither knows the other, and both have to agree.
@Suite("The oracle of carts")
struct OracleCartTests {
    @Test("accepts whatever the domain answers, while owners change everything", arguments: UInt64(0)..<8)
    func accepts(seed: UInt64) throws {
        let play = try Play(seed: seed)
        for _ in 0..<300 { try play.step() }
        #expect(play.accepted > 50 && play.refused > 10, "accepted \(play.accepted), refused \(play.refused)")
    }

    @Test("notices a wrong count", arguments: UInt64(0)..<8)
    func counts(seed: UInt64) throws {
        for difference: Int64 in [-1, 1] {
            let play = try Play(seed: seed)
            let (call, reply) = try play.untilReply { if case .integer = $0 { true } else { false } }
            guard case .integer(let count) = reply else { return }
            play.trial.expectViolation(call, .integer(count + difference))
        }
    }

    @Test("notices a wrong refusal, and a refusal with a wrong code", arguments: UInt64(0)..<8)
    func refusals(seed: UInt64) throws {
        let codes = [
            "NOTFOUND", "CLOSED", "SOLDOUT", "WRONGOUTLET", "LIMIT", "STATE", "TOTALCHANGED", "CONFLICT", "INVALID",
            "IDMISMATCH", "CORRUPT", "ERR",
        ]
        for code in codes {
            let play = try Play(seed: seed)
            let (call, reply) = try play.untilReply { reply in
                if case .error(let other, _) = reply { other != code } else { true }
            }
            play.trial.expectViolation(call, .error(code: code, message: "\(reply)"))
        }
    }

    @Test("notices a command that was accepted and has to be refused", arguments: UInt64(0)..<8)
    func acceptances(seed: UInt64) throws {
        let play = try Play(seed: seed)
        let (call, _) = try play.untilReply { if case .error = $0 { true } else { false } }
        let done: Reply =
            if case .checkOut = call { .bulk(Array("order-1".utf8)) } else { .integer(Int64(play.customer.cart.count)) }
        play.trial.expectViolation(call, done)
    }

    /// A mistake in a document, whose sums are then adjusted to it.
    enum Mistake: CaseIterable {
        case version, nextVersion, status, cart, outlet, count, total, subtotal
        case lostLine, oneLineMore, order, quantity, price, name, item, note, lineTotal, problem
    }

    @Test("notices every mistake in a cart", arguments: Mistake.allCases)
    func documents(mistake: Mistake) throws {
        for seed in UInt64(0)..<8 {
            let play = try Play(seed: seed)
            try play.fillCart(hasOrder: false)
            let call = Call.cart(play.customer.cart.id)
            let document = try #require(play.server.document(of: play.customer.cart.id))
            // It has been read, so the price of each line is known.
            try play.trial.expectHeld(call, .bulk(RightServer.bytes(document)))
            let wrong = mistake.made(in: document)
            play.trial.expectViolation(call, .bulk(RightServer.bytes(wrong)))
            try play.trial.expectHeld(call, .bulk(RightServer.bytes(document)))
            play.trial.expectViolation(call, .null)
        }
    }

    @Test(
        "notices every mistake in an order",
        arguments: Mistake.allCases.filter { ![.outlet, .problem, .nextVersion].contains($0) })
    func orders(mistake: Mistake) throws {
        for seed in UInt64(0)..<8 {
            let play = try Play(seed: seed)
            try play.fillCart(hasOrder: true)
            guard case .checkedOut(let order) = play.customer.cart.status else { continue }
            let document = try #require(play.server.document(ofOrder: order))
            try play.trial.expectHeld(.order(order), .bulk(RightServer.bytes(document)))
            play.trial.expectViolation(.order(order), .bulk(RightServer.bytes(mistake.made(in: document))))
            play.trial.expectViolation(.order(order), .null)
        }
    }

    @Test(
        "does not take an answer that says nothing about the command for a mistake",
        arguments: ["BUSY", "UNAVAILABLE", "UNKNOWN"])
    func inability(code: String) throws {
        let play = try Play(seed: 1)
        let (call, reply) = try play.untilReply { if case .integer = $0 { true } else { false } }
        let verdict = try play.trial.judge(call, .error(code: code, message: ""))
        #expect(verdict == (code == "UNKNOWN" ? .unsettled : .failed(code: code)))
        // Nothing has happened, so the answer that the command would have had is still right.
        try play.trial.expectHeld(call, reply)
    }

    @Test("knows that a line may hold more than its menu allows, and cannot be checked out then")
    func tooManyAtCheckout() throws {
        let play = try Play(seed: 1)
        let cart = play.customer.cart.id
        // A line takes 12 of every seventh item; an item that cannot be ordered has no maximum of its own.
        let item = 10
        #expect(play.world.outlets[0].menu.item(item).maximum == 12)
        try play.commanded(.add(cart, outlet: 0, item: item, quantity: 12, note: nil), answered: .integer(12))
        try play.own(.suspend(outlet: 0, item: item))
        try play.commanded(.set(cart, line: "i10", quantity: 14), answered: .integer(14))
        try play.own(.resume(outlet: 0, item: item))
        let total = 14 * play.world.outlets[0].menu.item(item).price
        let call = Call.checkOut(cart, total: total)
        guard case .error("LIMIT", _) = play.server.answer(call) else {
            Issue.record("the domain has changed")
            return
        }
        try play.trial.expectHeld(call, .error(code: "LIMIT", message: ""))
        play.trial.expectViolation(call, .bulk(Array("order".utf8)))
    }
}

extension OracleCartTests.Mistake {
    fileprivate func made(in document: [String: Any]) -> [String: Any] {
        var document = document
        var lines = document["lines"] as? [[String: Any]] ?? []
        func number(_ key: String) -> Int { document[key] as? Int ?? 0 }
        switch self {
        case .version: document["version"] = number("version") - 1
        case .nextVersion: document["version"] = number("version") + 1
        case .status: document["status"] = "paid"
        case .cart: document["cart"] = "another"
        case .outlet: document["outlet"] = "another"
        case .count: document["count"] = number("count") + 1
        case .total: document["total"] = number("total") + 1
        case .subtotal: document["subtotal"] = number("subtotal") - 1
        case .lostLine: lines.removeLast()
        case .oneLineMore: lines.append(lines[0])
        case .order: lines.swapAt(0, 1)
        case .quantity: lines[0]["quantity"] = (lines[0]["quantity"] as? Int ?? 0) + 1
        case .price: lines[0]["unitPrice"] = (lines[0]["unitPrice"] as? Int64 ?? 0) + 1
        case .name: lines[0]["name"] = "Another Pie"
        case .item: lines[0]["item"] = "i59"
        case .note: lines[0]["note"] = "another"
        case .lineTotal: lines[0]["total"] = (lines[0]["total"] as? Int64 ?? 0) + 1
        case .problem: lines[0]["problem"] = ["code": "PRICECHANGED", "unitPrice": 77]
        }
        document["lines"] = lines
        guard [.lostLine, .oneLineMore, .quantity, .price].contains(self) else { return document }
        for index in lines.indices {
            let (quantity, price) = (lines[index]["quantity"] as? Int ?? 0, lines[index]["unitPrice"] as? Int64 ?? 0)
            lines[index]["total"] = price * Int64(quantity)
        }
        document["lines"] = lines
        document["count"] = lines.reduce(0) { $0 + ($1["quantity"] as? Int ?? 0) }
        document["total"] = lines.reduce(Int64(0)) { $0 + ($1["total"] as? Int64 ?? 0) }
        document["subtotal"] = document["total"]
        return document
    }
}
