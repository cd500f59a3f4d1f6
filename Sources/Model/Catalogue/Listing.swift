public import Domain

/// An outlet, or an item of an outlet.
public struct ListingID: Hashable, Comparable, Sendable {
    /// The outlet.
    public var outlet: Identifier
    /// The item; nil for the outlet itself.
    public var item: Identifier?

    /// Orders by outlet, then by item.
    public static func < (a: ListingID, b: ListingID) -> Bool {
        if a.outlet != b.outlet { return a.outlet < b.outlet }
        switch (a.item, b.item) {
        case (let a?, let b?): return a < b
        case (let a, let b): return a == nil && b != nil
        }
    }
}

/// An item or an outlet as filters, sorts and facets see it.
public struct Listing: Equatable {
    /// Its id.
    public var id: ListingID
    /// Its name.
    public var name: Text
    /// Other texts to search.
    public var texts: [Text]
    /// Its cuisines. An item without any has those of its outlet.
    public var cuisines: [Text]
    /// The outlet's city.
    public var city: Text?
    /// The outlet's part of the city.
    public var area: Text?
    /// The item's kind; for an outlet, those of its items.
    public var kinds: [Text]
    /// The item's tags; for an outlet, those of its items.
    public var tags: [Text]
    /// The item's attributes. An outlet has none: it is found by those of its items.
    public var attributes: ItemAttributes
    /// What its prices are in.
    public var currency: Currency
    /// What it costs in minor units; for an outlet, what two people pay.
    public var price: Int64?
    /// The outlet's rating, in hundredths.
    public var rating: Int64?
    /// How long the outlet's delivery takes, in minutes.
    public var deliveryMinutes: Int64?
    /// When it can be ordered. If nothing else changes, only ``AvailabilityIndex`` is updated.
    public var availability: Availability
}

/// When something can be ordered.
public enum Availability: Hashable, Sendable {
    case now
    /// From that moment on, without anybody doing anything.
    case from(Timestamp)
    /// Not until somebody changes it.
    case never

    /// When both can be ordered.
    func and(_ other: Availability) -> Availability {
        switch (self, other) {
        case (.never, _), (_, .never): .never
        case (.from(let a), .from(let b)): .from(max(a, b))
        case (.from(let moment), .now), (.now, .from(let moment)): .from(moment)
        case (.now, .now): .now
        }
    }

    /// Whether it can be ordered at that moment.
    func holds(at now: Timestamp) -> Bool {
        switch self {
        case .now: true
        case .from(let moment): moment <= now
        case .never: false
        }
    }

    init(_ status: Outlet.Status) {
        switch status {
        case .open, .slow: self = .now
        case .closed, .resting: self = .never
        case .paused(let until, _): self = .from(until)
        }
    }

    init(_ suspension: MenuState.Suspension?) {
        switch suspension {
        case nil: self = .now
        case let suspension?: self = suspension.until.map(Availability.from) ?? .never
        }
    }
}
