/// Something that an outlet, or the platform it sells on, takes off a price.
public struct Promotion: Equatable, Sendable {
    /// The most entries of each list in a scope.
    public static let maximumScope = 100

    /// What a promotion makes cheaper.
    public enum Target: String, CaseIterable, Sendable {
        /// Units of items, each of which is used by one promotion only.
        case items
        /// What the lines cost after promotions of items.
        case order
        /// The fee for bringing it.
        case delivery
    }

    /// How much cheaper.
    public enum Gift: Equatable, Sendable {
        /// By a share of what it costs.
        case percent(Rate)
        /// By an amount. Of items: for each time that the promotion fits.
        case amount(Amount)
        /// It costs so much instead. Of items: all that is given at one time together.
        case price(Amount)
    }

    /// Which items a promotion is about: those that any of these name. All if none names anything.
    public struct Scope: Equatable, Sendable {
        public var items: [Identifier]
        /// Every item of these sections.
        public var sections: [Identifier]
        /// Every item with one of these tags.
        public var tags: [Text]

        /// A scope.
        public init(items: [Identifier] = [], sections: [Identifier] = [], tags: [Text] = []) {
            self.items = items
            self.sections = sections
            self.tags = tags
        }

        /// Every item.
        public static let all = Scope()
    }

    /// Who pays for a promotion.
    public enum Payer: String, CaseIterable, Sendable {
        case outlet, platform
    }

    /// Unique at its outlet.
    public var id: Identifier
    /// What customers and receipts call it.
    public var title: Text
    /// What it makes cheaper.
    public var target: Target
    /// How much cheaper.
    public var gift: Gift
    /// Which items it is about.
    public var scope: Scope
    /// Of items, how many units are bought at their price each time that it fits.
    public var buy: Int
    /// Of items, how many units are given each time that it fits.
    public var get: Int
    /// What the lines have to cost before promotions.
    public var minimum: Amount?
    /// What a customer has to say, in capital letters; nil if it applies by itself.
    public var code: Text?
    /// When it begins.
    public var from: Timestamp?
    /// When it is over.
    public var until: Timestamp?
    /// How the order has to be had.
    public var service: ServiceKind?
    /// The most orders that it takes something off; nil for any number.
    public var limit: Int64?
    /// The most orders of one customer; nil for any number. It is for carts with a customer then.
    public var perCustomer: Int64?
    /// The most that it takes off an order.
    public var cap: Amount?
    /// Whether it does not go together with others.
    public var isAlone: Bool
    /// Who pays for it.
    public var payer: Payer

    /// A promotion with everything that is not named left out.
    public init(
        id: Identifier, title: Text, on target: Target, _ gift: Gift, of scope: Scope = .all, buy: Int = 0,
        get: Int = 1, minimum: Amount? = nil, code: Text? = nil, from: Timestamp? = nil, until: Timestamp? = nil,
        service: ServiceKind? = nil, limit: Int64? = nil, perCustomer: Int64? = nil, cap: Amount? = nil,
        isAlone: Bool = false, by payer: Payer = .outlet
    ) {
        self.id = id
        self.title = title
        self.target = target
        self.gift = gift
        self.scope = scope
        self.buy = buy
        self.get = get
        self.minimum = minimum
        self.code = code
        self.from = from
        self.until = until
        self.service = service
        self.limit = limit
        self.perCustomer = perCustomer
        self.cap = cap
        self.isAlone = isAlone
        self.payer = payer
    }

    /// A code as it is compared: in capital letters.
    public static func code(_ text: Text) -> Text { Text(text.string.uppercased()) }

    /// Rejects a code that cannot be typed.
    static func check(code: Text) throws(Rejection) {
        guard Identifier(code.string) != nil, code.utf8.count <= 40 else {
            throw .invalid("code", "must have 1–40 bytes of \(Identifier.characters)")
        }
    }

    /// Rejects a promotion with a value out of range, naming the field.
    func validate() throws(Rejection) {
        try TextRules.check(title, "title", TextRules.name)
        switch gift {
        case .percent(let rate):
            guard rate.thousandths > 0 else { throw .invalid("give.percent", "must be more than 0") }
        case .amount(let amount):
            try amount.check("give.amount")
            guard amount > .zero else { throw .invalid("give.amount", "must be more than 0") }
        case .price(let price):
            guard target != .order else { throw .invalid("give.price", "is for items and delivery") }
            try price.check("give.price")
        }
        for (name, count) in [("items", scope.items.count), ("sections", scope.sections.count)] {
            guard count <= Promotion.maximumScope else {
                throw .invalid("of.\(name)", "must have at most \(Promotion.maximumScope) entries")
            }
        }
        try TextRules.check(scope.tags, "of.tags", atMost: Promotion.maximumScope)
        guard target != .delivery || scope == .all else { throw .invalid("of", "is for items and orders") }
        let units = 1...MenuItem.quantityLimit
        guard target == .items || buy == 0 && get == 1 else { throw .invalid("buy", "is for items, as get is") }
        guard buy == 0 || units.contains(buy) else { throw .invalid("buy", "must be from 1 to \(units.upperBound)") }
        guard units.contains(get) else { throw .invalid("get", "must be from 1 to \(units.upperBound)") }
        try minimum?.check("minimum")
        if let cap {
            try cap.check("cap")
            guard cap > .zero else { throw .invalid("cap", "must be more than 0") }
        }
        for case let (field, limit?) in [("limit", limit), ("perCustomer", perCustomer)] {
            guard (1...Claim.maximumCount).contains(limit) else {
                throw .invalid(.field(field), "must be from 1 to \(Claim.maximumCount)")
            }
        }
        if let code { try Promotion.check(code: code) }
        if let from, let until, until <= from { throw .invalid("until", "must lie behind from") }
    }
}

extension MenuState {
    /// Whether an item is among those that a promotion is about.
    func isItem(_ id: Identifier, in scope: Promotion.Scope) -> Bool {
        if scope == .all || scope.items.contains(id) { return true }
        if !scope.sections.isEmpty,
            sections.contains(where: { scope.sections.contains($0.header.id) && $0.items.contains(id) })
        {
            return true
        }
        return !scope.tags.isEmpty && entries[id].map { $0.item.tags.contains(where: scope.tags.contains) } ?? false
    }

    /// The promotions, and which lines each of them is about.
    public func candidates(_ promotions: Promotions.State, for lines: [CartLine]) -> [Promotion.Candidate] {
        promotions.list.map { promotion in
            Promotion.Candidate(
                promotion, lines: lines.map { isItem($0.item, in: promotion.scope) },
                usedUp: promotions.spent.contains(promotion.id) ? .spent : nil)
        }
    }
}
