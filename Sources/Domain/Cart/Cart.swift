/// A customer's cart at one outlet, from the first item to checkout.
public enum Cart: Decider {
    /// The most lines of a cart.
    public static let maximumLines = 100
    /// The most options of a line.
    public static let maximumOptions = 20

    // MARK: Commands

    /// What a customer asks of a cart.
    public enum Command: Equatable, Sendable {
        case add(Addition)
        /// Sets a line's quantity; 0 removes it. More than there was is taken up to what the item's menu allows.
        case set(line: Text, quantity: Int, maximum: Int = MenuItem.quantityLimit)
        case remove(line: Text)
        case clear
        case checkOut(CheckOut)
    }

    /// Some of an item, to be added, with what the catalogue says of it.
    public struct Addition: Equatable, Sendable {
        /// The outlet it is ordered from.
        public var outlet: Identifier
        /// The item.
        public var item: Identifier
        /// How many, 1–99.
        public var quantity: Int
        /// The chosen options, in any order.
        public var options: [Identifier]
        /// What the customer wants the kitchen to know.
        public var note: PersonalText?
        /// The customer the cart will belong to, if given; a customer's note is sealed.
        public var customer: Identifier?
        /// What the catalogue says of the item now.
        public var offer: Offer

        /// Some of an item.
        public init(
            outlet: Identifier, item: Identifier, quantity: Int, options: [Identifier] = [],
            note: PersonalText? = nil, customer: Identifier? = nil, offer: Offer
        ) {
            self.outlet = outlet
            self.item = item
            self.quantity = quantity
            self.options = options
            self.note = note
            self.customer = customer
            self.offer = offer
        }
    }

    /// What a checkout needs to know.
    public struct CheckOut: Equatable, Sendable {
        /// The id of the order to be placed.
        public var order: Identifier
        /// What the customer has been shown and agrees to pay.
        public var agreedTotal: Amount
        /// What the catalogue says now, line by line.
        public var offers: [Text: Offer]
        /// The least the outlet accepts.
        public var minimumOrder: Amount?
        /// The customer the cart will belong to, if given.
        public var customer: Identifier?
        /// The name on the order.
        public var name: SealedText?
        /// What the order will wait for.
        public var terms: Order.Terms

        /// A checkout.
        public init(
            order: Identifier, agreedTotal: Amount, offers: [Text: Offer], minimumOrder: Amount? = nil,
            customer: Identifier? = nil, name: SealedText? = nil, terms: Order.Terms = .none
        ) {
            self.order = order
            self.agreedTotal = agreedTotal
            self.offers = offers
            self.minimumOrder = minimumOrder
            self.customer = customer
            self.name = name
            self.terms = terms
        }
    }

    // MARK: Events

    /// What happened to a cart. Quantities are given as what was and what is, so that counts follow from the
    /// event alone. Where a cart is a customer's, every event that may have texts says so, so that each of them can
    /// be opened without the others.
    ///
    /// Indirect, so that a reference is all that is copied from layer to layer.
    public indirect enum Event: Equatable, Sendable {
        /// So many more of a line, which is new or known.
        case itemAdded(CartLine, outlet: Identifier, currency: Currency, customer: Identifier? = nil)
        case quantityChanged(line: Text, from: Int, to: Int)
        case lineRemoved(line: Text, quantity: Int)
        case cleared(count: Int)
        /// The cart became an order, at these prices.
        case checkedOut(
            order: Identifier, lines: [CartLine], total: Amount, customer: Identifier? = nil,
            name: SealedText? = nil)
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

        /// The sum of quantities.
        public var count: Int { lines.reduce(0) { $0 + $1.quantity } }

        /// The sum of the lines' totals, or a `LIMIT` rejection.
        public func total() throws(Rejection) -> Amount {
            var sum = Amount.zero
            for line in lines { sum = try sum.adding(line.total()) }
            return sum
        }
    }

    /// A cart, from empty to checked out.
    public enum State: Equatable, Sendable {
        /// Without lines, outlet and customer.
        case empty
        case filled(Contents)
        case checkedOut(Contents, order: Identifier)

        /// What is in it, or was at checkout; nil where nothing is.
        public var contents: Contents? {
            switch self {
            case .empty: nil
            case .filled(let contents), .checkedOut(let contents, _): contents
            }
        }

