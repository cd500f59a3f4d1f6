internal import Domain
internal import EventLog
internal import Foundation
internal import TextFormats

/// The document of `OUTLET.PUT`: also as `OUTLET.GET` gives it, so that a client can read it, change it and put it
/// back.
struct OutletInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("name", .string), .optional("city", .string), .optional("area", .string), .optional("address", .string),
        .member("currency", .string, "ISO 4217"), .member("timeZone", .string, "of IANA"),
        .optional("cuisines", .list(of: .string)), .optional("priceForTwo", .money),
        .optional("rating", .number, "from 0 to 5"), .optional("ratingCount", .integer),
        .optional("deliveryMinutes", .integer), .optional("minimumOrder", .money),
        .optional("hours", .list(of: HoursInput.schema)), .optional("specialDays", .list(of: SpecialDayInput.schema)),
        .optional("follows", .words(of: OutletDetails.Opener.self)), .optional("prepMinutes", .integer),
        .optional("acceptWithin", .integer.counted(in: "seconds")),
        .optional("payment", .words(of: OutletDetails.Payment.self)),
        .optional("payWithin", .integer.counted(in: "seconds")), .optional("dayStarts", HoursInput.clock),
        .optional("taxIncluded", .boolean), .optional("taxes", .list(of: TaxInput.schema)),
        .optional("charges", ChargesInput.schema),
        .optional("services", ServiceKind.schema(of: OfferedServiceInput.schema.orNull)),
        .optional("orderAheadDays", .integer), .optional("slots", SlotsInput.schema),
        .optional("dayparts", .list(of: DaypartInput.schema)),
        .ignored("id"), .ignored("version"), .ignored("status"), .ignored("opensAt"), .ignored("pausedUntil"),
        .ignored("pauseReason"), .ignored("delayMinutes"), .ignored("delayedUntil"), .ignored("hidden"),
    ]

    let details: OutletDetails

    init(_ fields: InputFields) throws(InputError) {
        let code: Text = try fields.required("currency")
        guard let currency = Currency(code.string) else {
            throw InputError("currency", "must be an ISO 4217 code such as INR")
        }
        let timeZone: Text = try fields.required("timeZone")
        guard timeZone.utf8.count <= 64, TimeZone(identifier: timeZone.string) != nil else {
            throw InputError("timeZone", "must be an IANA time zone such as Asia/Kolkata")
        }
        let hours: [HoursInput] = try fields.optional("hours") ?? []
        let specialDays: [SpecialDayInput] = try fields.optional("specialDays") ?? []
        let services: ServicesInput? = try fields.optional("services")
        let slots: SlotsInput? = try fields.optional("slots")
        let dayparts: [DaypartInput] = try fields.optional("dayparts") ?? []
        details = OutletDetails(
            name: try fields.required("name"), city: try fields.optional("city"), area: try fields.optional("area"),
            address: try fields.optional("address"), currency: currency, timeZone: timeZone,
            cuisines: try fields.optional("cuisines") ?? [],
            priceForTwo: try fields.optional("priceForTwo").map(Amount.init),
            rating: try OutletInput.rating(fields), ratingCount: try fields.optional("ratingCount"),
            deliveryMinutes: try fields.optional("deliveryMinutes"),
            minimumOrder: try fields.optional("minimumOrder").map(Amount.init),
            hours: hours.map(\.hours), specialDays: specialDays.map(\.day), follows: try OutletInput.follows(fields),
            prepMinutes: try fields.optional("prepMinutes"),
            acceptWithin: try fields.optional("acceptWithin"), payment: try OutletInput.payment(fields),
            payWithin: try fields.optional("payWithin"), dayStarts: try OutletInput.dayStarts(fields),
            pricing: try PricingTerms(fields),
            services: services?.services ?? ByService(), orderAheadDays: try fields.optional("orderAheadDays") ?? 0,
            slots: slots?.slots, dayparts: dayparts.map(\.daypart))
    }

    private static func follows(_ fields: InputFields) throws(InputError) -> OutletDetails.Opener {
        guard let name: Text = try fields.optional("follows") else { return .commands }
        guard let opener = OutletDetails.Opener(rawValue: name.string) else {
            throw InputError("follows", "must be commands or hours")
        }
        return opener
    }

    private static func payment(_ fields: InputFields) throws(InputError) -> OutletDetails.Payment {
        guard let name: Text = try fields.optional("payment") else { return .none }
        guard let payment = OutletDetails.Payment(rawValue: name.string) else {
            throw InputError("payment", "must be none or first")
        }
        return payment
    }

    private static func dayStarts(_ fields: InputFields) throws(InputError) -> Int? {
        let text: Text? = try fields.optional("dayStarts")
        return text == nil ? nil : try HoursInput.minutes(fields, "dayStarts")
    }

    private static func rating(_ fields: InputFields) throws(InputError) -> Rating? {
        guard let number: Double = try fields.optional("rating") else { return nil }
        let hundredths = (number * 100).rounded()
        guard (0...500).contains(hundredths), abs(number * 100 - hundredths) < 1e-6 else {
            throw InputError("rating", "must be from 0 to 5 with at most two decimals")
        }
        return Rating(hundredths: Int(hundredths))
    }
}

