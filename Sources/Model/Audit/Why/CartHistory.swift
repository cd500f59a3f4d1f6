// Why a screen shows what it shows: histories for people.
//
// The promise: every event has its line, in order. A line follows from its event and those before it; only what is in
// brackets is as of now.

public import Domain
public import EventLog

/// The history of a cart, and what is in it now with the events that put it there.
public struct CartHistory: Sendable {
    /// The cart.
    public let cart: Identifier
    private let menus: CurrentMenus
    private let texts: DecryptedTexts
    private let partition: Int
    private var reading = StreamReader()
    private(set) var state = Cart.initial
    /// The versions that a line of the cart comes from.
    private(set) var origins: [Text: [Int64]] = [:]

    /// The history of a cart.
    ///
    /// - Parameters:
    ///   - events: every event of the cart's stream.
    ///   - menus: those of ``outlets(of:)``.
    ///   - texts: the sealed texts of the events.
    public init(
        _ cart: Identifier, _ events: [RecordedEvent], _ menus: CurrentMenus, _ texts: DecryptedTexts = DecryptedTexts()
    ) {
        self.cart = cart
        self.menus = menus
        self.texts = texts
        partition = events.first?.partition ?? 0
        var reading = StreamReader()
        for event in events {
            reading.take(event) { event in
                guard case .cart(let change) = event.event else { throw ImpossibleEvent("no event of a cart") }
                return try take(change, event.version)
            }
        }
        self.reading = reading
    }

    /// The outlets whose items were in a cart.
    public static func outlets(of events: [RecordedEvent]) -> [Identifier] {
        var outlets: [Identifier] = []
        for event in events {
            guard case .cart(.itemAdded(_, let outlet, _, _)) = (try? event.decoded())?.event,
                !outlets.contains(outlet)
            else { continue }
            outlets.append(outlet)
        }
        return outlets
    }

    private mutating func take(_ event: Cart.Event, _ version: Int64) throws -> String {
        let before = state
        try Cart.evolve(&state, event)
        switch event {
        case .itemAdded(let line, _, _, _): origins[line.id, default: []].append(version)
        case .quantityChanged(let line, _, _): origins[line, default: []].append(version)
        case .lineRemoved(let line, _): origins[line] = nil
        case .cleared: origins = [:]
        case .lineEdited(let line, let to, _):
            let old = origins[line] ?? []
            origins[line] = nil
            origins[to.id] = (origins[to.id] ?? []) + old + [version]
        case .tipSet, .serviceChosen, .codeAdded, .codeRemoved, .checkoutBegun, .checkoutRefused: break
        case .checkedOut(_, let lines, _, _, _, _, _):
            for line in lines where before.line(line.id)?.unitPrice != line.unitPrice {
                origins[line.id, default: []].append(version)
            }
        }
        return words(for: event, in: before)
    }

    // MARK: Words

