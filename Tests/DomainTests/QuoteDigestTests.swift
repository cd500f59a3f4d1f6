import Testing

@testable import Domain

/// Whoever agrees to a digest agrees to all that the quote says.
@Suite struct QuoteDigestTests {
    private struct Parts {
        var lines = [
            CartLine(
                id: "tea", item: "tea", name: "Tea", quantity: 2, unitPrice: 100,
                options: [LineOption("large", name: "Large", units: 2, price: 10, free: 1)])
        ]
        var price = Order.Price(
            180,
            [
                Charge(.tax, id: "vat", name: "VAT", rate: .sample(50), 10, isIncluded: true, shares: [6, 4]),
                Charge(.discount, id: "ten", name: "Ten", by: .outlet, -20, shares: [-20]),
            ])
        var outlet: Identifier = "kitchen"
        var currency = Currency.inr
        var service: ServiceKind? = .pickup
        var promise: Int64? = 1_000
        var codes: [(code: Text, state: Discounts.CodeState)] = [("TEN", .applied)]

        var digest: Text {
            Quote.digest(of: lines, price, at: outlet, in: currency, for: service, promise: promise, codes)
        }
    }

    @Test func `every part of a quote is in its digest`() {
        let changes: [(inout Parts) -> Void] = [
            { $0.lines[0].id = "tea-2" }, { $0.lines[0].quantity = 3 }, { $0.lines[0].unitPrice = 101 },
            { $0.lines[0].options[0].id = "small" }, { $0.lines[0].options[0].units = 3 },
            { $0.lines[0].options[0].price = 11 }, { $0.lines[0].options[0].free = 0 }, { $0.lines = [] },
            { $0.price.charges[0].kind = .service }, { $0.price.charges[0].id = "gst" },
            { $0.price.charges[0].rate = .sample(51) }, { $0.price.charges[0].amount = 11 },
            { $0.price.charges[0].isIncluded = false }, { $0.price.charges[0].shares = [5, 5] },
            { $0.price.charges[1].id = "tenth" }, { $0.price.charges[1].name = "A tenth" },
            { $0.price.charges[1].payer = .platform }, { $0.price.charges[1].shares = [-19] },
            { $0.price.charges.removeLast() }, { $0.price.total = 181 }, { $0.outlet = "bakery" },
            { $0.currency = .usd }, { $0.service = .delivery }, { $0.service = nil }, { $0.promise = 1_001 },
            { $0.promise = nil }, { $0.codes[0].code = "TWO" }, { $0.codes[0].state = .spent }, { $0.codes = [] },
        ]
        let digests = changes.map { change in
            var parts = Parts()
            change(&parts)
            return parts.digest
        }
        #expect(Set(digests + [Parts().digest]).count == changes.count + 1)
    }
}