/// An entry of an outlet's `hours`: `{"day":"monday","opens":"09:00","closes":"23:30"}`.
struct HoursInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("day", .words(of: OpeningHours.Day.self)), .member("opens", clock), .member("closes", clock),
    ]

    /// A time of the day.
    fileprivate static let clock = JSONSchema.string.saying("HH:MM; past midnight the hours go on, 25:30")

    let hours: OpeningHours

    init(_ fields: InputFields) throws(InputError) {
        let name: Text = try fields.required("day")
        guard let day = OpeningHours.Day.allCases.first(where: { Text($0.rawValue) == name }) else {
            throw InputError("day", "must be one of monday to sunday")
        }
        hours = OpeningHours(day, try HoursInput.period(fields))
    }

    /// A period of some day, as `{"opens":"09:00","closes":"23:30"}`.
    fileprivate static func period(_ fields: InputFields) throws(InputError) -> OpeningPeriod {
        let opens = try HoursInput.minutes(fields, "opens")
        let closes = try HoursInput.minutes(fields, "closes")
        guard let period = OpeningPeriod(opens: opens, closes: closes) else {
            throw InputError("closes", "must come after opens, within a day; past midnight it goes on, 25:30")
        }
        return period
    }

    fileprivate static func minutes(_ fields: InputFields, _ key: String) throws(InputError) -> Int {
        let text: Text = try fields.required(key)
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ $0.count == 2 && $0.allSatisfy { (0x30...0x39).contains($0) } }),
            let hours = Int(Substring(parts[0])), let minutes = Int(Substring(parts[1])), minutes < 60
        else { throw InputError(key, "must be a time such as 09:00") }
        return hours * 60 + minutes
    }
}

/// An entry of an outlet's `specialDays`: `{"date":"2026-12-24","hours":[{"opens":"09:00","closes":"14:00"}]}`.
private struct SpecialDayInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("date", .day), .member("hours", .list(of: PeriodInput.schema)),
    ]

    let day: OutletDetails.SpecialDay

    init(_ fields: InputFields) throws(InputError) {
        let date: Text = try fields.required("date")
        guard let day = CalendarDay(date) else { throw InputError("date", "must be a day such as 2026-12-24") }
        let periods: [PeriodInput] = try fields.required("hours")
        self.day = OutletDetails.SpecialDay(day, periods.map(\.period))
    }
}

/// A period of a special day.
private struct PeriodInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("opens", HoursInput.clock), .member("closes", HoursInput.clock),
    ]

    let period: OpeningPeriod

    init(_ fields: InputFields) throws(InputError) { period = try HoursInput.period(fields) }
}

/// An outlet's `slots`: `{"minutes":15,"orders":4}`.
private struct SlotsInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("minutes", .integer), .optional("orders", .integer, "the most in one slot"),
    ]

    let slots: OutletDetails.Slots

    init(_ fields: InputFields) throws(InputError) {
        slots = OutletDetails.Slots(
            minutes: try fields.required("minutes"), orders: try fields.optional("orders"))
    }
}

/// An entry of an outlet's `dayparts`: `{"id":"breakfast","hours":[{"day":"monday","opens":"07:00","closes":"11:00"}]}`.
private struct DaypartInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("id", .identifier), .member("hours", .list(of: HoursInput.schema)),
    ]

    let daypart: Daypart

    init(_ fields: InputFields) throws(InputError) {
        let hours: [HoursInput] = try fields.required("hours")
        daypart = Daypart(id: try fields.required("id"), hours: hours.map(\.hours))
    }
}
