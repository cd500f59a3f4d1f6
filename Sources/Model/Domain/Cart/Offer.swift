/// What the catalogue says of an item at the moment somebody wants it.
public enum Offer: Equatable, Sendable {
    /// There is no such outlet.
    case noOutlet
    /// The outlet takes no orders now.
    case outletClosed(Outlet.Status)
    /// The outlet has no such item.
    case noItem
    /// The item is shown, and has no price.
    case notForSale
    /// The item is sold out, until a moment or until further notice.
    case soldOut(until: Timestamp?)
    /// The item is only had in a part of the day, which begins at a moment if that is known.
    case outOfDaypart(Identifier, begins: Timestamp?)
    /// The item can be had, but not with these options.
    case wrongChoice(Choice)
    /// The item names a tax that the outlet does not have, so its price is unknown.
    case taxGone(Identifier)
    /// The item can be had.
    case available(Item)

    /// An item that can be had.
    public struct Item: Equatable, Sendable {
        /// What it is called.
        public var name: Text
        /// What one costs with the chosen options.
        public var unitPrice: Amount
        /// The currency of the price.
        public var currency: Currency
        /// The most of it that a line takes.
        public var maxQuantity: Int
        /// The chosen options, in the order of their ids.
        public var options: [LineOption]
        /// The tax on it; nil for the outlet's first.
        public var tax: Identifier?
        /// What its price is divided among, where not all of it has that tax.
        public var parts: [Bill.Part]

        /// An item with its price and limit.
        public init(
            name: Text, unitPrice: Amount, currency: Currency, maxQuantity: Int, options: [LineOption] = [],
            tax: Identifier? = nil, parts: [Bill.Part] = []
        ) {
            self.name = name
            self.unitPrice = unitPrice
            self.currency = currency
            self.maxQuantity = maxQuantity
            self.options = options
            self.tax = tax
            self.parts = parts
        }

        /// The first tax that it names and that is none of these; nil if there is none.
        public func tax(besides known: [PricingTerms.Tax]) -> Identifier? {
            func isUnknown(_ tax: Identifier?) -> Bool { tax.map { tax in !known.contains { $0.id == tax } } ?? false }
            return isUnknown(tax) ? tax : parts.lazy.map(\.tax).first(where: isUnknown) ?? nil
        }
    }

    /// The item, or the rejection that says why it cannot be had.
    func item(_ id: Identifier, of outlet: Identifier) throws(Rejection) -> Item {
        switch self {
        case .available(let item): return item
        case .noOutlet: throw Rejection(.notFound, "no outlet '\(outlet)'")
        case .outletClosed(.paused(_, let reason?)):
            throw Rejection(.closed, "outlet '\(outlet)' takes no orders for now: \(reason)")
        case .outletClosed(.resting(let opensAt?)):
            throw Rejection(.closed, "outlet '\(outlet)' takes no orders now; it opens at \(opensAt.rfc3339)")
        case .outletClosed: throw Rejection(.closed, "outlet '\(outlet)' takes no orders now")
        case .noItem: throw Rejection(.notFound, "outlet '\(outlet)' has no item '\(id)'")
        case .notForSale: throw Rejection(.invalid, "item '\(id)' has no price and cannot be ordered")
        case .soldOut: throw Rejection(.soldOut, "item '\(id)' is sold out")
        case .outOfDaypart(let daypart, let begins):
            throw Rejection(
                .closed,
                "item '\(id)' can only be had at \(daypart)" + (begins.map { ", from \($0.rfc3339) on" } ?? ""))
        case .wrongChoice(let choice): throw choice.rejection(of: id)
        case .taxGone(let tax):
            throw Rejection(.invalid, "item '\(id)' names the tax '\(tax)', which outlet '\(outlet)' does not have")
        }
    }
}

extension Choice {
    /// Why an item cannot be had with these options.
    fileprivate func rejection(of item: Identifier) -> Rejection {
        switch self {
        case .gone(let option):
            Rejection(.choice, "item '\(item)' has no option '\(option)', or not with what else is chosen")
        case .soldOut(let option): Rejection(.soldOut, "option '\(option)' of item '\(item)' is sold out")
        case .tooMany(let option, let maximum):
            Rejection(.choice, "option '\(option)' is taken at most \(maximum) times, and at least once")
        case .units(let group, let chosen):
            Rejection(
                .choice,
                "choose \(group.minimum == group.maximum ? "" : "\(group.minimum) to ")\(group.maximum) "
                    + "of group '\(group.id)', not \(chosen)")
        case .notForSale, .priced: Rejection(.invalid, "item '\(item)' has no price and cannot be ordered")
        }
    }
}

extension MenuState {
    /// What the menu says of an item with some options, at an outlet that takes orders.
    ///
    /// - Parameters:
    ///   - chosen: ``Swift/Array/normalized``.
    ///   - service: how the order is had; nil where there is nothing to choose.
    ///   - now: the moment that it is wanted for.
    ///   - dayparts: which dayparts are on then; nil if all are.
    public func offer(
        of item: Identifier, with chosen: [ChosenOption], for service: ServiceKind? = nil, in currency: Currency,
        now: Timestamp, dayparts: DaypartTimes? = nil
    ) -> Offer {
        guard let entry = entries[item] else { return .noItem }
        if entry.price == nil { return .notForSale }
        if let suspension = entry.suspension, suspension.holds(at: now) { return .soldOut(until: suspension.until) }
        if let dayparts, let daypart = entry.daypart, let suspension = dayparts.suspension(of: daypart),
            suspension.holds(at: now)
        {
            return .outOfDaypart(daypart, begins: suspension.until)
        }
        let choice = choice(of: chosen, from: entry.unpackedOptions, for: entry, service, now: now)
        guard case .priced(let price) = choice else { return .wrongChoice(choice) }
        return .available(
            Offer.Item(
                name: entry.name, unitPrice: price.one, currency: currency,
                maxQuantity: entry.maxQuantity ?? MenuItem.quantityLimit, options: price.options, tax: price.tax,
                parts: price.parts))
    }
}
