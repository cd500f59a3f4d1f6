internal import SeededRandom

/// What can be chosen with items of the load generator's own menus.
package struct GroupPlan: Sendable {
    package struct Option: Sendable {
        package var id: String
        package var name: String
        package var price: Int64
        /// What one unit costs with a size.
        package var prices: [String: Int64] = [:]
        /// The most units of it.
        package var maximum = 1
        /// The groups that open where it is chosen.
        package var opens: [String] = []
        /// Its own tax, with what one unit of it costs; nil if it has that of its item.
        package var tax: String?
    }

    package var id: String
    package var title: String
    package var minimum = 0
    package var maximum = 1
    /// How many units cost nothing.
    package var free = 0
    /// Whether the price of the option takes the place of the item's.
    package var setsPrice = false
    package var options: [Option]

    static let sizes = "size"
    static let sides = "side"
    static let extras = "extras"

    /// Options that may be sold out: what is left of their groups can be had without them, and with it every item.
    package static let spareOptions = ["aioli", "bacon", "cheese", "egg", "slaw"]
    /// Options whose prices may change, each with the least of them: so that they have the same order in their group.
    package static let pricedOptions: [(id: String, least: Int)] = [
        ("aioli", 80), ("bacon", 200), ("cheese", 80), ("ketchup", 20), ("slaw", 50),
    ]
    /// From the least to the greatest of an option's prices, and one more.
    package static let priceSpan = 40

    /// The groups of a menu. In a group no two options cost the same, so which units are free is no question.
    ///
    /// - Parameter tax: that of some options; nil if the outlet has no such tax.
    static func all(seed: UInt64, taxOfOptions tax: String?) -> [GroupPlan] {
        var chance = SeededGenerator(seed: ~seed)
        func price(_ least: Int) -> Int64 { Int64(least + chance.below(priceSpan)) }
        let (small, cheese, bacon) = (price(700), price(80), price(200))
        return [
            GroupPlan(
                id: sizes, title: "Size", minimum: 1, setsPrice: true,
                options: [
                    Option(id: "small", name: "Small", price: small),
                    Option(id: "large", name: "Large", price: small + price(250)),
                ]),
            GroupPlan(
                id: extras, title: "Extras", maximum: 3, free: 1,
                options: [
                    Option(id: "cheese", name: "Cheese", price: cheese, prices: ["large": cheese + 50], maximum: 2),
                    Option(id: "bacon", name: "Bacon", price: bacon, tax: tax),
                    Option(id: "egg", name: "Egg", price: 0),
                ]),
            GroupPlan(
                id: sides, title: "Side", minimum: 1,
                options: [
                    Option(id: "fries", name: "Fries", price: 0, opens: ["dip"]),
                    Option(id: "slaw", name: "Slaw", price: price(50)),
                ]),
            GroupPlan(
                id: "dip", title: "Dip", minimum: 1, maximum: 2, free: 1,
                options: [
                    Option(id: "ketchup", name: "Ketchup", price: price(20), maximum: 2),
                    Option(id: "aioli", name: "Aioli", price: price(80), tax: tax),
                ]),
        ]
    }

    /// The groups that the nth item of a menu offers.
    static func ofItem(_ index: Int) -> [String] {
        switch index % 12 {
        case 2, 4, 6: [extras]
        case 8: [sides, extras]
        case 1, 7: [sizes, extras]
        default: []
        }
    }

    /// The group as `MENU.PUT` takes it.
    var json: String {
        let options = options.map { option in
            let prices = option.prices.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
            let opens = option.opens.map { "\"\($0)\"" }.joined(separator: ",")
            let tax = option.tax.map { "\"tax\":\"\($0)\"," } ?? ""
            return """
                {"id":"\(option.id)","name":"\(option.name)","price":\(option.price),\(tax)\
                \(prices.isEmpty ? "" : "\"prices\":{\(prices.joined(separator: ","))},")\
                "max":\(option.maximum),"groups":[\(opens)]}
                """
        }
        return """
            {"id":"\(id)","title":"\(title)","min":\(minimum),"max":\(maximum),"free":\(free),\
            "setsPrice":\(setsPrice),"options":[\(options.joined(separator: ","))]}
            """
    }
}

