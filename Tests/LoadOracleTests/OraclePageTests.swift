import LineProtocol
import OracleScene
import Testing

@testable import LoadOracle

@Suite("The oracle of pages")
struct OraclePageTests {
    /// Outlets of our own, which pages show.
    private final class Scene {
        let trial: Trial
        var world: World { trial.world }

        init() throws { trial = try Trial(outlets: 2, items: 24) }

        func own(_ call: Call) throws { try trial.own(call) }

        func listing(_ outlet: Int, _ item: Int) -> [String: Any] {
            let own = world.outlets[outlet]
            let plan = own.menu.item(item)
            let offer = own.current(item: item)
            return [
                "outlet": own.id, "item": plan.id, "kind": plan.kind, "name": plan.name, "price": offer.price,
                "currency": Outlet.currency, "tags": plan.tags, "available": offer.isAvailable, "city": world.name,
                "status": own.current(.doors).isAvailable ? "open" : "closed",
            ]
        }

        func outletListing(_ outlet: Int) -> [String: Any] {
            let own = world.outlets[outlet]
            return [
                "id": own.id, "name": "Monkey Kitchen \(outlet)", "city": world.name, "currency": Outlet.currency,
                "status": own.current(.doors).isAvailable ? "open" : "closed",
            ]
        }

        func page(_ items: [[String: Any]], total: Int? = nil) -> Reply {
            let total = total ?? items.count
            return .bulk(
                RightServer.bytes(["total": total, "items": items, "state": total == 0 ? "empty" : "ready"]))
        }

        func expectHeld(_ call: Call, _ reply: Reply, _ place: SourceLocation = #_sourceLocation) {
            #expect(throws: Never.self, sourceLocation: place) { try trial.judge(call, reply) }
        }

        func expectViolation(_ call: Call, _ reply: Reply, _ place: SourceLocation = #_sourceLocation) {
            trial.expectViolation(call, reply, place)
        }
    }

    private typealias Bounds = Call.Question.Bounds

    private static func browse(_ bounds: Bounds) -> Call { .browse(.init(words: [], bounds: bounds)) }

    @Test("accepts a correct page of an outlet, and finds listings that are missing, superfluous, or there twice")
    func totals() throws {
        let scene = try Scene()
        let all = (0..<12).map { scene.listing(0, $0) }
        let call = Self.browse(.init(outlet: 0, limit: 20))
        scene.expectHeld(call, scene.page(all))
        scene.expectHeld(Self.browse(.init(outlet: 0, limit: 5)), scene.page(Array(all.prefix(5)), total: 12))
        scene.expectViolation(call, scene.page(Array(all.dropLast())))
        scene.expectViolation(call, scene.page(Array(all.dropLast()), total: 12))
        scene.expectViolation(call, scene.page(Array(all.prefix(11)) + [all[0]]))
        scene.expectViolation(call, scene.page(all + [scene.listing(0, 12)]))
        scene.expectViolation(Self.browse(.init(outlet: 0, limit: 5)), scene.page(all))
        scene.expectViolation(call, scene.page(all, total: 13))
        scene.expectViolation(call, .null)
        scene.expectViolation(call, .bulk(Array("{}".utf8)))
        // The extra item comes when its owner lists it.
        try scene.own(.list(outlet: 0, item: 12, before: nil))
        scene.expectHeld(call, scene.page(all + [scene.listing(0, 12)]))
        scene.expectViolation(call, scene.page(all))
    }

    @Test("finds a listing that differs from what its owner made of it, whatever the query")
    func listings() throws {
        let scene = try Scene()
        try scene.own(.price(outlet: 1, item: 3, minor: 7))
        try scene.own(.suspend(outlet: 1, item: 4))
        let everything = Self.browse(.init(limit: 1))
        var stranger = scene.listing(0, 0)
        stranger.merge(["outlet": "somebody-elses", "price": 1]) { $1 }
        scene.expectHeld(everything, scene.page([stranger], total: 900))
        for (item, key, value) in [
            (3, "price", 8), (4, "available", true), (5, "available", false), (5, "name", "Another Pie"),
            (5, "kind", "promo"), (5, "tags", ["none"]), (5, "status", "closed"), (5, "item", "i99"),
        ] as [(Int, String, Any)] {
            var listing = scene.listing(1, item)
            scene.expectHeld(everything, scene.page([listing], total: 900))
            listing[key] = value
            scene.expectViolation(everything, scene.page([listing], total: 900))
        }
    }

