import LineProtocol
import Testing

@testable import LoadOracle

@Suite("The audit of the log")
struct LogAuditTests {
    /// An event as it is answered; `id` is that of its command.
    private struct Event {
        var stream: String
        var version: Int64
        var kind: String
        var payload = "{}"
        var id: String?
        var position: Int64?
    }

    /// A run with a cart that was checked out, and one with something in it, and the log of that.
    private struct Scene {
        let trial: Trial
        var events: [Event] = []
        var world: World { trial.world }

        init() throws {
            let trial = try Trial(outlets: 1, items: 1, customers: 2, builds: false)
            self.trial = trial
            let (outlet, name) = (trial.world.outlets[0], trial.world.name)
            // What the owner did first: outlet and menu, with one item in one section.
            for call in [Call.putOutlet(0), .putMenu(0), .open(outlet: 0)] { try trial.own(call) }
            events = [
                Event(stream: "outlet-\(outlet.id)", version: 1, kind: "outlet.registered", id: "0-1"),
                Event(stream: "menu-\(outlet.id)", version: 1, kind: "menu.sectionAdded", id: "0-2"),
                Event(stream: "menu-\(outlet.id)", version: 2, kind: "menu.itemAdded", id: "0-2"),
                Event(stream: "outlet-\(outlet.id)", version: 2, kind: "outlet.opened", id: "0-3"),
            ]
            func acknowledge(_ call: Call, _ expected: Verdict = .accepted) throws {
                #expect(try trial.ask(call) == expected)
            }
            let customer = trial.customer
            let first = customer.cart.id
            try acknowledge(.add(first, outlet: 0, item: 0, quantity: 3, note: nil))
            try acknowledge(.set(first, line: "i0", quantity: 2))
            try acknowledge(.remove(first, line: "i1"), .refused(code: "NOTFOUND"))
            try acknowledge(.checkOut(first, total: 2 * outlet.menu.item(0).price))
            guard case .checkedOut(let order) = customer.cart.status else { return }
            try trial.observe(.newCart(customer: 1))
            let second = customer.cart.id
            try acknowledge(.add(second, outlet: 0, item: 0, quantity: 5, note: nil))
            try acknowledge(.remove(second, line: "i0"))
            try acknowledge(.clear(second), .unchanged)
            try acknowledge(.add(second, outlet: 0, item: 0, quantity: 1, note: nil))
            try acknowledge(.clear(second))
            try acknowledge(.add(second, outlet: 0, item: 0, quantity: 4, note: nil))
            let (one, two) = ("cart-\(name)-c1.0", "cart-\(name)-c1.1")
            events += [
                Event(stream: one, version: 1, kind: "cart.itemAdded", payload: #"{"quantity":3}"#, id: "1-1"),
                Event(stream: one, version: 2, kind: "cart.quantityChanged", payload: #"{"from":3,"to":2}"#, id: "1-2"),
                Event(
                    stream: "order-\(order)", version: 1, kind: "order.placed",
                    payload: #"{"cart":"\#(name)-c1.0","total":\#(2 * outlet.menu.item(0).price)}"#, id: "1-4"),
                Event(
                    stream: one, version: 3, kind: "cart.checkedOut", payload: #"{"lines":[{"quantity":2}]}"#, id: "1-4"
                ),
                Event(stream: two, version: 1, kind: "cart.itemAdded", payload: #"{"quantity":5}"#, id: "1-5"),
                Event(stream: two, version: 2, kind: "cart.lineRemoved", payload: #"{"quantity":5}"#, id: "1-6"),
                // An event of somebody else.
                Event(stream: "cart-another", version: 7, kind: "cart.cleared"),
                Event(stream: "menu-another", version: 3, kind: "menu.itemSuspended", payload: #"{"to":"x"}"#),
                Event(stream: two, version: 3, kind: "cart.itemAdded", payload: #"{"quantity":1}"#, id: "1-8"),
                Event(stream: two, version: 4, kind: "cart.cleared", payload: #"{"count":1}"#, id: "1-9"),
                Event(stream: two, version: 5, kind: "cart.itemAdded", payload: #"{"quantity":4}"#, id: "1-10"),
            ]
        }

        /// The index of the event of that command.
        func index(_ id: String) -> Int { events.firstIndex { $0.id == id } ?? 0 }

        func findings() -> [String] {
            var next: Int64 = 101
            let log = events.map { event in
                let position = event.position ?? next
                next = position + 1
                return Array(
                    #"""
                    {"partition":0,"position":\#(position),"stream":"\#(event.stream)","version":\#(event.version),\#
                    "kind":"\#(event.kind)","schemaVersion":1,"payload":\#(event.payload),\#
                    "metadata":\#(event.id.map { #"{"id":"\#($0)","args":"0"}"# } ?? "{}"),"recordedAt":"now"}
                    """#.utf8)
            }
            trial.oracle.take(.logBegins(heads: [100], at: 0))
            for event in log { trial.oracle.take(.logEvent(partition: 0, event: event)) }
            trial.oracle.take(.logEnds(heads: [next - 1], at: 0))
            #expect(trial.oracle.findings.allSatisfy { $0.check == .log })
            return trial.oracle.findings.map(\.message)
        }
    }

    @Test("finds nothing wrong with a log that has what was acknowledged")
    func right() throws {
        #expect(try Scene().findings() == [])
    }

    /// Each mistake, with a part of the finding's message.
    private typealias Mistake = (what: String, said: String, make: @Sendable (inout Scene) -> Void)
    private static let mistakes: [Mistake] = [
        ("an acknowledged command is missing", "1-10 was acknowledged", { $0.events.removeLast() }),
        (
            "a command in the middle is missing", "goes from version 3 to 5",
            { $0.events.remove(at: $0.index("1-9")) }
        ),
        (
            "a command is there twice", "1-10 is in cart-",
            { scene in
                var again = scene.events[scene.index("1-10")]
                again.version = 6
                scene.events.append(again)
            }
        ),
        ("a command is somebody else's", "by no command of this run", { $0.events[$0.index("1-10")].id = "tap-1" }),
        ("a command has no ID", "by no command of this run", { $0.events[$0.index("1-10")].id = nil }),
        (
            "a command is of a shopper that does not exist", "by no command of this run",
            { $0.events[$0.index("1-10")].id = "7-1" }
        ),
        ("a command was never sent", "never sent", { $0.events[$0.index("1-10")].id = "1-99" }),
        ("a command was refused", "1-3, which was refused", { $0.events[$0.index("1-2")].id = "1-3" }),
        ("a command had nothing to do", "1-7, which was refused", { $0.events[$0.index("1-9")].id = "1-7" }),
        ("a version is missing", "goes from version 4 to 6", { $0.events[$0.index("1-10")].version = 6 }),
        ("a version is there twice", "goes from version 4 to 4", { $0.events[$0.index("1-10")].version = 4 }),
        ("a menu's version is missing", "goes from version 1 to 3", { $0.events[2].version = 3 }),
        ("an outlet has an event too few", "0-3 was acknowledged", { $0.events.remove(at: 3) }),
        (
            "an owner was told of another version", "has 2 events, and its owner was told of version 3",
            { _ = try? $0.world.outlets[0].follow(3, of: .close(outlet: 0)) }
        ),
        ("a position is missing", "position 115", { $0.events[$0.events.count - 1].position = 120 }),
        (
            "a cart has another count", "a count of 5; acknowledged were 5 and 4",
            { $0.events[$0.index("1-10")].payload = #"{"quantity":5}"# }
        ),
        (
            "a quantity is another", "counts 2, and the cart held 1",
            { $0.events[$0.index("1-2")].payload = #"{"from":3,"to":1}"# }
        ),
        (
            "an order has another total", "with a total of 7; the agreed total was",
            { scene in
                let index = scene.index("1-4")
                scene.events[index].payload = #"{"cart":"\#(scene.world.name)-c1.0","total":7}"#
            }
        ),
        ("an order is missing", "is not in the log", { $0.events.remove(at: $0.index("1-4")) }),
        (
            "an order is another cart's", "belongs to cart",
            { scene in
                let index = scene.index("1-4")
                let (name, total) = (scene.world.name, 2 * scene.world.outlets[0].menu.item(0).price)
                scene.events[index].payload = #"{"cart":"\#(name)-c1.1","total":\#(total)}"#
            }
        ),
        (
            "an order was never placed", "and nobody was told",
            { scene in
                let payload = #"{"cart":"\#(scene.world.name)-c1.1","total":7}"#
                scene.events.append(
                    Event(stream: "order-x", version: 1, kind: "order.placed", payload: payload, id: "1-10"))
            }
        ),
        (
            "a changed order has another total", "costs 7, and its lines and charges 6",
            { scene in
                var event = scene.events[scene.index("1-4")]
                (event.version, event.kind, event.id) = (2, "order.changed", nil)
                event.payload = #"{"lines":[{"unitPrice":3,"quantity":2}],"total":7}"#
                scene.events.append(event)
            }
        ),
    ]

    @Test("finds every mistake", arguments: 0..<22)
    func wrong(number: Int) throws {
        let mistake = Self.mistakes[number]
        var scene = try Scene()
        mistake.make(&scene)
        let findings = scene.findings()
        #expect(findings.contains { $0.contains(mistake.said) }, "\(mistake.what): \(findings)")
        #expect(findings.count <= 2, "\(mistake.what): \(findings)")
    }

    @Test("has a finding for every mistake in the table")
    func table() { #expect(Self.mistakes.count == 22) }

    @Test("accepts a command with an unknown outcome, whether it is there once or not at all")
    func unknown() throws {
        var scene = try Scene()
        let cart = CartID(shopper: 0, number: 0)
        func giveUp() { scene.trial.oracle.take(.unanswered(customer: 0, call: .clear(cart), write: 4)) }
        giveUp()
        #expect(scene.trial.oracle.customers[0].writes.fate(4) == .unsure)
        #expect(scene.findings() == [])
        let stream = "cart-\(scene.world.cartName(cart))"
        let event = Event(stream: stream, version: 1, kind: "cart.itemAdded", payload: #"{"quantity":1}"#, id: "0-4")
        scene = try Scene()
        giveUp()
        scene.events.append(event)
        #expect(scene.findings() == [])
        scene = try Scene()
        giveUp()
        var again = event
        again.version = 2
        scene.events += [event, again]
        #expect(scene.findings().contains { $0.contains("0-4 is in cart-") })
    }

    @Test(
        "reads no event from a text that is not one",
        arguments: ["", "{}", "[]", #"{"position":1}"#, #"{"position":0,"stream":"a","version":1,"kind":"b"}"#])
    func noEvents(text: String) {
        #expect(LogEvent(Array(text.utf8)) == nil)
    }
}

@Suite("The ledger of a customer's writes")
struct WriteLedgerTests {
    @Test("knows what became of each, and the latest in full")
    func fates() {
        let ledger = WriteLedger()
        #expect(ledger.count == 0 && ledger.fate(0) == nil && ledger.fate(1) == nil)
        let cart = CartID(shopper: 0, number: 0)
        for number in 1...200 {
            ledger.begin(number)
            #expect(ledger.fate(number) == .unsure)
            let fate: WriteLedger.Fate = number % 3 == 0 ? .nothing : .recorded
            let exchange = Exchange(
                customer: 0, call: .clear(cart), write: number, planned: 0, sent: 0, answered: 0,
                reply: .integer(Int64(number)))
            ledger.settle(exchange, fate)
            #expect(ledger.fate(number) == fate)
        }
        #expect(ledger.fate(201) == nil && ledger.fate(-1) == nil)
        #expect(ledger.recorded(200)?.reply == .integer(200))
        #expect(ledger.recorded(100) == nil)
        #expect(ledger.unseen == (1...200).filter { $0 % 3 != 0 })
        for number in 1...199 { #expect(!ledger.see(number)) }
        #expect(ledger.see(7))
        #expect(ledger.unseen == [200])
        #expect(ledger.fate(7) == .recorded)
    }
}
