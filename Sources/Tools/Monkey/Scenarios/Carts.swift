internal import EventLoop
internal import LoadOracle
internal import SeededRandom

/// What all scenarios with a cart do with it.
enum CartMoves {
    /// After this many commands a cart is left for a new one.
    static let longestLife = 80
    private static let notes: [String?] = [nil, nil, nil, "no peas", "extra hot"]

    /// Some of an item, now and then more than allowed.
    @LoopActor
    static func add(_ shopper: Shopper, outlet: Outlet, item: Int? = nil) -> Call {
        if shopper.cart.isCheckedOut || shopper.commandsOfCart > longestLife { shopper.takeNewCart() }
        // A cart belongs to one outlet. Mostly that is respected, and sometimes it is tried.
        let strays = shopper.chance.happens(permille: 20)
        let outlet = strays ? outlet : shopper.cart.outlet ?? outlet
        let items = outlet.menu.everyItem
        let item =
            item.flatMap { items.contains($0) ? $0 : nil } ?? items.lowerBound + shopper.chance.below(items.count)
        let quantity =
            shopper.chance.happens(permille: 10) ? shopper.chance.number(90...120) : shopper.chance.number(1...3)
        return .add(
            shopper.cart.id, outlet: outlet.index, item: item, quantity: quantity,
            options: options(shopper, outlet.menu, outlet.menu.item(item)), note: shopper.chance.pick(notes))
    }

    /// Some options of an item in the order of taps, now and then not what its groups ask for; nil for none.
    @LoopActor
    static func options(_ shopper: Shopper, _ menu: MenuPlan, _ item: ItemPlan) -> String? {
        var (open, next) = (item.groups, 0)
        var taps: [String] = []
        while next < open.count {
            guard let group = menu.group(open[next]) else { break }
            next += 1
            for _ in 0..<shopper.chance.number(group.minimum...group.maximum) {
                let option = shopper.chance.pick(group.options)
                guard taps.count(where: { $0 == option.id }) < option.maximum else { continue }
                taps.append(option.id)
                open += option.opens.filter { !open.contains($0) }
            }
        }
        taps.shuffle(using: &shopper.chance)
        if shopper.chance.happens(permille: 30) { _ = taps.popLast() }
        if shopper.chance.happens(permille: 20) {
            taps.append(shopper.chance.pick(["aioli", "cheese", "large", "none"]))
        }
        guard shopper.chance.happens(permille: 500) else { return taps.isEmpty ? nil : taps.joined(separator: ",") }
        let words = Set(taps).sorted().map { id in
            let units = taps.count { $0 == id }
            return units == 1 ? id : "\(id)*\(units)"
        }
        return words.isEmpty ? nil : words.shuffled(using: &shopper.chance).joined(separator: ",")
    }

    /// Other options or another note for a line of the cart; now and then for one that does not exist.
    @LoopActor
    static func edit(_ shopper: Shopper) -> Call {
        let line = line(shopper)
        let item = ItemPlan.index(of: line.prefix { $0 != "+" && $0 != "~" })
        var chosen: String?
        if let item, let outlet = shopper.cart.outlet, outlet.menu.everyItem.contains(item) {
            chosen = options(shopper, outlet.menu, outlet.menu.item(item))
        }
        let note = chosen == nil || shopper.chance.happens(permille: 300) ? "extra hot" : nil
        return .edit(shopper.cart.id, line: line, options: chosen, note: note)
    }

    /// A line of the cart; now and then one that does not exist.
    @LoopActor
    static func line(_ shopper: Shopper) -> String {
        let lines = shopper.cart.lines
        if lines.isEmpty || shopper.chance.happens(permille: 20) { return "i\(shopper.chance.below(50))" }
        return shopper.chance.pick(lines).id
    }

    @LoopActor
    static func checkOut(_ shopper: Shopper) -> Call {
        let total = shopper.cart.agreeableTotal
        return .checkOut(shopper.cart.id, total: shopper.chance.happens(permille: 50) ? total + 1 : total)
    }
}

/// A customer with a cart: adds, edits, sets, removes, clears, looks, and checks out.
struct CartWork: Scenario {
    static let name = "cart"
    static let summary = "adds to a cart with options, edits, sets, removes, clears and reads it, and checks it out"

    private var outlet: Outlet?

    mutating func next(_ shopper: Shopper) -> Call {
        let outlet = outlet ?? shopper.world.pickOutlet(&shopper.chance)
        self.outlet = shopper.cart.lines.isEmpty ? nil : outlet
        return CartWork.move(shopper, outlet)
    }

    @LoopActor
    static func move(_ shopper: Shopper, _ outlet: Outlet) -> Call {
        let cart = shopper.cart
        if cart.isCheckedOut, let order = shopper.customer.lastOrder, case .checkedOut(let id) = order.status {
            switch shopper.chance.below(10) {
            case 0..<4: return .order(id)
            case 4: return .cart(cart.id)
            case 5: return .clear(cart.id)
            default: return CartMoves.add(shopper, outlet: outlet)
            }
        }
        switch shopper.chance.below(100) {
        case 0..<46: return CartMoves.add(shopper, outlet: outlet)
        case 46..<52: return CartMoves.edit(shopper)
        case 52..<64:
            return .set(cart.id, line: CartMoves.line(shopper), quantity: shopper.chance.number(0...14))
        case 64..<69: return .remove(cart.id, line: CartMoves.line(shopper))
        case 69..<71: return .clear(cart.id)
        case 71..<83: return .count(cart.id)
        case 83..<93: return .cart(cart.id)
        default: return CartMoves.checkOut(shopper)
        }
    }
}

/// A carousel: adds from it again and again, and checks that the count has risen by what was added.
@LoopActor
struct Carousel {
    private var outlet: Outlet?
    private var looks = 0

    nonisolated init() {}

    mutating func next(_ shopper: Shopper, kind: String) -> Call {
        if looks > 0 {
            looks -= 1
            return looks == 0
                ? .count(shopper.cart.id)
                : .home(outlet: (outlet ?? shopper.world.outlets[0]).index, since: nil, cart: shopper.cart.id)
        }
        if outlet == nil || shopper.chance.happens(permille: 100) {
            outlet = shopper.cart.outlet ?? shopper.world.pickOutlet(&shopper.chance)
        }
        let outlet = shopper.cart.outlet ?? outlet ?? shopper.world.outlets[0]
        let items = outlet.menu.sections.first { $0.kind == kind }?.items ?? outlet.menu.everyItem
        // Reads the count now and then, and less often the home with the count in it.
        looks = [0, 0, 0, 1, 1, 2][shopper.chance.below(6)]
        return CartMoves.add(shopper, outlet: outlet, item: items.lowerBound + shopper.chance.below(items.count))
    }
}

struct Promos: Scenario {
    static let name = "promos"
    static let summary = "adds from the promo carousel, and counts"
    private var carousel = Carousel()

    mutating func next(_ shopper: Shopper) -> Call { carousel.next(shopper, kind: "promotions") }
}

struct Desserts: Scenario {
    static let name = "desserts"
    static let summary = "adds from the dessert carousel, and counts"
    private var carousel = Carousel()

    mutating func next(_ shopper: Shopper) -> Call { carousel.next(shopper, kind: "desserts") }
}
