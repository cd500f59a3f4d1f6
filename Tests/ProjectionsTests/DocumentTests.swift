import Domain
import EventLog
import Foundation
import Projections
import Testing

@Suite("Documents")
struct DocumentTests {
    /// A document written over several lines here, as it is in a reply.
    private func compact(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined()
    }

    private func expect(
        _ document: [UInt8], toBe expected: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(String(decoding: document, as: UTF8.self) == compact(expected), sourceLocation: sourceLocation)
        _ = try JSONSerialization.jsonObject(with: Data(document))
    }

    private static let tagBar = """
        {"height":36,"showBelow":36,"hideAbove":72,"chips":[
            {"id":"tag_offers","section":"offers","title":"Offers"},
            {"id":"tag_more-offers","section":"more-offers","title":"More"},
            {"id":"tag_lunch","section":"lunch","title":"Lunch"},
            {"id":"tag_sweets","section":"sweets","title":"Desserts"}]}
        """

    private static let details = #"""
        "id":"spice-route","name":"Spice \"Route\"","city":"Pune","area":null,"address":null,"currency":"INR",
        "timeZone":"Asia/Kolkata","cuisines":["Indian","Café"],"priceForTwo":60000,"rating":4.4,"ratingCount":120,
        "deliveryMinutes":null,"minimumOrder":null,"hours":[{"day":"monday","opens":"09:05","closes":"25:30"}],
        "status":"open"
        """#

    private static let media = #"""
        "images":[{"url":"/dosa","alt":"A \"dosa\""}],"links":[{"rel":"source","url":"https://i/dosa","title":null},
        {"rel":"video","url":"https://i/film","title":"The film"}]
        """#

    private static let attributes = #"""
        {"allergens":["nuts","milk"],"bloodType":"A \"+\"","shoeSize":42.5,"vegan":true}
        """#

    @Test(
        arguments: [
            ([.malformed], false, "malformed", nil), ([.empty, .malformed], false, "empty", 0),
            ([.ready, .malformed], true, "ready", 0), ([.empty], false, "empty", 0), ([.malformed], true, "ready", nil),
        ] as [([FeedCheck.State], Bool, String, Int?)])
    func `a home and a menu say what their feed was found to hold`(
        checks: [FeedCheck.State], hasItems: Bool, state: String, refreshed: Int?
    ) throws {
        let (outlet, menu) = (StreamName(.outlet, "o"), StreamName(.menu, "o"))
        let details = OutletDetails(name: "O", currency: Currency("INR")!, timeZone: "UTC")
        let header = SectionHeader(id: "s", title: "S", kind: "menuItems", layout: .list)
        let tea = MenuItem(id: "tea", kind: "menuItem", name: "Tea", price: 250)
        var commands: [Menu.Command] =
            hasItems ? [.put(MenuDocument(sections: [.init(header: header, items: [tea])]))] : []
        for (second, check) in checks.enumerated() {
            let at = Timestamp(millisecondsSinceEpoch: Int64(second) * 1_000)
            commands.append(.checkFeed(FeedCheck(check, at: at, source: "secret", problems: ["a \"b\""])))
        }
        var (present, events) = (Menu.initial, [(outlet, DomainEvent.outlet(.registered(details)))])
        for command in commands {
            for event in try Menu.decide(command, in: present) {
                try Menu.evolve(&present, event)
                events.append((menu, .menu(event)))
            }
        }
        let record = try #require(ReadModel(events).outletHome["o"])
        let feed = #"""
            "feed":{"state":"\#(checks.last!.rawValue)","checkedAt":"1970-01-01T00:00:0\#(checks.count - 1)Z",\#
            "refreshedAt":\#(refreshed.map { "\"1970-01-01T00:00:0\($0)Z\"" } ?? "null"),"problems":["a \"b\""]}
            """#
        let home = String(decoding: HomeDocument.bytes(of: record), as: UTF8.self)
        #expect(home.contains(#""state":"\#(state)",\#(feed),"tagBar":"#))
        #expect(String(decoding: MenuDocumentJSON.bytes(of: record), as: UTF8.self).contains(",\(feed),\"sections\":"))
    }

    @Test func `an outlet's home`() throws {
        try expect(
            HomeDocument.bytes(of: .sample),
            toBe: """
                {"outlet":{\(DocumentTests.details),"accessibilityId":"outlet_scroll"},
                "revision":13,"state":"ready","tagBar":\(DocumentTests.tagBar),"sections":[
                {"id":"offers","kind":"promotions","headerTitle":"Offers",
                    "layout":{"style":"horizontalCard","width":150,"height":200},"sticky":false,
                    "accessibilityId":"promos_scroller",
                    "itemAccessibilityPrefix":"promo_card_","items":[
                    {"id":"banner","kind":"promo","model":{
                        "name":"Two for one","description":null,"price":null,"currency":"INR","cuisine":null,
                        "tags":[],"imageSmall":null,"available":true,"availableFrom":null}}]},
                {"id":"more-offers","kind":"promotions","headerTitle":"More",
                    "layout":{"style":"horizontalCard","width":160,"height":90},"sticky":false,
                    "accessibilityId":"section_more-offers",
                    "itemAccessibilityPrefix":"promo_card_more-offers_","items":[
                    {"id":"thali-day","kind":"promo","model":{
                        "name":"Thali day","description":null,"price":19900,"currency":"INR","cuisine":null,
                        "tags":[],"imageSmall":null,"available":true,"availableFrom":null}}]},
                {"id":"lunch","kind":"menuItems","headerTitle":"Lunch","layout":{"style":"list"},"sticky":true,
                    "accessibilityId":"section_lunch",
                    "itemAccessibilityPrefix":"menu_item_","items":[
                    {"id":"dosa","kind":"menuItem","model":{
                        "name":"Dosa","description":"Crisp","price":12000,"currency":"INR",
                        "cuisine":"South Indian","tags":["veg"],"imageSmall":"https://i/s","hasLinks":true,
                        "available":true,"availableFrom":null}}]},
                {"id":"sweets","kind":"desserts","headerTitle":"Desserts",
                    "layout":{"style":"horizontalCard","width":150,"height":300},"sticky":false,
                    "accessibilityId":"desserts_scroller",
                    "itemAccessibilityPrefix":"dessert_card_","items":[
                    {"id":"kulfi","kind":"dessert","model":{
                        "name":"Kulfi","description":null,"price":8000,"currency":"INR","cuisine":null,
                        "tags":[],"imageSmall":null,"available":false,"availableFrom":"2026-03-01T12:00:00Z",
                        "addButtonAccessibilityId":"dessert_add_btn"}},
                    {"id":"jalebi","kind":"dessert","model":{
                        "name":"Jalebi","description":null,"price":6000,"currency":"INR","cuisine":null,
                        "tags":[],"imageSmall":null,"available":true,"availableFrom":null,
                        "addButtonAccessibilityId":"dessert_add_btn"}}]}]}
                """)
    }

    @Test func `the card of a kind with attributes of its own shows them`() throws {
        let (outlet, menu) = (StreamName(.outlet, "o"), StreamName(.menu, "o"))
        let badge = MenuItem(
            id: "new", kind: "badge", name: "Newcomer",
            attributes: ItemAttributes([
                .init("points", .number(25)), .init("label", .text("New")), .init("colour", .text("red")),
            ]))
        let record = try #require(
            ReadModel([
                (outlet, .outlet(.registered(OutletDetails(name: "O", currency: Currency("INR")!, timeZone: "UTC")))),
                (
                    menu,
                    .menu(
                        .sectionAdded(
                            SectionHeader(id: "s", title: "S", kind: "menuItems", layout: .list), before: nil))
                ),
                (menu, .menu(.itemAdded(badge, section: "s", before: nil))),
            ]).outletHome["o"])
        let home = String(decoding: HomeDocument.bytes(of: record), as: UTF8.self)
        #expect(
            home.contains(
                #"{"id":"new","kind":"badge","model":{"name":"Newcomer","#
                    + #""description":null,"price":null,"currency":"INR","cuisine":null,"tags":[],"imageSmall":null,"#
                    + #""available":true,"availableFrom":null,"label":"New","points":25}}"#))
    }

    @Test func `a home is empty before there is a menu`() throws {
        try expect(
            HomeDocument.bytes(of: .withoutMenu),
            toBe: """
                {"outlet":{"id":"o","name":"O","city":null,"area":null,"address":null,"currency":"INR",
                "timeZone":"UTC","cuisines":[],"priceForTwo":null,"rating":null,"ratingCount":null,
                "deliveryMinutes":null,"minimumOrder":null,"hours":[],"status":"paused",
                "pausedUntil":"2026-03-01T12:00:00.500Z","pauseReason":"rush","accessibilityId":"outlet_scroll"},
                "revision":3,"state":"empty",
                "tagBar":{"height":36,"showBelow":36,"hideAbove":72,"chips":[]},"sections":[]}
                """)
    }

    @Test func `a home gets a cart's count at its end`() throws {
        let open = HomeDocument.bytes(of: .withoutMenu).dropLast()
        let whole = try JSONSerialization.jsonObject(with: Data(open + Array(#","cartCount":3}"#.utf8)))
        #expect((whole as? [String: Any])?["cartCount"] as? Int == 3)
    }

    @Test func `a tag bar alone`() throws {
        try expect(HomeDocument.tagBar(of: .sample), toBe: DocumentTests.tagBar)
    }

    @Test func `an outlet alone`() throws {
        try expect(OutletDocument.bytes(of: .sample), toBe: "{\(DocumentTests.details),\"version\":2}")
    }

    @Test func `a menu`() throws {
        let none = """
            "cuisine":null,"tags":[],"imageSmall":null,"imageLarge":null,"images":[],"links":[],"maxQuantity":null,
            "options":[],"attributes":{}
            """
        try expect(
            MenuDocumentJSON.bytes(of: .sample),
            toBe: """
                {"outlet":"spice-route","version":11,"sections":[
                {"id":"offers","title":"Offers","kind":"promotions",
                    "layout":{"style":"horizontalCard","width":150,"height":200},"sticky":false,"items":[
                    {"id":"banner","kind":"promo","name":"Two for one","description":null,"price":null,
                        \(none),"available":true,"availableFrom":null}]},
                {"id":"more-offers","title":"More","kind":"promotions",
                    "layout":{"style":"horizontalCard","width":160,"height":90},"sticky":false,"items":[
                    {"id":"thali-day","kind":"promo","name":"Thali day","description":null,"price":19900,
                        \(none),"available":true,"availableFrom":null}]},
                {"id":"lunch","title":"Lunch","kind":"menuItems","layout":{"style":"list"},"sticky":true,"items":[
                    {"id":"dosa","kind":"menuItem","name":"Dosa","description":"Crisp","price":12000,
                        "cuisine":"South Indian","tags":["veg"],"imageSmall":"https://i/s",
                        "imageLarge":"https://i/l",\(DocumentTests.media),
                        "maxQuantity":5,"options":[],"attributes":\(DocumentTests.attributes),
                        "available":true,"availableFrom":null}]},
                {"id":"dinner","title":"Dinner","kind":"menuItems","layout":{"style":"list"},"sticky":false,
                    "items":[]},
                {"id":"sweets","title":"Desserts","kind":"desserts",
                    "layout":{"style":"horizontalCard","width":150,"height":300},"sticky":false,"items":[
                    {"id":"kulfi","kind":"dessert","name":"Kulfi","description":null,"price":8000,
                        \(none),"available":false,"availableFrom":"2026-03-01T12:00:00Z"},
                    {"id":"jalebi","kind":"dessert","name":"Jalebi","description":null,"price":6000,
                        \(none),"available":true,"availableFrom":null}]}]}
                """)
    }

    @Test func `an item in full`() throws {
        let document = try #require(ItemDocument.bytes(of: "dosa", in: .sample))
        try expect(
            document,
            toBe: """
                {"outlet":"spice-route","section":"lunch","id":"dosa","kind":"menuItem","name":"Dosa",
                "description":"Crisp","price":12000,"cuisine":"South Indian","tags":["veg"],
                "imageSmall":"https://i/s","imageLarge":"https://i/l",\(DocumentTests.media),
                "maxQuantity":5,"options":[],"attributes":\(DocumentTests.attributes),
                "available":true,"availableFrom":null,"currency":"INR"}
                """)
        #expect(try ItemDocument.bytes(of: "pizza", in: .sample) == nil)
    }

    // MARK: Carts and orders

    private static let tea = CartLine(id: "tea", item: "tea", name: "Tea", quantity: 2, unitPrice: 250)
    private static let dosa = CartLine(
        id: "dosa+extra+hot", item: "dosa", name: "Dosa", quantity: 1, unitPrice: 12_000,
        options: [
            LineOption("extra", name: "Extra", units: 2, price: 50, free: 1), LineOption("hot", name: "Hot"),
        ],
        note: .plain("no \"onion\""))

    private static func state(_ lines: CartLine..., order: Identifier? = nil) throws -> Cart.State {
        var state = Cart.initial
        for line in lines {
            try Cart.evolve(&state, .itemAdded(line, outlet: "o", currency: Currency("INR")!))
        }
        if let order { try Cart.evolve(&state, .checkedOut(order: order, lines: lines, total: 500)) }
        return state
    }

    private static func cart(
        _ state: Cart.State, texts: TextOpener = .none, offer: @escaping (Identifier) -> Offer
    ) -> [UInt8] {
        CartDocument.bytes(of: "c", state: state, version: 7, updatedAt: 1_772_366_400_000, texts: texts) {
            lines, _ in
            lines.map { offer($0.item) }
        }
    }

    private static func offer(_ price: Amount) -> Offer {
        .available(Offer.Item(name: "Any", unitPrice: price, currency: Currency("INR")!, maxQuantity: 99))
    }

    @Test func `A quote of a line that cannot be priced has no total, and names the item and the tax`() throws {
        let document = QuoteDocument.bytes(
            of: "c", state: try DocumentTests.state(DocumentTests.tea), version: 1, texts: .none,
            offers: { lines, _ in lines.map { _ in .taxGone("food") } }, details: { _ in nil })
        #expect(
            String(decoding: document, as: UTF8.self).hasSuffix(
                #""problem":{"code":"TAXGONE","tax":"food"}}],"subtotal":null,"charges":[],"total":null,"quote":null,"#
                    + #""problem":"INVALID item 'tea' names the tax 'food', which outlet 'o' does not have"}"#))
    }

    /// What the catalogue may say about the first line, and what the cart then says about it.
    static let problems: [(Offer, String)] = [
        (offer(250), "null"),
        (offer(300), #"{"code":"PRICECHANGED","unitPrice":300}"#),
        (.soldOut(until: nil), #"{"code":"SOLDOUT"}"#),
        (.soldOut(until: 5), #"{"code":"SOLDOUT"}"#),
        (
            .outOfDaypart("breakfast", begins: 5),
            #"{"code":"CLOSED","daypart":"breakfast","availableFrom":"1970-01-01T00:00:00.005Z"}"#
        ),
        (.noItem, #"{"code":"GONE"}"#),
        (.noOutlet, #"{"code":"GONE"}"#),
        (.notForSale, #"{"code":"GONE"}"#),
        (.outletClosed(.closed), #"{"code":"CLOSED"}"#),
        (.outletClosed(.paused(until: 5, reason: nil)), #"{"code":"CLOSED"}"#),
        (.taxGone("vat"), #"{"code":"TAXGONE","tax":"vat"}"#),
        (.wrongChoice(.gone("milk")), #"{"code":"OPTIONGONE","option":"milk"}"#),
        (.wrongChoice(.soldOut("milk")), #"{"code":"OPTIONSOLDOUT","option":"milk"}"#),
        (.wrongChoice(.tooMany("milk", maximum: 2)), #"{"code":"CHOICE","option":"milk","max":2}"#),
        (
            .wrongChoice(
                .units(
                    ofGroup: OptionGroup(id: "size", title: "Size", minimum: 1, maximum: 1, options: []), chosen: 0)),
            #"{"code":"CHOICE","group":"size","min":1,"max":1}"#
        ),
    ]

    @Test(arguments: problems)
    func `a cart, with what is wrong with a line`(offer: Offer, problem: String) throws {
        let document = DocumentTests.cart(try DocumentTests.state(DocumentTests.tea, DocumentTests.dosa)) {
            $0 == "tea" ? offer : DocumentTests.offer(12_000)
        }
        try expect(
            document,
            toBe: #"""
                {"cart":"c","outlet":"o","version":7,"status":"open","count":3,"currency":"INR","lines":[
                {"line":"tea","item":"tea","name":"Tea","quantity":2,"unitPrice":250,"options":[],"note":null,
                    "total":500,"problem":\#(problem)},
                {"line":"dosa+extra+hot","item":"dosa","name":"Dosa","quantity":1,"unitPrice":12000,
                    "options":[{"id":"extra","name":"Extra","units":2,"price":50,"free":1},
                        {"id":"hot","name":"Hot","units":1,"price":0,"free":0}],"note":"no \"onion\"","total":12000,"problem":null}],
                "subtotal":12500,"total":12500,"updatedAt":"2026-03-01T12:00:00Z"}
                """#)
    }

    @Test func `an empty cart, and one that is checked out`() throws {
        try expect(
            DocumentTests.cart(.empty) { _ in .noItem },
            toBe: """
                {"cart":"c","outlet":null,"version":7,"status":"empty","count":0,"currency":null,"lines":[],
                "subtotal":0,"total":0,"updatedAt":"2026-03-01T12:00:00Z"}
                """)
        try expect(
            DocumentTests.cart(try DocumentTests.state(DocumentTests.tea, order: "order-1")) { _ in .noItem },
            toBe: """
                {"cart":"c","outlet":"o","version":7,"status":"checkedOut","count":2,"currency":"INR","lines":[
                {"line":"tea","item":"tea","name":"Tea","quantity":2,"unitPrice":250,"options":[],"note":null,
                    "total":500,"problem":null}],
                "subtotal":500,"total":500,"updatedAt":"2026-03-01T12:00:00Z","order":"order-1"}
                """)
    }

    @Test func `an order`() throws {
        let book = Order.Book(
            Order.Placement(
                cart: "c", outlet: "o", currency: Currency("INR")!, lines: [DocumentTests.tea], total: 500))
        try expect(
            OrderDocument.bytes(of: "x", book: book, version: 1, updatedAt: 1_772_366_400_000, texts: .none),
            toBe: """
                {"order":"x","cart":"c","outlet":"o","version":1,"status":"placed","count":2,"currency":"INR",
                "lines":[{"line":"tea","item":"tea","name":"Tea","quantity":2,"unitPrice":250,"options":[],
                    "note":null,"total":500}],
                "subtotal":500,"charges":[],"total":500,"updatedAt":"2026-03-01T12:00:00Z"}
                """)
    }

    @Test func `an order tells what was promised, what it waits for and how it ended`() throws {
        func document(_ events: [Order.Event], _ terms: Order.Terms) throws -> String {
            let placement = Order.Placement(
                cart: "c", outlet: "o", currency: Currency("INR")!, lines: [], total: 0, terms: terms)
            var state = Order.initial
            for event in [.placed(placement)] + events { try Order.evolve(&state, event) }
            let bytes = OrderDocument.bytes(
                of: "x", book: try #require(state.book), version: 1, updatedAt: 0, texts: .none)
            let text = String(decoding: bytes, as: UTF8.self)
            let start = try #require(text.range(of: "\"status\":"))
            let end = try #require(text.range(of: ",\"count\""))
            return String(text[start.lowerBound..<end.lowerBound])
        }
        let waiting = Order.Terms(placedAt: 0, promisedFor: 1_000, acceptBy: 2_000, acceptWithin: 2)
        #expect(
            try document([], waiting)
                == #""status":"placed","placedAt":"1970-01-01T00:00:00Z","promisedFor":"1970-01-01T00:00:01Z","#
                + #""acceptBy":"1970-01-01T00:00:02Z""#)
        #expect(
            try document([.accepted(readyBy: 3_000, by: .merchant)], waiting)
                == #""status":"accepted","placedAt":"1970-01-01T00:00:00Z","promisedFor":"1970-01-01T00:00:01Z","#
                + #""readyBy":"1970-01-01T00:00:03Z","#
                + #""promise":[{"from":"1970-01-01T00:00:01Z","to":"1970-01-01T00:00:03Z","reason":null}]"#)
        #expect(
            try document([.cancelled(Order.Ending(by: .system, .unpaid))], Order.Terms(payBy: 4_000))
                == #""status":"cancelled","ending":{"by":"system","code":"UNPAID","reason":null}"#)
        #expect(
            try document([], Order.Terms(payBy: 4_000, acceptWithin: 2))
                == #""status":"awaitingPayment","payBy":"1970-01-01T00:00:04Z""#)
        #expect(
            try document([], Order.Terms(releaseAt: 5_000))
                == #""status":"scheduled","releaseAt":"1970-01-01T00:00:05Z""#)
    }

    @Test func `a customer's texts, as far as they can be opened`() throws {
        let key = SealingKey.random()
        let owner = TextOwner(customer: "asha", cart: "c")
        var line = DocumentTests.tea
        line.note = .sealed(key.seal("no \"ice\"", .note, of: owner))
        let book = Order.Book(
            Order.Placement(
                cart: "c", outlet: "o", currency: Currency("INR")!, lines: [line], total: 500, customer: "asha",
                name: key.seal("Asha", .name, of: owner)))
        var state = Cart.initial
        try Cart.evolve(&state, .itemAdded(line, outlet: "o", currency: Currency("INR")!, customer: "asha"))
        #expect(state.contents?.textOwner(of: "c") == owner)
        #expect(book.textOwner == owner)
        for (found, note, name) in [
            (CustomerKey.known(key), #"no \"ice\""#, "Asha"), (.destroyed, "[erased]", "[erased]"),
            (.unknown, "[sealed]", "[sealed]"), (.known(.random()), "[damaged]", "[damaged]"),
        ] {
            let texts = TextOpener(owner, found)
            let lineText =
                #"{"line":"tea","item":"tea","name":"Tea","quantity":2,"unitPrice":250,"options":[],"note":""#
            try expect(
                DocumentTests.cart(state, texts: texts) { _ in DocumentTests.offer(250) },
                toBe: #"""
                    {"cart":"c","outlet":"o","customer":"asha","version":7,"status":"open","count":2,"currency":"INR",
                    "lines":[\#(lineText)\#(note)","total":500,"problem":null}],
                    "subtotal":500,"total":500,"updatedAt":"2026-03-01T12:00:00Z"}
                    """#)
            try expect(
                OrderDocument.bytes(
                    of: "x", book: book, version: 1, updatedAt: 1_772_366_400_000, texts: texts),
                toBe: #"""
                    {"order":"x","cart":"c","outlet":"o","customer":"asha","name":"\#(name)","version":1,
                    "status":"placed","count":2,"currency":"INR","lines":[\#(lineText)\#(note)","total":500}],
                    "subtotal":500,"charges":[],"total":500,"updatedAt":"2026-03-01T12:00:00Z"}
                    """#)
        }
    }

    // MARK: Properties

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `documents are JSON, and have no accessibility id twice`(seed: UInt64) throws {
        var history = RandomHistory(seed: seed)
        for _ in 0..<60 { history.grow() }
        var model = ReadModel(partition: 0)
        model.apply(history.events)
        for number in 0..<3 {
            guard let record = model.outletHome[Identifier("outlet-\(number)")!] else { continue }
            try expectUniqueIDs(record)
            for document in [OutletDocument.bytes(of: record), MenuDocumentJSON.bytes(of: record)] {
                _ = try JSONSerialization.jsonObject(with: Data(document))
            }
        }
    }

    @Test func `kinds that are not registered do not share accessibility ids`() throws {
        let (outlet, menu) = (StreamName(.outlet, "o"), StreamName(.menu, "o"))
        let details = OutletDetails(name: "O", currency: Currency("INR")!, timeZone: "UTC")
        var events: [(StreamName, DomainEvent)] = [(outlet, .outlet(.registered(details)))]
        for name: Identifier in ["past", "future"] {
            let header = SectionHeader(id: name, title: "T", kind: Text(name.rawValue), layout: .list)
            events.append((menu, .menu(.sectionAdded(header, before: nil))))
            let item = MenuItem(id: name, kind: Text(name.rawValue), name: "I")
            events.append((menu, .menu(.itemAdded(item, section: name, before: nil))))
        }
        try expectUniqueIDs(ReadModel(events).outletHome["o"]!)
    }

    private func expectUniqueIDs(_ record: OutletRecord) throws {
        let home = try JSONDecoder().decode(Home.self, from: Data(HomeDocument.bytes(of: record)))
        let ids =
            [home.outlet.accessibilityId] + home.tagBar.chips.map(\.id)
            + home.sections.flatMap { section in
                [section.accessibilityId]
                    + section.items.indices.map { "\(section.itemAccessibilityPrefix)\($0)" }
            }
        #expect(Set(ids).count == ids.count, "\(ids)")
        #expect((home.state == "ready") == !home.sections.isEmpty)
        #expect(home.sections.allSatisfy { !$0.items.isEmpty })
    }

    private struct Home: Decodable {
        struct Outlet: Decodable { var accessibilityId: String }
        struct Item: Decodable { var id: String }
        struct Section: Decodable {
            var accessibilityId: String
            var itemAccessibilityPrefix: String
            var items: [Item]
        }
        struct Chip: Decodable { var id: String }
        struct TagBar: Decodable { var chips: [Chip] }

        var outlet: Outlet
        var state: String
        var tagBar: TagBar
        var sections: [Section]
    }
}
