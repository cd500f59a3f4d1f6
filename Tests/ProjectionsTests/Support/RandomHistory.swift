import Domain
import EventLog
import SeededRandom

/// Events of a few outlets, menus, carts and orders as their deciders make them, some of them damaged afterwards.
struct RandomHistory {
    private(set) var events: [Result<DecodedEvent, CorruptEvent>] = []
    /// The states of the undamaged streams.
    private(set) var states: [StreamName: AggregateState] = [:]
    private(set) var versions: [StreamName: Int64] = [:]
    /// The position of each damaged stream's first damage.
    private(set) var damage: [StreamName: Int64] = [:]
    var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    private var position: Int64 { Int64(events.count) }

    /// The events as a log holds them.
    var recorded: [RecordedEvent] {
        events.map { event in
            switch event {
            case .success(let event):
                let (kind, payload) = EventCodec.encode(event.event)
                return RecordedEvent(
                    partition: 0, position: event.position, stream: event.stream.description, version: event.version,
                    kind: kind, payload: payload, metadata: event.metadata.encoded(), recordedAt: event.recordedAt)
            case .failure(let corruption):
                return RecordedEvent(
                    partition: 0, position: corruption.position, stream: corruption.stream, version: 0,
                    kind: EventKind(name: "unreadable", schemaVersion: 1), payload: Array("{}".utf8),
                    metadata: EventMetadata.none.encoded(), recordedAt: 0)
            }
        }
    }

    /// Adds the events of one more command. Returns what was added.
    @discardableResult
    mutating func grow(damagePercent: Int = 0) -> [Result<DecodedEvent, CorruptEvent>] {
        let before = events.count
        let stream = randomStream()
        if generator.chance(damagePercent) {
            damageStream(stream)
        } else if damage[stream] == nil {
            for event in decide(on: stream) { record(event, of: stream) }
        }
        return Array(events[before...])
    }

    private mutating func record(_ event: DomainEvent, of stream: StreamName) {
        var state = states[stream] ?? AggregateState(initial: stream.category)
        do throws(ImpossibleEvent) { try state.evolve(event) } catch { preconditionFailure("\(error)") }
        states[stream] = state
        versions[stream, default: 0] += 1
        append(event, of: stream, version: versions[stream]!)
    }

    private mutating func append(_ event: DomainEvent, of stream: StreamName, version: Int64) {
        events.append(
            .success(
                DecodedEvent(
                    partition: 0, position: position + 1, stream: stream, version: version, event: event,
                    metadata: .none, recordedAt: Timestamp(millisecondsSinceEpoch: position * 200_000))))
    }

    private mutating func damageStream(_ stream: StreamName) {
        damage[stream] = damage[stream] ?? position + 1
        switch stream.category {
        case .outlet where generator.chance(50):
            // With a version that does not follow.
            append(.outlet(.opened), of: stream, version: (versions[stream] ?? 0) + 2)
        case .menu where generator.chance(50):
            append(.menu(.itemRemoved("never-there")), of: stream, version: (versions[stream] ?? 0) + 1)
        case .cart where generator.chance(50):
            append(
                .cart(.lineRemoved(line: "never-there", quantity: generator.pick([Int(Int32.max), .max]))), of: stream,
                version: (versions[stream] ?? 0) + 1)
        case .order where generator.chance(50):
            append(.order(.readied), of: stream, version: (versions[stream] ?? 0) + 2)
        case .supply where generator.chance(50):
            append(.supply(.stocked(.item("tea"), left: 1)), of: stream, version: (versions[stream] ?? 0) + 2)
        case .promotions where generator.chance(50):
            append(.promotions(.ended("never-there")), of: stream, version: (versions[stream] ?? 0) + 1)
        case .outlet, .menu, .cart, .order, .supply, .promotions, .customer, .user, .relay:
            events.append(
                .failure(
                    CorruptEvent(
                        partition: 0, position: position + 1, stream: stream.description, reason: "unreadable")))
        }
    }

    // MARK: Commands

    private mutating func randomStream() -> StreamName {
        let outlet = Identifier("outlet-\(generator.number(0..<3))")!
        return switch generator.number(0..<7) {
        case 6: StreamName(.promotions, outlet)
        case 5: StreamName(.supply, outlet)
        case 0: StreamName(.outlet, outlet)
        case 1: StreamName(.menu, outlet)
        case 2: StreamName(.order, Identifier("order-\(generator.number(0..<9))")!)
        default: StreamName(.cart, Identifier("cart-\(generator.number(0..<6))")!)
        }
    }

