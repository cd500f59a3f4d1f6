import EventLoop
import LineClient
import LineProtocol
import OracleScene
import Testing

@testable import LoadOracle
@testable import Monkey

@Suite("Scenarios")
struct ScenarioTests {
    init() { LoopActor.startInBackground() }

    /// The first commands of a shopper whose server makes no mistakes, without the name of the run: `count`, or up to
    /// the one after which enough has been seen.
    @LoopActor
    private static func calls(
        _ type: any Scenario.Type, seed: UInt64, shopper index: Int, count: Int,
        until isEnough: (String) -> Bool = { _ in false }
    ) throws -> [String] {
        let run = Run.unconnected(
            outlets: 3, items: 60, shoppers: 4, seed: seed, kitchens: type.needsKitchens ? KitchenTerms.kitchens : 0)
        let server = try RightServer.built(in: run)
        let shopper = run.shoppers[index]
        var scenario = type.init()
        var time: UInt64 = 1_000
        var lines: [String] = []
        while lines.count < count {
            let call = scenario.next(shopper)
            time += 2
            var line = call.summary(run.world)
            // Reads lead to nothing else.
            if call.kind.isWrite
                || [.cartGet, .cartCount, .cartQuote, .orderGet, .kitchen, .orders].contains(call.kind)
            {
                let reply = server.answer(call)
                try run.answer(call, reply, to: index, at: time)
                // Times and quotes are others in another run.
                if case .checkOutQuote = call { line = "CART.CHECKOUT QUOTE" }
                let isTimed: Bool =
                    switch call {
                    case .quote, .kitchen, .orders: true
                    case .order(let order): run.oracle.order(order) != nil
                    default: false
                    }
                if !isTimed { line += " → \(reply.summary)" }
            } else if case .home(let outlet, nil, nil) = call {
                shopper.customer.home = (outlet, server.revision(outlet))
            }
            lines.append(line.replacing(run.world.name, with: "m"))
            if isEnough(line) { break }
        }
        return lines
    }

    @Test("do the same with the same seed, and something different with another", arguments: 0..<Scenarios.all.count)
    @LoopActor
    func seeds(number: Int) throws {
        let scenario = Scenarios.all[number]
        let first = try Self.calls(scenario, seed: 5, shopper: 1, count: 150)
        // Names contain the time, so this is another time.
        #expect(try Self.calls(scenario, seed: 5, shopper: 1, count: 150) == first, "\(scenario.name)")
        guard ![Adds.name, Counts.name].contains(scenario.name) else { return }
        #expect(try Self.calls(scenario, seed: 6, shopper: 1, count: 150) != first, "\(scenario.name)")
        #expect(try Self.calls(scenario, seed: 5, shopper: 2, count: 150) != first, "\(scenario.name)")
    }

    @Test(
        "do what they are for",
        arguments: [
            ("fling", "OUTLET.HOME ITEM.GET"), ("chips", "OUTLET.TAGS OUTLET.HOME BROWSE"),
            ("promos", "CART.ADD CART.COUNT OUTLET.HOME"), ("desserts", "CART.ADD CART.COUNT OUTLET.HOME"),
            ("cart", "CART.ADD CART.EDIT CART.SET CART.REMOVE CART.CLEAR CART.COUNT CART.GET CART.CHECKOUT"),
            ("browse", "BROWSE OUTLETS SURPRISE CHOOSE"), ("hot", "OUTLET.HOME CART.ADD"),
            ("watch", "SUBSCRIBE UNSUBSCRIBE OUTLET.HOME CART.GET CART.ADD BROWSE.SAVE MENU.ITEM.PRICE"),
            (
                "merchant",
                "MENU.ITEM.PRICE MENU.ITEM.SUSPEND MENU.ITEM.RESUME MENU.ITEM.PUT MENU.ITEM.REMOVE OUTLET.CLOSE "
                    + "OUTLET.HIDE MENU.OPTION.PRICE MENU.OPTION.SUSPEND MENU.OPTION.RESUME"
            ),
            (
                "kitchen",
                "CART.ADD CART.EDIT CART.TIP CART.SERVICE CART.QUOTE CART.CHECKOUT MENU.OPTION.SUSPEND SUBSCRIBE UNSUBSCRIBE ORDER.GET KITCHEN ORDERS "
                    + "ORDER.ACCEPT ORDER.REJECT ORDER.PREPARE ORDER.READY ORDER.COMPLETE ORDER.DELAY ORDER.CANCEL "
                    + "ORDER.PAYMENT ORDER.REFUND"
            ),
            ("monkey", "CART.ADD OUTLET.HOME BROWSE MENU.ITEM.PRICE SUBSCRIBE"),
            ("stress", "CART.ADD OUTLET.HOME BROWSE MENU.ITEM.PRICE SUBSCRIBE"), ("add", "CART.ADD"),
            ("count", "CART.COUNT"), ("home", "OUTLET.HOME"),
        ])
    @LoopActor
    func kinds(name: String, commands: String) throws {
        let scenario = try #require(Scenarios.named(name))
        var missing = Set(commands.split(separator: " "))
        for shopper in 1...2 where !missing.isEmpty {
            _ = try Self.calls(scenario, seed: 5, shopper: shopper, count: 2_000) { line in
                missing.remove(line.prefix { $0 != " " })
                return missing.isEmpty
            }
        }
        #expect(missing.isEmpty)
    }

