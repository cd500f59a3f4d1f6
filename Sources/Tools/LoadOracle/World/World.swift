/// The outlets of a run. Their names were never used before, so that the oracle knows everything about them and the
/// run does no harm to other data.
package final class World {
    /// How large it is.
    package struct Size: Equatable, Sendable {
        package static let usual = Size(outlets: 8, items: 320, carts: 0)
        package static let stress = Size(outlets: 1_000, items: 100_000, carts: 100_000)
        /// The most items on a menu.
        package static let itemsOfAnOutlet = 5_000
        package static let outletLimit = 100_000
        package static let itemLimit = 5_000_000
        package static let cartLimit = 5_000_000

        package var outlets: Int
        /// Of all outlets together.
        package var items: Int
        /// Carts that are filled before the load begins.
        package var carts: Int
        /// Outlets beside these whose orders are cooked.
        package var kitchens: Int

        package init(outlets: Int, items: Int, carts: Int, kitchens: Int = 0) {
            self.outlets = outlets
            self.items = items
            self.carts = carts
            self.kitchens = kitchens
        }
    }

    /// Everything that determines a world.
    package struct Plan: Equatable, Sendable {
        /// What every id begins with.
        package var name: String
        package var size: Size
        package var seed: UInt64
        package var customers: Int

        package init(name: String, size: Size, seed: UInt64, customers: Int) {
            self.name = name
            self.size = size
            self.seed = seed
            self.customers = customers
        }
    }

    let plan: Plan
    /// All outlets, the kitchens last.
    package let outlets: [Outlet]
    /// Running sums of 1/n for the first n outlets.
    private let zipf: [Double]

    package init(_ plan: Plan) {
        self.plan = plan
        let size = plan.size
        outlets = (0..<(size.outlets + size.kitchens)).map { index in
            let isKitchen = index >= size.outlets
            let items =
                isKitchen
                ? KitchenTerms.items : size.items / size.outlets + (index < size.items % size.outlets ? 1 : 0)
            let terms = isKitchen ? KitchenTerms.of(index - size.outlets) : nil
            return Outlet(
                index: index, id: "\(plan.name)-o\(index)", owner: index % plan.customers,
                menu: MenuPlan(items: items, seed: plan.seed &+ UInt64(index), taxOfOptions: terms?.taxOfOptions),
                terms: terms)
        }
        var sum = 0.0
        zipf = (0..<size.outlets).map { rank in
            sum += 1 / Double(rank + 1)
            return sum
        }
    }

    /// What every id begins with.
    package var name: String { plan.name }

    package func cartName(_ cart: CartID) -> String { "\(name)-c\(cart.shopper).\(cart.number)" }

    /// The cart with that name; nil if it does not belong to this run.
    func cart(named text: some StringProtocol) -> CartID? {
        let prefix = "\(name)-c"
        guard text.utf8.starts(with: prefix.utf8) else { return nil }
        let numbers = text.dropFirst(prefix.count).split(separator: ".", maxSplits: 1).map { Int($0) }
        guard numbers.count == 2, let shopper = numbers[0], let number = numbers[1] else { return nil }
        let cart = CartID(shopper: shopper, number: number)
        // `c1.+2` is not one.
        return isSame(cartName(cart), String(text)) ? cart : nil
    }

    /// The outlet with that id; nil if it does not belong to this run.
    package func outlet(_ id: some StringProtocol) -> Outlet? {
        let prefix = "\(name)-o"
        guard id.utf8.starts(with: prefix.utf8), let index = Int(id.dropFirst(prefix.count)),
            outlets.indices.contains(index), isSame(outlets[index].id, String(id))
        else { return nil }
        return outlets[index]
    }

    /// Outlets whose orders are cooked.
    package var kitchens: ArraySlice<Outlet> { outlets.dropFirst(plan.size.outlets) }

    /// How many outlets are no kitchens.
    package var shopCount: Int { plan.size.outlets }

    /// Any outlet that is no kitchen.
    package func pickOutlet(_ random: inout some RandomNumberGenerator) -> Outlet {
        outlets[Int.random(in: 0..<shopCount, using: &random)]
    }

    /// An outlet that is no kitchen by Zipf's law: the nth is picked 1/n as often as the first.
    package func pickHotOutlet(_ random: inout some RandomNumberGenerator) -> Outlet {
        let point = Double.random(in: 0..<1, using: &random) * (zipf.last ?? 1)
        var (low, high) = (0, zipf.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if zipf[middle] > point { high = middle } else { low = middle + 1 }
        }
        return outlets[low]
    }
}

/// The nth cart of a customer.
package struct CartID: Hashable, Sendable {
    package var shopper: Int
    package var number: Int

    package init(shopper: Int, number: Int) {
        self.shopper = shopper
        self.number = number
    }
}
