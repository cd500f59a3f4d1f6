internal import LineProtocol

/// Orders that kitchens cook, and what they cost.
extension Oracle {
    /// How many ended orders are kept for shoppers that still want something of them.
    private static let keptEndings = 20

    // MARK: What scenarios may know

    /// The orders of a kitchen that have not ended, as far as is known, the oldest first.
    package func openOrders(of outlet: Int) -> [OrderModel] {
        sortOrders(of: outlet)
        return kitchenOrders[outlet]?.open ?? []
    }

    /// The latest orders of a kitchen that have ended.
    package func endedOrders(of outlet: Int) -> [OrderModel] {
        sortOrders(of: outlet)
        return kitchenOrders[outlet]?.ended ?? []
    }

    private func sortOrders(of outlet: Int) {
        guard let all = kitchenOrders[outlet] else { return }
        let ended = all.ended + all.open.filter { $0.state.status.isEnd }
        kitchenOrders[outlet] = (
            all.open.filter { !$0.state.status.isEnd && !$0.isBroken },
            Array(ended.filter { !$0.isBroken }.suffix(Oracle.keptEndings))
        )
    }

    /// The order of that id, if it was placed in this run and somebody cooks it.
    package func order(_ id: String) -> OrderModel? { orders[id] }

    /// The orders that wait for something until a moment, with the time by which it has happened.
    package func waitingOrders(until time: UInt64) -> [(order: String, deadline: UInt64)] {
        orders.compactMap { id, model in model.deadline.flatMap { $0 <= time ? (id, $0) : nil } }
            .sorted { $0.order < $1.order }
    }

    // MARK: Placing

    /// A cart was checked out at a kitchen.
    func place(_ order: String, _ cart: CartModel, _ exchange: Exchange) {
        guard let outlet = cart.outlet, let terms = outlet.terms, let bill = cart.bill, orders[order] == nil else {
            return
        }
        let lines = cart.lines.map { line in
            OrderFacts.Line(id: line.id, quantity: line.quantity, document: line.document(at: outlet))
        }
        var missing: String?
        if case .checkOutQuote(_, _, let said) = exchange.call, !isSame(said, "ask") { missing = said }
        let model = OrderModel(
            OrderFacts(
                id: order, cart: world.cartName(cart.id), outlet: outlet.id, terms: terms.had(as: cart.service),
                lines: lines, bill: bill,
                currency: Outlet.currency, service: cart.service, table: cart.table, missing: missing,
                time: cart.time, menu: outlet.menu, countedItem: outlet.countedItem),
            outlet: outlet.index, sentAt: exchange.sent, answeredAt: exchange.answered)
        model.note("\(exchange.call.summary(world)) → \(exchange.reply.summary)")
        orders[order] = model
        kitchenOrders[outlet.index, default: ([], [])].open.append(model)
        strangers[order] = nil
    }

    // MARK: Steps

    /// Judges the answer to a step of an order.
    func take(_ step: OrderStep, of order: String, _ exchange: Exchange, _ customer: Customer) -> Verdict {
        guard let model = orders[order] else { return .accepted }
        model.note("\(exchange.call.summary(world)) → \(exchange.reply.summary)")
        // All but the last were followed by another attempt.
        let replies = [exchange.refusedBefore, exchange.reply, exchange.repeated].compactMap(\.self).filter { reply in
            if case .error(let code, _) = reply { Verdict(inability: code) == nil } else { true }
        }
        guard let last = replies.last else {
            model.abandon(customer.index, at: exchange.answered)
            guard case .error(let code, _) = exchange.reply, let verdict = Verdict(inability: code) else {
                return .accepted
            }
            if verdict != .unsettled { customer.writes.settle(exchange, .nothing) }
            return verdict
        }
        count(.answer)
        if exchange.repeated != nil { count(.duplicate) }
        var answer = OrderModel.Answer.unknown
        for (index, reply) in replies.enumerated() {
            var (version, refusal): (Int64?, String?)
            if case .integer(let number) = reply { version = number }
            if case .error(let code, _) = reply { refusal = code }
            answer = model.judge(
                customer.index, version: version, refusal: refusal, at: exchange.answered,
                isLast: index == replies.count - 1)
            guard case .impossible(let possible) = answer else { continue }
            customer.writes.settle(exchange, .unsure)
            let check: Check = if case .refund = step { .quote } else { .order }
            violated(
                Violation(
                    check, "\(exchange.call.kind.name) was answered \(reply.summary), not \(possible)"),
                at: exchange.answered, model.history, stream: "order-\(order)")
            return .accepted
        }
        // Of several copies, it is unknown which came last.
        let isSingle = exchange.attempts == 1 && replies.count == 1
        switch answer {
        case .changed: customer.writes.settle(exchange, .recorded)
        case .same, .refused: customer.writes.settle(exchange, isSingle ? .nothing : .unsure)
        case .either, .unknown, .impossible: customer.writes.settle(exchange, .unsure)
        }
        if case .error(let code, _) = last { return .refused(code: code) }
        if case .same = answer { return .unchanged }
        return .accepted
    }

