internal import EventLoop
internal import LoadOracle
internal import SeededRandom

/// The queries to the catalogue. Half of them are about the monkey's own city, whose contents it knows; the other
/// half are about everything that the server has.
@LoopActor
enum Questions {
    static let words = [
        "smoky", "golden", "curry", "dumplings", "crisp", "noodles", "hopper", "tender", "salad", "pie",
    ]
    private static let kinds = ["menuItem", "promo", "dessert"]
    private static let sorts = ["price", "-price", "name", "rating", "delivery", "relevance"]

    private static func question(_ words: [String], _ world: World) -> Call.Question {
        guard let question = Call.Question(words, world) else { preconditionFailure("no question: \(words)") }
        return question
    }

    static func typed(_ text: String, _ shopper: Shopper) -> Call.Question {
        let isOwn = shopper.chance.happens(permille: 500)
        return question(
            ["TEXT", text] + (isOwn ? ["CITY", shopper.world.name] : []) + ["LIMIT", "10"], shopper.world)
    }

    static func ofOutlet(_ world: World, _ outlet: Int, tag: String) -> Call.Question {
        question(["OUTLET", world.outlets[outlet].id, "TAG", tag], world)
    }

    static func ofCity(_ shopper: Shopper) -> Call.Question {
        let isExcluded = shopper.chance.happens(permille: 200)
        let currency = shopper.chance.happens(permille: 200) ? ["CURRENCY", Outlet.currency] : []
        return question(
            ["CITY", shopper.world.name] + currency + (isExcluded ? ["NOT", "OPEN"] : ["OPEN"]) + ["LIMIT", "50"],
            shopper.world)
    }

    /// Any of the filters together.
    static func filtered(_ shopper: Shopper) -> Call.Question { question(filters(shopper), shopper.world) }

    private static func filters(_ shopper: Shopper) -> [String] {
        var words: [String] = []
        if shopper.chance.happens(permille: 500) {
            words += ["OUTLET", shopper.world.pickOutlet(&shopper.chance).id]
        } else if shopper.chance.happens(permille: 500) {
            words += ["CITY", shopper.world.name]
        }
        if shopper.chance.happens(permille: 300) { words += ["TAG", shopper.chance.pick(MenuPlan.tags)] }
        if shopper.chance.happens(permille: 200) { words += ["NOT", "TAG", shopper.chance.pick(MenuPlan.tags)] }
        if shopper.chance.happens(permille: 400) {
            let least = shopper.chance.number(0...2_000)
            let isExcluded = shopper.chance.happens(permille: 250)
            words += ["CURRENCY", Outlet.currency] + (isExcluded ? ["NOT"] : [])
            words += ["PRICE", "\(least)", "\(least + shopper.chance.number(0...2_000))"]
        } else if shopper.chance.happens(permille: 200) {
            words += ["CURRENCY", Outlet.currency]
        }
        if shopper.chance.happens(permille: 200) {
            let isExcluded = shopper.chance.happens(permille: 500)
            words += (isExcluded ? ["NOT"] : []) + ["KIND", shopper.chance.pick(kinds)]
        }
        while shopper.chance.happens(permille: 350) { words += attribute(shopper) }
        switch shopper.chance.below(10) {
        case 0..<3: words.append("OPEN")
        case 3: words += ["NOT", "OPEN"]
        default: break
        }
        return words
    }

    /// A filter by what items say of themselves, or one that leaves some out.
    private static func attribute(_ shopper: Shopper) -> [String] {
        let words: [String]
        switch shopper.chance.below(4) {
        case 0: words = ["ATTR", AttributePlan.vegan, "ANY", shopper.chance.pick(["true", "false"])]
        case 1:
            let allergens = AttributePlan.knownAllergens.shuffled(using: &shopper.chance)
            words = ["ATTR", AttributePlan.allergens, "ANY"] + allergens.prefix(shopper.chance.number(1...2))
        default:
            let (name, most) = shopper.chance.pick(AttributePlan.numbers)
            let ends = [shopper.chance.number(0...most), shopper.chance.number(0...most)].sorted()
            let open = shopper.chance.below(4)
            words =
                ["ATTR", name]
                + ends.enumerated().map { $0.offset == open ? "*" : AttributePlan.text(halves: $0.element) }
        }
        return (shopper.chance.happens(permille: 300) ? ["NOT"] : []) + words
    }

    /// A few dishes, or the same one again, to choose from.
    static func choice(_ shopper: Shopper) -> Call {
        .choose((0..<shopper.chance.number(1...5)).map { _ in shopper.chance.pick(words) })
    }

    /// The name of an outlet's saved query. All who watch the outlet share it.
    static func name(of outlet: Int, _ world: World) -> String { "shared:\(world.outlets[outlet].id)-cheapest" }

    /// Saves, or reads again, the cheapest available items of an outlet.
    static func save(_ world: World, _ outlet: Int) -> Call {
        .save(
            name: name(of: outlet, world),
            question(
                ["OUTLET", world.outlets[outlet].id, "OPEN", "SORT", "price", "COUNT", "10"], world))
    }

    /// A page of such a query, in some order.
    static func page(_ shopper: Shopper) -> Call.Question {
        question(filters(shopper) + ["SORT", shopper.chance.pick(sorts)], shopper.world)
    }
}