        /// The sum of quantities.
        public var count: Int {
            switch self {
            case .empty: 0
            case .filled(let contents), .checkedOut(let contents, _): contents.count
            }
        }

        /// The sum of quantities that are still to be ordered: none once the cart is checked out.
        public var openCount: Int {
            if case .filled(let contents) = self { contents.count } else { 0 }
        }
    }

    /// Nothing is in it.
    public static let initial = State.empty

    // MARK: Decide

    /// See ``Decider``.
    public static func decide(_ command: Command, in state: State) throws(Rejection) -> [Event] {
        switch (state, command) {
        case (.checkedOut(_, let order), .add), (.checkedOut(_, let order), .set),
            (.checkedOut(_, let order), .remove), (.checkedOut(_, let order), .clear),
            (.checkedOut(_, let order), .checkOut):
            throw Rejection(
                .state, "the cart is checked out as order '\(order)'; allowed are CART.GET and CART.COUNT")

        case (.empty, .add(let addition)):
            return [try add(addition, to: nil)]
        case (.filled(let contents), .add(let addition)):
            guard contents.outlet == addition.outlet || addition.offer == .noOutlet else {
                throw Rejection(
                    .wrongOutlet, "the cart belongs to outlet '\(contents.outlet)'; clear it to order elsewhere")
            }
            return [try add(addition, to: contents)]

        case (.empty, .set), (.empty, .remove):
            throw noSuchLine
        case (.filled(let contents), .set(let line, let quantity, let maximum)):
            guard let old = contents.lines.first(where: { $0.id == line }) else { throw noSuchLine }
            guard (0...MenuItem.quantityLimit).contains(quantity) else { throw quantityOutOfRange(quantity) }
            if quantity == old.quantity { return [] }
            if quantity == 0 { return [.lineRemoved(line: line, quantity: old.quantity)] }
            guard quantity <= max(maximum, old.quantity) else {
                throw Rejection(.limit, "a line takes at most \(maximum) of item '\(old.item)'")
            }
            try checkTotal(of: contents.lines, with: quantity, of: line, at: old.unitPrice)
            return [.quantityChanged(line: line, from: old.quantity, to: quantity)]
        case (.filled(let contents), .remove(let line)):
            guard let old = contents.lines.first(where: { $0.id == line }) else { throw noSuchLine }
            return [.lineRemoved(line: line, quantity: old.quantity)]

        case (.empty, .clear):
            return []
        case (.filled(let contents), .clear):
            return [.cleared(count: contents.count)]

        case (.empty, .checkOut):
            throw Rejection(.state, "the cart is empty; allowed is CART.ADD")
        case (.filled(let contents), .checkOut(let checkOut)):
            return [try place(checkOut, contents)]
        }
    }

    private static func add(_ addition: Addition, to contents: Contents?) throws(Rejection) -> Event {
        guard (1...MenuItem.quantityLimit).contains(addition.quantity) else {
            throw quantityOutOfRange(addition.quantity)
        }
        if case .plain(let note) = addition.note { try TextRules.check(note, "NOTE", TextRules.note) }
        let customer = try customer(addition.customer, of: contents)
        try check(addition.note, "NOTE", of: customer)
        guard addition.options.count <= maximumOptions else {
            throw Rejection(.limit, "a line takes at most \(maximumOptions) options")
        }
        let item = try addition.offer.item(addition.item, of: addition.outlet)
        if let contents { try checkCurrency(of: item, in: contents) }
        let options = addition.options.count > 1 ? addition.options.sorted() : addition.options
        let lines = contents?.lines ?? []
        let existing = lines.first {
            $0.item == addition.item && $0.options == options && $0.note == addition.note
        }
        let quantity = (existing?.quantity ?? 0) + addition.quantity
        guard quantity <= item.maxQuantity else {
            throw tooMany(addition.item, item)
        }
        guard existing != nil || lines.count < maximumLines else {
            throw Rejection(.limit, "a cart takes at most \(maximumLines) lines")
        }
        let id =
            existing?.id
            ?? CartLine.identifier(item: addition.item, options: options) { id in
                lines.contains { $0.id == id }
            }
        try checkTotal(of: lines, with: quantity, of: id, at: item.unitPrice)
        return .itemAdded(
            CartLine(
                id: id, item: addition.item, name: item.name, quantity: addition.quantity, unitPrice: item.unitPrice,
                options: options, note: addition.note),
            outlet: addition.outlet, currency: item.currency, customer: customer)
    }

