/// A customer's cart at one outlet, from the first item to checkout.
public enum Cart: Decider {
    /// The most lines of a cart.
    public static let maximumLines = 100
    /// The most codes of a cart.
    public static let maximumCodes = 5

    // MARK: Commands

    /// What a customer asks of a cart.
    public enum Command: Equatable, Sendable {
        case add(Addition)
        /// Sets a line's quantity; 0 removes it. More than there was is taken up to what the item's menu allows.
        case set(line: Text, quantity: Int, maximum: Int = MenuItem.quantityLimit)
        case remove(line: Text)
        case clear
        /// Changes the options or the note of a line, at today's price.
        indirect case edit(Edit)
        /// Sets what the customer gives beside what is charged; 0 for nothing.
        case tip(Amount)
        /// Says how the order is to be had.
        indirect case chooseService(ServiceChoice)
        /// A customer says a code.
        case addCode(Text, isKnown: Bool)
        case removeCode(Text)
        indirect case checkOut(CheckOut)
        /// Ends a checkout that has begun, as its claims were answered. Sent by servers, and decided once.
        case conclude(order: Identifier, ClaimAnswer, now: Timestamp)
    }

    /// What a checkout with claims is answered.
    public enum ClaimAnswer: Equatable, Sendable {
        /// The order has what it claims.
        case held
        /// It gets nothing.
        case refused(Supply.Refusal)
    }

    /// Some of an item, to be added, with what the catalogue says of it.
    public struct Addition: Equatable, Sendable {
        /// The outlet it is ordered from.
        public var outlet: Identifier
        /// The item.
        public var item: Identifier
        /// How many, 1–99.
        public var quantity: Int
        /// What the customer wants the kitchen to know.
        public var note: PersonalText?
        /// The customer the cart will belong to, if given; a customer's note is sealed.
        public var customer: Identifier?
        /// What the catalogue says of the item with the chosen options.
        public var offer: Offer
        /// The time that the cart's order is wanted for from now on; nil to leave it.
        public var choice: ServiceChoice?

        /// Some of an item.
        public init(
            outlet: Identifier, item: Identifier, quantity: Int, note: PersonalText? = nil,
            customer: Identifier? = nil, offer: Offer, choice: ServiceChoice? = nil
        ) {
            self.outlet = outlet
            self.item = item
            self.quantity = quantity
            self.note = note
            self.customer = customer
            self.offer = offer
            self.choice = choice
        }
    }

    /// What is to change about a line.
    public struct Edit: Equatable, Sendable {
        /// The line.
        public var line: Text
        /// What the customer wants the kitchen to know from now on; nil inside for nothing, nil outside to leave it.
        public var note: PersonalText??
        /// The customer the cart will belong to, if given; a customer's note is sealed.
        public var customer: Identifier?
        /// What the catalogue says now of the line's item with the options that it is to have.
        public var offer: Offer

        /// A change of a line.
        public init(line: Text, note: PersonalText?? = nil, customer: Identifier? = nil, offer: Offer) {
            self.line = line
            self.note = note
            self.customer = customer
            self.offer = offer
        }
    }

    /// How an order is to be had.
    public struct ServiceChoice: Equatable, Sendable {
        /// The way to have it.
        public var service: ServiceKind
        /// The table, as the outlet calls it.
        public var table: Text?
        /// The time that it is wanted for; nil for as soon as it can be had.
        public var wanted: Timestamp?
        /// The ways that the outlet offers.
        public var offered: [ServiceKind]
        /// Why it cannot be had at that time, if so.
        public var refusal: Rejection?

        /// A choice of what an outlet offers.
        public init(_ service: ServiceKind, table: Text? = nil, wanted: Timestamp? = nil, offered: [ServiceKind]) {
            self.service = service
            self.table = table
            self.wanted = wanted
            self.offered = offered
        }
    }

    /// What a customer has been shown and agrees to.
    public enum Agreement: Equatable, Sendable {
        /// The total.
        case total(Amount)
        /// Everything that is priced, by the digest of a ``Quote``.
        case quote(Text)
    }

