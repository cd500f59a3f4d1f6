/// What an outlet of the load generator says about its orders: what they wait for, and what is charged beside their
/// lines. Its prices never change, so that every quote is known.
package struct KitchenTerms: Sendable {
    /// A fee that lines of `freeFrom` or more do not pay.
    package struct Fee: Sendable {
        package var amount: Int64
        package var freeFrom: Int64
    }

    /// How many outlets have terms if somebody is to cook.
    package static let kitchens = 4
    /// How many items they have each.
    static let items = 14
    static let tax = "vat"

    /// What is promised, in minutes.
    package var prepMinutes: Int
    /// How long an order waits to be accepted, in seconds; 0 if that happens at once.
    package var acceptWithin: Int
    /// How long it waits to be paid before the kitchen sees it, in seconds; nil if it does not.
    package var payWithin: Int?
    /// In thousandths of a percent.
    package var service: Int64?
    package var isServiceTaxed = false
    package var delivery: Fee?
    package var taxRate: Int64?
    package var isTaxIncluded = true

    /// The terms of the nth kitchen. Some orders wait so long that nothing happens to them by itself in a run, and
    /// some so shortly that it does.
    static func of(_ kitchen: Int) -> KitchenTerms {
        switch kitchen % kitchens {
        case 0: KitchenTerms(prepMinutes: 20, acceptWithin: 900, service: 12_500, isServiceTaxed: true, taxRate: 20_000)
        case 1: KitchenTerms(prepMinutes: 15, acceptWithin: 1)
        case 2:
            KitchenTerms(
                prepMinutes: 30, acceptWithin: 2, payWithin: 1, delivery: Fee(amount: 299, freeFrom: 4_000),
                taxRate: 8_875, isTaxIncluded: false)
        default:
            KitchenTerms(
                prepMinutes: 25, acceptWithin: 0, payWithin: 900, service: 7_250, isServiceTaxed: true,
                delivery: Fee(amount: 199, freeFrom: 6_000), taxRate: 5_000, isTaxIncluded: false)
        }
    }

    /// The terms as members of what `OUTLET.PUT` takes.
    var json: String {
        var members = ["\"prepMinutes\":\(prepMinutes)", "\"acceptWithin\":\(acceptWithin)"]
        if let payWithin { members += ["\"payment\":\"first\"", "\"payWithin\":\(payWithin)"] }
        if let taxRate {
            members += [
                "\"taxIncluded\":\(isTaxIncluded)",
                "\"taxes\":[{\"id\":\"\(KitchenTerms.tax)\",\"name\":\"VAT\",\"rate\":\(taxRate)}]",
            ]
        }
        var charges: [String] = []
        let tax = taxRate == nil ? "" : ",\"tax\":\"\(KitchenTerms.tax)\""
        if let service { charges.append("\"service\":{\"rate\":\(service)\(isServiceTaxed ? tax : "")}") }
        if let delivery {
            charges.append("\"delivery\":{\"fee\":\(delivery.amount),\"freeFrom\":\(delivery.freeFrom)\(tax)}")
        }
        if !charges.isEmpty { members.append("\"charges\":{\(charges.joined(separator: ","))}") }
        return members.joined(separator: ",")
    }
}
