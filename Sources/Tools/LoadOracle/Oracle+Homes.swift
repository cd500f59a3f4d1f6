internal import LineProtocol

/// Homes, tag bars and items.
extension Oracle {
    func judgeHome(_ exchange: Exchange, _ floor: Int, _ customer: Customer) throws(Violation) -> Verdict {
        guard case .home(let outlet, let since, let cart) = exchange.call else { return .accepted }
        let ledger = ledger(outlet)
        count(.home)
        switch exchange.reply {
        case .null:
            guard let since, cart == nil else { throw unexpected(exchange, "a home") }
            try ledger.unchanged(since, since: floor)
            customer.home = (outlet, since)
        case .bulk(let bytes) where Oracle.isPatch(bytes):
            guard let since, let change = JSON(bytes), let to = change["to"]?.integer,
                change["from"]?.integer == since, change["outlet"]?.text == Text(world.outlets[outlet].id),
                var operations = change["patch"]?.array
            else { throw unexpected(exchange, since.map { "a patch from \($0)" } ?? "a home") }
            if cart != nil {
                guard let last = operations.popLast(), last["path"]?.text == "/cartCount" else {
                    throw unexpected(exchange, "a patch that ends in the cart's count")
                }
                try judgeCartCount(last["value"]?.integer, customer)
            }
            count(.patch)
            let isJudged =
                to == since && cart != nil && operations.isEmpty
                ? ledger.knows(to)
                : try ledger.patch(from: since, to: to, bytes, operations, since: floor)
            customer.home = isJudged ? (outlet, to) : nil
        case .bulk(var bytes):
            if cart != nil { try judgeCartCount(Oracle.takeCartCount(&bytes), customer) }
            let revision = try ledger.read(bytes, since: floor)
            customer.home = (outlet, revision)
            if let document = ledger.document(revision), cart == nil {
                read("home:\(world.outlets[outlet].id)", revision, exchange) { document }
            }
        default: throw unexpected(exchange, "a home")
        }
        return .accepted
    }