    private func words(for event: Cart.Event, in before: Cart.State) -> String {
        switch event {
        case .itemAdded(let line, let outlet, let currency, let customer):
            let remark = menus.remark(on: line, of: outlet, as: before.contents?.service, in: currency)
            var words = "added \(line.quantity) × \(line.choice) at \(line.unitPrice.words(in: currency))\(remark)"
            if let note = line.note { words += ", note \(texts.text(of: note).quoted)" }
            if let old = before.line(line.id) {
                words += ", to \(old.quantity)"
                if old.unitPrice != line.unitPrice {
                    words += " which cost \(old.unitPrice.majorUnits(of: currency)) before"
                }
            } else if before.contents == nil {
                words += ", from outlet \(outlet)"
            }
            if let customer, before.contents?.customer == nil { words += ", for customer \(customer)" }
            return words
        case .quantityChanged(let line, let from, let to):
            return "changed \(name(of: line, in: before)) from \(from) to \(to)"
        case .lineRemoved(let line, let quantity):
            return "removed \(quantity) × \(name(of: line, in: before))"
        case .cleared(let count):
            return "cleared the cart of \(count.counted("item"))"
        case .lineEdited(let line, let to, _):
            guard let currency = before.contents?.currency else { return "edited a line" }
            var words = "changed \(name(of: line, in: before)) to \(to.choice) at \(to.unitPrice.words(in: currency))"
            if let note = to.note { words += ", note \(texts.text(of: note).quoted)" }
            if before.line(to.id) != nil, to.id != line { words += ", joining \(to.id): \(to.quantity) in all" }
            return words
        case .tipSet(let amount):
            return "set the tip to \(before.contents.map { amount.words(in: $0.currency) } ?? "\(amount.minorUnits)")"
        case .codeAdded(let code): return "said the code \(code.quoted)"
        case .codeRemoved(let code): return "took back the code \(code.quoted)"
        case .serviceChosen(let service, let table, let wanted):
            return "chose \(service.rawValue)" + (table.map { " at \($0.quoted)" } ?? "")
                + (wanted.map { " for \($0.words)" } ?? "")
        case .checkedOut(let order, let lines, let charges, let total, let customer, let name, let handover):
            guard let currency = before.contents?.currency else { return "checked out" }
            var words = "checked out as order \(order) for \(total.words(in: currency))"
            if let customer, before.contents?.customer == nil { words += ", for customer \(customer)" }
            if let name { words += ", under the name \(texts.text(of: name).quoted)" }
            words += handover.words(texts)
            for line in lines {
                guard let old = before.line(line.id), old.unitPrice != line.unitPrice else { continue }
                words += ", \(line.name) at \(line.unitPrice.majorUnits(of: currency)) "
                words += "instead of \(old.unitPrice.majorUnits(of: currency))"
            }
            for charge in charges { words += ", \(charge.words(in: currency))" }
            return words
        case .checkoutBegun(let checkout):
            guard let currency = before.contents?.currency else { return "began to check out" }
            return words(for: checkout, in: currency)
        case .checkoutRefused(let order, let refusal):
            return "is open again: order \(order) gets nothing, \(refusal.words)"
        }
    }

    private func words(for checkout: Cart.Checkout, in currency: Currency) -> String {
        "began to check out as order \(checkout.order) for \(checkout.total.words(in: currency)), which claims "
            + checkout.claims.words
    }

    private func name(of line: Text, in state: Cart.State) -> Text { state.line(line)?.name ?? line }

    // MARK: Text

    var lines: [HistoryLine] { reading.lines }

    /// The history as lines of text.
    ///
    /// - Parameter last: the number of events shown, counted from the end.
    public func text(last: Int) -> [String] {
        let count = lines.count.counted("event")
        return ["cart \(cart): \(count) in partition \(partition) of the log"] + lines.text(last: last) + [""] + present
    }

    private var present: [String] {
        if let version = reading.damagedSince { return ["now: CORRUPT, damaged since v\(version)"] }
        switch state {
        case .empty: return ["now: version \(reading.version), empty"]
        case .filled(let contents):
            return [
                "now: version \(reading.version), open at outlet \(contents.outlet)\(menus.remark(on: contents.outlet))"
            ]
                + CartHistory.text(
                    of: contents.lines, contents.currency, total: try? contents.total(), origins, texts
                ) { line in
                    menus.remark(on: line, of: contents.outlet, as: contents.service, in: contents.currency)
                }
        case .checkingOut(let contents, let checkout):
            return [
                "now: version \(reading.version), waiting for the supply of outlet \(contents.outlet) as order "
                    + "\(checkout.order)"
            ]
                + CartHistory.text(
                    of: checkout.lines, contents.currency, checkout.charges, total: checkout.total, origins, texts
                ) { _ in "" }
        case .checkedOut(let contents, let order):
            return ["now: version \(reading.version), checked out as order \(order)"]
                + CartHistory.text(
                    of: contents.lines, contents.currency, contents.charges, total: try? contents.payable(), origins,
                    texts
                ) { _ in "" }
        }
    }

    /// The lines of a cart or an order with the versions of the cart that they come from, and the total.
    static func text(
        of lines: [CartLine], _ currency: Currency, _ charges: [Charge] = [], total: Amount?,
        _ origins: [Text: [Int64]],
        _ texts: DecryptedTexts, remark: (CartLine) -> String
    ) -> [String] {
        let texts = lines.map { line in
            let versions = (origins[line.id] ?? []).map { "v\($0)" }.joined(separator: ", ")
            return "  \(line.words(in: currency, texts))\(remark(line))\(versions.isEmpty ? "" : ", from \(versions)")"
        }
        return texts + charges.map { "  \($0.words(in: currency))" } + [
            "  total \(total?.words(in: currency) ?? "more than can be charged")"
        ]
    }
}
