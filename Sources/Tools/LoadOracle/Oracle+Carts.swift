internal import LineProtocol

/// Carts and orders.
extension Oracle {
    func judgeCart(_ exchange: Exchange, _ floor: Int, _ customer: Customer) throws(Violation) -> Verdict {
        let (reply, cart) = (exchange.reply, customer.cart)
        var possible = "its count"
        switch exchange.call {
        case .add(_, let outlet, let item, let quantity, let options, let note):
            let outlet = world.outlets[outlet]
            let chosen = options.flatMap { [ChosenOption](taps: $0) } ?? []
            let fate = cart.adding(item, of: outlet, quantity: quantity, chosen: chosen, note: note, since: floor)
            if let verdict = refusal(reply, fate.refusals) { return verdict }
            guard case .integer(let count) = reply, !fate.prices.isEmpty else {
                possible = expected(fate.prices.isEmpty ? nil : cart.count + quantity, fate.refusals)
                break
            }
            cart.add(item, of: outlet, quantity: quantity, chosen: chosen, note: note, prices: fate.prices)
            return try judgeCount(count, cart, exchange)
        case .edit(_, let line, let options, let note):
            let chosen = options.flatMap { [ChosenOption](taps: $0) }
            let fate = cart.editing(line, chosen: chosen, note: note, since: floor)
            if let verdict = refusal(reply, fate.refusals) { return verdict }
            guard case .integer(let count) = reply, !fate.prices.isEmpty else {
                possible = expected(fate.prices.isEmpty ? nil : cart.count, fate.refusals)
                break
            }
            // The same again leaves a line at its price.
            if !fate.isUnchanged { cart.edit(line, chosen: chosen, note: note, prices: fate.prices) }
            return try judgeCount(count, cart, exchange)
        case .set(_, let line, let quantity):
            let fate = cart.setting(line, to: quantity, since: floor)
            if let verdict = refusal(reply, fate.refusals) { return verdict }
            guard case .integer(let count) = reply, fate.isPossible else {
                possible = expected(fate.isPossible ? cart.count : nil, fate.refusals)
                break
            }
            cart.set(line, to: quantity)
            return try judgeCount(count, cart, exchange)
        case .remove(_, let line):
            let refusals = cart.isCheckedOut ? ["STATE"] : cart.line(line) == nil ? ["NOTFOUND"] : []
            if let verdict = refusal(reply, refusals) { return verdict }
            guard case .integer(let count) = reply, refusals.isEmpty else {
                possible = expected(nil, refusals)
                break
            }
            cart.remove(line)
            return try judgeCount(count, cart, exchange)
        case .clear:
            let refusals = cart.isCheckedOut ? ["STATE"] : []
            if let verdict = refusal(reply, refusals) { return verdict }
            guard case .integer(let count) = reply, refusals.isEmpty else {
                possible = expected(0, refusals)
                break
            }
            cart.clear()
            return try judgeCount(count, cart, exchange)
        case .tip(_, let minor):
            let refusals = cart.isCheckedOut || cart.lines.isEmpty ? ["STATE"] : []
            if let verdict = refusal(reply, refusals) { return verdict }
            guard case .integer(let count) = reply, refusals.isEmpty else {
                possible = expected(refusals.isEmpty ? cart.count : nil, refusals)
                break
            }
            cart.give(minor)
            return try judgeCount(count, cart, exchange)
        case .service(_, let name, let table, let time):
            let fate = cart.choosing(name, table: table, time: time)
            if let verdict = refusal(reply, fate.refusals) { return verdict }
            guard case .integer(let count) = reply, fate.isPossible else {
                possible = expected(fate.isPossible ? cart.count : nil, fate.refusals)
                break
            }
            cart.choose(name, table: table, time: time)
            return try judgeCount(count, cart, exchange)
        case .checkOut, .checkOutQuote:
            let total = agreed(exchange.call, customer)
            let fate = cart.checkingOut(total: total, since: floor)
            if let verdict = refusal(reply, fate.refusals) { return verdict }
            guard let order = reply.string, fate.isPossible else {
                possible = fate.isPossible ? "an order" : expected(nil, fate.refusals)
                break
            }
            cart.checkOut(order: order, total: total, since: floor)
            customer.lastOrder = cart
            place(order, cart, exchange)
            return .accepted
        default: break
        }
        throw unexpected(exchange, possible)
    }

    /// The total that a checkout agrees to; none if it names a quote of something else.
    private func agreed(_ call: Call, _ customer: Customer) -> Int64 {
        if case .checkOut(_, let total) = call { return total }
        guard case .checkOutQuote(_, let digest, _) = call, let quote = customer.quote, isSame(quote.digest, digest),
            isSame(quote.signature, customer.cart.signature)
        else { return -1 }
        return customer.cart.agreeableTotal
    }

