/// The outlets of the load generator that somebody cooks at. Their prices never change, so that every quote is known.
package enum KitchenTerms {
    /// How many outlets have terms if somebody is to cook.
    package static let kitchens = 4
    /// How many items they have each.
    static let items = 14
    /// The item that each counts, and of how many there are at first.
    package static let countedItem = 5
    package static let portions = 6

    /// The terms of the nth kitchen. Some orders wait so long that nothing happens to them by itself in a run, and
    /// some so shortly that it does.
    static func of(_ kitchen: Int) -> OrderTerms {
        let (tax, other) = ("vat", "other")
        var charges = Charges()
        switch kitchen % kitchens {
        case 0:
            charges.service = (12_500, tax)
            charges.taxes = [(tax, "VAT", 20_000), (other, "Other", 5_000)]
            charges.isTaxIncluded = true
            charges.promotion = PromotionTerms(id: "tenth", title: "A tenth", percent: 10_000, minimum: 2_000)
            return OrderTerms(prepMinutes: 20, acceptWithin: 900, charges: charges)
        case 1: return OrderTerms(prepMinutes: 15, acceptWithin: 1)
        case 2:
            charges.delivery = (299, freeFrom: 4_000, tax)
            charges.taxes = [(tax, "VAT", 8_875)]
            charges.promotion = PromotionTerms(id: "third", title: "A third", percent: 33_333, minimum: 0)
            return OrderTerms(prepMinutes: 30, acceptWithin: 2, payWithin: 1, charges: charges)
        default:
            charges.service = (7_250, tax)
            charges.delivery = (199, freeFrom: 6_000, tax)
            charges.taxes = [(tax, "VAT", 5_000), (other, "Other", 13_000)]
            var atTable = Charges()
            atTable.service = (10_000, tax)
            return OrderTerms(
                prepMinutes: 25, acceptWithin: 0, payWithin: 900, charges: charges, ordersPerSlot: 1,
                services: [
                    ServiceTerms("pickup", charges: Charges()), ServiceTerms("delivery", prepMinutes: 40),
                    ServiceTerms("table", charges: atTable, rates: [tax: 19_000], needsTable: true),
                ])
        }
    }
}