    /// What a checkout needs to know.
    public struct CheckOut: Equatable, Sendable {
        /// The id of the order to be placed.
        public var order: Identifier
        /// What the customer has been shown and agrees to pay.
        public var agreement: Agreement
        /// What the catalogue says now, line by line.
        public var offers: [Text: Offer]
        /// What the outlet charges beside the prices.
        public var pricing: PricingTerms
        /// The least that the lines may cost together.
        public var minimumOrder: Amount?
        /// The customer the cart will belong to, if given.
        public var customer: Identifier?
        /// The name on the order.
        public var name: SealedText?
        /// What the order will wait for.
        public var terms: Order.Terms
        /// How the order will be handed over.
        public var handover: Handover
        /// What the order needs.
        public var requirements: [OfferedService.Requirement]
        /// How soon the order is promised, if it is, in minutes.
        public var prepMinutes: Int?
        /// What the customer wants if something of the order cannot be had.
        public var missing = Order.Missing.ask
        /// What the order takes of what the outlet has counted, beside promotions.
        public var claims: [Claim] = []
        /// The promotions of the outlet, and which lines each of them is about.
        public var promotions: [Promotion.Candidate] = []
        /// When it is checked out.
        public var time = Timestamp(millisecondsSinceEpoch: 0)
        /// Why the order cannot be had as was chosen, if so.
        var refusal: Rejection?

        /// What the order keeps of what the outlet charges: it is needed only where its life is followed.
        public var recordedPricing: PricingTerms { terms.placedAt == nil ? .none : pricing.settled }

        /// A checkout.
        public init(
            order: Identifier, agreement: Agreement, offers: [Text: Offer], pricing: PricingTerms = .none,
            minimumOrder: Amount? = nil, customer: Identifier? = nil, name: SealedText? = nil,
            terms: Order.Terms = .none, handover: Handover = .none,
            requirements: [OfferedService.Requirement] = []
        ) {
            self.order = order
            self.agreement = agreement
            self.offers = offers
            self.pricing = pricing
            self.minimumOrder = minimumOrder
            self.customer = customer
            self.name = name
            self.terms = terms
            self.handover = handover
            self.requirements = requirements
        }
    }

    // MARK: Events

    /// What happened to a cart. Quantities are given as what was and what is, so that counts follow from the event
    /// alone. If a cart belongs to a customer, every event that may have texts names the customer, so that each event
    /// can be opened without the others.
    ///
    /// Indirect, so that a reference is all that is copied from layer to layer.
    public indirect enum Event: Equatable, Sendable {
        /// So many more of a line, which is new or known.
        case itemAdded(CartLine, outlet: Identifier, currency: Currency, customer: Identifier? = nil)
        case quantityChanged(line: Text, from: Int, to: Int)
        case lineRemoved(line: Text, quantity: Int)
        case cleared(count: Int)
        /// A line became another, or joined one that was there. The quantity is that of the other line then.
        case lineEdited(line: Text, to: CartLine, customer: Identifier? = nil)
        case tipSet(Amount)
        /// Its order will be had like this, at a table if there is one, and at a time if one was said.
        case serviceChosen(ServiceKind, table: Text?, wanted: Timestamp? = nil)
        /// A code was said, in capital letters.
        case codeAdded(Text)
        case codeRemoved(Text)
        /// The cart became an order, at these prices.
        case checkedOut(
            order: Identifier, lines: [CartLine], charges: [Charge] = [], total: Amount, customer: Identifier? = nil,
            name: SealedText? = nil, handover: Handover = .none)
        /// The cart will become an order once the outlet's supply has what it claims.
        case checkoutBegun(Checkout)
        /// The supply does not have it: the cart is open again.
        case checkoutRefused(order: Identifier, Supply.Refusal)
    }

    /// A checkout that waits for what it claims.
    public struct Checkout: Equatable, Sendable {
        /// The order to be placed.
        public var order: Identifier
        /// The outlet whose supply decides.
        public var outlet: Identifier
        /// What the order takes of what the outlet has counted.
        public var claims: [Claim]
        /// When it began.
        public var at: Timestamp
        /// The lines at the prices agreed.
        public var lines: [CartLine]
        /// Everything that is charged beside the lines.
        public var charges: [Charge]
        /// What is to be paid.
        public var total: Amount
        /// The customer, where that was said.
        public var customer: Identifier?
        /// The name on the order.
        public var name: SealedText?
        /// How the order will be handed over.
        public var handover: Handover
        /// What the order would wait for if it had been placed when the checkout began.
        public var terms: Order.Terms
        /// What the customer wants if something of the order cannot be had.
        public var missing: Order.Missing
        /// What the order keeps of what the outlet charges.
        public var pricing: PricingTerms

