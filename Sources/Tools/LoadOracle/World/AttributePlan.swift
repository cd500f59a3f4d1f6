internal import SeededRandom

/// Something that an item says of itself beside its other fields.
package struct AttributePlan: Equatable, Sendable {
    package enum Value: Equatable, Sendable {
        /// A number, counted in halves.
        case halves(Int)
        case flag(Bool)
        case words([String])
    }

    /// The attributes that are numbers, with the greatest of each in halves.
    package static let numbers = [(name: "spice", most: 10), (name: "serves", most: 12)]
    package static let vegan = "vegan"
    package static let allergens = "allergens"
    package static let knownAllergens = ["nuts", "milk", "egg"]

    package var name: String
    package var value: Value

    /// Those of the nth item of a menu: not every item has each.
    static func any(seed: UInt64, of index: Int) -> [AttributePlan] {
        var chance = SeededGenerator(seed: seed, of: index)
        var all: [AttributePlan] = []
        for (name, most) in numbers where chance.happens(permille: 800) {
            all.append(AttributePlan(name: name, value: .halves(chance.number(0...most))))
        }
        all.append(AttributePlan(name: vegan, value: .flag(chance.happens(permille: 300))))
        let words = knownAllergens.filter { _ in chance.happens(permille: 300) }
        if !words.isEmpty { all.append(AttributePlan(name: allergens, value: .words(words))) }
        return all
    }

    /// A number of halves as it is written: `1.5`.
    package static func text(halves: Int) -> String { "\(halves / 2)\(halves % 2 == 0 ? "" : ".5")" }

    /// How many halves a text says; nil if it is not such a number.
    static func halves(_ text: String) -> Int? {
        guard let number = Double(text), let halves = Int(exactly: number * 2), isSame(self.text(halves: halves), text)
        else { return nil }
        return halves
    }

    /// The attribute as a member of an item.
    var json: String {
        switch value {
        case .halves(let halves): "\"\(name)\":\(AttributePlan.text(halves: halves))"
        case .flag(let flag): "\"\(name)\":\(flag)"
        case .words(let words): "\"\(name)\":[\(words.map { "\"\($0)\"" }.joined(separator: ","))]"
        }
    }

    /// The value as an item shows it.
    var shown: JSON {
        switch value {
        case .halves(let halves): .number(Double(halves) / 2)
        case .flag(let flag): .bool(flag)
        case .words(let words): .array(words.map { .string(Text($0)) })
        }
    }

    /// The words that `ATTR … ANY` finds it by.
    fileprivate var words: [String] {
        switch value {
        case .halves(let halves): [AttributePlan.text(halves: halves)]
        case .flag(let flag): ["\(flag)"]
        case .words(let words): words
        }
    }
}

/// What a query asks of each item, by which the oracle tells whether one matches.
struct ItemCondition: Equatable, Sendable {
    enum Test: Equatable, Sendable {
        case kind([String])
        /// In minor units.
        case price(ClosedRange<Int64>)
        /// An attribute that is a number, in halves; nil for an end that is open.
        case number(String, least: Int?, most: Int?)
        case words(String, [String])
    }

    var test: Test
    /// Whether what meets it is left out.
    var isExcluded = false

    /// Whether an item matches at a price.
    func holds(of item: ItemPlan, at price: Int64) -> Bool { meets(item, price) != isExcluded }

    private func meets(_ item: ItemPlan, _ price: Int64) -> Bool {
        func attribute(_ name: String) -> AttributePlan? { item.attributes.first { isSame($0.name, name) } }
        switch test {
        case .kind(let kinds): return kinds.contains { isSame($0, item.kind) }
        case .price(let range): return range.contains(price)
        case .number(let name, let least, let most):
            guard case .halves(let halves)? = attribute(name)?.value else { return false }
            return halves >= least ?? .min && halves <= most ?? .max
        case .words(let name, let words):
            return attribute(name)?.words.contains { own in words.contains { isSame($0, own) } } ?? false
        }
    }
}
