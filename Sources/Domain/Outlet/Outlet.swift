/// An outlet: a kitchen that customers order from. It is registered closed, and opens by command.
public enum Outlet: Decider {
    // MARK: Commands

    /// What a merchant asks of an outlet.
    public enum Command: Equatable, Sendable {
        /// Registers the outlet, or changes what differs.
        case put(OutletDetails)
        case open
        case close
        /// Takes no orders until a moment, which must lie after `now`.
        case pause(until: Timestamp, reason: Text?, now: Timestamp)
    }

    // MARK: Events

    /// What happened to an outlet.
    public enum Event: Equatable, Sendable {
        case registered(OutletDetails)
        case detailsChanged([OutletDetail])
        case opened
        case closed
        case paused(until: Timestamp, reason: Text?)
    }

    // MARK: State

    /// Whether the outlet takes orders.
    public enum Status: Equatable, Sendable {
        case closed
        case open
        /// Takes none until a moment; from then on it is open again without another event.
        case paused(until: Timestamp, reason: Text?)
    }

    /// An outlet, before and after it is registered.
    public enum State: Equatable, Sendable {
        case unregistered
        /// Indirect, as the details are many.
        indirect case registered(OutletDetails, Status)
    }

    /// Nobody has registered it.
    public static let initial = State.unregistered

    // MARK: Decide

    /// See ``Decider``.
    public static func decide(_ command: Command, in state: State) throws(Rejection) -> [Event] {
        switch (state, command) {
        case (.unregistered, .put(let details)):
            try details.validate()
            return [.registered(details)]
        case (.unregistered, .open), (.unregistered, .close), (.unregistered, .pause):
            throw Rejection(.notFound, "no such outlet")

        case (.registered(let old, _), .put(let new)):
            try new.validate()
            guard old.currency == new.currency else {
                throw Rejection(
                    .state, "the currency is \(old.currency) since the outlet was registered, and cannot change")
            }
            let changes = old.changes(to: new)
            return changes.isEmpty ? [] : [.detailsChanged(changes)]

        case (.registered(_, .open), .open), (.registered(_, .closed), .close):
            return []
        case (.registered(_, .closed), .open), (.registered(_, .paused), .open):
            return [.opened]
        case (.registered(_, .open), .close), (.registered(_, .paused), .close):
            return [.closed]

        case (.registered(_, .closed), .pause):
            throw Rejection(.state, "the outlet is closed; only an open outlet can be paused: allowed is OPEN")
        case (.registered(_, .open), .pause(let until, let reason, let now)),
            (.registered(_, .paused), .pause(let until, let reason, let now)):
            guard until > now else { throw .invalid("UNTIL", "must lie in the future") }
            try TextRules.check(reason, "REASON", TextRules.note)
            let paused = Status.paused(until: until, reason: reason)
            if case .registered(_, paused) = state { return [] }
            return [.paused(until: until, reason: reason)]
        }
    }

    // MARK: Evolve

    /// See ``Decider``.
    public static func evolve(_ state: inout State, _ event: Event) throws(ImpossibleEvent) {
        switch (state, event) {
        case (.unregistered, .registered(let details)):
            state = .registered(details, .closed)
        case (.registered, .registered):
            throw ImpossibleEvent("an outlet registered twice")
        case (.registered(var details, let status), .detailsChanged(let changes)):
            for change in changes { details.apply(change) }
            state = .registered(details, status)
        case (.registered(let details, _), .opened):
            state = .registered(details, .open)
        case (.registered(let details, _), .closed):
            state = .registered(details, .closed)
        case (.registered(let details, _), .paused(let until, let reason)):
            state = .registered(details, .paused(until: until, reason: reason))
        case (.unregistered, .detailsChanged), (.unregistered, .opened), (.unregistered, .closed),
            (.unregistered, .paused):
            throw ImpossibleEvent("an event before the outlet was registered")
        }
    }
}

extension Outlet.Status {
    /// Whether orders are taken at this moment.
    public func takesOrders(at now: Timestamp) -> Bool {
        switch self {
        case .open: true
        case .closed: false
        case .paused(let until, _): until <= now
        }
    }
}
