internal import TextFormats

/// An outlet as a row of a file describes it.
struct OutletRow: Equatable {
    /// The line the row starts at.
    var line: Int
    var id: String
    var name: String
    var city: String?
    var area: String?
    var address: String?
    var cuisines: [String] = []
    /// In minor units, as `minimumOrder`.
    var priceForTwo: Int64?
    var minimumOrder: Int64?
    /// In hundredths.
    var rating: Int64?
    var ratingCount: Int64?
    var deliveryMinutes: Int64?

    /// The document of `OUTLET.PUT`. A mapped field without a value is left out, and any other stays as it is.
    ///
    /// - Parameter standing: what `OUTLET.GET` answers of the outlet, so far.
    func document(
        currency: String, timeZone: String, mapped: Set<OutletField> = [], over standing: JSONValue = .object([])
    ) -> String {
        var json = standing
        json["name"] = .string(name)
        json["currency"] = .string(currency)
        json["timeZone"] = .string(timeZone)
        for (field, value) in values where value != nil || mapped.contains(field) { json[field.rawValue] = value }
        var writer = JSONWriter(reservingCapacity: 512)
        json.write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private var values: [(OutletField, JSONValue?)] {
        func number(_ value: Int64?) -> JSONValue? { value.map { .number(String($0)) } }
        return [
            (.city, city.map(JSONValue.string)), (.area, area.map(JSONValue.string)),
            (.address, address.map(JSONValue.string)),
            (.cuisines, cuisines.isEmpty ? nil : .array(cuisines.map(JSONValue.string))),
            (.priceForTwo, number(priceForTwo)), (.minimumOrder, number(minimumOrder)),
            (.rating, rating.map { .number(RatingMark.text($0)) }), (.ratingCount, number(ratingCount)),
            (.deliveryMinutes, number(deliveryMinutes)),
        ]
    }
}
