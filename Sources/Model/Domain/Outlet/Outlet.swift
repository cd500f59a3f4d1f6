/// An outlet: a kitchen that customers order from. It is registered closed, opens by command, and may be removed for
/// good.
public enum Outlet: Decider {
    // MARK: Commands

    /// What a merchant asks of an outlet.
    public enum Command: Equatable, Sendable {
        /// Registers the outlet, or changes what differs. A tax or daypart that the menu names stays.
        case put(OutletDetails, menuTaxes: [Identifier: Text] = [:], menuDayparts: [Identifier: Text] = [:])
        case open
        /// Lets an outlet that follows its hours do so, whether they have it open now or not.
        case openByHours(isOpen: Bool, opensAt: Timestamp? = nil)
        case close
        /// Time has passed: an outlet that follows its hours opens or closes if they say so, and dayparts begin and end.
        /// Sent by its server.
        case followHours(isOpen: Bool, opensAt: Timestamp? = nil, dayparts: DaypartTimes? = nil)
        /// Takes no orders until a moment, which must lie after `now`.
        case pause(until: Timestamp, reason: Text?, now: Timestamp)
        /// Promises orders so many minutes later until a moment, which must lie after `now`; 0 for as usual, which needs
        /// no moment.
        case slow(minutes: Int, until: Timestamp?, now: Timestamp)
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
        /// Its hours opened it.
        case openedByHours
        /// Its hours closed it, and will open it: at a moment, if that is known.
        case closedByHours(opensAt: Timestamp? = nil)
        /// Its hours say that other dayparts are on.
        case daypartsChanged(DaypartTimes)
        case slowed(minutes: Int, until: Timestamp)
        case paused(until: Timestamp, reason: Text?)
        case hidden
        case shown
        case removed
    }

    // MARK: State

    /// Whether the outlet takes orders.
    public enum Status: Equatable, Sendable {
        case closed
        /// Closed until its hours open it: at a moment, if that is known.
        case resting(opensAt: Timestamp? = nil)
        case open
        /// Open, and so many minutes later than usual until a moment.
        case slow(minutes: Int, until: Timestamp)
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
        case (.unregistered, .put(let details, _, _)):
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

        case (.registered(let old, _, _), .put(let new, let menuTaxes, let menuDayparts)):
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
            for daypart in old.dayparts where !new.dayparts.contains(where: { $0.id == daypart.id }) {
                guard let user = menuDayparts[daypart.id] else { continue }
                throw Rejection(.state, "\(user) names the daypart '\(daypart.id)', so the outlet keeps it")
            }
            let changes = old.changes(to: new)
            return changes.isEmpty ? [] : [.detailsChanged(changes)]

        case (.registered(let details, let status, _), .openByHours(isOpen: false, let opensAt))
        where details.follows == .hours:
            return status == .resting(opensAt: opensAt) ? [] : [.closedByHours(opensAt: opensAt)]
        case (.registered(_, let status, _), .open), (.registered(_, let status, _), .openByHours):
            return status == .open ? [] : [.opened]
        case (.registered(_, .closed, _), .close): return []
        case (.registered, .close): return [.closed]
        case (.registered(let details, let status, _), .followHours(let isOpen, let opensAt, let dayparts)):
            var events: [Event] = []
            // What its merchant closed stays closed.
            if details.follows == .hours, status != .closed {
                if isOpen, status.isResting { events.append(.openedByHours) }
                if !isOpen, status != .resting(opensAt: opensAt) { events.append(.closedByHours(opensAt: opensAt)) }
            }
            if let dayparts, dayparts != details.daypartTimes { events.append(.daypartsChanged(dayparts)) }
            return events

