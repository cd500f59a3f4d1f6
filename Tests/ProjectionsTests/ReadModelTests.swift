import Domain
import EventLog
import Projections
import Testing

@Suite("Read models")
struct ReadModelTests {
    @Test(arguments: 0..<60 as Range<UInt64>)
    func `a fold agrees with the aggregates' own`(seed: UInt64) throws {
        var history = RandomHistory(seed: seed)
        for _ in 0..<80 { history.grow(damagePercent: seed.isMultiple(of: 2) ? 4 : 0) }
        var model = ReadModel(partition: 0)
        model.apply(history.events)
        #expect(model.position == Int64(history.events.count))

        for (stream, state) in history.states {
            #expect(model.mayExist(stream))
            switch state {
            case .deed: break
            case .promotions(let promotions):
                guard let record = model.outletHome[stream.id] else { continue }
                #expect(record.promotions == promotions)
                #expect(record.promotionsVersion == history.versions[stream])
            case .supply(let supply):
                #expect((model.supplies.left(at: stream.id) ?? [:]) == supply.left)
                #expect(model.supplies.taken(.slot(0), at: stream.id) == supply.counts.taken[.slot(0)] ?? 0)
            case .outlet(.removed): #expect(model.outletHome[stream.id] == nil)
            case .outlet(let outlet):
                let record = try #require(model.outletHome[stream.id])
                #expect(record.outlet == outlet)
                #expect(record.outletVersion == history.versions[stream])
            case .menu(let menu):
                guard let record = model.outletHome[stream.id] else { continue }
                #expect(record.menu == menu)
                #expect(record.menuVersion == history.versions[stream])
            case .cart(let cart):
                #expect(model.cartCounts.count(of: stream.id) == cart.openCount)
            case .order(let order):
                let book = try #require(order.book)
                let row = try #require(model.orders.row(of: stream.id))
                #expect(row.status == book.status && row.version == history.versions[stream])
                #expect(row.outlet == book.placement.outlet && row.customer == book.placement.customer)
                #expect(row.total == book.placement.total && row.count == book.placement.count)
                let isFollowed = book.placement.terms.placedAt != nil && !book.status.isEnd
                #expect((row.open != nil) == isFollowed)
                let isDamaged = model.orders.quarantine[stream] != nil
                #expect(model.orders.deadline(of: stream.id) == (isDamaged ? nil : book.deadline))
            }
        }
        for (stream, position) in history.damage {
            let quarantine =
                switch stream.category {
                case .cart: model.cartCounts.quarantine
                case .order: model.orders.quarantine
                case .supply: model.supplies.quarantine
                case .outlet, .menu, .promotions, .customer, .user, .relay: model.outletHome.quarantine
                }
            #expect(quarantine[stream]?.position == position)
            #expect(model.mayExist(stream))
        }
        let quarantined = ReadModel.projections.reduce(0) { $0 + $1.quarantine(in: model).streams.count }
        #expect(quarantined == history.damage.count)
    }

    @Test func `unknown streams cannot exist, except orders`() {
        let model = ReadModel(partition: 0)
        for category: StreamName.Category in [.outlet, .menu, .cart, .supply, .promotions] {
            #expect(!model.mayExist(StreamName(category, "x")))
        }
        #expect(model.mayExist(StreamName(.order, "x")))
    }

    @Test func `a menu without an outlet is not an outlet, and can be saved`() {
        let header = SectionHeader(id: "s", title: "S", kind: "menuItems", layout: .list)
        let model = ReadModel([(StreamName(.menu, "o"), .menu(.sectionAdded(header, before: nil)))])
        #expect(model.outletHome["o"] == nil)
        #expect(model.outletHome.offer(of: "x", with: [], at: "o", now: 0) == .noOutlet)
        let row = model.outletHome.row(of: "o")
        #expect(row.map { String(decoding: $0.document, as: UTF8.self) } == "null")
    }

    @Test func `a stored quarantine is of the stream with the same bytes`() throws {
        // The Kelvin sign is a K to those who compare texts.
        for (stored, isQuarantined) in [("cart-K", true), ("cart-\u{212A}", false), ("card-K", false), ("", false)] {
            var model = ReadModel(partition: 0)
            let projection = try #require(RegisteredProjection(name: CartCounts.name))
            let event = CorruptEvent(partition: 0, position: 1, stream: stored, reason: "is damaged")
            var digests = ReadModel.Digests()
            try model.restore(position: 1, quarantined: [(projection, event)], &digests)
            #expect((model.cartCounts.quarantine[StreamName(.cart, "K")] != nil) == isQuarantined)
        }
    }

    private static let tea = CartLine(id: "tea", item: "tea", name: "Tea", quantity: 1, unitPrice: 1)

    @Test(
        arguments: [
            .quantityChanged(line: "tea", from: .min, to: .max), .quantityChanged(line: "tea", from: .max, to: .min),
            .lineRemoved(line: "tea", quantity: .min), .lineRemoved(line: "tea", quantity: 2), .cleared(count: .min),
            .cleared(count: .max), .itemAdded(huge, outlet: "o", currency: Currency("INR")!),
            .itemAdded(justTooMany, outlet: "o", currency: Currency("INR")!),
        ] as [Cart.Event])
    func `numbers that no cart can hold are quarantined`(event: Cart.Event) {
        let cart = StreamName(.cart, "c")
        let first = Cart.Event.itemAdded(ReadModelTests.tea, outlet: "o", currency: Currency("INR")!)
        let model = ReadModel([(cart, .cart(first)), (cart, .cart(event)), (cart, .cart(first))])
        #expect(model.cartCounts.quarantine[cart]?.position == 2)
        #expect(model.cartCounts.count(of: "c") == 1, "nothing is folded after the damage")
    }

