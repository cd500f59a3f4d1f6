import Domain
import Testing

@Suite("Orders ahead, and parts of the day")
struct OrdersAheadTests {
    private static let outlet: OutletDetails = {
        var details = OutletDetails.sample
        details.hours = OpeningHours.Day.allCases.map { OpeningHours(day: $0, opens: 600, closes: 1_200)! }
        details.follows = .hours
        details.services[.pickup] = OfferedService()
        details.services[.delivery] = OfferedService(prepMinutes: 45)
        (details.prepMinutes, details.acceptWithin, details.orderAheadDays) = (20, 300, 1)
        return details
    }()

    private static let now: Timestamp = 0
    private static let hour: Int64 = 3_600_000
    /// As the hours answer for a time at which it is open.
    private static let open = HoursAnswer(now: now, end: Timestamp(millisecondsSinceEpoch: 48 * hour), isOpen: true)

    private static func refusal(
        at time: Timestamp, _ service: ServiceKind = .pickup, _ details: OutletDetails = outlet,
        _ answer: HoursAnswer? = open
    ) -> Rejection? {
        details.refusal(of: time, for: service) { _, _, _ in answer }
    }

    @Test(arguments: [(4, false), (5, true), (240, true), (241, false)])
    func `slots are 5 to 240 minutes apart`(_ minutes: Int, _ isRight: Bool) {
        let details = Self.outlet.with(\.slots, .init(minutes: minutes))
        DeciderCase<Outlet>(
            "slots", when: .put(details),
            then: isRight ? .events([.registered(details)]) : .rejected(.invalid, about: "slots.minutes")
        ).check()
    }

    // MARK: Times

    @Test(
        arguments: [
            // The kitchen needs 20 minutes, and 45 for a delivery.
            (1_200_000, .pickup, nil), (1_199_999, .pickup, "at least 20 minutes"),
            (2_700_000, .delivery, nil), (2_699_999, .delivery, "at least 45 minutes"),
            (0, .pickup, "in the future"), (-1, .pickup, "in the future"),
            (48 * hour - 1, .pickup, nil), (48 * hour, .pickup, "more than 1 day ahead"),
        ] as [(Int64, ServiceKind, String?)])
    func `a time lies within the days ahead, and the kitchen can meet it`(
        time: Int64, service: ServiceKind, words: String?
    ) {
        let refusal = Self.refusal(at: Timestamp(millisecondsSinceEpoch: time), service)
        #expect((refusal == nil) == (words == nil))
        guard let words, let refusal else { return }
        #expect(refusal.code == .invalid && refusal.subject == .wanted && refusal.message.contains(words))
    }

