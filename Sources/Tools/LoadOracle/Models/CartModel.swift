internal import LineProtocol

/// A cart as it must be, according to the commands and their replies alone.
///
/// Prices may change while a command is in flight, so a line has every unit price that it may have been given;
/// reading the cart leaves one of them.
package final class CartModel {
    /// The rules of a cart, as docs/reference/carts.md states them.
    static let maximumLines = 100
    static let maximumQuantity = 99

    package struct Line: Equatable {
        package var id: String
        var item: Int
        /// In the order of their ids.
        var chosen: [ChosenOption]
        var note: String?
        var quantity: Int
        /// What one may cost.
        var prices: [Priced]
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
    /// How many refused checkouts may have begun since the version was last read. Each is two events more.
    private(set) var refusedCheckouts = 0
    /// What is given beside what is charged.
    package private(set) var tip: Int64 = 0
    /// How its order is to be had, if that was chosen, and at which table.
    private var chosenService: String?
    package private(set) var table: String?
    /// When its order is to be had, if not as soon as it can be.
    package private(set) var time: String?
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
        _ item: Int, of outlet: Outlet, quantity: Int, chosen: [ChosenOption], note: String?, since floor: Int
    ) -> (prices: [Priced], refusals: [String]) {
        if isCheckedOut { return ([], ["STATE"]) }
        if let own = self.outlet, own !== outlet { return ([], ["WRONGOUTLET"]) }
        guard (1...CartModel.maximumQuantity).contains(quantity) else { return ([], ["LIMIT"]) }
        let existing = line(of: item, chosen, note)
        let isTooMuch =
            (existing.map { lines[$0].quantity } ?? 0) + quantity > outlet.menu.item(item).maximum
            || (existing == nil && lines.count >= CartModel.maximumLines)
        return CartModel.having(item, of: outlet, chosen, isTooMuch: isTooMuch, since: floor)
    }

    /// What an item with options may cost, or why it may not be had.
    private static func having(
        _ item: Int, of outlet: Outlet, _ chosen: [ChosenOption], isTooMuch: Bool, since floor: Int
    ) -> (prices: [Priced], refusals: [String]) {
        var refusals: [String] = []
        if outlet.mayBeClosed(since: floor) { refusals.append("CLOSED") }
        guard outlet.mayBeOpen(since: floor) else { return ([], refusals) }
        var prices: [Priced] = []
        for saying in outlet.possible(item, with: chosen, .floor(floor)) {
            switch saying {
            case .gone: refusals.append("NOTFOUND")
            case .soldOut, .optionSoldOut: refusals.append("SOLDOUT")
            case .wrongChoice: refusals.append("CHOICE")
            case .priced(let priced): if isTooMuch { refusals.append("LIMIT") } else { prices.append(priced) }
            }
        }
        return (prices, refusals)
    }

    /// The index of the line that is about the same thing.
    private func line(of item: Int, _ chosen: [ChosenOption], _ note: String?) -> Int? {
        lines.firstIndex { $0.item == item && $0.chosen == chosen && isSame($0.note, note) }
    }

    /// Everything that may come of giving a line other options, another note or both, with what one may cost then; no
    /// prices if nothing is to change.
    ///
    /// - Parameters:
    ///   - chosen: nil to leave the options.
    ///   - note: nil to leave the note.
    func editing(
        _ line: String, chosen: [ChosenOption]?, note: String?, since floor: Int
    ) -> (prices: [Priced], isUnchanged: Bool, refusals: [String]) {
        if isCheckedOut { return ([], false, ["STATE"]) }
        guard let index = self.line(line), let outlet else { return ([], false, ["NOTFOUND"]) }
        let old = lines[index]
        let (chosen, note) = (chosen ?? old.chosen, note ?? old.note)
        let target = self.line(of: old.item, chosen, note)
        let quantity = old.quantity + (target.map { $0 == index ? 0 : lines[$0].quantity } ?? 0)
        let fate = CartModel.having(
            old.item, of: outlet, chosen, isTooMuch: quantity > max(outlet.menu.item(old.item).maximum, old.quantity),
            since: floor)
        return (fate.prices, target == index, fate.refusals)
    }

    /// Everything that may come of setting a line's quantity.
    func setting(_ line: String, to quantity: Int, since floor: Int) -> (isPossible: Bool, refusals: [String]) {
        if isCheckedOut { return (false, ["STATE"]) }
        guard let index = self.line(line), let outlet else { return (false, ["NOTFOUND"]) }
        guard (0...CartModel.maximumQuantity).contains(quantity) else { return (false, ["LIMIT"]) }
        let old = lines[index]
        let maximum = outlet.menu.item(old.item).maximum
        if quantity <= max(maximum, old.quantity) { return (true, []) }
        // What cannot be ordered has no maximum of its own: a line takes 99 of it.
        let sayings = outlet.possible(old.item, with: old.chosen, .floor(floor)).map { saying in
            if case .priced = saying { true } else { false }
        }
        let mayBeHad = outlet.mayBeOpen(since: floor) && sayings.contains(true)
        return (outlet.mayBeClosed(since: floor) || sayings.contains(false), mayBeHad ? ["LIMIT"] : [])
    }

    /// Everything that may come of checking out.
    func checkingOut(total: Int64, since floor: Int) -> (isPossible: Bool, refusals: [String]) {
        if isCheckedOut || lines.isEmpty { return (false, ["STATE"]) }
        guard let outlet else { return (false, ["STATE"]) }
        var refusals: [String] = []
        if outlet.mayBeClosed(since: floor) { refusals.append("CLOSED") }
        guard outlet.mayBeOpen(since: floor) else { return (false, refusals) }
        if time != nil { refusals.append("NOSLOT") }
        var (least, most) = (Int64(0), Int64(0))
        // The first line that cannot be ordered refuses the checkout.
        for line in lines {
            var prices: [Int64] = []
            for saying in outlet.possible(line.item, with: line.chosen, .floor(floor)) {
                switch saying {
                case .gone: refusals.append("NOTFOUND")
                case .soldOut, .optionSoldOut: refusals.append("SOLDOUT")
                // It was set while the item could not be ordered.
                case .priced where line.quantity > outlet.menu.item(line.item).maximum: refusals.append("LIMIT")
                case .priced(let priced): prices.append(priced.unitPrice)
                case .wrongChoice: break
                }
            }
            guard let low = prices.min(), let high = prices.max() else { return (false, refusals) }
            least += low * Int64(line.quantity)
            most += high * Int64(line.quantity)
        }
        // At a kitchen, charges and tip are a part of the total.
        if let bill { (least, most) = (bill.total, bill.total) }
        if least != most || least != total { refusals.append("TOTALCHANGED") }
        guard (least...most).contains(total) else { return (false, refusals) }
        if lacksTable { return (false, refusals + ["REQUIRED"]) }
        return (true, refusals)
    }

    // MARK: How its order is had

    /// How its order is had: as was chosen, or in the first way that the outlet offers; nil if it offers none.
    package var service: String? { outlet?.terms?.service(chosenService)?.name }

    /// What `CART.GET` shows: what was chosen, and once it is ordered, what it was.
    var shownService: String? { isCheckedOut ? service : chosenService }

    /// Whether it lacks a table that its order has to name.
    package var lacksTable: Bool { table == nil && outlet?.terms?.service(chosenService)?.needsTable ?? false }

    /// Everything that may come of choosing a way to have its order. A slot may be full.
    func choosing(_ name: String, table: String?, time: String?) -> (isPossible: Bool, refusals: [String]) {
        if isCheckedOut || lines.isEmpty { return (false, ["STATE"]) }
        guard let terms = outlet?.terms, terms.service(name) != nil, table == nil || isSame(name, "table"),
            time == nil || terms.ordersPerSlot != nil
        else { return (false, ["INVALID"]) }
        guard let time else { return (true, []) }
        return (time.hasSuffix(":00:00Z"), ["NOSLOT"])
    }

    func choose(_ name: String, table: String?, time: String?) {
        guard !isSame(chosenService, name) || !isSame(self.table, table) || !isSame(self.time, time) else { return }
        version += 1
        (chosenService, self.table, self.time) = (name, table, time)
    }

    /// The total that the customer expects, after the settled changes.
    package var agreeableTotal: Int64 {
        guard let outlet else { return 0 }
        if let bill { return bill.total }
        return lines.reduce(0) { sum, line in
            sum + (outlet.currentPrice(of: line.item, with: line.chosen) ?? 0) * Int64(line.quantity)
        }
    }

    // MARK: Outcomes

    func add(
        _ item: Int, of outlet: Outlet, quantity: Int, chosen: [ChosenOption], note: String?, prices: [Priced]
    ) {
        version += 1
        self.outlet = outlet
        if let index = line(of: item, chosen, note) {
            lines[index].quantity += quantity
            lines[index].prices = prices
        } else {
            let id = newLine(item, chosen)
            lines.append(Line(id: id, item: item, chosen: chosen, note: note, quantity: quantity, prices: prices))
        }
    }

    /// The line becomes another, or joins one that is there.
    func edit(_ line: String, chosen: [ChosenOption]?, note: String?, prices: [Priced]) {
        guard let index = self.line(line) else { return }
        var new = lines[index]
        new.chosen = chosen ?? new.chosen
        new.note = note ?? new.note
        new.prices = prices
        version += 1
        if let target = self.line(of: new.item, new.chosen, new.note) {
            lines[target].quantity += new.quantity
            lines[target].prices = prices
            lines.remove(at: index)
        } else {
            lines.remove(at: index)
            new.id = newLine(new.item, new.chosen)
            lines.insert(new, at: index)
        }
    }

    /// The item's id with the options, or that with `~2`, `~3` …, whichever is free first.
    private func newLine(_ item: Int, _ chosen: [ChosenOption]) -> String {
        let words = chosen.map { $0.units == 1 ? $0.id : "\($0.id)*\($0.units)" }
        let id = ([ItemPlan.id(item)] + words).joined(separator: "+")
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
        if lines.isEmpty { forget() }
    }

    func clear() {
        guard !lines.isEmpty else { return }
        version += 1
        lines = []
        forget()
    }

    /// An empty cart belongs to no outlet, and nothing is chosen.
    private func forget() {
        (outlet, tip) = (nil, 0)
        (chosenService, table, time) = (nil, nil, nil)
    }

    func give(_ minor: Int64) {
        guard tip != minor else { return }
        version += 1
        tip = minor
    }

    /// Whether it takes of what its outlet counts: portions or a slot.
    private var claims: Bool { time != nil || lines.contains { $0.item == outlet?.countedItem } }

    /// A checkout was answered. Every copy of it but one that was accepted may have begun, and been refused.
    func answerCheckout(_ exchange: Exchange) {
        guard claims else { return }
        let copies = exchange.attempts + (exchange.refusedBefore == nil && exchange.repeated == nil ? 0 : 1)
        var mayHaveBegun = false
        if case .error(let code, _) = exchange.reply {
            mayHaveBegun = isSame(code, "SOLDOUT") || isSame(code, "NOSLOT")
        }
        refusedCheckouts += mayHaveBegun ? copies : copies - 1
    }

    /// The version was read. Returns whether it can be.
    func learn(version: Int64) -> Bool {
        let further = Int(version) - self.version
        guard further >= 0, further <= 2 * refusedCheckouts, further % 2 == 0 else { return false }
        (self.version, refusedCheckouts) = (Int(version), 0)
        return true
    }

    func checkOut(order: String, total: Int64, since floor: Int) {
        // A checkout of what is counted begins and ends.
        version += claims ? 2 : 1
        for index in lines.indices {
            let (item, chosen) = (lines[index].item, lines[index].chosen)
            lines[index].prices = (outlet?.possible(item, with: chosen, .floor(floor)) ?? []).compactMap { saying in
                if case .priced(let priced) = saying { priced } else { nil }
            }
        }
        agreedTotal = total
        status = .checkedOut(order: order)
    }

    /// The line's price has been read.
    func learn(_ price: Priced, ofLine index: Int) {
        lines[index].prices = [price]
    }
}
