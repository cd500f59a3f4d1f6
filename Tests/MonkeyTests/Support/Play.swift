import EventLoop
import LineClient
import LineProtocol
import SeededRandom
import Testing

@testable import Monkey

/// A customer of two outlets, whose owners change them meanwhile, and a server that is right.
///
/// Whatever somebody sends is decided by the server at some moment before the answer comes, and others are decided in
/// between.
@LoopActor
final class Play {
    private struct Change {
        var call: Call
        var floor: Int
        /// What the server answers; nil until it has decided.
        var reply: Reply?
    }

    let run: Run
    let server: RightServer
    let customer: Shopper
    private(set) var accepted = 0
    private(set) var refused = 0
    private var random: SeededGenerator
    private var changes: [Int: Change] = [:]

    init(seed: UInt64) throws {
        run = .unconnected(seed: seed)
        server = RightServer(run.world)
        customer = run.shoppers[0]
        random = SeededGenerator(seed: seed)
        try server.build(run.oracle, customer)
    }

    // MARK: Moves

    /// A command of the customer's, its answer judged.
    func step() throws {
        if customer.cart.isCheckedOut, random.chance(50) { customer.takeNewCart() }
        let call = command()
        let floor = floor(call)
        for _ in 0..<random.number(0..<3) { try owners() }
        let reply = server.answer(call)
        for _ in 0..<random.number(0..<3) { try owners() }
        switch try judge(call, reply, floor: floor) {
        case .accepted, .unchanged: accepted += 1
        case .refused: refused += 1
        case .failed, .unsettled: Issue.record("\(call) was answered \(reply)")
        }
        guard let document = server.document(of: customer.cart.id) else { return #expect(customer.cart.version == 0) }
        #expect(document["version"] as? Int == customer.cart.version)
        #expect(document["count"] as? Int == customer.cart.count)
    }

    /// Some steps, and then such an answer to another, while nobody changes anything.
    func untilReply(_ isWanted: (Reply) -> Bool) throws -> (Call, Reply) {
        for _ in 0..<random.number(20..<60) { try step() }
        while true {
            try settleOwners()
            if customer.cart.isCheckedOut, random.chance(50) { customer.takeNewCart() }
            let call = command()
            let reply = server.answer(call)
            if isWanted(reply) { return (call, reply) }
            _ = try judge(call, reply)
        }
    }

    /// Puts several lines into a new cart, some of which have problems by now, and checks them out if that is wanted.
    func fillCart(hasOrder: Bool) throws {
        customer.takeNewCart()
        while customer.cart.lines.count < 3 {
            let item = random.number(0..<30)
            try command(.add(customer.cart.id, outlet: 0, item: item, quantity: random.number(1..<4), note: nil))
            try command(.add(customer.cart.id, outlet: 0, item: item, quantity: 1, note: "no peas"))
        }
        guard hasOrder else {
            let item = try #require(ItemPlan.index(of: random.pick(customer.cart.lines).id.prefix { $0 != "~" }))
            return try own(
                random.chance(50) ? .price(outlet: 0, item: item, minor: 7) : .suspend(outlet: 0, item: item))
        }
        try command(.checkOut(customer.cart.id, total: customer.cart.agreeableTotal))
    }

    private func floor(_ call: Call) -> Int {
        (call.outlet.map { run.world.outlets[$0] } ?? customer.cart.outlet)?.settledCount ?? 0
    }

    func judge(_ call: Call, _ reply: Reply, floor: Int? = nil) throws -> Verdict {
        try run.oracle.judge(Flight(call, floor: floor ?? self.floor(call)), reply, of: customer)
    }

    /// A command of the customer's that nobody interferes with.
    func command(_ call: Call) throws {
        _ = try judge(call, server.answer(call))
    }

    func commanded(_ call: Call, answered expected: Reply) throws {
        let reply = server.answer(call)
        #expect(reply == expected)
        _ = try judge(call, reply)
    }

    // MARK: Judgements

    func expectHeld(_ call: Call, _ reply: Reply, _ place: SourceLocation = #_sourceLocation) throws {
        #expect(throws: Never.self, sourceLocation: place) { try judge(call, reply) }
    }

    func expectViolation(_ call: Call, _ reply: Reply, _ place: SourceLocation = #_sourceLocation) {
        #expect(throws: Violation.self, "\(call) answered \(reply.summary)", sourceLocation: place) {
            try judge(call, reply)
        }
    }

