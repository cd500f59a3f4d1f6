import EventLoop
import LineClient
import LineProtocol
import SeededRandom
import Testing

@testable import Monkey

@Suite("Scenarios")
struct ScenarioTests {
    init() { LoopActor.startInBackground() }

    /// The first commands of a shopper with a server that is right, without the name of the run.
    @LoopActor
    private static func calls(_ type: any Scenario.Type, seed: UInt64, shopper index: Int, count: Int) throws
        -> [String]
    {
        let run = Run.unconnected(outlets: 3, items: 60, shoppers: 4, seed: seed)
        let server = RightServer(run.world)
        let shopper = run.shoppers[index]
        try server.build(run.oracle, shopper)
        var scenario = type.init()
        return try (0..<count).map { _ in
            let call = scenario.next(shopper)
            let floor = (call.outlet.map { run.world.outlets[$0] } ?? shopper.cart.outlet)?.settledCount ?? 0
            if let outlet = call.outlet, let change = Oracle.change(call, run.world) {
                run.world.outlets[outlet].begin(change)
            }
            shopper.cart.commands += 1
            var line = call.summary(run.world)
            // What is looked at leads to nothing else.
            if call.kind.isWrite || [.cartGet, .cartCount, .orderGet].contains(call.kind) {
                let reply = server.answer(call)
                _ = try run.oracle.judge(Flight(call, floor: floor), reply, of: shopper)
                line += " → \(reply.summary)"
            } else if case .home(let outlet, _, _) = call {
                shopper.held = (outlet, server.revision(outlet))
            }
            return line.replacing(run.world.name, with: "m")
        }
    }

    @Test("do the same with the same seed, and something else with another", arguments: 0..<Scenarios.all.count)
    @LoopActor
    func seeds(number: Int) throws {
        let scenario = Scenarios.all[number]
        let first = try Self.calls(scenario, seed: 5, shopper: 1, count: 300)
        // Names have the time in them: another time.
        #expect(try Self.calls(scenario, seed: 5, shopper: 1, count: 300) == first, "\(scenario.name)")
        guard ![Adds.name, Counts.name].contains(scenario.name) else { return }
        #expect(try Self.calls(scenario, seed: 6, shopper: 1, count: 300) != first, "\(scenario.name)")
        #expect(try Self.calls(scenario, seed: 5, shopper: 2, count: 300) != first, "\(scenario.name)")
    }

    @Test(
        "do what they are for",
        arguments: [
            ("fling", "OUTLET.HOME ITEM.GET"), ("chips", "OUTLET.TAGS OUTLET.HOME BROWSE"),
            ("promos", "CART.ADD CART.COUNT OUTLET.HOME"), ("desserts", "CART.ADD CART.COUNT OUTLET.HOME"),
            ("cart", "CART.ADD CART.SET CART.REMOVE CART.CLEAR CART.COUNT CART.GET CART.CHECKOUT"),
            ("browse", "BROWSE OUTLETS SURPRISE"), ("hot", "OUTLET.HOME CART.ADD"),
            ("watch", "SUBSCRIBE UNSUBSCRIBE OUTLET.HOME CART.GET CART.ADD BROWSE.SAVE MENU.ITEM.PRICE"),
            (
                "merchant",
                "MENU.ITEM.PRICE MENU.ITEM.SUSPEND MENU.ITEM.RESUME MENU.ITEM.PUT MENU.ITEM.REMOVE OUTLET.CLOSE"
            ),
            ("monkey", "CART.ADD OUTLET.HOME BROWSE MENU.ITEM.PRICE SUBSCRIBE"),
            ("stress", "CART.ADD OUTLET.HOME BROWSE MENU.ITEM.PRICE SUBSCRIBE"), ("add", "CART.ADD"),
            ("count", "CART.COUNT"), ("home", "OUTLET.HOME"),
        ])
    @LoopActor
    func kinds(name: String, commands: String) throws {
        let scenario = try #require(Scenarios.named(name))
        let calls = try Self.calls(scenario, seed: 5, shopper: 1, count: 3_000)
        let done = Set(calls.compactMap { $0.split(separator: " ").first.map(String.init) })
        #expect(done.isSuperset(of: commands.split(separator: " ").map(String.init)))
    }

    @Test("are named once, and found by their names")
    @LoopActor
    func names() {
        #expect(Set(Scenarios.all.map { $0.name }).count == Scenarios.all.count)
        for scenario in Scenarios.all { #expect(Scenarios.named(scenario.name)?.name == scenario.name) }
        #expect(Scenarios.named("nothing") == nil)
    }

    @Test("send nothing that the server cannot read", arguments: 0..<Scenarios.all.count)
    @LoopActor
    func words(number: Int) throws {
        for seed: UInt64 in 0..<5 {
            let run = Run.unconnected(outlets: 1, items: 1, shoppers: 1, seed: seed)
            let server = RightServer(run.world)
            try server.build(run.oracle, run.shoppers[0])
            var scenario = Scenarios.all[number].init()
            for _ in 0..<200 {
                let words = scenario.next(run.shoppers[0]).words(run.world)
                #expect(words.allSatisfy { !$0.isEmpty })
                #expect(words.dropFirst().first.map { $0.count <= 64 } ?? true)
            }
        }
    }
}