/// Some units of an option.
package struct ChosenOption: Hashable, Sendable {
    package var id: String
    package var units: Int
}

extension [ChosenOption] {
    /// The options in a text such as `large,cheese,cheese`: each once, in the order of their ids. nil if it is no such
    /// text.
    package init?(taps text: String) {
        var units: [Text: Int] = [:]
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = word.split(separator: "*", omittingEmptySubsequences: false)
            guard let id = parts.first, !id.isEmpty, parts.count < 3,
                let count = parts.count == 1 ? 1 : Int(parts[1]), (1...99).contains(count)
            else { return nil }
            units[Text(String(id)), default: 0] += count
        }
        self = units.sorted { $0.key < $1.key }.map { ChosenOption(id: $0.key.string, units: $0.value) }
    }
}

extension MenuPlan {
    /// What is said of an item that can be had, with options, which are in the order of their ids.
    ///
    /// - Parameters:
    ///   - price: the item's own.
    ///   - offers: what is said of options that have changed.
    func said(
        of item: ItemPlan, at price: Int64, with chosen: [ChosenOption], _ offers: [Text: Offer] = [:]
    ) -> Saying {
        var open = item.groups
        var next = 0
        while next < open.count {
            for option in group(open[next])?.options ?? [] where chosen.contains(where: { isSame($0.id, option.id) }) {
                open += option.opens.filter { !open.contains($0) }
            }
            next += 1
        }
        let groups = open.compactMap(group)
        // The first option that is wrong decides.
        for choice in chosen {
            let option = groups.lazy.flatMap(\.options).first { isSame($0.id, choice.id) }
            guard let option, choice.units <= option.maximum else { return .wrongChoice }
            if offers[Text(option.id)]?.isAvailable == false { return .optionSoldOut(Text(option.id)) }
        }
        let size = groups.first(where: \.setsPrice)?.options.first { option in
            chosen.contains { isSame($0.id, option.id) }
        }
        var unitPrice = size?.price ?? price
        var shown: [(id: Text, document: JSON)] = []
        // What each option is worth: in a combo, all of its units.
        var worths: [(id: Text, part: Bill.Part)] = []
        for group in groups {
            var picked: [(option: GroupPlan.Option, units: Int, price: Int64)] = []
            for option in group.options {
                guard let units = chosen.first(where: { isSame($0.id, option.id) })?.units else { continue }
                let own = offers[Text(option.id)]?.price ?? option.price
                picked.append((option, units, size.flatMap { option.prices[$0.id] } ?? own))
            }
            guard (group.minimum...group.maximum).contains(picked.reduce(0) { $0 + $1.units }) else {
                return .wrongChoice
            }
            var free = group.free
            for (option, units, price) in picked.sorted(by: { $0.price < $1.price }) {
                let without = min(free, units)
                free -= without
                if !group.setsPrice {
                    unitPrice += Int64(units - without) * price
                    let counted = item.isCombo ? units : units - without
                    worths.append((Text(option.id), Bill.Part(tax: option.tax, worth: Int64(counted) * price)))
                }
                shown.append(
                    (
                        Text(option.id),
                        .object([
                            "id": .string(Text(option.id)), "name": .string(Text(option.name)),
                            "units": .number(Double(units)), "price": .number(Double(price)),
                            "free": .number(Double(without)),
                        ])
                    ))
            }
        }
        let base = item.isCombo ? [] : [Bill.Part(tax: nil, worth: size?.price ?? price)]
        return .priced(
            Priced(
                unitPrice: unitPrice, options: shown.sorted { $0.id < $1.id }.map(\.document),
                parts: base + worths.sorted { $0.id < $1.id }.map(\.part)))
    }

    /// The option with that id.
    func option(_ id: String) -> GroupPlan.Option? {
        groups.lazy.flatMap(\.options).first { isSame($0.id, id) }
    }

    /// The group with that id.
    package func group(_ id: String) -> GroupPlan? { groups.first { isSame($0.id, id) } }
}
