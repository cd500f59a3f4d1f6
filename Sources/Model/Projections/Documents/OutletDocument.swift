public import Domain
internal import EventLog
public import TextFormats

/// An outlet as `OUTLET.GET` answers it, and as it appears in its home.
public enum OutletDocument {
    /// The document.
    public static func bytes(of record: OutletRecord) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 512)
        write(record, to: &writer, accessibilityID: nil)
        return writer.bytes
    }

    static func write(_ record: OutletRecord, to writer: inout JSONWriter, accessibilityID: StaticString?) {
        guard let (details, status) = record.details else { return writer.null() }
        writer.beginObject()
        writeFields(record.id, details, status, to: &writer)
        if record.isHidden { writer.field("hidden", true) }
        if let accessibilityID {
            writer.field("accessibilityId", accessibilityID.description)
        } else {
            writer.field("version", record.outletVersion)
        }
        writer.endObject()
    }

    /// The fields that describe an outlet, for every document that shows it.
    public static func writeFields(
        _ id: Identifier, _ details: OutletDetails, _ status: Outlet.Status, to writer: inout JSONWriter
    ) {
        writer.field("id", id.rawValue)
        writer.field("name", details.name.string)
        writer.field("city", details.city?.string)
        writer.field("area", details.area?.string)
        writer.field("address", details.address?.string)
        writer.field("currency", details.currency.code)
        writer.field("timeZone", details.timeZone.string)
        writer.field("cuisines", details.cuisines.lazy.map(\.string))
        writer.field("priceForTwo", details.priceForTwo?.minorUnits)
        writer.key("rating")
        if let rating = details.rating { writer.decimal(rating.hundredths, digits: 2) } else { writer.null() }
        writer.field("ratingCount", details.ratingCount)
        writer.field("deliveryMinutes", details.deliveryMinutes)
        writer.field("minimumOrder", details.minimumOrder?.minorUnits)
        write(details.hours, to: &writer)
        if !details.specialDays.isEmpty {
            writer.key("specialDays")
            writer.beginArray()
            for day in details.specialDays {
                writer.beginObject()
                writer.field("date", day.day.text)
                writer.key("hours")
                writer.beginArray()
                for period in day.hours {
                    writer.beginObject()
                    write(period, to: &writer)
                    writer.endObject()
                }
                writer.endArray()
                writer.endObject()
            }
            writer.endArray()
        }
        if details.follows != .commands { writer.field("follows", details.follows.rawValue) }
        // Left out where nothing is said: most outlets have none of them.
        if let minutes = details.prepMinutes { writer.field("prepMinutes", minutes) }
        if let seconds = details.acceptWithin { writer.field("acceptWithin", seconds) }
        if details.payment != .none { writer.field("payment", details.payment.rawValue) }
        if let seconds = details.payWithin { writer.field("payWithin", seconds) }
        if let minutes = details.dayStarts { writer.field("dayStarts", clock(minutes)) }
        TermsCodec.encodeFields(details.pricing, to: &writer)
        if !details.services.isEmpty {
            writer.key("services")
            ServicesCodec.encode(details.services, to: &writer) { writer, hours in write(hours, to: &writer) }
        }
        if details.orderAheadDays > 0 { writer.field("orderAheadDays", details.orderAheadDays) }
        if let slots = details.slots {
            writer.key("slots")
            writer.beginObject()
            writer.field("minutes", slots.minutes)
            if let orders = slots.orders { writer.field("orders", orders) }
            writer.endObject()
        }
        if !details.dayparts.isEmpty {
            writer.key("dayparts")
            writer.beginArray()
            for daypart in details.dayparts {
                writer.beginObject()
                writer.field("id", daypart.id.rawValue)
                write(daypart.hours, to: &writer)
                writer.endObject()
            }
            writer.endArray()
        }
        writeStatus(status, to: &writer)
    }

    private static func write(_ hours: [OpeningHours], to writer: inout JSONWriter) {
        writer.key("hours")
        writer.beginArray()
        for period in hours {
            writer.beginObject()
            writer.field("day", period.day.rawValue)
            write(period.period, to: &writer)
            writer.endObject()
        }
        writer.endArray()
    }

    private static func write(_ period: OpeningPeriod, to writer: inout JSONWriter) {
        writer.field("opens", clock(period.opens))
        writer.field("closes", clock(period.closes))
    }

    /// Whether it takes orders, and if not, until when.
    public static func writeStatus(_ status: Outlet.Status, to writer: inout JSONWriter) {
        switch status {
        case .closed: writer.field("status", "closed")
        case .resting(let opensAt):
            writer.field("status", "closed")
            if let opensAt { writer.field("opensAt", opensAt.rfc3339) }
        case .open: writer.field("status", "open")
        case .slow(let minutes, let until):
            writer.field("status", "open")
            writer.field("delayMinutes", minutes)
            writer.field("delayedUntil", until.rfc3339)
        case .paused(let until, let reason):
            writer.field("status", "paused")
            writer.field("pausedUntil", until.rfc3339)
            writer.field("pauseReason", reason?.string)
        }
    }

    /// Minutes after midnight as `HH:MM`; past midnight the hours go on, `25:30`.
    private static func clock(_ minutes: Int) -> String {
        func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(twoDigits(minutes / 60)):\(twoDigits(minutes % 60))"
    }
}

