import Domain
import EventLog
import Foundation
import SeededRandom
import Testing

@testable import Audit

@Suite struct `Why a cart is as it is` {
    @Test func `a line says when, where and what, the price then and now, and the command`() {
        var history = RecordedHistory.withKitchen
        history.append(added(line("pie", 2, at: 1500)), to: .cart, id: "tap-1")
        history.append(added(line("bun", 1, at: 250, note: "warm")), to: .cart)
        history.append(.cart(.quantityChanged(line: "bun", from: 1, to: 4)), to: .cart, id: "tap-2")
        history.append(.menu(.itemRepriced(Identifier("pie")!, Amount(minorUnits: 1705))), to: .menu)
        history.append(added(line("pie", 1, at: 1705)), to: .cart)
        history.append(.menu(.itemRemoved(Identifier("bun")!)), to: .menu)
        #expect(
            history.cartHistory.text(last: 9) == [
                "cart c1: 4 events in partition 0 of the log",
                "2026-11-21 14:02:08Z  #6 v1   added 2 × Pie at 15.00 GBP (now 17.05), from outlet kitchen — tap-1",
                "2026-11-21 14:02:09Z  #7 v2   added 1 × Bun at 2.50 GBP (no longer on the menu), note \"warm\"",
                "2026-11-21 14:02:10Z  #8 v3   changed Bun from 1 to 4 — tap-2",
                "2026-11-21 14:02:12Z  #10 v4  added 1 × Pie at 17.05 GBP, to 2 which cost 15.00 before",
                "",
                "now: version 4, open at outlet kitchen",
                "  3 × Pie at 17.05 GBP = 51.15 GBP, from v1, v4",
                "  4 × Bun at 2.50 GBP = 10.00 GBP, note \"warm\" (no longer on the menu), from v2, v3",
                "  total 61.15 GBP",
            ])
    }

    @Test func `removed and cleared items are listed, and leave no line`() {
        var history = RecordedHistory.withKitchen
        history.append(added(line("pie", 2, at: 1500)), to: .cart)
        history.append(added(line("bun", 3, at: 250)), to: .cart)
        history.append(.cart(.lineRemoved(line: "pie", quantity: 2)), to: .cart)
        history.append(.cart(.cleared(count: 3)), to: .cart)
        let text = history.cartHistory.text(last: 2)
        #expect(text.contains { $0.hasSuffix("removed 2 × Pie") })
        #expect(text.contains { $0.hasSuffix("cleared the cart of 3 items") })
        #expect(text[1] == "(2 earlier events not shown; see --last)")
        #expect(text.last == "now: version 4, empty")
        history.append(added(line("pie", 1, at: 1500)), to: .cart)
        #expect(history.cartHistory.text(last: 9).suffix(2).first == "  1 × Pie at 15.00 GBP = 15.00 GBP, from v5")
    }

    @Test func `an order shows the history of its cart and what was agreed`() {
        var history = RecordedHistory.withKitchen
        history.append(added(line("pie", 2, at: 1500)), to: .cart)
        history.append(.menu(.itemRepriced(Identifier("pie")!, Amount(minorUnits: 1600))), to: .menu)
        let lines = [line("pie", 2, at: 1600)]
        let placement = Order.Placement(
            cart: StreamName.cart.id, outlet: .kitchen, currency: pounds, lines: lines, total: Amount(minorUnits: 3200))
        history.append(.order(.placed(placement)), to: .order, id: "pay")
        history.append(
            .cart(.checkedOut(order: StreamName.order.id, lines: lines, total: placement.total)), to: .cart, id: "pay")
        #expect(OrderHistory.cart(of: history.of(.order)) == StreamName.cart.id)
        #expect(
            OrderHistory(StreamName.order.id, history.of(.order), history.cartHistory).text(last: 9) == [
                "order o1, from cart c1, in partition 0 of the log",
                "2026-11-21 14:02:08Z  #6 cart v1   added 2 × Pie at 15.00 GBP (now 16.00), from outlet kitchen",
                "2026-11-21 14:02:10Z  #8 order v1  placed with outlet kitchen: 2 items for 32.00 GBP — pay",
                "2026-11-21 14:02:11Z  #9 cart v2   checked out as order o1 for 32.00 GBP, Pie at 16.00 instead of "
                    + "15.00 — pay",
                "",
                "now: version 1, placed",
                "agreed:",
                "  2 × Pie at 16.00 GBP = 32.00 GBP, from v1, v2",
                "  total 32.00 GBP",
            ])
    }

    @Test(arguments: SeededGenerator.seeds)
    func `every event has a line, and the lines of a cart come from the events that name them`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var history = RecordedHistory.withKitchen
        var state = Cart.initial
        // The versions that the cart's lines come from, according to the commands.
        var expected: [Text: [Int64]] = [:]
        var version: Int64 = 0
        for _ in 0..<random.number(1..<40) {
            let name = random.pick(["pie", "bun"])
            let line = Text(name)
            let price = Int64(random.number(1..<4) * 100)
            let offer = Offer.available(
                Offer.Item(
                    name: Text(name.capitalized), unitPrice: Amount(minorUnits: price), currency: pounds,
                    maxQuantity: 99))
            let command: Cart.Command =
                switch random.number(0..<10) {
                case 0: .clear
                case 1: .remove(line: line)
                case 2...4: .set(line: line, quantity: random.number(0..<5))
                default:
                    .add(
                        Cart.Addition(
                            outlet: .kitchen, item: Identifier(name)!, quantity: random.number(1..<3), offer: offer))
                }
            for event in (try? Cart.decide(command, in: state)) ?? [] {
                version += 1
                try Cart.evolve(&state, event)
                history.append(.cart(event), to: .cart)
                switch command {
                case .clear: expected = [:]
                case .remove, .set(_, 0, _): expected[line] = nil
                default: expected[line, default: []].append(version)
                }
            }
        }
        let shown = history.cartHistory
        #expect(shown.state == state)
        #expect(shown.origins == expected)
        #expect(shown.lines.map(\.version) == Array(1...version))
        #expect(shown.lines.allSatisfy { !$0.words.isEmpty })
    }

    @Test func `nothing is shown after damage`() {
        var history = RecordedHistory.withKitchen
        history.append(added(line("pie", 2, at: 1500)), to: .cart)
        history.append(EventKind(name: "cart.itemAdded", schemaVersion: 1), Array("{}".utf8), to: .cart, id: "x")
        history.append(added(line("bun", 1, at: 250)), to: .cart)
        let text = history.cartHistory.text(last: 9)
        #expect(text[2].contains("#7 v2  cart.itemAdded: damaged, nothing is shown from here on: "))
        #expect(text[3].hasSuffix("#8 v3  cart.itemAdded: not shown, the history is damaged before it"))
        #expect(text.last == "now: CORRUPT, damaged since v2")
    }

    @Test func `a missing version is damage`() {
        var history = RecordedHistory.withKitchen
        for _ in 0..<3 { history.append(added(line("pie", 2, at: 1500)), to: .cart) }
        var events = history.of(.cart)
        events.remove(at: 1)
        let text = CartHistory(StreamName.cart.id, events, history.menus()).text(last: 9)
        #expect(text[2].hasSuffix("damaged, nothing is shown from here on: version 3 after 1"))
    }

    @Test func `sealed texts are shown as far as they are known`() {
        var history = RecordedHistory.withKitchen
        let (note, name) = (SealedText(ciphertext: "x"), SealedText(ciphertext: "y"))
        var pie = line("pie", 1, at: 1500)
        pie.note = .sealed(note)
        let asha = Identifier("asha")!
        history.append(.cart(.itemAdded(pie, outlet: .kitchen, currency: pounds, customer: asha)), to: .cart)
        history.append(.cart(.itemAdded(pie, outlet: .kitchen, currency: pounds, customer: asha)), to: .cart)
        pie.quantity = 2
        let placement = Order.Placement(
            cart: StreamName.cart.id, outlet: .kitchen, currency: pounds, lines: [pie],
            total: Amount(minorUnits: 3000), customer: asha, name: name)
        history.append(.order(.placed(placement)), to: .order)
        history.append(
            .cart(
                .checkedOut(
                    order: StreamName.order.id, lines: [pie], total: placement.total, customer: asha, name: name)),
            to: .cart)

        let owner = TextOwner(customer: asha, cart: StreamName.cart.id)
        let passages = SealedTextUse.all(in: history.of(.cart))
        #expect(passages.map(\.text) == [note, name])
        #expect(passages.allSatisfy { $0.owner == owner && $0.position == 9 })
        #expect(passages.map(\.line) == ["pie", nil])
        #expect(SealedTextUse.all(in: history.of(.order)).map(\.order) == [StreamName.order.id, StreamName.order.id])

        var opened = DecryptedTexts()
        opened[note] = "cold"
        for (texts, shown) in [(DecryptedTexts(), "[sealed]"), (opened, "cold")] {
            let text = history.cartHistory(texts).text(last: 9)
            #expect(text[1].hasSuffix("\"\(shown)\", from outlet kitchen, for customer asha"))
            #expect(text[2].hasSuffix("note \"\(shown)\", to 1"))
            #expect(text[3].hasSuffix("for 30.00 GBP, under the name \"[sealed]\""))
            #expect(text[6] == "  2 × Pie at 15.00 GBP = 30.00 GBP, note \"\(shown)\", from v1, v2")
        }
        opened[name] = "Asha"
        let order = OrderHistory(StreamName.order.id, history.of(.order), history.cartHistory(opened), opened)
        #expect(order.text(last: 9).suffix(3).first == "agreed under the name \"Asha\":")
    }

    @Test func `a closed outlet and sold-out items are mentioned`() {
        var history = RecordedHistory.withKitchen
        history.append(added(line("pie", 1, at: 1500)), to: .cart)
        history.append(.menu(.itemSuspended(Identifier("pie")!, until: nil)), to: .menu)
        history.append(.outlet(.closed), to: .kitchen)
        let text = history.cartHistory.text(last: 9)
        #expect(text[3] == "now: version 1, open at outlet kitchen (takes no orders now)")
        #expect(text[4] == "  1 × Pie at 15.00 GBP = 15.00 GBP (sold out now), from v1")
    }
}