    @Test("finds listings that do not match, and prices that are not in order")
    func filters() throws {
        let scene = try Scene()
        try scene.own(.suspend(outlet: 0, item: 4))
        let item = scene.listing(0, 5)
        let price = try #require(item["price"] as? Int64)
        let tags = try #require(item["tags"] as? [String])
        func page(_ item: [String: Any]) -> Reply { scene.page([item], total: 900) }
        scene.expectViolation(Self.browse(.init(outlet: 1, limit: 1)), page(item))
        scene.expectViolation(
            Self.browse(.init(tag: MenuPlan.tags.first { !tags.contains($0) }, limit: 1)), page(item))
        scene.expectHeld(Self.browse(.init(conditions: [.init(test: .price(price...price))], limit: 1)), page(item))
        let others = ItemCondition(test: .price((price + 1)...(price + 2)))
        scene.expectViolation(Self.browse(.init(conditions: [others], limit: 1)), page(item))
        scene.expectHeld(Self.browse(.init(isOpen: true, limit: 1)), page(item))
        scene.expectViolation(Self.browse(.init(isOpen: true, limit: 1)), page(scene.listing(0, 4)))
        scene.expectHeld(Self.browse(.init(currency: "EUR", limit: 1)), page(item))
        scene.expectViolation(Self.browse(.init(currency: "GBP", limit: 1)), page(item))
        var elsewhere = item
        elsewhere["city"] = "another"
        scene.expectViolation(Self.browse(.init(isOwn: true, limit: 1)), page(elsewhere))
        let sorted = (0..<12).map { scene.listing(0, $0) }.sorted {
            ($0["price"] as? Int64 ?? 0) < ($1["price"] as? Int64 ?? 0)
        }
        scene.expectHeld(Self.browse(.init(outlet: 0, sort: "price")), scene.page(sorted))
        scene.expectHeld(Self.browse(.init(outlet: 0, sort: "-price")), scene.page(sorted.reversed()))
        scene.expectViolation(Self.browse(.init(outlet: 0, sort: "-price")), scene.page(sorted))
        scene.expectViolation(Self.browse(.init(outlet: 0, sort: "price")), scene.page(sorted.reversed()))
        // The codes of currencies come before prices.
        let abroad = [("EUR", 900), ("GBP", 5), ("GBP", 100)].map { currency, price in
            ["outlet": "of-\(currency)-\(price)", "currency": currency, "price": price] as [String: Any]
        }
        scene.expectHeld(Self.browse(.init(limit: 3, sort: "price")), scene.page(abroad, total: 900))
        scene.expectViolation(
            Self.browse(.init(limit: 3, sort: "price")), scene.page([1, 0, 2].map { abroad[$0] }, total: 900))
        scene.expectViolation(Self.browse(.init(limit: 3, sort: "-price")), scene.page(abroad, total: 900))
    }

    @Test("knows how many outlets are open")
    func outlets() throws {
        let scene = try Scene()
        let question = Call.Question(words: [], bounds: .init(isOwn: true, isOpen: true, limit: 50))
        let both = [scene.outletListing(0), scene.outletListing(1)]
        scene.expectHeld(.outlets(question), scene.page(both))
        scene.expectViolation(.outlets(question), scene.page([both[0]]))
        try scene.own(.close(outlet: 1))
        scene.expectViolation(.outlets(question), scene.page(both))
        scene.expectHeld(.outlets(question), scene.page([both[0]]))
        // Nor is it shown as open; nor as closed unless that was asked for.
        scene.expectViolation(.outlets(question), scene.page([both[1]]))
        scene.expectViolation(.outlets(question), scene.page([scene.outletListing(1)]))
    }

