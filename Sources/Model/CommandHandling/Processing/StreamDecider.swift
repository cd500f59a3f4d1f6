internal import Domain
internal import EventLog

/// An aggregate whose events the log keeps: what ``CommandProcessor`` needs to know of it.
protocol StreamDecider: Decider {
    /// The aggregate's state, out of that of its stream.
    static func state(in stream: AggregateState) -> State?

    /// An event as its stream records it.
    static func recorded(_ event: Event) -> DomainEvent

    /// The outlet on whose status, details or menu the command is decided, beside its own stream; nil if it needs none.
    static func outlet(beside command: Command, in state: State, of id: Identifier) -> Identifier?

    /// What other streams have to do for these events of the command to happen. All of it is recorded together, that
    /// of the other streams first, or nothing is. The other streams rest on no outlet but the command's.
    static func consequences(
        of events: [Event], _ command: Command, in state: State, of id: Identifier
    ) -> [Consequence]
}

/// What a command makes another stream do.
struct Consequence {
    var stream: StreamName
    /// Whether the stream begins with it, so that nothing has to be loaded. The append checks that.
    var isStreamNew = false
    var command: DomainCommand
}

/// What a command comes to in the state of its stream.
struct Decision {
    /// The events of its own stream.
    var events: [DomainEvent]
    var consequences: [Consequence] = []
}

extension StreamDecider {
    static func consequences(of _: [Event], _: Command, in _: State, of _: Identifier) -> [Consequence] { [] }

    fileprivate static func decision(
        _ command: Command, in stream: AggregateState, of id: Identifier
    ) throws(Rejection) -> Decision {
        let state = stateOfOwnKind(in: stream)
        let events = try decide(command, in: state)
        return Decision(
            events: events.map(recorded), consequences: consequences(of: events, command, in: state, of: id))
    }

    fileprivate static func outlet(
        beside command: Command, in stream: AggregateState, of id: Identifier
    ) -> Identifier? {
        outlet(beside: command, in: stateOfOwnKind(in: stream), of: id)
    }

    private static func stateOfOwnKind(in stream: AggregateState) -> State {
        guard let state = state(in: stream) else { preconditionFailure("a command for another kind of stream") }
        return state
    }
}

extension DomainCommand {
    /// The outlet whose changes have to be durable before the command is decided; nil if there is none.
    func outlet(in stream: AggregateState, of id: Identifier) -> Identifier? {
        switch self {
        case .outlet(let command): Outlet.outlet(beside: command, in: stream, of: id)
        case .menu(let command): Menu.outlet(beside: command, in: stream, of: id)
        case .cart(let command): Cart.outlet(beside: command, in: stream, of: id)
        case .order(let command): Order.outlet(beside: command, in: stream, of: id)
        case .promotions(let command): Promotions.outlet(beside: command, in: stream, of: id)
        case .supply(let command): Supply.outlet(beside: command, in: stream, of: id)
        }
    }

    /// Whether it rests on the promotions of the outlet, too.
    var restsOnPromotions: Bool {
        switch self {
        case .cart(.checkOut), .cart(.addCode): true
        case .outlet, .menu, .cart, .order, .supply, .promotions: false
        }
    }

    /// Decides the command in the state of its stream.
    func decide(in stream: AggregateState, of id: Identifier) throws(Rejection) -> Decision {
        switch self {
        case .outlet(let command): try Outlet.decision(command, in: stream, of: id)
        case .menu(let command): try Menu.decision(command, in: stream, of: id)
        case .cart(let command): try Cart.decision(command, in: stream, of: id)
        case .order(let command): try Order.decision(command, in: stream, of: id)
        case .promotions(let command): try Promotions.decision(command, in: stream, of: id)
        case .supply(let command): try Supply.decision(command, in: stream, of: id)
        }
    }
}

extension Outlet: StreamDecider {
    static func state(in stream: AggregateState) -> State? {
        if case .outlet(let state) = stream { state } else { nil }
    }
    static func recorded(_ event: Event) -> DomainEvent { .outlet(event) }
    static func outlet(beside command: Command, in state: State, of id: Identifier) -> Identifier? {
        command.restsOnMenu(in: state) ? id : nil
    }
}

