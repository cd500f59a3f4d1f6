/// What promotions take off a cart, and why others take off nothing. The order of the lines has no effect on how much.
public struct Discounts: Equatable, Sendable {
    /// What a promotion is held against.
    public struct Basket {
        /// The lines at today's prices.
        public var lines: [CartLine]
        /// What they cost together before promotions.
        public var subtotal: Amount
        /// The fee for bringing it, before promotions.
        public var delivery: Amount
        /// The codes that the customer has said, in capital letters.
        public var codes: [Text]
        /// How the order is had; nil where there is nothing to choose.
        public var service: ServiceKind?
        /// When.
        public var now: Timestamp

        /// A basket.
        public init(
            _ lines: [CartLine], subtotal: Amount, delivery: Amount = .zero, codes: [Text] = [],
            service: ServiceKind? = nil, at now: Timestamp
        ) {
            self.lines = lines
            self.subtotal = subtotal
            self.delivery = delivery
            self.codes = codes
            self.service = service
            self.now = now
        }
    }

    /// What has become of a code.
    public enum CodeState: String, CaseIterable, Sendable {
        /// Its promotion takes something off.
        case applied
        /// The lines do not cost enough.
        case minimum
        /// There is nothing that it takes anything off, or others take off more.
        case nothing
        /// It has not begun.
        case later
        /// It is over.
        case ended
        /// It has been used as often as it may be.
        case spent
        /// The customer has used it as often as one may, or the cart has no customer.
        case customer
    }

    /// In the order in which they were worked out.
    public private(set) var list: [Bill.Discount] = []
    /// What has become of each code, in the order in which they were said.
    public private(set) var codes: [(code: Text, state: CodeState)] = []

    /// What promotions take off a basket.
    ///
    /// - Parameter candidates: the outlet's promotions, in the order of their ids.
    public init(_ candidates: [Promotion.Candidate], off basket: Basket) {
        // Only a damaged log has such lines, and no bill.
        let isPossible = basket.lines.allSatisfy { $0.unitPrice >= .zero }
        let possible = !isPossible ? [] : candidates.filter { $0.obstacle(to: basket) == nil }
        list = basket.discounts(by: possible.filter { !$0.promotion.isAlone })
        for alone in possible where alone.promotion.isAlone {
            let other = basket.discounts(by: [alone])
            if other.saving > list.saving { list = other }
        }
        codes = basket.codes.map { code in
            guard let candidate = candidates.first(where: { $0.promotion.code == code }) else { return (code, .ended) }
            if list.contains(where: { $0.promotion == candidate.promotion.id }) { return (code, .applied) }
            return (code, candidate.obstacle(to: basket) ?? .nothing)
        }
    }

    public static func == (one: Discounts, other: Discounts) -> Bool {
        one.list == other.list && one.codes.elementsEqual(other.codes) { $0 == $1 }
    }
}

extension Promotion {
    /// A promotion, and which lines of a basket it is about.
    public struct Candidate: Equatable, Sendable {
        public var promotion: Promotion
        /// For each line, whether it is.
        public var lines: [Bool]
        /// Why it cannot be used any more, or not by the customer; nil if it can.
        public var usedUp: Discounts.CodeState?

        /// A promotion of some lines.
        public init(_ promotion: Promotion, lines: [Bool], usedUp: Discounts.CodeState? = nil) {
            self.promotion = promotion
            self.lines = lines
            self.usedUp = usedUp
        }

        /// Notes whether a customer can use it.
        ///
        /// - Parameters:
        ///   - customer: whose cart it is; nil where nobody knows, who can use none that counts customers.
        ///   - taken: how much orders have of something that has a limit.
        public mutating func note(_ customer: Identifier?, taken: (Claim.Key) -> Int64) {
            guard usedUp == nil, let most = promotion.perCustomer else { return }
            if customer.map({ taken(.customer($0, of: promotion.id)) < most }) != true { usedUp = .customer }
        }

        /// Why it cannot take anything off a basket, whatever is in it; nil if it may.
        fileprivate func obstacle(to basket: Discounts.Basket) -> Discounts.CodeState? {
            if let from = promotion.from, basket.now < from { return .later }
            if let until = promotion.until, basket.now >= until { return .ended }
            return usedUp ?? promotion.obstacle(to: basket)
        }
    }

    private func obstacle(to basket: Discounts.Basket) -> Discounts.CodeState? {
        if let code, !basket.codes.contains(code) { return .nothing }
        if let service, service != basket.service { return .nothing }
        if let minimum, basket.subtotal < minimum { return .minimum }
        return nil
    }

    /// What it takes off something that costs so much.
    fileprivate func saving(on cost: Int64) -> Int64 {
        switch gift {
        case .percent(let rate): rate.share(of: cost)
        case .amount(let amount): min(amount.minorUnits, cost)
        case .price(let price): max(0, cost - price.minorUnits)
        }
    }

    fileprivate func capped(_ saving: Int64) -> Int64 { min(saving, cap?.minorUnits ?? .max) }

    fileprivate func discount(_ saving: Int64, shares: [Int64]) -> Bill.Discount {
        Bill.Discount(id, title, by: payer, saving, shares: shares)
    }
}

extension [Bill.Discount] {
    fileprivate var saving: Int64 { reduce(0) { $0 + $1.amount } }
}

