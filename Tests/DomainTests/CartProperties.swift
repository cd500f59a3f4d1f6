import Domain
import SeededRandom
import Testing

@Suite struct CartProperties {
    @Test(arguments: SeededGenerator.seeds)
    func `accepted commands can happen, keep the rules, and their events give the count`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // The maximum of each item never changes here, so a line that grew by additions alone stays within it.
        let limits = Dictionary(uniqueKeysWithValues: Cart.Command.items.map { ($0, random.pick([1, 5, 99])) })
        var state = Cart.initial
        var count = 0
        var linesSet: Set<Text> = []
        for _ in 0..<300 {
            let command = Cart.Command.random(&random, limits)
            let reasons = command.reasonsAgainst(state, limits)
            guard let events = Cart.events(of: command, in: state, unless: reasons) else { continue }
            state = try Cart.state(after: events, from: state)
            count += events.reduce(0) { $0 + $1.countDelta }
            if case .set(let line, _, _) = command { linesSet.insert(line) }

            #expect(state.count == count)
            guard let lines = state.lines else { continue }
            #expect((1...Cart.maximumLines).contains(lines.count))
            #expect(Set(lines.map(\.id)).count == lines.count)
            #expect(lines.reduce(0) { $0 + $1.quantity } == count)
            for line in lines {
                #expect((1...99).contains(line.quantity))
                if case .plain = line.note { #expect(state.contents?.customer == nil) }
                if case .sealed = line.note { #expect(state.contents?.customer != nil) }
                if !linesSet.contains(line.id) { #expect(line.quantity <= limits[line.item]!) }
            }
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `the total shown is the total that checks out while prices stand`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var state = Cart.initial
        for item in Cart.Command.items.shuffled(using: &random) {
            let price = Amount(minorUnits: .random(in: 0...1_000, using: &random))
            let quantity = Int.random(in: 1...99, using: &random)
            let addition = Cart.Addition(outlet: "o", item: item, quantity: quantity, offer: .sample(price: price))
            state = try Cart.state(after: Cart.decide(.add(addition), in: state), from: state)
        }
        guard case .filled(let contents) = state else {
            Issue.record("empty")
            return
        }
        let offers = Dictionary(
            uniqueKeysWithValues: contents.lines.map { ($0.id, Offer.sample(price: $0.unitPrice)) })
        let total = try contents.total()
        let checkOut = Cart.CheckOut(order: "order-1", agreement: .total(total), offers: offers)
        #expect(
            try Cart.decide(.checkOut(checkOut), in: state)
                == [.checkedOut(order: "order-1", lines: contents.lines, total: total)])
    }
}

extension Cart.State {
    fileprivate var lines: [CartLine]? {
        switch self {
        case .empty: nil
        case .filled(let contents), .checkingOut(let contents, _), .checkedOut(let contents, _): contents.lines
        }
    }
}

extension Cart.Event {
    /// The change of the count according to the event alone.
    fileprivate var countDelta: Int {
        switch self {
        case .itemAdded(let line, _, _, _): line.quantity
        case .quantityChanged(_, let from, let to): to - from
        case .lineRemoved(_, let quantity): -quantity
        case .cleared(let count): -count
        case .lineEdited, .tipSet, .serviceChosen, .codeAdded, .codeRemoved, .checkedOut, .checkoutBegun,
            .checkoutRefused:
            0
        }
    }
}

extension Cart.Command {
    fileprivate static let items = (0..<60).map { Identifier("i\($0)")! }

    fileprivate static func random(_ random: inout SeededGenerator, _ limits: [Identifier: Int]) -> Cart.Command {
        let item = random.pick(items)
        switch Int.random(in: 0..<200, using: &random) {
        case 0: return .clear
        case 2:
            return .chooseService(
                Cart.ServiceChoice(
                    random.pick(ServiceKind.allCases), table: random.pick([nil, nil, "4"]),
                    offered: random.pick([[], [.pickup, .table]])))
        case 3: return .tip(random.pick([0, 1, 500, -1]))
        case 4..<10:
            return .edit(
                Cart.Edit(
                    line: Text(item.rawValue), note: random.pick([nil, .some(nil), "hot"]),
                    offer: .sample(price: 0, maxQuantity: limits[item]!).with(randomOptions(&random))))
        case 1: return .checkOut(Cart.CheckOut(order: "order-1", agreement: .total(0), offers: freeOffers))
        case 10..<20: return .remove(line: Text(item.rawValue))
        case 20..<50: return .set(line: Text(item.rawValue), quantity: random.pick([-1, 0, 1, 2, 99, 100, .max]))
        default:
            return .add(
                Cart.Addition(
                    outlet: random.chance(95) ? "o" : "p", item: item,
                    quantity: random.pick([-1, 0, 1, 1, 1, 2, 5, 50, 99, 100, .max]),
                    note: random.pick([nil, nil, "hot", "cold", .sealed("x"), .sealed("y")]),
                    customer: random.pick([nil, nil, nil, "asha", "asha", "ben"]),
                    offer: random.pick([
                        Offer.sample(price: 0, maxQuantity: limits[item]!),
                        .sample(price: 0, maxQuantity: limits[item]!),
                        .soldOut(until: nil),
                    ]).with(randomOptions(&random))))
        }
    }

    /// Every reason to refuse it. All prices are 0.
    fileprivate func reasonsAgainst(_ cart: Cart.State, _ limits: [Identifier: Int]) -> Set<Rejection.Code> {
        if case .checkedOut = cart { return [.state] }
        let contents = cart.contents
        let lines = contents?.lines ?? []
        var reasons: Set<Rejection.Code> = []
        func check(_ note: PersonalText?, of customer: Identifier?) {
            if case .plain = note, customer != nil { reasons.insert(.invalid) }
            if case .sealed = note, customer == nil { reasons.insert(.invalid) }
        }
        func options(of offer: Offer) -> [LineOption] {
            if case .available(let item) = offer { item.options } else { [] }
        }
        switch self {
        case .add(let addition):
            if let contents {
                if contents.outlet != addition.outlet { reasons.insert(.wrongOutlet) }
                if let customer = addition.customer {
                    let isAnother = contents.customer.map { $0 != customer } ?? false
                    let hasOpenNote = lines.contains { if case .plain = $0.note { true } else { false } }
                    if isAnother || hasOpenNote { reasons.insert(.state) }
                }
            }
            check(addition.note, of: addition.customer ?? contents?.customer)
            if case .soldOut = addition.offer { reasons.insert(.soldOut) }
            let same = lines.first {
                $0.item == addition.item && $0.options == options(of: addition.offer) && $0.note == addition.note
            }
            let most = limits[addition.item]! - (same?.quantity ?? 0)
            if addition.quantity < 1 || addition.quantity > most || same == nil && lines.count == Cart.maximumLines {
                reasons.insert(.limit)
            }
        case .set(let id, let quantity, _):
            if !lines.contains(where: { $0.id == id }) { reasons.insert(.notFound) }
            if !(0...99).contains(quantity) { reasons.insert(.limit) }
        case .remove(let id): if !lines.contains(where: { $0.id == id }) { reasons.insert(.notFound) }
        case .clear, .conclude: break
        case .edit(let edit):
            guard let old = lines.first(where: { $0.id == edit.line }) else { return [.notFound] }
            let note = edit.note ?? old.note
            check(note, of: contents?.customer)
            let joined = lines.first {
                $0.id != old.id && $0.item == old.item && $0.options == options(of: edit.offer) && $0.note == note
            }
            let isSame = old.options == options(of: edit.offer) && old.note == note
            let quantity = old.quantity + (joined?.quantity ?? 0)
            if !isSame, quantity > max(limits[old.item]!, old.quantity) { reasons.insert(.limit) }
        case .tip(let amount): reasons = lines.isEmpty ? [.state] : amount < .zero ? [.invalid] : []
        case .addCode(_, let isKnown): reasons = lines.isEmpty ? [.state] : isKnown ? [] : [.promo]
        case .removeCode: reasons = lines.isEmpty ? [.state] : []
        case .chooseService(let choice):
            if !choice.offered.contains(choice.service) { reasons.insert(.invalid) }
            if choice.table != nil, choice.service != .table { reasons.insert(.invalid) }
            if lines.isEmpty { reasons = [.state] }
        case .checkOut(let checkOut):
            // It has offers for lines without options and notes.
            if lines.contains(where: { checkOut.offers[$0.id] == nil }) { reasons.insert(.notFound) }
            if contents?.tip != .zero { reasons.insert(.totalChanged) }
            // It knows of no services.
            if contents?.service != nil { reasons.insert(.required) }
            if lines.isEmpty { reasons = [.state] }
        }
        return reasons
    }

    private static func randomOptions(_ random: inout SeededGenerator) -> [Identifier] {
        random.pick([[], [], ["a"], ["a", "b"]])
    }

    private static let freeOffers = Dictionary(
        uniqueKeysWithValues: items.map { (Text($0.rawValue), Offer.sample(price: 0)) })
}