        /// A checkout.
        public init(
            order: Identifier, outlet: Identifier, claims: [Claim], at time: Timestamp, lines: [CartLine],
            charges: [Charge] = [], total: Amount, customer: Identifier? = nil, name: SealedText? = nil,
            handover: Handover = .none, terms: Order.Terms = .none, missing: Order.Missing = .ask,
            pricing: PricingTerms = .none
        ) {
            self.order = order
            self.outlet = outlet
            self.claims = claims
            at = time
            self.lines = lines
            self.charges = charges
            self.total = total
            self.customer = customer
            self.name = name
            self.handover = handover
            self.terms = terms
            self.missing = missing
            self.pricing = pricing
        }

        /// What the order waits for if it is placed at a moment.
        public func terms(at now: Timestamp) -> Order.Terms {
            terms.moved(by: now.millisecondsSinceEpoch.subtracting(at.millisecondsSinceEpoch))
        }

        /// What happens once the claims are held.
        var end: Event {
            .checkedOut(
                order: order, lines: lines, charges: charges, total: total, customer: customer, name: name,
                handover: handover)
        }
    }

    // MARK: State

    /// What is in a cart.
    public struct Contents: Equatable, Sendable {
        /// The outlet it is ordered from.
        public var outlet: Identifier
        /// The currency of every price.
        public var currency: Currency
        /// The customer it belongs to, once that is known.
        public var customer: Identifier?
        /// The lines, in the order they were first added.
        public var lines: [CartLine]
        /// What the customer gives beside what is charged.
        public var tip = Amount.zero
        private var rest = Rest.none

        /// What few open carts have. Indirect, as carts are held by the million, and copied for each change.
        private indirect enum Rest: Equatable, Sendable {
            case none
            case some(Terms)
        }

        /// On what terms the order of a cart is had: how, with which codes, and for which charges.
        fileprivate struct Terms: Equatable, Sendable {
            var service: ServiceKind?
            var table: Text?
            var wanted: Timestamp?
            var codes: [Text] = []
            var charges: [Charge] = []
        }

        fileprivate var terms: Terms {
            get { if case .some(let terms) = rest { terms } else { Terms() } }
            set { rest = newValue == Terms() ? .none : .some(newValue) }
        }

        /// How its order is to be had, if that was chosen; how it is had, once it is checked out.
        public var service: ServiceKind? { if case .some(let terms) = rest { terms.service } else { nil } }

        /// The table, as the outlet calls it.
        public var table: Text? { if case .some(let terms) = rest { terms.table } else { nil } }

        /// The time that its order is wanted for; nil for as soon as it can be had.
        public var wanted: Timestamp? { if case .some(let terms) = rest { terms.wanted } else { nil } }

        /// The codes that its customer has said, in capital letters.
        public var codes: [Text] { if case .some(let terms) = rest { terms.codes } else { [] } }

        /// What was charged beside the lines, once it is checked out.
        public var charges: [Charge] { if case .some(let terms) = rest { terms.charges } else { [] } }

        /// The sum of quantities.
        @inlinable
        public var count: Int { lines.reduce(0) { $0 + $1.quantity } }

        /// What is to be paid once it is checked out, or a `LIMIT` rejection.
        public func payable() throws(Rejection) -> Amount { try total().adding(charges) }

        /// The sum of the lines' totals, or a `LIMIT` rejection.
        public func total() throws(Rejection) -> Amount { try lines.total() }
    }

    /// A cart, from empty to checked out.
    public enum State: Equatable, Sendable {
        /// Without lines, outlet and customer.
        case empty
        case filled(Contents)
        /// It takes nothing until the outlet's supply has answered.
        indirect case checkingOut(Contents, Checkout)
        case checkedOut(Contents, order: Identifier)

        /// The checkout that has begun, if one has.
        public var checkout: Checkout? { if case .checkingOut(_, let checkout) = self { checkout } else { nil } }

        /// What is in it, or was at checkout; nil where nothing is.
        public var contents: Contents? {
            switch self {
            case .empty: nil
            case .filled(let contents), .checkingOut(let contents, _), .checkedOut(let contents, _): contents
            }
        }

        /// The sum of quantities.
        @inlinable
        public var count: Int {
            switch self {
            case .empty: 0
            case .filled(let contents), .checkingOut(let contents, _), .checkedOut(let contents, _): contents.count
            }
        }

        /// The number of lines.
        @inlinable
        public var lineCount: Int {
            switch self {
            case .empty: 0
            case .filled(let contents), .checkingOut(let contents, _), .checkedOut(let contents, _):
                contents.lines.count
            }
        }