    private func judgeCount(_ count: Int64, _ cart: CartModel, _ exchange: Exchange) throws(Violation) -> Verdict {
        self.count(.count)
        guard count == cart.count else {
            throw Violation(
                .count, "\(exchange.call.kind.name) was answered \(count), and the cart must hold \(cart.count)")
        }
        return .accepted
    }

    private func refusal(_ reply: Reply, _ possible: [String]) -> Verdict? {
        if case .error(let code, _) = reply, possible.contains(code) { .refused(code: code) } else { nil }
    }

    private func expected(_ count: Int?, _ refusals: [String]) -> String {
        ((count.map { [":\($0)"] } ?? []) + refusals.map { "-\($0)" }).joined(separator: " or ")
    }

    func judgeCartDocument(
        _ exchange: Exchange, _ floor: Int, _ customer: Customer
    ) throws(Violation) -> Verdict {
        let (reply, cart) = (exchange.reply, customer.cart)
        if case .null = reply {
            guard cart.version == 0 else {
                throw Violation(.cart, "CART.GET is null, and the cart has \(cart.version) events")
            }
            count(.cart)
            return .accepted
        }
        guard case .bulk(let bytes) = reply, let document = CartDocument(bytes) else {
            throw unexpected(exchange, "a cart")
        }
        count(.cart)
        guard cart.learn(version: document.version) else {
            throw Violation(
                .cart, "CART.GET has version \(document.version), and \(cart.version) changes were acknowledged")
        }
        let status =
            switch cart.status {
            case .checkedOut: "checkedOut"
            case .open: cart.lines.isEmpty ? "empty" : "open"
            }
        guard document.cart == Text(world.cartName(cart.id)), document.status == Text(status),
            document.outlet == cart.outlet.map({ Text($0.id) })
        else {
            throw Violation(
                .cart,
                "CART.GET shows cart \(document.cart), \(document.status), of \(document.outlet ?? "no outlet"); it is "
                    + "\(world.cartName(cart.id)), \(status), of \(cart.outlet?.id ?? "no outlet")")
        }
        guard document.service == cart.shownService.map({ Text($0) }), document.table == cart.table.map({ Text($0) }),
            document.time == cart.time.map({ Text($0) })
        else {
            throw Violation(
                .cart,
                "CART.GET shows service \(document.service ?? "none"), table \(document.table ?? "none"), for "
                    + "\(document.time ?? "now"); it is \(cart.shownService ?? "none"), table \(cart.table ?? "none"), "
                    + "for \(cart.time ?? "now")")
        }
        try judgeLines(document, cart, .cart, since: floor)
        return .accepted
    }

