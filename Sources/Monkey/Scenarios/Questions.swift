internal import EventLoop
internal import SeededRandom

/// What is asked of the catalogue. Half of the questions are about the monkey's own city, where it knows what there
/// is; the other half about everything the server has.
@LoopActor
enum Questions {
    static let words = [
        "smoky", "golden", "curry", "dumplings", "crisp", "noodles", "hopper", "tender", "salad", "pie",
    ]
    private static let sorts = ["price", "-price", "name", "rating", "delivery", "relevance"]

    static func typed(_ text: String, _ shopper: Shopper) -> Call.Question {
        let isOwn = shopper.chance.happens(permille: 500)
        return Call.Question(
            words: ["TEXT", text] + (isOwn ? ["CITY", shopper.world.name] : []) + ["LIMIT", "10"],
            bounds: .init(isOwn: isOwn, limit: 10))
    }

    static func ofOutlet(_ world: World, _ outlet: Int, tag: String) -> Call.Question {
        Call.Question(
            words: ["OUTLET", world.outlets[outlet].id, "TAG", tag],
            bounds: .init(isOwn: true, outlet: outlet, tag: tag))
    }

    static func ofCity(_ shopper: Shopper) -> Call.Question {
        Call.Question(
            words: ["CITY", shopper.world.name, "OPEN", "LIMIT", "50"],
            bounds: .init(isOwn: true, isOpen: true, limit: 50))
    }

    /// Any of the filters together.
    static func filtered(_ shopper: Shopper) -> Call.Question {
        var question = Call.Question(words: [], bounds: .init())
        func add(_ words: String...) { question.words += words }
        if shopper.chance.happens(permille: 500) {
            let outlet = shopper.world.pickOutlet(&shopper.chance)
            add("OUTLET", outlet.id)
            question.bounds.outlet = outlet.index
            question.bounds.isOwn = true
        } else if shopper.chance.happens(permille: 500) {
            add("CITY", shopper.world.name)
            question.bounds.isOwn = true
        }
        if shopper.chance.happens(permille: 300) {
            let tag = shopper.chance.pick(MenuPlan.tags)
            add("TAG", tag)
            question.bounds.tag = tag
        }
        if shopper.chance.happens(permille: 400) {
            let least = Int64(shopper.chance.number(0...2_000))
            let most = least + Int64(shopper.chance.number(0...2_000))
            add("PRICE", "\(least)", "\(most)")
            question.bounds.prices = least...most
        }
        if shopper.chance.happens(permille: 300) {
            add("OPEN")
            question.bounds.isOpen = true
        }
        return question
    }

    /// What the saved search of an outlet is called.
    static func name(of outlet: Int, _ world: World) -> String { "\(world.outlets[outlet].id)-cheapest" }

    /// Saves, or reads again, the cheapest things of an outlet that can be had.
    static func save(_ world: World, _ outlet: Int) -> Call {
        .save(
            name: name(of: outlet, world),
            Call.Question(
                words: ["OUTLET", world.outlets[outlet].id, "OPEN", "SORT", "price", "LIMIT", "10"],
                bounds: .init(isOwn: true, outlet: outlet, isOpen: true, limit: 10, sort: "price")))
    }

    /// A page of such a question, in some order.
    static func page(_ shopper: Shopper) -> Call.Question {
        var question = filtered(shopper)
        let sort = shopper.chance.pick(sorts)
        question.words += ["SORT", sort]
        question.bounds.sort = sort
        return question
    }
}