extension OutletDocument {
    private static let clock = JSONSchema.string.saying("HH:MM; past midnight the hours go on, 25:30")
    private static let period: [JSONSchema.Member] = [.member("opens", clock), .member("closes", clock)]
    private static let hours = JSONSchema.object([.member("day", .words(of: OpeningHours.Day.self))], period)
        .named("OpeningHours")

    /// The members that say whether it takes orders.
    public static let statusMembers: [JSONSchema.Member] = [
        .member("status", .words(["open", "closed", "paused"])), .optional("opensAt", .time),
        .optional("delayMinutes", .integer), .optional("delayedUntil", .time), .optional("pausedUntil", .time),
        .optional("pauseReason", .string.orNull),
    ]

    /// The members that describe an outlet.
    public static let members = JSONSchema.members(
        [
            .member("id", .identifier), .member("name", .string), .member("city", .string.orNull),
            .member("area", .string.orNull), .member("address", .string.orNull), .member("currency", .string),
            .member("timeZone", .string), .member("cuisines", .list(of: .string)),
            .member("priceForTwo", .money.orNull), .member("rating", .number.orNull, "from 0 to 5"),
            .member("ratingCount", .integer.orNull), .member("deliveryMinutes", .integer.orNull),
            .member("minimumOrder", .money.orNull), .member("hours", .list(of: hours)),
            .optional(
                "specialDays",
                .list(
                    of: .object([
                        .member("date", .day), .member("hours", .list(of: .object(period).named("OpeningPeriod"))),
                    ]).named("SpecialDay"))),
            .optional("follows", .words(of: OutletDetails.Opener.self), "what opens and closes it"),
            .optional("prepMinutes", .integer), .optional("acceptWithin", .integer, "seconds"),
            .optional("payment", .words(of: OutletDetails.Payment.self)),
            .optional("payWithin", .integer, "seconds"), .optional("dayStarts", clock),
        ], TermsCodec.members,
        [
            .optional(
                "services",
                ServiceKind.schema(of: .object(ServicesCodec.members(hours: hours)).named("OfferedService")),
                "the ways to have an order"),
            .optional("orderAheadDays", .integer),
            .optional(
                "slots",
                .object([.member("minutes", .integer), .optional("orders", .integer, "the most in one slot")])
                    .named("SlotRule")),
            .optional(
                "dayparts",
                .list(of: .object([.member("id", .identifier), .member("hours", .list(of: hours))]).named("Daypart"))),
        ], statusMembers)

    private static let hidden = JSONSchema.Member.optional("hidden", .boolean, "whether no search finds it")

    /// The schema of the document.
    public static let schema = JSONSchema.object(members, [hidden, .member("version", .count)]).named("Outlet")

    /// An outlet in its home.
    static let homeSchema = JSONSchema.object(members, [hidden, .member("accessibilityId", .string)])
        .named("HomeOutlet")
}