        /// The sum of quantities that are still to be ordered: none once the cart is checked out.
        public var openCount: Int {
            switch self {
            case .empty, .checkedOut: 0
            case .filled(let contents), .checkingOut(let contents, _): contents.count
            }
        }
    }

    /// Nothing is in it.
    public static let initial = State.empty

    // MARK: Decide

    public static func decide(_ command: Command, in state: State) throws(Rejection) -> [Event] {
        switch state {
        case .empty: return try decideOnNothing(command)
        case .filled(let contents): return try decide(command, on: contents)
        case .checkingOut(_, let checkout):
            guard case .conclude(let order, let answer, _) = command else {
                throw Rejection(
                    .state, "the cart is being checked out as order '\(checkout.order)'",
                    allowed: [.showCart, .countCart])
            }
            // If it is another order's, somebody was faster.
            guard order == checkout.order else { return [] }
            switch answer {
            case .held: return [checkout.end]
            case .refused(let refusal): return [.checkoutRefused(order: order, refusal)]
            }
        case .checkedOut(_, let order):
            if case .conclude = command { return [] }
            throw Rejection(
                .state, "the cart is checked out as order '\(order)'", allowed: [.showCart, .countCart])
        }
    }

    private static func decideOnNothing(_ command: Command) throws(Rejection) -> [Event] {
        switch command {
        case .add(let addition): return try add(addition, to: nil)
        case .set, .remove, .edit: throw noSuchLine
        case .clear, .conclude: return []
        case .tip, .chooseService, .addCode, .removeCode, .checkOut:
            throw Rejection(.state, "the cart is empty", allowed: [.addToCart])
        }
    }

    private static func decide(_ command: Command, on contents: Contents) throws(Rejection) -> [Event] {
        switch command {
        case .add(let addition):
            guard contents.outlet == addition.outlet || addition.offer == .noOutlet else {
                throw Rejection(
                    .wrongOutlet, "the cart belongs to outlet '\(contents.outlet)'; clear it to order elsewhere")
            }
            return try add(addition, to: contents)
        case .set(let line, let quantity, let maximum):
            return try set(line, to: quantity, atMost: maximum, contents)
        case .remove(let line):
            guard let old = contents.lines.first(where: { $0.id == line }) else { throw noSuchLine }
            return [.lineRemoved(line: line, quantity: old.quantity)]
        case .clear: return [.cleared(count: contents.count)]
        case .edit(let edit): return try self.edit(edit, contents)
        case .tip(let amount):
            try amount.check(.amount)
            return amount == contents.tip ? [] : [.tipSet(amount)]
        case .chooseService(let choice): return try choose(choice, at: contents.outlet, contents)
        case .addCode(let said, let isKnown): return try addCode(Promotion.code(said), isKnown: isKnown, contents)
        case .removeCode(let said):
            let code = Promotion.code(said)
            return contents.codes.contains(code) ? [.codeRemoved(code)] : []
        case .checkOut(let checkOut): return [try place(checkOut, contents)]
        // Somebody was faster.
        case .conclude: return []
        }
    }

    private static func add(_ addition: Addition, to contents: Contents?) throws(Rejection) -> [Event] {
        guard (1...MenuItem.quantityLimit).contains(addition.quantity) else {
            throw quantityOutOfRange(addition.quantity)
        }
        if case .plain(let note) = addition.note { try TextRules.check(note, .note, TextRules.note) }
        let customer = try customer(addition.customer, of: contents)
        try check(addition.note, .note, of: customer)
        let item = try addition.offer.item(addition.item, of: addition.outlet)
        if let contents { try checkCurrency(of: item, in: contents) }
        let lines = contents?.lines ?? []
        var line = CartLine(
            id: "", item: addition.item, name: item.name, quantity: addition.quantity, unitPrice: item.unitPrice,
            options: item.options, note: addition.note)
        // Its index: a copy of a line has eight references to count.
        let existing = lines.firstIndex { $0.isSame(as: line) }
        let quantity = (existing.map { lines[$0].quantity } ?? 0) + addition.quantity
        guard quantity <= item.maxQuantity, CartLine.recordableQuantities.contains(quantity) else {
            throw tooMany(addition.item, item)
        }
        guard existing != nil || lines.count < maximumLines else {
            throw Rejection(.limit, "a cart takes at most \(maximumLines) lines")
        }
        line.id =
            existing.map { lines[$0].id }
            ?? CartLine.identifier(item: addition.item, options: item.options) { id in
                lines.contains { $0.id == id }
            }
        try checkTotal(of: lines, with: quantity, of: line.id, at: item.unitPrice)
        var events: [Event] = [
            .itemAdded(line, outlet: addition.outlet, currency: item.currency, customer: customer)
        ]
        if let choice = addition.choice { events += try choose(choice, at: addition.outlet, contents) }
        return events
    }

