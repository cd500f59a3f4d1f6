package import Domain

/// An outlet, or an item of an outlet.
package struct ListingID: Hashable, Comparable, Sendable {
    /// The outlet.
    package var outlet: Identifier
    /// The item; nil for the outlet itself.
    package var item: Identifier?

    /// Orders by outlet, then by item.
    package static func < (a: ListingID, b: ListingID) -> Bool {
        if a.outlet != b.outlet { return a.outlet < b.outlet }
        switch (a.item, b.item) {
        case (let a?, let b?): return a < b
        case (let a, let b): return a == nil && b != nil
        }
    }
}

/// An item or an outlet as filters, sorts and facets see it.
package struct Listing: Equatable {
    /// Its id.
    package var id: ListingID
    /// Its name.
    package var name: Text
    /// Other texts to search.
    package var texts: [Text]
    /// Its cuisines. An item without any has those of its outlet.
    package var cuisines: [Text]
    /// The outlet's city.
    package var city: Text?
    /// The outlet's part of the city.
    package var area: Text?
    /// The item's kind; for an outlet, those of its items.
    package var kinds: [Text]
    /// The item's tags; for an outlet, those of its items.
    package var tags: [Text]
    /// The item's attributes. An outlet has none: it is found by those of its items.
    package var attributes: ItemAttributes
    /// What its prices are in.
    package var currency: Currency
    /// What it costs in minor units; for an outlet, what two people pay.
    package var price: Int64?
    /// The outlet's rating, in hundredths.
    package var rating: Int64?
    /// How long the outlet's delivery takes, in minutes.
    package var deliveryMinutes: Int64?
    /// When it can be ordered. If nothing else changes, only ``AvailabilityIndex`` is updated.
    package var availability: Availability
}

/// When something can be ordered.
package enum Availability: Hashable, Sendable {
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
        case .open: self = .now
        case .closed: self = .never
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