    // MARK: Documents

    /// Judges what an order is shown as.
    func judgeOrder(_ model: OrderModel, _ exchange: Exchange) throws(Violation) -> Verdict {
        guard case .bulk(let bytes) = exchange.reply, let document = JSON(bytes) else {
            throw unexpected(exchange, "an order")
        }
        count(.order)
        see(document, model, sentAt: exchange.sent, at: exchange.answered)
        if let version = document["version"]?.integer { read("order:\(model.id)", version, exchange) { document } }
        return .accepted
    }

    private func see(
        _ document: JSON, _ model: OrderModel, sentAt sent: UInt64?, at time: UInt64, isOfKitchen: Bool = false
    ) {
        do throws(Violation) {
            try model.see(document, sentAt: sent, at: time, servedSince: backSince, isOfKitchen: isOfKitchen)
        } catch {
            violated(error, at: time, model.history, stream: "order-\(model.id)")
        }
    }

    func judgeKitchen(_ exchange: Exchange, _ outlet: Outlet) throws(Violation) -> Verdict {
        guard case .bulk(let bytes) = exchange.reply, let document = JSON(bytes),
            document["outlet"]?.text == Text(outlet.id), let shown = document["orders"]?.array,
            let count = document["count"]?.integer
        else { throw unexpected(exchange, "a kitchen") }
        self.count(.kitchen)
        let isWhole = count == Int64(shown.count)
        guard isWhole || shown.count == OrderModel.kitchenLimit && count > Int64(shown.count) else {
            throw Violation(.kitchen, "KITCHEN shows \(shown.count) orders, and counts \(count)")
        }
        let times = shown.compactMap { order in
            Moment.milliseconds((order["readyBy"] ?? order["promisedFor"])?.string)
        }
        guard times.count == shown.count, zip(times, times.dropFirst()).allSatisfy({ $0 <= $1 }) else {
            throw Violation(.kitchen, "KITCHEN does not show what is promised first at the top")
        }
        see(kitchen: shown, outlet.index, sentAt: exchange.sent, at: exchange.answered)
        let ids = Set(shown.compactMap { $0["order"]?.text })
        guard ids.count == shown.count else { throw Violation(.kitchen, "KITCHEN shows an order twice") }
        for model in openOrders(of: outlet.index) where isWhole && !ids.contains(Text(model.id)) {
            guard model.mustBe(since: exchange.sent, until: exchange.answered, \.isInKitchen) else { continue }
            violated(
                Violation(.kitchen, "KITCHEN does not show order \(model.id), which is \(model.state.status.rawValue)"),
                at: exchange.answered, model.history, stream: "order-\(model.id)")
        }
        latestKitchens[outlet.index] = document
        return .accepted
    }

    // MARK: Lists

    /// Judges a page of a kitchen's orders: it has those that it must have, none that was on a page before, and the
    /// newest first. If two orders were placed at once, it is unknown which is newer.
    func judgeOrders(
        _ exchange: Exchange, _ list: Call.OrderList, _ customer: Customer
    ) throws(Violation) -> Verdict {
        var pages = OrderPages(list)
        let isFirst = list.after == nil
        if let before = customer.pages, list.isSameList(as: before.list), isSame(before.next, list.after) {
            pages = before
        }
        customer.pages = nil
        guard case .bulk(let bytes) = exchange.reply, let document = JSON(bytes), let rows = document["orders"]?.array,
            let next = document["next"]
        else { throw unexpected(exchange, "a page of orders") }
        count(.orders)
        guard rows.count <= list.count else {
            throw Violation(.orders, "ORDERS shows \(rows.count) orders on a page of \(list.count)")
        }
        // What the page begins behind; nil if it is unknown when that was placed.
        let newest = isFirst ? exchange.sent : pages.last?.placedSince
        for row in rows {
            guard let id = row["order"]?.string, let placedAt = Moment.milliseconds(row["placedAt"]?.string) else {
                throw unexpected(exchange, "orders")
            }
            guard pages.seen.insert(Text(id)).inserted else {
                throw Violation(.orders, "ORDERS shows order \(id) twice")
            }
            guard list.statuses.isEmpty || list.statuses.contains(where: { row["status"]?.text == Text($0) }) else {
                throw Violation(.orders, "ORDERS shows order \(id), \(row["status"]?.summary ?? "without a status")")
            }
            pages.last = orders[id].flatMap { $0.outlet == list.outlet ? $0 : nil }
            guard let model = pages.last else {
                // Its customer may not know of it yet. At the end it has to be in the log.
                strangers[id] = list.outlet
                continue
            }
            guard placedAt <= pages.placedAt, model.placedSince <= pages.oldest else {
                throw Violation(.orders, "ORDERS does not show the newest order at the top: \(id) is behind older ones")
            }
            (pages.placedAt, pages.oldest) = (placedAt, min(pages.oldest, model.placedUntil))
            do throws(Violation) {
                try model.see(row: row, sentAt: exchange.sent, at: exchange.answered)
            } catch {
                violated(error, at: exchange.answered, model.history, stream: "order-\(id)")
            }
        }
        // Up to which order the page is complete: the last one on it, or to the end.
        var end = UInt64.max
        if case .null = next { end = 0 } else if !rows.isEmpty, let last = pages.last { end = last.placedUntil }
        for (id, model) in orders where model.outlet == list.outlet && !pages.seen.contains(Text(id)) {
            guard let newest, model.placedUntil < newest, end == 0 || end < model.placedSince,
                list.statuses.isEmpty
                    || model.mustBe(
                        since: exchange.sent, until: exchange.answered,
                        { status in
                            list.statuses.contains { isSame($0, status.rawValue) }
                        })
            else { continue }
            violated(
                Violation(.orders, "ORDERS does not show order \(id), which is \(model.state.status.rawValue)"),
                at: exchange.answered, model.history, stream: "order-\(id)")
            return .accepted
        }
        if let cursor = next.string {
            pages.next = cursor
            customer.pages = pages
        }
        return .accepted
    }

