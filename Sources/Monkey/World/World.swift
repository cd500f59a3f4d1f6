internal import EventLoop
internal import SeededRandom

/// The monkey's outlets. They are its own, with names that no run used before, so that it knows everything about
/// them and does no harm to anybody else's.
@LoopActor
final class World {
    /// How large it is.
    struct Size: Equatable, Sendable {
        static let usual = Size(outlets: 8, items: 320, carts: 0)
        static let stress = Size(outlets: 1_000, items: 100_000, carts: 100_000)
        /// A menu holds at most so many.
        static let itemsOfAnOutlet = 5_000
        static let outletLimit = 100_000
        static let itemLimit = 5_000_000
        static let cartLimit = 5_000_000

        var outlets: Int
        /// Of all outlets together.
        var items: Int
        /// Carts that are filled before the load begins.
        var carts: Int
    }

    /// What every id begins with.
    let name: String
    let size: Size
    let outlets: [Outlet]
    /// Of the first n outlets, how likely one of them is to be picked where few get most of the visits.
    private let zipf: [Double]

    init(name: String, size: Size, seed: UInt64, shoppers: Int) {
        self.name = name
        self.size = size
        outlets = (0..<size.outlets).map { index in
            let items = size.items / size.outlets + (index < size.items % size.outlets ? 1 : 0)
            return Outlet(
                index: index, id: "\(name)-o\(index)", owner: index % shoppers,
                menu: MenuPlan(items: items, seed: seed &+ UInt64(index)))
        }
        var sum = 0.0
        zipf = outlets.indices.map { rank in
            sum += 1 / Double(rank + 1)
            return sum
        }
    }

    func cartName(_ cart: CartID) -> String { "\(name)-c\(cart.shopper).\(cart.number)" }

    /// The cart that a stream of the log belongs to; nil where it is none of ours.
    func cart(ofStream stream: Substring) -> CartID? {
        guard stream.hasPrefix(name), stream.dropFirst(name.count).hasPrefix("-c") else { return nil }
        let numbers = stream.dropFirst(name.count + 2).split(separator: ".", maxSplits: 1).map { Int($0) }
        guard numbers.count == 2, let shopper = numbers[0], let number = numbers[1] else { return nil }
        return CartID(shopper: shopper, number: number)
    }

    /// The outlet of that id; nil where it is none of ours.
    func outlet(_ id: String) -> Outlet? {
        guard id.hasPrefix(name), id.dropFirst(name.count).hasPrefix("-o"),
            let index = Int(id.dropFirst(name.count + 2)), outlets.indices.contains(index)
        else { return nil }
        return outlets[index]
    }

    /// Any outlet.
    func pickOutlet(_ chance: inout SeededGenerator) -> Outlet { outlets[chance.below(outlets.count)] }

    /// An outlet by Zipf's law: the nth is picked 1/n as often as the first.
    func pickHotOutlet(_ chance: inout SeededGenerator) -> Outlet {
        let point = chance.fraction() * (zipf.last ?? 1)
        var (low, high) = (0, zipf.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if zipf[middle] > point { high = middle } else { low = middle + 1 }
        }
        return outlets[low]
    }
}

/// The nth cart of a shopper.
struct CartID: Hashable, Sendable {
    var shopper: Int
    var number: Int
}