extension Menu: StreamDecider {
    static func state(in stream: AggregateState) -> State? { if case .menu(let state) = stream { state } else { nil } }
    static func recorded(_ event: Event) -> DomainEvent { .menu(event) }
    static func outlet(beside command: Command, in _: State, of id: Identifier) -> Identifier? {
        command.restsOnOutlet ? id : nil
    }
}

extension Cart: StreamDecider {
    static func state(in stream: AggregateState) -> State? { if case .cart(let state) = stream { state } else { nil } }
    static func recorded(_ event: Event) -> DomainEvent { .cart(event) }
    static func outlet(beside command: Command, in state: State, of _: Identifier) -> Identifier? {
        command.outlet(for: state)
    }

    /// A checkout places an order. Its id comes from this cart and version, so its stream is new.
    static func consequences(
        of events: [Event], _ command: Command, in state: State, of id: Identifier
    ) -> [Consequence] {
        guard
            case .checkedOut(let order, let lines, let charges, let total, let customer, let name, let handover) =
                events.last, let contents = state.contents, let terms = terms(of: command, in: state)
        else { return [] }
        let placement = Order.Placement(
            cart: id, outlet: contents.outlet, currency: contents.currency, lines: lines, charges: charges,
            total: total, customer: customer, name: name, terms: terms.terms, handover: handover,
            missing: terms.missing, pricing: terms.pricing, claims: terms.claims)
        return [Consequence(stream: StreamName(.order, order), isStreamNew: true, command: .order(.place(placement)))]
    }

    /// What an order that a command places waits for and claims, and what its changes would follow from.
    private static func terms(
        of command: Command, in state: State
    ) -> (terms: Order.Terms, missing: Order.Missing, pricing: PricingTerms, claims: [Claim])? {
        switch (command, state) {
        case (.checkOut(let checkOut), _): (checkOut.terms, checkOut.missing, checkOut.recordedPricing, [])
        case (.conclude(_, _, let now), .checkingOut(_, let checkout)):
            (checkout.terms(at: now), checkout.missing, checkout.pricing, checkout.claims)
        default: nil
        }
    }
}

extension Promotions: StreamDecider {
    static func state(in stream: AggregateState) -> State? {
        if case .promotions(let state) = stream { state } else { nil }
    }
    static func recorded(_ event: Event) -> DomainEvent { .promotions(event) }
    static func outlet(beside _: Command, in _: State, of _: Identifier) -> Identifier? { nil }
}

extension Supply: StreamDecider {
    static func state(in stream: AggregateState) -> State? {
        if case .supply(let state) = stream { state } else { nil }
    }
    static func recorded(_ event: Event) -> DomainEvent { .supply(event) }
    static func outlet(beside _: Command, in _: State, of _: Identifier) -> Identifier? { nil }

    /// What nothing is left of is sold out in the menu, or spent as a promotion, in the same transaction.
    static func consequences(of events: [Event], _: Command, in state: State, of id: Identifier) -> [Consequence] {
        let changes = changes(by: events, in: state)
        let promotions = changes.filter(\.key.kind.isOfPromotions)
        let items = changes.filter { !$0.key.kind.isOfPromotions }
        var consequences: [Consequence] = []
        if !items.isEmpty {
            consequences.append(Consequence(stream: StreamName(.menu, id), command: .menu(.followStock(items))))
        }
        if !promotions.isEmpty {
            consequences.append(
                Consequence(stream: StreamName(.promotions, id), command: .promotions(.followStock(promotions))))
        }
        return consequences
    }
}

extension Order: StreamDecider {
    static func state(in stream: AggregateState) -> State? { if case .order(let state) = stream { state } else { nil } }
    static func recorded(_ event: Event) -> DomainEvent { .order(event) }
    /// What comes into an order is priced by the menu of today.
    static func outlet(beside command: Command, in state: State, of _: Identifier) -> Identifier? {
        guard case .propose(let edits, _, _, _, _) = command, edits.contains(where: { $0.arrival != nil }) else {
            return nil
        }
        return state.book?.placement.outlet
    }
}
