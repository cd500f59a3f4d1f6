import Domain
import SeededRandom
import Testing

/// Events as a damaged or forged log might hold them: with few ids, so that some are possible, and with numbers at
/// the machine's limits.
@Suite struct ImpossibleHistoryProperties {
    private static let steps = 200

    @Test(arguments: SeededGenerator.seeds)
    func `outlets never trap`(_ seed: UInt64) throws {
        try check(Outlet.self, seed, Outlet.Event.random, Outlet.Command.random)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `menus never trap`(_ seed: UInt64) throws {
        try check(Menu.self, seed, Menu.Event.random, Menu.Command.random) { state in
            for item in ["a", "b", "c"] as [Identifier] {
                for chosen in [[], [ChosenOption("a")], [ChosenOption("b", units: .max), ChosenOption("c", units: 2)]] {
                    _ = state.offer(of: item, with: chosen, in: .inr, now: 0)
                    _ = state.offer(of: item, with: chosen, for: .table, in: .inr, now: 0)
                }
            }
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `carts never trap`(_ seed: UInt64) throws {
        try check(Cart.self, seed, Cart.Event.random, Cart.Command.random) { state in
            _ = state.count
            guard case .filled(let contents) = state else { return }
            _ = try? contents.total()
            let terms = PricingTerms(
                taxIncluded: seed.isMultiple(of: 2), taxes: [.init(id: "vat", name: "VAT", rate: .sample(8_875))],
                service: .init(rate: .sample(12_500), tax: "vat"), delivery: .init(299, freeFrom: 1_000))
            let promotions = [
                Promotion(id: "a", title: "A", on: .items, .percent(.sample(50_000)), buy: 1),
                Promotion(id: "b", title: "B", on: .order, .amount(100)),
            ].map { Promotion.Candidate($0, lines: contents.lines.map { _ in true }) }
            _ = try? Quote(
                of: contents, offers: contents.lines.map { _ in .noItem }, terms: terms, promotions: promotions, at: 0)
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `promotions never trap`(_ seed: UInt64) throws {
        func promotion(_ random: inout SeededGenerator) -> Promotion {
            Promotion(
                id: .random(&random), title: random.pick(["A", ""]), on: random.pick(Promotion.Target.allCases),
                random.pick([.amount(random.hostileAmount()), .price(random.hostileAmount()), .amount(1)]),
                of: random.pick([.all, .init(items: ["a"])]), buy: random.pick([0, 1, random.hostileInt()]),
                get: random.pick([1, random.hostileInt()]), minimum: random.pick([nil, random.hostileAmount()]),
                code: random.pick([nil, "TEN", "é"]), limit: random.pick([nil, 1, Int64(random.hostileInt())]),
                cap: random.pick([nil, random.hostileAmount()]))
        }
        let line = CartLine(id: "a", item: "a", name: "A", quantity: 3, unitPrice: 500)
        try check(
            Promotions.self, seed,
            { random in
                switch Int.random(in: 0..<10, using: &random) {
                case 0, 1: .ended(.random(&random))
                case 2: .spent(.random(&random))
                case 3: .resumed(.random(&random))
                default: .put(promotion(&random))
                }
            },
            { random in
                switch Int.random(in: 0..<10, using: &random) {
                case 0, 1: .end(.random(&random))
                case 2: .followStock([StockChange(.promotion(.random(&random)), isSoldOut: random.chance(50))])
                default: .put(promotion(&random))
                }
            }
        ) { state in
            _ = Discounts(
                state.list.map { Promotion.Candidate($0, lines: [true]) },
                off: .init([line], subtotal: 1_500, delivery: 300, codes: ["TEN"], at: 0))
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `orders never trap`(_ seed: UInt64) throws {
        try check(Order.self, seed, Order.Event.random, Order.Command.random) { state in
            _ = (state.book?.placement.count, state.book?.deadline, state.book?.promise, state.book?.balance)
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `supplies never trap`(_ seed: UInt64) throws {
        try check(Supply.self, seed, Supply.Event.random, Supply.Command.random) { state in
            _ = Supply.changes(by: [.stocked(.item("a"), left: 0)], in: state)
        }
    }

    /// Any event succeeds, or throws and changes nothing; whatever is decided after it can happen.
    private func check<D: Decider>(
        _ decider: D.Type, _ seed: UInt64, _ event: (inout SeededGenerator) -> D.Event,
        _ command: (inout SeededGenerator) -> D.Command, read: (D.State) -> Void = { _ in }
    ) throws where D.State: Equatable {
        var random = SeededGenerator(seed: seed)
        var state = D.initial
        for _ in 0..<Self.steps {
            let before = state
            do {
                try D.evolve(&state, event(&random))
            } catch {
                #expect(state == before)
            }
            read(state)
            if let decided = try? D.decide(command(&random), in: state) {
                _ = try D.state(after: decided, from: state)
            }
        }
    }
}

// MARK: Random events and commands

extension Identifier {
    fileprivate static func random(_ random: inout SeededGenerator) -> Identifier { random.pick(["a", "b", "c"]) }
}

extension Timestamp {
    fileprivate static func random(_ random: inout SeededGenerator) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: random.pick([.min, -1, 0, 1, .max]))
    }
}

extension Outlet.Event {
    fileprivate static func random(_ random: inout SeededGenerator) -> Outlet.Event {
        switch Int.random(in: 0..<14, using: &random) {
        case 12:
            .detailsChanged([
                .orderAheadDays(random.hostileInt()),
                .slots(.init(minutes: random.hostileInt(), orders: random.maybe { $0.hostileInt() })),
                .dayparts([Daypart(id: .random(&random), hours: [])]),
            ])
        case 13: .daypartsChanged(.random(&random))
        case 0: .registered(.sample)
        case 1: .detailsChanged([.ratingCount(random.hostileInt()), .minimumOrder(random.hostileAmount())])
        case 2: .opened
        case 3: .closed
        case 4: .hidden
        case 5: .shown
        case 6: .removed
        case 7: .openedByHours
        case 8: .closedByHours(opensAt: random.maybe(Timestamp.random))
        case 9: .slowed(minutes: random.hostileInt(), until: .random(&random))
        case 10: .detailsChanged([.dayStarts(random.hostileInt()), .follows(random.pick([.commands, .hours]))])
        default: .paused(until: .random(&random), reason: nil)
        }
    }
}

extension Outlet.Command {
    fileprivate static func random(_ random: inout SeededGenerator) -> Outlet.Command {
        switch Int.random(in: 0..<10, using: &random) {
        case 7: .openByHours(isOpen: random.chance(50), opensAt: random.maybe(Timestamp.random))
        case 8:
            .followHours(isOpen: random.chance(50), opensAt: random.maybe(Timestamp.random))
        case 9: .slow(minutes: random.hostileInt(), until: .random(&random), now: .random(&random))
        case 0: .put(.sample.with(\.ratingCount, random.hostileInt()))
        case 1: .open
        case 2: .close
        case 3: .hide
        case 4: .show
        case 5: .remove
        default: .pause(until: .random(&random), reason: nil, now: .random(&random))
        }
    }
}

extension DaypartTimes {
    fileprivate static func random(_ random: inout SeededGenerator) -> DaypartTimes {
        DaypartTimes(
            active: random.pick([[], [.random(&random)]]),
            later: random.pick([[], [Later(.random(&random), begins: random.maybe(Timestamp.random))]]))
    }
}

extension FeedCheck {
    fileprivate static func random(_ random: inout SeededGenerator) -> FeedCheck {
        FeedCheck(random.pick(FeedCheck.State.allCases), at: .random(&random))
    }
}

extension Menu.Event {
    fileprivate static func random(_ random: inout SeededGenerator) -> Menu.Event {
        let id = Identifier.random(&random)
        let section = Identifier.random(&random)
        let before = random.maybe(Identifier.random)
        return switch Int.random(in: 0..<16, using: &random) {
        case 11: .groupPut(.random(&random))
        case 12: .groupRemoved(id)
        case 13: .optionRepriced(id, random.hostileAmount(), size: random.maybe(Identifier.random))
        case 14:
            random.chance(50)
                ? .optionSuspended(id, until: .random(&random), by: random.pick([.merchant, .stock]))
                : .optionResumed(id, by: random.pick([.merchant, .stock]))
        case 0: .sectionAdded(.sample(id), before: before)
        case 1: .sectionChanged(.sample(id))
        case 2: .sectionMoved(id, before: before)
        case 3: .sectionRemoved(id)
        case 4, 5: .itemAdded(.sample(id, price: random.hostileAmount()), section: section, before: before)
        case 6:
            .itemChanged(
                .sample(id).with(\.maxQuantity, random.hostileInt()).with(
                    \.options, random.pick([[], ["a"], ["a", "b"]])
                )
                .with(\.price, random.pick([nil, random.hostileAmount()]))
                .with(\.servicePrices, random.servicePrices()).with(\.isCombo, random.chance(50)))
        case 7: .itemMoved(id, section: section, before: before)
        case 8: .itemRemoved(id)
        case 9: .itemRepriced(id, random.hostileAmount())
        case 10: .feedChecked(.random(&random))
        default:
            random.chance(50)
                ? .itemSuspended(id, until: .random(&random), by: random.pick([.merchant, .stock]))
                : .itemResumed(id, by: random.pick([.merchant, .stock]))
        }
    }
}

extension Menu.Command {
    fileprivate static func random(_ random: inout SeededGenerator) -> Menu.Command {
        let id = Identifier.random(&random)
        let section = Identifier.random(&random)
        let before = random.maybe(Identifier.random)
        return switch Int.random(in: 0..<14, using: &random) {
        case 13:
            .followStock([
                StockChange(.item(id), isSoldOut: random.chance(50)),
                StockChange(.option(id), isSoldOut: random.chance(50)),
            ])
        case 8: .putGroup(.random(&random))
        case 9: .removeGroup(id)
        case 10: .repriceOption(id, random.hostileAmount(), size: random.maybe(Identifier.random))
        case 11: random.chance(50) ? .suspendOption(id, until: nil, now: 0) : .resumeOption(id)
        case 0: .put(MenuDocument(["a": ["c", "b"], "b": ["a"]]))
        case 1: .putSection(.sample(id), before: before)
        case 2: .removeSection(id)
        case 3: .putItem(.sample(id), section: section, before: before)
        case 4: .removeItem(id)
        case 5: .reprice(id, random.hostileAmount())
        case 6: .suspend(id, until: .random(&random), now: .random(&random))
        case 7: .checkFeed(.random(&random))
        default: .resume(id)
        }
    }
}

extension OptionGroup {
    fileprivate static func random(_ random: inout SeededGenerator) -> OptionGroup {
        let options = (0..<random.pick([0, 1, 1, 2])).map { _ in
            MenuOption(
                id: .random(&random), name: "Cheese", price: random.pick([0, 100, random.hostileAmount()]),
                sizePrices: random.pick([[], [.init(.random(&random), random.hostileAmount())]]),
                item: random.maybe(Identifier.random), standard: random.pick([0, random.hostileInt()]),
                maximum: random.pick([1, 2, random.hostileInt()]), groups: random.pick([[], [], [.random(&random)]]),
                servicePrices: random.servicePrices(), tax: random.maybe(Identifier.random))
        }
        return OptionGroup(
            id: .random(&random), title: "Extras", minimum: random.pick([0, 1, random.hostileInt()]),
            maximum: random.pick([1, 2, random.hostileInt()]), free: random.pick([0, random.hostileInt()]),
            setsPrice: random.chance(20), options: options)
    }
}

extension SeededGenerator {
    fileprivate mutating func servicePrices() -> ByService<Amount> {
        var prices = ByService<Amount>()
        if chance(30) { prices[.table] = hostileAmount() }
        if chance(30) { prices[.delivery] = hostileAmount() }
        return prices
    }
}

extension CartLine {
    fileprivate static func random(_ random: inout SeededGenerator) -> CartLine {
        let item = Identifier.random(&random)
        return CartLine(
            id: random.chance(80) ? Text(item.rawValue) : "\(item)~2", item: item, name: "Tea",
            quantity: random.chance(50) ? random.hostileInt() : 1, unitPrice: random.hostileAmount(),
            note: random.pick([nil, nil, nil, "hot", .sealed("x")]))
    }
}

extension Cart.Event {
    fileprivate static func random(_ random: inout SeededGenerator) -> Cart.Event {
        let line = CartLine.random(&random)
        return switch Int.random(in: 0..<47, using: &random) {
        case 40..<43:
            .checkoutBegun(
                Cart.Checkout(
                    order: "order-1", outlet: "o", claims: .random(&random), at: .random(&random), lines: [line],
                    total: random.hostileAmount(), customer: random.pick([nil, "asha"])))
        case 43, 44:
            .checkoutRefused(
                order: random.pick(["order-1", "order-2"]), Supply.Refusal(.soldOut, "item 'a' is sold out"))
        case 0:
            .checkedOut(
                order: "order-1", lines: [line], total: random.hostileAmount(), customer: random.pick([nil, "asha"]),
                name: random.pick([nil, "y"]),
                handover: random.pick([.none, Handover(.table, table: "4"), Handover(.delivery, address: "y")]))
        case 1: .tipSet(random.hostileAmount())
        case 45: .codeAdded(random.pick(["TEN", "TWO"]))
        case 46: .codeRemoved(random.pick(["TEN", "TWO"]))
        case 39:
            .serviceChosen(
                random.pick(ServiceKind.allCases), table: random.pick([nil, "4"]),
                wanted: random.maybe(Timestamp.random))
        case 2: .lineEdited(line: line.id, to: .random(&random), customer: random.pick([nil, "asha"]))
        case 3..<10: .quantityChanged(line: line.id, from: random.hostileInt(), to: random.hostileInt())
        case 10..<15: .lineRemoved(line: line.id, quantity: random.hostileInt())
        case 15..<20: .cleared(count: random.hostileInt())
        default:
            .itemAdded(
                line, outlet: "o", currency: random.chance(90) ? .inr : .usd,
                customer: random.pick([nil, nil, "asha", "ben"]))
        }
    }
}

extension Cart.Command {
    fileprivate static func random(_ random: inout SeededGenerator) -> Cart.Command {
        let item = Identifier.random(&random)
        let offer = Offer.sample(
            price: random.hostileAmount(), currency: random.chance(80) ? .inr : .usd, maxQuantity: random.hostileInt())
        return switch Int.random(in: 0..<7, using: &random) {
        case 6:
            random.chance(50)
                ? .addCode(random.pick(["ten", "TWO"]), isKnown: random.chance(80))
                : .removeCode(random.pick(["TEN", "two"]))
        case 5:
            .conclude(
                order: "order-1", random.pick([.held, .refused(Supply.Refusal(.soldOut, "item 'a' is sold out"))]),
                now: .random(&random))
        case 0: .set(line: Text(item.rawValue), quantity: random.hostileInt())
        case 1: .remove(line: Text(item.rawValue))
        case 2: .clear
        case 3:
            .checkOut(
                Cart.CheckOut(
                    order: "order-1", agreement: .total(random.hostileAmount()),
                    offers: ["a": offer, "b": offer, "c": offer, "a~2": offer]))
        default: .add(Cart.Addition(outlet: "o", item: item, quantity: random.hostileInt(), offer: offer))
        }
    }
}

extension Order.Placement {
    /// As a checkout makes it.
    fileprivate static let possible = Order.Placement(
        cart: "c", outlet: "o", currency: .inr,
        lines: [CartLine(id: "a", item: "a", name: "Tea", quantity: 2, unitPrice: 500)],
        charges: [
            Charge(.service, 100, shares: [100]),
            Charge(.tax, id: "b", name: "B", rate: .sample(10_000), 110, shares: [100, 10], bases: [1_000, 100]),
        ], total: 1_210, terms: Order.Terms(placedAt: 0, acceptWithin: 60),
        pricing: PricingTerms(
            taxIncluded: false, taxes: [.init(id: "b", name: "B", rate: .sample(10_000))],
            service: .init(rate: .sample(10_000), tax: "b")))

    fileprivate static func random(_ random: inout SeededGenerator) -> Order.Placement {
        Order.Placement(
            cart: "c", outlet: "o", currency: .inr, lines: (0..<3).map { _ in .random(&random) },
            charges: (0..<random.pick([0, 1, 3])).map { _ in .random(&random) }, total: random.hostileAmount(),
            terms: .random(&random), missing: random.pick(Order.Missing.allCases),
            pricing: PricingTerms(
                taxIncluded: random.chance(50),
                taxes: random.pick([[], [.init(id: "a", name: "A", rate: .sample(20_000))]]),
                delivery: random.maybe { PricingTerms.Fee($0.hostileAmount(), freeFrom: $0.hostileAmount()) }),
            claims: .random(&random))
    }
}

extension Order.Change {
    /// One that is often possible, once the order is.
    fileprivate static func random(_ random: inout SeededGenerator) -> Order.Change {
        let line = CartLine(id: "a", item: "a", name: "Tea", quantity: 1, unitPrice: 500)
        var after = Order.Placement.possible
        after.lines = [line]
        after.charges = [
            Charge(.service, 50, shares: [50]),
            Charge(.tax, id: "b", name: "B", rate: .sample(10_000), 55, shares: [50, 5], bases: [500, 50]),
        ]
        after.total = random.chance(80) ? 605 : random.hostileAmount()
        return Order.Change(
            by: random.pick(Order.Party.allCases),
            [.init(line: "a", name: "Tea", from: random.chance(80) ? 2 : random.hostileInt(), to: 1)],
            before: Order.Placement.possible.digest, after: after.digest, ordered: after.lines, price: after.price,
            gone: random.chance(80) ? [] : .random(&random))
    }
}

extension Order.LineEdit {
    fileprivate static func random(_ random: inout SeededGenerator) -> Order.LineEdit {
        let arrival = Order.Arrival(
            .random(&random), quantity: random.pick([1, 2, random.hostileInt()]),
            offer: .sample(price: random.hostileAmount(), currency: .inr, maxQuantity: random.hostileInt()))
        let line = Text(Identifier.random(&random).rawValue)
        return switch random.pick([0, 1, 2]) {
        case 0: .reduce(line: line, to: random.pick([0, 1, random.hostileInt()]))
        case 1: .replace(line: line, to: random.pick([0, 1, random.hostileInt()]), by: arrival)
        default: .add(arrival)
        }
    }
}

extension [Claim] {
    fileprivate static func random(_ random: inout SeededGenerator) -> [Claim] {
        random.pick([
            [], [Claim(.item("a"), 1)], [Claim(.slot(0), 1, limit: Int64(random.hostileInt()))],
            [Claim(.item("a"), 2), Claim(.option("b"), Int64(random.hostileInt()))],
        ])
    }
}

extension Supply.Event {
    fileprivate static func random(_ random: inout SeededGenerator) -> Supply.Event {
        let order = Identifier.random(&random)
        return switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: .stocked(.item(.random(&random)), left: random.maybe { Int64($0.hostileInt()) })
        case 2: .refused(Supply.Refusal(.soldOut, "gone"), order: order, at: .random(&random))
        case 3: .returned(.random(&random), order: order)
        default: .held(.random(&random), order: order, at: .random(&random))
        }
    }
}

extension Supply.Command {
    fileprivate static func random(_ random: inout SeededGenerator) -> Supply.Command {
        let (key, order) = (Claim.Key.item(.random(&random)), Identifier.random(&random))
        return switch Int.random(in: 0..<6, using: &random) {
        case 0: .stock(key, .left(Int64(random.hostileInt())))
        case 1: .stock(key, .more(Int64(random.hostileInt())))
        case 2: .stock(key, .uncounted)
        case 3: .takeBack(.random(&random), order: order)
        default: .hold(.random(&random), order: order, now: .random(&random))
        }
    }
}

extension Charge {
    fileprivate static func random(_ random: inout SeededGenerator) -> Charge {
        func amounts() -> [Amount] {
            (0..<random.pick([0, 3, 4])).map { _ in random.pick([0, 1, random.hostileAmount()]) }
        }
        return Charge(
            random.pick(Charge.Kind.allCases), id: random.maybe(Identifier.random),
            rate: random.maybe { .sample($0.pick([0, 100_000])) }, random.hostileAmount(),
            isIncluded: random.chance(50), shares: amounts(), bases: amounts())
    }
}

extension Order.Terms {
    fileprivate static func random(_ random: inout SeededGenerator) -> Order.Terms {
        Order.Terms(
            placedAt: random.maybe(Timestamp.random), promisedFor: random.maybe(Timestamp.random),
            releaseAt: random.maybe(Timestamp.random), acceptBy: random.maybe(Timestamp.random),
            payBy: random.maybe(Timestamp.random), acceptWithin: random.maybe { $0.hostileInt() })
    }
}

extension Order.Event {
    fileprivate static func random(_ random: inout SeededGenerator) -> Order.Event {
        switch Int.random(in: 0..<22, using: &random) {
        case 16: .changeProposed(.random(&random), until: .random(&random))
        case 17: .changed(.random(&random))
        case 18: .changeDeclined(by: random.pick(Order.Party.allCases))
        case 19: .changeExpired
        case 20: .changesNoted
        case 21: .claimsReturned
        case 15: .coverLost(payBy: .random(&random))
        case 14:
            .refunded(
                Order.Refund(
                    random.hostileAmount(),
                    taxes: random.pick([
                        [], [Order.Refund.Tax(random.hostileAmount())],
                        [Order.Refund.Tax(id: "b", base: random.hostileAmount(), random.hostileAmount())],
                    ]), .other,
                    units: random.maybe { Order.Refund.Units(line: "a", quantity: $0.hostileInt()) }))
        case 12:
            .paymentReported(
                Order.Payment(
                    reference: random.pick(["a", "b"]), random.pick(Order.PaymentKind.allCases),
                    random.hostileAmount(), of: random.pick([.own, .report("a"), .unclear])))
        case 13: .scheduled
        case 0: .placed(.random(&random))
        case 1: .placed(.possible)
        case 2: .released(acceptBy: random.maybe(Timestamp.random))
        case 3: .accepted(readyBy: random.maybe(Timestamp.random), by: random.pick(Order.Party.allCases))
        case 4: .rejected(.random(&random))
        case 5: .preparationStarted
        case 6: .readied
        case 7: .completed(by: random.pick(Order.Party.allCases))
        case 8...10: .delayed(readyBy: .random(&random), text: random.pick([nil, "late", .sealed("x")]))
        default: .cancelled(.random(&random))
        }
    }
}

extension Order.Ending {
    fileprivate static func random(_ random: inout SeededGenerator) -> Order.Ending {
        Order.Ending(
            by: random.pick(Order.Party.allCases), random.pick(Order.Reason.allCases), claims: .random(&random))
    }
}

extension Order.Command {
    fileprivate static func random(_ random: inout SeededGenerator) -> Order.Command {
        switch Int.random(in: 0..<17, using: &random) {
        case 11, 12:
            .propose(
                (0..<random.pick([1, 2, 0])).map { _ in .random(&random) },
                by: random.pick([.merchant, .customer]), wait: random.pick([30, random.hostileInt()]),
                now: .random(&random))
        case 13: .agree(Order.Change.random(&random).after, as: [.customer, .merchant])
        case 14: .decline(as: random.pick([[.customer], [.merchant], [.customer, .merchant]]))
        case 15: .noteChanges
        case 16: .noteReturn
        case 10:
            .refund(
                random.pick([
                    .rest, .amount(random.hostileAmount()), .units(line: "a", quantity: random.hostileInt()),
                ]), .other)
        case 9:
            .reportPayment(
                Order.Payment(
                    reference: random.pick(["a", "b"]), random.pick(Order.PaymentKind.allCases),
                    random.hostileAmount(), of: random.pick([.own, .report("a"), .report("c")])),
                now: .random(&random))
        case 0: .place(.possible)
        case 1: .accept(readyBy: random.maybe(Timestamp.random), now: .random(&random))
        case 2: .reject(random.pick(Order.Reason.allCases), text: random.maybe { _ in "sorry" })
        case 3: .prepare
        case 4: .ready
        case 5: .complete
        case 6: .delay(readyBy: .random(&random), text: random.maybe { _ in "late" }, now: .random(&random))
        case 7:
            .cancel(
                by: random.pick(Order.Party.allCases), random.pick(Order.Reason.allCases),
                text: random.maybe { _ in .sealed("x") })
        default: .meetDeadline(now: .random(&random))
        }
    }
}