    private static func set(
        _ line: Text, to quantity: Int, atMost maximum: Int, _ contents: Contents
    ) throws(Rejection) -> [Event] {
        guard let old = contents.lines.first(where: { $0.id == line }) else { throw noSuchLine }
        guard (0...MenuItem.quantityLimit).contains(quantity) else {
            throw Rejection(
                .limit, "a quantity is from 1 to \(MenuItem.quantityLimit), or 0 to remove the line, not \(quantity)")
        }
        if quantity == old.quantity { return [] }
        if quantity == 0 { return [.lineRemoved(line: line, quantity: old.quantity)] }
        guard quantity <= max(maximum, old.quantity) else {
            throw Rejection(.limit, "a line takes at most \(maximum) of item '\(old.item)'")
        }
        try checkTotal(of: contents.lines, with: quantity, of: line, at: old.unitPrice)
        return [.quantityChanged(line: line, from: old.quantity, to: quantity)]
    }

    private static func edit(_ edit: Edit, _ contents: Contents) throws(Rejection) -> [Event] {
        guard let old = contents.lines.first(where: { $0.id == edit.line }) else { throw noSuchLine }
        let note = edit.note ?? old.note
        if case .plain(let note) = note { try TextRules.check(note, .note, TextRules.note) }
        let customer = try customer(edit.customer, of: contents)
        try check(note, .note, of: customer)
        let item = try edit.offer.item(old.item, of: contents.outlet)
        try checkCurrency(of: item, in: contents)
        var line = CartLine(
            id: "", item: old.item, name: item.name, quantity: old.quantity, unitPrice: item.unitPrice,
            options: item.options, note: note)
        if line.isSame(as: old) { return [] }
        let others = contents.lines.filter { $0.id != old.id }
        if let existing = others.first(where: { $0.isSame(as: line) }) {
            line.id = existing.id
            line.quantity += existing.quantity
        } else {
            line.id = CartLine.identifier(item: old.item, options: item.options) { id in
                others.contains { $0.id == id }
            }
        }
        guard line.quantity <= max(item.maxQuantity, old.quantity),
            CartLine.recordableQuantities.contains(line.quantity)
        else { throw tooMany(old.item, item) }
        try checkTotal(of: others, with: line.quantity, of: line.id, at: line.unitPrice)
        return [.lineEdited(line: old.id, to: line, customer: customer)]
    }

    private static func choose(
        _ choice: ServiceChoice, at outlet: Identifier, _ contents: Contents?
    ) throws(Rejection) -> [Event] {
        guard choice.offered.contains(choice.service) else {
            let offered = choice.offered.map(\.rawValue).joined(separator: ", ")
            throw .invalid(
                .service,
                "outlet '\(outlet)' offers "
                    + (offered.isEmpty ? "nothing to choose from" : "\(offered), and not '\(choice.service.rawValue)'"))
        }
        if let table = choice.table {
            guard choice.service == .table else { throw .invalid(.table, "is only known of orders at a table") }
            try TextRules.check(table, .table, TextRules.table)
        }
        if let refusal = choice.refusal { throw refusal }
        if choice.service == contents?.service, choice.table == contents?.table, choice.wanted == contents?.wanted {
            return []
        }
        return [.serviceChosen(choice.service, table: choice.table, wanted: choice.wanted)]
    }

    private static func addCode(
        _ code: Text, isKnown: Bool, _ contents: Contents
    ) throws(Rejection) -> [Event] {
        if contents.codes.contains(code) { return [] }
        guard isKnown else {
            throw Rejection(.promo, "outlet '\(contents.outlet)' has no promotion with that code")
        }
        guard contents.codes.count < maximumCodes else {
            throw Rejection(.limit, "a cart takes at most \(maximumCodes) codes")
        }
        return [.codeAdded(code)]
    }

