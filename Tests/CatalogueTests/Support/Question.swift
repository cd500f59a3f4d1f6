import Domain
import SeededRandom

@testable import Catalogue

/// A query as plain values.
struct Question: Equatable {
    /// A range whose ends may be open.
    struct Ends: Equatable {
        var low: Int64?
        var high: Int64?

        func contains(_ number: Int64?) -> Bool {
            guard let number else { return false }
            return low.map { $0 <= number } ?? true && high.map { number <= $0 } ?? true
        }

        static func random(_ generator: inout SeededGenerator, _ number: (inout SeededGenerator) -> Int64) -> Ends {
            let ends = [number(&generator), number(&generator)].sorted()
            return Ends(low: generator.chance(70) ? ends[0] : nil, high: generator.chance(70) ? ends[1] : nil)
        }
    }

    /// A filter by an attribute.
    struct Attribute: Equatable {
        enum Values: Equatable {
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
    var cities: [Text] = []
    var areas: [Text] = []
    var outlets: [Text] = []
    var currencies: [Text] = []
    var itemKinds: [Text] = []
    /// One of each list.
    var tags: [[Text]] = []
    var price: Ends?
    /// In hundredths.
    var rating: Ends?
    var deliveryMinutes: Ends?
    /// Questions of one filter each, whose matches are left out.
    var excluded: [Question] = []
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
        for _ in 0..<generator.pick([0, 0, 1, 2]) {
            var other = Question(question.kind)
            other.narrow(&generator)
            question.excluded.append(other)
        }
        if question.comparesPrices { question.currencies = [generator.pick(Vocabulary.currencies)] }
        return question
    }

    /// Whether it needs one currency.
    var comparesPrices: Bool { price != nil || excluded.contains { $0.price != nil } }

    private mutating func narrow(_ generator: inout SeededGenerator) {
        func some(of values: [Text]) -> [Text] {
            Array(values.shuffled(using: &generator).prefix(generator.number(1..<3)))
        }
        switch generator.number(0..<19) {
        case 0..<4: text = Question.randomText(&generator)
        case 4: cuisines = (0..<generator.number(1..<4)).map { _ in generator.pick(Vocabulary.cuisines) }
        case 5: cities = some(of: ["COLOMBO", "kandy", "sao paulo", "Nowhere"])
        case 6: areas = some(of: ["fort", "Pettah", "none"])
        case 7: outlets = some(of: (0..<9).map { "o\($0)" })
        case 8: itemKinds = some(of: ["menuItem", "DESSERT", "promo", "soup"])
        case 9: tags.append(some(of: ["HOT", "veg", "new", "hot"]))
        case 10:
            price = .random(&generator) { Vocabulary.price(&$0) }
        case 11: rating = .random(&generator) { $0.pick([0, 350, 351, 400, 450, 500, 501, 600]) }
        case 12: deliveryMinutes = .random(&generator) { $0.pick([0, 15, 29, 30, 31, 1_000]) }
        case 13: isOpen = true
        case 14: currencies = some(of: Vocabulary.currencies + ["EUR"])
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

    /// A text with some letters added, left out, changed or swapped.
    static func misspelled(_ text: String, _ generator: inout SeededGenerator) -> String {
        var letters = Array(text)
        for _ in 0..<generator.number(1..<4) {
            let place = generator.number(0..<letters.count)
            switch generator.number(0..<4) {
            case 0 where letters.count > 1: letters.remove(at: place)
            case 1: letters.insert(generator.pick(["a", "e", "x"]), at: place)
            case 2 where place > 0: letters.swapAt(place, place - 1)
            default: letters[place] = generator.pick(["a", "r", "x"])
            }
        }
        return String(letters)
    }

    /// Names of facets.
    static func randomFacets(_ generator: inout SeededGenerator) -> [String] {
        Array(PlainCatalogue.facets.shuffled(using: &generator).prefix(generator.number(1..<8)))
    }

    /// The filters as a client writes them, in any order.
    func words(_ generator: inout SeededGenerator) -> [String] {
        var all = filters(&generator) + [["SORT", sort]]
        for other in excluded { all += other.filters(&generator).map { ["NOT"] + $0 } }
        return all.shuffled(using: &generator).flatMap(\.self)
    }

    private func filters(_ generator: inout SeededGenerator) -> [[String]] {
        var filters: [[String]] = []
        if let text {
            filters.append(["TEXT"] + (generator.chance(50) ? [text] : text.split(separator: " ").map(String.init)))
        }
        if !cuisines.isEmpty { filters.append(["CUISINE"] + cuisines.map(\.string)) }
        for (name, values) in [
            ("city", cities), ("Area", areas), ("OUTLET", outlets), ("KIND", itemKinds), ("CURRENCY", currencies),
        ] {
            if !values.isEmpty { filters.append([name] + values.map(\.string)) }
        }
        for tags in tags { filters.append(["TAG"] + tags.map { generator.pick(["", "="]) + $0.string }) }
        if let price { filters.append(Question.range("PRICE", price) { "\($0)" }) }
        if let rating {
            var words = Question.range("RATING", rating, Question.decimal)
            if rating.high == nil, generator.chance(50) { words.removeLast() }
            filters.append(words)
        }
        if let deliveryMinutes {
            var words = Question.range("DELIVERY", deliveryMinutes) { "\($0)" }
            if deliveryMinutes.low == nil, generator.chance(50) { words.remove(at: 1) }
            filters.append(words)
        }
        if isOpen { filters.append(["OPEN"]) }
        for attribute in attributes {
            switch attribute.values {
            case .any(let words): filters.append(["ATTR", attribute.name, "any"] + words.map(\.string))
            case .range(let low, let high):
                filters.append(["attr", attribute.name] + [low, high].map { $0.map { "\($0)" } ?? "*" })
            }
        }
        return filters
    }

    private static func range(_ name: String, _ ends: Ends, _ word: (Int64) -> String) -> [String] {
        [name] + [ends.low, ends.high].map { $0.map(word) ?? "*" }
    }

    private static func decimal(_ hundredths: Int64) -> String {
        hundredths % 100 == 0
            ? "\(hundredths / 100)" : "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
