internal import Domain

// The registry of sorts. Each keeps every listing in order, so that the first page of half a million costs no more
// than that of twenty.

/// A way to sort listings, smallest key first; equal keys are ordered by id.
struct Sort: Sendable {
    /// The name in `SORT`.
    let name: String
    /// Whether better matches of a text come first, and the order applies only among equals.
    let ranksMatches: Bool
    /// The order that listings are kept in.
    let order: ListingOrder

    static let all: [Sort] = [
        Sort(name: "relevance", ranksMatches: true, order: .bestRated),
        Sort(name: "name", ranksMatches: false, order: .name),
        Sort(name: "price", ranksMatches: false, order: .cheapest),
        Sort(name: "-price", ranksMatches: false, order: .dearest),
        Sort(name: "rating", ranksMatches: false, order: .bestRated),
        Sort(name: "delivery", ranksMatches: false, order: .fastest),
    ]

    static func named(_ name: Text) -> Sort? { all.first { Text($0.name) == name } }
}

/// An order that listings are kept in.
enum ListingOrder: Int, CaseIterable, Sendable {
    case bestRated, name, cheapest, dearest, fastest

    /// What is compared first. Unknown values come last.
    func key(_ listing: Listing, foldedName: Text) -> Int64? {
        switch self {
        case .bestRated: listing.rating.map { -$0 }
        case .name: Self.beginning(of: foldedName)
        case .cheapest: listing.price.map { PriceKey.ascending($0, listing.currency) }
        case .dearest: listing.price.map { PriceKey.descending($0, listing.currency) }
        case .fastest: listing.deliveryMinutes
        }
    }

    /// The smallest key of listings with prices of a range.
    func leastKey(_ prices: ClosedRange<Int64>, _ currency: Currency) -> Int64 {
        switch self {
        case .cheapest: PriceKey.ascending(prices.lowerBound, currency)
        case .dearest: PriceKey.descending(prices.upperBound, currency)
        case .bestRated, .name, .fastest: .min
        }
    }

    /// Whether listings with equal keys are ordered by their folded names.
    var comparesNames: Bool { self == .name }

    /// The first eight bytes as a number that sorts in the same way.
    private static func beginning(of name: Text) -> Int64 {
        var bits: UInt64 = 0
        var count = 0
        for byte in name.utf8.prefix(8) {
            bits = bits << 8 | UInt64(byte)
            count += 1
        }
        bits <<= UInt64(8 * (8 - count))
        return Int64(bitPattern: bits ^ (1 << 63))
    }
}

/// A price and its currency as one number. Those of one currency follow each other, and currencies are in the order of
/// their codes.
private enum PriceKey {
    /// As many numbers as there are prices, and more.
    private static let width: Int64 = 1 << 41

    static func ascending(_ price: Int64, _ currency: Currency) -> Int64 {
        first(of: currency) + min(max(price, 0), width - 1)
    }

    static func descending(_ price: Int64, _ currency: Currency) -> Int64 {
        first(of: currency) + width - 1 - min(max(price, 0), width - 1)
    }

    private static func first(of currency: Currency) -> Int64 {
        // Three capital letters.
        currency.code.utf8.reduce(0) { number, letter in 26 * number + Int64(letter) - 65 } * width
    }
}

/// The place of a listing in a sort.
struct SortKey: Equatable, Sendable {
    /// The tier of relevance; 0 if matches are not ranked.
    var tier: Int
    var number: Int64
    /// The folded name, for sorts that compare it.
    var name: Text
    var id: ListingID

    static func precedes(_ a: SortKey, _ b: SortKey) -> Bool {
        if a.tier != b.tier { return a.tier < b.tier }
        if a.number != b.number { return a.number < b.number }
        if a.name != b.name { return a.name < b.name }
        return a.id < b.id
    }
}