    private mutating func decide(on stream: StreamName) -> [DomainEvent] {
        let state = states[stream] ?? AggregateState(initial: stream.category)
        return switch state {
        case .outlet(let state): (try? Outlet.decide(outletCommand(), in: state))?.map(DomainEvent.outlet) ?? []
        case .menu(let state): (try? Menu.decide(menuCommand(state), in: state))?.map(DomainEvent.menu) ?? []
        case .cart(let state): (try? Cart.decide(cartCommand(state), in: state))?.map(DomainEvent.cart) ?? []
        case .order(let state): (try? Order.decide(orderCommand(state), in: state))?.map(DomainEvent.order) ?? []
        case .supply(let state): (try? Supply.decide(supplyCommand(), in: state))?.map(DomainEvent.supply) ?? []
        case .promotions(let state):
            (try? Promotions.decide(promotionCommand(), in: state))?.map(DomainEvent.promotions) ?? []
        case .deed: []
        }
    }

    private mutating func promotionCommand() -> Promotions.Command {
        let id = Identifier("promo-\(generator.number(0..<3))")!
        return generator.chance(20)
            ? .end(id)
            : .put(
                Promotion(id: id, title: "Off", on: .order, .amount(Amount(minorUnits: Int64(generator.number(1...9)))))
            )
    }

    private mutating func supplyCommand() -> Supply.Command {
        let order = Identifier("order-\(generator.number(0..<9))")!
        let claims =
            [Claim(.item("tea"), Int64(generator.number(1...3)))]
            + (generator.number(0...1) == 0 ? [] : [Claim(.slot(0), 1, limit: 2)])
        return switch generator.number(0..<4) {
        case 0: .stock(.item("tea"), .left(Int64(generator.number(0...9))))
        case 1: .takeBack(claims, order: order)
        default: .hold(claims, order: order, now: Timestamp(millisecondsSinceEpoch: position))
        }
    }

    private mutating func orderCommand(_ state: Order.State) -> Order.Command {
        let now = Timestamp(millisecondsSinceEpoch: position)
        guard state.book != nil else {
            var placement = Order.Placement(
                cart: "cart", outlet: Identifier("outlet-\(generator.number(0..<3))")!, currency: Currency("INR")!,
                lines: [CartLine(id: "tea", item: "tea", name: "Tea \"x\"", quantity: 2, unitPrice: 250)], total: 500,
                customer: generator.pick([nil, "asha", "bert"]))
            var details = OutletDetails(name: "O", currency: Currency("INR")!, timeZone: "UTC")
            details.acceptWithin = generator.pick([nil, 0, 60])
            details.prepMinutes = generator.pick([nil, 20])
            details.payment = generator.pick([.none, .first])
            placement.terms = Order.Terms(of: details, at: now)
            placement.missing = generator.pick(Order.Missing.allCases)
            return .place(placement)
        }
        switch generator.number(0..<13) {
        case 10:
            let tea = Offer.available(
                .init(name: "Mint", unitPrice: 90, currency: Currency("INR")!, maxQuantity: 9))
            return .propose(
                [
                    generator.pick([
                        .reduce(line: "tea", to: 1),
                        .replace(line: "tea", to: 0, by: .init("mint", quantity: 2, offer: tea)),
                        .add(.init("mint", quantity: 1, offer: tea)),
                    ])
                ], by: generator.pick([.merchant, .customer]), wait: 600, now: now)
        case 11:
            if generator.chance(30) { return .decline(as: [.customer]) }
            return .agree(state.book?.proposal?.change.after ?? "", as: [.customer, .merchant])
        case 12: return .noteChanges
        case 8:
            let payment = Order.Payment(
                reference: generator.pick(["pay_1", "pay_2"]), generator.pick(Order.PaymentKind.allCases), 500,
                of: generator.pick([.own, .report("pay_1")]))
            return .reportPayment(payment, now: now)
        case 9:
            return .refund(
                generator.pick([.rest, .amount(10), .units(line: "tea", quantity: 1)] as [Order.RefundPart]), .other)
        case 0: return .accept(readyBy: generator.pick([nil, now.adding(seconds: 600)]), now: now)
        case 1: return .reject(.items, text: nil)
        case 2: return .prepare
        case 3: return .ready
        case 4: return .delay(readyBy: now.adding(seconds: 900), now: now)
        case 5: return generator.chance(30) ? .cancel(by: .merchant, .busy, text: nil) : .prepare
        case 6: return generator.chance(30) ? .complete : .ready
        default: return .meetDeadline(now: now.adding(seconds: generator.pick([0, 100_000])))
        }
    }

    private mutating func outletCommand() -> Outlet.Command {
        if generator.chance(2) { return .remove }
        switch generator.number(0..<6) {
        case 0: return .open
        case 1: return .close
        case 2: return generator.chance(50) ? .hide : .show
        case 3:
            return .pause(
                until: Timestamp(millisecondsSinceEpoch: Int64(generator.number(1..<1_000_000))),
                reason: text(), now: 0)
        default:
            var details = OutletDetails(
                name: "Name \(generator.number(0..<9))", currency: Currency("INR")!, timeZone: "UTC")
            details.city = text()
            details.area = text()
            details.address = text()
            details.cuisines = (0..<generator.number(0..<3)).map { "Cuisine \($0)" }
            details.priceForTwo = generator.chance(50) ? Amount(minorUnits: Int64(generator.number(0..<9_999))) : nil
            details.rating = generator.chance(50) ? Rating(hundredths: generator.number(0..<501)) : nil
            details.ratingCount = generator.chance(50) ? generator.number(0..<100) : nil
            details.deliveryMinutes = generator.chance(50) ? generator.number(0..<60) : nil
            details.minimumOrder = generator.chance(50) ? 500 : nil
            if generator.chance(50) { details.hours = [OpeningHours(day: .friday, opens: 600, closes: 1_530)!] }
            return .put(details)
        }
    }

