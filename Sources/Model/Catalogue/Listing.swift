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
///
/// A class, as indexes on several threads look at each: a copy of so many values would cost more than what they do.
final class Listing: Sendable {
    /// Its id.
    let id: ListingID
    /// Its name.
    let name: Text
    /// Other texts to search.
    let texts: [Text]
    /// Its cuisines. An item without any has those of its outlet.
    let cuisines: [Text]
    /// The outlet's city.
    let city: Text?
    /// The outlet's part of the city.
    let area: Text?
    /// The item's kind; for an outlet, those of its items.
    let kinds: [Text]
    /// The item's tags; for an outlet, those of its items.
    let tags: [Text]
    /// The item's attributes. An outlet has none: it is found by those of its items.
    let attributes: ItemAttributes
    /// What its prices are in.
    let currency: Currency
    /// What it costs in minor units; for an outlet, what two people pay.
    let price: Int64?
    /// The outlet's rating, in hundredths.
    let rating: Int64?
    /// How long the outlet's delivery takes, in minutes.
    let deliveryMinutes: Int64?
    /// When it can be ordered. If nothing else changes, only ``AvailabilityIndex`` is updated.
    let availability: Availability

    init(
        id: ListingID, name: Text, texts: [Text], cuisines: [Text], city: Text?, area: Text?, kinds: [Text],
        tags: [Text], attributes: ItemAttributes, currency: Currency, price: Int64?, rating: Int64?,
        deliveryMinutes: Int64?, availability: Availability
    ) {
        self.id = id
        self.name = name
        self.texts = texts
        self.cuisines = cuisines
        self.city = city
        self.area = area
        self.kinds = kinds
        self.tags = tags
        self.attributes = attributes
        self.currency = currency
        self.price = price
        self.rating = rating
        self.deliveryMinutes = deliveryMinutes
        self.availability = availability
    }

    /// The same without attributes: no order knows them, and they can be long.
    var withoutAttributes: Listing {
        Listing(
            id: id, name: name, texts: texts, cuisines: cuisines, city: city, area: area, kinds: kinds, tags: tags,
            attributes: ItemAttributes(), currency: currency, price: price, rating: rating,
            deliveryMinutes: deliveryMinutes, availability: availability)
    }

    /// Whether another says the same, except perhaps of when it can be ordered.
    func isSame(as other: Listing) -> Bool {
        id == other.id && name == other.name && texts == other.texts && cuisines == other.cuisines
            && city == other.city && area == other.area && kinds == other.kinds && tags == other.tags
            && attributes == other.attributes && currency == other.currency && price == other.price
            && rating == other.rating && deliveryMinutes == other.deliveryMinutes
    }
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
