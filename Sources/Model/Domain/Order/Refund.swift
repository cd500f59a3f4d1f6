extension Order {
    /// What is given back of an order.
    public enum RefundPart: Equatable, Sendable {
        /// All that is left.
        case rest
        /// Some of a line.
        case units(line: Text, quantity: Int)
        /// An amount, whatever it is for.
        case amount(Amount)
    }

    /// Something that was given back.
    public struct Refund: Equatable, Sendable {
        /// How much.
        public var amount: Amount
        /// The taxes in it, included in prices or on top.
        public var taxes: [Tax]
        /// Why.
        public var reason: Reason
        /// The line that it is for, and how many of it; nil where it is for no line.
        public var units: Units?

        /// A tax in what is given back.
        public struct Tax: Equatable, Sendable {
            /// The tax; nil for all of them together, in refunds that were recorded before each was.
            public var id: Identifier?
            /// How much of the base it is; nil where the order was recorded without it.
            public var rate: Rate?
            /// What it was taken of, of what is given back; nil where the order was recorded without it.
            public var base: Amount?
            /// How much.
            public var amount: Amount

            /// A tax.
            public init(id: Identifier? = nil, rate: Rate? = nil, base: Amount? = nil, _ amount: Amount) {
                self.id = id
                self.rate = rate
                self.base = base
                self.amount = amount
            }
        }

        /// So many of a line.
        public struct Units: Equatable, Sendable {
            /// The line.
            public var line: Text
            /// How many of it.
            public var quantity: Int

            /// So many of a line.
            public init(line: Text, quantity: Int) {
                self.line = line
                self.quantity = quantity
            }
        }

        /// A refund.
        public init(_ amount: Amount, taxes: [Tax] = [], _ reason: Reason, units: Units? = nil) {
            self.amount = amount
            self.taxes = taxes
            self.reason = reason
            self.units = units
        }

        /// All of its taxes.
        public var tax: Amount { taxes.map(\.amount).saturatingSum }
    }

    /// What was given back so far.
    public struct Refunds: Equatable, Sendable {
        /// In minor units; at most the order's total.
        public private(set) var amount: Int64 = 0
        /// How much of it is tax, in minor units.
        public private(set) var tax: Int64 = 0
        /// How much of it is each tax, by the tax's id.
        public private(set) var taxes: [Identifier: Refund.Tax] = [:]
        /// How many of each line.
        public private(set) var units: [Text: Int] = [:]

        /// Nothing.
        public init() {}

        /// Refunds that somebody has added up.
        public init(amount: Int64, tax: Int64) {
            self.amount = amount
            self.tax = tax
        }

        /// Takes in a refund of an order.
        mutating func take(_ refund: Refund, of placement: Placement) throws(ImpossibleEvent) {
            let (sum, overflow) = amount.addingReportingOverflow(refund.amount.minorUnits)
            guard refund.amount >= .zero, !overflow, sum <= placement.total.minorUnits else {
                throw ImpossibleEvent("more was given back than was paid")
            }
            guard refund.taxes.allSatisfy({ $0.amount.isRecordable && $0.base?.isRecordable ?? true }) else {
                throw ImpossibleEvent("a refund with a tax that cannot be")
            }
            if let new = refund.units {
                try CartLine.checkRecordable(new.quantity, new.line)
                let quantity = units[new.line, default: 0] + new.quantity
                try CartLine.checkRecordable(quantity, new.line)
                units[new.line] = quantity
            }
            amount = sum
            tax = [Amount(minorUnits: tax), refund.tax].saturatingSum.minorUnits
            for tax in refund.taxes.flatMap({ $0.id == nil ? split($0.amount, refund.units, placement) : [$0] }) {
                guard let id = tax.id else { continue }
                let before = taxes[id]
                var now = tax
                now.amount = [tax.amount, before?.amount ?? .zero].saturatingSum
                now.base = tax.base.map { [$0, before?.base ?? .zero].saturatingSum } ?? before?.base
                now.rate = tax.rate ?? before?.rate
                taxes[id] = now
            }
        }

        /// The taxes in a sum that was recorded without saying so: those that the line has, as far as they are left,
        /// and otherwise all that are left, in proportion.
        private func split(_ sum: Amount, _ units: Refund.Units?, _ placement: Placement) -> [Refund.Tax] {
            let charges = placement.taxes
            var left = charges.map { charge in
                max(0, charge.amount.minorUnits - (charge.id.flatMap { taxes[$0] }?.amount.minorUnits ?? 0))
            }
            var parts = left.map { _ in Int64(0) }
            let line = units.flatMap { units in placement.lines.firstIndex { $0.id == units.line } }
            for weights in [charges.map { charge in line.map { charge.shares.minorUnits(at: $0) } ?? 0 }, left] {
                let rest = min(sum.minorUnits - parts.reduce(0, +), left.reduce(0, +))
                for (index, part) in rest.allotted(by: weights).enumerated() {
                    let part = min(part, left[index])
                    parts[index] += part
                    left[index] -= part
                }
            }
            return zip(charges, parts).map { Refund.Tax(id: $0.id, Amount(minorUnits: $1)) }
        }
    }
}

