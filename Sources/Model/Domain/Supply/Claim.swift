/// So much of something scarce that an order takes.
public struct Claim: Equatable, Sendable {
    /// What kinds of things can be claimed.
    public enum Kind: String, CaseIterable, Sendable {
        /// Portions of an item.
        case item
        /// Units of an option.
        case option
        /// Orders that are wanted for a slot.
        case slot
        /// Orders that a promotion takes something off.
        case promotion
        /// The same, of one customer.
        case customer

        /// Whether it is used up when the kitchen begins with an order: it does not come back after that.
        var isUsedUp: Bool {
            switch self {
            case .item, .option, .slot: true
            case .promotion, .customer: false
            }
        }

        /// Whether it is how often a promotion is used.
        public var isOfPromotions: Bool {
            switch self {
            case .item, .option, .slot: false
            case .promotion, .customer: true
            }
        }

        /// Whether customers are shown that nothing is left of it: by the menu, or by what the promotion says.
        var isShown: Bool {
            switch self {
            case .item, .option, .promotion: true
            case .slot, .customer: false
            }
        }

        /// Whether each claim says how much there may be in all. Of other kinds the supply knows how much is left.
        public var isLimited: Bool {
            switch self {
            case .item, .option: false
            case .slot, .promotion, .customer: true
            }
        }
    }

    /// What can be claimed at an outlet.
    public struct Key: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// What kind of thing it is.
        public var kind: Kind
        /// Which one of them.
        public var id: Text

        /// Something that can be claimed.
        public init(_ kind: Kind, _ id: Text) {
            self.kind = kind
            self.id = id
        }

        /// An item.
        public static func item(_ id: Identifier) -> Key { Key(.item, id.text) }

        /// An option.
        public static func option(_ id: Identifier) -> Key { Key(.option, id.text) }

        /// A slot.
        public static func slot(_ time: Timestamp) -> Key { Key(.slot, Text(time.rfc3339)) }

        /// A promotion.
        public static func promotion(_ id: Identifier) -> Key { Key(.promotion, id.text) }

        /// A promotion, where one customer uses it. No id has a slash.
        static func customer(_ customer: Identifier, of promotion: Identifier) -> Key {
            Key(.customer, Text("\(promotion)/\(customer)"))
        }

        /// Whether it is a slot that lies so far back that nothing can happen to it any more.
        func isOver(at now: Timestamp) -> Bool {
            guard kind == .slot, let time = Timestamp(rfc3339: id.string) else { return false }
            return time.adding(seconds: 86_400) < now
        }

        /// In words, such as `item 'pie'`.
        public var description: String { "\(kind.rawValue) '\(id)'" }

        /// Orders by kind, then by id.
        public static func < (a: Key, b: Key) -> Bool {
            a.kind == b.kind ? a.id < b.id : a.kind.rawValue < b.kind.rawValue
        }
    }

    /// The most of one thing that can be claimed, counted or added at once.
    public static let maximumCount: Int64 = 1_000_000
    /// What a recorded count can be: far beyond the limit, so that no change of that puts an old stream into quarantine,
    /// and small enough that no sum overflows.
    static let recordable: ClosedRange<Int64> = 1...1 << 50
    /// The most different things that an order claims: each of a cart's lines with all its options.
    public static let maximumOfOrder = Cart.maximumLines * (1 + 2 * CartLine.maximumOptions)

    /// What is claimed.
    public var key: Key
    /// How much of it, at least 1.
    public var count: Int64
    /// How much all orders together can have; nil where that is counted.
    public var limit: Int64?

    /// So much of something.
    public init(_ key: Key, _ count: Int64, limit: Int64? = nil) {
        self.key = key
        self.count = count
        self.limit = limit
    }
}

extension [Claim] {
    /// These claims with one for each thing, in their order.
    public var summed: [Claim] {
        var sums: [Claim.Key: Claim] = [:]
        for claim in self {
            let (sum, overflow) = (sums[claim.key]?.count ?? 0).addingReportingOverflow(claim.count)
            sums[claim.key] = Claim(claim.key, overflow ? .max : sum, limit: claim.limit)
        }
        return sums.values.sorted { $0.key < $1.key }
    }

    /// Whether they can have been recorded: in order, each thing once, and within the limits.
    var isRecordable: Bool {
        count <= Claim.maximumOfOrder
            && allSatisfy {
                Claim.recordable.contains($0.count) && ($0.limit != nil) == $0.key.kind.isLimited
                    && $0.limit.map(Claim.recordable.contains) ?? true
            }
            && zip(self, dropFirst()).allSatisfy { $0.key < $1.key }
    }

    /// What comes back if the order ends.
    ///
    /// - Parameter begun: whether the kitchen has begun with it.
    func returned(afterPreparation begun: Bool) -> [Claim] { begun ? filter { !$0.key.kind.isUsedUp } : self }
}

extension OutletDetails {
    /// What an order takes that is wanted for a slot; nil where slots take any number of orders.
    func claim(of slot: Timestamp?) -> Claim? {
        guard let slot, let orders = slots?.orders else { return nil }
        return Claim(.slot(slot), 1, limit: Int64(orders))
    }
}

extension Promotion {
    /// What an order takes that it takes something off, so that it is not used more often than it may be.
    ///
    /// - Parameter customer: whose order it is, if that is known. Nobody else's uses a promotion that counts customers.
    public func claims(by customer: Identifier?) -> [Claim] {
        var claims: [Claim] = []
        if let limit { claims.append(Claim(.promotion(id), 1, limit: limit)) }
        if let customer, let perCustomer { claims.append(Claim(.customer(customer, of: id), 1, limit: perCustomer)) }
        return claims
    }
}

extension [Claim] {
    /// Throws if these claim a promotion that takes nothing off, or that of somebody else.
    func checkPromotions(in charges: [Charge], of customer: Identifier?) throws(ImpossibleEvent) {
        let uses = filter(\.key.kind.isOfPromotions)
        if uses.isEmpty { return }
        let used = charges.compactMap(\.discount?.promotion)
        let possible = Set(used.map(Claim.Key.promotion))
            .union(customer.map { customer in used.map { .customer(customer, of: $0) } } ?? [])
        for claim in uses where claim.count != 1 || !possible.contains(claim.key) {
            throw ImpossibleEvent("a claim of \(claim.key), which takes nothing off")
        }
    }
}

extension MenuState {
    /// What the lines of a cart take of what is counted, summed over all of them. An option that is an item takes of
    /// both.
    public func claims(of lines: [CartLine], where isCounted: (Claim.Key) -> Bool) -> [Claim] {
        var claims: [Claim] = []
        func claim(_ key: Claim.Key, _ count: Int) {
            if isCounted(key) { claims.append(Claim(key, Int64(count))) }
        }
        for line in lines {
            claim(.item(line.item), line.quantity)
            for option in line.options {
                let count = line.quantity * option.units
                claim(.option(option.id), count)
                if let item = groups.option(option.id)?.item { claim(.item(item), count) }
            }
        }
        return claims.summed
    }
}
