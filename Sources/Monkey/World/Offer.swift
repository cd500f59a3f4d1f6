/// What an outlet says of an item at one time.
struct Offer: Hashable, Sendable {
    /// In minor units.
    var price: Int64
    /// Not sold out.
    var isAvailable: Bool
    /// On the menu at all.
    var isListed: Bool
}
