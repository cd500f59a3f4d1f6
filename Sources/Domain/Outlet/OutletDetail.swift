/// One detail of an outlet, with its new value: what an ``Outlet/Event/detailsChanged(_:)`` is made of.
public enum OutletDetail: Equatable, Sendable {
    case name(String)
    case city(String?)
    case area(String?)
    case address(String?)
    case timeZone(String)
    case cuisines([String])
    case priceForTwo(Amount?)
    case rating(Rating?)
    case ratingCount(Int?)
    case deliveryMinutes(Int?)
    case minimumOrder(Amount?)
    case hours([OpeningHours])
}

extension OutletDetails {
    /// The details in which `new` differs from these. The currency is not among them: it cannot change.
    func changes(to new: OutletDetails) -> [OutletDetail] {
        var changes: [OutletDetail] = []
        func compare<Value: Equatable>(
            _ path: KeyPath<OutletDetails, Value>, _ detail: (Value) -> OutletDetail
        ) {
            if self[keyPath: path] != new[keyPath: path] { changes.append(detail(new[keyPath: path])) }
        }
        compare(\.name, OutletDetail.name)
        compare(\.city, OutletDetail.city)
        compare(\.area, OutletDetail.area)
        compare(\.address, OutletDetail.address)
        compare(\.timeZone, OutletDetail.timeZone)
        compare(\.cuisines, OutletDetail.cuisines)
        compare(\.priceForTwo, OutletDetail.priceForTwo)
        compare(\.rating, OutletDetail.rating)
        compare(\.ratingCount, OutletDetail.ratingCount)
        compare(\.deliveryMinutes, OutletDetail.deliveryMinutes)
        compare(\.minimumOrder, OutletDetail.minimumOrder)
        compare(\.hours, OutletDetail.hours)
        return changes
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
        }
    }
}
