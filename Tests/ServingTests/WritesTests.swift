import CommandHandling
import Domain
import EventLog
import EventLoop
import Testing
import TextFormats
import Users

@testable import Application
@testable import Serving

@Suite(.timeLimit(.minutes(1))) struct WritesTests {
    init() { LoopActor.startInBackground() }

    /// A write `X <thing> NOTE …`.
    private static let (declaration, thing, note) = {
        var parameters = ParameterList(for: "X")
        let thing = parameters.required("thing", .order)
        let note = parameters.option("NOTE", "text", .text)
        let declaration = CommandDeclaration("X", .carts, role: .customer, effect: .write(.cart), "Tests.", parameters)
        return (declaration, thing, note)
    }()

    /// What a call is answered, as a client would read it.
    @LoopActor
    private static func answer(
        _ rooms: Rooms, _ words: [String], within confinement: Confinement? = nil,
        _ submit: (borrowing Call) throws(Failure) -> Response
    ) async -> String {
        do throws(Failure) {
            let response = try Arguments.with((["X"] + words).map { Array($0.utf8) }) { arguments throws(Failure) in
                try submit(try Call(declaration, arguments, within: confinement))
            }
            rooms.partitions.startWork()
            var result: Result<Answer, Failure>?
            response.whenKnown { result = $0 }
            await rooms.turns { result != nil }
            switch try result?.get() {
            case .integer(let number)?: return "\(number)"
            case .text(let text)?: return text
            default: return "no answer"
            }
        } catch {
            return "\(error.code.word) \(error.message)"
        }
    }

    @LoopActor
    private static func cancel(_ rooms: Rooms, _ order: Identifier, by customer: Identifier?, _ text: String?) async
        -> String
    {
        let words = [order.rawValue] + (text.map { ["NOTE", $0] } ?? [])
        return await answer(rooms, words, within: customer.map { Confinement(ofCustomer: $0) }) {
            call throws(Failure) in
            try rooms.writes.submit(to: try call[thing], call, giving: note) {
                .cancel(by: .customer, .other, text: $0)
            }
        }
    }

    @LoopActor
    private static func add(
        _ rooms: Rooms, _ item: Identifier, for customer: Identifier, _ text: String, kind: TextKind = .note
    ) async -> String {
        await answer(rooms, ["c", "NOTE", text, "ID", "1-\(item)"]) { call throws(Failure) in
            try rooms.writes.submit(
                .cart("c"), call, of: customer, sealing: [PersonalArgument(Text(text), in: note, as: kind)]
            ) { sealed, _, _ in
                .cart(
                    .add(
                        Cart.Addition(
                            outlet: "o", item: item, quantity: 1, note: sealed[0].map(PersonalText.sealed),
                            customer: customer, offer: rooms.partitions.offer(of: item, with: [], at: "o"))))
            }
        }
    }

    // MARK: Orders

    @Test(arguments: [nil, "no time"]) @LoopActor
    func `an order of somebody else looks as if it were not there`(text: String?) async throws {
        let keys = InMemoryCustomerKeys()
        _ = try await keys.makeKey(of: "asha", partition: 0)
        try await Rooms.with(keys: keys) { rooms in
            await rooms.place("theirs", from: "asha-cart", customer: "asha")
            #expect(await Self.cancel(rooms, "unknown", by: "ben", text) == "NOTFOUND no such order: 'unknown'")
            // One whose id begins alike is somebody else, too.
            for customer in ["ben", "ash"] as [Identifier] {
                let answer = await Self.cancel(rooms, "theirs", by: customer, text)
                #expect(answer == "NOTFOUND no such order: 'theirs'")
            }
            #expect(rooms.status(of: "theirs") == .placed)
            #expect(await Self.cancel(rooms, "theirs", by: "asha", text) == "2")
            #expect(rooms.status(of: "theirs") == .cancelled)
        }
    }

    @Test(arguments: [nil, "asha" as Identifier]) @LoopActor
    func `a text for an order is sealed where the order has a customer, and only there`(customer: Identifier?)
        async throws
    {
        let keys = InMemoryCustomerKeys()
        guard case .known(let key) = try await keys.makeKey(of: "asha", partition: 0) else { return }
        try await Rooms.with(keys: keys) { rooms in
            await rooms.place("a", customer: customer)
            #expect(await Self.cancel(rooms, "a", by: nil, "no time") == "2")
            let event = try #require(try await rooms.log.read(partition: 0, after: 1, limit: 1).first).decoded()
            guard case .order(.cancelled(let ending)) = event.event else {
                Issue.record("it is not cancelled")
                return
            }
            let sealed = key.seal("no time", .reason, of: TextOwner(customer: "asha", cart: "c"))
            #expect(ending.text == (customer == nil ? .plain("no time") : .sealed(sealed)))
        }
    }

    @Test @LoopActor func `a text out of bounds is refused before anything is read`() async throws {
        let log = StagedLog()
        try await Rooms.with(on: log) { rooms in
            let before = log.calls.count
            let answer = await Self.cancel(rooms, "a", by: nil, String(repeating: "x", count: 10_000))
            #expect(answer.hasPrefix("INVALID NOTE: "))
            #expect(log.calls.count == before && rooms.partitions[0].waitingCommands == 0)
        }
    }

    // MARK: Keys

    @Test @LoopActor func `a customer without a key gets none if the command is refused`() async throws {
        let keys = InMemoryCustomerKeys()
        try await Rooms.with(keys: keys) { rooms in
            await rooms.open("o")
            #expect(await Self.add(rooms, "unknown", for: "asha", "hot").hasPrefix("NOTFOUND "))
            let key = try await keys.key(of: "asha", partition: 0)
            #expect(key == .unknown)
            #expect(rooms.sealer.trialCount == 0)
        }
    }

    @Test @LoopActor func `a customer without a key gets one for a command that is recorded, once`() async throws {
        let keys = InMemoryCustomerKeys()
        try await Rooms.with(keys: keys) { rooms in
            await rooms.open("o")
            #expect(await Self.add(rooms, "item-0", for: "asha", "hot") == "1")
            guard case .known(let key) = try await keys.key(of: "asha", partition: 0) else {
                Issue.record("no key was made")
                return
            }
            // Sent again with its id, it is the same command.
            #expect(await Self.add(rooms, "item-0", for: "asha", "hot") == "1")
            let events = try await rooms.log.read(partition: 0, after: 4, limit: 10)
            #expect(events.count == 1)
            guard case .cart(.itemAdded(let line, _, _, let customer)) = try events[0].decoded().event else {
                Issue.record("nothing was added")
                return
            }
            let owner = TextOwner(customer: "asha", cart: "c")
            #expect(customer == "asha" && line.note == .sealed(key.seal("hot", .note, of: owner)))
            // Nobody can guess the text from what the log keeps.
            let logged = String(decoding: events[0].payload + events[0].metadata, as: UTF8.self)
            #expect(!logged.contains("hot"))
        }
    }

    @Test @LoopActor func `nothing is accepted in the name of a customer who was forgotten`() async throws {
        let keys = InMemoryCustomerKeys()
        _ = try await keys.forget(["asha"])
        try await Rooms.with(keys: keys) { rooms in
            await rooms.open("o")
            #expect(await Self.add(rooms, "item-0", for: "asha", "hot").hasPrefix("FORGOTTEN "))
            #expect(rooms.partitions[0].position == 4)
        }
    }

    @Test @LoopActor func `a command says which version it expects`() async throws {
        try await Rooms.with { rooms in
            await rooms.open("o")
            @LoopActor func close(_ words: String...) async -> String {
                await Self.answer(rooms, ["o"] + words) { call throws(Failure) in
                    try rooms.writes.submit(.outlet("o"), call) { _, _ in .outlet(.close) }
                }
            }
            #expect(await close("VERSION", "1").hasPrefix("CONFLICT "))
            #expect(await close("VERSION", "2") == "3")
        }
    }
}
