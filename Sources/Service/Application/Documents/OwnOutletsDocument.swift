internal import Domain
internal import Projections
internal import TextFormats

/// A page of a merchant's outlets, as `OUTLETS.OWN` answers it.
struct OwnOutletsDocument {
    /// The document.
    let bytes: [UInt8]

    /// - Parameter hasNext: whether there are outlets behind these.
    init(_ outlets: some Collection<OutletRecord>, hasNext: Bool, _ service: any Service) {
        var writer = JSONWriter(reservingCapacity: 60 + 300 * outlets.count)
        writer.beginObject()
        writer.key("outlets")
        writer.beginArray()
        var last: Identifier?
        for record in outlets {
            guard let (details, status) = record.details else { continue }
            last = record.id
            let orders = service.openOrders(of: record.id)
            writer.beginObject()
            writer.field("id", record.id.rawValue)
            writer.field("name", details.name.string)
            writer.field("city", details.city?.string)
            writer.field("area", details.area?.string)
            writer.field("currency", details.currency.code)
            writer.field("timeZone", details.timeZone.string)
            OutletDocument.writeStatus(status, to: &writer)
            if record.isHidden { writer.field("hidden", true) }
            writer.field("version", record.outletVersion)
            writer.field("openOrders", orders.count)
            writer.field("lateOrders", orders.late)
            OwnOutletsDocument.writeToday(of: record.id, details, service, to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.field("next", hasNext ? last?.rawValue : nil)
        writer.endObject()
        bytes = writer.bytes
    }

    /// What the business day of now brought so far; null where the system does not know the zone.
    private static func writeToday(
        of outlet: Identifier, _ details: OutletDetails, _ service: any Service, to writer: inout JSONWriter
    ) {
        writer.key("today")
        guard let rules = ZoneRules(details.timeZone),
            let today = BusinessDays(of: service.now, startingAt: details.dayStarts ?? 0, in: rules)
        else { return writer.null() }
        let sums = service.takings(of: outlet, between: today.moments)
        writer.beginObject()
        writer.field("day", today.days[0].text)
        writer.field("net", sums[0].net)
        writer.endObject()
    }
}

extension TakingsSums {
    /// What was sold, less what was cancelled and given back, in minor units.
    fileprivate var net: Int64 {
        entries.reduce(0) { net, entry in
            guard entry.subject.kind == .total, entry.subject.movement != .paid else { return net }
            let (amount, isSold) = (entry.sum.amount, entry.subject.movement == .sold)
            let (sum, isTooLarge) =
                isSold ? net.addingReportingOverflow(amount) : net.subtractingReportingOverflow(amount)
            return isTooLarge ? net : sum
        }
    }
}

extension OwnOutletsDocument {
    private static let row = JSONSchema.object(
        [
            .member("id", .identifier), .member("name", .string), .member("city", .string.orNull),
            .member("area", .string.orNull), .member("currency", .string), .member("timeZone", .string),
        ], OutletDocument.statusMembers,
        [
            .optional("hidden", .boolean), .member("version", .count), .member("openOrders", .count),
            .member("lateOrders", .count),
            .member("today", JSONSchema.object([.member("day", .day), .member("net", .money)]).named("Today").orNull),
        ]
    ).named("OwnOutlet")

    /// The schema of the document.
    static let schema = JSONSchema.object([
        .member("outlets", .list(of: row)), .member("next", .string.orNull, "what to send as after; null at the end"),
    ]).named("OwnOutlets")
}