    @Test("finds listings with a tag that was left out, however many of them a total counts")
    func excludedTags() throws {
        let scene = try Scene()
        let menu = scene.world.outlets[0].menu
        for tag in MenuPlan.tags {
            let parts = (0..<12).reduce(into: (with: [Int](), without: [Int]())) { parts, item in
                if menu.item(item).tags.contains(tag) { parts.with.append(item) } else { parts.without.append(item) }
            }
            let call = Self.browse(.init(outlet: 0, excludedTag: tag))
            let right = parts.without.map { scene.listing(0, $0) }
            scene.expectHeld(call, scene.page(right))
            scene.expectViolation(call, scene.page(Array(right.dropLast())))
            let wrong = try #require(parts.with.first)
            scene.expectViolation(call, scene.page(right.dropLast() + [scene.listing(0, wrong)]))
            // Of a part of the catalogue that the oracle does not know, it judges what is shown.
            scene.expectHeld(Self.browse(.init(excludedTag: tag, limit: 1)), scene.page([right[0]], total: 900))
            scene.expectViolation(
                Self.browse(.init(excludedTag: tag, limit: 1)), scene.page([scene.listing(0, wrong)], total: 900))
            // Nothing has a tag and does not have it.
            scene.expectHeld(Self.browse(.init(outlet: 0, tag: tag, excludedTag: tag)), scene.page([]))
        }
    }

    @Test("finds items whose attributes, kinds or prices do not match, or do and were left out")
    func conditions() throws {
        let scene = try Scene()
        let menu = scene.world.outlets[0].menu
        let prices = (0..<12).map { menu.item($0).price }.sorted()
        let tests: [ItemCondition.Test] = [
            .kind(["promo"]), .kind(["promo", "dessert"]), .price(prices[3]...prices[8]),
            .words(AttributePlan.vegan, ["true"]), .words(AttributePlan.allergens, ["nuts", "milk"]),
            .number("spice", least: nil, most: 5), .number("spice", least: 4, most: nil),
            .number("serves", least: nil, most: nil),
        ]
        for test in tests {
            for isExcluded in [false, true] {
                let condition = ItemCondition(test: test, isExcluded: isExcluded)
                let right = (0..<12).filter { condition.holds(of: menu.item($0), at: menu.item($0).price) }
                let wrong = (0..<12).filter { !right.contains($0) }
                let call = Self.browse(.init(outlet: 0, conditions: [condition]))
                func page(_ items: [Int]) -> Reply { scene.page(items.map { scene.listing(0, $0) }) }
                scene.expectHeld(call, page(right))
                let own = Self.browse(.init(isOwn: true, conditions: [condition], limit: 1))
                for item in wrong {
                    scene.expectViolation(own, scene.page([scene.listing(0, item)], total: 900))
                    // One is missing, and another is there in its place.
                    if !right.isEmpty { scene.expectViolation(call, page(right.dropLast() + [item])) }
                }
                for item in right {
                    scene.expectHeld(own, scene.page([scene.listing(0, item)], total: 900))
                    scene.expectViolation(call, page(right.filter { $0 != item }))
                }
            }
            // Nothing meets it and does not.
            let both = [false, true].map { ItemCondition(test: test, isExcluded: $0) }
            scene.expectHeld(Self.browse(.init(outlet: 0, conditions: both)), scene.page([]))
        }
        // The first twelve items have enough of everything to tell.
        for test in tests.dropLast() {
            let held = (0..<12).count { ItemCondition(test: test).holds(of: menu.item($0), at: menu.item($0).price) }
            #expect((1..<12).contains(held), "\(test)")
        }
        // Of others, the listing says as much as it shows.
        var stranger = scene.listing(0, 0)
        stranger.merge(["outlet": "somebody-elses", "kind": "soup", "price": 3]) { $1 }
        func expects(_ isRight: Bool, _ test: ItemCondition.Test, isExcluded: Bool = false) {
            let call = Self.browse(.init(conditions: [.init(test: test, isExcluded: isExcluded)], limit: 1))
            if isRight {
                scene.expectHeld(call, scene.page([stranger], total: 900))
            } else {
                scene.expectViolation(call, scene.page([stranger], total: 900))
            }
        }
        expects(true, .kind(["soup"]))
        expects(false, .kind(["soup"]), isExcluded: true)
        expects(false, .price(4...9))
        expects(true, .price(4...9), isExcluded: true)
        expects(true, .number("spice", least: 20, most: nil))
    }

