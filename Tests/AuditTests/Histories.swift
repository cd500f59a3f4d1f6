import Audit
import Domain
import EventLog
import Foundation

/// Events as a log has them, one second apart.
struct RecordedHistory {
    private(set) var events: [RecordedEvent] = []
    private var versions: [StreamName: Int64] = [:]

    static let start: Int64 = 1_795_269_723_000

    mutating func append(_ event: DomainEvent, to stream: StreamName, id: Text? = nil) {
        let (kind, payload) = EventCodec.encode(event)
        append(kind, payload, to: stream, id: id)
    }

    mutating func append(_ kind: EventKind, _ payload: [UInt8], to stream: StreamName, id: Text? = nil) {
        versions[stream, default: 0] += 1
        let metadata = EventMetadata(commandID: id, fingerprint: id.map { _ in "00" })
        events.append(
            RecordedEvent(
                partition: 0, position: Int64(events.count) + 1, stream: stream.description,
                version: versions[stream]!, kind: kind, payload: payload, metadata: metadata.encoded(),
                recordedAt: Timestamp(millisecondsSinceEpoch: RecordedHistory.start + Int64(events.count) * 1_000)))
    }

    func of(_ stream: StreamName) -> [RecordedEvent] { events.filter { $0.stream == stream.description } }
}

extension StreamName {
    static let kitchen = StreamName(.outlet, Identifier("kitchen")!)
    static let menu = StreamName(.menu, Identifier("kitchen")!)
    static let cart = StreamName(.cart, Identifier("c1")!)
    static let order = StreamName(.order, Identifier("o1")!)
}

extension Identifier {
    static let kitchen = Identifier("kitchen")!
}

let pounds = Currency("GBP")!

func line(_ id: String, _ quantity: Int, at price: Int64, note: Text? = nil) -> CartLine {
    CartLine(
        id: Text(id), item: Identifier(id)!, name: Text(id.capitalized), quantity: quantity,
        unitPrice: Amount(minorUnits: price), note: note.map(PersonalText.plain))
}

func added(_ line: CartLine) -> DomainEvent { .cart(.itemAdded(line, outlet: .kitchen, currency: pounds)) }

func item(_ id: String, at price: Int64?) -> MenuItem {
    MenuItem(
        id: Identifier(id)!, kind: "menuItem", name: Text(id.capitalized), price: price.map(Amount.init(minorUnits:)))
}

extension RecordedHistory {
    /// An outlet `kitchen` with a pie and a bun.
    static var withKitchen: RecordedHistory {
        var history = RecordedHistory()
        let details = OutletDetails(name: "The Kitchen", currency: pounds, timeZone: "Europe/London")
        history.append(.outlet(.registered(details)), to: .kitchen)
        let header = SectionHeader(
            id: Identifier("all")!, title: "All", kind: "menuItems", layout: .list)
        history.append(.menu(.sectionAdded(header, before: nil)), to: .menu)
        history.append(.menu(.itemAdded(item("pie", at: 1500), section: header.id, before: nil)), to: .menu)
        history.append(.menu(.itemAdded(item("bun", at: 250), section: header.id, before: nil)), to: .menu)
        history.append(.outlet(.opened), to: .kitchen)
        return history
    }

    func menus(now: Timestamp = Timestamp(millisecondsSinceEpoch: start)) -> CurrentMenus {
        CurrentMenus(folding: of(.kitchen) + of(.menu), now: now)
    }

    func cartHistory(_ texts: DecryptedTexts) -> CartHistory {
        CartHistory(StreamName.cart.id, of(.cart), menus(), texts)
    }

    var cartHistory: CartHistory { CartHistory(StreamName.cart.id, of(.cart), menus()) }
}
