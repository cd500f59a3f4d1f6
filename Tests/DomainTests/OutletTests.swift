import Domain
import Testing

@Suite struct OutletTests {
    private typealias Specification = DeciderSpecification<Outlet>
    typealias Case = DeciderCase<Outlet>

    private static let details = OutletDetails.sample
    private static let closed: [Outlet.Event] = [.registered(details)]
    private static let open = closed + [.opened]
    private static let paused = open + [.paused(until: 500, reason: "rush")]
    private static let following: [Outlet.Event] = [
        .registered(
            details.with(\.hours, [OpeningHours(day: .monday, opens: 0, closes: 60)!]).with(\.follows, .hours))
    ]
    private static let dayparts = ["breakfast", "lunch"].map {
        Daypart(id: $0, hours: [OpeningHours(day: .monday, opens: 0, closes: 60)!])
    }
    private static let dayparted: [Outlet.Event] = [.registered(details.with(\.dayparts, dayparts))]
    private static let lunch = DaypartTimes(active: ["lunch"], later: [.init("breakfast", begins: 9)])
    private static let resting = following + [.closedByHours()]
    private static let slow = open + [.slowed(minutes: 15, until: 500)]
    private static let hidden = open + [.hidden]
    private static let removed = paused + [.removed]

    // MARK: Every state and command