extension Order.Book {
    /// What a part of the order comes to, now that some of it may have been given back. docs/ordering.md has the rules.
    func refund(_ part: Order.RefundPart, _ reason: Order.Reason) throws(Rejection) -> Order.Refund {
        let taxes = placement.taxes
        let given = taxes.map { charge in charge.id.flatMap { refunds.taxes[$0] } }
        let left = Portion(
            placement.total.minorUnits, taxes.map(\.amount.minorUnits), taxes.map { $0.base?.minorUnits ?? 0 }
        ).less(
            Portion(
                refunds.amount, given.map { $0?.amount.minorUnits ?? 0 },
                given.map { $0?.base?.minorUnits ?? 0 }))

        let lines = try placement.portionsOfLines()
        // What the units that are left cost, and how much of that is left.
        let cost = zip(placement.lines, lines).reduce(left.share(0, of: 1)) { sum, entry in
            let (line, portion) = entry
            return sum.adding(portion.less(portion.share(back(of: line), of: line.quantity)))
        }
        let onLines = left.amount > cost.amount ? left.limited(to: cost) : left

        var portion: Portion
        var units: Order.Refund.Units?
        switch part {
        case .rest: portion = left
        case .amount(let amount):
            guard amount > .zero else { throw .invalid(.amount, "must be at least 1") }
            guard left.amount == 0 || amount.minorUnits <= left.amount else {
                let most = Amount(minorUnits: left.amount).words(in: placement.currency)
                throw Rejection(.limit, "at most \(most) can be given back")
            }
            let beside = left.less(onLines)
            let first = min(amount.minorUnits, beside.amount)
            portion = beside.share(first, of: beside.amount)
                .adding(onLines.share(min(amount.minorUnits - first, onLines.amount), of: onLines.amount))
        case .units(let id, let quantity):
            guard let index = placement.lines.firstIndex(where: { $0.id == id }) else {
                throw Rejection(.notFound, "the order has no line '\(id)'")
            }
            let line = placement.lines[index]
            let before = back(of: line)
            guard quantity >= 1 else { throw .invalid(.quantity, "must be at least 1") }
            guard before < line.quantity else {
                throw Rejection(.limit, "all of line '\(id)' has been given back")
            }
            guard quantity <= line.quantity - before else {
                throw Rejection(.limit, "of line '\(id)' at most \(line.quantity - before) can be given back")
            }
            // Of all units up to now, less that of those before: so the last one ends at the whole line.
            let wanted = lines[index].share(before + quantity, of: line.quantity)
                .less(lines[index].share(before, of: line.quantity))
            portion = onLines.share(wanted, of: cost)
            units = Order.Refund.Units(line: id, quantity: quantity)
        }
        guard left.amount > 0 else { throw Rejection(.limit, "everything has been given back") }
        // With the last of the money, which rounding can give back before the last unit.
        if portion.amount == left.amount { portion = left }
        return Order.Refund(
            Amount(minorUnits: portion.amount), taxes: portion.taxes(of: taxes), reason, units: units)
    }