    // MARK: Commands

    private func command() -> Call {
        let cart = customer.cart
        let outlet = random.chance(90) ? 0 : 1
        let line = cart.lines.isEmpty || random.chance(10) ? "i\(random.number(0..<40))" : random.pick(cart.lines).id
        switch random.number(0..<100) {
        case 0..<55:
            return .add(
                cart.id, outlet: outlet, item: random.number(0..<32),
                quantity: random.pick([-1, 0, 1, 1, 1, 2, 2, 5, 12, 50, 99, 100]),
                note: random.pick([nil, nil, "no peas", "extra hot"]))
        case 55..<70:
            return .set(cart.id, line: line, quantity: random.pick([-1, 0, 1, 2, 5, 12, 13, 14, 50, 99, 100]))
        case 70..<76: return .remove(cart.id, line: line)
        case 76..<77: return .clear(cart.id)
        case 77..<83: return .count(cart.id)
        case 83..<93: return .cart(cart.id)
        default:
            if case .checkedOut(let order) = cart.status, random.chance(50) { return .order(order) }
            return .checkOut(cart.id, total: cart.agreeableTotal + (random.chance(10) ? 1 : 0))
        }
    }

    // MARK: Owners

    /// The owner of one of the outlets comes a step further with a change: it is sent, decided, or answered.
    private func owners() throws {
        let outlet = random.number(0..<2)
        guard var change = changes[outlet] else { return begin(ownersCall(outlet), outlet) }
        if let reply = change.reply {
            changes[outlet] = nil
            _ = try run.oracle.judge(Flight(change.call, floor: change.floor), reply, of: run.shoppers[1])
        } else {
            change.reply = server.answer(change.call)
            changes[outlet] = change
        }
    }

    private func begin(_ call: Call, _ outlet: Int) {
        changes[outlet] = Change(call: call, floor: run.world.outlets[outlet].settledCount)
        if let change = Oracle.change(call, run.world) { run.world.outlets[outlet].begin(change) }
    }

    /// A change from its beginning to its end.
    func own(_ call: Call) throws {
        try settleOwners()
        guard let outlet = call.outlet else { return }
        begin(call, outlet)
        try settleOwners()
    }

    private func settleOwners() throws {
        for (_, change) in changes {
            let reply = change.reply ?? server.answer(change.call)
            _ = try run.oracle.judge(Flight(change.call, floor: change.floor), reply, of: run.shoppers[1])
        }
        changes = [:]
    }

    private func ownersCall(_ outlet: Int) -> Call {
        let own = run.world.outlets[outlet]
        let item = random.number(0..<30)
        let extra = 30 + random.number(0..<2)
        switch random.number(0..<20) {
        case 0..<8: return .price(outlet: outlet, item: item, minor: Int64(random.number(100..<110)))
        case 8..<11: return .suspend(outlet: outlet, item: item)
        case 11..<15:
            let soldOut = own.changedItems.sorted().first { !own.current(item: $0).isAvailable }
            return .resume(outlet: outlet, item: soldOut.flatMap { own.current(item: $0).isListed ? $0 : nil } ?? item)
        case 15..<17: return own.current(.doors).isAvailable ? .close(outlet: outlet) : .open(outlet: outlet)
        default:
            return own.current(item: extra).isListed
                ? .unlist(outlet: outlet, item: extra) : .list(outlet: outlet, item: extra, before: nil)
        }
    }
}