    private func see(kitchen shown: [JSON], _ outlet: Int, sentAt sent: UInt64?, at time: UInt64) {
        for order in shown {
            guard let id = order["order"]?.string else { continue }
            if let model = orders[id], model.outlet == outlet {
                see(order, model, sentAt: sent, at: time, isOfKitchen: true)
            } else {
                // Its customer may not know of it yet. At the end it has to be in the log.
                strangers[id] = outlet
            }
        }
    }

    /// Judges a document that messages have led to.
    func judgeFollowed(_ follower: Follower, at time: UInt64) {
        guard let document = follower.document else { return }
        if let model = orders[follower.channel.dropping("order:")] {
            see(document, model, sentAt: nil, at: time)
        } else if let outlet = kitchen(ofChannel: follower.channel) {
            see(kitchen: document["orders"]?.array ?? [], outlet, sentAt: nil, at: time)
        }
    }

    func kitchen(ofChannel channel: String) -> Int? {
        channel.utf8.starts(with: "kitchen:".utf8) ? world.outlet(channel.dropFirst(8))?.index : nil
    }

    /// How the kitchen that somebody follows differs from the one that was read last; nil if it does not. Once nothing
    /// changes any more, they are the same.
    func difference(_ follower: Follower) -> String? {
        guard let outlet = kitchen(ofChannel: follower.channel), let read = latestKitchens[outlet],
            let document = follower.document
        else { return nil }
        return JSON.difference(document, read)
    }

    // MARK: Quotes

    func judgeQuote(_ exchange: Exchange, _ floor: Int, _ customer: Customer) throws(Violation) -> Verdict {
        let cart = customer.cart
        customer.quote = nil
        if case .null = exchange.reply {
            guard cart.version == 0 else {
                throw Violation(.quote, "CART.QUOTE is null, and the cart has \(cart.version) events")
            }
            return .accepted
        }
        guard case .bulk(let bytes) = exchange.reply, let shown = JSON(bytes) else {
            throw unexpected(exchange, "a quote")
        }
        // Elsewhere prices may change at any time.
        guard let outlet = cart.outlet, outlet.terms != nil else { return .accepted }
        count(.quote)
        guard cart.learn(version: shown["version"]?.integer ?? 0) else {
            throw Violation(
                .quote, "CART.QUOTE has version \(shown["version"]?.summary ?? "none"), and must have \(cart.version)")
        }
        let lines = cart.lines.enumerated().map { index, line -> JSON in
            var document = line.document(at: outlet)
            let found = shown["lines"]?.array?.dropFirst(index).first?["problem"] ?? .null
            let possible = cart.isCheckedOut ? [.null] : problems(of: line, at: outlet, since: floor)
            document["problem"] = possible.contains(found) ? found : possible.first ?? .null
            return .object(document)
        }
        guard let bill = cart.bill(lacking: Set(lines.indices.filter { lines[$0]["problem"] != .null })) else {
            return .accepted
        }
        var members: [Text: JSON] = [
            "cart": .string(Text(world.cartName(cart.id))), "outlet": .string(Text(outlet.id)),
            "version": shown["version"] ?? .null, "currency": .string(Text(Outlet.currency)),
            "lines": .array(lines),
            "subtotal": .number(Double(bill.subtotal)), "charges": bill.documents,
            "total": .number(Double(bill.total)), "quote": .null,
        ]
        members["service"] = cart.service.map { JSON($0) }
        members["table"] = cart.table.map { JSON($0) }
        let services = cart.isCheckedOut ? [] : outlet.terms?.services ?? []
        if !services.isEmpty { members["services"] = .array(services.map { JSON($0.name) }) }
        if !cart.isCheckedOut, outlet.terms?.service(cart.service)?.needsTable ?? false {
            members["requires"] = .array([JSON("table")])
        }
        members["for"] = cart.time.map { JSON($0) }
        if !cart.isCheckedOut { members["promisedFor"] = cart.time.map { JSON($0) } }
        if !cart.isCheckedOut, cart.time == nil, let minutes = outlet.terms?.had(as: cart.service).prepMinutes {
            members["prepMinutes"] = JSON(minutes)
        }
        // A slot may be full by now.
        let problem = shown["problem"]?.string ?? ""
        if case .checkedOut(let order) = cart.status {
            members["order"] = .string(Text(order))
        } else if cart.time != nil, problem.hasPrefix("NOSLOT ") {
            members["problem"] = JSON(problem)
        } else if lines.allSatisfy({ $0["problem"] == .null }) {
            members["quote"] = shown["quote"]?.text.map { .string($0) } ?? .string("a digest")
        }
        if let difference = JSON.difference(.object(members), shown) {
            throw Violation(.quote, "CART.QUOTE is not what the menu and the outlet say: \(difference)")
        }
        if let digest = shown["quote"]?.string { customer.quote = Quote(digest: digest, signature: cart.signature) }
        return .accepted
    }