    private static let huge = line(.max)
    private static let justTooMany = line(Int(Int32.max))

    private static func line(_ quantity: Int) -> CartLine {
        var line = tea
        line.quantity = quantity
        return line
    }

    @Test func `an offer says what the menu says now`() {
        let (outlet, menu) = (StreamName(.outlet, "o"), StreamName(.menu, "o"))
        let inr = Currency("INR")!
        let details = OutletDetails(name: "O", currency: inr, timeZone: "UTC")
        let header = SectionHeader(id: "s", title: "S", kind: "menuItems", layout: .list)
        let tea = MenuItem(id: "tea", kind: "menuItem", name: "Tea", price: 250, maxQuantity: 3)
        let banner = MenuItem(id: "banner", kind: "promo", name: "Two for one")
        let model = ReadModel([
            (outlet, .outlet(.registered(details))), (outlet, .outlet(.paused(until: 1_000, reason: nil))),
            (menu, .menu(.sectionAdded(header, before: nil))),
            (menu, .menu(.itemAdded(tea, section: "s", before: nil))),
            (menu, .menu(.itemAdded(banner, section: "s", before: nil))),
            (menu, .menu(.itemSuspended("tea", until: 2_000))),
        ])
        let home = model.outletHome
        #expect(home.offer(of: "tea", with: [], at: "nowhere", now: 0) == .noOutlet)
        #expect(home.offer(of: "tea", with: [], at: "o", now: 999) == .outletClosed(.paused(until: 1_000, reason: nil)))
        #expect(home.offer(of: "tea", with: [], at: "o", now: 1_000) == .soldOut(until: 2_000))
        #expect(home.offer(of: "banner", with: [], at: "o", now: 1_000) == .notForSale)
        #expect(home.offer(of: "coffee", with: [], at: "o", now: 1_000) == .noItem)
        #expect(
            home.offer(of: "tea", with: [], at: "o", now: 2_000)
                == .available(Offer.Item(name: "Tea", unitPrice: 250, currency: inr, maxQuantity: 3)))
    }

    @Test func `an item with a tax that the outlet does not have is not offered`() {
        let (outlet, menu) = (StreamName(.outlet, "o"), StreamName(.menu, "o"))
        var details = OutletDetails(name: "O", currency: Currency("INR")!, timeZone: "UTC")
        details.pricing.taxIncluded = true
        details.pricing.taxes = [.init(id: "vat", name: "VAT", rate: Rate(thousandths: 20_000)!)]
        let header = SectionHeader(id: "s", title: "S", kind: "menuItems", layout: .list)
        func item(_ id: Identifier, _ tax: Identifier?) -> (StreamName, DomainEvent) {
            let item = MenuItem(id: id, kind: "menuItem", name: "Item", price: 250, tax: tax)
            return (menu, .menu(.itemAdded(item, section: "s", before: nil)))
        }
        let model = ReadModel([
            (outlet, .outlet(.registered(details))), (outlet, .outlet(.opened)),
            (menu, .menu(.sectionAdded(header, before: nil))),
            item("tea", "vat"), item("pie", "food"), item("bun", "food"), item("water", nil),
        ])
        let home = model.outletHome
        #expect(home.offer(of: "pie", with: [], at: "o", now: 0) == .taxGone("food"))
        for item: Identifier in ["tea", "water"] {
            guard case .available = home.offer(of: item, with: [], at: "o", now: 0) else {
                Issue.record("\(item) cannot be had")
                continue
            }
        }
        #expect(home["o"]?.menuTaxes == ["vat": "item 'tea'", "food": "item 'pie'"])
    }

    @Test func `a hidden outlet is in no list, and a removed one is nowhere but in the log`() {
        let outlet = StreamName(.outlet, "o")
        let details = OutletDetails(name: "O", currency: Currency("INR")!, timeZone: "UTC")
        func home(after events: Outlet.Event...) -> OutletHome {
            ReadModel(([.registered(details), .opened] + events).map { (outlet, .outlet($0)) }).outletHome
        }
        let hidden = home(after: .hidden)
        #expect(hidden.listed.isEmpty)
        #expect(hidden.shown.map(\.id) == ["o"])
        #expect(hidden.offer(of: "tea", with: [], at: "o", now: 0) == .noItem)
        #expect(home(after: .hidden, .shown).listed.map(\.id) == ["o"])

        let removed = home(after: .removed)
        #expect(removed.shown.isEmpty)
        #expect(removed["o"] == nil)
        #expect(removed.revision(of: "o") == 3)
        #expect(removed.offer(of: "tea", with: [], at: "o", now: 0) == .noOutlet)
        #expect(removed.row(of: "o").map { String(decoding: $0.document, as: UTF8.self) } == "null")
    }
}
