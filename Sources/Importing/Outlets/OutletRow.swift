internal import JSONText

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

    /// The document of `OUTLET.PUT`. What the row does not say is not mentioned.
    func document(currency: String, timeZone: String) -> String {
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        json.field("name", name)
        if let city { json.field("city", city) }
        if let area { json.field("area", area) }
        if let address { json.field("address", address) }
        json.field("currency", currency)
        json.field("timeZone", timeZone)
        json.field("cuisines", cuisines)
        if let priceForTwo { json.field("priceForTwo", priceForTwo) }
        if let rating {
            json.key("rating")
            json.decimal(Int(rating), digits: 2)
        }
        if let ratingCount { json.field("ratingCount", ratingCount) }
        if let deliveryMinutes { json.field("deliveryMinutes", deliveryMinutes) }
        if let minimumOrder { json.field("minimumOrder", minimumOrder) }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
