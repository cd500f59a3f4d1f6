import Domain
import EventLog
import Projections
import SeededRandom
import Testing

@Suite("The size of a home")
struct HomeSizeTests {
    /// More than what a home has for each item, tag and section beside their texts.
    private static let (item, tag, section) = (420, 3, 1_500)
    /// More than what it has for the outlet: 50 cuisines, three lines, a name, a reason, 50 opening hours and the
    /// problems of a feed.
    private static let outlet = 72_500
    /// What is around the document in a message of a topic.
    private static let frame = 1_000

    /// The most bytes of the home of a menu: every byte of a text may have to be escaped.
    private static func bound(bytes: Int, items: Int, tags: Int, sections: Int) -> Int {
        2 * bytes + item * items + tag * tags + section * sections + outlet
    }

    @Test func `the home of the largest menu is less than 20 MiB, as is a message with it`() {
        let largest = HomeSizeTests.bound(
            bytes: Menu.maximumBytes, items: Menu.maximumItems, tags: Menu.maximumItems * MenuItem.maximumTags,
            sections: Menu.maximumSections)
        #expect(largest + HomeSizeTests.frame < 20 << 20)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `no home is larger than its menu allows`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let id = Identifier(String(repeating: "o", count: Identifier.maximumLength))!
        let (outlet, menu) = (StreamName(.outlet, id), StreamName(.menu, id))
        var events: [(StreamName, DomainEvent)] = [
            (outlet, .outlet(.registered(.longest))), (outlet, .outlet(.opened)),
            (outlet, .outlet(.paused(until: .latest, reason: .longest(500)))),
        ]
        if random.chance(50) {
            let problems = Array(repeating: Text.longest(300), count: FeedCheck.maximumProblems)
            let check = FeedCheck(.malformed, at: .latest, refreshedAt: .latest, problems: problems)
            events.append((menu, .menu(.feedChecked(check))))
        }
        var (items, tags) = (0, 0)
        let sections = random.pick([0, 1, 5])
        for number in 0..<sections {
            let header = SectionHeader(
                id: .longest(number), title: random.text(200), kind: random.pick(SectionKind.all).name,
                layout: .horizontalCard(width: 10_000, height: 10_000), sticky: random.chance(50))
            events.append((menu, .menu(.sectionAdded(header, before: nil))))
            for _ in 0..<random.pick([0, 1, 20]) {
                let item = random.item(.longest(items))
                items += 1
                tags += item.tags.count
                events.append((menu, .menu(.itemAdded(item, section: header.id, before: nil))))
                if random.chance(50) { events.append((menu, .menu(.itemSuspended(item.id, until: .latest)))) }
            }
        }
        let record = try #require(ReadModel(events).outletHome[id])
        let bound = HomeSizeTests.bound(bytes: record.menu.bytes, items: items, tags: tags, sections: sections)
        let home = HomeDocument.bytes(of: record)
        #expect(home.count <= bound)
    }
}

extension Timestamp {
    /// The last moment that a document shows.
    fileprivate static let latest = Timestamp(millisecondsSinceEpoch: 253_402_300_799_999)
}

extension Text {
    /// A text whose every byte has to be escaped.
    fileprivate static func longest(_ count: Int) -> Text { Text(String(repeating: "\"", count: count)) }
}

extension Identifier {
    fileprivate static func longest(_ number: Int) -> Identifier {
        Identifier(String(repeating: "x", count: maximumLength - 5) + String(10_000 + number))!
    }
}

extension OutletDetails {
    fileprivate static var longest: OutletDetails {
        var details = OutletDetails(name: .longest(200), currency: Currency("INR")!, timeZone: .longest(300))
        (details.city, details.area, details.address) = (.longest(300), .longest(300), .longest(300))
        details.cuisines = Array(repeating: .longest(300), count: maximumCuisines)
        details.priceForTwo = .maximum
        details.rating = Rating(hundredths: 499)
        details.ratingCount = maximumRatingCount
        details.deliveryMinutes = maximumDeliveryMinutes
        details.minimumOrder = .maximum
        details.hours = Array(
            repeating: OpeningHours(day: .wednesday, opens: 1_439, closes: 2_879)!, count: maximumHours)
        return details
    }
}

extension SeededGenerator {
    fileprivate mutating func text(_ most: Int) -> Text { .longest(pick([1, most])) }

    fileprivate mutating func item(_ id: Identifier) -> MenuItem {
        var item = MenuItem(id: id, kind: pick(ItemKind.all).name, name: text(200), price: .maximum)
        if chance(50) { item.description = text(2_000) }
        if chance(50) { item.cuisine = text(300) }
        if chance(50) { item.imageSmall = text(2_000) }
        if chance(50) { item.imageLarge = text(2_000) }
        if chance(50) { item.links = [ItemLink(rel: "source", url: "/")] }
        item.tags = Array(repeating: text(300), count: pick([0, 1, MenuItem.maximumTags]))
        if chance(50) { item.attributes = ItemAttributes([.init("label", .text(text(40)))]) }
        return item
    }
}
