extension Order {
    /// How long a proposal waits for an answer if it does not say, in seconds.
    public static let usualChangeWait = 600
    /// How long a proposal can wait for an answer, in seconds.
    public static let changeWaits = 1...86_400
    /// The most changes of an order that are made or proposed.
    public static let maximumChanges = 20

    /// What a customer wants if something of an order cannot be had.
    public enum Missing: String, CaseIterable, Sendable {
        /// The rest of the order.
        case remove
        /// Something else in its place, for no more money; or else the rest.
        case replace
        /// To be asked.
        case ask
        /// No order then.
        case cancel
    }

    // MARK: What somebody wants to change

    /// What somebody wants to change about the lines of an order.
    public enum LineEdit: Equatable, Sendable {
        /// Fewer of a line, 0 for none of it.
        case reduce(line: Text, to: Int)
        /// Fewer of a line, and something else in place of the rest.
        case replace(line: Text, to: Int, by: Arrival)
        /// More than was ordered.
        case add(Arrival)

        /// What comes with it.
        public var arrival: Arrival? {
            switch self {
            case .reduce: nil
            case .replace(_, _, let arrival), .add(let arrival): arrival
            }
        }
    }

    /// Some of an item that comes into an order, with what the catalogue says of it.
    public struct Arrival: Equatable, Sendable {
        /// The item.
        public var item: Identifier
        /// How many, 1–99.
        public var quantity: Int
        /// What the catalogue says now of the item with the chosen options.
        public var offer: Offer

        /// Some of an item.
        public init(_ item: Identifier, quantity: Int, offer: Offer) {
            self.item = item
            self.quantity = quantity
            self.offer = offer
        }

        /// The line that it would be in a cart; nil where it cannot be had.
        fileprivate var line: CartLine? {
            guard case .available(let item) = offer else { return nil }
            return CartLine(
                id: "", item: self.item, name: item.name, quantity: quantity, unitPrice: item.unitPrice,
                options: item.options)
        }
    }

    /// What a change has to do with what the outlet has counted.
    public struct Counted: Equatable, Sendable {
        /// What the order would have more of than it holds; nil if there is no such thing.
        public var lacking: Claim.Key?
        /// What it holds of that it would need less: if its merchant says so, that is missing.
        public var leaving: [Claim]

        /// Nothing that is counted.
        public static let nothing = Counted()

        /// What a change has to do with what is counted.
        public init(lacking: Claim.Key? = nil, leaving: [Claim] = []) {
            self.lacking = lacking
            self.leaving = leaving
        }
    }

    // MARK: What is recorded

    /// What changes about a line.
    public struct LineChange: Equatable, Sendable {
        /// The line.
        public var line: Text
        /// Its name.
        public var name: Text
        /// How many there were; 0 for a line that comes.
        public var from: Int
        /// How many there are; 0 for a line that goes.
        public var to: Int
        /// The line in whose place it comes.
        public var replaces: Text?

        /// What changes about a line.
        public init(line: Text, name: Text, from: Int, to: Int, replaces: Text? = nil) {
            self.line = line
            self.name = name
            self.from = from
            self.to = to
            self.replaces = replaces
        }
    }

    /// A change of an order: what is different, and the whole bill after it.
    public struct Change: Equatable, Sendable {
        /// Who proposed it.
        public var by: Party
        /// What is different.
        public var lines: [LineChange]
        /// The digests of the bill before and of the bill after.
        public var before: Text
        public var after: Text
        /// What is ordered then, without notes: a line that stays keeps its own.
        public var ordered: [CartLine]
        /// What that costs.
        public var price: Price
        /// What the order does not give back any more: it was missing, whatever was counted.
        public var gone: [Claim]

        /// A change.
        public init(
            by: Party, _ lines: [LineChange], before: Text, after: Text, ordered: [CartLine], price: Price,
            gone: [Claim] = []
        ) {
            self.by = by
            self.lines = lines
            self.before = before
            self.after = after
            self.ordered = ordered
            self.price = price
            self.gone = gone
        }

