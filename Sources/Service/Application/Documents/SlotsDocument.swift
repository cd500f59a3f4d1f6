internal import Domain
internal import Projections
internal import TextFormats

/// The times of a day that orders at an outlet can be placed ahead for, as `SLOTS` answers them.
struct SlotsDocument {
    let bytes: [UInt8]

    /// - Parameters:
    ///   - kind: how the order is to be had; nil for the first way that is offered.
    ///   - date: a day by the outlet's clocks; nil for today.
    ///   - taken: how many orders a slot has.
    init(
        of record: OutletRecord, _ kind: ServiceKind?, _ date: CalendarDay?, at now: Timestamp, in rules: ZoneRules,
        taken: (Timestamp) -> Int64
    ) {
        let day = date ?? rules.day(at: now)
        var writer = JSONWriter(reservingCapacity: 2_048)
        writer.beginObject()
        writer.field("outlet", record.id.rawValue)
        let service = kind ?? record.details?.details.services.kinds.first
        writer.field("service", service?.rawValue)
        writer.field("date", day.text)
        writer.field("minutes", record.details?.details.slots?.minutes)
        if let orders = record.details?.details.slots?.orders { writer.field("orders", orders) }
        writer.key("slots")
        writer.beginArray()
        if let (details, status) = record.details, let slots = details.slots {
            let answer = HoursAnswer(now: now, end: details.endOfOrders(at: now, in: rules), isOpen: true)
            for slot in details.times(of: service, in: rules).slots(on: day, every: slots.minutes) {
                guard status.takesOrders(ahead: slot), let then = record.details(at: slot),
                    then.refusal(of: slot, for: service, { _, _, _ in answer }) == nil
                else { continue }
                writer.beginObject()
                writer.field("at", slot.rfc3339)
                writer.field("local", rules.rfc3339(slot))
                if let left = details.left(in: slot, taken: taken) { writer.field("left", left) }
                writer.endObject()
            }
        }
        writer.endArray()
        writer.endObject()
        bytes = writer.bytes
    }
}

extension SlotsDocument {
    /// The schema of the document.
    static let schema = JSONSchema.object([
        .member("outlet", .identifier), .member("service", .words(of: ServiceKind.self).orNull),
        .member("date", .day), .member("minutes", .integer.orNull, "how far apart slots are"),
        .optional("orders", .integer, "the most in one slot"),
        .member(
            "slots",
            .list(
                of: .object([
                    .member("at", .time), .member("local", .string, "the same by the outlet's clocks"),
                    .optional("left", .integer, "how many orders it still takes"),
                ]).named("Slot"))),
    ]).named("Slots")
}