    private static func place(_ checkOut: CheckOut, _ contents: Contents) throws(Rejection) -> Event {
        let customer = try customer(checkOut.customer, of: contents)
        try check(checkOut.name.map(PersonalText.sealed), "NAME", of: customer)
        var current = contents
        for index in current.lines.indices {
            let line = current.lines[index]
            let offer = checkOut.offers[line.id] ?? .noItem
            let item = try offer.item(line.item, of: contents.outlet)
            try checkCurrency(of: item, in: contents)
            guard line.quantity <= item.maxQuantity else { throw tooMany(line.item, item) }
            current.lines[index].unitPrice = item.unitPrice
        }
        let total = try current.total()
        guard total == checkOut.agreedTotal else {
            throw Rejection(
                .totalChanged,
                "the total is \(total.words(in: contents.currency)), "
                    + "not \(checkOut.agreedTotal.words(in: contents.currency))")
        }
        if let minimum = checkOut.minimumOrder, total < minimum {
            throw Rejection(.limit, "the outlet's minimum order is \(minimum.words(in: contents.currency))")
        }
        return .checkedOut(
            order: checkOut.order, lines: current.lines, total: total, customer: customer, name: checkOut.name)
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
                "the cart has a note that was taken without CUSTOMER and could never be forgotten; remove its line "
                    + "before the cart gets a customer")
        }
        return named
    }

    private static func check(
        _ text: PersonalText?, _ field: String, of customer: Identifier?
    ) throws(Rejection) {
        guard PersonalText.isAllowed(text, of: customer) else {
            throw .invalid(
                field, "the cart belongs to a customer; say CUSTOMER and the id, so that the text can be forgotten")
        }
    }

    /// Rejects what would make a total that can be neither shown nor agreed to.
    private static func checkTotal(
        of lines: [CartLine], with quantity: Int, of line: Text, at unitPrice: Amount
    ) throws(Rejection) {
        var total = try unitPrice.multiplied(by: quantity)
        for other in lines where other.id != line { total = try total.adding(other.total()) }
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
    private static let noSuchLine = Rejection(.notFound, "the cart has no such line")

    private static func quantityOutOfRange(_ quantity: Int) -> Rejection {
        Rejection(.limit, "a quantity is from 1 to \(MenuItem.quantityLimit), not \(quantity)")
    }

    // MARK: Evolve

    /// See ``Decider``.
    public static func evolve(_ state: inout State, _ event: Event) throws(ImpossibleEvent) {
        if case .checkedOut = state { throw ImpossibleEvent("an event after checkout") }
        // Taken out of the state and put back, so that changing the lines copies none of them: carts are folded by the
        // million.
        guard var contents = state.takeContents() ?? Contents(begunBy: event) else {
            throw ImpossibleEvent("a change of an empty cart")
        }
        do throws(ImpossibleEvent) {
            let order = try contents.take(event)
            state = State(consume contents, order)
        } catch {
            state = State(consume contents, nil)
            throw error
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
        case .checkedOut(let order, let lines, _, let customer, let name):
            let agree = lines.elementsEqual(self.lines) { $0.id == $1.id && $0.quantity == $1.quantity }
            guard agree else { throw ImpossibleEvent("an order of other lines than its cart") }
            try checkOwner(customer)
            guard lines.mayBelong(to: customer), name == nil || customer != nil else {
                throw ImpossibleEvent("an order with a text that is not its customer's")
            }
            self.customer = customer
            self.lines = lines
            return order
        }
        return nil
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
        guard lines[index].item == line.item, lines[index].options == line.options, lines[index].note == line.note
        else {
            throw ImpossibleEvent("one line for two things: '\(line.id)'")
        }
        let quantity = lines[index].quantity + line.quantity
        try CartLine.checkRecordable(quantity, line.id)
        self.customer = customer
        lines[index].quantity = quantity
        lines[index].unitPrice = line.unitPrice
        lines[index].name = line.name
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