        /// The same change without the bill, which takes most of its memory.
        public var summary: Change {
            var summary = self
            summary.ordered = []
            summary.price.charges = []
            return summary
        }
    }

    /// A change of an order that was made or proposed, and what became of it.
    public struct ChangeRecord: Equatable, Sendable {
        /// What became of a proposal.
        public enum Outcome: String, CaseIterable, Sendable {
            /// Nothing yet.
            case open
            /// The order was changed.
            case agreed
            /// It was not wanted, or withdrawn.
            case declined
            /// Nobody answered in time.
            case expired
            /// The order ended first.
            case ended
        }

        /// The change; without its bill once it is no longer open.
        public var change: Change
        /// What the order cost before.
        public var totalBefore: Amount
        /// Until when it waits for an answer; nil for what was agreed beforehand.
        public var until: Timestamp?
        /// What became of it.
        public var outcome = Outcome.open
        /// Who declined it.
        public var declinedBy: Party?
        /// Whether the kitchen took note of it, once it was agreed.
        public var isNoted = false

        /// A change that is proposed.
        public init(_ change: Change, totalBefore: Amount, until: Timestamp?) {
            self.change = change
            self.totalBefore = totalBefore
            self.until = until
        }
    }
}

extension Order.Party {
    /// Who has to agree to what this one proposes.
    public var other: Order.Party { self == .merchant ? .customer : .merchant }
}

extension Order.Placement {
    /// The digest of its bill: that of a quote for the same without a promise.
    public var digest: Text {
        Quote.digest(of: lines, price, at: outlet, in: currency, for: handover.service)
    }

    /// The same order after a change.
    ///
    /// - Throws: if the change does not lead from this bill to the one that it has.
    public func after(_ change: Order.Change) throws(ImpossibleEvent) -> Order.Placement {
        var changed = self
        changed.lines = try lines(after: change)
        changed.charges = change.price.charges
        changed.total = change.price.total
        guard (try? changed.lines.total().adding(change.price.charges)) == change.price.total else {
            throw ImpossibleEvent("a changed order that costs something else than its lines and charges")
        }
        guard change.before == digest, change.after == changed.digest else {
            throw ImpossibleEvent("a change between other bills than it says")
        }
        return changed
    }

    /// The lines after a change, with the notes of those that stay.
    private func lines(after change: Order.Change) throws(ImpossibleEvent) -> [CartLine] {
        var rest = change.ordered[...]
        var result: [CartLine] = []
        for line in lines {
            let edits = change.lines.filter { $0.line == line.id && $0.replaces == nil && $0.from > 0 }
            guard edits.count <= 1, edits.allSatisfy({ $0.from == line.quantity && (0..<$0.from).contains($0.to) })
            else { throw ImpossibleEvent("a change of another quantity than there was: '\(line.id)'") }
            var line = line
            if let edit = edits.first {
                if edit.to == 0 { continue }
                line.quantity = edit.to
            }
            let note = line.note
            line.note = nil
            guard rest.popFirst() == line else {
                throw ImpossibleEvent("a change of what stays: '\(line.id)'")
            }
            line.note = note
            result.append(line)
        }
        let known = Set(lines.map(\.id))
        let arrivals = change.lines.filter { $0.from == 0 }
        guard
            change.lines.allSatisfy({ $0.from == 0 || known.contains($0.line) }),
            arrivals.elementsEqual(
                rest,
                by: { $0.line == $1.id && $0.to == $1.quantity && $1.note == nil && !known.contains($1.id) })
        else { throw ImpossibleEvent("a change of other lines than it says") }
        return result + rest
    }
}

extension Order.Book {
    /// The change that waits for an answer.
    public var proposal: Order.ChangeRecord? { changes.last.flatMap { $0.outcome == .open ? $0 : nil } }

