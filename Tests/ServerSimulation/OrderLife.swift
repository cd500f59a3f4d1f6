import Domain
import LoadOracle

/// An order with what the load generator's model knows nothing of: what it took of what its outlet has counted.
struct OrderLife {
    private(set) var order: OrderFacts
    private(set) var state: OrderState
    /// What it took.
    let claims: Claims
    /// What it gave back when it ended.
    private(set) var givenBack: Claims = [:]
    /// Whether the outlet's supply has that.
    private(set) var hasReturned = false

    init(_ order: OrderFacts, claims: Claims, due: Int64?) {
        (self.order, self.claims) = (order, claims)
        state = OrderState(placed: order, due: due)
    }

    /// What it gives back if it ends now.
    var returnable: Claims {
        switch state.status {
        case .awaitingPayment, .placed, .accepted: claims
        case .preparing, .ready: claims.ofPromotions
        case .completed, .rejected, .cancelled: [:]
        }
    }

    mutating func take(_ event: Order.Event) {
        if let change = OrderChange(event) { return state.take(change, due: event.due) }
        if case .claimsReturned = event { hasReturned = true }
        state.take(.nothing)
    }

    /// Takes in how it ends, with what it says it gives back. Returns whether it has to give back just that.
    mutating func end(giving claims: Claims) -> Bool {
        givenBack = claims
        return claims == returnable
    }
}

extension OrderChange {
    /// A version more, and nothing else.
    fileprivate static let nothing = OrderChange.refunded([:], code: "", line: nil, units: 0)
}

extension Order.Event {
    /// What it gives back, if the order ends by it before it is handed over.
    var givenBack: Claims? {
        switch self {
        case .rejected(let ending), .cancelled(let ending): Claims(ending.claims)
        default: nil
        }
    }

    /// Whether the servers say it by themselves, when what they asked for was done.
    var isEndOfReturn: Bool { if case .claimsReturned = self { true } else { false } }
}
