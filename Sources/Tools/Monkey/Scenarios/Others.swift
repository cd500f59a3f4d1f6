internal import EventLoop
internal import LoadOracle
internal import SeededRandom

/// Changes prices, sells items and options out and brings them back, takes dishes off the menu and puts them back, and closes or
/// hides for a moment, while customers shop.
struct Merchant: Scenario {
    static let name = "merchant"
    static let summary = "changes prices and menus of its outlets, closes or hides them for a moment, while all shop"

    private var shopping = CartWork()

    mutating func next(_ shopper: Shopper) -> Call {
        // A shopper without outlets is a customer of the others.
        Merchant.change(shopper) ?? shopping.next(shopper)
    }

    /// How many of a thousand commands change an outlet, over all shoppers; and the most for one shopper.
    private static let share = 20
    private static let most = 500

    /// How many of a thousand commands of a shopper change one of its own outlets. Merchants together change as much
    /// however many there are.
    @LoopActor
    static func permille(of shopper: Shopper) -> Int {
        let shoppers = shopper.run.shoppers.count
        let owners = min(shoppers, shopper.world.shopCount)
        return shopper.index < owners ? min(most, max(1, share * shoppers / owners)) : 0
    }

    /// A change of one of the shopper's own outlets; nil if it has none.
    @LoopActor
    static func change(_ shopper: Shopper) -> Call? {
        if let reopening = shopper.reopening { return reopening }
        guard let outlet = shopper.ownOutlet() else { return nil }
        let menu = outlet.menu
        let item = shopper.chance.below(menu.itemCount)
        if shopper.chance.happens(permille: 20) { return .close(outlet: outlet.index) }
        if shopper.chance.happens(permille: 20) { return .hide(outlet: outlet.index) }
        if shopper.chance.happens(permille: 300) { return optionChange(shopper, outlet) }
        switch shopper.chance.below(10) {
        case 0..<5 where !menu.item(item).hasSizes:
            return .price(outlet: outlet.index, item: item, minor: Int64(shopper.chance.number(100...4_000)))
        case 0...5: return .suspend(outlet: outlet.index, item: item)
        case 6, 7:
            let soldOut = outlet.changedItems.sorted().first {
                !outlet.current(item: $0).isAvailable && outlet.current(item: $0).isListed
            }
            return .resume(outlet: outlet.index, item: soldOut ?? item)
        default:
            let extra = menu.itemCount + shopper.chance.below(MenuPlan.extras)
            guard !outlet.current(item: extra).isListed else { return .unlist(outlet: outlet.index, item: extra) }
            let section = menu.sections[menu.item(extra).section]
            let before = shopper.chance.happens(permille: 700) ? shopper.chance.pick(Array(section.items)) : nil
            return .list(outlet: outlet.index, item: extra, before: before)
        }
    }
}

extension Merchant {
    /// Sells an option out, brings it back, or gives it another price.
    @LoopActor
    private static func optionChange(_ shopper: Shopper, _ outlet: Outlet) -> Call {
        if shopper.chance.happens(permille: 500) {
            let (option, least) = shopper.chance.pick(GroupPlan.pricedOptions)
            let minor = Int64(least + shopper.chance.below(GroupPlan.priceSpan))
            return .priceOption(outlet: outlet.index, option: option, minor: minor)
        }
        return sellOutOption(shopper, outlet)
    }

    /// Sells an option out, or brings back the one that is.
    @LoopActor
    static func sellOutOption(_ shopper: Shopper, _ outlet: Outlet) -> Call {
        if let soldOut = outlet.soldOutOption, shopper.chance.happens(permille: 700) {
            return .resumeOption(outlet: outlet.index, option: soldOut)
        }
        return .suspendOption(outlet: outlet.index, option: shopper.chance.pick(GroupPlan.spareOptions))
    }
}

/// Everything at random: for a while one kind of user, then another.
struct MonkeyBusiness: Scenario {
    static let name = "monkey"
    static let summary = "all of it at random (what runs unless another is asked for)"
    static let needsKitchens = true

    private static let parts: [(scenario: any Scenario.Type, weight: Double)] = [
        (CartWork.self, 30), (Fling.self, 22), (Hot.self, 12), (Promos.self, 8), (Desserts.self, 8),
        (Browsing.self, 10), (Chips.self, 4), (Watch.self, 4), (Merchant.self, 2), (KitchenWork.self, 6),
    ]
    private static let weights = parts.map(\.weight)

    private var part: any Scenario = CartWork()
    private var steps = 0

    mutating func next(_ shopper: Shopper) -> Call {
        if steps == 0 {
            part = MonkeyBusiness.parts[shopper.chance.pick(weights: MonkeyBusiness.weights)].scenario.init()
            steps = shopper.chance.number(10...60)
        }
        steps -= 1
        // Owners look after their outlets whatever else they do, and do not leave them closed.
        if shopper.reopening != nil || shopper.chance.happens(permille: Merchant.permille(of: shopper)),
            let change = Merchant.change(shopper)
        {
            return change
        }
        return part.next(shopper)
    }
}

/// The same as ``MonkeyBusiness``, in a catalogue as large as requested.
struct Stress: Scenario {
    static let name = "stress"
    static let summary = "builds a huge catalogue first (--outlets, --items, --carts), then all of it at random"
    static let needsKitchens = true

    private var business = MonkeyBusiness()

    mutating func next(_ shopper: Shopper) -> Call { business.next(shopper) }
}

/// One command over and over, to compare with other load generators.
struct Adds: Scenario {
    static let name = "add"
    static let summary = "CART.ADD over and over"
    private static let perCart = 50

    mutating func next(_ shopper: Shopper) -> Call {
        if shopper.commandsOfCart >= Adds.perCart { shopper.takeNewCart() }
        return .add(
            shopper.cart.id, outlet: shopper.index % shopper.world.shopCount, item: 0, quantity: 1, note: nil)
    }
}

/// One command over and over, to compare with other load generators.
struct Counts: Scenario {
    static let name = "count"
    static let summary = "CART.COUNT over and over"

    mutating func next(_ shopper: Shopper) -> Call { .count(shopper.cart.id) }
}

/// One command over and over, to compare with other load generators.
struct Homes: Scenario {
    static let name = "home"
    static let summary = "OUTLET.HOME over and over"

    mutating func next(_ shopper: Shopper) -> Call {
        .home(outlet: shopper.world.pickOutlet(&shopper.chance).index, since: nil, cart: nil)
    }
}