    /// What the kitchen has not taken note of; nothing once the order has ended.
    public var unnoted: [Order.ChangeRecord] {
        status.isEnd ? [] : changes.filter { $0.outcome == .agreed && !$0.isNoted }
    }

    /// Whether it can be changed at all: the kitchen has it, and it is not ready.
    var isChangeable: Bool { [.placed, .accepted, .preparing].contains(status) && placement.terms.placedAt != nil }

    /// What it gives back if it is not cooked: all that it took, less what was missing.
    var heldClaims: [Claim] {
        let gone = changes.filter { $0.outcome == .agreed }.flatMap(\.change.gone)
        return gone.isEmpty ? placement.claims : placement.claims.filter { !gone.contains($0) }
    }

    /// What a change would have to do with what the outlet has counted.
    ///
    /// - Parameter claims: what lines take of that.
    public func counted(_ edits: [Order.LineEdit], claims: ([CartLine]) -> [Claim]) -> Order.Counted {
        var left: [Text: Int] = [:]
        for edit in edits {
            switch edit {
            case .reduce(let line, let quantity), .replace(let line, let quantity, _): left[line] = quantity
            case .add: break
            }
        }
        let stays = placement.lines.map { line in
            var line = line
            line.quantity = left[line.id] ?? line.quantity
            return line
        }
        let comes = edits.compactMap(\.arrival?.line)
        func sums(_ claims: [Claim]) -> [Claim.Key: Int64] {
            Dictionary(claims.map { ($0.key, $0.count) }) { first, _ in first }
        }
        let (before, after) = (sums(claims(placement.lines)), sums(claims(stays + comes)))
        // What is counted since the order was placed, it has as it is.
        let held = sums(heldClaims).merging(before, uniquingKeysWith: max)
        return Order.Counted(
            lacking: claims(comes).first { after[$0.key] ?? 0 > held[$0.key] ?? 0 }?.key,
            leaving: heldClaims.filter { after[$0.key] ?? 0 < before[$0.key] ?? 0 })
    }

    // MARK: Decide

    /// What follows from a proposal.
    ///
    /// - Parameter wait: how long it waits for an answer, in seconds.
    func propose(
        _ edits: [Order.LineEdit], by party: Order.Party, wait: Int, _ now: Timestamp, _ counted: Order.Counted
    ) throws(Rejection) -> [Order.Event] {
        guard placement.terms.placedAt != nil else {
            throw Rejection(
                .state, "the outlet does not follow its orders: it needs acceptWithin or payment for changes")
        }
        guard isChangeable else {
            throw Rejection(.state, "the order is \(status.rawValue), and cannot be changed", allowed: [.showOrder])
        }
        var change = try change(edits, by: party)
        if party == .merchant { change.gone = counted.leaving }
        if let open = proposal {
            if open.change == change { return [] }
            throw openProposal(open)
        }
        guard changes.count < Order.maximumChanges else {
            throw Rejection(.limit, "an order has at most \(Order.maximumChanges) changes and proposals")
        }
        if let key = counted.lacking {
            throw Rejection(
                .state,
                "the outlet counts \(key), and a change brings no more of it into an order than the order holds",
                allowed: [.showOrder])
        }
        if change.takesAway, placement.missing == .cancel, party == .merchant {
            let claims = returnedClaims.filter { !change.gone.contains($0) }
            return [.cancelled(Order.Ending(by: .merchant, .items, price: placement.price, claims: claims))]
        }
        if isAgreedBeforehand(change) { return [.changed(change)] }
        return [.changeProposed(change, until: now.adding(seconds: wait))]
    }

    /// Whether the customer agreed to a change when the order was placed.
    func isAgreedBeforehand(_ change: Order.Change) -> Bool {
        guard change.by == .merchant, change.takesAway, change.price.total <= placement.total else { return false }
        return switch placement.missing {
        case .remove: change.lines.allSatisfy { $0.from > 0 }
        case .replace: change.lines.allSatisfy { $0.from > 0 || $0.replaces != nil }
        case .ask, .cancel: false
        }
    }