extension Discounts.Basket {
    /// What these take off together: those of items, one of the order, and one of the delivery.
    fileprivate func discounts(by candidates: [Promotion.Candidate]) -> [Bill.Discount] {
        var discounts: [Bill.Discount] = []
        var unused = lines.map { Int64($0.quantity) }
        var rest = candidates.filter { $0.promotion.target == .items }
        while true {
            var best: (index: Int, use: Use)?
            for (index, candidate) in rest.enumerated() {
                let use = use(of: candidate, unused)
                // The first of equals is the one with the first id.
                if use.saving > best?.use.saving ?? 0 { best = (index, use) }
            }
            guard let (index, use) = best else { break }
            discounts.append(
                rest[index].promotion.discount(use.saving, shares: use.saving.allotted(by: use.given)))
            for line in lines.indices { unused[line] -= use.units[line] }
            rest.remove(at: index)
        }

        var left = lines.map { $0.unitPrice.minorUnits * Int64($0.quantity) }
        for discount in discounts { for line in left.indices { left[line] -= discount.shares[line] } }
        if let best = best(of: candidates, on: .order, costing: { zip(left, $0.lines).map { $1 ? $0 : 0 } }) {
            discounts.append(best)
        }
        if let best = best(of: candidates, on: .delivery, costing: { _ in [delivery.minorUnits] }) {
            discounts.append(Bill.Discount(best.promotion, best.title, by: best.payer, best.amount))
        }
        return discounts
    }

    /// The promotion that takes most off what it is about, of equals the one with the first id.
    private func best(
        of candidates: [Promotion.Candidate], on target: Promotion.Target,
        costing costs: (Promotion.Candidate) -> [Int64]
    ) -> Bill.Discount? {
        var best: Bill.Discount?
        for candidate in candidates where candidate.promotion.target == target {
            let costs = costs(candidate)
            let saving = candidate.promotion.capped(candidate.promotion.saving(on: costs.reduce(0, +)))
            guard saving > best?.amount ?? 0 else { continue }
            best = candidate.promotion.discount(saving, shares: saving.allotted(by: costs))
        }
        return best
    }

    /// How a promotion of items uses units.
    private struct Use {
        /// What it takes off.
        var saving: Int64 = 0
        /// What the units that are given cost, of each line.
        var given: [Int64]
        /// The units that are bought or given, of each line.
        var units: [Int64]
    }

    /// How a promotion uses units that no other does: as often as it fits, and the cheapest are given.
    private func use(of candidate: Promotion.Candidate, _ unused: [Int64]) -> Use {
        let promotion = candidate.promotion
        var use = Use(given: lines.map { _ in 0 }, units: lines.map { _ in 0 })
        // By their ids where they cost the same, so that the order of lines decides nothing.
        let places = lines.indices.filter {
            candidate.lines[$0] && unused[$0] > 0 && lines[$0].unitPrice > .zero
        }.sorted { (lines[$0].unitPrice, lines[$0].id) < (lines[$1].unitPrice, lines[$1].id) }
        var rest = places.map { unused[$0] }
        let (buy, get) = (Int64(promotion.buy), Int64(promotion.get))
        let times = rest.reduce(0, +) / (buy + get)
        var next = 0

        /// Takes the next units, the cheapest first.
        func take(_ count: Int64, _ body: (_ place: Int, _ count: Int64) -> Void) {
            var count = count
            while count > 0 {
                let taken = min(count, rest[next])
                if taken > 0 { body(places[next], taken) }
                rest[next] -= taken
                count -= taken
                if rest[next] == 0 { next += 1 }
            }
        }
        /// Gives the next units, so many at a time.
        func give(times: Int64) -> Int64 {
            var taken: [(place: Int, count: Int64)] = []
            var cost: Int64 = 0
            take(get * times) { place, count in
                taken.append((place, count))
                cost += count * lines[place].unitPrice.minorUnits
            }
            let saving: Int64 =
                switch promotion.gift {
                case .percent: cost
                case .amount, .price: times * promotion.saving(on: cost / times)
                }
            // What costs no less is not given.
            guard saving > 0 else { return 0 }
            for (place, count) in taken {
                use.given[place] += count * lines[place].unitPrice.minorUnits
                use.units[place] += count
            }
            use.saving += saving
            return times
        }

        var (left, fitted) = (times, Int64(0))
        while left > 0 {
            // Where a line has all that is given several times, all of these cost the same.
            let alike = max(1, min(left, rest[next] / get))
            fitted += give(times: alike)
            left -= alike
        }
        if case .percent(let rate) = promotion.gift { use.saving = rate.share(of: use.saving) }
        use.saving = promotion.capped(use.saving)
        take(fitted * buy) { place, count in use.units[place] += count }
        return use
    }
}

extension [Charge] {
    /// Throws if discounts cannot have been worked out for these lines and the charges beside them.
    func checkDiscounts(on lines: [CartLine]) throws(ImpossibleEvent) {
        guard contains(where: { $0.kind == .discount }) else { return }
        var delivery = filter { $0.kind == .delivery }.map(\.amount).saturatingSum.minorUnits
        var left = lines.map { (try? $0.total().minorUnits) ?? 0 }
        for charge in self where charge.kind == .discount {
            guard let discount = charge.discount, discount.isRecordable else {
                throw ImpossibleEvent("a discount that is not the sum of its shares, or nobody's")
            }
            guard !discount.shares.isEmpty else {
                delivery -= discount.amount
                continue
            }
            guard discount.shares.count == lines.count else {
                throw ImpossibleEvent("a discount on other lines: '\(discount.promotion)'")
            }
            for (line, share) in discount.shares.enumerated() { left[line] -= share }
        }
        guard delivery >= 0, left.allSatisfy({ $0 >= 0 }) else {
            throw ImpossibleEvent("discounts that leave less than nothing")
        }
    }
}
