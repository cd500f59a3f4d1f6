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

    func judgeItem(_ exchange: Exchange, _ floor: Int, _ outlet: Outlet, _ index: Int) throws(Violation) -> Verdict {
        let plan = outlet.menu.item(index)
        let offers = outlet.possible(.item(index), since: floor)
        count(.home)
        if case .null = exchange.reply {
            guard offers.contains(where: { !$0.isListed }) else {
                throw Violation(.home, "\(plan.id) of \(outlet.id) is not there; it should be \(offers.text)")
            }
            return .accepted
        }
        guard case .bulk(let bytes) = exchange.reply, let item = JSON(bytes) else {
            throw unexpected(exchange, "an item")
        }
        let price = item["price"]?.integer
        guard item["id"]?.text == Text(plan.id), item["outlet"]?.text == Text(outlet.id),
            item["name"]?.text == Text(plan.name),
            offers.contains(where: {
                $0.isListed && $0.price == price && $0.isAvailable == item["available"]?.bool
            })
        else {
            throw Violation(
                .home, "\(plan.id) of \(outlet.id) is \(exchange.reply.summary); it should be \(offers.text)")
        }
        return .accepted
    }
}