    /// The problems that a line of a kitchen's cart may have, as quotes show them.
    private func problems(of line: CartModel.Line, at outlet: Outlet, since floor: Int) -> [JSON] {
        problems(
            of: line.prices.first?.unitPrice ?? 0, doors: outlet.possible(.doors, since: floor),
            sayings: outlet.possible(line.item, with: line.chosen, .floor(floor))
        ).map { problem in
            guard let problem else { return .null }
            var members: [Text: JSON] = ["code": .string(problem.code)]
            members["option"] = problem.option.map { .string($0) }
            members["unitPrice"] = problem.unitPrice.map { .number(Double($0)) }
            return .object(members)
        }
    }
}

/// A list of orders, as far as its pages were turned.
package struct OrderPages {
    package let list: Call.OrderList
    /// The cursor of the next page.
    package internal(set) var next: String?
    var seen: Set<Text> = []
    /// The last order of the last page; nil before the first, or if no client was told of it yet.
    var last: OrderModel?
    /// When the last order was placed by the server's clock, in milliseconds.
    var placedAt = Int64.max
    /// By when one of the orders was placed.
    var oldest = UInt64.max

    init(_ list: Call.OrderList) { self.list = list }
}

/// A quote that a customer was given, and everything that it priced.
package struct Quote: Equatable, Sendable {
    package var digest: String
    var signature: String
}

extension String {
    /// The rest behind a prefix; the whole if it does not begin like that.
    fileprivate func dropping(_ prefix: String) -> String {
        utf8.starts(with: prefix.utf8) ? String(dropFirst(prefix.count)) : self
    }
}

extension CartModel {
    /// What it costs with everything that is charged, at a kitchen: prices do not change there.
    var bill: Bill? { bill(lacking: []) }

    /// The same where some of the lines cannot be had: these are not divided among their parts.
    func bill(lacking missing: Set<Int>) -> Bill? {
        guard let terms = outlet?.terms else { return nil }
        return terms.had(as: service).charges.bill(
            for: lines.map(\.total),
            of: lines.indices.map { missing.contains($0) ? [] : lines[$0].prices.first?.parts ?? [] }, tip: tip)
    }

    /// Everything that is priced.
    package var signature: String {
        lines.map { "\($0.id)×\($0.quantity)" }.joined(separator: " ") + " tip \(tip) \(service ?? "") \(time ?? "")"
    }
}

extension CartModel.Line {
    /// What it costs, where prices do not change.
    var total: Int64 { (prices.first?.unitPrice ?? 0) * Int64(quantity) }

    /// The line as quotes and orders show it.
    func document(at outlet: Outlet) -> [Text: JSON] {
        let plan = outlet.menu.item(item)
        return [
            "line": .string(Text(id)), "item": .string(Text(plan.id)), "name": .string(Text(plan.name)),
            "quantity": .number(Double(quantity)), "unitPrice": .number(Double(prices.first?.unitPrice ?? 0)),
            "options": .array(prices.first?.options ?? []), "note": note.map { .string(Text($0)) } ?? .null,
            "total": .number(Double(total)),
        ]
    }
}
