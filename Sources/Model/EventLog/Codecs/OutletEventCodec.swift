internal import Domain
internal import TextFormats

enum OutletEventCodec {
    static func encode(_ event: Outlet.Event, to writer: inout JSONWriter) -> String {
        switch event {
        case .registered(let details):
            writer.field("currency", details.currency.code)
            for detail in details.all where !detail.isAbsent { encode(detail, to: &writer) }
            return "outlet.registered"
        case .detailsChanged(let details):
            for detail in details { encode(detail, to: &writer) }
            return "outlet.detailsChanged"
        case .opened: return "outlet.opened"
        case .closed: return "outlet.closed"
        case .openedByHours:
            writer.field("by", "hours")
            return "outlet.opened"
        case .closedByHours(let opensAt):
            writer.field("by", "hours")
            if let opensAt { writer.field("opensAt", opensAt.millisecondsSinceEpoch) }
            return "outlet.closed"
        case .daypartsChanged(let times):
            writer.field("active", times.active.lazy.map(\.rawValue))
            if !times.later.isEmpty {
                writer.key("later")
                writer.beginArray()
                for daypart in times.later {
                    writer.beginObject()
                    writer.field("id", daypart.id.rawValue)
                    if let begins = daypart.begins { writer.field("begins", begins.millisecondsSinceEpoch) }
                    writer.endObject()
                }
                writer.endArray()
            }
            return "outlet.daypartsChanged"
        case .slowed(let minutes, let until):
            writer.field("minutes", minutes)
            writer.field("until", until.millisecondsSinceEpoch)
            return "outlet.slowed"
        case .paused(let until, let reason):
            writer.field("until", until.millisecondsSinceEpoch)
            if let reason { writer.field("reason", reason.string) }
            return "outlet.paused"
        case .hidden: return "outlet.hidden"
        case .shown: return "outlet.shown"
        case .removed: return "outlet.removed"
        }
    }

