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

/// What an outlet says about an item with chosen options, at one time.
enum Saying: Hashable {
    /// It is not on the menu.
    case gone
    case soldOut
    case optionSoldOut(Text)
    /// The options are not what its groups ask for.
    case wrongChoice
    case priced(Priced)
}

/// What one of an item costs with options, in minor units, and how carts and orders show these.
struct Priced: Hashable {
    var unitPrice: Int64
    var options: [JSON]
    /// What of it has which tax.
    var parts: [Bill.Part]
}