    /// How many of a line were given back.
    private func back(of line: CartLine) -> Int { min(refunds.units[line.id, default: 0], line.quantity) }
}

extension Order.Placement {
    /// What all of each line came to: its price less discounts, its share of service, and the taxes on both.
    fileprivate func portionsOfLines() throws(Rejection) -> [Portion] {
        var portions: [Portion] = []
        let fees = charges.filter { $0.kind != .tax && $0.kind != .tip }
        let service = fees.firstIndex { $0.kind == .service }
        /// What of an amount on each line and each fee falls on the lines: of that on service, what service itself does.
        func onLines(_ shares: [Amount]) -> [Int64] {
            let ofService = service.map { shares.minorUnits(at: lines.count + $0) } ?? 0
            let parts = ofService.allotted(by: lines.indices.map { serviceShare($0) })
            return zip(lines.indices, parts).map { shares.minorUnits(at: $0) + $1 }
        }
        func serviceShare(_ line: Int) -> Int64 { service.map { fees[$0].shares.minorUnits(at: line) } ?? 0 }
        let discounted = discounted
        let amounts = taxes.map { onLines($0.shares) }
        let bases = taxes.map { onLines($0.bases) }
        for (index, line) in lines.enumerated() {
            guard line.unitPrice >= .zero else { throw Rejection(.limit, "line '\(line.id)' cost less than nothing") }
            var amount = try line.total().minorUnits - discounted[index] + serviceShare(index)
            for (tax, amounts) in zip(taxes, amounts) where !tax.isIncluded { amount += amounts[index] }
            portions.append(Portion(amount, amounts.map { $0[index] }, bases.map { $0[index] }))
        }
        return portions
    }
}

extension [Amount] {
    func minorUnits(at index: Int) -> Int64 { indices.contains(index) ? self[index].minorUnits : 0 }
}

/// Some of an order's money, how much of it is each of the order's taxes, and what each was taken of. Nothing is
/// negative.
private struct Portion: Equatable {
    /// The money, then each tax, then what each was taken of.
    private var values: [Int64]

    private init(_ values: [Int64]) { self.values = values }

    init(_ amount: Int64, _ taxes: [Int64], _ bases: [Int64]) { self.init([max(0, amount)] + taxes + bases) }

    var amount: Int64 { values[0] }

    /// The taxes that there are any of.
    func taxes(of charges: [Charge]) -> [Order.Refund.Tax] {
        charges.enumerated().compactMap { index, charge in
            let (amount, base) = (values[1 + index], values[1 + charges.count + index])
            guard amount > 0 || base > 0 else { return nil }
            return Order.Refund.Tax(
                id: charge.id, rate: charge.rate, base: charge.base.map { _ in Amount(minorUnits: base) },
                Amount(minorUnits: amount))
        }
    }

    func adding(_ other: Portion) -> Portion { Portion(zip(values, other.values).map(+)) }

    /// What is left, never less than nothing.
    func less(_ other: Portion) -> Portion { Portion(zip(values, other.values).map { max(0, $0 - $1) }) }

    func limited(to other: Portion) -> Portion { Portion(zip(values, other.values).map(min)) }

    /// So much of it as a part is of a whole.
    func share(_ part: some BinaryInteger, of whole: some BinaryInteger) -> Portion {
        Portion(values.map { $0.share(Int64(part), of: Int64(whole)) })
    }

    /// So much of everything in it as a part has of what a whole has.
    func share(_ part: Portion, of whole: Portion) -> Portion {
        Portion(values.indices.map { values[$0].share(part.values[$0], of: whole.values[$0]) })
    }
}

extension Int64 {
    /// So much of it as a part is of a whole, rounded half up; nothing of nothing.
    ///
    /// - Precondition: nothing is negative, and the part is at most the whole.
    func share(_ part: Int64, of whole: Int64) -> Int64 {
        guard whole > 0 else { return 0 }
        let (quotient, rest) = whole.dividingFullWidth(multipliedFullWidth(by: part))
        return rest >= whole - rest ? quotient + 1 : quotient
    }
}