    @Test(
        arguments: [
            Case("none: put registers", when: .put(details), then: .events([.registered(details)])),
            Case("none: open", when: .open, then: .rejected(.notFound)),
            Case("none: close", when: .close, then: .rejected(.notFound)),
            Case("none: pause", when: .pause(until: 9, reason: nil, now: 1), then: .rejected(.notFound)),
            Case("none: hide", when: .hide, then: .rejected(.notFound)),
            Case("none: show", when: .show, then: .rejected(.notFound)),
            Case("none: remove", when: .remove, then: .rejected(.notFound)),

            Case("closed: the same again", given: closed, when: .put(details), then: .events([])),
            Case("closed: open", given: closed, when: .open, then: .events([.opened])),
            Case("closed: close", given: closed, when: .close, then: .events([])),
            Case(
                "closed: pause", given: closed, when: .pause(until: 9, reason: nil, now: 1),
                then: .rejected(.state, naming: ["closed"], allowed: [.openOutlet])),
            Case("closed: hide", given: closed, when: .hide, then: .events([.hidden])),
            Case("closed: show", given: closed, when: .show, then: .events([])),
            Case("closed: remove", given: closed, when: .remove, then: .events([.removed])),

            Case(
                "open: another name", given: open, when: .put(details.with(\.name, "Saffron")),
                then: .events([.detailsChanged([.name("Saffron")])])),
            Case("open: open", given: open, when: .open, then: .events([])),
            Case("open: close", given: open, when: .close, then: .events([.closed])),
            Case(
                "open: pause", given: open, when: .pause(until: 9, reason: "rush", now: 8),
                then: .events([.paused(until: 9, reason: "rush")])),

            Case(
                "paused: a detail goes away", given: paused, when: .put(details.with(\.city, nil)),
                then: .events([.detailsChanged([.city(nil)])])),
            Case("paused: open", given: paused, when: .open, then: .events([.opened])),
            Case("paused: close", given: paused, when: .close, then: .events([.closed])),
            Case(
                "paused: the same pause", given: paused, when: .pause(until: 500, reason: "rush", now: 1),
                then: .events([])),
            Case(
                "paused: another reason", given: paused, when: .pause(until: 500, reason: nil, now: 1),
                then: .events([.paused(until: 500, reason: nil)])),
            Case(
                "paused: longer", given: paused, when: .pause(until: 501, reason: "rush", now: 1),
                then: .events([.paused(until: 501, reason: "rush")])),
            Case("paused: hide", given: paused, when: .hide, then: .events([.hidden])),
            Case("paused: remove", given: paused, when: .remove, then: .events([.removed])),

            Case("slow: open ends it", given: slow, when: .open, then: .events([.opened])),
            Case("slow: close", given: slow, when: .close, then: .events([.closed])),
            Case(
                "slow: pause", given: slow, when: .pause(until: 9, reason: nil, now: 1),
                then: .events([.paused(until: 9, reason: nil)])),
            Case(
                "open: slow", given: open, when: .slow(minutes: 15, until: 500, now: 1),
                then: .events([.slowed(minutes: 15, until: 500)])),
            Case("slow: the same", given: slow, when: .slow(minutes: 15, until: 500, now: 1), then: .events([])),
            Case("slow: no longer", given: slow, when: .slow(minutes: 0, until: 500, now: 1), then: .events([.opened])),
            Case("open: not slow", given: open, when: .slow(minutes: 0, until: 500, now: 1), then: .events([])),
            Case(
                "open: in the past", given: open, when: .slow(minutes: 5, until: 5, now: 5), then: .rejected(.invalid)),
            Case(
                "slow: no longer, without an end", given: slow, when: .slow(minutes: 0, until: nil, now: 1),
                then: .events([.opened])),
            Case(
                "open: slow without an end", given: open, when: .slow(minutes: 5, until: nil, now: 1),
                then: .rejected(.invalid, about: .until)),
            Case(
                "open: below nothing", given: open, when: .slow(minutes: -1, until: 9, now: 5),
                then: .rejected(.invalid)),
            Case(
                "closed: slow", given: closed, when: .slow(minutes: 5, until: 9, now: 1),
                then: .rejected(.state, allowed: [.openOutlet])),
            Case(
                "paused: slow", given: paused, when: .slow(minutes: 5, until: 9, now: 1),
                then: .rejected(.state, allowed: [.openOutlet])),

            Case(
                "open: its hours count for nothing", given: open, when: .followHours(isOpen: false), then: .events([])),
            Case(
                "following: closed by its merchant", given: following, when: .followHours(isOpen: true),
                then: .events([])),
            Case("following: open", given: following, when: .openByHours(isOpen: true), then: .events([.opened])),
            Case(
                "following: open while its hours are closed", given: following, when: .openByHours(isOpen: false),
                then: .events([.closedByHours()])),
            Case(
                "resting: it opens at another time", given: resting, when: .followHours(isOpen: false, opensAt: 9),
                then: .events([.closedByHours(opensAt: 9)])),
            Case(
                "resting: it opens at the same time", given: following + [.closedByHours(opensAt: 9)],
                when: .followHours(isOpen: false, opensAt: 9), then: .events([])),
            Case(
                "closed: its dayparts begin and end all the same", given: dayparted,
                when: .followHours(isOpen: false, dayparts: lunch), then: .events([.daypartsChanged(lunch)])),
            Case(
                "closed: the same dayparts", given: dayparted + [.daypartsChanged(lunch)],
                when: .followHours(isOpen: false, dayparts: lunch), then: .events([])),
            Case(
                "closed: a daypart goes that the menu names", given: dayparted,
                when: .put(details, menuDayparts: ["lunch": "item 'tea'"]),
                then: .rejected(.state, naming: ["item 'tea'", "'lunch'"])),
            Case(
                "closed: a daypart twice", given: closed,
                when: .put(details.with(\.dayparts, dayparts + dayparts)),
                then: .rejected(.invalid, about: "dayparts[2].id")),
            Case(
                "closed: a daypart without hours", given: closed,
                when: .put(details.with(\.dayparts, [Daypart(id: "lunch", hours: [])])),
                then: .rejected(.invalid, about: "dayparts[0].hours")),
            Case(
                "closed: orders ahead without hours that act", given: closed,
                when: .put(details.with(\.orderAheadDays, 1)),
                then: .rejected(.invalid, about: "orderAheadDays")),
            Case(
                "following: more days ahead than there can be", given: following,
                when: .put(details.with(\.orderAheadDays, 15)), then: .rejected(.invalid, about: "orderAheadDays")),
            Case(
                "closed: slots without orders ahead", given: closed,
                when: .put(details.with(\.slots, .init(minutes: 15))), then: .rejected(.invalid, about: "slots")),
            Case("resting: again", given: resting, when: .openByHours(isOpen: false), then: .events([])),
            Case(
                "resting: its time comes", given: resting, when: .followHours(isOpen: true),
                then: .events([.openedByHours])),
            Case("resting: not yet", given: resting, when: .followHours(isOpen: false), then: .events([])),
            Case("resting: close", given: resting, when: .close, then: .events([.closed])),
            Case(
                "resting: pause", given: resting, when: .pause(until: 9, reason: nil, now: 1),
                then: .rejected(.state, allowed: [.openOutlet])),
            Case(
                "following: its time ends", given: following + [.opened], when: .followHours(isOpen: false),
                then: .events([.closedByHours()])),
            Case(
                "following, paused: its time ends", given: following + [.opened, .paused(until: 9, reason: nil)],
                when: .followHours(isOpen: false), then: .events([.closedByHours()])),
            Case(
                "following: closed in between", given: following + [.opened, .closed], when: .followHours(isOpen: true),
                then: .events([])),
            Case(
                "closed: follows no hours", given: closed,
                when: .put(details.with(\.hours, []).with(\.follows, .hours)),
                then: .rejected(.invalid, naming: ["follows"])),
            Case(
                "closed: a day twice", given: closed,
                when: .put(
                    details.with(
                        \.specialDays, [.init(CalendarDay("2026-12-24")!, []), .init(CalendarDay("2026-12-24")!, [])])),
                then: .rejected(.invalid, naming: ["specialDays"])),

            Case(
                "hidden: another name", given: hidden, when: .put(details.with(\.name, "Saffron")),
                then: .events([.detailsChanged([.name("Saffron")])])),
            Case("hidden: open", given: hidden, when: .open, then: .events([])),
            Case("hidden: close", given: hidden, when: .close, then: .events([.closed])),
            Case(
                "hidden: pause", given: hidden, when: .pause(until: 9, reason: nil, now: 1),
                then: .events([.paused(until: 9, reason: nil)])),
            Case("hidden: hide", given: hidden, when: .hide, then: .events([])),
            Case("hidden: show", given: hidden, when: .show, then: .events([.shown])),
            Case("hidden: remove", given: hidden, when: .remove, then: .events([.removed])),

            Case(
                "removed: put", given: removed, when: .put(details),
                then: .rejected(.state, naming: ["removed", "not used again"])),
            Case("removed: open", given: removed, when: .open, then: .rejected(.notFound, naming: ["removed"])),
            Case("removed: close", given: removed, when: .close, then: .rejected(.notFound)),
            Case(
                "removed: pause", given: removed, when: .pause(until: 9, reason: nil, now: 1),
                then: .rejected(.notFound)),
            Case("removed: hide", given: removed, when: .hide, then: .rejected(.notFound)),
            Case("removed: show", given: removed, when: .show, then: .rejected(.notFound)),
            Case("removed: remove", given: removed, when: .remove, then: .events([])),
        ] as [Case])
    func `every state answers every command`(_ row: Case) { row.check() }

