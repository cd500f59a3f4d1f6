internal import EventLoop
internal import LoadOracle
internal import SeededRandom

/// Pages through a home, up and down, and asks every now and then what has changed.
struct Fling: Scenario {
    static let name = "fling"
    static let summary = "pages through a home up and down, asking SINCE what has changed in it or an item"
    /// The digest of no document: the whole one is sent.
    private static let noDigest = "0"

    private var outlet = 0
    private var item = 0
    private var isUpwards = false
    private var steps = 0

    mutating func next(_ shopper: Shopper) -> Call {
        if steps == 0 {
            outlet = shopper.world.pickOutlet(&shopper.chance).index
            (item, isUpwards, steps) = (0, false, shopper.chance.number(20...60))
        }
        steps -= 1
        switch shopper.chance.below(4) {
        case 0:
            if let kept = shopper.customer.item, shopper.chance.happens(permille: 500) {
                return .item(outlet: kept.outlet, item: kept.item, since: kept.digest)
            }
            // A page is a handful of cards; the first one is opened.
            let count = shopper.world.outlets[outlet].menu.itemCount
            item += (isUpwards ? -1 : 1) * shopper.chance.number(1...6)
            if item >= count || item < 0 {
                isUpwards.toggle()
                item = min(max(item, 0), count - 1)
            }
            let isKept = shopper.chance.happens(permille: 500)
            return .item(outlet: outlet, item: item, since: isKept ? Fling.noDigest : nil)
        default: return Fling.revalidate(shopper, outlet)
        }
    }

    /// The home, or what has changed since it was last read.
    @LoopActor
    static func revalidate(_ shopper: Shopper, _ outlet: Int) -> Call {
        let since = shopper.customer.home.flatMap { $0.outlet == outlet ? $0.revision : nil }
        let isFresh = shopper.chance.happens(permille: 30)
        let cart = shopper.chance.happens(permille: 100) ? shopper.cart.id : nil
        return .home(outlet: outlet, since: isFresh ? nil : since, cart: cart)
    }
}

/// Taps chips of the tag bar and looks at what has the tag.
struct Chips: Scenario {
    static let name = "chips"
    static let summary = "taps random tags, and looks at what has them"

    private var outlet = 0
    private var steps = 0

    mutating func next(_ shopper: Shopper) -> Call {
        if steps == 0 {
            outlet = shopper.world.pickOutlet(&shopper.chance).index
            steps = shopper.chance.number(5...20)
        }
        steps -= 1
        switch shopper.chance.below(3) {
        case 0: return .tags(outlet: outlet)
        case 1: return Fling.revalidate(shopper, outlet)
        default:
            let tag = shopper.chance.pick(MenuPlan.tags)
            return .browse(Questions.ofOutlet(shopper.world, outlet, tag: tag))
        }
    }
}

/// Looks for something to eat, a letter at a time.
struct Browsing: Scenario {
    static let name = "browse"
    static let summary = "searches as it is typed, with any filters, and lets something be chosen"

    private var typed = ""
    private var word = ""

    mutating func next(_ shopper: Shopper) -> Call {
        if typed.count < word.count {
            typed = String(word.prefix(typed.count + 1))
            return .browse(Questions.typed(typed, shopper))
        }
        switch shopper.chance.below(20) {
        case 0..<8:
            word = shopper.chance.pick(Questions.words)
            typed = String(word.prefix(1))
            return .browse(Questions.typed(typed, shopper))
        case 8..<14: return .browse(Questions.page(shopper))
        case 14..<16: return .outlets(Questions.ofCity(shopper))
        case 16: return Questions.choice(shopper)
        default: return .surprise(Questions.filtered(shopper))
        }
    }
}

/// Like the lunch hour: a few outlets get most of the visits.
struct Hot: Scenario {
    static let name = "hot"
    static let summary = "carts and homes of outlets by Zipf's law: a few get most"

    private var outlet: Outlet?

    mutating func next(_ shopper: Shopper) -> Call {
        if outlet == nil || shopper.cart.lines.isEmpty {
            outlet = shopper.cart.outlet ?? shopper.world.pickHotOutlet(&shopper.chance)
        }
        let outlet = outlet ?? shopper.world.outlets[0]
        return shopper.chance.happens(permille: 400)
            ? Fling.revalidate(shopper, outlet.index) : CartWork.move(shopper, outlet)
    }
}

/// Keeps documents up to date from messages, and compares them with what it reads.
struct Watch: Scenario {
    static let name = "watch"
    static let summary = "keeps homes, a cart and a saved search up to date from patches, and compares"

    /// A server keeps 250 saved queries; the first outlets have one each.
    private static let searches = 32

    private var home: Int?
    private var cart: CartID?
    /// Calls to send first, the first one last.
    private var opening: [Call] = []
    private var steps = 0

    mutating func next(_ shopper: Shopper) -> Call {
        let world = shopper.world
        if let call = opening.popLast() {
            if case .cart = call { return .cart(shopper.cart.id) }
            return call
        }
        if let old = cart, old != shopper.cart.id {
            cart = nil
            return .unsubscribe(channel: "cart:\(world.cartName(old))")
        }
        if cart == nil, shopper.cart.version > 0 {
            cart = shopper.cart.id
            opening = [.cart(shopper.cart.id)]
            return .subscribe(channel: "cart:\(world.cartName(shopper.cart.id))")
        }
        if steps == 0, let old = home {
            home = nil
            if old < Watch.searches {
                opening = [.unsubscribe(channel: "browse:\(Questions.name(of: old, world))")]
            }
            return .unsubscribe(channel: "home:\(world.outlets[old].id)")
        }
        guard let outlet = home else {
            let outlet = world.pickOutlet(&shopper.chance).index
            home = outlet
            steps = shopper.chance.number(30...100)
            opening = [.home(outlet: outlet, since: nil, cart: nil)]
            if outlet < Watch.searches {
                opening =
                    [
                        .subscribe(channel: "browse:\(Questions.name(of: outlet, world))"),
                        Questions.save(world, outlet),
                    ] + opening
            }
            return .subscribe(channel: "home:\(world.outlets[outlet].id)")
        }
        steps -= 1
        if let reopening = shopper.reopening { return reopening }
        switch shopper.chance.below(10) {
        case 0..<4: return .home(outlet: outlet, since: nil, cart: nil)
        case 4..<6: return .cart(shopper.cart.id)
        case 6..<8: return CartMoves.add(shopper, outlet: world.outlets[outlet])
        case 8: return Merchant.change(shopper) ?? .count(shopper.cart.id)
        default: return outlet < Watch.searches ? Questions.save(world, outlet) : .count(shopper.cart.id)
        }
    }
}
