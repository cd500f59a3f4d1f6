import Domain
import EventLog
import Projections

extension OutletRecord {
    /// An outlet with one of everything that a document shows.
    static var sample: OutletRecord {
        get throws {
            let (outlet, menu) = (StreamName(.outlet, "spice-route"), StreamName(.menu, "spice-route"))
            var details = OutletDetails(
                name: "Spice \"Route\"", city: "Pune", currency: Currency("INR")!, timeZone: "Asia/Kolkata",
                cuisines: ["Indian", "Café"])
            details.priceForTwo = 60_000
            details.rating = Rating(hundredths: 440)
            details.ratingCount = 120
            details.hours = [OpeningHours(day: .monday, opens: 545, closes: 1_530)!]
            let promotion = SectionKind.named("promotions")!
            let dessert = SectionKind.named("desserts")!
            let document = MenuDocument(sections: [
                MenuSection(
                    header: SectionHeader(
                        id: "offers", title: "Offers", kind: promotion.name, layout: promotion.defaultLayout),
                    items: [MenuItem(id: "banner", kind: "promo", name: "Two for one")]),
                MenuSection(
                    header: SectionHeader(
                        id: "more-offers", title: "More", kind: promotion.name,
                        layout: .horizontalCard(width: 160, height: 90)),
                    items: [MenuItem(id: "thali-day", kind: "promo", name: "Thali day", price: 19_900)]),
                MenuSection(
                    header: SectionHeader(
                        id: "lunch", title: "Lunch", kind: "menuItems", layout: .list, sticky: true),
                    items: [
                        MenuItem(
                            id: "dosa", kind: "menuItem", name: "Dosa", description: "Crisp", price: 12_000,
                            cuisine: "South Indian", tags: ["veg"], imageSmall: "https://i/s",
                            imageLarge: "https://i/l", images: [ItemImage(url: "/dosa", alternative: "A \"dosa\"")],
                            links: [
                                ItemLink(rel: "source", url: "https://i/dosa"),
                                ItemLink(rel: "video", url: "https://i/film", title: "The film"),
                            ],
                            maxQuantity: 5,
                            attributes: ItemAttributes([
                                .init("vegan", .boolean(true)), .init("shoeSize", .number(AttributeNumber("42.5")!)),
                                .init("allergens", .texts(["nuts", "milk"])), .init("bloodType", .text("A \"+\"")),
                            ]))
                    ]),
                MenuSection(
                    header: SectionHeader(id: "dinner", title: "Dinner", kind: "menuItems", layout: .list), items: []),
                MenuSection(
                    header: SectionHeader(
                        id: "sweets", title: "Desserts", kind: dessert.name, layout: dessert.defaultLayout),
                    items: [
                        MenuItem(id: "kulfi", kind: "dessert", name: "Kulfi", price: 8_000),
                        MenuItem(id: "jalebi", kind: "dessert", name: "Jalebi", price: 6_000),
                    ]),
            ])
            var events: [(StreamName, DomainEvent)] = [
                (outlet, .outlet(.registered(details))), (outlet, .outlet(.opened)),
            ]
            events += try Menu.decide(.put(document), in: Menu.initial).map { (menu, .menu($0)) }
            events.append((menu, .menu(.itemSuspended("kulfi", until: 1_772_366_400_000))))
            return ReadModel(events).outletHome["spice-route"]!
        }
    }

    /// The same outlet before it has a menu, paused.
    static var withoutMenu: OutletRecord {
        let outlet = StreamName(.outlet, "o")
        let details = OutletDetails(name: "O", currency: Currency("INR")!, timeZone: "UTC")
        return ReadModel([
            (outlet, .outlet(.registered(details))), (outlet, .outlet(.opened)),
            (outlet, .outlet(.paused(until: 1_772_366_400_500, reason: "rush"))),
        ]).outletHome["o"]!
    }
}
