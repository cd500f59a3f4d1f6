/// So much of something scarce that an order takes.
public struct Claim: Equatable, Sendable {
    /// What kinds of things can be claimed.
    public enum Kind: String, CaseIterable, Sendable {
        /// Portions of an item.
        case item
        /// Units of an option.
        case option

        /// Whether it is used up when the kitchen begins with an order: it does not come back after that.
        var isUsedUp: Bool {
            switch self {
            case .item, .option: true
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

    /// So much of something.
    public init(_ key: Key, _ count: Int64) {
        self.key = key
        self.count = count
    }
}

extension [Claim] {
    /// These claims with one for each thing, in their order.
    public var summed: [Claim] {
        var sums: [Claim.Key: Int64] = [:]
        for claim in self {
            let (sum, overflow) = sums[claim.key, default: 0].addingReportingOverflow(claim.count)
            sums[claim.key] = overflow ? .max : sum
        }
        return sums.map { Claim($0.key, $0.value) }.sorted { $0.key < $1.key }
    }

    /// Whether they can have been recorded: in order, each thing once, and within the limits.
    var isRecordable: Bool {
        count <= Claim.maximumOfOrder && allSatisfy { Claim.recordable.contains($0.count) }
            && zip(self, dropFirst()).allSatisfy { $0.key < $1.key }
    }

    /// What comes back if the order ends.
    ///
    /// - Parameter begun: whether the kitchen has begun with it.
    func returned(afterPreparation begun: Bool) -> [Claim] { begun ? filter { !$0.key.kind.isUsedUp } : self }
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
