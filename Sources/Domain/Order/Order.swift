/// An order, placed from a cart at checkout.
public enum Order: Decider {
    // MARK: Commands

    /// What is asked of an order.
    public enum Command: Equatable, Sendable {
        case place(Placement)
    }

    // MARK: Events

    /// What happened to an order.
    public enum Event: Equatable, Sendable {
        case placed(Placement)
    }

    // MARK: State

    /// What was ordered, where, and from which cart.
    public struct Placement: Equatable, Sendable {
        /// The cart it was placed from.
        public var cart: Identifier
        /// The outlet that cooks it.
        public var outlet: Identifier
        /// The currency of every price.
        public var currency: Currency
        /// What was ordered, at the prices agreed.
        public var lines: [CartLine]
        /// What it costs.
        public var total: Amount
        /// Who ordered, where that was said.
        public var customer: Identifier?
        /// The name on it.
        public var name: SealedText?

        /// A placement.
        public init(
            cart: Identifier, outlet: Identifier, currency: Currency, lines: [CartLine], total: Amount,
            customer: Identifier? = nil, name: SealedText? = nil
        ) {
            self.cart = cart
            self.outlet = outlet
            self.currency = currency
            self.lines = lines
            self.total = total
            self.customer = customer
            self.name = name
        }

        /// The sum of quantities.
        public var count: Int { lines.reduce(0) { $0 + $1.quantity } }
    }

    /// An order, before and after it is placed.
    public enum State: Equatable, Sendable {
        case unplaced
        indirect case placed(Placement)
    }

    /// Nobody has placed it.
    public static let initial = State.unplaced

    // MARK: Decide

    /// See ``Decider``.
    public static func decide(_ command: Command, in state: State) throws(Rejection) -> [Event] {
        switch (state, command) {
        case (.unplaced, .place(let placement)): return [.placed(placement)]
        case (.placed, .place): throw Rejection(.state, "the order is placed already")
        }
    }

    // MARK: Evolve

    /// See ``Decider``.
    public static func evolve(_ state: inout State, _ event: Event) throws(ImpossibleEvent) {
        switch (state, event) {
        case (.unplaced, .placed(let placement)):
            for line in placement.lines { try CartLine.checkRecordable(line.quantity, line.id) }
            guard placement.lines.allSatisfy({ PersonalText.isAllowed($0.note, of: placement.customer) }),
                placement.name == nil || placement.customer != nil
            else {
                throw ImpossibleEvent("an order with a text that is not its customer's")
            }
            state = .placed(placement)
        case (.placed, .placed): throw ImpossibleEvent("an order placed twice")
        }
    }
}