    static func decode(_ name: EventName, _ reader: inout JSONReader) throws(JSONReadingError) -> Outlet.Event? {
        var details: [OutletDetail] = []
        var currency: Currency?
        var until: Timestamp?
        var reason: Text?
        var minutes: Int?
        var isByHours = false
        var opensAt: Timestamp?
        var active: [Identifier]?
        var later: [DaypartTimes.Later] = []
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "currency": currency = Currency(try reader.string())
            case "until": until = Timestamp(millisecondsSinceEpoch: try reader.integer())
            case "reason": reason = try reader.text()
            case "minutes": minutes = Int(try reader.integer())
            case "by": isByHours = try reader.string() == "hours"
            case "opensAt": opensAt = try reader.timestamp()
            case "active": active = try reader.identifiers()
            case "later": later = try decodeLater(&reader)
            default:
                guard let detail = try decodeDetail(key, &reader) else { continue }
                details.append(detail)
            }
        }
        switch name {
        case "outlet.registered":
            guard let currency else { return nil }
            return OutletDetails(currency: currency, details).map(Outlet.Event.registered)
        case "outlet.detailsChanged": return .detailsChanged(details)
        case "outlet.opened": return isByHours ? .openedByHours : .opened
        case "outlet.closed":
            guard isByHours || opensAt == nil else { return nil }
            return isByHours ? .closedByHours(opensAt: opensAt) : .closed
        case "outlet.daypartsChanged": return active.map { .daypartsChanged(DaypartTimes(active: $0, later: later)) }
        case "outlet.slowed":
            guard let minutes, let until else { return nil }
            return .slowed(minutes: minutes, until: until)
        case "outlet.paused": return until.map { .paused(until: $0, reason: reason) }
        case "outlet.hidden": return .hidden
        case "outlet.shown": return .shown
        case "outlet.removed": return .removed
        default: return nil
        }
    }

    private static func encode(_ detail: OutletDetail, to writer: inout JSONWriter) {
        switch detail {
        case .name(let value): writer.field("name", value.string)
        case .city(let value): writer.field("city", value?.string)
        case .area(let value): writer.field("area", value?.string)
        case .address(let value): writer.field("address", value?.string)
        case .timeZone(let value): writer.field("timeZone", value.string)
        case .cuisines(let value): writer.field("cuisines", value.lazy.map(\.string))
        case .priceForTwo(let value): writer.field("priceForTwo", value?.minorUnits)
        case .rating(let value): writer.field("ratingHundredths", value?.hundredths)
        case .ratingCount(let value): writer.field("ratingCount", value)
        case .deliveryMinutes(let value): writer.field("deliveryMinutes", value)
        case .minimumOrder(let value): writer.field("minimumOrder", value?.minorUnits)
        case .hours(let value): encode(value, to: &writer)
        case .specialDays(let value):
            writer.key("specialDays")
            writer.beginArray()
            for day in value {
                writer.beginObject()
                writer.field("date", day.day.text)
                writer.key("hours")
                writer.beginArray()
                for period in day.hours {
                    writer.beginObject()
                    encode(period, to: &writer)
                    writer.endObject()
                }
                writer.endArray()
                writer.endObject()
            }
            writer.endArray()
        case .follows(let value): writer.field("follows", value.rawValue)
        case .prepMinutes(let value): writer.field("prepMinutes", value)
        case .acceptWithin(let value): writer.field("acceptWithin", value)
        case .payment(let value): writer.field("payment", value.rawValue)
        case .payWithin(let value): writer.field("payWithin", value)
        case .dayStarts(let value): writer.field("dayStarts", value)
        case .pricing(let value):
            writer.key("pricing")
            TermsCodec.encode(value, to: &writer)
        case .services(let value):
            writer.key("services")
            ServicesCodec.encode(value, to: &writer) { writer, hours in encode(hours, to: &writer) }
        case .orderAheadDays(let value): writer.field("orderAheadDays", value)
        case .slots(let value):
            writer.key("slots")
            guard let value else { return writer.null() }
            writer.beginObject()
            writer.field("minutes", value.minutes)
            if let orders = value.orders { writer.field("orders", orders) }
            writer.endObject()
        case .dayparts(let value):
            writer.key("dayparts")
            writer.beginArray()
            for daypart in value {
                writer.beginObject()
                writer.field("id", daypart.id.rawValue)
                encode(daypart.hours, to: &writer)
                writer.endObject()
            }
            writer.endArray()
        }
    }

    private static func encode(_ hours: [OpeningHours], to writer: inout JSONWriter) {
        writer.key("hours")
        writer.beginArray()
        for period in hours {
            writer.beginObject()
            writer.field("day", period.day.rawValue)
            encode(period.period, to: &writer)
            writer.endObject()
        }
        writer.endArray()
    }

    private static func encode(_ period: OpeningPeriod, to writer: inout JSONWriter) {
        writer.field("opens", period.opens)
        writer.field("closes", period.closes)
    }

    private static func decodeDetail(
        _ key: JSONKey, _ reader: inout JSONReader
    ) throws(JSONReadingError) -> OutletDetail? {
        switch key {
        case "name": return .name(try reader.text())
        case "city": return .city(try reader.optionalText())
        case "area": return .area(try reader.optionalText())
        case "address": return .address(try reader.optionalText())
        case "timeZone": return .timeZone(try reader.text())
        case "cuisines": return .cuisines(try reader.texts())
        case "priceForTwo": return .priceForTwo(try reader.optionalInteger().map(Amount.init))
        case "ratingHundredths":
            guard let hundredths = try reader.optionalInteger() else { return .rating(nil) }
            guard let rating = Rating(hundredths: Int(hundredths)) else { throw reader.failure("a rating") }
            return .rating(rating)
        case "ratingCount": return .ratingCount(try reader.optionalInteger().map(Int.init))
        case "deliveryMinutes": return .deliveryMinutes(try reader.optionalInteger().map(Int.init))
        case "minimumOrder": return .minimumOrder(try reader.optionalInteger().map(Amount.init))
        case "hours": return .hours(try decodeHours(&reader))
        case "specialDays": return .specialDays(try decodeSpecialDays(&reader))
        case "follows":
            guard let opener = OutletDetails.Opener(rawValue: try reader.string()) else {
                throw reader.failure("what opens an outlet")
            }
            return .follows(opener)
        case "prepMinutes": return .prepMinutes(try reader.optionalInteger().map(Int.init))
        case "acceptWithin": return .acceptWithin(try reader.optionalInteger().map(Int.init))
        case "payment":
            guard let payment = OutletDetails.Payment(rawValue: try reader.string()) else {
                throw reader.failure("when an outlet is paid")
            }
            return .payment(payment)
        case "payWithin": return .payWithin(try reader.optionalInteger().map(Int.init))
        case "dayStarts": return .dayStarts(try reader.optionalInteger().map(Int.init))
        case "pricing": return .pricing(try TermsCodec.decode(from: &reader))
        case "services": return .services(try ServicesCodec.decode(from: &reader))
        case "orderAheadDays": return .orderAheadDays(Int(try reader.integer()))
        case "slots": return .slots(try decodeSlots(&reader))
        case "dayparts": return .dayparts(try decodeDayparts(&reader))
        default:
            _ = try reader.rawValue()
            return nil
        }
    }

    private static func decodeSpecialDays(
        _ reader: inout JSONReader
    ) throws(JSONReadingError) -> [OutletDetails.SpecialDay] {
        var days: [OutletDetails.SpecialDay] = []
        try reader.beginArray()
        while try reader.nextElement() {
            var day: CalendarDay?
            var hours: [OpeningPeriod]?
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "date": day = CalendarDay(try reader.text())
                case "hours":
                    // The days of the week of older events count for nothing.
                    hours = try decodePeriods(&reader).map(\.period)
                default: _ = try reader.rawValue()
                }
            }
            guard let day, let hours else { throw reader.failure("a special day with its hours") }
            days.append(OutletDetails.SpecialDay(day, hours))
        }
        return days
    }

    private static func decodeSlots(_ reader: inout JSONReader) throws(JSONReadingError) -> OutletDetails.Slots? {
        if reader.takeNull() { return nil }
        var minutes: Int?
        var orders: Int?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "minutes": minutes = Int(try reader.integer())
            case "orders": orders = Int(try reader.integer())
            default: _ = try reader.rawValue()
            }
        }
        guard let minutes else { throw reader.failure("how far apart slots are") }
        return OutletDetails.Slots(minutes: minutes, orders: orders)
    }

    private static func decodeDayparts(_ reader: inout JSONReader) throws(JSONReadingError) -> [Daypart] {
        var dayparts: [Daypart] = []
        try reader.beginArray()
        while try reader.nextElement() {
            var id: Identifier?
            var hours: [OpeningHours]?
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "id": id = try reader.identifier()
                case "hours": hours = try decodeHours(&reader)
                default: _ = try reader.rawValue()
                }
            }
            guard let id, let hours else { throw reader.failure("a daypart with its hours") }
            dayparts.append(Daypart(id: id, hours: hours))
        }
        return dayparts
    }

    private static func decodeLater(_ reader: inout JSONReader) throws(JSONReadingError) -> [DaypartTimes.Later] {
        var later: [DaypartTimes.Later] = []
        try reader.beginArray()
        while try reader.nextElement() {
            var id: Identifier?
            var begins: Timestamp?
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "id": id = try reader.identifier()
                case "begins": begins = try reader.timestamp()
                default: _ = try reader.rawValue()
                }
            }
            guard let id else { throw reader.failure("a daypart with its id") }
            later.append(DaypartTimes.Later(id, begins: begins))
        }
        return later
    }

    static func decodeHours(_ reader: inout JSONReader) throws(JSONReadingError) -> [OpeningHours] {
        var hours: [OpeningHours] = []
        for (day, period) in try decodePeriods(&reader) {
            guard let day else { throw reader.failure("opening hours") }
            hours.append(OpeningHours(day, period))
        }
        return hours
    }

    private static func decodePeriods(
        _ reader: inout JSONReader
    ) throws(JSONReadingError) -> [(day: OpeningHours.Day?, period: OpeningPeriod)] {
        var periods: [(day: OpeningHours.Day?, period: OpeningPeriod)] = []
        try reader.beginArray()
        while try reader.nextElement() {
            var day: OpeningHours.Day?
            var opens: Int?
            var closes: Int?
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "day": day = OpeningHours.Day(rawValue: try reader.string())
                case "opens": opens = Int(try reader.integer())
                case "closes": closes = Int(try reader.integer())
                default: _ = try reader.rawValue()
                }
            }
            guard let opens, let closes, let period = OpeningPeriod(opens: opens, closes: closes) else {
                throw reader.failure("opening hours")
            }
            periods.append((day, period))
        }
        return periods
    }
}