        case (.registered(_, .closed, _), .pause), (.registered(_, .resting, _), .pause):
            throw Rejection(
                .state, "the outlet is closed, and only an open one can be paused", allowed: [.openOutlet])
        case (.registered(_, .closed, _), .slow), (.registered(_, .resting, _), .slow):
            throw Rejection(.state, "the outlet is closed, and only an open one can be slow", allowed: [.openOutlet])
        case (.registered(_, .paused, _), .slow):
            throw Rejection(.state, "the outlet is paused; open it first", allowed: [.openOutlet])
        case (.registered(_, let status, _), .slow(let minutes, let until, let now)):
            guard (0...OutletDetails.maximumPrepMinutes).contains(minutes) else {
                throw .invalid("DELAY", "must be from 0 to \(OutletDetails.maximumPrepMinutes) minutes")
            }
            if minutes == 0 { return status == .open ? [] : [.opened] }
            guard let until else { throw .invalid(.until, "is missing: until when is the outlet slow?") }
            guard until > now else { throw .invalid(.until, "must lie in the future") }
            return status == .slow(minutes: minutes, until: until) ? [] : [.slowed(minutes: minutes, until: until)]
        case (.registered, .pause(let until, let reason, let now)):
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
            guard details.isRecordable else { throw ImpossibleEvent("charges or times out of range") }
            state = .registered(details, .closed, isHidden: false)
        case (.unregistered, _):
            throw ImpossibleEvent("an event before the outlet was registered")
        case (.registered, .registered):
            throw ImpossibleEvent("an outlet registered twice")
        case (.registered(var details, let status, let isHidden), .detailsChanged(let changes)):
            for change in changes { details.apply(change) }
            guard details.isRecordable else { throw ImpossibleEvent("charges or times out of range") }
            state = .registered(details, status, isHidden: isHidden)
        case (.registered(let details, _, let isHidden), .opened):
            state = .registered(details, .open, isHidden: isHidden)
        case (.registered(let details, _, let isHidden), .closed):
            state = .registered(details, .closed, isHidden: isHidden)
        case (.registered(let details, _, let isHidden), .openedByHours):
            guard details.follows == .hours else { throw ImpossibleEvent("hours opened an outlet that follows none") }
            state = .registered(details, .open, isHidden: isHidden)
        case (.registered(let details, _, let isHidden), .closedByHours(let opensAt)):
            guard details.follows == .hours else { throw ImpossibleEvent("hours closed an outlet that follows none") }
            state = .registered(details, .resting(opensAt: opensAt), isHidden: isHidden)
        case (.registered(var details, let status, let isHidden), .daypartsChanged(let times)):
            guard times.isOf(details.dayparts) else { throw ImpossibleEvent("a daypart that the outlet does not have") }
            details.daypartTimes = times
            state = .registered(details, status, isHidden: isHidden)
        case (.registered(let details, let status, let isHidden), .slowed(let minutes, let until)):
            guard status.isOpen, minutes > 0 else { throw ImpossibleEvent("an outlet that was not open was slow") }
            state = .registered(details, .slow(minutes: minutes, until: until), isHidden: isHidden)
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
    /// Whether every number that others are worked out from can be.
    fileprivate var isRecordable: Bool {
        (dayStarts.map { (0..<1_440).contains($0) } ?? true) && pricing.charges.isRecordable
            && services.list.allSatisfy { $0.value.charges?.isRecordable ?? true }
            && (0...366).contains(orderAheadDays) && (slots.map { (1...1_440).contains($0.minutes) } ?? true)
    }
}

extension Outlet.State {
    /// What it says of itself while it is registered.
    public var details: OutletDetails? { if case .registered(let details, _, _) = self { details } else { nil } }

    /// Whether it takes orders, while it is registered.
    public var status: Outlet.Status? { if case .registered(_, let status, _) = self { status } else { nil } }
}

extension Outlet.State {
    /// Whether its hours open and close it now, or its dayparts.
    public var followsTime: Bool {
        guard case .registered(let details, let status, _) = self else { return false }
        return details.follows == .hours && status != .closed || !details.dayparts.isEmpty
    }
}

extension Outlet.Command {
    /// Whether the outlet's menu decides about the command, too: a tax or a daypart goes that items may name.
    public func restsOnMenu(in state: Outlet.State) -> Bool {
        guard case .put(let new, _, _) = self, case .registered(let old, _, _) = state else { return false }
        return old.pricing.taxes.contains { tax in !new.pricing.taxes.contains { $0.id == tax.id } }
            || old.dayparts.contains { daypart in !new.dayparts.contains { $0.id == daypart.id } }
    }
}

extension Outlet.Status {
    /// Whether orders are taken at this moment.
    public func takesOrders(at now: Timestamp) -> Bool {
        switch self {
        case .open, .slow: true
        case .closed, .resting: false
        case .paused(let until, _): until <= now
        }
    }

    /// Whether orders are taken now for a later moment: what its hours closed opens by then, if they have it open.
    public func takesOrders(ahead time: Timestamp) -> Bool { isResting || takesOrders(at: time) }

    /// Whether it is closed until its hours open it.
    public var isResting: Bool { if case .resting = self { true } else { false } }

    /// Whether it is open, however slow.
    var isOpen: Bool {
        switch self {
        case .open, .slow: true
        case .closed, .resting, .paused: false
        }
    }

    /// How many minutes later than usual it is at this moment.
    public func delay(at now: Timestamp) -> Int {
        if case .slow(let minutes, let until) = self, until > now { minutes } else { 0 }
    }
}
