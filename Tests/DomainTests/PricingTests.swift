import Domain
import SeededRandom
import Testing

@Suite struct PricingTests {
    private static func tax(_ id: Identifier, _ thousandths: Int) -> PricingTerms.Tax {
        PricingTerms.Tax(id: id, name: Text(id.rawValue), rate: .sample(thousandths))
    }

    private static func charge(
        _ id: Identifier, _ rate: Int, _ amount: Amount, isIncluded: Bool = false, shares: [Amount], bases: [Amount]
    ) -> Charge {
        Charge(
            .tax, id: id, name: Text(id.rawValue), rate: .sample(rate), amount, isIncluded: isIncluded, shares: shares,
            bases: bases)
    }

    private static func bill(
        _ amounts: [Amount], _ terms: PricingTerms, tip: Amount = .zero
    ) throws -> Bill {
        try Bill(for: amounts.map { Bill.Line($0) }, on: terms, tip: tip)
    }

    @Test func `tax on top is worked out once, and the lines share it`() throws {
        let bill = try Self.bill([4, 4], PricingTerms(taxIncluded: false, taxes: [Self.tax("vat", 10_000)]))
        #expect(bill.charges == [Self.charge("vat", 10_000, 1, shares: [1, 0], bases: [4, 4])])
        #expect(bill.total == 9)
    }

    @Test func `tax inside a price is rounded itself, not the rest`() throws {
        let bill = try Self.bill([299], PricingTerms(taxIncluded: true, taxes: [Self.tax("vat", 4_000)]))
        #expect(bill.charges == [Self.charge("vat", 4_000, 12, isIncluded: true, shares: [12], bases: [299])])
        #expect(bill.total == 299)
    }

    @Test func `everything at once, in its order`() throws {
        let terms = PricingTerms(
            taxIncluded: false, taxes: [Self.tax("food", 5_000), Self.tax("drink", 20_000)],
            service: .init(rate: .sample(12_500), tax: "food"), smallOrder: .init(150, freeFrom: 2_000),
            delivery: .init(299, freeFrom: 5_000, tax: "drink"))
        let bill = try Bill(for: [Bill.Line(1_000), Bill.Line(333, tax: "drink")], on: terms, tip: 100)
        #expect(bill.subtotal == 1_333)
        #expect(
            bill.charges == [
                // 166.625
                Charge(.service, 167, shares: [125, 42]),
                Charge(.smallOrder, 150),
                Charge(.delivery, 299),
                // 5 % of 1,000 and the service, 20 % of 333 and the delivery
                Self.charge("food", 5_000, 58, shares: [50, 0, 8, 0, 0], bases: [1_000, 0, 167, 0, 0]),
                Self.charge("drink", 20_000, 126, shares: [0, 66, 0, 0, 60], bases: [0, 333, 0, 0, 299]),
                Charge(.tip, 100),
            ])
        #expect(bill.total == 2_233)
    }

    @Test(arguments: [(1_999, 150), (2_000, 0)] as [(Amount, Amount)])
    func `an order of exactly the limit is free of the fee`(amount: Amount, fee: Amount) throws {
        let bill = try Self.bill([amount], PricingTerms(smallOrder: .init(150, freeFrom: 2_000)))
        #expect(try bill.total == amount.adding(fee))
    }

    @Test func `a line is divided among its parts, and what rounding leaves goes to the largest remainder`() throws {
        let terms = PricingTerms(taxIncluded: true, taxes: [Self.tax("food", 7_000), Self.tax("drink", 19_000)])
        let line = Bill.Line(1_000, parts: [Bill.Part(2, tax: nil), Bill.Part(1, tax: "drink")])
        // 666.67 and 333.33
        #expect(
            try Bill(for: [line, Bill.Line(10, tax: "drink")], on: terms).charges == [
                Self.charge("food", 7_000, 44, isIncluded: true, shares: [44, 0], bases: [667, 0]),
                Self.charge("drink", 19_000, 55, isIncluded: true, shares: [53, 2], bases: [333, 10]),
            ])
    }

    @Test func `an item whose tax the outlet does not have cannot be priced`() {
        #expect(throws: Rejection.self) { try Bill(for: [Bill.Line(1, tax: "vat")], on: .none) }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `shares add up, and the total is what is in it`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let taxes = (0..<Int.random(in: 0...3, using: &random)).map {
                Self.tax(Identifier("t\($0)")!, .random(in: 0...30_000, using: &random))
            }
            let ids: [Identifier?] = [nil] + taxes.map(\.id)
            let terms = PricingTerms(
                taxIncluded: random.chance(50), taxes: taxes,
                service: random.chance(50)
                    ? .init(rate: .sample(.random(in: 0...30_000, using: &random)), tax: random.pick(ids)) : nil,
                delivery: random.chance(50) ? .init(299, freeFrom: 5_000, tax: random.pick(ids)) : nil)
            let lines = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                Bill.Line(
                    Amount(minorUnits: .random(in: 0...100_000, using: &random)), tax: random.pick(ids),
                    parts: (0..<Int.random(in: 0...3, using: &random)).map { _ in
                        Bill.Part(.random(in: 1...5_000, using: &random), tax: random.pick(ids))
                    })
            }
            let bill = try Bill(for: lines, on: terms, tip: 50)
            for charge in bill.charges where !charge.shares.isEmpty {
                #expect(charge.shares.reduce(0) { $0 + $1.minorUnits } == charge.amount.minorUnits)
                #expect(charge.shares.allSatisfy { $0 >= .zero })
            }
            let taxed = bill.charges.filter { $0.kind == .tax }
            for (index, line) in lines.enumerated() where !taxed.isEmpty {
                #expect(taxed.reduce(0) { $0 + $1.bases[index].minorUnits } == line.amount.minorUnits)
            }
            let parts = lines.map(\.amount) + bill.charges.filter { !$0.isIncluded }.map(\.amount)
            #expect(bill.total.minorUnits == parts.reduce(0) { $0 + $1.minorUnits })
        }
    }
}
