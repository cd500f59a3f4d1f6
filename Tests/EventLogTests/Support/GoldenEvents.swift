import Domain

@testable import EventLog

/// One event and its text in the present schema. Logs contain these texts: one that changes needs a new schema
/// version, and an upcaster from the one before.
struct GoldenEvent {
    let kind: EventKind
    let event: DomainEvent
    let text: String

    init(_ name: String, version: Int = 1, _ event: DomainEvent, _ text: String) {
        kind = EventKind(name: name, schemaVersion: version)
        self.event = event
        self.text = text
    }

    private static func by<Value>(delivery: Value? = nil, table: Value? = nil) -> ByService<Value> {
        var values = ByService<Value>()
        (values[.delivery], values[.table]) = (delivery, table)
        return values
    }

    private static let services = by(
        delivery: OfferedService(
            charges: PricingTerms.Charges(delivery: PricingTerms.Fee(Amount(minorUnits: 299))),
            minimumOrder: Amount(minorUnits: 2_000), prepMinutes: 40, requirements: [.phone, .address],
            hours: [OpeningHours(day: .monday, opens: 600, closes: 1_500)!]),
        table: OfferedService(charges: PricingTerms.Charges.none))
    private static let servicesText =
        #"{"delivery":{"charges":{"delivery":{"fee":299}},"minimumOrder":2000,"prepMinutes":40,"#
        + #""requires":["phone","address"],"hours":[{"day":"monday","opens":600,"closes":1500}]},"#
        + #""table":{"charges":{}}}"#

    static let all = outlets + menus + carts + orders + deeds