    /// Whether it is `{"outlet":"…","from"…` and not a home, where `outlet` is an object.
    private static func isPatch(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: Array("{\"outlet\":\"".utf8))
    }

    private func judgeCartCount(_ count: Int64?, _ customer: Customer) throws(Violation) {
        self.count(.count)
        guard let count, count == customer.cart.badge else {
            throw Violation(
                .count,
                "the home's cartCount is \(count.map { "\($0)" } ?? "missing"), and must be \(customer.cart.badge)")
        }
    }

    /// Cuts `,"cartCount":n` off the end of a home; nil if it is not there.
    private static func takeCartCount(_ bytes: inout [UInt8]) -> Int64? {
        let key = Array(",\"cartCount\":".utf8)
        var end = bytes.count - 1
        guard end > 0, bytes[end] == UInt8(ascii: "}") else { return nil }
        var digits: [UInt8] = []
        while end > 0, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[end - 1]) {
            digits.insert(bytes[end - 1], at: 0)
            end -= 1
        }
        guard end >= key.count, bytes[(end - key.count)..<end].elementsEqual(key) else { return nil }
        bytes.replaceSubrange((end - key.count)..., with: [UInt8(ascii: "}")])
        return Int64(String(decoding: digits, as: UTF8.self))
    }

    func judgeTags(_ exchange: Exchange, _ outlet: Outlet) throws(Violation) -> Verdict {
        guard case .bulk(let bytes) = exchange.reply, let bar = JSON(bytes) else {
            throw unexpected(exchange, "a tag bar")
        }
        count(.home)
        let chips = bar["chips"]?.array ?? []
        guard
            chips.map({ $0["section"]?.text }) == outlet.menu.sections.map({ Text($0.id) }),
            chips.map({ $0["title"]?.text }) == outlet.menu.sections.map({ Text($0.title) }),
            chips.map({ $0["id"]?.text }) == outlet.menu.sections.map({ Text("tag_\($0.id)") })
        else {
            throw Violation(.home, "the tag bar of \(outlet.id) is not that of its menu: \(exchange.reply.summary)")
        }
        return .accepted
    }

    func judgeItem(_ exchange: Exchange, _ floor: Int, _ customer: Customer) throws(Violation) -> Verdict {
        guard case .item(let outlet, let item, let since) = exchange.call else { return .accepted }
        count(.home)
        var kept: KeptItem?
        let document: JSON
        if let since {
            kept = try changedItem(exchange, outlet, item, since, customer)
            document = kept?.document ?? .null
        } else if case .null = exchange.reply {
            document = .null
        } else {
            guard case .bulk(let bytes) = exchange.reply, let read = JSON(bytes) else {
                throw unexpected(exchange, "an item")
            }
            document = read
        }
        try verify(document, world.outlets[outlet], item, floor)
        if let kept { customer.item = kept }
        return .accepted
    }

    /// The item that a customer has after it asked for what has changed. It has none after a mistake, so that this is
    /// reported once.
    private func changedItem(
        _ exchange: Exchange, _ outlet: Int, _ item: Int, _ since: String, _ customer: Customer
    ) throws(Violation) -> KeptItem {
        let kept = customer.item.flatMap { kept in
            kept.outlet == outlet && kept.item == item && isSame(kept.digest, since) ? kept : nil
        }
        customer.item = nil
        if case .null = exchange.reply, let kept { return kept }
        guard case .bulk(let bytes) = exchange.reply, let change = JSON(bytes), let from = change["from"],
            let to = change["to"]?.text, let operations = change["patch"]?.array
        else { throw unexpected(exchange, "a change since \(since)") }
        count(.patch)
        func wrong(_ what: String) -> Violation {
            let name = "\(ItemPlan.id(item)) of \(world.outlets[outlet].id)"
            return Violation(.patch, "the change of \(name) since \(since) \(what)")
        }
        let old: JSON
        switch (from, kept) {
        case (.null, _):
            guard operations.count == 1, operations[0]["op"]?.text == "replace", operations[0]["path"]?.text == ""
            else { throw wrong("begins nowhere, and does not replace everything") }
            old = .null
        case (.string(Text(since)), let kept?): old = kept.document
        default: throw wrong("begins at \(from.summary)")
        }
        guard to != Text(since) else { throw wrong("leads to where it began") }
        let new: JSON
        do throws(PatchFailure) {
            new = try old.patched(by: operations)
        } catch {
            throw wrong("cannot be applied: \(error)")
        }
        try items.read(new, to)
        return KeptItem(outlet: outlet, item: item, digest: to.string, document: new)
    }

    /// Checks that the document shows an item as it may have been; null, that it may have been off the menu.
    private func verify(_ document: JSON, _ outlet: Outlet, _ index: Int, _ floor: Int) throws(Violation) {
        let plan = outlet.menu.item(index)
        let offers = outlet.possible(.item(index), since: floor)
        if case .null = document {
            guard offers.contains(where: { !$0.isListed }) else {
                throw Violation(.home, "\(plan.id) of \(outlet.id) is not there; it should be \(offers.text)")
            }
            return
        }
        let planned: [(key: Text, value: JSON)] = [
            ("outlet", .string(Text(outlet.id))), ("section", .string(Text(outlet.menu.sections[plan.section].id))),
            ("id", .string(Text(plan.id))), ("kind", .string(Text(plan.kind))), ("name", .string(Text(plan.name))),
            ("description", .string(Text(plan.description))), ("tags", .array(plan.tags.map { .string(Text($0)) })),
            ("imageSmall", .string(Text(plan.imageSmall))), ("imageLarge", .string(Text(plan.imageLarge))),
            ("maxQuantity", .number(Double(plan.maximum))), ("currency", .string(Text(Outlet.currency))),
            (
                "attributes",
                .object(Dictionary(uniqueKeysWithValues: plan.attributes.map { (Text($0.name), $0.shown) }))
            ),
        ]
        for (key, value) in planned {
            if let difference = JSON.difference(value, document[key] ?? .null) {
                throw Violation(
                    .home, "\(plan.id) of \(outlet.id) is not the item that was put there: \(key)\(difference)")
            }
        }
        let (price, isAvailable) = (document["price"]?.integer, document["available"]?.bool)
        guard offers.contains(where: { $0.isListed && $0.price == price && $0.isAvailable == isAvailable }) else {
            throw Violation(
                .home,
                "\(plan.id) of \(outlet.id) is at \(price.map { "\($0)" } ?? "no price"), "
                    + "\(isAvailable == true ? "available" : "not available"); it should be \(offers.text)")
        }
    }
}