    /// Text with characters that JSON must escape, or without.
    private mutating func text() -> Text? {
        generator.pick([nil, "plain", "a \"quoted\" \\ text", "日本 – naïve 🍛", "</script>\u{2028}"])
    }

    private mutating func address() -> Text? {
        generator.pick([nil, "/plain", "https://example.com/日本?a='b'&c=d"])
    }

    private mutating func menuCommand(_ state: Menu.State) -> Menu.Command {
        let item = state.entries.values.map(\.id).randomElement(using: &generator) ?? "none"
        switch generator.number(0..<7) {
        case 0: return .suspend(item, until: generator.chance(50) ? 5_000 : nil, now: 0)
        case 1: return .resume(item)
        case 2: return .reprice(item, Amount(minorUnits: Int64(generator.number(0..<999))))
        case 3: return .removeItem(item)
        case 4:
            return .checkFeed(
                FeedCheck(
                    generator.pick(FeedCheck.State.allCases),
                    at: Timestamp(millisecondsSinceEpoch: generator.pick([1, 200_000, 400_000])),
                    problems: generator.pick([[], ["2: name: is missing"]]),
                    validators: generator.pick([nil, .init(etag: "\"a\"", key: "k")])))
        default: return .put(menu())
        }
    }

    private mutating func menu() -> MenuDocument {
        var free = (0..<8).map { Identifier("item-\($0)")! }.shuffled(using: &generator)
        let ids = (0..<4).map { Identifier("section-\($0)")! }.shuffled(using: &generator)
        return MenuDocument(
            sections: ids.prefix(generator.number(0..<4)).map { id in
                let kind = generator.pick(SectionKind.all)
                let header = SectionHeader(
                    id: id, title: "Title \(id)", kind: kind.name,
                    layout: generator.chance(50) ? kind.defaultLayout : .horizontalCard(width: 90, height: 91),
                    sticky: generator.chance(50))
                let items = (0..<generator.number(0..<4)).compactMap { _ in free.popLast() }
                return MenuSection(header: header, items: items.map { item($0) })
            })
    }

    private mutating func item(_ id: Identifier) -> MenuItem {
        // Enough for an item of any kind.
        let attributes: [ItemAttributes.Attribute] = [
            .init("label", .text("New")), .init("points", .number(generator.pick([0, 25]))),
            .init("allergens", .texts(generator.pick([[], ["nuts", "milk"]]))),
            .init("vegan", .boolean(generator.chance(50))),
        ]
        return MenuItem(
            id: id, kind: generator.pick(ItemKind.all).name, name: "Item \(id)", description: text(), price: 250,
            cuisine: text(), tags: generator.chance(50) ? ["hot", "new"] : [], imageSmall: address(),
            imageLarge: address(),
            images: generator.chance(50) ? [ItemImage(url: "/pie", alternative: text()), ItemImage(url: "/pie")] : [],
            links: generator.chance(50) ? [ItemLink(rel: "source", url: "https://example.com", title: text())] : [],
            maxQuantity: generator.chance(50) ? generator.number(1..<10) : nil,
            attributes: ItemAttributes(attributes))
    }

    private mutating func cartCommand(_ state: Cart.State) -> Cart.Command {
        let item = Identifier("item-\(generator.number(0..<3))")!
        if generator.chance(3), let contents = state.contents, let total = try? contents.total() {
            let offers = contents.lines.map { line in
                let item = Offer.Item(
                    name: line.name, unitPrice: line.unitPrice, currency: contents.currency, maxQuantity: 99)
                return (line.id, Offer.available(item))
            }
            return .checkOut(
                Cart.CheckOut(
                    order: "order", agreement: .total(total), offers: Dictionary(uniqueKeysWithValues: offers)))
        }
        switch generator.number(0..<10) {
        case 0: return .clear
        case 1: return .remove(line: Text(item.rawValue))
        case 2, 3: return .set(line: Text(item.rawValue), quantity: generator.number(0..<9))
        default:
            return .add(
                Cart.Addition(
                    outlet: "outlet-0", item: item, quantity: generator.number(1..<5),
                    note: text().map(PersonalText.plain),
                    offer: .available(
                        Offer.Item(name: "Item", unitPrice: 250, currency: Currency("INR")!, maxQuantity: 99))))
        }
    }
}
