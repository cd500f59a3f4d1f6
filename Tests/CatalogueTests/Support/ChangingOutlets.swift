import Domain
import EventLog
import Projections
import SeededRandom

@testable import Catalogue

/// Outlets and menus that keep changing at random, by commands that are decided and folded as the server does it.
struct ChangingOutlets {
    /// What a catalogue is told about a change.
    struct Change {
        var outlet: Identifier
        var record: OutletRecord?
        var touched: Set<Identifier>?
    }

    var generator: SeededGenerator
    private(set) var model = ReadModel(partition: 0)
    /// The present moment.
    private(set) var now: Timestamp = 1_000_000
    private let ids: [Identifier]
    private var states: [StreamName: AggregateState] = [:]
    private var versions: [StreamName: Int64] = [:]

    init(seed: UInt64, outlets: Int = 8, changes: Int = 60) {
        generator = SeededGenerator(seed: seed)
        ids = (0..<outlets).map { Identifier("o\($0)")! }
        for _ in 0..<changes { _ = change() }
    }

    /// Every outlet that the catalogue shows.
    var shown: [OutletRecord] { model.outletHome.listed }

    /// A catalogue that was loaded with all of it.
    func loadedCatalogue(revision: Int64 = 0) -> Catalogue {
        // In several parts, as a large one is.
        let catalogue = Catalogue(loadedAtOnce: 3)
        catalogue.load(shown, revision: revision)
        catalogue.advance(to: now)
        return catalogue
    }

    /// Makes a change and lets the catalogue follow. Returns whether there was one.
    @discardableResult
    mutating func change(_ catalogue: Catalogue) -> Bool {
        if generator.chance(10) { letTimePass(catalogue) }
        guard let change = change() else { return false }
        catalogue.revision += Int64(generator.number(1..<4))
        catalogue.update(change.outlet, to: change.record, items: change.touched)
        return true
    }

    /// Some time passes, and nothing else happens.
    mutating func letTimePass(_ catalogue: Catalogue) {
        now = Timestamp(millisecondsSinceEpoch: now.millisecondsSinceEpoch + Int64(generator.number(1..<200)))
        catalogue.advance(to: now)
    }

    /// Makes a change, if the chosen command changes anything.
    mutating func change() -> Change? {
        let outlet = generator.pick(ids)
        switch generator.number(0..<100) {
        case 0 where generator.chance(20):
            fold(.menu(.itemRemoved("never-there")), StreamName(.menu, outlet), isPossible: false)
            return told(outlet, nil)
        case ..<25:
            let events = decide(outletCommand(outlet), StreamName(.outlet, outlet))
            return events.isEmpty ? nil : told(outlet, [])
        default:
            let events = decideMenu(StreamName(.menu, outlet))
            return events.isEmpty ? nil : told(outlet, touched(by: events))
        }
    }

    private mutating func told(_ outlet: Identifier, _ touched: Set<Identifier>?) -> Change {
        Change(outlet: outlet, record: shown.first { $0.id == outlet }, touched: touched)
    }

    private mutating func touched(by events: [Menu.Event]) -> Set<Identifier>? {
        var touched: Set<Identifier> = generator.chance(20) ? ["i1", "i2", "never-there"] : []
        for event in events {
            switch event {
            case .sectionAdded, .sectionMoved, .feedChecked: break
            case .sectionChanged, .sectionRemoved, .groupPut, .groupRemoved, .optionRepriced, .optionSuspended,
                .optionResumed:
                return nil
            case .itemAdded(let item, _, _), .itemChanged(let item): touched.insert(item.id)
            case .itemMoved(let id, _, _), .itemRemoved(let id), .itemRepriced(let id, _), .itemSuspended(let id, _, _),
                .itemResumed(let id, _):
                touched.insert(id)
            }
        }
        return generator.chance(10) ? nil : touched
    }

    // MARK: Folding

    private mutating func fold(_ event: DomainEvent, _ stream: StreamName, isPossible: Bool = true) {
        if isPossible {
            var state = states[stream] ?? AggregateState(initial: stream.category)
            do throws(ImpossibleEvent) { try state.evolve(event) } catch { preconditionFailure("\(error)") }
            states[stream] = state
        }
        versions[stream, default: 0] += 1
        model.apply([
            .success(
                DecodedEvent(
                    partition: 0, position: model.position + 1, stream: stream, version: versions[stream]!,
                    event: event, metadata: .none, recordedAt: now))
        ])
    }

    private mutating func decide(_ command: Outlet.Command, _ stream: StreamName) -> [Outlet.Event] {
        guard case .outlet(let state) = states[stream] ?? AggregateState(initial: .outlet) else { return [] }
        let events = (try? Outlet.decide(command, in: state)) ?? []
        for event in events { fold(.outlet(event), stream) }
        return events
    }

