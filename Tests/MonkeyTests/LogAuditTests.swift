import EventLoop
import LineProtocol
import Testing

@testable import Monkey

@Suite("The audit of the log")
struct LogAuditTests {
    init() { LoopActor.startInBackground() }

    /// An event, as it is answered; `id` is that of its command.
    private struct Event {
        var stream: String
        var version: Int64
        var kind: String
        var payload = "{}"
        var id: String?
        var position: Int64?
    }

    /// A run with a cart that was checked out, and one with something in it, and the log of all that.
    @LoopActor
    private struct Scene {
        let run: Run
        var events: [Event] = []

        init() throws {
            run = Run.unconnected(outlets: 1, items: 1, shoppers: 2)
            let (run, server) = (run, RightServer(run.world))
            let name = run.world.name
            func acknowledge(_ shopper: Shopper, _ call: Call, _ fate: WriteLedger.Fate = .recorded) throws {
                let reply = server.answer(call)
                let write = shopper.writes.begin()
                let flight = Flight(call, write: write)
                let verdict = try run.oracle.judge(flight, reply, of: shopper)
                #expect((verdict == .accepted) == (fate == .recorded))
                shopper.writes.settle(flight, reply, fate)
            }
            // What the owner did first: outlet and menu, with one item in one section.
            let outlet = run.world.outlets[0]
            for (call, version) in [
                (Call.putOutlet(0), Int64(1)), (.putMenu(0), 2), (.open(outlet: 0), 2),
            ] {
                let flight = Flight(call, write: run.shoppers[0].writes.begin())
                if let change = Oracle.change(call, run.world) { outlet.begin(change) }
                _ = try run.oracle.judge(flight, .integer(version), of: run.shoppers[0])
                run.shoppers[0].writes.settle(flight, .integer(version), .recorded)
            }
            events = [
                Event(stream: "outlet-\(outlet.id)", version: 1, kind: "outlet.registered", id: "0-1"),
                Event(stream: "menu-\(outlet.id)", version: 1, kind: "menu.sectionAdded", id: "0-2"),
                Event(stream: "menu-\(outlet.id)", version: 2, kind: "menu.itemAdded", id: "0-2"),
                Event(stream: "outlet-\(outlet.id)", version: 2, kind: "outlet.opened", id: "0-3"),
            ]
            let customer = run.shoppers[1]
            let first = customer.cart.id
            try acknowledge(customer, .add(first, outlet: 0, item: 0, quantity: 3, note: nil))
            try acknowledge(customer, .set(first, line: "i0", quantity: 2))
            try acknowledge(customer, .remove(first, line: "i1"), .nothing)
            try acknowledge(customer, .checkOut(first, total: 2 * outlet.menu.item(0).price))
            guard case .checkedOut(let order) = customer.cart.status else { return }
            customer.takeNewCart()
            let second = customer.cart.id
            try acknowledge(customer, .add(second, outlet: 0, item: 0, quantity: 5, note: nil))
            try acknowledge(customer, .remove(second, line: "i0"))
            try acknowledge(customer, .clear(second), .nothing)
            try acknowledge(customer, .add(second, outlet: 0, item: 0, quantity: 1, note: nil))
            try acknowledge(customer, .clear(second))
            try acknowledge(customer, .add(second, outlet: 0, item: 0, quantity: 4, note: nil))
            run.retire(customer.cart)
            let (one, two) = ("cart-\(name)-c1.0", "cart-\(name)-c1.1")
            events += [
                Event(stream: one, version: 1, kind: "cart.itemAdded", payload: #"{"quantity":3}"#, id: "1-1"),
                Event(stream: one, version: 2, kind: "cart.quantityChanged", payload: #"{"from":3,"to":2}"#, id: "1-2"),
                Event(
                    stream: "order-\(order)", version: 1, kind: "order.placed",
                    payload: #"{"cart":"\#(name)-c1.0","total":\#(2 * outlet.menu.item(0).price)}"#, id: "1-4"),
                Event(stream: one, version: 3, kind: "cart.checkedOut", id: "1-4"),
                Event(stream: two, version: 1, kind: "cart.itemAdded", payload: #"{"quantity":5}"#, id: "1-5"),
                Event(stream: two, version: 2, kind: "cart.lineRemoved", payload: #"{"quantity":5}"#, id: "1-6"),
                // Somebody else's.
                Event(stream: "cart-another", version: 7, kind: "cart.cleared"),
                Event(stream: "menu-another", version: 3, kind: "menu.itemSuspended", payload: #"{"to":"x"}"#),
                Event(stream: two, version: 3, kind: "cart.itemAdded", payload: #"{"quantity":1}"#, id: "1-8"),
                Event(stream: two, version: 4, kind: "cart.cleared", payload: #"{"count":1}"#, id: "1-9"),
                Event(stream: two, version: 5, kind: "cart.itemAdded", payload: #"{"quantity":4}"#, id: "1-10"),
            ]
        }

        /// The index of the event of that command.
        func index(_ id: String) -> Int { events.firstIndex { $0.id == id } ?? 0 }

        func findings() throws -> [String] {
            var audit = LogAudit(run)
            var next: Int64 = 100
            for event in events {
                let position = event.position ?? next
                let text = """
                    {"partition":0,"position":\(position),"stream":"\(event.stream)","version":\(event.version),\
                    "kind":"\(event.kind)","schemaVersion":1,"payload":\(event.payload),\
                    "metadata":\(event.id.map { #"{"id":"\#($0)","args":"0"}"# } ?? "{}"),"recordedAt":"now"}
                    """
                audit.take(try #require(LogEvent(Array(text.utf8)), "\(text)"), expected: next)
                next = position + 1
            }
            audit.finish()
            #expect(audit.findings.allSatisfy { $0.violation.check == .log })
            return audit.findings.map(\.violation.message)
        }
    }

    @Test("finds nothing wrong with a log that has what was acknowledged")
    @LoopActor
    func right() throws {
        #expect(try Scene().findings() == [])
    }

    /// Each with a part of what is said of it.
    private typealias Mistake = (what: String, said: String, make: @LoopActor (inout Scene) -> Void)
    @LoopActor private static let mistakes: [Mistake] = [
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
        ("a command is somebody else's", "no command of ours", { $0.events[$0.index("1-10")].id = "tap-1" }),
        ("a command has no ID", "no command of ours", { $0.events[$0.index("1-10")].id = nil }),
        (
            "a command is of a shopper that there is not", "no command of ours",
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
            { _ = try? $0.run.world.outlets[0].follow(3, of: .close(outlet: 0)) }
        ),
        ("a position is missing", "position 114", { $0.events[$0.events.count - 1].position = 120 }),
        (
            "a cart has another count", "a count of 5; acknowledged were 5 and 4",
            { $0.events[$0.index("1-10")].payload = #"{"quantity":5}"# }
        ),
        (
            "a quantity is another", "a count of 1; acknowledged were 3 and 2",
            { $0.events[$0.index("1-2")].payload = #"{"from":3,"to":1}"# }
        ),
        (
            "an order has another total", "with a total of 7; agreed was",
            { scene in
                let index = scene.index("1-4")
                scene.events[index].payload = #"{"cart":"\#(scene.run.world.name)-c1.0","total":7}"#
            }
        ),
        ("an order is missing", "in the log not at all", { $0.events.remove(at: $0.index("1-4")) }),
        (
            "an order is another cart's", "of cart",
            { scene in
                let index = scene.index("1-4")
                let (name, total) = (scene.run.world.name, 2 * scene.run.world.outlets[0].menu.item(0).price)
                scene.events[index].payload = #"{"cart":"\#(name)-c1.1","total":\#(total)}"#
            }
        ),
        (
            "an order was never placed", "and nobody told",
            { scene in
                let payload = #"{"cart":"\#(scene.run.world.name)-c1.1","total":7}"#
                scene.events.append(
                    Event(stream: "order-x", version: 1, kind: "order.placed", payload: payload, id: "1-10"))
            }
        ),
    ]

    @Test("finds what is wrong", arguments: 0..<21)
    @LoopActor
    func wrong(number: Int) throws {
        let mistake = Self.mistakes[number]
        var scene = try Scene()
        mistake.make(&scene)
        let findings = try scene.findings()
        #expect(findings.contains { $0.contains(mistake.said) }, "\(mistake.what): \(findings)")
        #expect(findings.count <= 2, "\(mistake.what): \(findings)")
    }

    @Test("has a finding for every mistake of the table")
    @LoopActor
    func table() { #expect(Self.mistakes.count == 21) }

    @Test("does not mind whether a command whose outcome is unknown is there, once")
    @LoopActor
    func unknown() throws {
        var scene = try Scene()
        let shopper = scene.run.shoppers[0]
        let number = shopper.writes.begin()
        #expect(number == 4 && shopper.writes.fate(4) == .unsure)
        #expect(try scene.findings() == [])
        scene = try Scene()
        let cart = "cart-\(scene.run.world.name)-c0.0"
        _ = scene.run.shoppers[0].writes.begin()
        let event = Event(stream: cart, version: 1, kind: "cart.itemAdded", payload: #"{"quantity":1}"#, id: "0-4")
        scene.events.append(event)
        #expect(try scene.findings() == [])
        scene.events.append(
            Event(stream: cart, version: 2, kind: "cart.itemAdded", payload: #"{"quantity":1}"#, id: "0-4"))
        let again = try scene.findings()
        #expect(again.contains { $0.contains("0-4 is in cart-") })
    }

    @Test(
        "reads no event out of what is none",
        arguments: ["", "{}", "[]", #"{"position":1}"#, #"{"position":0,"stream":"a","version":1,"kind":"b"}"#])
    func noEvents(text: String) {
        #expect(LogEvent(Array(text.utf8)) == nil)
    }
}

@Suite("The ledger of a shopper's writes")
struct WriteLedgerTests {
    init() { LoopActor.startInBackground() }

    @Test("knows what became of each, and the latest in full")
    @LoopActor
    func fates() {
        let ledger = WriteLedger()
        #expect(ledger.count == 0 && ledger.fate(0) == nil && ledger.fate(1) == nil)
        let cart = CartID(shopper: 0, number: 0)
        for number in 1...200 {
            #expect(ledger.begin() == number)
            #expect(ledger.fate(number) == .unsure)
            let fate: WriteLedger.Fate = number % 3 == 0 ? .nothing : .recorded
            ledger.settle(Flight(.clear(cart), write: number), .integer(Int64(number)), fate)
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