    func judgeOrder(_ exchange: Exchange, _ customer: Customer) throws(Violation) -> Verdict {
        if case .order(let id) = exchange.call, let model = order(id) { return try judgeOrder(model, exchange) }
        guard let cart = customer.lastOrder else { return .accepted }
        guard case .bulk(let bytes) = exchange.reply, let document = CartDocument(bytes) else {
            throw unexpected(exchange, "an order")
        }
        count(.order)
        guard case .checkedOut(let order) = cart.status, document.order == Text(order),
            document.cart == Text(world.cartName(cart.id)),
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

    /// - Parameter floor: how many changes were settled when the cart was asked for, if problems of lines are to be
    ///   judged.
    private func judgeLines(
        _ document: CartDocument, _ cart: CartModel, _ check: Check, since floor: Int?
    ) throws(Violation) {
        guard document.lines.map(\.line) == cart.lines.map({ Text($0.id) }) else {
            throw Violation(check, "the lines are \(document.lines.map(\.line)), and must be \(cart.lines.map(\.id))")
        }
        var (count, total) = (0, Int64(0))
        for (index, line) in document.lines.enumerated() {
            let model = cart.lines[index]
            let name = cart.outlet?.menu.item(model.item).name
            guard line.item == Text(ItemPlan.id(model.item)), line.name == name.map({ Text($0) }),
                line.quantity == model.quantity,
                line.note == model.note.map({ Text($0) })
            else {
                throw Violation(
                    check,
                    "line \(line.line) is \(line.quantity) of \(line.item), '\(line.name)'; it must be "
                        + "\(model.quantity) of \(ItemPlan.id(model.item)), '\(name ?? "")'")
            }
            let chosen = model.prices.filter { JSON.difference(.array($0.options), .array(line.options)) == nil }
            if chosen.isEmpty {
                let difference = JSON.difference(.array(model.prices.first?.options ?? []), .array(line.options))
                throw Violation(check, "line \(line.line) has other options than were chosen: \(difference ?? "")")
            }
            guard let price = chosen.first(where: { $0.unitPrice == line.unitPrice }) else {
                throw Violation(
                    check,
                    "one of line \(line.line) costs \(line.unitPrice); when it was added it cost "
                        + "\(model.prices.map(\.unitPrice))")
            }
            guard line.total == line.unitPrice &* Int64(line.quantity) else {
                throw Violation(
                    check,
                    "line \(line.line) costs \(line.total), and \(line.quantity) at \(line.unitPrice) is something else"
                )
            }
            cart.learn(price, ofLine: index)
            if let floor, !cart.isCheckedOut, let outlet = cart.outlet {
                try judgeProblem(line, model, outlet, since: floor)
            }
            count &+= line.quantity
            total &+= line.total
        }
        // What is charged is known once it is ordered.
        let bill = cart.isCheckedOut ? cart.bill : nil
        let due = bill?.total ?? total
        guard document.count == count, document.subtotal == total, document.total == due, document.tip == cart.tip
        else {
            throw Violation(
                check,
                "count \(document.count), subtotal \(document.subtotal), total \(document.total) and tip "
                    + "\(document.tip) are not what follows from the lines: \(count), \(total), \(due), \(cart.tip)")
        }
        if let difference = JSON.difference(.array(bill?.charges.map(\.document) ?? []), .array(document.charges)) {
            throw Violation(check, "the charges are not the outlet's: \(difference)")
        }
    }

    private func judgeProblem(
        _ line: CartDocument.Line, _ model: CartModel.Line, _ outlet: Outlet, since floor: Int
    ) throws(Violation) {
        let possible = problems(
            of: line.unitPrice, doors: outlet.possible(.doors, since: floor),
            sayings: outlet.possible(model.item, with: model.chosen, .floor(floor)))
        guard possible.contains(line.problem) else {
            throw Violation(
                .cart,
                "the problem of line \(line.line) is \(line.problem?.code ?? "none"), and must be "
                    + possible.map { $0?.code.string ?? "none" }.joined(separator: " or "))
        }
    }

    /// Every problem that a line may have whose item has this price in the cart.
    func problems(of price: Int64, doors: [Offer], sayings: [Saying]) -> [CartDocument.Problem?] {
        var possible: [CartDocument.Problem?] = []
        if doors.contains(where: { !$0.isAvailable }) { possible.append(.init(code: "CLOSED")) }
        for saying in sayings {
            switch saying {
            case .gone: possible.append(.init(code: "GONE"))
            case .soldOut: possible.append(.init(code: "SOLDOUT"))
            case .optionSoldOut(let option): possible.append(.init(code: "OPTIONSOLDOUT", option: option))
            case .priced(let now) where now.unitPrice != price:
                possible.append(.init(code: "PRICECHANGED", unitPrice: now.unitPrice))
            case .priced, .wrongChoice: possible.append(nil)
            }
        }
        return possible
    }

    /// Judges what the last message of a cart's channel says about problems.
    ///
    /// - Parameter time: a moment before the message was made.
    func judgeProblems(_ follower: Follower, _ id: CartID, sentAt time: UInt64) throws(Violation) {
        // A checked-out cart has no problems any more.
        guard follower.document?["status"]?.text == "open" else { return }
        for reported in follower.problems {
            guard let outlet = follower.document?["outlet"]?.string.flatMap({ world.outlet($0) }),
                let item = reported.line["item"]?.string.flatMap({ ItemPlan.index(of: $0) }),
                outlet.menu.everyItem.contains(item), let price = reported.line["unitPrice"]?.integer
            else { continue }
            let chosen = (reported.line["options"]?.array ?? []).compactMap { option -> ChosenOption? in
                guard let id = option["id"]?.string, let units = option["units"]?.integer else { return nil }
                return ChosenOption(id: id, units: Int(units))
            }
            let possible = problems(
                of: price, doors: outlet.possible(.doors, sentAt: time),
                sayings: outlet.possible(item, with: chosen, .call(sentAt: time)))
            let (code, unitPrice) = (reported.value["code"]?.text, reported.value["unitPrice"]?.integer)
            let option = reported.value["option"]?.text
            let isRight = possible.contains { problem in
                switch reported.member {
                case nil: problem?.code == code && problem?.unitPrice == unitPrice && problem?.option == option
                case "code": problem != nil && problem?.code == reported.value.text
                case "option": problem?.option != nil && problem?.option == reported.value.text
                case "unitPrice": problem?.unitPrice != nil && problem?.unitPrice == reported.value.integer
                default: false
                }
            }
            guard isRight else {
                throw Violation(
                    .messages,
                    "\(follower.channel) was told that the problem of \(ItemPlan.id(item)) is \(reported.value.summary) "
                        + "\(code.map { "\($0) \(unitPrice ?? 0)" } ?? ""); it should be "
                        + possible.map { $0.map { "\($0.code) \($0.unitPrice ?? 0)" } ?? "none" }
                        .joined(separator: " or "))
            }
        }
    }
}
