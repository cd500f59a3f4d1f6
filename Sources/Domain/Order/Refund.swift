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
        public init(_ amount: Amount, _ reason: Reason, units: Units? = nil) {
            self.amount = amount
            self.reason = reason
            self.units = units
        }
    }

    /// What was given back so far.
    public struct Refunds: Equatable, Sendable {
        /// In minor units; at most the order's total.
        public private(set) var amount: Int64 = 0
        /// How many of each line.
        public private(set) var units: [Text: Int] = [:]

        /// Nothing.
        public init() {}

        /// Takes in a refund of an order with that total.
        mutating func take(_ refund: Refund, of total: Amount) throws(ImpossibleEvent) {
            let (sum, overflow) = amount.addingReportingOverflow(refund.amount.minorUnits)
            guard refund.amount >= .zero, !overflow, sum <= total.minorUnits else {
                throw ImpossibleEvent("more was given back than was paid")
            }
            if let new = refund.units {
                try CartLine.checkRecordable(new.quantity, new.line)
                let quantity = units[new.line, default: 0] + new.quantity
                try CartLine.checkRecordable(quantity, new.line)
                units[new.line] = quantity
            }
            amount = sum
        }
    }
}

extension Order.Book {
    /// What a part of the order comes to, now that some of it may have been given back.
    func refund(_ part: Order.RefundPart, _ reason: Order.Reason) throws(Rejection) -> Order.Refund {
        let left = placement.total.minorUnits - refunds.amount
        let refund: Order.Refund
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
            guard quantity <= line.quantity - before else {
                throw Rejection(.limit, "of line '\(id)' at most \(line.quantity - before) can be given back")
            }
            // The share of all that were given back, less that of those before: so the last one ends at the total.
            let total = try placement.paid(forLineAt: index)
            guard total >= .zero else { throw Rejection(.limit, "line '\(id)' cost nothing") }
            let amount = total.share(before + quantity, of: line.quantity) - total.share(before, of: line.quantity)
            refund = Order.Refund(
                Amount(minorUnits: amount), reason, units: Order.Refund.Units(line: id, quantity: quantity))
        }
        guard left > 0, refund.amount.minorUnits <= left else {
            throw Rejection(
                .limit, "at most \(Amount(minorUnits: left).words(in: placement.currency)) can be given back")
        }
        return refund
    }
}

extension Amount {
    /// What so many of a number of units cost if all of them cost this, rounded half up, in minor units.
    fileprivate func share(_ units: Int, of all: Int) -> Int64 {
        let (high, low) = UInt64(minorUnits.magnitude).multipliedFullWidth(by: UInt64(2 * units))
        let (sum, carry) = low.addingReportingOverflow(UInt64(all))
        return Int64(UInt64(2 * all).dividingFullWidth((high + (carry ? 1 : 0), sum)).quotient)
    }
}
