/// One detail of an outlet, with its new value: what an ``Outlet/Event/detailsChanged(_:)`` is made of.
public enum OutletDetail: Equatable, Sendable {
    case name(Text)
    case city(Text?)
    case area(Text?)
    case address(Text?)
    case timeZone(Text)
    case cuisines([Text])
    case priceForTwo(Amount?)
    case rating(Rating?)
    case ratingCount(Int?)
    case deliveryMinutes(Int?)
    case minimumOrder(Amount?)
    case hours([OpeningHours])
    case specialDays([OutletDetails.SpecialDay])
    case follows(OutletDetails.Opener)
    case prepMinutes(Int?)
    case acceptWithin(Int?)
    case payment(OutletDetails.Payment)
    case payWithin(Int?)
    case dayStarts(Int?)
    case pricing(PricingTerms)
    case services(ByService<OfferedService>)
    case orderAheadDays(Int)
    case slots(OutletDetails.Slots?)
    case dayparts([Daypart])
}

extension OutletDetails {
    /// Every detail but the currency, which cannot change.
    public var all: [OutletDetail] {
        [
            .name(name), .city(city), .area(area), .address(address), .timeZone(timeZone), .cuisines(cuisines),
            .priceForTwo(priceForTwo), .rating(rating), .ratingCount(ratingCount),
            .deliveryMinutes(deliveryMinutes), .minimumOrder(minimumOrder), .hours(hours),
            .specialDays(specialDays), .follows(follows),
            .prepMinutes(prepMinutes), .acceptWithin(acceptWithin), .payment(payment), .payWithin(payWithin),
            .dayStarts(dayStarts), .pricing(pricing), .services(services),
            .orderAheadDays(orderAheadDays), .slots(slots), .dayparts(dayparts),
        ]
    }

    /// Details put together again, or nil where the name or the time zone is not among them.
    public init?(currency: Currency, _ details: [OutletDetail]) {
        self.init(name: "", currency: currency, timeZone: "")
        for detail in details { apply(detail) }
        if name.isEmpty || timeZone.isEmpty { return nil }
    }

    /// The details in which `new` differs from these.
    func changes(to new: OutletDetails) -> [OutletDetail] {
        zip(all, new.all).filter { $0 != $1 }.map(\.1)
    }

    /// Takes one changed detail over.
    mutating func apply(_ detail: OutletDetail) {
        switch detail {
        case .name(let value): name = value
        case .city(let value): city = value
        case .area(let value): area = value
        case .address(let value): address = value
        case .timeZone(let value): timeZone = value
        case .cuisines(let value): cuisines = value
        case .priceForTwo(let value): priceForTwo = value
        case .rating(let value): rating = value
        case .ratingCount(let value): ratingCount = value
        case .deliveryMinutes(let value): deliveryMinutes = value
        case .minimumOrder(let value): minimumOrder = value
        case .hours(let value): hours = value
        case .specialDays(let value): specialDays = value
        case .follows(let value): follows = value
        case .prepMinutes(let value): prepMinutes = value
        case .acceptWithin(let value): acceptWithin = value
        case .payment(let value): payment = value
        case .payWithin(let value): payWithin = value
        case .dayStarts(let value): dayStarts = value
        case .pricing(let value): pricing = value
        case .services(let value): services = value
        case .orderAheadDays(let value): orderAheadDays = value
        case .slots(let value): slots = value
        case .dayparts(let value):
            dayparts = value
            daypartTimes.keep(dayparts.map(\.id))
        }
    }
}