    /// What follows if one of these parties agrees to the bill of that digest.
    func agree(to digest: Text, as parties: [Order.Party]) throws(Rejection) -> [Order.Event] {
        guard let open = proposal else {
            if let last = changes.last, last.outcome == .agreed, last.change.after == digest { return [] }
            throw noProposal
        }
        guard parties.contains(open.change.by.other) else {
            throw Rejection(
                .state,
                "the \(open.change.by.rawValue) proposed the change; the \(open.change.by.other.rawValue) agrees")
        }
        guard open.change.after == digest else {
            throw Rejection(
                .totalChanged,
                "another bill is proposed; its total is \(open.change.price.total.words(in: placement.currency))")
        }
        guard isChangeable else {
            throw Rejection(.state, "the order is \(status.rawValue), and cannot be changed", allowed: [.showOrder])
        }
        try checkRefunds(leave: open.change)
        return [.changed(open.change)]
    }

    /// What follows if one of these parties declines, or withdraws what it proposed.
    func decline(as parties: [Order.Party]) throws(Rejection) -> [Order.Event] {
        guard let open = proposal else {
            if let last = changes.last, last.outcome == .declined { return [] }
            throw noProposal
        }
        let other = open.change.by.other
        return [.changeDeclined(by: parties.contains(other) ? other : open.change.by)]
    }

    /// Refuses what would change the status as long as a change is proposed.
    func checkNoProposal() throws(Rejection) {
        if let open = proposal { throw openProposal(open) }
    }

    private func openProposal(_ open: Order.ChangeRecord) -> Rejection {
        Rejection(
            .state, "the \(open.change.by.rawValue) has proposed a change of the order, which waits for an answer",
            allowed: [.agreeChange, .declineChange])
    }

    private var noProposal: Rejection { Rejection(.state, "no change of the order is proposed", allowed: [.showOrder]) }

    /// The change that these edits come to.
    private func change(_ edits: [Order.LineEdit], by party: Order.Party) throws(Rejection) -> Order.Change {
        guard !edits.isEmpty else { throw .invalid("json", "nothing is to be changed") }
        guard placement.lines.count + edits.count(where: { $0.arrival != nil }) <= Cart.maximumLines else {
            throw Rejection(
                .limit, "an order takes at most \(Cart.maximumLines) lines, with those that go")
        }
        guard !placement.pricing.taxes.isEmpty || placement.charges.allSatisfy({ $0.kind != .tax }),
            placement.pricing.charges != .none
                || placement.charges.allSatisfy({ [.tax, .tip, .discount].contains($0.kind) })
        else {
            throw Rejection(.state, "the order was placed before its terms were recorded, and cannot be changed")
        }
        var changes: [Order.LineChange] = []
        var (kept, arrived): ([(line: CartLine, billed: Bill.Line)], [(line: CartLine, billed: Bill.Line)]) = ([], [])
        var quantities: [Text: Int] = [:]
        for edit in edits {
            switch edit {
            case .reduce(let line, let quantity), .replace(let line, let quantity, _):
                let old = try self.line(line)
                guard quantities.updateValue(quantity, forKey: line) == nil else {
                    throw .invalid("lines", "line '\(line)' is there twice")
                }
                guard (0..<old.quantity).contains(quantity) else {
                    throw .invalid(
                        "lines", "of line '\(line)' from 0 to \(old.quantity - 1) can be left, not \(quantity)")
                }
                changes.append(Order.LineChange(line: line, name: old.name, from: old.quantity, to: quantity))
            case .add: break
            }
            guard let arrival = edit.arrival else { continue }
            let (line, billed) = try arrive(arrival) { id in
                placement.lines.contains { $0.id == id } || arrived.contains { $0.line.id == id }
            }
            arrived.append((line, billed))
            var replaces: Text?
            if case .replace(let line, _, _) = edit { replaces = line }
            changes.append(
                Order.LineChange(line: line.id, name: line.name, from: 0, to: line.quantity, replaces: replaces))
        }
        for (index, var line) in placement.lines.enumerated() {
            line.quantity = quantities[line.id] ?? line.quantity
            guard line.quantity > 0 else { continue }
            line.note = nil
            kept.append((line, Bill.Line(try line.total(), parts: placement.parts(ofLine: index))))
        }
        let all = kept + arrived
        guard !all.isEmpty else {
            throw Rejection(.state, "nothing would be left of the order", allowed: [.cancelOrder])
        }
        let tip = placement.charges.first { $0.kind == .tip }?.amount ?? .zero
        let bill = try Bill(
            for: all.map(\.billed), on: placement.pricing,
            discounts: placement.discounts(keeping: quantities, beside: arrived.count), tip: tip)
        // What stays and costs nothing has no tax that was recorded.
        let price = Order.Price(bill.total, bill.charges.filter { $0.kind != .tax || $0.base != .zero })
        let lines = all.map(\.line)
        let change = Order.Change(
            by: party, changes, before: placement.digest,
            after: Quote.digest(
                of: lines, price, at: placement.outlet, in: placement.currency, for: placement.handover.service),
            ordered: lines, price: price)
        try checkRefunds(leave: change)
        return change
    }

