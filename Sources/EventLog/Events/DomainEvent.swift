public import Domain

/// An event of any aggregate. Indirect, so that passing one on costs one reference count, not one for each of its
/// texts.
public indirect enum DomainEvent: Equatable, Sendable {
    case outlet(Outlet.Event)
    case menu(Menu.Event)
    case cart(Cart.Event)
    case order(Order.Event)

    /// The kind of stream that it belongs to.
    public var category: StreamName.Category {
        switch self {
        case .outlet: .outlet
        case .menu: .menu
        case .cart: .cart
        case .order: .order
        }
    }
}

/// The state of any aggregate.
public enum AggregateState: Equatable, Sendable {
    case outlet(Outlet.State)
    case menu(Menu.State)
    case cart(Cart.State)
    case order(Order.State)

    /// The state of an aggregate of that kind before its first event.
    public init(initial category: StreamName.Category) {
        switch category {
        case .outlet: self = .outlet(Outlet.initial)
        case .menu: self = .menu(Menu.initial)
        case .cart: self = .cart(Cart.initial)
        case .order: self = .order(Order.initial)
        }
    }

    /// Takes one event into the state; also throws if it belongs to another kind of aggregate.
    public mutating func evolve(_ event: DomainEvent) throws(ImpossibleEvent) {
        switch (self, event) {
        case (.outlet(var state), .outlet(let event)):
            try Outlet.evolve(&state, event)
            self = .outlet(state)
        case (.menu(var state), .menu(let event)):
            self = .menu(Menu.initial)  // Lets go of the menu, so that changing it does not copy it.
            try Menu.evolve(&state, event)
            self = .menu(state)
        case (.cart(var state), .cart(let event)):
            self = .cart(Cart.initial)  // Likewise.
            try Cart.evolve(&state, event)
            self = .cart(state)
        case (.order(var state), .order(let event)):
            try Order.evolve(&state, event)
            self = .order(state)
        case (.outlet, _), (.menu, _), (.cart, _), (.order, _):
            throw ImpossibleEvent("an event of another kind of stream")
        }
    }
}
