/// A field of an outlet that a column can be mapped to, by its name in documents.
enum OutletField: String, CaseIterable {
    case id, name, city, area, address, cuisines, priceForTwo, minimumOrder, rating, ratingCount
    case deliveryMinutes

    /// The fields that every outlet must have.
    static let required: [OutletField] = [.id, .name]
}