    private mutating func decideMenu(_ stream: StreamName) -> [Menu.Event] {
        guard case .menu(let state) = states[stream] ?? AggregateState(initial: .menu) else { return [] }
        let events = (try? Menu.decide(menuCommand(state), in: state)) ?? []
        for event in events { fold(.menu(event), stream) }
        return events
    }

    // MARK: Commands

    private mutating func outletCommand(_ outlet: Identifier) -> Outlet.Command {
        if generator.chance(1) { return .remove }
        switch generator.number(0..<10) {
        case 0, 1: return .open
        case 2: return .close
        case 3: return .pause(until: soon(), reason: nil, now: now)
        case 4: return generator.chance(30) ? .hide : .show
        case 5:
            // Those that an outlet does not have yet are not its own.
            guard case .outlet(.registered(let details, _, _)) = states[StreamName(.outlet, outlet)],
                !details.dayparts.isEmpty
            else { return .open }
            return .followHours(
                isOpen: true,
                dayparts: DaypartTimes(
                    later: [.init("breakfast", begins: generator.maybe { _ in 0 }.map { _ in soon() })]))
        default:
            let currency = ids.firstIndex(of: outlet)! % 3 == 1 ? "USD" : "LKR"
            var details = OutletDetails(
                name: Vocabulary.name(&generator), currency: Currency(currency)!, timeZone: "Asia/Colombo")
            details.city = generator.pick(Vocabulary.cities)
            details.area = generator.pick(Vocabulary.areas)
            details.cuisines = Array(
                Vocabulary.cuisines.shuffled(using: &generator).prefix(generator.number(0..<3)))
            details.priceForTwo = generator.maybe { Amount(minorUnits: Vocabulary.price(&$0)) }
            details.rating = generator.maybe { Rating(hundredths: $0.pick([0, 350, 400, 401, 450, 500]))! }
            details.deliveryMinutes = generator.maybe { $0.pick([0, 15, 20, 30, 31, 60]) }
            if generator.chance(70) {
                details.dayparts = [
                    Daypart(id: "breakfast", hours: [OpeningHours(day: .monday, opens: 0, closes: 60)!])
                ]
            }
            return .put(details)
        }
    }

    private mutating func soon() -> Timestamp {
        Timestamp(millisecondsSinceEpoch: now.millisecondsSinceEpoch + Int64(generator.number(1..<600)))
    }

    private mutating func menuCommand(_ state: Menu.State) -> Menu.Command {
        let item = state.entries.values.map(\.id).randomElement(using: &generator) ?? "none"
        let section = state.sections.map(\.header.id).randomElement(using: &generator) ?? "none"
        switch generator.number(0..<20) {
        case 0..<3: return .suspend(item, until: generator.maybe { _ in 0 }.map { _ in soon() }, now: now)
        case 3..<5: return .resume(item)
        case 5..<9: return .reprice(item, Amount(minorUnits: Vocabulary.price(&generator)))
        case 9, 10: return .removeItem(item)
        case 11..<14: return .putItem(self.item(item), section: section, before: nil)
        case 14..<16: return .putItem(self.item("new-\(generator.number(0..<9))"), section: section, before: nil)
        case 16: return .removeSection(section)
        default: return .put(menu())
        }
    }

    private mutating func menu() -> MenuDocument {
        var free = (0..<24).map { Identifier("i\($0)")! }.shuffled(using: &generator)
        return MenuDocument(
            sections: (0..<generator.number(1..<4)).map { number in
                let header = SectionHeader(
                    id: Identifier("s\(number)")!, title: "S", kind: "menuItems", layout: .list,
                    daypart: generator.pick([nil, nil, nil, "breakfast"]))
                let items = (0..<generator.number(0..<8)).compactMap { _ in free.popLast() }
                return MenuSection(header: header, items: items.map { item($0) })
            })
    }

    private mutating func item(_ id: Identifier) -> MenuItem {
        let kind = generator.pick(ItemKind.all)
        var item = MenuItem(
            id: id, kind: kind.name, name: Vocabulary.name(&generator),
            description: generator.maybe { Vocabulary.name(&$0) },
            price: kind.needsPrice || generator.chance(50) ? Amount(minorUnits: Vocabulary.price(&generator)) : nil,
            cuisine: generator.maybe { $0.pick(Vocabulary.cuisines) },
            tags: Array(Vocabulary.tags.shuffled(using: &generator).prefix(generator.number(0..<3))),
            attributes: ItemAttributes(
                Vocabulary.attributes(&generator)
                    + (kind.name == "badge" ? [.init("label", .text("New")), .init("points", .number(25))] : [])))
        item.daypart = generator.pick([nil, nil, nil, "breakfast"])
        return item
    }

    private mutating func item(_ id: String) -> MenuItem { item(Identifier(id)!) }
}