    @Test(
        arguments: [
            Case(
                "now", given: open, when: .pause(until: 9, reason: nil, now: 9),
                then: .rejected(.invalid, about: .until)),
            Case(
                "the past", given: paused, when: .pause(until: 8, reason: nil, now: 9),
                then: .rejected(.invalid, about: .until)),
            Case(
                "an empty reason", given: open, when: .pause(until: 9, reason: "", now: 1),
                then: .rejected(.invalid, about: .reason)),
            Case(
                "a long reason", given: open,
                when: .pause(until: 9, reason: Text(String(repeating: "x", count: 501)), now: 1),
                then: .rejected(.invalid, about: .reason)),
        ] as [Case])
    func `a pause must end in the future, with a reason of bounded length`(_ row: Case) { row.check() }

    private static let taxed = details.with(
        \.pricing,
        PricingTerms(
            taxIncluded: true,
            taxes: [
                .init(id: "vat", name: "VAT", rate: .sample(20_000)),
                .init(id: "food", name: "Food", rate: .sample(5_000)),
            ]))

    @Test func `a tax that an item names stays, and any other may go`() {
        let history: [Outlet.Event] = [.registered(Self.taxed)]
        var less = Self.taxed
        less.pricing.taxes.removeLast()
        let given = Specification.given(history)
        given.when(.put(less, menuTaxes: ["food": "item 'pie'"])).thenRejected(.state, naming: ["'pie'", "'food'"])
        given.when(.put(less, menuTaxes: ["vat": "item 'pie'"])).then([
            .detailsChanged([.pricing(less.pricing)])
        ])
        given.when(.put(Self.taxed.with(\.name, "Saffron"), menuTaxes: ["food": "item 'pie'", "gone": "item 'tea'"]))
            .then([
                .detailsChanged([.name("Saffron")])
            ])
    }

    @Test func `only a command that drops a tax needs the menu`() throws {
        let state = try Outlet.state(after: [.registered(Self.taxed)])
        #expect(!Outlet.Command.put(Self.taxed).restsOnMenu(in: state))
        #expect(Outlet.Command.put(Self.details).restsOnMenu(in: state))
        #expect(!Outlet.Command.put(Self.details).restsOnMenu(in: .unregistered))
        #expect(!Outlet.Command.open.restsOnMenu(in: state))
    }

