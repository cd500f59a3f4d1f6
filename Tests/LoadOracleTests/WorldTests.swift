import Foundation
import SeededRandom
import Testing

@testable import LoadOracle

@Suite("The monkey's world")
struct WorldTests {
    @Test(
        "has menus that the server takes", arguments: Array(1...60) + [100, 969, 970, 971, 1_000, 2_500, 4_998, 4_999])
    func menus(items: Int) throws {
        let plan = MenuPlan(items: items, seed: 7)
        #expect(plan.itemCount == items && (1...100).contains(plan.sections.count))
        // Every item is in one section, in order, and no section is empty.
        #expect(plan.sections.flatMap { Array($0.items) } == Array(0..<items))
        #expect(plan.sections.allSatisfy { !$0.items.isEmpty })
        #expect(plan.sections.map(\.index) == Array(plan.sections.indices))
        for section in plan.sections {
            #expect(section.items.allSatisfy { plan.item($0).section == section.index && !plan.item($0).isExtra })
        }
        let extras = plan.everyItem.suffix(MenuPlan.extras)
        #expect(extras.allSatisfy { plan.item($0).isExtra && plan.sections.indices.contains(plan.item($0).section) })
        #expect(plan.everyItem.allSatisfy { (100...4_000).contains(plan.item($0).price) })

        let menu = try #require(
            try JSONSerialization.jsonObject(with: Data(plan.json.utf8)) as? [String: [[String: Any]]])
        let sections = try #require(menu["sections"])
        let shown = sections.map { ($0["items"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String } }
        #expect(shown == plan.sections.map { $0.items.map(ItemPlan.id) })
    }

    @Test("has the same items for the same seed, and different ones for another")
    func seeds() {
        let (one, same, other) = (
            MenuPlan(items: 50, seed: 1), MenuPlan(items: 50, seed: 1), MenuPlan(items: 50, seed: 2)
        )
        #expect(one.json == same.json)
        #expect(one.json != other.json)
    }

    @Test("knows its items and carts by their ids")
    func ids() {
        for index in [0, 7, 4_999] { #expect(ItemPlan.index(of: ItemPlan.id(index)) == index) }
        #expect(ItemPlan.index(of: "x7") == nil && ItemPlan.index(of: "i") == nil && ItemPlan.index(of: "") == nil)
        let world = World(.init(name: "m1", size: .usual, seed: 1, customers: 3))
        let cart = CartID(shopper: 12, number: 34)
        #expect(world.cart(named: world.cartName(cart)) == cart)
        for text in ["m1-c12", "m2-c1.2", "m1-o1", "m1-c1.x", "m1-c", "", "m12-c1.2", "m1-c1.+2", "m1-c01.2"] {
            #expect(world.cart(named: text) == nil, "\(text)")
        }
    }

    @Test(
        "gives every outlet an owner, and every item to an outlet", arguments: [(1, 1), (3, 100), (10, 25), (50, 50)])
    func sizes(outlets: Int, items: Int) {
        let world = World(
            .init(name: "m", size: .init(outlets: outlets, items: items, carts: 0), seed: 1, customers: 4))
        #expect(world.outlets.map(\.menu.itemCount).reduce(0, +) == items)
        #expect(world.outlets.allSatisfy { (0..<4).contains($0.owner) && $0.menu.itemCount > 0 })
        #expect(Set(world.outlets.map(\.id)).count == outlets)
    }

    @Test("picks hot outlets by Zipf's law")
    func zipf() {
        let world = World(
            .init(name: "m", size: .init(outlets: 10, items: 10, carts: 0), seed: 1, customers: 1))
        var chance = SeededGenerator(seed: 3)
        var counts = [Double](repeating: 0, count: 10)
        let picks = 100_000
        for _ in 0..<picks { counts[world.pickHotOutlet(&chance).index] += 1 }
        let sum = (1...10).reduce(0) { $0 + 1 / Double($1) }
        for (index, count) in counts.enumerated() {
            let expected = Double(picks) / Double(index + 1) / sum
            // Five standard deviations.
            #expect(abs(count - expected) < 5 * expected.squareRoot(), "outlet \(index)")
        }
        let one = World(.init(name: "m", size: .init(outlets: 1, items: 1, carts: 0), seed: 1, customers: 1))
        #expect(one.pickHotOutlet(&chance).index == 0)
    }

    @Test("has random numbers that can be repeated, in proportion to weights")
    func chance() {
        var (one, same, other) = (
            SeededGenerator(seed: 1, of: 0), SeededGenerator(seed: 1, of: 0), SeededGenerator(seed: 1, of: 1)
        )
        let numbers = (0..<50).map { _ in one.next() }
        #expect(numbers == (0..<50).map { _ in same.next() })
        #expect(numbers != (0..<50).map { _ in other.next() })
        var counts = [0.0, 0, 0]
        for _ in 0..<10_000 { counts[one.pick(weights: [1, 0, 3])] += 1 }
        #expect(counts[1] == 0 && abs(counts[0] - 2_500) < 5 * 2_500.0.squareRoot())
    }
}

/// What may have been said about an item, compared with every order in which things can have happened.
@Suite("The time line of an outlet")
struct OutletTimelineTests {
    @Test("has the offers between a call and its reply, and none that had ended before", arguments: UInt64(0)..<16)
    func possible(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let menu = MenuPlan(items: 3, seed: 1)
        let outlet = Outlet(index: 0, id: "o", owner: 0, menu: menu)
        // Offers after each change, the first being those of the menu.
        var past: [[Offer]] = [menu.everyItem.map { outlet.current(item: $0) }]
        var pending: [Offer]?
        for _ in 0..<60 {
            if let offers = pending {
                if random.chance(70) {
                    outlet.settle(at: 0)
                    past.append(offers)
                } else {
                    outlet.abandon()
                }
                pending = nil
            } else {
                let item = random.number(0..<5)
                var offer = past[past.count - 1][item]
                switch random.number(0..<3) {
                case 0: offer.price = Int64(random.number(1..<4))
                case 1: offer.isAvailable.toggle()
                default: offer.isListed.toggle()
                }
                outlet.begin(Outlet.Change(target: .item(item), offer: offer))
                pending = past[past.count - 1]
                pending?[item] = offer
            }
            #expect(outlet.settledCount == past.count - 1)
            let floor = random.number(0..<past.count)
            for item in menu.everyItem {
                let expected = Set((past[floor...] + (pending.map { [$0] } ?? [])).map { $0[item] })
                let possible = outlet.possible(.item(item), since: floor)
                #expect(Set(possible) == expected && possible.count == expected.count)
                #expect(outlet.current(item: item) == past[past.count - 1][item])
            }
        }
    }

