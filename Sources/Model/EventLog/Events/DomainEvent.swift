public import Domain

/// An event of any aggregate. What it holds is indirect, so that passing one on costs one reference count, not one for
/// each of its texts.
public enum DomainEvent: Equatable, Sendable {
    indirect case outlet(Outlet.Event)
    indirect case menu(Menu.Event)
    /// A cart's event is indirect itself.
    case cart(Cart.Event)
    indirect case order(Order.Event)
    indirect case supply(Supply.Event)
    indirect case promotions(Promotions.Event)
    indirect case deed(Deed.Event)

    /// The kind of stream that it belongs to.
    public var category: StreamName.Category {
        switch self {
        case .outlet: .outlet
        case .menu: .menu
        case .cart: .cart
        case .order: .order
        case .supply: .supply
        case .promotions: .promotions
        case .deed(let event): DeedCodec.category(of: event)
        }
    }
}

/// The state of any aggregate. It is one reference: each command that is decided has it passed on a few times.
public enum AggregateState: Equatable, Sendable {
    case outlet(Outlet.State)
    indirect case menu(Menu.State)
    indirect case cart(Cart.State)
    case order(Order.State)
    indirect case supply(Supply.State)
    indirect case promotions(Promotions.State)
    /// Nothing is decided of it, so nothing is kept.
    case deed(StreamName.Category)

    /// The state of an aggregate of that kind before its first event.
    public init(initial category: StreamName.Category) {
        switch category {
        case .outlet: self = .outlet(Outlet.initial)
        case .menu: self = .menu(Menu.initial)
        case .cart: self = .cart(Cart.initial)
        case .order: self = .order(Order.initial)
        case .supply: self = .supply(Supply.initial)
        case .promotions: self = .promotions(Promotions.initial)
        case .customer, .user, .relay: self = .deed(category)
        }
    }

    /// Takes one event into the state; also throws if it belongs to another kind of aggregate.
    public mutating func evolve(_ event: DomainEvent) throws(ImpossibleEvent) {
        // Taken out and put back, so that its content is changed in place.
        var taken = AggregateState.deed(.cart)
        swap(&taken, &self)
        switch consume taken {
        case .cart(var state):
            defer { self = .cart(state) }
            guard case .cart(let event) = event else { break }
            return try Cart.evolve(&state, event)
        case .menu(var state):
            defer { self = .menu(state) }
            guard case .menu(let event) = event else { break }
            return try Menu.evolve(&state, event)
        case .outlet(var state):
            defer { self = .outlet(state) }
            guard case .outlet(let event) = event else { break }
            return try Outlet.evolve(&state, event)
        case .order(var state):
            defer { self = .order(state) }
            guard case .order(let event) = event else { break }
            return try Order.evolve(&state, event)
        case .promotions(var state):
            defer { self = .promotions(state) }
            guard case .promotions(let event) = event else { break }
            return try Promotions.evolve(&state, event)
        case .supply(var state):
            defer { self = .supply(state) }
            guard case .supply(let event) = event else { break }
            return try Supply.evolve(&state, event)
        case .deed(let category):
            defer { self = .deed(category) }
            if case .deed = event, event.category == category { return }
        }
        throw ImpossibleEvent("an event of another kind of stream")
    }
}