    @Test func `the currency stays what it was`() {
        var changed = Self.details
        changed.currency = .usd
        Specification.given(Self.open).when(.put(changed)).thenRejected(.state, naming: ["INR"])
    }

    @Test func `a pause that has ended takes orders again`() throws {
        guard case .registered(_, let status, _) = try Outlet.state(after: Self.paused) else {
            Issue.record("not registered")
            return
        }
        #expect(!status.takesOrders(at: 499))
        #expect(status.takesOrders(at: 500))
        #expect(Outlet.Status.open.takesOrders(at: 0))
        #expect(!Outlet.Status.closed.takesOrders(at: 0))
    }

    @Test func `an outlet stays hidden, whatever changes, until it is shown`() throws {
        let changes: [Outlet.Event] = [
            .closed, .opened, .paused(until: 500, reason: nil), .detailsChanged([.name("Saffron")]),
        ]
        for change in changes {
            guard case .registered(_, _, isHidden: true) = try Outlet.state(after: Self.hidden + [change]) else {
                Issue.record("no longer hidden after \(change)")
                continue
            }
        }
        #expect(
            try Outlet.state(after: Self.hidden + [.closed, .shown])
                == .registered(Self.details, .closed, isHidden: false))
    }

    // MARK: Bounds

    private static let edge = Text(String(repeating: "é", count: 100))  // 200 bytes
    private static let line = Text(String(repeating: "x", count: 300))

    @Test(arguments: [
        details.with(\.name, "x"), details.with(\.name, edge), details.with(\.city, line),
        details.with(\.cuisines, Array(repeating: line, count: 50)), details.with(\.priceForTwo, .maximum),
        details.with(\.priceForTwo, 0), details.with(\.minimumOrder, .maximum), details.with(\.ratingCount, 0),
        details.with(\.ratingCount, 1_000_000_000), details.with(\.deliveryMinutes, 1_440),
        details.with(\.hours, Array(repeating: OpeningHours(day: .monday, opens: 0, closes: 1)!, count: 50)),
    ])
    func `a value at its bound is accepted`(_ details: OutletDetails) {
        Specification.given().when(.put(details)).then([.registered(details)])
    }

    @Test(arguments: [
        ("name", details.with(\.name, "")), ("name", details.with(\.name, "\(edge)x")),
        ("name", details.with(\.name, "two\nlines")), ("city", details.with(\.city, "")),
        ("city", details.with(\.city, "\(line)x")), ("area", details.with(\.area, "\u{7F}")),
        ("address", details.with(\.address, "")), ("timeZone", details.with(\.timeZone, "")),
        ("cuisines", details.with(\.cuisines, Array(repeating: "x", count: 51))),
        ("cuisines[1]", details.with(\.cuisines, ["x", ""])), ("priceForTwo", details.with(\.priceForTwo, -1)),
        ("priceForTwo", details.with(\.priceForTwo, 1_000_000_000_001)),
        ("minimumOrder", details.with(\.minimumOrder, -1)), ("ratingCount", details.with(\.ratingCount, -1)),
        ("ratingCount", details.with(\.ratingCount, 1_000_000_001)),
        ("deliveryMinutes", details.with(\.deliveryMinutes, 1_441)),
        ("hours", details.with(\.hours, Array(repeating: OpeningHours(day: .monday, opens: 0, closes: 1)!, count: 51))),
    ])
    func `a value out of bounds is refused by the name of its field`(_ field: String, _ details: OutletDetails) {
        Specification.given().when(.put(details)).thenRejected(.invalid, naming: [field + ":"])
        Specification.given(Self.open).when(.put(details)).thenRejected(.invalid, naming: [field + ":"])
    }

    // MARK: History

    @Test(
        arguments: [
            [.opened], [.closed], [.paused(until: 1, reason: nil)], [.detailsChanged([])],
            [.hidden], [.shown], [.removed], [.registered(details), .registered(details)],
            removed + [.registered(details)], removed + [.opened], removed + [.removed],
        ] as [[Outlet.Event]])
    func `an impossible event throws`(_ history: [Outlet.Event]) {
        #expect(throws: ImpossibleEvent.self) { try Outlet.state(after: history) }
    }
}