    @Test("keeps the latest changes of an item, however many there are")
    func manyChanges() {
        let outlet = Outlet(index: 0, id: "o", owner: 0, menu: MenuPlan(items: 1, seed: 1))
        for price in 1...1_000 {
            outlet.begin(.init(target: .item(0), offer: Offer(price: Int64(price), isAvailable: true, isListed: true)))
            outlet.settle(at: 0)
            #expect(outlet.current(item: 0).price == Int64(price))
            let since = outlet.possible(.item(0), since: max(0, price - 10)).map(\.price)
            #expect(since == (max(price - 10, 1)...price).map(Int64.init) || price <= 10)
        }
    }

    @Test("follows versions, and finds one that is skipped, repeated or goes back")
    func versions() throws {
        let world = World(.init(name: "m", size: .init(outlets: 1, items: 1, carts: 0), seed: 1, customers: 1))
        let outlet = world.outlets[0]
        func follow(_ version: Int64, _ call: Call) throws -> Bool {
            if let change = Oracle.change(call, world) { outlet.begin(change) }
            let isChange = try outlet.follow(version, of: call)
            outlet.settle(at: 0)
            return isChange
        }
        #expect(try follow(1, .putOutlet(0)))
        #expect(try follow(12, .putMenu(0)))
        #expect(try follow(2, .open(outlet: 0)))
        #expect(try !follow(2, .open(outlet: 0)))
        #expect(try follow(13, .price(outlet: 0, item: 0, minor: 7)))
        #expect(try !follow(13, .price(outlet: 0, item: 0, minor: 7)))
        for step: Int64 in [-1, 0, 2] {
            let wrong = outlet.menuVersion + step
            #expect(throws: Violation.self, "a step of \(step)") {
                try follow(wrong, .price(outlet: 0, item: 0, minor: 9))
            }
            // It is reported once: the next version is compared with this one.
            #expect(outlet.menuVersion == wrong)
            outlet.settle(at: 0)
            #expect(try follow(wrong + 1, .price(outlet: 0, item: 0, minor: 7)))
        }
        #expect(throws: Violation.self) { try follow(outlet.menuVersion, .putMenu(0)) }
        #expect(throws: Violation.self) { try follow(outlet.outletVersion + 1, .open(outlet: 0)) }
    }
}
