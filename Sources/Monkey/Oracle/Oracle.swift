internal import EventLoop
internal import LineClient
internal import LineProtocol

/// The judge of every answer.
///
/// It knows what a cart must hold from the commands that were acknowledged, what an outlet may say from the changes
/// that its owner made, and what a document must be from its revision. It knows nothing of how the server works.
@LoopActor
final class Oracle {
    let world: World
    private var ledgers: [HomeLedger?]
    /// What was saved on the server, and is to be dropped at the end.
    var savedQuestions: Set<String> = []
    private var made = [Int](repeating: 0, count: Check.allCases.count)

    init(_ world: World) {
        self.world = world
        ledgers = Array(repeating: nil, count: world.outlets.count)
    }

    /// How often each check was made.
    var checksMade: [(check: Check, count: Int)] { Check.allCases.map { ($0, made[$0.rawValue]) } }
    var checkCount: Int { made.reduce(0, +) }

    func count(_ check: Check, _ times: Int = 1) { made[check.rawValue] += times }

    func ledger(_ outlet: Int) -> HomeLedger {
        if let ledger = ledgers[outlet] { return ledger }
        let ledger = HomeLedger(world.outlets[outlet])
        ledgers[outlet] = ledger
        return ledger
    }

    // MARK: Judging

    /// Judges an answer, and lets the models follow.
    func judge(_ flight: Flight, _ reply: Reply, of shopper: Shopper) throws(Violation) -> Verdict {
        if case .error(let code, _) = reply, let verdict = Oracle.inability(code) {
            if verdict != .unsettled { settleOwner(flight.call, isMade: false) }
            return verdict
        }
        count(.answer)
        switch flight.call {
        case .putOutlet, .putMenu, .open, .close, .price, .suspend, .resume, .list, .unlist:
            return try judgeOwner(flight, reply)
        case .add, .set, .remove, .clear, .checkOut:
            let version = shopper.cart.version
            let verdict = try judgeCart(flight, reply, shopper.cart, shopper)
            return verdict == .accepted && shopper.cart.version == version ? .unchanged : verdict
        case .count:
            guard case .integer(let count) = reply else { throw unexpected(flight, reply, "a count") }
            self.count(.count)
            guard count == shopper.cart.badge else {
                throw Violation(.count, "CART.COUNT is \(count), and \(shopper.cart.badge) were put in and left there")
            }
            return .accepted
        case .cart: return try judgeCartDocument(flight, reply, shopper)
        case .order: return try judgeOrder(flight, reply, shopper)
        case .home: return try judgeHome(flight, reply, shopper)
        case .tags(let outlet): return try judgeTags(flight, reply, world.outlets[outlet])
        case .item(let outlet, let item): return try judgeItem(flight, reply, world.outlets[outlet], item)
        case .browse(let question), .outlets(let question), .surprise(let question), .save(_, let question):
            return try judgePage(flight, reply, question, shopper)
        case .drop:
            // A server that was started anew has none.
            guard case .integer(0...1) = reply else { throw unexpected(flight, reply, "1 or 0") }
            return .accepted
        case .subscribe, .unsubscribe:
            if case .error("LIMIT", _) = reply, shopper.link.hasManyChannels { return .refused(code: "LIMIT") }
            guard case .simple("PONG") = reply else { throw unexpected(flight, reply, "PONG") }
            return .accepted
        }
    }

    /// Errors that say something of the server and nothing of the command.
    static func inability(_ code: String) -> Verdict? {
        switch code {
        case "BUSY", "UNAVAILABLE": .failed(code: code)
        case "UNKNOWN": .unsettled
        default: nil
        }
    }

    func unexpected(_ flight: Flight, _ reply: Reply, _ expected: String) -> Violation {
        Violation(.answer, "\(flight.call.kind.name) was answered \(reply.summary), not \(expected)")
    }

    /// A change of an outlet was made, or was not.
    private func settleOwner(_ call: Call, isMade: Bool) {
        guard let index = call.outlet, call.kind.isWrite, Oracle.change(call, world) != nil else { return }
        if isMade { world.outlets[index].settle() } else { world.outlets[index].abandon() }
    }

    /// What a call changes of what its outlet says of an item or its doors.
    static func change(_ call: Call, _ world: World) -> Outlet.Change? {
        func item(_ outlet: Int, _ item: Int, _ body: (inout Offer) -> Void) -> Outlet.Change {
            var offer = world.outlets[outlet].current(item: item)
            body(&offer)
            return Outlet.Change(target: .item(item), offer: offer)
        }
        switch call {
        case .price(let outlet, let index, let minor): return item(outlet, index) { $0.price = minor }
        case .suspend(let outlet, let index): return item(outlet, index) { $0.isAvailable = false }
        case .resume(let outlet, let index): return item(outlet, index) { $0.isAvailable = true }
        case .list(let outlet, let index, _):
            let price = world.outlets[outlet].menu.item(index).price
            return Outlet.Change(
                target: .item(index), offer: Offer(price: price, isAvailable: true, isListed: true))
        case .unlist(let outlet, let index): return item(outlet, index) { $0.isListed = false }
        case .open, .close:
            let isOpen = if case .open = call { true } else { false }
            return Outlet.Change(target: .doors, offer: Offer(price: 0, isAvailable: isOpen, isListed: true))
        default: return nil
        }
    }

