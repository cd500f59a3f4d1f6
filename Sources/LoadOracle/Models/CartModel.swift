/// A cart as it must be, according to the commands and their replies alone.
///
/// Prices may change while a command is in flight, so a line has every unit price that it may have been given;
/// reading the cart leaves one of them.
package final class CartModel {
    /// The rules of a cart, as docs/protocol.md states them.
    static let maximumLines = 100
    static let maximumQuantity = 99

    package struct Line: Equatable {
        package var id: String
        var item: Int
        var note: String?
        var quantity: Int
        /// What one may cost, in minor units.
        var prices: [Int64]
    }

    package enum Status: Equatable {
        case open
        case checkedOut(order: String)
    }

    package let id: CartID
    /// The outlet of its lines; nil while it is empty.
    package private(set) var outlet: Outlet?
    package private(set) var lines: [Line] = []
    package private(set) var status = Status.open
    /// How many events it has.
    package private(set) var version = 0
    /// The total that was agreed to at checkout.
    private(set) var agreedTotal: Int64?

    init(_ id: CartID) {
        self.id = id
    }

    /// The sum of the quantities of its lines, which it keeps after checkout.
    package var count: Int { lines.reduce(0) { $0 + $1.quantity } }

    /// What a badge shows: 0 once the cart is checked out.
    var badge: Int { isCheckedOut ? 0 : count }

    /// The index of the line with that id.
    func line(_ id: String) -> Int? { lines.firstIndex { isSame($0.id, id) } }

    package var isCheckedOut: Bool { status != .open }

    // MARK: What may become of a command
    //
    // Each depends on what the server knew of the menu when it decided; `floor` is the number of changes of the
    // outlet that were settled when the command was sent.

    /// Everything that may come of adding, with the prices at which it may be done.
    func adding(
        _ item: Int, of outlet: Outlet, quantity: Int, note: String?, since floor: Int
    ) -> (prices: [Int64], refusals: [String]) {
        if isCheckedOut { return ([], ["STATE"]) }
        if let own = self.outlet, own !== outlet { return ([], ["WRONGOUTLET"]) }
        guard (1...CartModel.maximumQuantity).contains(quantity) else { return ([], ["LIMIT"]) }
        var refusals: [String] = []
        if outlet.mayBeClosed(since: floor) { refusals.append("CLOSED") }
        guard outlet.mayBeOpen(since: floor) else { return ([], refusals) }
        let existing = lines.first { $0.item == item && isSame($0.note, note) }
        let isTooMuch =
            (existing?.quantity ?? 0) + quantity > outlet.menu.item(item).maximum
            || (existing == nil && lines.count >= CartModel.maximumLines)
        var prices: [Int64] = []
        for offer in outlet.possible(.item(item), since: floor) {
            if !offer.isListed {
                refusals.append("NOTFOUND")
            } else if !offer.isAvailable {
                refusals.append("SOLDOUT")
            } else if isTooMuch {
                refusals.append("LIMIT")
            } else if !prices.contains(offer.price) {
                prices.append(offer.price)
            }
        }
        return (prices, refusals)
    }

    /// Everything that may come of setting a line's quantity.
    func setting(_ line: String, to quantity: Int, since floor: Int) -> (isPossible: Bool, refusals: [String]) {
        if isCheckedOut { return (false, ["STATE"]) }
        guard let index = self.line(line), let outlet else { return (false, ["NOTFOUND"]) }
        guard (0...CartModel.maximumQuantity).contains(quantity) else { return (false, ["LIMIT"]) }
        let old = lines[index]
        let maximum = outlet.menu.item(old.item).maximum
        if quantity <= max(maximum, old.quantity) { return (true, []) }
        // An item that cannot be ordered has no maximum of its own: a line takes 99 of it.
        let offers = outlet.possible(.item(old.item), since: floor)
        let mayBeHad = outlet.mayBeOpen(since: floor) && offers.contains { $0.isListed && $0.isAvailable }
        let mayNot = outlet.mayBeClosed(since: floor) || offers.contains { !$0.isListed || !$0.isAvailable }
        return (mayNot, mayBeHad ? ["LIMIT"] : [])
    }

    /// Everything that may come of checking out.
    func checkingOut(total: Int64, since floor: Int) -> (isPossible: Bool, refusals: [String]) {
        if isCheckedOut || lines.isEmpty { return (false, ["STATE"]) }
        guard let outlet else { return (false, ["STATE"]) }
        var refusals: [String] = []
        if outlet.mayBeClosed(since: floor) { refusals.append("CLOSED") }
        guard outlet.mayBeOpen(since: floor) else { return (false, refusals) }
        var (least, most) = (Int64(0), Int64(0))
        // The first line that cannot be ordered refuses the checkout.
        for line in lines {
            var prices: [Int64] = []
            for offer in outlet.possible(.item(line.item), since: floor) {
                if !offer.isListed {
                    refusals.append("NOTFOUND")
                } else if !offer.isAvailable {
                    refusals.append("SOLDOUT")
                } else if line.quantity > outlet.menu.item(line.item).maximum {
                    // It was set while the item could not be ordered.
                    refusals.append("LIMIT")
                } else {
                    prices.append(offer.price)
                }
            }
            guard let low = prices.min(), let high = prices.max() else { return (false, refusals) }
            least += low * Int64(line.quantity)
            most += high * Int64(line.quantity)
        }
        if least != most || least != total { refusals.append("TOTALCHANGED") }
        return ((least...most).contains(total), refusals)
    }

    /// The total that the customer expects, after the settled changes.
    package var agreeableTotal: Int64 {
        guard let outlet else { return 0 }
        return lines.reduce(0) { $0 + outlet.current(item: $1.item).price * Int64($1.quantity) }
    }

    // MARK: Outcomes

    func add(_ item: Int, of outlet: Outlet, quantity: Int, note: String?, prices: [Int64]) {
        version += 1
        self.outlet = outlet
        if let index = lines.firstIndex(where: { $0.item == item && isSame($0.note, note) }) {
            lines[index].quantity += quantity
            lines[index].prices = prices
        } else {
            lines.append(Line(id: newLine(item), item: item, note: note, quantity: quantity, prices: prices))
        }
    }

    /// The item's id, or that with `~2`, `~3` …, whichever is free first.
    private func newLine(_ item: Int) -> String {
        let id = ItemPlan.id(item)
        guard line(id) != nil else { return id }
        var number = 2
        while line("\(id)~\(number)") != nil { number += 1 }
        return "\(id)~\(number)"
    }

    func set(_ line: String, to quantity: Int) {
        guard let index = self.line(line), lines[index].quantity != quantity else { return }
        version += 1
        if quantity == 0 { removeLine(at: index) } else { lines[index].quantity = quantity }
    }

    func remove(_ line: String) {
        guard let index = self.line(line) else { return }
        version += 1
        removeLine(at: index)
    }

    private func removeLine(at index: Int) {
        lines.remove(at: index)
        if lines.isEmpty { outlet = nil }
    }

    func clear() {
        guard !lines.isEmpty else { return }
        version += 1
        lines = []
        outlet = nil
    }

    func checkOut(order: String, total: Int64, since floor: Int) {
        version += 1
        for index in lines.indices {
            let offers = outlet?.possible(.item(lines[index].item), since: floor) ?? []
            lines[index].prices = Array(Set(offers.filter { $0.isListed && $0.isAvailable }.map(\.price)))
        }
        agreedTotal = total
        status = .checkedOut(order: order)
    }

    /// The line's price has been read.
    func learn(price: Int64, ofLine index: Int) {
        lines[index].prices = [price]
    }
}