    @Test("finds what can be ordered where that was left out, and outlets that are open")
    func excludedOpen() throws {
        let scene = try Scene()
        let call = Self.browse(.init(outlet: 0, isOpen: false))
        let outlets = Call.outlets(.init(words: [], bounds: .init(isOwn: true, isOpen: false)))
        scene.expectHeld(call, scene.page([]))
        scene.expectViolation(call, scene.page([scene.listing(0, 5)]))
        scene.expectHeld(outlets, scene.page([]))
        scene.expectViolation(outlets, scene.page([scene.outletListing(0)]))
        try scene.own(.suspend(outlet: 0, item: 4))
        scene.expectHeld(call, scene.page([scene.listing(0, 4)]))
        scene.expectViolation(call, scene.page([]))
        scene.expectViolation(call, scene.page([scene.listing(0, 5)]))
        // All of a closed outlet cannot be ordered.
        try scene.own(.close(outlet: 0))
        scene.expectHeld(call, scene.page((0..<12).map { scene.listing(0, $0) }))
        scene.expectViolation(call, scene.page([scene.listing(0, 4)]))
        scene.expectHeld(outlets, scene.page([scene.outletListing(0)]))
        scene.expectViolation(outlets, scene.page([]))
        // While the outlet is opening, either is right.
        try scene.trial.observe(.changeSent(.open(outlet: 0)))
        scene.expectHeld(call, scene.page([scene.listing(0, 4)]))
        scene.expectHeld(call, scene.page((0..<12).map { scene.listing(0, $0) }))
        scene.expectHeld(outlets, scene.page([]))
        scene.expectViolation(call, scene.page([]))
    }

    @Test("finds what is shown of a hidden outlet, and what is not shown of one that is not hidden")
    func hiddenOutlets() throws {
        let scene = try Scene()
        let browse = Self.browse(.init(outlet: 0))
        let outlets = Call.outlets(.init(words: [], bounds: .init(isOwn: true)))
        let surprise = Call.surprise(.init(words: [], bounds: .init(outlet: 0)))
        let all = scene.page((0..<12).map { scene.listing(0, $0) })
        let both = scene.page([scene.outletListing(0), scene.outletListing(1)])
        let one = scene.page([scene.outletListing(1)])
        // While it is being hidden, either is right.
        try scene.trial.observe(.changeSent(.hide(outlet: 0)))
        for reply in [all, scene.page([])] { scene.expectHeld(browse, reply) }
        for reply in [both, one] { scene.expectHeld(outlets, reply) }
        try scene.own(.hide(outlet: 0))
        scene.expectHeld(browse, scene.page([]))
        scene.expectViolation(browse, all)
        scene.expectHeld(outlets, one)
        scene.expectViolation(outlets, both)
        scene.expectViolation(outlets, scene.page([scene.outletListing(0)]))
        scene.expectHeld(surprise, .null)
        scene.expectViolation(surprise, .bulk(RightServer.bytes(scene.listing(0, 5))))
        scene.expectViolation(Self.browse(.init(limit: 1)), scene.page([scene.listing(0, 5)], total: 900))
        // Its home is there, and says so.
        try scene.trial.ask(.home(outlet: 0, since: nil, cart: nil))
        var home = scene.trial.server.home(0)
        home["outlet"] = ["id": scene.world.outlets[0].id, "status": "open"]
        home["revision"] = scene.trial.server.revision(0) + 1
        scene.expectViolation(.home(outlet: 0, since: nil, cart: nil), .bulk(RightServer.bytes(home)))
        try scene.own(.show(outlet: 0))
        scene.expectHeld(browse, all)
        scene.expectViolation(browse, scene.page([]))
        scene.expectHeld(outlets, both)
        scene.expectViolation(outlets, one)
    }

    @Test("finds outlets of another currency, and none of its own where another was asked for")
    func currencies() throws {
        let scene = try Scene()
        func outlets(_ currency: String) -> Call {
            .outlets(.init(words: [], bounds: .init(isOwn: true, currency: currency)))
        }
        let both = [0, 1].map { scene.outletListing($0) }
        scene.expectHeld(outlets(Outlet.currency), scene.page(both))
        scene.expectHeld(outlets("GBP"), scene.page([]))
        scene.expectViolation(outlets("GBP"), scene.page(both))
        scene.expectViolation(outlets("GBP"), scene.page([], total: 2))
        var abroad = both
        abroad[1]["currency"] = "GBP"
        scene.expectViolation(outlets(Outlet.currency), scene.page(abroad))
        scene.expectHeld(Self.browse(.init(outlet: 0, currency: "GBP")), scene.page([]))
        scene.expectViolation(Self.browse(.init(outlet: 0, currency: "GBP")), scene.page([], total: 12))
    }