    // MARK: Owners

    private func judgeOwner(_ flight: Flight, _ reply: Reply) throws(Violation) -> Verdict {
        guard case .integer(let version) = reply else { throw unexpected(flight, reply, "a version") }
        guard let index = flight.call.outlet else { return .accepted }
        let outlet = world.outlets[index]
        count(.version)
        // It was acknowledged, whatever is to be said of the version.
        defer { settleOwner(flight.call, isMade: true) }
        let isChanged = try outlet.follow(version, of: flight.call)
        return isChanged ? .accepted : .unchanged
    }

    // MARK: Carts

    private func judgeCart(
        _ flight: Flight, _ reply: Reply, _ cart: CartModel, _ shopper: Shopper
    ) throws(Violation) -> Verdict {
        var possible = "its count"
        switch flight.call {
        case .add(_, let outlet, let item, let quantity, let note):
            let outlet = world.outlets[outlet]
            let fate = cart.adding(item, of: outlet, quantity: quantity, note: note, since: flight.floor)
            if let verdict = refusal(reply, fate.refusals) { return verdict }
            guard case .integer(let count) = reply, !fate.prices.isEmpty else {
                possible = expected(fate.prices.isEmpty ? nil : cart.count + quantity, fate.refusals)
                break
            }
            cart.add(item, of: outlet, quantity: quantity, note: note, prices: fate.prices)
            return try judgeCount(count, cart, flight)
        case .set(_, let line, let quantity):
            let fate = cart.setting(line, to: quantity, since: flight.floor)
            if let verdict = refusal(reply, fate.refusals) { return verdict }
            guard case .integer(let count) = reply, fate.isPossible else {
                possible = expected(fate.isPossible ? cart.count : nil, fate.refusals)
                break
            }
            cart.set(line, to: quantity)
            return try judgeCount(count, cart, flight)
        case .remove(_, let line):
            let refusals = cart.isCheckedOut ? ["STATE"] : cart.line(line) == nil ? ["NOTFOUND"] : []
            if let verdict = refusal(reply, refusals) { return verdict }
            guard case .integer(let count) = reply, refusals.isEmpty else {
                possible = expected(nil, refusals)
                break
            }
            cart.remove(line)
            return try judgeCount(count, cart, flight)
        case .clear:
            let refusals = cart.isCheckedOut ? ["STATE"] : []
            if let verdict = refusal(reply, refusals) { return verdict }
            guard case .integer(let count) = reply, refusals.isEmpty else {
                possible = expected(0, refusals)
                break
            }
            cart.clear()
            return try judgeCount(count, cart, flight)
        case .checkOut(_, let total):
            let fate = cart.checkingOut(total: total, since: flight.floor)
            if let verdict = refusal(reply, fate.refusals) { return verdict }
            guard let order = reply.string, fate.isPossible else {
                possible = fate.isPossible ? "an order" : expected(nil, fate.refusals)
                break
            }
            cart.checkOut(order: order, total: total, since: flight.floor)
            shopper.lastOrder = cart
            return .accepted
        default: break
        }
        throw unexpected(flight, reply, possible)
    }

    private func judgeCount(_ count: Int64, _ cart: CartModel, _ flight: Flight) throws(Violation) -> Verdict {
        self.count(.count)
        guard count == cart.count else {
            throw Violation(
                .count, "\(flight.call.kind.name) was answered \(count), and the cart must hold \(cart.count)")
        }
        return .accepted
    }

    private func refusal(_ reply: Reply, _ possible: [String]) -> Verdict? {
        if case .error(let code, _) = reply, possible.contains(code) { .refused(code: code) } else { nil }
    }

    private func expected(_ count: Int?, _ refusals: [String]) -> String {
        ((count.map { [":\($0)"] } ?? []) + refusals.map { "-\($0)" }).joined(separator: " or ")
    }