    @Test("browse with every filter that the oracle knows, and leave out what matches some")
    @LoopActor
    func filters() throws {
        var missing: Set = [
            "BROWSE NOT TAG", "BROWSE NOT OPEN", "BROWSE CURRENCY EUR SORT", "SURPRISE NOT TAG", "SURPRISE NOT OPEN",
            "OUTLETS NOT OPEN", "OUTLETS CURRENCY EUR", "BROWSE ATTR spice", "BROWSE NOT ATTR",
            "BROWSE ATTR allergens ANY",
            "BROWSE KIND", "BROWSE NOT KIND", "BROWSE NOT PRICE", "SURPRISE NOT ATTR",
        ]
        _ = try Self.calls(Browsing.self, seed: 5, shopper: 1, count: 4_000) { line in
            let words = line.split(separator: " ")
            missing = missing.filter { wanted in
                let wanted = wanted.split(separator: " ")
                return words.first != wanted.first || !words.contains(wanted.dropFirst())
            }
            return missing.isEmpty
        }
        #expect(missing == [])
    }

    @Test("fling back to an item that the shopper has, and ask what has changed in it")
    @LoopActor
    func keptItems() throws {
        let run = Run.unconnected(outlets: 1, items: 8, shoppers: 1, seed: 5)
        let server = try RightServer.built(in: run)
        let shopper = run.shoppers[0]
        var (scenario, time, sent) = (Fling(), UInt64(1_000), Set<String?>())
        for _ in 0..<400 {
            guard case .item(let outlet, let item, let since) = scenario.next(shopper) else { continue }
            sent.insert(since)
            let call = Call.item(outlet: outlet, item: item, since: since)
            var reply = server.answer(.item(outlet: outlet, item: item))
            if since == "d\(item)" {
                reply = .null
            } else if since != nil, case .bulk(let document) = reply {
                let text = String(decoding: document, as: UTF8.self)
                let patch = #"[{"op":"replace","path":"","value":\#(text)}]"#
                reply = .bulk(Array(#"{"from":null,"to":"d\#(item)","patch":\#(patch)}"#.utf8))
            }
            time += 2
            try run.answer(call, reply, to: 0, at: time)
        }
        // Without a digest, with that of nothing, and with those of its items.
        #expect(sent.isSuperset(of: [nil, "0"]) && sent.count > 3)
    }

    @Test("are named once, and found by their names")
    @LoopActor
    func names() {
        #expect(Set(Scenarios.all.map { $0.name }).count == Scenarios.all.count)
        for scenario in Scenarios.all { #expect(Scenarios.named(scenario.name)?.name == scenario.name) }
        #expect(Scenarios.named("nothing") == nil)
    }

    @Test("send only what the server can read", arguments: 0..<Scenarios.all.count)
    @LoopActor
    func words(number: Int) throws {
        for seed: UInt64 in 0..<5 {
            let run = Run.unconnected(outlets: 1, items: 1, shoppers: 1, seed: seed, kitchens: KitchenTerms.kitchens)
            _ = try RightServer.built(in: run)
            var scenario = Scenarios.all[number].init()
            for _ in 0..<200 {
                let words = scenario.next(run.shoppers[0]).words(run.world)
                #expect(words.allSatisfy { !$0.isEmpty })
                #expect(words.dropFirst().first.map { $0.count <= 64 } ?? true)
            }
        }
    }
}

extension Run {
    /// A run that is not connected to anything.
    static func unconnected(outlets: Int, items: Int, shoppers: Int, seed: UInt64, kitchens: Int = 0) -> Run {
        var options = RunOptions()
        options.size = World.Size(outlets: outlets, items: items, carts: 0, kitchens: kitchens)
        options.shoppers = shoppers
        options.connections = 1
        options.seed = seed
        options.mode = .open(stages: nil)
        return Run(options) { _ in .standard }
    }

    /// The shopper sends a call and is answered; nothing may be wrong with that.
    fileprivate func answer(_ call: Call, _ reply: Reply, to shopper: Int, at time: UInt64) throws {
        if oracle.isChange(call) { observe(.changeSent(call)) }
        if case .step = call { observe(.stepSent(customer: shopper, call: call, at: time)) }
        observe(
            .exchange(
                Exchange(
                    customer: shopper, call: call, write: 0, planned: time, sent: time, answered: time + 1, reply: reply
                )))
        try #require(oracle.findings.isEmpty, "\(oracle.findings)")
    }
}

extension RightServer {
    /// A server on which every outlet of a run has been built.
    @LoopActor
    fileprivate static func built(in run: Run) throws -> RightServer {
        let server = RightServer(run.world)
        for outlet in run.world.outlets {
            for call in [Call.putOutlet(outlet.index), .putMenu(outlet.index), .open(outlet: outlet.index)] {
                try run.answer(call, server.answer(call), to: outlet.owner, at: 1)
            }
        }
        return server
    }
}