    private static let outlets = [
        GoldenEvent(
            "outlet.registered", version: 3,
            .outlet(
                .registered(OutletDetails(name: "A", currency: Currency("EUR")!, timeZone: "UTC", services: services))),
            #"{"currency":"EUR","name":"A","timeZone":"UTC","services":"# + servicesText + "}"),
        GoldenEvent(
            "outlet.detailsChanged", version: 2, .outlet(.detailsChanged([.services(services)])),
            #"{"services":"# + servicesText + "}"),
        GoldenEvent(
            "outlet.detailsChanged", version: 2, .outlet(.detailsChanged([.services(ByService())])),
            #"{"services":{}}"#),
        GoldenEvent(
            "outlet.detailsChanged", version: 2,
            .outlet(
                .detailsChanged([
                    .pricing(
                        PricingTerms(
                            taxIncluded: true,
                            taxes: [
                                PricingTerms.Tax(
                                    id: Identifier("vat")!, name: "VAT", rate: Rate(thousandths: 7_000)!,
                                    rates: by(table: Rate(thousandths: 19_000)!))
                            ]))
                ])),
            #"{"pricing":{"taxIncluded":true,"taxes":[{"id":"vat","name":"VAT","rate":7000,"rates":{"table":19000}}]}}"#
        ),
        GoldenEvent(
            "outlet.registered", version: 2,
            .outlet(
                .registered(
                    OutletDetails(
                        name: "Spice Route", city: "Pune", area: "Kothrud", address: "1 High Street",
                        currency: Currency("INR")!, timeZone: "Asia/Kolkata", cuisines: ["Indian", "Thai"],
                        priceForTwo: Amount(minorUnits: 40_000), rating: Rating(hundredths: 440)!, ratingCount: 100,
                        deliveryMinutes: 45, minimumOrder: Amount(minorUnits: 9_900),
                        hours: [OpeningHours(day: .monday, opens: 600, closes: 1_500)!]))),
            #"{"currency":"INR","name":"Spice Route","city":"Pune","area":"Kothrud","address":"1 High Street","#
                + #""timeZone":"Asia/Kolkata","cuisines":["Indian","Thai"],"priceForTwo":40000,"#
                + #""ratingHundredths":440,"ratingCount":100,"deliveryMinutes":45,"minimumOrder":9900,"#
                + #""hours":[{"day":"monday","opens":600,"closes":1500}]}"#),
        GoldenEvent(
            "outlet.registered", version: 2,
            .outlet(.registered(OutletDetails(name: "Bare", currency: Currency("USD")!, timeZone: "UTC"))),
            #"{"currency":"USD","name":"Bare","timeZone":"UTC"}"#),
        GoldenEvent(
            "outlet.registered", version: 4,
            .outlet(
                .registered(
                    OutletDetails(name: "Ahead", currency: Currency("USD")!, timeZone: "UTC", orderAheadDays: 7))),
            #"{"currency":"USD","name":"Ahead","timeZone":"UTC","orderAheadDays":7}"#),
        GoldenEvent(
            "outlet.detailsChanged",
            .outlet(.detailsChanged([.city(nil), .cuisines([]), .rating(Rating(hundredths: 5)!), .minimumOrder(nil)])),
            #"{"city":null,"cuisines":[],"ratingHundredths":5,"minimumOrder":null}"#),
        GoldenEvent(
            "outlet.detailsChanged",
            .outlet(.detailsChanged([.prepMinutes(20), .acceptWithin(0), .payment(.first), .payWithin(nil)])),
            #"{"prepMinutes":20,"acceptWithin":0,"payment":"first","payWithin":null}"#),
        GoldenEvent(
            "outlet.detailsChanged",
            .outlet(
                .detailsChanged([
                    .pricing(
                        PricingTerms(
                            taxIncluded: true,
                            taxes: [.init(id: Identifier("vat")!, name: "VAT", rate: Rate(thousandths: 20_000)!)],
                            service: .init(rate: Rate(thousandths: 12_500)!, tax: Identifier("vat")!),
                            smallOrder: .init(Amount(minorUnits: 150), freeFrom: Amount(minorUnits: 1_000)),
                            delivery: .init(Amount(minorUnits: 299))))
                ])),
            #"{"pricing":{"taxIncluded":true,"taxes":[{"id":"vat","name":"VAT","rate":20000}],"#
                + #""charges":{"service":{"rate":12500,"tax":"vat"},"smallOrder":{"fee":150,"freeFrom":1000},"#
                + #""delivery":{"fee":299}}}}"#),
        GoldenEvent("outlet.opened", .outlet(.opened), "{}"),
        GoldenEvent("outlet.closed", .outlet(.closed), "{}"),
        GoldenEvent("outlet.opened", .outlet(.openedByHours), #"{"by":"hours"}"#),
        GoldenEvent("outlet.closed", .outlet(.closedByHours()), #"{"by":"hours"}"#),
        GoldenEvent(
            "outlet.closed", version: 2,
            .outlet(.closedByHours(opensAt: Timestamp(millisecondsSinceEpoch: 1_700_000_000_123))),
            #"{"by":"hours","opensAt":1700000000123}"#),
        GoldenEvent(
            "outlet.daypartsChanged",
            .outlet(
                .daypartsChanged(
                    DaypartTimes(
                        active: [Identifier("lunch")!],
                        later: [
                            .init(
                                Identifier("breakfast")!, begins: Timestamp(millisecondsSinceEpoch: 1_700_000_000_123)),
                            .init(Identifier("never")!, begins: nil),
                        ]))),
            #"{"active":["lunch"],"later":[{"id":"breakfast","begins":1700000000123},{"id":"never"}]}"#),
        GoldenEvent(
            "outlet.detailsChanged", version: 3,
            .outlet(
                .detailsChanged([
                    .orderAheadDays(7), .slots(.init(minutes: 15, orders: 4)),
                    .dayparts([
                        Daypart(
                            id: Identifier("breakfast")!, hours: [OpeningHours(day: .monday, opens: 420, closes: 660)!])
                    ]),
                ])),
            #"{"orderAheadDays":7,"slots":{"minutes":15,"orders":4},"dayparts":[{"id":"breakfast","#
                + #""hours":[{"day":"monday","opens":420,"closes":660}]}]}"#),
        GoldenEvent(
            "outlet.slowed",
            .outlet(.slowed(minutes: 15, until: Timestamp(millisecondsSinceEpoch: 1_700_000_000_123))),
            #"{"minutes":15,"until":1700000000123}"#),
        GoldenEvent(
            "outlet.detailsChanged", version: 3,
            .outlet(
                .detailsChanged([
                    .specialDays([
                        .init(CalendarDay("2026-12-24")!, [OpeningPeriod(opens: 600, closes: 840)!]),
                        .init(CalendarDay("2026-12-25")!, []),
                    ]), .follows(.hours),
                ])),
            #"{"specialDays":[{"date":"2026-12-24","hours":[{"opens":600,"closes":840}]},"#
                + #"{"date":"2026-12-25","hours":[]}],"follows":"hours"}"#),
        GoldenEvent(
            "outlet.paused",
            .outlet(.paused(until: Timestamp(millisecondsSinceEpoch: 1_700_000_000_123), reason: "a \"gas\" leak")),
            #"{"until":1700000000123,"reason":"a \"gas\" leak"}"#),
        GoldenEvent(
            "outlet.paused", .outlet(.paused(until: Timestamp(millisecondsSinceEpoch: 0), reason: nil)),
            #"{"until":0}"#),
        GoldenEvent("outlet.hidden", .outlet(.hidden), "{}"),
        GoldenEvent("outlet.shown", .outlet(.shown), "{}"),
        GoldenEvent("outlet.removed", .outlet(.removed), "{}"),
    ]

    private static let section = Identifier("lunch")!
    private static let tea = Identifier("tea")!
    private static let claims = [Claim(.item(tea), 2)]
    private static let discount = Charge(
        .discount, id: Identifier("ten"), name: "Ten off", by: .platform, Amount(minorUnits: -10),
        shares: [Amount(minorUnits: -4), Amount(minorUnits: -6)])

    private static let menus = [
        GoldenEvent(
            "menu.itemChanged", version: 2,
            .menu(
                .itemChanged(
                    MenuItem(
                        id: Identifier("tea")!, kind: "menuItem", name: "Tea", price: Amount(minorUnits: 250),
                        servicePrices: by(delivery: Amount(minorUnits: 300), table: .zero)))),
            #"{"id":"tea","kind":"menuItem","name":"Tea","price":250,"prices":{"delivery":300,"table":0}}"#),
        GoldenEvent(
            "menu.itemChanged", version: 3,
            .menu(
                .itemChanged(
                    MenuItem(
                        id: Identifier("tea")!, kind: "menuItem", name: "Tea", price: Amount(minorUnits: 250),
                        options: [Identifier("g")!], isCombo: true))),
            #"{"id":"tea","kind":"menuItem","name":"Tea","price":250,"options":["g"],"combo":true}"#),
        GoldenEvent(
            "menu.itemChanged", version: 4,
            .menu(
                .itemChanged(
                    MenuItem(
                        id: Identifier("tea")!, kind: "menuItem", name: "Tea", price: Amount(minorUnits: 250),
                        daypart: Identifier("breakfast")))),
            #"{"id":"tea","kind":"menuItem","name":"Tea","price":250,"daypart":"breakfast"}"#),
        GoldenEvent(
            "menu.itemChanged", version: 5,
            .menu(
                .itemChanged(
                    MenuItem(
                        id: Identifier("tea")!, kind: "promo", name: "Tea", promotion: Identifier("ten")))),
            #"{"id":"tea","kind":"promo","name":"Tea","promotion":"ten"}"#),
        GoldenEvent(
            "menu.itemAdded", version: 2,
            .menu(
                .itemAdded(
                    MenuItem(
                        id: Identifier("tea")!, kind: "menuItem", name: "Tea", price: Amount(minorUnits: 250),
                        servicePrices: by(delivery: Amount(minorUnits: 300))), section: Identifier("s")!,
                    before: nil)),
            #"{"id":"tea","kind":"menuItem","name":"Tea","price":250,"prices":{"delivery":300},"section":"s"}"#),
        GoldenEvent(
            "menu.itemAdded", version: 3,
            .menu(
                .itemAdded(
                    MenuItem(
                        id: Identifier("tea")!, kind: "menuItem", name: "Tea", price: Amount(minorUnits: 250),
                        options: [Identifier("g")!], isCombo: true), section: Identifier("s")!,
                    before: nil)),
            #"{"id":"tea","kind":"menuItem","name":"Tea","price":250,"options":["g"],"combo":true,"section":"s"}"#),
        GoldenEvent(
            "menu.itemAdded", version: 4,
            .menu(
                .itemAdded(
                    MenuItem(
                        id: Identifier("tea")!, kind: "menuItem", name: "Tea", daypart: Identifier("breakfast")),
                    section: Identifier("s")!,
                    before: nil)),
            #"{"id":"tea","kind":"menuItem","name":"Tea","daypart":"breakfast","section":"s"}"#),
        GoldenEvent(
            "menu.itemAdded", version: 5,
            .menu(
                .itemAdded(
                    MenuItem(id: Identifier("tea")!, kind: "promo", name: "Tea", promotion: Identifier("ten")),
                    section: Identifier("s")!,
                    before: nil)),
            #"{"id":"tea","kind":"promo","name":"Tea","promotion":"ten","section":"s"}"#),
        GoldenEvent(
            "menu.sectionAdded", version: 2,
            .menu(
                .sectionAdded(
                    SectionHeader(
                        id: Identifier("s")!, title: "S", kind: "menuItems", layout: .list,
                        daypart: Identifier("breakfast")), before: nil)),
            #"{"id":"s","title":"S","kind":"menuItems","style":"list","daypart":"breakfast"}"#),
        GoldenEvent(
            "menu.sectionChanged", version: 2,
            .menu(
                .sectionChanged(
                    SectionHeader(
                        id: Identifier("s")!, title: "S", kind: "menuItems", layout: .list,
                        daypart: Identifier("breakfast")))),
            #"{"id":"s","title":"S","kind":"menuItems","style":"list","daypart":"breakfast"}"#),
        GoldenEvent(
            "menu.groupPut", version: 3,
            .menu(
                .groupPut(
                    OptionGroup(
                        id: Identifier("g")!, title: "G",
                        options: [MenuOption(id: Identifier("o")!, name: "O", tax: Identifier("vat")!)]))),
            #"{"id":"g","title":"G","min":0,"max":1,"options":[{"id":"o","name":"O","price":0,"tax":"vat"}]}"#),
        GoldenEvent(
            "menu.groupPut", version: 2,
            .menu(
                .groupPut(
                    OptionGroup(
                        id: Identifier("g")!, title: "G",
                        options: [
                            MenuOption(
                                id: Identifier("o")!, name: "O",
                                sizePrices: [MenuOption.SizePrice(Identifier("table")!, Amount(minorUnits: 1))],
                                servicePrices: by(table: Amount(minorUnits: 2)))
                        ]))),
            #"{"id":"g","title":"G","min":0,"max":1,"options":[{"id":"o","name":"O","price":0,"#
                + #""prices":{"table":1},"servicePrices":{"table":2}}]}"#),
        GoldenEvent(
            "menu.sectionAdded",
            .menu(
                .sectionAdded(
                    SectionHeader(
                        id: section, title: "दोपहर", kind: "promotions",
                        layout: .horizontalCard(width: 150, height: 200), sticky: true), before: tea)),
            #"{"id":"lunch","title":"दोपहर","kind":"promotions","style":"horizontalCard","width":150,"height":200,"#
                + #""sticky":true,"before":"tea"}"#),
        GoldenEvent(
            "menu.sectionChanged",
            .menu(
                .sectionChanged(SectionHeader(id: section, title: "Lunch", kind: "menuItems", layout: .list))),
            #"{"id":"lunch","title":"Lunch","kind":"menuItems","style":"list"}"#),
        GoldenEvent("menu.sectionMoved", .menu(.sectionMoved(section, before: nil)), #"{"id":"lunch"}"#),
        GoldenEvent(
            "menu.sectionMoved", .menu(.sectionMoved(section, before: tea)), #"{"id":"lunch","before":"tea"}"#),
        GoldenEvent("menu.sectionRemoved", .menu(.sectionRemoved(section)), #"{"id":"lunch"}"#),
        GoldenEvent(
            "menu.itemAdded",
            .menu(
                .itemAdded(
                    MenuItem(
                        id: tea, kind: "menuItem", name: "Tea", description: "Hot", price: Amount(minorUnits: 250),
                        cuisine: "Indian", tags: ["hot", "sweet"], imageSmall: "s.png", imageLarge: "l.png",
                        maxQuantity: 9), section: section, before: Identifier("milk")!)),
            #"{"id":"tea","kind":"menuItem","name":"Tea","description":"Hot","price":250,"cuisine":"Indian","#
                + #""tags":["hot","sweet"],"imageSmall":"s.png","imageLarge":"l.png","maxQuantity":9,"#
                + #""section":"lunch","before":"milk"}"#),
        GoldenEvent(
            "menu.itemChanged", .menu(.itemChanged(MenuItem(id: tea, kind: "promo", name: "Tea"))),
            #"{"id":"tea","kind":"promo","name":"Tea"}"#),
        GoldenEvent(
            "menu.itemChanged",
            .menu(
                .itemChanged(
                    MenuItem(
                        id: tea, kind: "menuItem", name: "Tea",
                        attributes: ItemAttributes([
                            .init(Identifier("shoeSize")!, .number(AttributeNumber("42.50")!)),
                            .init(Identifier("bloodType")!, .text("A")), .init(Identifier("vegan")!, .boolean(true)),
                            .init(Identifier("allergens")!, .texts(["nuts", "milk"])),
                        ])))),
            #"{"id":"tea","kind":"menuItem","name":"Tea","attributes":{"allergens":["nuts","milk"],"bloodType":"A","#
                + #""shoeSize":42.5,"vegan":true}}"#),
        GoldenEvent(
            "menu.itemChanged",
            .menu(
                .itemChanged(
                    MenuItem(
                        id: tea, kind: "promo", name: "Tea",
                        images: [ItemImage(url: "/a.png", alternative: "A cup"), ItemImage(url: "/b.png")],
                        links: [
                            ItemLink(rel: Identifier("source")!, url: "https://example.com/tea", title: "Tea"),
                            ItemLink(rel: Identifier("video")!, url: "/film"),
                        ]))),
            #"{"id":"tea","kind":"promo","name":"Tea","images":[{"url":"/a.png","alt":"A cup"},{"url":"/b.png"}],"#
                + #""links":[{"rel":"source","url":"https://example.com/tea","title":"Tea"},"#
                + #"{"rel":"video","url":"/film"}]}"#),
        GoldenEvent(
            "menu.sectionChanged",
            .menu(
                .sectionChanged(
                    SectionHeader(
                        id: section, title: "Lunch", kind: "menuItems",
                        layout: Layout(style: "grid", minimumWidth: 160)))),
            #"{"id":"lunch","title":"Lunch","kind":"menuItems","style":"grid","minimumWidth":160}"#),
        GoldenEvent(
            "menu.itemMoved", .menu(.itemMoved(tea, section: section, before: nil)),
            #"{"id":"tea","section":"lunch"}"#),
        GoldenEvent("menu.itemRemoved", .menu(.itemRemoved(tea)), #"{"id":"tea"}"#),
        GoldenEvent(
            "menu.itemRepriced", .menu(.itemRepriced(tea, Amount(minorUnits: 300))), #"{"id":"tea","price":300}"#),
        GoldenEvent("menu.itemSuspended", .menu(.itemSuspended(tea, until: nil)), #"{"id":"tea"}"#),
        GoldenEvent(
            "menu.itemSuspended", .menu(.itemSuspended(tea, until: Timestamp(millisecondsSinceEpoch: -1))),
            #"{"id":"tea","until":-1}"#),
        GoldenEvent("menu.itemResumed", .menu(.itemResumed(tea)), #"{"id":"tea"}"#),
        GoldenEvent(
            "menu.itemSuspended", version: 2, .menu(.itemSuspended(tea, until: nil, by: .stock)),
            #"{"id":"tea","by":"stock"}"#),
        GoldenEvent(
            "menu.itemResumed", version: 2, .menu(.itemResumed(tea, by: .stock)), #"{"id":"tea","by":"stock"}"#),
        GoldenEvent(
            "menu.optionSuspended", version: 2, .menu(.optionSuspended(tea, until: nil, by: .stock)),
            #"{"id":"tea","by":"stock"}"#),
        GoldenEvent(
            "menu.optionResumed", version: 2, .menu(.optionResumed(tea, by: .stock)), #"{"id":"tea","by":"stock"}"#),
        GoldenEvent(
            "menu.itemChanged",
            .menu(
                .itemChanged(
                    MenuItem(id: tea, kind: "promo", name: "Tea", options: [section], tax: Identifier("vat")!))),
            #"{"id":"tea","kind":"promo","name":"Tea","options":["lunch"],"tax":"vat"}"#),
        GoldenEvent(
            "menu.groupPut",
            .menu(
                .groupPut(
                    OptionGroup(
                        id: Identifier("size")!, title: "Size", minimum: 1, maximum: 1, setsPrice: true,
                        options: [MenuOption(id: tea, name: "Large", price: Amount(minorUnits: 900))]))),
            #"{"id":"size","title":"Size","min":1,"max":1,"setsPrice":true,"#
                + #""options":[{"id":"tea","name":"Large","price":900}]}"#),
        GoldenEvent(
            "menu.groupPut",
            .menu(
                .groupPut(
                    OptionGroup(
                        id: Identifier("extras")!, title: "Extras", maximum: 3, free: 1,
                        options: [
                            MenuOption(
                                id: Identifier("milk")!, name: "Milk", price: Amount(minorUnits: 40),
                                sizePrices: [.init(tea, Amount(minorUnits: 60))], item: section, standard: 1,
                                maximum: 2, groups: [Identifier("size")!])
                        ]))),
            #"{"id":"extras","title":"Extras","min":0,"max":3,"free":1,"options":[{"id":"milk","name":"Milk","#
                + #""price":40,"prices":{"tea":60},"item":"lunch","default":1,"max":2,"groups":["size"]}]}"#),
        GoldenEvent("menu.groupRemoved", .menu(.groupRemoved(section)), #"{"id":"lunch"}"#),
        GoldenEvent(
            "menu.optionRepriced", .menu(.optionRepriced(tea, Amount(minorUnits: 50), size: nil)),
            #"{"id":"tea","price":50}"#),
        GoldenEvent(
            "menu.optionRepriced", .menu(.optionRepriced(tea, Amount(minorUnits: 50), size: section)),
            #"{"id":"tea","price":50,"size":"lunch"}"#),
        GoldenEvent(
            "menu.optionSuspended", .menu(.optionSuspended(tea, until: Timestamp(millisecondsSinceEpoch: 7))),
            #"{"id":"tea","until":7}"#),
        GoldenEvent("menu.optionResumed", .menu(.optionResumed(tea)), #"{"id":"tea"}"#),
        GoldenEvent(
            "menu.feedChecked",
            .menu(
                .feedChecked(
                    FeedCheck(
                        .ready, at: Timestamp(millisecondsSinceEpoch: 7),
                        refreshedAt: Timestamp(millisecondsSinceEpoch: 7),
                        source: "https://example.com/menu.json", problems: ["2: name: is missing"],
                        validators: FeedCheck.Validators(
                            etag: "\"a\"", modified: "Sun, 01 Mar 2026 12:00:00 GMT", key: "k")))),
            #"{"state":"ready","at":7,"refreshedAt":7,"source":"https://example.com/menu.json","#
                + #""problems":["2: name: is missing"],"etag":"\"a\"","modified":"Sun, 01 Mar 2026 12:00:00 GMT","#
                + #""key":"k"}"#),
        GoldenEvent(
            "menu.feedChecked", .menu(.feedChecked(FeedCheck(.malformed, at: Timestamp(millisecondsSinceEpoch: -1)))),
            #"{"state":"malformed","at":-1}"#),
    ]

    private static let line = CartLine(
        id: "tea+milk~2", item: tea, name: "Tea", quantity: 2, unitPrice: Amount(minorUnits: 250),
        options: [
            LineOption(Identifier("milk")!, name: "Milk", units: 2, price: Amount(minorUnits: 40), free: 1)
        ],
        note: .plain("no\nsugar"))
    private static let lineText =
        #""line":"tea+milk~2","item":"tea","name":"Tea","quantity":2,"unitPrice":250,"#
        + #""options":[{"id":"milk","name":"Milk","units":2,"price":40,"free":1}],"#
        + #""note":"no\nsugar""#

    private static let sealedLine = CartLine(
        id: "tea", item: tea, name: "Tea", quantity: 2, unitPrice: Amount(minorUnits: 250),
        note: .sealed(SealedText(ciphertext: "/+8=")))
    private static let sealedLineText =
        #""line":"tea","item":"tea","name":"Tea","quantity":2,"unitPrice":250,"sealedNote":"/+8=""#

    private static let carts = [
        GoldenEvent(
            "cart.itemAdded", version: 2,
            .cart(
                .itemAdded(
                    sealedLine, outlet: Identifier("o1")!, currency: Currency("INR")!, customer: Identifier("c-81"))),
            #"{"outlet":"o1","currency":"INR","customer":"c-81","# + sealedLineText + "}"),
        GoldenEvent(
            "cart.checkedOut", version: 3,
            .cart(
                .checkedOut(
                    order: Identifier("d0f631ca-1")!, lines: [sealedLine], total: Amount(minorUnits: 500),
                    customer: Identifier("c-81"), name: SealedText(ciphertext: "AA=="))),
            #"{"order":"d0f631ca-1","lines":[{"# + sealedLineText
                + #"}],"total":500,"customer":"c-81","sealedName":"AA=="}"#),
        GoldenEvent(
            "cart.itemAdded", version: 2,
            .cart(.itemAdded(line, outlet: Identifier("o1")!, currency: Currency("INR")!)),
            #"{"outlet":"o1","currency":"INR","# + lineText + "}"),
        GoldenEvent(
            "cart.quantityChanged", .cart(.quantityChanged(line: "tea", from: 2, to: 5)),
            #"{"line":"tea","from":2,"to":5}"#),
        GoldenEvent(
            "cart.lineRemoved", .cart(.lineRemoved(line: "tea", quantity: 5)), #"{"line":"tea","quantity":5}"#),
        GoldenEvent(
            "cart.lineEdited",
            .cart(.lineEdited(line: "tea", to: line, customer: Identifier("c-81"))),
            #"{"from":"tea","customer":"c-81","# + lineText + "}"),
        GoldenEvent("cart.tipSet", .cart(.tipSet(Amount(minorUnits: 50))), #"{"tip":50}"#),
        GoldenEvent(
            "cart.serviceChosen", .cart(.serviceChosen(.delivery, table: nil)), #"{"service":"delivery"}"#),
        GoldenEvent(
            "cart.serviceChosen", .cart(.serviceChosen(.table, table: "4")), #"{"service":"table","table":"4"}"#),
        GoldenEvent(
            "cart.serviceChosen", version: 2,
            .cart(.serviceChosen(.pickup, table: nil, wanted: Timestamp(millisecondsSinceEpoch: 1_700_000_000_123))),
            #"{"service":"pickup","for":1700000000123}"#),
        GoldenEvent(
            "cart.checkedOut", version: 4,
            .cart(
                .checkedOut(
                    order: Identifier("d0f631ca-1")!, lines: [], total: .zero, customer: Identifier("c-81"),
                    handover: Handover(
                        .delivery, phone: SealedText(ciphertext: "AA=="), address: SealedText(ciphertext: "AB==")))),
            #"{"order":"d0f631ca-1","lines":[],"total":0,"customer":"c-81","service":"delivery","#
                + #""sealedPhone":"AA==","sealedAddress":"AB=="}"#),
        GoldenEvent("cart.cleared", .cart(.cleared(count: 7)), #"{"count":7}"#),
        GoldenEvent(
            "cart.checkedOut", version: 3,
            .cart(
                .checkedOut(
                    order: Identifier("d0f631ca-1")!,
                    lines: [
                        line,
                        CartLine(id: "x", item: Identifier("x")!, name: "X", quantity: 1, unitPrice: .zero),
                    ], total: Amount(minorUnits: 500))),
            #"{"order":"d0f631ca-1","lines":[{"# + lineText
                + #"},{"line":"x","item":"x","name":"X","quantity":1,"unitPrice":0}],"total":500}"#),
    ]

    private static let change = Order.Change(
        by: .merchant,
        [
            Order.LineChange(line: "pie", name: "Pie", from: 2, to: 0),
            Order.LineChange(line: "tea", name: "Tea", from: 0, to: 1, replaces: "pie"),
        ], before: "0123456789abcdef", after: "fedcba9876543210",
        ordered: [
            CartLine(id: "tea", item: Identifier("tea")!, name: "Tea", quantity: 1, unitPrice: Amount(minorUnits: 250))
        ], price: Order.Price(Amount(minorUnits: 300), [Charge(.tip, Amount(minorUnits: 50))]))
    private static let changeText =
        #""by":"merchant","change":[{"line":"pie","name":"Pie","from":2,"to":0},"#
        + #"{"line":"tea","name":"Tea","from":0,"to":1,"replaces":"pie"}],"before":"0123456789abcdef","#
        + #""after":"fedcba9876543210","lines":[{"line":"tea","item":"tea","name":"Tea","quantity":1,"unitPrice":250}],"#
        + #""charges":[{"kind":"tip","amount":50,"included":false,"shares":[]}],"total":300"#

    private static let orders = [
        GoldenEvent(
            "order.placed", version: 4,
            .order(
                .placed(
                    Order.Placement(
                        cart: Identifier("c1")!, outlet: Identifier("o1")!, currency: Currency("INR")!, lines: [],
                        total: .zero, terms: Order.Terms(promisedFor: Timestamp(millisecondsSinceEpoch: 1_000)),
                        handover: Handover(.table, table: "4")))),
            #"{"cart":"c1","outlet":"o1","currency":"INR","lines":[],"total":0,"service":"table","table":"4","#
                + #""promisedFor":1000}"#),
        GoldenEvent(
            "order.placed", version: 3,
            .order(
                .placed(
                    Order.Placement(
                        cart: Identifier("c1")!, outlet: Identifier("o1")!, currency: Currency("INR")!,
                        lines: [line], total: Amount(minorUnits: 500)))),
            #"{"cart":"c1","outlet":"o1","currency":"INR","lines":[{"# + lineText + #"}],"total":500}"#),
        GoldenEvent(
            "order.placed", version: 3,
            .order(
                .placed(
                    Order.Placement(
                        cart: Identifier("c1")!, outlet: Identifier("o1")!, currency: Currency("INR")!,
                        lines: [line], total: Amount(minorUnits: 500),
                        terms: Order.Terms(
                            placedAt: time(0), promisedFor: time(3), releaseAt: time(1), acceptBy: time(2),
                            payBy: time(4), acceptWithin: 690)))),
            #"{"cart":"c1","outlet":"o1","currency":"INR","lines":[{"# + lineText
                + #"}],"total":500,"placedAt":1700000000000,"promisedFor":1700000000003,"releaseAt":1700000000001,"#
                + #""acceptBy":1700000000002,"payBy":1700000000004,"acceptWithin":690}"#),
        GoldenEvent("order.released", .order(.released(acceptBy: time(5))), #"{"acceptBy":1700000000005}"#),
        GoldenEvent("order.released", .order(.released(acceptBy: nil)), "{}"),
        GoldenEvent("order.scheduled", .order(.scheduled), "{}"),
        GoldenEvent(
            "order.refunded", version: 2, .order(.refunded(Order.Refund(Amount(minorUnits: 50), .customer))),
            #"{"amount":50,"code":"CUSTOMER"}"#),
        GoldenEvent(
            "order.refunded", version: 2,
            .order(
                .refunded(
                    Order.Refund(
                        Amount(minorUnits: 34),
                        taxes: [
                            Order.Refund.Tax(
                                id: Identifier("vat"), rate: Rate(thousandths: 20_000), base: Amount(minorUnits: 30),
                                Amount(minorUnits: 5)),
                            // From before rates and bases were recorded.
                            Order.Refund.Tax(id: Identifier("city"), Amount(minorUnits: 1)),
                        ], .items, units: Order.Refund.Units(line: "tea", quantity: 1)))),
            #"{"amount":34,"taxes":[{"id":"vat","rate":20000,"base":30,"amount":5},{"id":"city","amount":1}],"#
                + #""code":"ITEMS","line":"tea","quantity":1}"#),
        GoldenEvent(
            "order.paymentReported", version: 2,
            .order(.paymentReported(Order.Payment(reference: "pay_1", .captured, Amount(minorUnits: 500)))),
            #"{"ref":"pay_1","state":"captured","amount":500}"#),
        GoldenEvent(
            "order.paymentReported", version: 2,
            .order(
                .paymentReported(
                    Order.Payment(reference: "d_1", .chargedBack, Amount(minorUnits: 500), of: .report("pay_1")),
                    isInDoubt: true)),
            #"{"ref":"d_1","state":"chargedBack","amount":500,"of":"pay_1","doubt":true}"#),
        GoldenEvent(
            "order.paymentReported", version: 2,
            .order(
                .paymentReported(
                    Order.Payment(reference: "r_1", .refunded, Amount(minorUnits: 5), of: .unclear), isInDoubt: true)),
            #"{"ref":"r_1","state":"refunded","amount":5,"of":null,"doubt":true}"#),
        GoldenEvent("order.coverLost", .order(.coverLost(payBy: time(8))), #"{"payBy":1700000000008}"#),
        GoldenEvent(
            "order.accepted", .order(.accepted(readyBy: time(6), by: .merchant)),
            #"{"by":"merchant","readyBy":1700000000006}"#),
        GoldenEvent("order.accepted", .order(.accepted(readyBy: nil, by: .system)), #"{"by":"system"}"#),
        GoldenEvent(
            "order.rejected", .order(.rejected(Order.Ending(by: .merchant, .items, text: .plain("no fish")))),
            #"{"by":"merchant","code":"ITEMS","reason":"no fish"}"#),
        GoldenEvent("order.preparationStarted", .order(.preparationStarted), "{}"),
        GoldenEvent("order.readied", .order(.readied), "{}"),
        GoldenEvent("order.completed", .order(.completed(by: .merchant)), #"{"by":"merchant"}"#),
        GoldenEvent("order.delayed", .order(.delayed(readyBy: time(7))), #"{"readyBy":1700000000007}"#),
        GoldenEvent(
            "order.delayed", version: 2, .order(.delayed(readyBy: time(7), text: .plain("no gas"))),
            #"{"readyBy":1700000000007,"reason":"no gas"}"#),
        GoldenEvent(
            "order.delayed", version: 2,
            .order(.delayed(readyBy: time(7), text: .sealed(SealedText(ciphertext: "AA==")))),
            #"{"readyBy":1700000000007,"sealedReason":"AA=="}"#),
        GoldenEvent(
            "order.cancelled",
            .order(.cancelled(Order.Ending(by: .customer, .other, text: .sealed(SealedText(ciphertext: "AA=="))))),
            #"{"by":"customer","code":"OTHER","sealedReason":"AA=="}"#),
        GoldenEvent(
            "order.cancelled", .order(.cancelled(Order.Ending(by: .system, .timeout))),
            #"{"by":"system","code":"TIMEOUT"}"#),
        GoldenEvent(
            "order.placed", version: 3,
            .order(
                .placed(
                    Order.Placement(
                        cart: Identifier("c1")!, outlet: Identifier("o1")!, currency: Currency("INR")!, lines: [],
                        total: .zero, missing: .replace,
                        pricing: PricingTerms(
                            taxIncluded: true,
                            taxes: [.init(id: Identifier("vat")!, name: "VAT", rate: Rate(thousandths: 20_000)!)],
                            service: .init(rate: Rate(thousandths: 10_000)!),
                            delivery: .init(Amount(minorUnits: 299)))))),
            #"{"cart":"c1","outlet":"o1","currency":"INR","lines":[],"total":0,"missing":"replace","#
                + #""pricing":{"taxIncluded":true,"taxes":[{"id":"vat","name":"VAT","rate":20000}],"#
                + #""charges":{"service":{"rate":10000},"delivery":{"fee":299}}}}"#),
        GoldenEvent(
            "order.changeProposed", .order(.changeProposed(change, until: time(9))),
            "{" + changeText + #","until":1700000000009}"#),
        GoldenEvent("order.changed", .order(.changed(change)), "{" + changeText + "}"),
        GoldenEvent(
            "order.changed",
            .order(
                .changed(
                    Order.Change(
                        by: .merchant, [], before: "a", after: "b", ordered: [],
                        price: Order.Price(Amount(minorUnits: 5), []), gone: claims))),
            #"{"by":"merchant","change":[],"before":"a","after":"b","lines":[],"total":5,"#
                + #""gone":[{"kind":"item","id":"tea","count":2}]}"#),
        GoldenEvent("order.changeDeclined", .order(.changeDeclined(by: .customer)), #"{"by":"customer"}"#),
        GoldenEvent("order.changeExpired", .order(.changeExpired), "{}"),
        GoldenEvent("order.changesNoted", .order(.changesNoted), "{}"),
        GoldenEvent(
            "order.placed", version: 3,
            .order(
                .placed(
                    Order.Placement(
                        cart: Identifier("c1")!, outlet: Identifier("o1")!, currency: Currency("INR")!,
                        lines: [line],
                        charges: [
                            Charge(.delivery, Amount(minorUnits: 99)),
                            Charge(
                                .tax, id: Identifier("vat")!, name: "VAT", rate: Rate(thousandths: 20_000),
                                Amount(minorUnits: 83), isIncluded: true, shares: [Amount(minorUnits: 83), .zero],
                                bases: [Amount(minorUnits: 500), .zero]),
                        ], total: Amount(minorUnits: 599)))),
            #"{"cart":"c1","outlet":"o1","currency":"INR","lines":[{"# + lineText
                + #"}],"charges":[{"kind":"delivery","amount":99,"included":false,"shares":[]},"#
                + #"{"kind":"tax","id":"vat","name":"VAT","rate":20000,"base":500,"amount":83,"included":true,"#
                + #""shares":[83,0],"bases":[500,0]}],"total":599}"#),
    ]

    private static let deeds = [
        GoldenEvent(
            "cart.checkoutBegun",
            .cart(
                .checkoutBegun(
                    Cart.Checkout(
                        order: Identifier("order-1")!, outlet: Identifier("o")!, claims: claims, at: time(5),
                        lines: [], total: Amount(minorUnits: 500), terms: Order.Terms(promisedFor: time(9))))),
            #"{"order":"order-1","outlet":"o","claims":[{"kind":"item","id":"tea","count":2}],"at":1700000000005,"#
                + #""lines":[],"total":500,"promisedFor":1700000000009}"#),
        GoldenEvent(
            "cart.checkoutRefused",
            .cart(.checkoutRefused(order: Identifier("order-1")!, Supply.Refusal(.soldOut, "item 'tea' is sold out"))),
            #"{"order":"order-1","code":"SOLDOUT","text":"item 'tea' is sold out"}"#),
        GoldenEvent(
            "order.placed", version: 5,
            .order(
                .placed(
                    Order.Placement(
                        cart: Identifier("cart-1")!, outlet: Identifier("o")!, currency: Currency("INR")!, lines: [],
                        total: Amount(minorUnits: 500), claims: claims))),
            #"{"cart":"cart-1","outlet":"o","currency":"INR","lines":[],"total":500,"#
                + #""claims":[{"kind":"item","id":"tea","count":2}]}"#),
        GoldenEvent(
            "order.cancelled", version: 2, .order(.cancelled(Order.Ending(by: .customer, .customer, claims: claims))),
            #"{"by":"customer","code":"CUSTOMER","claims":[{"kind":"item","id":"tea","count":2}]}"#),
        GoldenEvent(
            "order.rejected", version: 2, .order(.rejected(Order.Ending(by: .merchant, .items, claims: claims))),
            #"{"by":"merchant","code":"ITEMS","claims":[{"kind":"item","id":"tea","count":2}]}"#),
        GoldenEvent("order.claimsReturned", .order(.claimsReturned), "{}"),
        GoldenEvent("cart.codeAdded", .cart(.codeAdded("TEN")), #"{"code":"TEN"}"#),
        GoldenEvent("cart.codeRemoved", .cart(.codeRemoved("TEN")), #"{"code":"TEN"}"#),
        GoldenEvent(
            "cart.checkedOut", version: 5,
            .cart(
                .checkedOut(order: Identifier("order-1")!, lines: [], charges: [discount], total: Amount(minorUnits: 9))
            ),
            #"{"order":"order-1","lines":[],"charges":[{"kind":"discount","id":"ten","name":"Ten off","by":"platform","#
                + #""amount":-10,"included":false,"shares":[-4,-6]}],"total":9}"#),
        GoldenEvent(
            "order.placed", version: 6,
            .order(
                .placed(
                    Order.Placement(
                        cart: Identifier("cart-1")!, outlet: Identifier("o")!, currency: Currency("INR")!, lines: [],
                        charges: [discount], total: Amount(minorUnits: 9)))),
            #"{"cart":"cart-1","outlet":"o","currency":"INR","lines":[],"charges":[{"kind":"discount","id":"ten","#
                + #""name":"Ten off","by":"platform","amount":-10,"included":false,"shares":[-4,-6]}],"total":9}"#),
        GoldenEvent(
            "promotions.put",
            .promotions(
                .put(
                    Promotion(
                        id: tea, title: "Two for one", on: .items, .percent(Rate(thousandths: 100_000)!),
                        of: .init(items: [tea], sections: [Identifier("drinks")!], tags: ["hot"]), buy: 1, get: 2,
                        minimum: Amount(minorUnits: 5), code: "TEA", from: time(1), until: time(2), service: .table,
                        limit: 100, perCustomer: 1, cap: Amount(minorUnits: 7), isAlone: true, by: .platform))),
            #"{"id":"tea","title":"Two for one","on":"items","give":{"percent":100000},"#
                + #""of":{"items":["tea"],"sections":["drinks"],"tags":["hot"]},"buy":1,"get":2,"minimum":5,"#
                + #""code":"TEA","from":1700000000001,"until":1700000000002,"service":"table","limit":100,"#
                + #""perCustomer":1,"cap":7,"alone":true,"by":"platform"}"#),
        GoldenEvent(
            "promotions.put",
            .promotions(
                .put(Promotion(id: tea, title: "Ten off", on: .order, .amount(Amount(minorUnits: 10))))),
            #"{"id":"tea","title":"Ten off","on":"order","give":{"amount":10}}"#),
        GoldenEvent(
            "promotions.put",
            .promotions(
                .put(Promotion(id: tea, title: "Free", on: .delivery, .price(Amount(minorUnits: 0))))),
            #"{"id":"tea","title":"Free","on":"delivery","give":{"price":0}}"#),
        GoldenEvent("promotions.ended", .promotions(.ended(tea)), #"{"id":"tea"}"#),
        GoldenEvent("promotions.spent", .promotions(.spent(tea)), #"{"id":"tea"}"#),
        GoldenEvent("promotions.resumed", .promotions(.resumed(tea)), #"{"id":"tea"}"#),
        GoldenEvent(
            "supply.stocked", .supply(.stocked(.item(tea), left: 7)), #"{"kind":"item","id":"tea","left":7}"#),
        GoldenEvent("supply.stocked", .supply(.stocked(.option(tea), left: nil)), #"{"kind":"option","id":"tea"}"#),
        GoldenEvent(
            "supply.held", .supply(.held(claims, order: Identifier("order-1")!, at: time(5))),
            #"{"order":"order-1","claims":[{"kind":"item","id":"tea","count":2}],"at":1700000000005}"#),
        GoldenEvent(
            "supply.held",
            .supply(.held([Claim(.slot(time(0)), 1, limit: 4)], order: Identifier("order-1")!, at: time(5))),
            #"{"order":"order-1","claims":[{"kind":"slot","id":"2023-11-14T22:13:20Z","count":1,"limit":4}],"#
                + #""at":1700000000005}"#),
        GoldenEvent(
            "supply.refused",
            .supply(.refused(Supply.Refusal(.soldOut, "gone"), order: Identifier("order-1")!, at: time(5))),
            #"{"order":"order-1","code":"SOLDOUT","text":"gone","at":1700000000005}"#),
        GoldenEvent(
            "supply.returned", .supply(.returned(claims, order: Identifier("order-1")!)),
            #"{"order":"order-1","claims":[{"kind":"item","id":"tea","count":2}]}"#),
        GoldenEvent("customer.forgotten", .deed(.customerForgotten), "{}"),
        GoldenEvent(
            "user.put",
            .deed(
                .userPut(
                    Deed.User(
                        role: "merchant", grants: [Identifier("o1")!, Identifier("o2")!], isEnabled: false,
                        change: "grants"))),
            #"{"role":"merchant","only":["o1","o2"],"enabled":false,"change":"grants"}"#),
        GoldenEvent("user.removed", .deed(.userRemoved), "{}"),
        GoldenEvent("relay.put", .deed(.relayPut), "{}"),
        GoldenEvent(
            "relay.moved", .deed(.relayMoved(partition: 3, position: 41)), #"{"partition":3,"position":41}"#),
        GoldenEvent(
            "relay.skipped", .deed(.relaySkipped(partition: 3, position: 41, reason: "too long")),
            #"{"partition":3,"position":41,"reason":"too long"}"#),
    ]

    private static func time(_ milliseconds: Int64) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: 1_700_000_000_000 + milliseconds)
    }
}

extension GoldenEvent: CustomStringConvertible {
    var description: String { "\(kind.name): \(text)" }
}
