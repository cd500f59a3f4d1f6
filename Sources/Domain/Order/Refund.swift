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
        /// How much of it is tax, included in prices or on top; nothing in refunds that were recorded before it was.
        public var tax: Amount
        /// Why.
        public var reason: Reason
        /// The line that it is for, and how many of it; nil where it is for no line.
        public var units: Units?

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
        public init(_ amount: Amount, tax: Amount = .zero, _ reason: Reason, units: Units? = nil) {
            self.amount = amount
            self.tax = tax
            self.reason = reason
            self.units = units
        }
    }

    /// What was given back so far.
    public struct Refunds: Equatable, Sendable {
        /// In minor units; at most the order's total.
        public private(set) var amount: Int64 = 0
        /// How much of it is tax, in minor units.
        public private(set) var tax: Int64 = 0
        /// How many of each line.
        public private(set) var units: [Text: Int] = [:]

        /// Nothing.
        public init() {}

        /// Takes in a refund of an order with that total.
        public mutating func take(_ refund: Refund, of total: Amount) throws(ImpossibleEvent) {
            let (sum, overflow) = amount.addingReportingOverflow(refund.amount.minorUnits)
            guard refund.amount >= .zero, !overflow, sum <= total.minorUnits else {
                throw ImpossibleEvent("more was given back than was paid")
            }
            guard refund.tax >= .zero, refund.tax <= refund.amount else {
                throw ImpossibleEvent("a refund has more tax than money")
            }
            if let new = refund.units {
                try CartLine.checkRecordable(new.quantity, new.line)
                let quantity = units[new.line, default: 0] + new.quantity
                try CartLine.checkRecordable(quantity, new.line)
                units[new.line] = quantity
            }
            amount = sum
            // Each is at most its amount, so no sum overflows.
            tax += refund.tax.minorUnits
        }
    }
}

extension Order.Book {
    /// What a part of the order comes to, now that some of it may have been given back.
    func refund(_ part: Order.RefundPart, _ reason: Order.Reason) throws(Rejection) -> Order.Refund {
        let left = placement.total.minorUnits - refunds.amount
        var refund: Order.Refund
        var lineTax: Int64?
        switch part {
        case .rest: refund = Order.Refund(Amount(minorUnits: left), reason)
        case .amount(let amount):
            guard amount > .zero else { throw .invalid("AMOUNT", "must be at least 1") }
            refund = Order.Refund(amount, reason)
        case .units(let id, let quantity):
            guard let index = placement.lines.firstIndex(where: { $0.id == id }) else {
                throw Rejection(.notFound, "the order has no line '\(id)'")
            }
            let line = placement.lines[index]
            let before = refunds.units[id, default: 0]
            guard quantity >= 1 else { throw .invalid("QTY", "must be at least 1") }
            guard before < line.quantity else {
                throw Rejection(.limit, "all of line '\(id)' has been given back")
            }
            guard quantity <= line.quantity - before else {
                throw Rejection(.limit, "of line '\(id)' at most \(line.quantity - before) can be given back")
            }
            let total = try placement.paid(forLineAt: index)
            guard total >= .zero else { throw Rejection(.limit, "line '\(id)' cost nothing") }
            refund = Order.Refund(
                Amount(minorUnits: total.share(before, quantity, of: line.quantity)), reason,
                units: Order.Refund.Units(line: id, quantity: quantity))
            lineTax = try placement.tax(forLineAt: index).share(before, quantity, of: line.quantity)
        }
        guard left > 0 else { throw Rejection(.limit, "everything has been given back") }
        guard refund.amount.minorUnits <= left else {
            throw Rejection(
                .limit, "at most \(Amount(minorUnits: left).words(in: placement.currency)) can be given back")
        }
        refund.tax = try tax(in: refund.amount, of: left, for: lineTax)
        return refund
    }

    /// How much of a refund is tax: what is on the line's units, or the same part of the tax that is left as of the
    /// money that is left. What remains of the tax never exceeds what remains of the money, so that in the end all of it
    /// is given back.
    private func tax(in amount: Amount, of left: Int64, for lineTax: Int64?) throws(Rejection) -> Amount {
        let taxLeft = min(left, max(0, max(0, try placement.tax().minorUnits) - refunds.tax))
        let tax = lineTax ?? Amount(minorUnits: taxLeft).share(amount.minorUnits, of: left)
        let least = taxLeft - (left - amount.minorUnits)
        return Amount(minorUnits: min(max(tax, least), taxLeft, amount.minorUnits))
    }
}

extension Amount {
    /// The share of some units after those that were given back before: of all up to now, less that of the ones before.
    /// So the last one ends at the whole amount.
    fileprivate func share(_ before: Int, _ quantity: Int, of all: Int) -> Int64 {
        share(Int64(before + quantity), of: Int64(all)) - share(Int64(before), of: Int64(all))
    }

    /// What a part of a whole comes to if the whole comes to this, rounded half up, in minor units.
    fileprivate func share(_ part: Int64, of whole: Int64) -> Int64 {
        let (quotient, rest) = whole.magnitude.dividingFullWidth(
            minorUnits.magnitude.multipliedFullWidth(by: part.magnitude))
        return Int64(rest >= whole.magnitude - rest ? quotient + 1 : quotient)
    }
}