    private func judgeCartDocument(
        _ flight: Flight, _ reply: Reply, _ shopper: Shopper
    ) throws(Violation) -> Verdict {
        let cart = shopper.cart
        if case .null = reply {
            guard cart.version == 0 else {
                throw Violation(.cart, "CART.GET is null, and the cart has \(cart.version) events")
            }
            count(.cart)
            return .accepted
        }
        guard case .bulk(let bytes) = reply, let document = CartDocument(bytes) else {
            throw unexpected(flight, reply, "a cart")
        }
        count(.cart)
        guard document.version == Int64(cart.version) else {
            throw Violation(
                .cart, "CART.GET has version \(document.version), and \(cart.version) changes were acknowledged")
        }
        let status =
            switch cart.status {
            case .checkedOut: "checkedOut"
            case .open: cart.lines.isEmpty ? "empty" : "open"
            }
        guard document.cart == world.cartName(cart.id), document.status == status,
            document.outlet == cart.outlet?.id
        else {
            throw Violation(
                .cart,
                "CART.GET shows cart \(document.cart), \(document.status), of \(document.outlet ?? "no outlet"); it is "
                    + "\(world.cartName(cart.id)), \(status), of \(cart.outlet?.id ?? "no outlet")")
        }
        try judgeLines(document, cart, .cart, since: flight.floor)
        return .accepted
    }

    private func judgeOrder(_ flight: Flight, _ reply: Reply, _ shopper: Shopper) throws(Violation) -> Verdict {
        guard let cart = shopper.lastOrder else { return .accepted }
        guard case .bulk(let bytes) = reply, let document = CartDocument(bytes) else {
            throw unexpected(flight, reply, "an order")
        }
        count(.order)
        guard cart.status == .checkedOut(order: document.order ?? ""), document.cart == world.cartName(cart.id),
            document.status == "placed", document.version == 1, document.total == cart.agreedTotal
        else {
            throw Violation(
                .order,
                "ORDER.GET shows \(document.order ?? "none") of cart \(document.cart), \(document.status), version "
                    + "\(document.version), total \(document.total); the agreed total is \(cart.agreedTotal ?? 0)")
        }
        try judgeLines(document, cart, .order, since: nil)
        return .accepted
    }

    /// - Parameter floor: where problems of lines are to be judged, the changes that were settled when the cart
    ///   was asked for.
    private func judgeLines(
        _ document: CartDocument, _ cart: CartModel, _ check: Check, since floor: Int?
    ) throws(Violation) {
        guard document.lines.map(\.line) == cart.lines.map(\.id) else {
            throw Violation(check, "the lines are \(document.lines.map(\.line)), and must be \(cart.lines.map(\.id))")
        }
        var (count, total) = (0, Int64(0))
        for (index, line) in document.lines.enumerated() {
            let model = cart.lines[index]
            let name = cart.outlet?.menu.item(model.item).name
            guard line.item == ItemPlan.id(model.item), line.name == name, line.quantity == model.quantity,
                line.note == model.note
            else {
                throw Violation(
                    check,
                    "line \(line.line) is \(line.quantity) of \(line.item), '\(line.name)'; it must be "
                        + "\(model.quantity) of \(ItemPlan.id(model.item)), '\(name ?? "")'")
            }
            guard model.prices.contains(line.unitPrice) else {
                throw Violation(
                    check,
                    "one of line \(line.line) costs \(line.unitPrice); when it was added it cost \(model.prices)")
            }
            guard line.total == line.unitPrice * Int64(line.quantity) else {
                throw Violation(
                    check,
                    "line \(line.line) costs \(line.total), and \(line.quantity) at \(line.unitPrice) is something else"
                )
            }
            cart.learn(price: line.unitPrice, ofLine: index)
            if let floor, !cart.isCheckedOut, let outlet = cart.outlet {
                try judgeProblem(line, model.item, outlet, since: floor)
            }
            count += line.quantity
            total += line.total
        }
        guard document.count == count, document.subtotal == total, document.total == total else {
            throw Violation(
                check,
                "count \(document.count), subtotal \(document.subtotal) and total \(document.total) are not the sums "
                    + "of the lines, \(count) and \(total)")
        }
    }

    private func judgeProblem(
        _ line: CartDocument.Line, _ item: Int, _ outlet: Outlet, since floor: Int
    ) throws(Violation) {
        var possible: [CartDocument.Problem?] = []
        if outlet.mayBeClosed(since: floor) { possible.append(.init(code: "CLOSED")) }
        for offer in outlet.possible(.item(item), since: floor) {
            if !offer.isListed {
                possible.append(.init(code: "GONE"))
            } else if !offer.isAvailable {
                possible.append(.init(code: "SOLDOUT"))
            } else if offer.price != line.unitPrice {
                possible.append(.init(code: "PRICECHANGED", unitPrice: offer.price))
            } else {
                possible.append(nil)
            }
        }
        guard possible.contains(line.problem) else {
            throw Violation(
                .cart,
                "the problem of line \(line.line) is \(line.problem?.code ?? "none"), and must be "
                    + possible.map { $0?.code ?? "none" }.joined(separator: " or "))
        }
    }
}
