public import Domain
public import EventLog
internal import Projections

/// What menus say now, to compare with what they said then.
public struct CurrentMenus: Sendable {
    private let outlets: OutletHome
    private let now: Timestamp

    /// The menus that result from events.
    ///
    /// - Parameters:
    ///   - events: those of the outlets and of their menus, each stream from its first event on.
    ///   - now: the time at which suspensions are judged.
    public init(folding events: [RecordedEvent], now: Timestamp) {
        outlets = OutletHome(
            folding: events.map { event in Result { () throws(CorruptEvent) in try event.decoded() } })
        self.now = now
    }

    /// Says in brackets, after a space, that an outlet takes no orders; empty if it does.
    func remark(on outlet: Identifier) -> String {
        guard let (_, status) = outlets[outlet]?.details else { return " (no longer known)" }
        return status.takesOrders(at: now) ? "" : " (takes no orders now)"
    }

    /// What has become of a line's item, in brackets, after a space; empty for no change.
    func remark(
        on line: CartLine, of outlet: Identifier, as service: ServiceKind?, in currency: Currency
    ) -> String {
        if outlets.corruption(of: outlet) != nil { return " (its menu is damaged now)" }
        guard let record = outlets[outlet], case let menu = record.menu, let entry = menu.entries[line.item] else {
            return " (no longer on the menu)"
        }
        var remarks: [String] = []
        let service = service ?? record.details?.details.services.kinds.first
        switch menu.price(of: line.item, with: line.chosen, for: service, now: now) {
        case .priced(let today):
            if today.one != line.unitPrice { remarks.append("now \(today.one.majorUnits(of: currency))") }
        case .notForSale: remarks.append("now without a price")
        case .gone, .soldOut, .tooMany, .units: remarks.append("not to be had like this now")
        }
        if entry.suspension?.holds(at: now) ?? false { remarks.append("sold out now") }
        if record.suspension(ofDaypartOf: entry)?.holds(at: now) ?? false { remarks.append("not to be had now") }
        return remarks.isEmpty ? "" : " (\(remarks.joined(separator: ", ")))"
    }
}
