internal import Domain
internal import Foundation

/// The document of `OUTLET.PUT`.
struct OutletInput: Decodable {
    var details: OutletDetails

    init(from decoder: any Decoder) throws {
        let fields = try InputFields(
            decoder, "name", "city", "area", "address", "currency", "timeZone", "cuisines", "priceForTwo", "rating",
            "ratingCount", "deliveryMinutes", "minimumOrder", "hours")
        guard let currency = Currency(try fields.required("currency")) else {
            throw fields.failure("currency", "must be an ISO 4217 code such as INR")
        }
        let timeZone: String = try fields.required("timeZone")
        guard timeZone.utf8.count <= 64, TimeZone(identifier: timeZone) != nil else {
            throw fields.failure("timeZone", "must be an IANA time zone such as Asia/Kolkata")
        }
        details = OutletDetails(
            name: try fields.required("name"), city: try fields.optional("city"), area: try fields.optional("area"),
            address: try fields.optional("address"), currency: currency, timeZone: timeZone,
            cuisines: try fields.optional("cuisines") ?? [],
            priceForTwo: try fields.optional("priceForTwo").map(Amount.init),
            rating: try OutletInput.rating(fields), ratingCount: try fields.optional("ratingCount"),
            deliveryMinutes: try fields.optional("deliveryMinutes"),
            minimumOrder: try fields.optional("minimumOrder").map(Amount.init),
            hours: (try fields.optional("hours") as [HoursInput]? ?? []).map(\.hours))
    }

    private static func rating(_ fields: InputFields) throws -> Rating? {
        guard let number: Double = try fields.optional("rating") else { return nil }
        let hundredths = (number * 100).rounded()
        guard (0...500).contains(hundredths), abs(number * 100 - hundredths) < 1e-6 else {
            throw fields.failure("rating", "must be from 0 to 5 with at most two decimals")
        }
        return Rating(hundredths: Int(hundredths))
    }
}

/// An entry of an outlet's `hours`: `{"day":"monday","opens":"09:00","closes":"23:30"}`.
struct HoursInput: Decodable {
    var hours: OpeningHours

    init(from decoder: any Decoder) throws {
        let fields = try InputFields(decoder, "day", "opens", "closes")
        guard let day = OpeningHours.Day(rawValue: try fields.required("day")) else {
            throw fields.failure("day", "must be one of monday to sunday")
        }
        let opens = try HoursInput.minutes(fields, "opens")
        let closes = try HoursInput.minutes(fields, "closes")
        guard let hours = OpeningHours(day: day, opens: opens, closes: closes) else {
            throw fields.failure("closes", "must come after opens, within a day; past midnight it goes on, 25:30")
        }
        self.hours = hours
    }

    private static func minutes(_ fields: InputFields, _ key: String) throws -> Int {
        let text: String = try fields.required(key)
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hours = Int(parts[0]), let minutes = Int(parts[1]), minutes < 60
        else { throw fields.failure(key, "must be a time such as 09:00") }
        return hours * 60 + minutes
    }
}
