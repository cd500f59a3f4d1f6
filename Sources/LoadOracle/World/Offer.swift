/// What an outlet says about an item at one time.
package struct Offer: Hashable, Sendable {
    /// In minor units.
    package var price: Int64
    /// Whether it is not sold out.
    package var isAvailable: Bool
    /// Whether it is on the menu at all.
    package var isListed: Bool

    package init(price: Int64, isAvailable: Bool, isListed: Bool) {
        self.price = price
        self.isAvailable = isAvailable
        self.isListed = isListed
    }
}
