import Foundation
import LineProtocol
import OracleScene
import SeededRandom
import Testing
import TextFormats

@testable import LoadOracle

/// A customer of two outlets, whose owners change them meanwhile, and a server that makes no mistakes.
///
/// The server decides every call at some moment before the answer; other calls are decided in between.
final class Play {
    private struct Change {
        var call: Call
        var sent: UInt64
        var write: Int
        /// The server's answer; nil until it has decided.
        var reply: Reply?
    }

    let trial: Trial
    private(set) var accepted = 0
    private(set) var refused = 0
    private var random: SeededGenerator
    private var changes: [Int: Change] = [:]
    /// The documents that subscribers have been sent, by channel.
    private var told: [String: (revision: Int64, document: [UInt8])] = [:]

    init(seed: UInt64) throws {
        trial = try Trial(seed: seed)
        random = SeededGenerator(seed: seed)
    }

    var world: World { trial.world }
    var server: RightServer { trial.server }
    var customer: Customer { trial.customer }

    // MARK: Moves

    /// A command of the customer, whose answer is judged.
    func step() throws {
        if customer.cart.isCheckedOut, random.chance(50) { try takeNewCart() }
        let call = command()
        let sent = trial.tick()
        for _ in 0..<random.number(0..<3) { try owners() }
        let write = trial.write(call, of: customer.index)
        let reply = server.answer(call, id: "\(customer.index)-\(write)")
        for _ in 0..<random.number(0..<3) { try owners() }
        switch try trial.judge(call, reply, sentAt: sent, write: write) {
        case .accepted, .unchanged: accepted += 1
        case .refused: refused += 1
        case .failed, .unsettled: Issue.record("\(call) was answered \(reply)")
        }
        guard let document = server.document(of: customer.cart.id) else { return #expect(customer.cart.version == 0) }
        #expect(document["version"] as? Int == customer.cart.version)
        #expect(document["count"] as? Int == customer.cart.count)
    }

    func takeNewCart() throws { try trial.observe(.newCart(customer: customer.index)) }

    /// Some steps, and then the given answer to another, while nobody changes anything.
    func untilReply(_ isWanted: (Reply) -> Bool) throws -> (Call, Reply) {
        for _ in 0..<random.number(20..<60) { try step() }
        while true {
            try settleOwners()
            if customer.cart.isCheckedOut, random.chance(50) { try takeNewCart() }
            let call = command()
            let reply = server.answer(call)
            if isWanted(reply) { return (call, reply) }
            try trial.judge(call, reply)
        }
    }

    /// Puts several lines into a new cart, some of which have problems by now, and checks it out if requested.
    func fillCart(hasOrder: Bool) throws {
        try takeNewCart()
        while customer.cart.lines.count < 3 {
            let item = random.number(0..<30)
            try trial.ask(.add(customer.cart.id, outlet: 0, item: item, quantity: random.number(1..<4), note: nil))
            try trial.ask(.add(customer.cart.id, outlet: 0, item: item, quantity: 1, note: "no peas"))
        }
        guard hasOrder else {
            let item = try #require(
                ItemPlan.index(of: random.pick(customer.cart.lines).id.prefix { $0 != "~" && $0 != "+" }))
            return try own(
                random.chance(50) && !world.outlets[0].menu.item(item).hasSizes
                    ? .price(outlet: 0, item: item, minor: 7) : .suspend(outlet: 0, item: item))
        }
        try trial.ask(.checkOut(customer.cart.id, total: customer.cart.agreeableTotal))
    }

    func commanded(_ call: Call, answered expected: Reply) throws {
        let reply = server.answer(call)
        #expect(reply == expected)
        try trial.judge(call, reply)
    }

    // MARK: Commands

