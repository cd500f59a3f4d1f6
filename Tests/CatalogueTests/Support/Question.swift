import Domain
import SeededRandom

@testable import Catalogue

/// A query as plain values.
struct Question {
    /// A filter by an attribute.
    struct Attribute {
        enum Values {
            /// Without an end, it is open.
            case range(Double?, Double?)
            case any([Text])
        }

        var name: String
        var values: Values
    }

    var kind = ListingKind.items
    var text: String?
    var cuisines: [Text] = []
    var city: Text?
    var area: Text?
    var outlet: Text?
    var itemKind: Text?
    var tags: [Text] = []
    var price: ClosedRange<Int64>?
    /// In hundredths.
    var rating: Int64?
    var deliveryMinutes: Int64?
    var isOpen = false
    var attributes: [Attribute] = []
    var sort = "relevance"

    static let sorts = ["relevance", "name", "price", "-price", "rating", "delivery"]

    init(_ kind: ListingKind = .items, sort: String = "relevance") {
        self.kind = kind
        self.sort = sort
    }

    /// Any combination of a few filters.
    static func random(_ generator: inout SeededGenerator) -> Question {
        var question = Question(generator.chance(70) ? .items : .outlets, sort: generator.pick(sorts))
        for _ in 0..<generator.number(0..<4) { question.narrow(&generator) }
        return question
    }

    private mutating func narrow(_ generator: inout SeededGenerator) {
        switch generator.number(0..<18) {
        case 0..<4: text = Question.randomText(&generator)
        case 4: cuisines = (0..<generator.number(1..<4)).map { _ in generator.pick(Vocabulary.cuisines) }
        case 5: city = generator.pick(["COLOMBO", "kandy", "sao paulo", "Nowhere"])
        case 6: area = generator.pick(["fort", "Pettah"])
        case 7: outlet = "o\(generator.number(0..<9))"
        case 8: itemKind = generator.pick(["menuItem", "DESSERT", "promo"])
        case 9: tags = Array(["HOT", "veg", "new", "hot"].shuffled(using: &generator).prefix(generator.number(1..<3)))
        case 10:
            let ends = [Vocabulary.price(&generator), Vocabulary.price(&generator)].sorted()
            price = ends[0]...ends[1]
        case 11: rating = generator.pick([0, 350, 351, 400, 450, 500, 501])
        case 12: deliveryMinutes = generator.pick([0, 15, 29, 30, 31, 1_000])
        case 13: isOpen = true
        default: attributes.append(Question.randomAttribute(&generator))
        }
    }

    private static func randomAttribute(_ generator: inout SeededGenerator) -> Attribute {
        let name = generator.pick(Vocabulary.attributeNames + ["none"])
        if generator.chance(50) {
            let words: [Text] = ["a", "TRUE", "false", "42.5", "42.50", "-1", "milk", "1e12", "b"]
            return Attribute(
                name: name, values: .any((0..<generator.number(1..<4)).map { _ in generator.pick(words) }))
        }
        let ends = (0..<2).map { _ in
            generator.pick([-1e12, -42.5, -1, -0.000064, -0.000063, 0, 0.000001, 1, 41.5, 42.5, 1e12])
        }.sorted()
        return Attribute(name: name, values: .range(generator.maybe { _ in ends[0] }, generator.maybe { _ in ends[1] }))
    }

    private static func randomText(_ generator: inout SeededGenerator) -> String {
        var words = (0..<generator.number(1..<4)).map { _ in generator.pick(Vocabulary.words.dropLast()) }
        if generator.chance(60) {
            let last = words.removeLast()
            words.append(String(last.prefix(generator.number(1..<(last.count + 1)))))
        }
        return words.joined(separator: " ")
    }

    /// The filters as a client writes them, in any order.
    func words(_ generator: inout SeededGenerator) -> [String] {
        var filters: [[String]] = []
        if let text {
            filters.append(["TEXT"] + (generator.chance(50) ? [text] : text.split(separator: " ").map(String.init)))
        }
        if !cuisines.isEmpty { filters.append(["CUISINE"] + cuisines.map(\.string)) }
        if let city { filters.append(["city", city.string]) }
        if let area { filters.append(["Area", area.string]) }
        if let outlet { filters.append(["OUTLET", outlet.string]) }
        if let itemKind { filters.append(["KIND", itemKind.string]) }
        for tag in tags { filters.append(["TAG", tag.string]) }
        if let price { filters.append(["PRICE", "\(price.lowerBound)", "\(price.upperBound)"]) }
        if let rating { filters.append(["RATING", Question.decimal(rating)]) }
        if let deliveryMinutes { filters.append(["DELIVERY", "\(deliveryMinutes)"]) }
        if isOpen { filters.append(["OPEN"]) }
        for attribute in attributes {
            switch attribute.values {
            case .any(let words): filters.append(["ATTR", attribute.name, "any"] + words.map(\.string))
            case .range(let low, let high):
                filters.append(["attr", attribute.name] + [low, high].map { $0.map { "\($0)" } ?? "*" })
            }
        }
        filters.append(["SORT", sort])
        return filters.shuffled(using: &generator).flatMap(\.self)
    }

    private static func decimal(_ hundredths: Int64) -> String {
        hundredths % 100 == 0
            ? "\(hundredths / 100)" : "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
