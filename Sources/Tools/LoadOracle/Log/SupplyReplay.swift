/// What an outlet has counted of one item, as its events have it, compared with what its orders need by their lines.
///
/// Carts and orders may be in other partitions, which are read before or after this one. So what two streams say of
/// each other is compared in the end.
struct SupplyReplay {
    private let item: Text
    private var left: Int64?
    /// What orders hold, or have held and given back.
    private var held: [String: Int64] = [:]
    private var returned: Set<String> = []
    /// How much was left when an order was refused.
    private var refused: [String: Int64] = [:]
    /// What checkouts and orders need, and which of them became orders.
    private var needs: [String: Int64] = [:]
    private var placed: Set<String> = []
    /// Whether the menu says that nothing is left.
    private var isSoldOut = false

    init(_ item: Int) { self.item = Text(ItemPlan.id(item)) }

    // MARK: Events

    /// A checkout has begun, or an order was placed.
    mutating func need(_ order: String, _ lines: JSON?, isPlaced: Bool) {
        needs[order] = (lines?.array ?? []).units(of: item)
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
        let claims = (event.payload["claims"]?.array ?? []).filter {
            $0["kind"]?.text == "item" && $0["id"]?.text == item
        }
        let units = claims.reduce(Int64(0)) { $0 + ($1["count"]?.integer ?? 0) }
        switch event.kind {
        case "supply.stocked":
            let before = left
            left = event.payload["left"]?.integer
            guard let added, let before, left != before + added else { return nil }
            return "says that \(left ?? 0) are left after \(added) were added to \(before)"
        case "supply.held":
            let before = left ?? 0
            left = before - units
            if held.updateValue(units, forKey: order) != nil || refused[order] != nil {
                return "answers order \(order) twice"
            }
            return units <= before ? nil : "gives order \(order) \(units), and has \(before)"
        case "supply.refused":
            if held[order] != nil || refused.updateValue(left ?? 0, forKey: order) != nil {
                return "answers order \(order) twice"
            }
            return nil
        case "supply.returned":
            left = (left ?? 0) + units
            guard returned.insert(order).inserted else { return "gets back twice what order \(order) held" }
            return held[order] == units ? nil : "gets back \(units) of order \(order), which holds \(held[order] ?? 0)"
        default: return nil
        }
    }

    // MARK: The end

    /// What is wrong with what was held, given back and shown, with the order that shows it.
    ///
    /// - Parameter orders: the orders as they follow from their events.
    func problems(_ orders: [String: OrderReplay]) -> [(order: String?, text: String)] {
        var problems: [(String?, String)] = []
        for (order, units) in held.sorted(by: { $0.key < $1.key }) where needs[order] != units {
            problems.append((order, "gives order \(order) \(units), which needs \(needs[order] ?? 0)"))
        }
        for (order, left) in refused.sorted(by: { $0.key < $1.key }) where needs[order] ?? .max <= left {
            problems.append((order, "refuses order \(order) \(needs[order] ?? 0), and has \(left)"))
        }
        for order in placed.sorted() where needs[order] ?? 0 > 0 {
            let isBack = returned.contains(order)
            if held[order] == nil {
                problems.append((order, "does not know order \(order), which needs \(needs[order] ?? 0)"))
            } else if let givesBack = orders[order]?.givesBack(item), givesBack != isBack {
                let what =
                    isBack ? "gets back what order \(order) has used" : "does not get back what order \(order) held"
                problems.append((order, what))
            }
        }
        if let left, isSoldOut != (left == 0) {
            problems.append((nil, "has \(left), and the menu says that it has \(isSoldOut ? "none" : "some")"))
        }
        return problems
    }
}