    private static func place(_ checkOut: CheckOut, _ contents: Contents) throws(Rejection) -> Event {
        let customer = try customer(checkOut.customer, of: contents)
        try check(checkOut.name.map(PersonalText.sealed), .name, of: customer)
        try check(checkOut.handover.phone.map(PersonalText.sealed), .phone, of: customer)
        try check(checkOut.handover.address.map(PersonalText.sealed), .address, of: customer)
        let offers = contents.lines.map { checkOut.offers[$0.id] ?? .noItem }
        for (line, offer) in zip(contents.lines, offers) {
            let item = try offer.item(line.item, of: contents.outlet)
            try checkCurrency(of: item, in: contents)
            guard line.quantity <= item.maxQuantity else { throw tooMany(line.item, item) }
        }
        if let refusal = checkOut.refusal { throw refusal }
        guard contents.service == nil || contents.service == checkOut.handover.service,
            contents.table == checkOut.handover.table
        else { throw Rejection(.state, "the cart is had otherwise than its order would be") }
        let quote = try Quote(
            of: contents, offers: offers, terms: checkOut.pricing, for: checkOut.handover.service,
            prepMinutes: checkOut.prepMinutes, promotions: checkOut.promotions, at: checkOut.time)
        let total = quote.bill.total
        switch checkOut.agreement {
        case .total(total), .quote(quote.digest): break
        case .total(let agreed):
            throw Rejection(
                .totalChanged,
                "the total is \(total.words(in: contents.currency)), not \(agreed.words(in: contents.currency))")
        case .quote:
            throw Rejection(
                .totalChanged,
                "what is priced has changed since that quote; the total is \(total.words(in: contents.currency))")
        }
        if let minimum = checkOut.minimumOrder, quote.bill.subtotal < minimum {
            throw Rejection(.limit, "the outlet's minimum order is \(minimum.words(in: contents.currency))")
        }
        for requirement in checkOut.requirements {
            let (isThere, subject): (Bool, Rejection.Subject) =
                switch requirement {
                case .name: (checkOut.name != nil, .name)
                case .phone: (checkOut.handover.phone != nil, .phone)
                case .address: (checkOut.handover.address != nil, .address)
                case .table: (checkOut.handover.table != nil, .table)
                }
            guard isThere else {
                throw Rejection(
                    .required, "the outlet needs the \(requirement.rawValue) for this order", about: subject,
                    allowed: requirement == .table ? [.chooseService] : [])
            }
        }
        let used = quote.bill.charges.compactMap(\.discount?.promotion)
        var claims = checkOut.claims
        for candidate in checkOut.promotions where used.contains(candidate.promotion.id) {
            claims += candidate.promotion.claims(by: contents.customer)
        }
        claims.sort { $0.key < $1.key }
        let checkout = Checkout(
            order: checkOut.order, outlet: contents.outlet, claims: claims, at: checkOut.time,
            lines: quote.lines, charges: quote.bill.charges, total: total, customer: customer, name: checkOut.name,
            handover: checkOut.handover, terms: checkOut.terms, missing: checkOut.missing,
            pricing: checkOut.recordedPricing)
        return claims.isEmpty ? checkout.end : .checkoutBegun(checkout)
    }

    /// The owner of the cart after a command that names a customer, or none.
    private static func customer(
        _ named: Identifier?, of contents: Contents?
    ) throws(Rejection) -> Identifier? {
        guard let contents, let named else { return named ?? contents?.customer }
        guard contents.customer ?? named == named else {
            throw Rejection(.state, "the cart belongs to another customer; clear it to let it belong to this one")
        }
        guard contents.lines.mayBelong(to: named) else {
            throw Rejection(
                .state,
                "the cart has a note of no customer, which could never be forgotten; remove its line before the cart gets "
                    + "a customer")
        }
        return named
    }

    private static func check(
        _ text: PersonalText?, _ subject: Rejection.Subject, of customer: Identifier?
    ) throws(Rejection) {
        guard PersonalText.isAllowed(text, of: customer) else {
            throw .invalid(
                subject, "the cart belongs to a customer, who has to be named so that the text can be forgotten")
        }
    }

    /// Rejects what would make a total that can be neither shown nor agreed to.
    private static func checkTotal(
        of lines: [CartLine], with quantity: Int, of line: Text, at unitPrice: Amount
    ) throws(Rejection) {
        var total = try unitPrice.multiplied(by: quantity)
        for index in lines.indices where lines[index].id != line { total = try total.adding(lines[index].total()) }
    }

    private static func checkCurrency(of item: Offer.Item, in contents: Contents) throws(Rejection) {
        guard item.currency == contents.currency else {
            throw Rejection(.state, "the cart is in \(contents.currency), and the price in \(item.currency)")
        }
    }

    private static func tooMany(_ id: Identifier, _ item: Offer.Item) -> Rejection {
        Rejection(.limit, "a line takes at most \(item.maxQuantity) of item '\(id)'")
    }

