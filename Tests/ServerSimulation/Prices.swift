import LoadOracle

/// What is chosen with the item that the simulation's outlets sell: units of each option.
struct Choice: Equatable {
    /// The options, and the most units of each.
    static let options: [(id: String, most: Int)] = [("honey", 1), ("lemon", 1), ("milk", 2)]
    /// The most units of all options together.
    static let most = 3

    /// Sorted by the options' ids; each of at least one unit.
    private(set) var units: [(option: String, units: Int)] = []

    init(_ units: [String: Int]) {
        self.units = units.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The choice that a line's id tells of.
    init(line: String) {
        // A line that is beside an equal one has a number.
        for word in (line.split(separator: "~").first ?? "").split(separator: "+").dropFirst() {
            let parts = word.split(separator: "*")
            units.append((String(parts[0]), parts.count > 1 ? Int(parts[1]) ?? 0 : 1))
        }
    }

    /// The id of a line with it.
    var line: String { ([Prices.item] + words).joined(separator: "+") }

    /// How a client writes it, an option a word.
    var words: [String] { units.map { $0.units == 1 ? $0.option : "\($0.option)*\($0.units)" } }

    /// Whether the menu has no such choice.
    var isTooMuch: Bool {
        units.reduce(0) { $0 + $1.units } > Choice.most
            || units.contains { unit in Choice.options.contains { $0.id == unit.option && $0.most < unit.units } }
    }

    /// The choice as orders show it, at some prices.
    func document(at prices: Prices) -> JSON {
        .array(
            units.map { option, units in
                .object([
                    "id": JSON(option), "name": JSON(option.prefix(1).uppercased() + option.dropFirst()),
                    "units": JSON(units), "price": JSON(prices.amounts[option]!), "free": JSON(0),
                ])
            })
    }

    static func == (one: Choice, other: Choice) -> Bool { one.line == other.line }
}

/// What an outlet asks for its item and the options of it, in minor units.
struct Prices {
    static let item = "tea"
    static let initial = Prices(amounts: [item: 5, "honey": 2, "lemon": 0, "milk": 3])

    /// The menu at these prices, as `MENU.PUT` takes it.
    static let menu = """
        {"sections":[{"id":"s","title":"S","kind":"menuItems","items":[{"id":"tea","kind":"menuItem","name":"Tea",\
        "price":5,"maxQuantity":99,"options":["extras"]}]}],"groups":[{"id":"extras","title":"Extras","max":3,\
        "options":[{"id":"honey","name":"Honey","price":2},{"id":"lemon","name":"Lemon"},\
        {"id":"milk","name":"Milk","price":3,"max":2}]}]}
        """

    /// By the item, and by each option.
    var amounts: [String: Int64]

    /// What one of it costs with a choice.
    func price(of choice: Choice) -> Int64 {
        choice.units.reduce(amounts[Prices.item]!) { $0 + amounts[$1.option]! * Int64($1.units) }
    }
}