    @Test("accepts a word that was given, byte for byte, and nothing else")
    func choices() throws {
        let scene = try Scene()
        let call = Call.choose(["pie", "caf\u{e9}", "pie"])
        for word in ["pie", "caf\u{e9}"] { scene.expectHeld(call, .bulk(Array(word.utf8))) }
        for word in ["salad", "", "Pie", "cafe\u{301}", "pie "] {
            scene.expectViolation(call, .bulk(Array(word.utf8)))
        }
        for reply: Reply in [.null, .integer(1), .array([.bulk(Array("pie".utf8))])] {
            scene.expectViolation(call, reply)
        }
    }

    @Test("reads the filters of a query, and refuses those that it would not judge")
    func questions() throws {
        let world = try Scene().world
        func bounds(_ words: String) -> Bounds? {
            Call.Question(words.split(separator: " ").map(String.init), world)?.bounds
        }
        #expect(bounds("NOT TAG new TAG spicy NOT OPEN") == .init(tag: "spicy", excludedTag: "new", isOpen: false))
        #expect(bounds("CURRENCY EUR OPEN") == .init(currency: "EUR", isOpen: true))
        #expect(
            bounds("NOT PRICE 1 2 KIND promo dessert ATTR spice * 1.5 NOT ATTR allergens ANY nuts milk OPEN")
                == .init(
                    conditions: [
                        .init(test: .price(1...2), isExcluded: true), .init(test: .kind(["promo", "dessert"])),
                        .init(test: .number("spice", least: nil, most: 3)),
                        .init(test: .words("allergens", ["nuts", "milk"]), isExcluded: true),
                    ], isOpen: true))
        for words in [
            "NOT", "NOT TAG", "NOT NOT OPEN", "OPEN NOT OPEN", "NOT TAG new NOT TAG spicy", "NOT CURRENCY EUR",
            "PRICE 2 1", "KIND", "KIND OPEN", "ATTR", "ATTR spice", "ATTR spice 1", "ATTR spice 2 1",
            "ATTR spice 1 1.2",
            "ATTR spice ANY", "NOT ATTR allergens ANY OPEN",
        ] { #expect(bounds(words) == nil, "\(words)") }
        for call: Call in [
            .choose(["pie"]), .choose(["NOT", "", "ID"]),
            .browse(try #require(Call.Question(["NOT", "TAG", "new", "NOT", "OPEN"], world))),
            .browse(try #require(Call.Question(["ATTR", "spice", "0", "1.5", "NOT", "KIND", "promo"], world))),
        ] { #expect(Call(recorded: call.recorded(world), world) == call) }
        #expect(Call(recorded: ["CHOOSE"], world) == nil)
    }

    @Test("accepts no surprise if there is nothing to choose from, and only then")
    func surprises() throws {
        let scene = try Scene()
        func surprise(_ bounds: Bounds) -> Call { .surprise(.init(words: [], bounds: bounds)) }
        let item = scene.listing(0, 5)
        scene.expectHeld(surprise(.init(outlet: 0)), .bulk(RightServer.bytes(item)))
        scene.expectViolation(surprise(.init(outlet: 1)), .bulk(RightServer.bytes(item)))
        scene.expectViolation(surprise(.init(outlet: 0)), .null)
        scene.expectHeld(surprise(.init(outlet: 0, conditions: [.init(test: .price(0...1))])), .null)
        scene.expectHeld(surprise(.init()), .null)
        try scene.own(.close(outlet: 0))
        scene.expectHeld(surprise(.init(outlet: 0, isOpen: true)), .null)
    }

    @Test("does not take a full server for a mistake, and remembers which queries were saved")
    func saving() throws {
        let scene = try Scene()
        let words = ["OUTLET", scene.world.outlets[0].id, "OPEN", "SORT", "price", "LIMIT", "10"]
        let call = Call.save(name: "cheapest", try #require(Call.Question(words, scene.world)))
        let verdict = try scene.trial.judge(call, .error(code: "LIMIT", message: "at most 250"))
        #expect(verdict == .refused(code: "LIMIT"))
        #expect(scene.trial.oracle.savedQuestions == [])
        let cheapest = (0..<12).map { scene.listing(0, $0) }
            .sorted { ($0["price"] as? Int64 ?? 0) < ($1["price"] as? Int64 ?? 0) }.prefix(10)
        scene.expectHeld(call, scene.page(Array(cheapest), total: 12))
        #expect(scene.trial.oracle.savedQuestions == ["cheapest"])
        scene.expectViolation(.drop(name: "x"), .integer(2))
    }
}
