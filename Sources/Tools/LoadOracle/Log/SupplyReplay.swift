/// What an outlet has counted, as its events have it, compared with what its orders need: of one item by their lines,
/// and of slots by their times.
///
/// Carts and orders may be in other partitions, which are read before or after this one. So what two streams say of
/// each other is compared in the end.
struct SupplyReplay {
    /// What is counted: the item, or the slot at a moment.
    private enum Thing: Hashable {
        case item
        case slot(Text)
    }

    private typealias Amounts = [Thing: Int64]

    private let item: Text
    private let ordersPerSlot: Int64?
    /// How much is left: of the item as its merchant said, of a slot as the outlet does.
    private var left: Amounts = [:]
    /// What orders hold, or have held and given back.
    private var held: [String: Amounts] = [:]
    private var returned: [String: Amounts] = [:]
    /// How much was left when an order was refused.
    private var refused: [String: Amounts] = [:]
    /// What checkouts and orders need, and which of them became orders.
    private var needs: [String: Amounts] = [:]
    private var placed: Set<String> = []
    /// Whether the menu says that nothing is left of the item.
    private var isSoldOut = false

    init(_ item: Int, ordersPerSlot: Int64?) {
        self.item = Text(ItemPlan.id(item))
        self.ordersPerSlot = ordersPerSlot
    }

    /// How much was left of something; nil for now.
    private func left(of thing: Thing, in earlier: Amounts? = nil) -> Int64 {
        let untouched = if case .slot = thing { ordersPerSlot ?? 0 } else { Int64(0) }
        return (earlier ?? left)[thing] ?? untouched
    }

    // MARK: Events

    /// A checkout has begun, or an order was placed.
    mutating func need(_ order: String, _ event: LogEvent, isPlaced: Bool) {
        var needs: Amounts = [:]
        let units = (event.payload["lines"]?.array ?? []).units(of: item)
        if units > 0 { needs[.item] = units }
        if event.payload["releaseAt"] != nil, let time = event.payload["promisedFor"]?.integer {
            needs[.slot(Text(Moment.text(milliseconds: time)))] = 1
        }
        self.needs[order] = needs
        if isPlaced { placed.insert(order) }
    }

    /// The menu says that nothing is left any more, or that there is some again.
    mutating func show(_ event: LogEvent) { isSoldOut = isSame(event.kind, "menu.itemSuspended") }

    /// Takes the next event of the supply.
    ///
    /// - Parameter added: what the merchant added; nil if that is unknown, or if the count was set.
    /// - Returns: what is wrong with it.
    mutating func apply(_ event: LogEvent, added: Int64?) -> String? {
        let order = event.payload["order"]?.string ?? ""
        let amounts = amounts(event)
        switch event.kind {
        case "supply.stocked":
            let before = left[.item]
            left[.item] = event.payload["left"]?.integer
            guard let added, let before, left[.item] != before + added else { return nil }
            return "says that \(left(of: .item)) are left after \(added) were added to \(before)"
        case "supply.held":
            if held.updateValue(amounts, forKey: order) != nil || refused[order] != nil {
                return "answers order \(order) twice"
            }
            for (thing, amount) in amounts {
                let before = left(of: thing)
                left[thing] = before - amount
                if amount > before { return "gives order \(order) \(amount), and has \(before)" }
            }
            return nil
        case "supply.refused":
            return held[order] != nil || refused.updateValue(left, forKey: order) != nil
                ? "answers order \(order) twice" : nil
        case "supply.returned":
            for (thing, amount) in amounts {
                left[thing] = left(of: thing) + amount
                if returned[order, default: [:]].updateValue(amount, forKey: thing) != nil {
                    return "gets back twice what order \(order) held"
                }
                if held[order]?[thing] != amount { return "gets back \(amount) that order \(order) does not hold" }
            }
            return nil
        default: return nil
        }
    }

    /// What an event says that an order holds, is refused or gives back. Other things that are counted are left out.
    private func amounts(_ event: LogEvent) -> Amounts {
        (event.payload["claims"]?.array ?? []).reduce(into: [:]) { amounts, claim in
            let (kind, id) = (claim["kind"]?.text, claim["id"]?.text ?? "")
            if kind == "item", id == item { amounts[.item, default: 0] += claim["count"]?.integer ?? 0 }
            if kind == "slot" { amounts[.slot(id), default: 0] += claim["count"]?.integer ?? 0 }
        }
    }

    // MARK: The end

    /// What is wrong with what was held, given back and shown, with the order that shows it.
    ///
    /// - Parameter orders: the orders as they follow from their events.
    func problems(_ orders: [String: OrderReplay]) -> [(order: String?, text: String)] {
        var problems: [(String?, String)] = []
        for (order, amounts) in held.sorted(by: { $0.key < $1.key }) where needs[order] != amounts {
            problems.append((order, "gives order \(order) something else than it needs"))
        }
        for (order, left) in refused.sorted(by: { $0.key < $1.key }) {
            let isEnough = (needs[order] ?? [:]).allSatisfy { $1 <= self.left(of: $0, in: left) }
            if isEnough { problems.append((order, "refuses order \(order), and has what it needs")) }
        }
        for order in placed.sorted() {
            guard let needs = needs[order], !needs.isEmpty else { continue }
            if held[order] == nil { problems.append((order, "does not know order \(order), which needs some of it")) }
            for thing in needs.keys where held[order] != nil {
                let isBack = returned[order]?[thing] != nil
                guard let givesBack = orders[order]?.givesBack(thing == .item ? item : nil), givesBack != isBack else {
                    continue
                }
                let what =
                    isBack ? "gets back what order \(order) has used" : "does not get back what order \(order) held"
                problems.append((order, what))
            }
        }
        if let left = left[.item], isSoldOut != (left == 0) {
            problems.append((nil, "has \(left), and the menu says that it has \(isSoldOut ? "none" : "some")"))
        }
        return problems
    }
}
