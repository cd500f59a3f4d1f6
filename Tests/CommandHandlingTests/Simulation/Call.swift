import CommandHandling
import Domain
import EventLog

/// A command that a client sent, once or several times, and its answers.
final class Call {
    enum Action {
        case add(Identifier, Int)
        case set(Text, Int)
        case remove(Text)
        case clear
        case checkOut(isAgreed: Bool)
        case putOutlet(Text)
        case open
        case close
        case putMenu(Int)
        case reprice(Int64)
    }

    let number: Int
    let stream: StreamName
    let action: Action
    let id: Text?
    let expectedVersion: Int64?
    var outcomes: [CommandOutcome] = []
    /// Answers that are still to come.
    var outstanding = 0

    init(number: Int, stream: StreamName, action: Action, id: Text?, expectedVersion: Int64?) {
        self.number = number
        self.stream = stream
        self.action = action
        self.id = id
        self.expectedVersion = expectedVersion
    }

    var metadata: EventMetadata {
        EventMetadata(commandID: id, fingerprint: id == nil ? nil : "arguments of \(number)")
    }

    /// Whether it may be accepted without an event, because nothing would change.
    var mayChangeNothing: Bool {
        switch action {
        case .add, .remove, .checkOut: false
        case .set, .clear, .putOutlet, .open, .close, .putMenu, .reprice: true
        }
    }

    /// Whether the client must send it again to find out what became of it.
    var isInDoubt: Bool {
        guard id != nil, outstanding == 0, outcomes.contains(where: \.isUnknown), let last = outcomes.last else {
            return false
        }
        switch last {
        case .unknown, .unavailable, .busy: return true
        case .accepted, .recordable, .rejected, .corrupt: return false
        }
    }

    var isAccepted: Bool { outcomes.contains { if case .accepted = $0 { true } else { false } } }

    /// Whether the event, which has no command's id, belongs to this call.
    func isMarked(on event: DecodedEvent) -> Bool {
        guard id == nil, event.metadata.commandID == nil else { return false }
        switch (action, event.event) {
        case (.add(let item, _), .cart(.itemAdded(let line, _, _, _))): return line.item == item
        case (.putOutlet(let name), .outlet(.registered(let details))): return details.name == name
        case (.putOutlet(let name), .outlet(.detailsChanged(let changes))): return changes == [.name(name)]
        default: return false
        }
    }

    /// - Parameter offer: what an outlet sells now, whatever the item.
    func command(
        in state: AggregateState, _ version: Int64, offer: (_ outlet: Identifier) -> Offer
    ) -> DomainCommand {
        switch action {
        case .add(let item, let quantity):
            let outlet = state.cart?.contents?.outlet ?? Simulation.outlet(for: stream.id)
            return .cart(.add(Cart.Addition(outlet: outlet, item: item, quantity: quantity, offer: offer(outlet))))
        case .set(let line, let quantity): return .cart(.set(line: line, quantity: quantity))
        case .remove(let line): return .cart(.remove(line: line))
        case .clear: return .cart(.clear)
        case .checkOut(let isAgreed):
            var checkOut = TestProcess.checkOut(of: stream.id, in: state, version)
            if let contents = state.cart?.contents {
                checkOut.offers = checkOut.offers.mapValues { _ in offer(contents.outlet) }
                // What a client agrees to that has just been shown the price.
                if case .available(let item) = offer(contents.outlet) {
                    checkOut.agreement = .total(
                        Amount(minorUnits: item.unitPrice.minorUnits * Int64(contents.count)))
                }
            }
            if !isAgreed { checkOut.agreement = .total(1) }
            return .cart(.checkOut(checkOut))
        case .putOutlet(let name): return .outlet(.put(.named(name)))
        case .open: return .outlet(.open)
        case .close: return .outlet(.close)
        case .putMenu(let items): return .menu(.put(.items(items)))
        case .reprice(let price): return .menu(.reprice("item-0", Amount(minorUnits: price)))
        }
    }
}

extension AggregateState {
    fileprivate var cart: Cart.State? { if case .cart(let state) = self { state } else { nil } }
}