    @Test func `what is not had ahead, or not then, is refused by its own code`() {
        let time = Timestamp(millisecondsSinceEpoch: 2 * Self.hour)
        #expect(Self.refusal(at: time, .pickup, Self.outlet.with(\.orderAheadDays, 0))?.code == .invalid)
        #expect(Self.refusal(at: time, .pickup, Self.outlet.with(\.follows, .commands))?.code == .invalid)
        #expect(Self.refusal(at: time, .pickup, Self.outlet, nil)?.code == .invalid)
        var answer = Self.open
        (answer.isOpen, answer.opensAt) = (false, Timestamp(millisecondsSinceEpoch: 24 * Self.hour))
        let closed = Self.refusal(at: time, .pickup, Self.outlet, answer)
        #expect(closed?.code == .closed && closed?.message.contains("opens at 1970-01-02T00:00:00Z") == true)
        answer = Self.open
        (answer.isSlot, answer.nextSlot) = (false, Timestamp(millisecondsSinceEpoch: 3 * Self.hour))
        let between = Self.refusal(at: time, .pickup, Self.outlet, answer)
        #expect(between?.code == .noSlot && between?.message.contains("1970-01-01T03:00:00Z") == true)
        (answer.isSlot, answer.isFull) = (true, true)
        let full = Self.refusal(at: time, .pickup, Self.outlet, answer)
        #expect(
            full?.code == .noSlot && full?.message == "the slot is full; the next one with room is 1970-01-01T03:00:00Z"
        )
    }

    // MARK: Carts

    private static let line = CartLine(id: "tea", item: "tea", name: "Tea", quantity: 2, unitPrice: 250)
    private static let filled: [Cart.Event] = [.itemAdded(line, outlet: "o", currency: .inr)]
    private static let wanted = Timestamp(millisecondsSinceEpoch: 2 * hour)
    private static let chosen = filled + [.serviceChosen(.delivery, table: nil, wanted: wanted)]

    private static func choose(_ wanted: Timestamp?, refusal: Rejection? = nil) -> Cart.Command {
        var choice = Cart.ServiceChoice(.delivery, wanted: wanted, offered: [.pickup, .delivery])
        choice.refusal = refusal
        return .chooseService(choice)
    }

    @Test(
        arguments: [
            DeciderCase<Cart>(
                "a time", given: filled, when: choose(wanted),
                then: .events([.serviceChosen(.delivery, table: nil, wanted: wanted)])),
            DeciderCase<Cart>("the same time", given: chosen, when: choose(wanted), then: .events([])),
            DeciderCase<Cart>(
                "as soon as it can be had again", given: chosen, when: choose(nil),
                then: .events([.serviceChosen(.delivery, table: nil)])),
            DeciderCase<Cart>(
                "a time that cannot be", given: filled, when: choose(wanted, refusal: Rejection(.closed, "closed")),
                then: .rejected(.closed)),
        ])
    func `a cart keeps the time that its order is wanted for`(_ row: DeciderCase<Cart>) { row.check() }

    @Test func `the first item may say when, so that nothing of now keeps it out`() {
        var choice = Cart.ServiceChoice(.delivery, wanted: Self.wanted, offered: [.pickup, .delivery])
        func add(_ offer: Offer = .sample()) -> Cart.Command {
            .add(Cart.Addition(outlet: "o", item: "tea", quantity: 2, offer: offer, choice: choice))
        }
        DeciderSpecification<Cart>.given().when(add()).then(Self.chosen)
        DeciderSpecification<Cart>.given(Self.chosen).when(add()).then(Self.filled)
        choice.refusal = Rejection(.closed, "closed")
        DeciderSpecification<Cart>.given().when(add()).thenRejected(.closed)
        DeciderSpecification<Cart>.given().when(add(.noItem)).thenRejected(.notFound)
    }

    private static func checkOut(
        _ answer: HoursAnswer?, after events: [Cart.Event] = chosen, at outlet: OutletDetails = outlet
    ) throws -> Cart.CheckOut {
        Cart.CheckOut(
            order: "order-1", agreement: .total(500), of: try Cart.state(after: events),
            offers: { lines, _ in lines.map { _ in .sample() } }, details: { _ in outlet },
            hours: { _, _, _ in answer },
            now: now)
    }

    @Test func `a checkout holds the hours against the time again, and promises it`() throws {
        let checkOut = try Self.checkOut(Self.open)
        let release = Timestamp(millisecondsSinceEpoch: 2 * Self.hour - 45 * 60_000)
        // The kitchen has its time from the release on.
        #expect(
            checkOut.terms
                == Order.Terms(placedAt: Self.now, promisedFor: Self.wanted, releaseAt: release, acceptWithin: 300))
        #expect(checkOut.claims.isEmpty)
        let limited = Self.outlet.with(\.slots, .init(minutes: 60, orders: 4))
        #expect(
            try Self.checkOut(Self.open, at: limited).claims == [Claim(.slot(Self.wanted), 1, limit: 4)])
        #expect(try Self.checkOut(Self.open, after: Self.filled, at: limited).claims.isEmpty)
        var late = Self.open
        late.now = Self.wanted
        DeciderSpecification<Cart>.given(Self.chosen).when(.checkOut(try Self.checkOut(late)))
            .thenRejected(.invalid, about: .wanted)
    }

    @Test(
        arguments: [
            // Neither accepted nor paid: its life is followed all the same, as it is released by itself.
            (nil, .none, Order.Terms(placedAt: 0, promisedFor: wanted, releaseAt: 6_000_000)),
            (0, .none, Order.Terms(placedAt: 0, promisedFor: wanted, releaseAt: 6_000_000, acceptWithin: 0)),
            (
                300, .first,
                Order.Terms(placedAt: 0, promisedFor: wanted, releaseAt: 6_000_000, payBy: 900_000, acceptWithin: 300)
            ),
        ] as [(Int?, OutletDetails.Payment, Order.Terms)])
    func `an order for later is released in time`(
        acceptWithin: Int?, payment: OutletDetails.Payment, terms: Order.Terms
    ) {
        let details = Self.outlet.with(\.acceptWithin, acceptWithin).with(\.payment, payment)
        #expect(Order.Terms(of: details, for: .pickup, at: Self.now, wanted: Self.wanted) == terms)
        // One that has to be cooked at once is not for later.
        let soon = Order.Terms(of: details, for: .pickup, at: Self.now, wanted: 1_200_000)
        #expect(soon.releaseAt == nil && soon.promisedFor == 1_200_000 && soon.placedAt == Self.now)
    }

    @Test func `a quote's digest has the time in it, and not how long it takes`() throws {
        func digest(_ events: [Cart.Event], prepMinutes: Int?) throws -> Text? {
            guard case .filled(let contents) = try Cart.state(after: events) else { return nil }
            return try Quote(
                of: contents, offers: [.sample()], terms: .none, for: .delivery, prepMinutes: prepMinutes
            ).digest
        }
        let asSoon = Self.filled + [.serviceChosen(.delivery, table: nil)]
        let later = Self.filled + [.serviceChosen(.delivery, table: nil, wanted: 7_200_001)]
        #expect(try digest(Self.chosen, prepMinutes: 20) == digest(Self.chosen, prepMinutes: 45))
        #expect(try digest(Self.chosen, prepMinutes: nil) != digest(later, prepMinutes: nil))
        #expect(try digest(Self.chosen, prepMinutes: nil) != digest(asSoon, prepMinutes: nil))
        #expect(try digest(asSoon, prepMinutes: nil) == digest(Self.filled, prepMinutes: nil))
    }

    // MARK: Promises

    @Test func `an order knows how its promise changed`() throws {
        let placement = Order.Placement(
            cart: "c", outlet: "o", currency: .inr, lines: [Self.line], total: 500,
            terms: Order.Terms(placedAt: 0, promisedFor: 10, payBy: 5, acceptWithin: 300))
        let paid = Order.Payment(reference: "r", .captured, 500)
        let book = try Order.state(after: [
            .placed(placement), .paymentReported(paid), .released(acceptBy: 9),
            .accepted(readyBy: 10, by: .merchant),
            .delayed(readyBy: 20), .delayed(readyBy: 20, text: "no gas"), .coverLost(payBy: 30),
        ]).book
        #expect(
            book?.promiseChanges == [
                .init(from: 10, to: 20), .init(from: 20, to: 20, text: "no gas"), .init(from: 20, to: 10),
            ])
    }

    // MARK: Parts of the day

    private static let menu: [Menu.Event] = [
        .sectionAdded(
            SectionHeader(id: "morning", title: "M", kind: "menuItems", layout: .list, daypart: "breakfast"),
            before: nil),
        .sectionAdded(SectionHeader(id: "all", title: "A", kind: "menuItems", layout: .list), before: nil),
        .itemAdded(.sample("egg"), section: "morning", before: nil),
        .itemAdded(.sample("soup").with(\.daypart, "lunch"), section: "morning", before: nil),
        .itemAdded(.sample("tea"), section: "all", before: nil),
    ]

    private static func offers(after events: [Menu.Event] = [], now: Timestamp = 0) throws -> [Offer] {
        let state = try Menu.state(after: menu + events)
        let times = DaypartTimes(active: ["lunch"], later: [.init("breakfast", begins: 100)])
        return ["egg", "soup", "tea"].map { state.offer(of: $0, with: [], in: .inr, now: now, dayparts: times) }
    }

    private static func isAvailable(_ offer: Offer) -> Bool { if case .available = offer { true } else { false } }

    @Test func `an item is had in its own part of the day, or in its section's`() throws {
        let offers = try Self.offers()
        #expect(offers[0] == .outOfDaypart("breakfast", begins: 100))
        #expect(offers[1...].allSatisfy(Self.isAvailable))
        // It begins by itself.
        #expect(try Self.offers(now: 100).allSatisfy(Self.isAvailable))
        DeciderSpecification<Cart>.given()
            .when(.add(Cart.Addition(outlet: "o", item: "egg", quantity: 1, offer: offers[0])))
            .thenRejected(.closed, naming: ["'egg'", "breakfast", "from 1970-01-01T00:00:00.100Z on"])
    }

    @Test(
        arguments: [
            ([.itemMoved("egg", section: "all", before: nil)], [true, true, true]),
            ([.itemMoved("tea", section: "morning", before: nil)], [false, true, false]),
            (
                [.sectionChanged(SectionHeader(id: "morning", title: "M", kind: "menuItems", layout: .list))],
                [true, true, true]
            ),
            ([.itemChanged(.sample("tea").with(\.daypart, "breakfast"))], [false, true, false]),
        ] as [([Menu.Event], [Bool])])
    func `it follows every change of a menu`(events: [Menu.Event], isAvailable: [Bool]) throws {
        #expect(try Self.offers(after: events).map(Self.isAvailable) == isAvailable)
    }

    @Test func `a menu names the dayparts of its outlet`() throws {
        let state = try Menu.state(after: Self.menu)
        let header = SectionHeader(id: "x", title: "X", kind: "menuItems", layout: .list, daypart: "dinner")
        let item = MenuItem.sample("x").with(\.daypart, "dinner")
        let commands: [(Menu.Command, String)] = [
            (.putSection(header, before: nil, dayparts: ["lunch"]), "daypart"),
            (.putItem(item, section: "all", before: nil, dayparts: ["lunch"]), "daypart"),
            (
                .put(MenuDocument(sections: [MenuSection(header: header, items: [])]), dayparts: ["lunch"]),
                "sections[0].daypart"
            ),
        ]
        for (command, field) in commands {
            #expect(command.restsOnOutlet)
            #expect {
                try Menu.decide(command, in: state)
            } throws: {
                ($0 as? Rejection)?.subject == .field(field)
            }
        }
    }
}