extension OutletDetail {
    /// Whether it only says that there is nothing. Such a change is left out when an outlet is registered.
    var isAbsent: Bool {
        switch self {
        case .name, .timeZone: false
        case .city(let value), .area(let value), .address(let value): value == nil
        case .cuisines(let value): value.isEmpty
        case .priceForTwo(let value), .minimumOrder(let value): value == nil
        case .rating(let value): value == nil
        case .ratingCount(let value), .deliveryMinutes(let value): value == nil
        case .hours(let value): value.isEmpty
        case .specialDays(let value): value.isEmpty
        case .follows(let value): value == .commands
        case .prepMinutes(let value), .acceptWithin(let value), .payWithin(let value), .dayStarts(let value):
            value == nil
        case .payment(let value): value == .none
        case .pricing(let value): value == .none
        case .services(let value): value.isEmpty
        case .orderAheadDays(let value): value == 0
        case .slots(let value): value == nil
        case .dayparts(let value): value.isEmpty
        }
    }
}

// MARK: Schemas

extension OutletEventCodec {
    private static let period: [JSONSchema.Member] = [
        .member("opens", .minutes), .member("closes", .minutes, "may be past the next midnight"),
    ]
    private static let hours = JSONSchema.object([.member("day", .words(of: OpeningHours.Day.self))], period)
        .named("RecordedHours")