    private func line(_ id: Text) throws(Rejection) -> CartLine {
        // A damaged log may have two of an id.
        let lines = placement.lines.filter { $0.id == id }
        guard lines.count == 1 else { throw Rejection(.notFound, "the order has no line '\(id)'") }
        return lines[0]
    }

    /// The line that something becomes that comes into the order.
    private func arrive(
        _ arrival: Order.Arrival, isTaken: (Text) -> Bool
    ) throws(Rejection) -> (line: CartLine, billed: Bill.Line) {
        let item = try arrival.offer.item(arrival.item, of: placement.outlet)
        guard item.currency == placement.currency else {
            throw Rejection(.state, "the order is in \(placement.currency), and the price in \(item.currency)")
        }
        guard (1...MenuItem.quantityLimit).contains(arrival.quantity), arrival.quantity <= item.maxQuantity else {
            throw Rejection(.limit, "a line takes from 1 to \(item.maxQuantity) of item '\(arrival.item)'")
        }
        if let tax = item.tax(besides: placement.pricing.taxes) {
            throw Rejection(
                .state, "item '\(arrival.item)' has the tax '\(tax)', which was not there when the order was placed")
        }
        let line = CartLine(
            id: CartLine.identifier(item: arrival.item, options: item.options, taken: isTaken), item: arrival.item,
            name: item.name, quantity: arrival.quantity, unitPrice: item.unitPrice, options: item.options)
        return (line, Bill.Line(try line.total(), tax: item.tax, parts: item.parts))
    }

    /// Refuses a change after which less of something would be charged than was given back of it.
    private func checkRefunds(leave change: Order.Change) throws(Rejection) {
        if let lack = refunds.lack(in: change) {
            throw Rejection(.limit, "more was given back by now than would be left: \(lack)")
        }
    }

    // MARK: Evolve

    mutating func take(_ change: Order.Change, until: Timestamp) throws(ImpossibleEvent) {
        guard isChangeable, proposal == nil else {
            throw ImpossibleEvent("a change that cannot be proposed")
        }
        _ = try after(change)
        changes.append(Order.ChangeRecord(change, totalBefore: placement.total, until: until))
    }

    mutating func take(_ change: Order.Change) throws(ImpossibleEvent) {
        guard isChangeable, change.by != .system else { throw ImpossibleEvent("a change that cannot be made") }
        if let open = proposal {
            guard open.change.summary == change.summary else {
                throw ImpossibleEvent("another change than the one that was proposed")
            }
        } else {
            guard isAgreedBeforehand(change) else { throw ImpossibleEvent("a change that nobody agreed to") }
            changes.append(Order.ChangeRecord(change, totalBefore: placement.total, until: nil))
        }
        if let lack = refunds.lack(in: change) {
            throw ImpossibleEvent("a change below what was given back: \(lack)")
        }
        placement = try after(change)
        endProposal(.agreed)
    }