@Suite struct `Why an outlet is as it is` {
    @Test func `its events and those of its menu are in the order of the log`() {
        var history = RecordedHistory.withKitchen
        history.append(.outlet(.detailsChanged([.name("Kitchen"), .city("Ayr")])), to: .kitchen, id: "n")
        history.append(.menu(.itemRepriced(Identifier("pie")!, Amount(minorUnits: 1600))), to: .menu)
        history.append(.menu(.itemSuspended(Identifier("bun")!, until: nil)), to: .menu)
        let shown = OutletHistory(.kitchen, history.of(.kitchen), menu: history.of(.menu))
        #expect(
            shown.text(last: 4) == [
                "outlet kitchen: 3 events of its own and 5 of its menu in partition 0 of the log",
                "(4 earlier events not shown; see --last)",
                "2026-11-21 14:02:07Z  #5 outlet v2  opened",
                "2026-11-21 14:02:08Z  #6 outlet v3  changed name to \"Kitchen\" (was \"The Kitchen\"), "
                    + "city to \"Ayr\" (was nothing) — n",
                "2026-11-21 14:02:09Z  #7 menu v4    repriced Pie (pie) from 15.00 GBP to 16.00 GBP",
                "2026-11-21 14:02:10Z  #8 menu v5    suspended Bun (bun)",
                "",
                "now: \"Kitchen\", outlet version 3, open since v2",
                "     menu version 5: 1 section, 2 items, 1 of them suspended",
            ])
    }

    @Test(arguments: [
        ([Outlet.Event.hidden], "hidden from lists and searches", "outlet version 3, open since v2, hidden"),
        ([.hidden, .shown], "shown in lists and searches again", "outlet version 4, open since v2"),
        ([.hidden, .removed], "removed", "outlet version 4, removed since v4"),
    ])
    func `an outlet that is hidden or removed says so`(events: [Outlet.Event], words: String, present: String) {
        var history = RecordedHistory.withKitchen
        for event in events { history.append(.outlet(event), to: .kitchen) }
        let text = OutletHistory(.kitchen, history.of(.kitchen), menu: history.of(.menu)).text(last: 1)
        #expect(text[2].hasSuffix("  \(words)"))
        #expect(text[4] == "now: \"The Kitchen\", \(present)")
    }

    @Test(arguments: [
        (Menu.Event.sectionMoved(Identifier("all")!, before: nil), "moved section all to the end"),
        (.sectionRemoved(Identifier("all")!), "removed section all with 2 items"),
        (.itemRemoved(Identifier("pie")!), "removed Pie (pie)"),
        (.itemResumed(Identifier("pie")!), "resumed Pie (pie)"),
        (
            .itemMoved(Identifier("pie")!, section: Identifier("all")!, before: Identifier("bun")!),
            "moved Pie (pie) to section all, before bun"
        ),
        (.itemChanged(item("pie", at: nil)), "changed Pie (pie): price from 15.00 GBP to no price"),
        (
            .itemSuspended(Identifier("pie")!, until: Timestamp(millisecondsSinceEpoch: 0)),
            "suspended Pie (pie) until 1970-01-01T00:00:00Z"
        ),
        (
            .sectionChanged(
                SectionHeader(
                    id: Identifier("all")!, title: "Everything", kind: "menuItems", layout: .list, sticky: true)
            ), "changed section all: title from \"All\" to \"Everything\", sticky now"
        ),
        (.feedChecked(FeedCheck(.ready, at: Timestamp(millisecondsSinceEpoch: 0))), "found the feed ready"),
        (
            .feedChecked(
                FeedCheck(
                    .malformed, at: Timestamp(millisecondsSinceEpoch: 0), source: "menu.json",
                    problems: ["2: name: is missing", "3: uuid: is missing"])),
            "found the feed \"menu.json\" malformed: 2: name: is missing, and 1 more problem"
        ),
    ])
    func `a change of the menu shows what was there before`(event: Menu.Event, words: String) {
        var history = RecordedHistory.withKitchen
        history.append(.menu(event), to: .menu)
        let text = OutletHistory(.kitchen, history.of(.kitchen), menu: history.of(.menu)).text(last: 1)
        #expect(text[2].hasSuffix("menu v4  \(words)"))
    }
}