    /// Every detail, null or empty for none.
    private static let details: [JSONSchema.Member] = [
        .optional("name", .string), .optional("city", .string.orNull), .optional("area", .string.orNull),
        .optional("address", .string.orNull), .optional("timeZone", .string), .optional("cuisines", .list(of: .string)),
        .optional("priceForTwo", .money.orNull), .optional("ratingHundredths", .integer.orNull, "a rating times 100"),
        .optional("ratingCount", .integer.orNull), .optional("deliveryMinutes", .integer.orNull),
        .optional("minimumOrder", .money.orNull), .optional("hours", .list(of: hours)),
        .optional(
            "specialDays",
            .list(
                of: .object([
                    .member("date", .day), .member("hours", .list(of: .object(period).named("RecordedPeriod"))),
                ]).named("RecordedSpecialDay"))),
        .optional("follows", .words(of: OutletDetails.Opener.self), "what opens and closes it"),
        .optional("prepMinutes", .integer.orNull), .optional("acceptWithin", .integer.counted(in: "seconds").orNull),
        .optional("payment", .words(of: OutletDetails.Payment.self)),
        .optional("payWithin", .integer.counted(in: "seconds").orNull),
        .optional("dayStarts", .minutes.orNull, "when its business day begins"),
        .optional("pricing", OrderTermsCodec.pricing),
        .optional(
            "services",
            ServiceKind.schema(of: .object(ServicesCodec.members(hours: hours)).named("RecordedService"))
                .named("RecordedServices"),
            "the ways to have an order"),
        .optional("orderAheadDays", .integer),
        .optional(
            "slots",
            .object([.member("minutes", .integer), .optional("orders", .integer)]).named("RecordedSlots").orNull),
        .optional(
            "dayparts",
            .list(
                of: .object([.member("id", .identifier), .member("hours", .list(of: hours))]).named("RecordedDaypart"))),
    ]

    private static let byHours = JSONSchema.Member.optional("by", .words(["hours"]), "where its hours did it")

    static let schemas = [
        EventSchema(
            "outlet.registered",
            "The outlet exists, closed and shown, with these details; those that are left out are none.",
            [.member("currency", .string)], details),
        EventSchema("outlet.detailsChanged", "Each detail that is there replaces the one before.", details),
        EventSchema("outlet.opened", "The outlet is open, and no longer paused or slow.", [byHours]),
        EventSchema(
            "outlet.closed", "The outlet is closed, and no longer paused or slow.",
            [byHours, .optional("opensAt", .moment, "when its hours open it again")]),
        EventSchema(
            "outlet.daypartsChanged", "Items and sections of a daypart can be ordered while it is active.",
            [
                .member("active", .list(of: .identifier)),
                .optional(
                    "later",
                    .list(
                        of: .object([.member("id", .identifier), .optional("begins", .moment)])
                            .named("RecordedLater")), "the dayparts that are not"),
            ]),
        EventSchema(
            "outlet.slowed", "The open outlet promises orders so much later, until then.",
            [.member("minutes", .integer), .member("until", .moment)]),
        EventSchema(
            "outlet.paused", "The outlet takes no orders until then, and is open afterwards.",
            [.member("until", .moment), .optional("reason", .string)]),
        EventSchema("outlet.hidden", "No search finds the outlet.", []),
        EventSchema("outlet.shown", "Searches find the outlet.", []),
        EventSchema("outlet.removed", "The outlet is gone; no event of it follows.", []),
    ]
}