    /// Does not repeat what was asked for: that may be any text, of any length.
    private static let noSuchLine = Rejection(.notFound, "the cart has no such line", allowed: [.showCart])

    private static func quantityOutOfRange(_ quantity: Int) -> Rejection {
        Rejection(.limit, "a quantity is from 1 to \(MenuItem.quantityLimit), not \(quantity)")
    }

    // MARK: Evolve

    public static func evolve(_ state: inout State, _ event: Event) throws(ImpossibleEvent) {
        switch state {
        case .checkedOut: throw ImpossibleEvent("an event after checkout")
        case .checkingOut(let contents, let checkout): return try end(checkout, of: contents, by: event, &state)
        case .empty, .filled: break
        }
        // Taken out of the state and put back, so that changing the lines copies none of them: carts are folded by the
        // million.
        guard var contents = state.takeContents() ?? Contents(begunBy: event) else {
            throw ImpossibleEvent("a change of an empty cart")
        }
        do throws(ImpossibleEvent) {
            if case .checkoutBegun(let checkout) = event {
                try contents.begin(checkout)
                state = .checkingOut(consume contents, checkout)
            } else {
                let order = try contents.take(event)
                state = State(consume contents, order)
            }
        } catch {
            state = State(consume contents, nil)
            throw error
        }
    }

    /// Takes in what ends a checkout.
    private static func end(
        _ checkout: Checkout, of contents: Contents, by event: Event, _ state: inout State
    ) throws(ImpossibleEvent) {
        switch event {
        case checkout.end:
            var contents = contents
            _ = try contents.take(event)
            state = .checkedOut(contents, order: checkout.order)
        case .checkoutRefused(checkout.order, _): state = .filled(contents)
        default: throw ImpossibleEvent("an event that does not end the checkout")
        }
    }
}

extension Cart.State {
    /// What these contents are: nothing without lines, and after checkout with the order that was placed.
    fileprivate init(_ contents: consuming Cart.Contents, _ order: Identifier?) {
        if let order {
            self = .checkedOut(contents, order: order)
        } else {
            self = contents.lines.isEmpty ? .empty : .filled(contents)
        }
    }

    /// What is in an open cart, which is empty then.
    fileprivate mutating func takeContents() -> Cart.Contents? {
        var taken = Cart.State.empty
        swap(&taken, &self)
        guard case .filled(let contents) = consume taken else { return nil }
        return contents
    }
}

extension [CartLine] {
    /// What they cost together, or a `LIMIT` rejection.
    public func total() throws(Rejection) -> Amount {
        var sum = Amount.zero
        for line in self { sum = try sum.adding(line.total()) }
        return sum
    }

    /// Whether every note on them may belong to that customer, or to no customer.
    fileprivate func mayBelong(to customer: Identifier?) -> Bool {
        allSatisfy { PersonalText.isAllowed($0.note, of: customer) }
    }
}

extension Cart.Contents {
    /// What the first event of an empty cart puts its lines into; nil where it cannot be the first.
    fileprivate init?(begunBy event: Cart.Event) {
        guard case .itemAdded(_, let outlet, let currency, _) = event else { return nil }
        self.init(outlet: outlet, currency: currency, lines: [])
    }

