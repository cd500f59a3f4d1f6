/// An outlet: a kitchen that customers order from. It is registered closed, opens by command, and may be removed for
/// good.
public enum Outlet: Decider {
    // MARK: Commands

    /// What a merchant asks of an outlet.
    public enum Command: Equatable, Sendable {
        /// Registers the outlet, or changes what differs. A tax that an item of the menu names stays.
        case put(OutletDetails, menuTaxes: [Identifier: Text] = [:])
        case open
        case close
        /// Takes no orders until a moment, which must lie after `now`.
        case pause(until: Timestamp, reason: Text?, now: Timestamp)
        /// Takes it out of lists and searches. Clients that know it can use it as before.
        case hide
        case show
        /// Ends it. Nothing can be registered in its place.
        case remove
    }

    // MARK: Events

    /// What happened to an outlet.
    public enum Event: Equatable, Sendable {
        case registered(OutletDetails)
        case detailsChanged([OutletDetail])
        case opened
        case closed
        case paused(until: Timestamp, reason: Text?)
        case hidden
        case shown
        case removed
    }

    // MARK: State

    /// Whether the outlet takes orders.
    public enum Status: Equatable, Sendable {
        case closed
        case open
        /// Takes none until a moment; from then on it is open again without another event.
        case paused(until: Timestamp, reason: Text?)
    }

    /// An outlet, before it is registered, until it is removed, and afterwards.
    public enum State: Equatable, Sendable {
        case unregistered
        /// Indirect, as the details are many.
        indirect case registered(OutletDetails, Status, isHidden: Bool)
        /// With the details that it had.
        indirect case removed(OutletDetails)
    }

    /// It has not been registered.
    public static let initial = State.unregistered

    // MARK: Decide

    public static func decide(_ command: Command, in state: State) throws(Rejection) -> [Event] {
        switch (state, command) {
        case (.unregistered, .put(let details, _)):
            try details.validate()
            return [.registered(details)]
        case (.unregistered, _): throw Rejection(.notFound, "no such outlet", isAboutAll: true)

        case (.removed, .remove): return []
        case (.removed, .put):
            // Old carts, orders and links would lead to another kitchen.
            throw Rejection(.state, "the outlet was removed, and its id is not used again")
        case (.removed, _): throw Rejection(.notFound, "the outlet was removed", isAboutAll: true)
        case (.registered, .remove): return [.removed]

        case (.registered(_, _, let isHidden), .hide): return isHidden ? [] : [.hidden]
        case (.registered(_, _, let isHidden), .show): return isHidden ? [.shown] : []

        case (.registered(let old, _, _), .put(let new, let menuTaxes)):
            try new.validate()
            guard old.currency == new.currency else {
                throw Rejection(
                    .state, "the currency is \(old.currency) since the outlet was registered, and cannot change")
            }
            guard old.pricing.taxIncluded == nil || old.pricing.taxIncluded == new.pricing.taxIncluded else {
                throw Rejection(.state, "whether prices include the taxes was said once, and cannot change")
            }
            for tax in old.pricing.taxes where !new.pricing.taxes.contains(where: { $0.id == tax.id }) {
                guard let user = menuTaxes[tax.id] else { continue }
                throw Rejection(.state, "\(user) names the tax '\(tax.id)', so the outlet keeps it")
            }
            let changes = old.changes(to: new)
            return changes.isEmpty ? [] : [.detailsChanged(changes)]

        case (.registered(_, .open, _), .open), (.registered(_, .closed, _), .close):
            return []
        case (.registered(_, .closed, _), .open), (.registered(_, .paused, _), .open):
            return [.opened]
        case (.registered(_, .open, _), .close), (.registered(_, .paused, _), .close):
            return [.closed]

        case (.registered(_, .closed, _), .pause):
            throw Rejection(
                .state, "the outlet is closed, and only an open one can be paused", allowed: [.openOutlet])
        case (.registered(_, .open, _), .pause(let until, let reason, let now)),
            (.registered(_, .paused, _), .pause(let until, let reason, let now)):
            guard until > now else { throw .invalid(.until, "must lie in the future") }
            try TextRules.check(reason, .reason, TextRules.note)
            let paused = Status.paused(until: until, reason: reason)
            if case .registered(_, paused, _) = state { return [] }
            return [.paused(until: until, reason: reason)]
        }
    }

    // MARK: Evolve

    public static func evolve(_ state: inout State, _ event: Event) throws(ImpossibleEvent) {
        switch (state, event) {
        case (.unregistered, .registered(let details)):
            guard details.isRecordable else { throw ImpossibleEvent("charges out of range") }
            state = .registered(details, .closed, isHidden: false)
        case (.unregistered, _):
            throw ImpossibleEvent("an event before the outlet was registered")
        case (.registered, .registered):
            throw ImpossibleEvent("an outlet registered twice")
        case (.registered(var details, let status, let isHidden), .detailsChanged(let changes)):
            for change in changes { details.apply(change) }
            guard details.isRecordable else { throw ImpossibleEvent("charges out of range") }
            state = .registered(details, status, isHidden: isHidden)
        case (.registered(let details, _, let isHidden), .opened):
            state = .registered(details, .open, isHidden: isHidden)
        case (.registered(let details, _, let isHidden), .closed):
            state = .registered(details, .closed, isHidden: isHidden)
        case (.registered(let details, _, let isHidden), .paused(let until, let reason)):
            state = .registered(details, .paused(until: until, reason: reason), isHidden: isHidden)
        case (.registered(let details, let status, _), .hidden):
            state = .registered(details, status, isHidden: true)
        case (.registered(let details, let status, _), .shown):
            state = .registered(details, status, isHidden: false)
        case (.registered(let details, _, _), .removed):
            state = .removed(details)
        case (.removed, _):
            throw ImpossibleEvent("an event after the outlet was removed")
        }
    }
}

extension OutletDetails {
    /// Whether every amount that is charged can be worked with.
    fileprivate var isRecordable: Bool {
        pricing.charges.isRecordable && services.list.allSatisfy { $0.value.charges?.isRecordable ?? true }
    }
}

extension Outlet.Command {
    /// Whether the outlet's menu decides about the command, too: a tax goes that items may name.
    public func restsOnMenu(in state: Outlet.State) -> Bool {
        guard case .put(let new, _) = self, case .registered(let old, _, _) = state else { return false }
        return old.pricing.taxes.contains { tax in !new.pricing.taxes.contains { $0.id == tax.id } }
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