    /// The order after a change. A read model keeps no lines, and trusts the log.
    private func after(_ change: Order.Change) throws(ImpossibleEvent) -> Order.Placement {
        try change.price.charges.checkDiscounts(on: change.ordered)
        for line in change.ordered { try CartLine.checkRecordable(line.quantity, line.id) }
        guard change.by != .system, !change.lines.isEmpty, change.lines.count <= 2 * Cart.maximumLines,
            (1...Cart.maximumLines).contains(change.ordered.count),
            change.price.charges.count <= Bill.maximumCharges, change.price.total.isRecordable,
            change.price.charges.allSatisfy(\.isRecordable)
        else { throw ImpossibleEvent("a change with lines or charges that cannot be") }
        guard change.gone.isRecordable,
            placement.lines.isEmpty || change.gone.allSatisfy(placement.claims.contains)
        else { throw ImpossibleEvent("a change that lacks more than the order took") }
        guard placement.lines.isEmpty else { return try placement.after(change) }
        var changed = placement
        changed.charges = change.price.charges
        changed.total = change.price.total
        return changed
    }

    mutating func endProposal(_ outcome: Order.ChangeRecord.Outcome, by party: Order.Party? = nil) {
        guard let last = changes.indices.last, changes[last].outcome == .open else { return }
        changes[last].change = changes[last].change.summary
        changes[last].outcome = outcome
        changes[last].declinedBy = party
    }
}

extension Order.Change {
    /// Whether something goes with it.
    var takesAway: Bool { lines.contains { $0.to < $0.from } }
}

extension Order.Refunds {
    /// What a changed bill would have less of than was given back; nil if there is no such thing.
    fileprivate func lack(in change: Order.Change) -> String? {
        if change.price.total.minorUnits < amount { return "the total" }
        for (id, given) in taxes {
            let charge = change.price.charges.first { $0.kind == .tax && $0.id == id }
            let (left, base) = (charge?.amount ?? .zero, charge?.base ?? .zero)
            if left < given.amount || base < given.base ?? .zero { return "the tax '\(id)'" }
        }
        for (line, count) in units
        where change.ordered.first(where: { $0.id == line })?.quantity ?? 0 < count { return "line '\(line)'" }
        return nil
    }
}

extension Order.Placement {
    /// What promotions took off the lines that stay: of each line as much as what stays of it is of all of it. What comes
    /// has none.
    ///
    /// - Parameters:
    ///   - quantities: how many stay of lines of which not all do.
    ///   - arrivals: how many lines come.
    fileprivate func discounts(keeping quantities: [Text: Int], beside arrivals: Int) -> [Bill.Discount] {
        // Of all discounts up to one, less that of those before: so a line never costs less than nothing.
        var before = lines.map { _ in Int64(0) }
        return discounts.compactMap { discount in
            guard !discount.shares.isEmpty else { return discount }
            var changed = discount
            changed.shares = []
            for (index, line) in lines.enumerated() {
                let left = Int64(quantities[line.id] ?? line.quantity)
                let share = index < discount.shares.count ? discount.shares[index] : 0
                let sum = before[index] + share
                if left > 0 {
                    changed.shares.append(
                        sum.share(left, of: Int64(line.quantity)) - before[index].share(left, of: Int64(line.quantity)))
                }
                before[index] = sum
            }
            changed.shares += [Int64](repeating: 0, count: arrivals)
            changed.amount = changed.shares.reduce(0, +)
            return changed.amount > 0 ? changed : nil
        }
    }

    /// What a line is divided among: its parts in the bases of the taxes.
    public func parts(ofLine index: Int) -> [Bill.Part] {
        taxes.compactMap { tax in
            index < tax.bases.count && tax.bases[index] > .zero
                ? Bill.Part(tax.bases[index].minorUnits, tax: tax.id) : nil
        }
    }
}