    /// Takes in the next event; changes nothing where that is impossible. Returns the order that was placed.
    fileprivate mutating func take(_ event: Cart.Event) throws(ImpossibleEvent) -> Identifier? {
        switch event {
        case .itemAdded(let line, let outlet, let currency, let customer):
            guard outlet == self.outlet, currency == self.currency else {
                throw ImpossibleEvent("items of two outlets, or currencies, in one cart")
            }
            try add(line, of: customer)
        case .quantityChanged(let id, let from, let to):
            let index = try index(of: id, holding: from)
            try CartLine.checkRecordable(to, id)
            lines[index].quantity = to
        case .lineRemoved(let id, let quantity):
            lines.remove(at: try index(of: id, holding: quantity))
        case .cleared(let count):
            guard self.count == count else { throw ImpossibleEvent("\(count) cleared of \(self.count)") }
            lines = []
        case .lineEdited(let id, let line, let customer):
            try edit(id, to: line, of: customer)
        case .tipSet(let amount):
            tip = amount
        case .serviceChosen(let service, let table, let wanted):
            guard table == nil || service == .table else {
                throw ImpossibleEvent("a table for an order that is had otherwise")
            }
            (terms.service, terms.table, terms.wanted) = (service, table, wanted)
        case .codeAdded(let code):
            guard !codes.contains(code) else { throw ImpossibleEvent("a code said twice: '\(code)'") }
            terms.codes.append(code)
        case .codeRemoved(let code):
            guard codes.contains(code) else { throw ImpossibleEvent("a code that was not said: '\(code)'") }
            terms.codes.removeAll { $0 == code }
        case .checkedOut(let order, let lines, let charges, _, let customer, let name, let handover):
            let agree = lines.elementsEqual(self.lines) { $0.id == $1.id && $0.quantity == $1.quantity }
            guard agree else { throw ImpossibleEvent("an order of other lines than its cart") }
            try charges.checkDiscounts(on: lines)
            try checkOwner(customer)
            guard service == nil || service == handover.service, table == handover.table else {
                throw ImpossibleEvent("an order that is had otherwise than its cart says")
            }
            let isPersonal = name != nil || handover.isPersonal
            guard lines.mayBelong(to: customer), !isPersonal || customer != nil else {
                throw ImpossibleEvent("an order with a text that is not its customer's")
            }
            self.customer = customer
            self.lines = lines
            terms.charges = charges
            if let service = handover.service { (terms.service, terms.table) = (service, handover.table) }
            return order
        case .checkoutBegun, .checkoutRefused: throw ImpossibleEvent("the end of a checkout that has not begun")
        }
        return nil
    }

    /// Checks that a checkout of the cart can begin like this: so that it can end.
    fileprivate func begin(_ checkout: Cart.Checkout) throws(ImpossibleEvent) {
        guard checkout.outlet == outlet, !checkout.claims.isEmpty, checkout.claims.isRecordable else {
            throw ImpossibleEvent("a checkout with claims that cannot be")
        }
        try checkout.claims.checkPromotions(in: checkout.charges, of: checkout.customer)
        var after = self
        _ = try after.take(checkout.end)
    }

    /// Throws if the cart cannot have passed to that customer, or to none.
    fileprivate func checkOwner(_ customer: Identifier?) throws(ImpossibleEvent) {
        guard customer == self.customer || self.customer == nil && lines.mayBelong(to: customer) else {
            throw ImpossibleEvent("a cart that went from one customer to another")
        }
    }

    /// Adds to the line of that id, or a new one; changes nothing where that is impossible.
    fileprivate mutating func add(_ line: CartLine, of customer: Identifier?) throws(ImpossibleEvent) {
        try CartLine.checkRecordable(line.quantity, line.id)
        guard PersonalText.isAllowed(line.note, of: customer) else {
            throw ImpossibleEvent("a note that is not its customer's: '\(line.id)'")
        }
        try checkOwner(customer)
        guard let index = lines.firstIndex(where: { $0.id == line.id }) else {
            self.customer = customer
            return lines.append(line)
        }
        try lines[index].add(line)
        self.customer = customer
    }

    /// Puts a line in the place of another, or into one that is there; changes nothing where that is impossible.
    fileprivate mutating func edit(
        _ id: Text, to line: CartLine, of customer: Identifier?
    ) throws(ImpossibleEvent) {
        try CartLine.checkRecordable(line.quantity, line.id)
        guard PersonalText.isAllowed(line.note, of: customer) else {
            throw ImpossibleEvent("a note that is not its customer's: '\(line.id)'")
        }
        guard let index = lines.firstIndex(where: { $0.id == id }), lines[index].item == line.item else {
            throw ImpossibleEvent("a change of an unknown line: '\(id)'")
        }
        try checkOwner(customer)
        let target = lines.firstIndex { $0.id == line.id && $0.id != id }
        let quantity = lines[index].quantity + (target.map { lines[$0].quantity } ?? 0)
        guard line.quantity == quantity, target.map({ lines[$0].isSame(as: line) }) ?? true else {
            throw ImpossibleEvent("a line that became something else: '\(id)'")
        }
        self.customer = customer
        lines[target ?? index] = line
        if target != nil { lines.remove(at: index) }
    }

    fileprivate func index(of id: Text, holding quantity: Int) throws(ImpossibleEvent) -> Int {
        guard let index = lines.firstIndex(where: { $0.id == id }) else {
            throw ImpossibleEvent("a change of an unknown line: '\(id)'")
        }
        guard lines[index].quantity == quantity else {
            throw ImpossibleEvent("a change of \(quantity) where there are \(lines[index].quantity): '\(id)'")
        }
        return index
    }
}