    private func command() -> Call {
        let cart = customer.cart
        let outlet = random.chance(90) ? 0 : 1
        let line = cart.lines.isEmpty || random.chance(10) ? "i\(random.number(0..<40))" : random.pick(cart.lines).id
        switch random.number(0..<100) {
        case 0..<47:
            let item = random.number(0..<32)
            return .add(
                cart.id, outlet: outlet, item: item,
                quantity: random.pick([-1, 0, 1, 1, 1, 2, 2, 5, 12, 50, 99, 100]),
                options: options(world.outlets[outlet].menu.item(item)),
                note: random.pick([nil, nil, "no peas", "extra hot"]))
        case 47..<55:
            let item = ItemPlan.index(of: line.prefix { $0 != "~" && $0 != "+" }) ?? 0
            let options = random.chance(70) ? options(world.outlets[0].menu.item(item)) : nil
            return .edit(cart.id, line: line, options: options, note: random.chance(50) ? "extra hot" : nil)
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

    /// Options in any order, which may be no choice at all.
    private func options(_ item: ItemPlan) -> String? {
        let ids = ["small", "large", "cheese", "cheese", "bacon", "egg", "fries", "slaw", "ketchup", "aioli", "none"]
        var taps: [String] = []
        if item.hasSizes { taps.append(random.pick(["small", "large"])) }
        if item.groups.contains(GroupPlan.sides) { taps += random.pick([["fries", "ketchup"], ["slaw"]]) }
        for _ in 0..<random.number(0..<3) where !item.groups.isEmpty || random.chance(5) {
            taps.append(random.pick(ids))
        }
        taps.shuffle(using: &random)
        return taps.isEmpty ? nil : taps.joined(separator: ",")
    }

    // MARK: Owners

    /// The owner of one of the outlets makes a step with a change: it is sent, decided, or answered.
    private func owners() throws {
        let outlet = random.number(0..<2)
        guard var change = changes[outlet] else { return try begin(ownersCall(outlet), outlet) }
        guard change.reply != nil else {
            decide(&change, outlet)
            return changes[outlet] = change
        }
        try settle(change, outlet)
    }

    private func begin(_ call: Call, _ outlet: Int) throws {
        changes[outlet] = Change(call: call, sent: trial.tick(), write: trial.write(call, of: outlet))
        try trial.observe(.changeSent(call))
    }

    private func decide(_ change: inout Change, _ outlet: Int) {
        if change.reply == nil { change.reply = server.answer(change.call, id: "\(outlet)-\(change.write)") }
    }

    private func settle(_ change: Change, _ outlet: Int) throws {
        var change = change
        decide(&change, outlet)
        changes[outlet] = nil
        try trial.judge(change.call, change.reply ?? .null, of: outlet, sentAt: change.sent, write: change.write)
    }

    /// A change from its beginning to its end.
    func own(_ call: Call) throws {
        try settleOwners()
        guard let outlet = call.outlet else { return }
        try begin(call, outlet)
        try settleOwners()
    }

    func settleOwners() throws {
        for (outlet, change) in changes.sorted(by: { $0.key < $1.key }) { try settle(change, outlet) }
    }

    private func ownersCall(_ outlet: Int) -> Call {
        let own = world.outlets[outlet]
        let item = random.number(0..<30)
        let extra = 30 + random.number(0..<2)
        switch random.number(0..<30) {
        case 22..<26:
            let (option, least) = random.pick(GroupPlan.pricedOptions)
            return .priceOption(outlet: outlet, option: option, minor: Int64(least + random.number(0..<3)))
        case 26..<30:
            if let soldOut = own.soldOutOption { return .resumeOption(outlet: outlet, option: soldOut) }
            return .suspendOption(outlet: outlet, option: random.pick(GroupPlan.spareOptions))
        case 0..<8 where !own.menu.item(item).hasSizes:
            return .price(outlet: outlet, item: item, minor: Int64(random.number(100..<110)))
        case 0..<11: return .suspend(outlet: outlet, item: item)
        case 11..<15:
            let soldOut = own.changedItems.sorted().first { !own.current(item: $0).isAvailable }
            return .resume(outlet: outlet, item: soldOut.flatMap { own.current(item: $0).isListed ? $0 : nil } ?? item)
        case 15..<17: return own.current(.doors).isAvailable ? .close(outlet: outlet) : .open(outlet: outlet)
        case 17..<19: return own.current(.listing).isListed ? .hide(outlet: outlet) : .show(outlet: outlet)
        default:
            return own.current(item: extra).isListed
                ? .unlist(outlet: outlet, item: extra) : .list(outlet: outlet, item: extra, before: nil)
        }
    }

    // MARK: Messages

    private func document(_ channel: String) -> (revision: Int64, document: [UInt8]) {
        if let outlet = trial.oracle.outlet(ofChannel: channel) {
            return (server.revision(outlet.index), RightServer.bytes(server.home(outlet.index)))
        }
        guard let cart = trial.oracle.cart(ofChannel: channel), let document = server.document(of: cart) else {
            return (0, Array("null".utf8))
        }
        return (Int64(document["version"] as? Int ?? 0), RightServer.bytes(document))
    }

    private func send(_ channel: String, from: Int64, to: Int64, _ patch: [UInt8]) throws {
        let text = #"{"from":\#(from),"to":\#(to),"patch":\#(String(decoding: patch, as: UTF8.self))}"#
        try trial.observe(.message(connection: 0, channel: channel, at: trial.tick(), payload: Array(text.utf8)))
    }

    private func subscribe(_ channel: String) throws {
        try trial.observe(.subscription(connection: 0, channel: channel, isOn: true))
        let now = document(channel)
        told[channel] = now
        try send(channel, from: now.revision, to: now.revision, Array("[]".utf8))
    }

    /// Sends subscribers what has changed.
    private func tell() throws {
        for (channel, before) in told.sorted(by: { $0.key < $1.key }) {
            let now = document(channel)
            guard now.document != before.document else { continue }
            told[channel] = now
            // A version does not show problems: the whole cart is sent if they changed.
            let patch =
                now.revision == before.revision
                ? JSONPatch.replacement(with: now.document)
                : try JSONPatch.bytes(from: before.document, to: now.document)
            try send(channel, from: before.revision, to: now.revision, patch)
        }
    }

    /// A whole run with everything in it, including the reading of the log.
    func run(steps: Int) throws {
        try trial.observe(.loadBegan(at: trial.tick()))
        for outlet in 0..<2 { try subscribe("home:\(world.outlets[outlet].id)") }
        for step in 0..<steps {
            try self.step()
            if step % 7 == 3 {
                let channel = "cart:\(world.cartName(customer.cart.id))"
                if told[channel] == nil { try subscribe(channel) }
            }
            if random.chance(30) { try trial.ask(.home(outlet: random.number(0..<2), since: nil, cart: nil)) }
            if random.chance(40) { try tell() }
        }
        try settleOwners()
        try tell()
        for outlet in 0..<2 { try trial.ask(.home(outlet: outlet, since: nil, cart: nil)) }
        for call in [Call.cart(customer.cart.id), .count(customer.cart.id)] { try trial.ask(call) }
        try trial.observe(.messagesAwaited(at: trial.tick()))
        try trial.audit()
    }
}
