internal import EventLoop
internal import LineClient
internal import LineProtocol

/// What customers look at.
extension Oracle {
    // MARK: Homes

    func judgeHome(_ flight: Flight, _ reply: Reply, _ shopper: Shopper) throws(Violation) -> Verdict {
        guard case .home(let outlet, let since, let cart) = flight.call else { return .accepted }
        let ledger = ledger(outlet)
        count(.home)
        switch reply {
        case .null:
            guard let since, cart == nil else { throw unexpected(flight, reply, "a home") }
            try ledger.unchanged(since, since: flight.floor)
            shopper.held = (outlet, since)
        case .bulk(let bytes) where Oracle.isPatch(bytes):
            guard let since, let change = JSON(bytes), let to = change["to"]?.integer,
                change["from"]?.integer == since, change["outlet"]?.string == world.outlets[outlet].id,
                var operations = change["patch"]?.array
            else { throw unexpected(flight, reply, since.map { "a patch from \($0)" } ?? "a home") }
            if cart != nil {
                guard let last = operations.popLast(), last["path"]?.string == "/cartCount" else {
                    throw unexpected(flight, reply, "a patch that ends in the cart's count")
                }
                try judgeCartCount(last["value"]?.integer, shopper)
            }
            count(.patch)
            let isJudged =
                to == since && cart != nil && operations.isEmpty
                ? ledger.knows(to)
                : try ledger.patch(from: since, to: to, bytes, operations, since: flight.floor)
            shopper.held = isJudged ? (outlet, to) : nil
        case .bulk(var bytes):
            if cart != nil { try judgeCartCount(Oracle.takeCartCount(&bytes), shopper) }
            let revision = try ledger.read(bytes, since: flight.floor)
            shopper.held = (outlet, revision)
            if let document = ledger.document(revision), cart == nil {
                try shopper.link.read("home:\(world.outlets[outlet].id)", revision) { document }
            }
        default: throw unexpected(flight, reply, "a home")
        }
        return .accepted
    }

    /// Whether it is `{"outlet":"…","from"…` and not a home, whose outlet is an object.
    private static func isPatch(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: Array("{\"outlet\":\"".utf8))
    }

    private func judgeCartCount(_ count: Int64?, _ shopper: Shopper) throws(Violation) {
        self.count(.count)
        guard let count, count == shopper.cart.badge else {
            throw Violation(
                .count,
                "the home's cartCount is \(count.map { "\($0)" } ?? "missing"), and \(shopper.cart.badge) were put in "
                    + "and left there")
        }
    }

    /// Cuts `,"cartCount":n` off the end of a home; nil where it is not there.
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

    func judgeTags(_ flight: Flight, _ reply: Reply, _ outlet: Outlet) throws(Violation) -> Verdict {
        guard case .bulk(let bytes) = reply, let bar = JSON(bytes) else {
            throw unexpected(flight, reply, "a tag bar")
        }
        count(.home)
        let chips = bar["chips"]?.array ?? []
        guard
            chips.map({ $0["section"]?.string }) == outlet.menu.sections.map(\.id),
            chips.map({ $0["title"]?.string }) == outlet.menu.sections.map(\.title),
            chips.map({ $0["id"]?.string }) == outlet.menu.sections.map({ "tag_\($0.id)" })
        else { throw Violation(.home, "the tag bar of \(outlet.id) is not that of its menu: \(reply.summary)") }
        return .accepted
    }

    func judgeItem(_ flight: Flight, _ reply: Reply, _ outlet: Outlet, _ index: Int) throws(Violation) -> Verdict {
        let plan = outlet.menu.item(index)
        let offers = outlet.possible(.item(index), since: flight.floor)
        count(.home)
        if case .null = reply {
            guard offers.contains(where: { !$0.isListed }) else {
                throw Violation(.home, "\(plan.id) of \(outlet.id) is not there; it should be \(offers.text)")
            }
            return .accepted
        }
        guard case .bulk(let bytes) = reply, let item = JSON(bytes) else {
            throw unexpected(flight, reply, "an item")
        }
        let price = item["price"]?.integer
        guard item["id"]?.string == plan.id, item["outlet"]?.string == outlet.id,
            item["name"]?.string == plan.name,
            offers.contains(where: {
                $0.isListed && $0.price == price && $0.isAvailable == item["available"]?.bool
            })
        else {
            throw Violation(
                .home, "\(plan.id) of \(outlet.id) is \(reply.summary); it should be \(offers.text)")
        }
        return .accepted
    }

    // MARK: Pages

    func judgePage(
        _ flight: Flight, _ reply: Reply, _ question: Call.Question, _ shopper: Shopper
    ) throws(Violation) -> Verdict {
        count(.page)
        let bounds = question.bounds
        func wrong(_ what: String) -> Violation {
            Violation(.page, "\(flight.call.summary(world)): \(what)")
        }
        if case .surprise = flight.call {
            guard case .bulk(let bytes) = reply, let item = JSON(bytes) else {
                guard case .null = reply else { throw unexpected(flight, reply, "an item") }
                if let outlet = bounds.outlet, possibleTotal(bounds, world.outlets[outlet], flight.floor).lowerBound > 0
                {
                    throw wrong("it found nothing, and something matches")
                }
                return .accepted
            }
            if let problem = problem(of: item, bounds, flight) { throw wrong(problem) }
            return .accepted
        }
        // A server keeps so many questions of all its clients together.
        if case .save = flight.call, case .error("LIMIT", _) = reply { return .refused(code: "LIMIT") }
        guard case .bulk(let bytes) = reply, let page = JSON(bytes), let total = page["total"]?.integer,
            let items = page["items"]?.array
        else { throw unexpected(flight, reply, "a page") }
        guard items.count == min(bounds.limit, Int(total)) else {
            throw wrong("\(items.count) of \(total) on a page of \(bounds.limit)")
        }
        guard Set(items.map(Listing.init)).count == items.count else { throw wrong("something is on it twice") }
        guard page["state"]?.string == (total == 0 ? "empty" : "ready") else {
            throw wrong("its state is not that of \(total) matches")
        }
        for item in items {
            if let problem = problem(of: item, bounds, flight) { throw wrong(problem) }
        }
        if bounds.sort == "price" || bounds.sort == "-price" {
            let prices = items.map { $0["price"]?.integer ?? .max }
            let sorted = bounds.sort == "price" ? prices.sorted() : prices.sorted(by: >)
            guard prices == sorted else { throw wrong("the prices are not in order: \(prices)") }
        }
        var possible: ClosedRange<Int>?
        if let outlet = bounds.outlet { possible = possibleTotal(bounds, world.outlets[outlet], flight.floor) }
        if case .outlets = flight.call, bounds.isOwn { possible = possibleOutlets(bounds, flight) }
        if let possible, !possible.contains(Int(total)) {
            throw wrong("\(total) match, and it must be \(possible.lowerBound) to \(possible.upperBound)")
        }
        if case .save(let name, _) = flight.call { savedQuestions.insert(name) }
        if case .save(let name, _) = flight.call, let revision = page["revision"]?.integer {
            try shopper.link.read("browse:\(name)", revision) { page }
        }
        return .accepted
    }

    /// Why a listing cannot be an answer; nil where it can.
    private func problem(of listing: JSON, _ bounds: Call.Question.Bounds, _ flight: Flight) -> String? {
        let name = listing["name"]?.string ?? "?"
        if bounds.isOwn, listing["city"]?.string != world.name { return "'\(name)' is of another city" }
        if case .outlets = flight.call {
            guard !bounds.isOpen || listing["status"]?.string == "open" else { return "'\(name)' is not open" }
            let outlet = listing["id"]?.string.flatMap(world.outlet)
            return outlet.flatMap { problem(ofDoors: listing, $0, flight) }
        }
        if let outlet = listing["outlet"]?.string.flatMap(world.outlet),
            let problem = problem(of: listing, outlet, flight)
        {
            return "'\(name)' \(problem)"
        }
        if let outlet = bounds.outlet, listing["outlet"]?.string != world.outlets[outlet].id {
            return "'\(name)' is of another outlet"
        }
        if let tag = bounds.tag, listing["tags"]?.array?.contains(.string(tag)) != true {
            return "'\(name)' is not tagged \(tag)"
        }
        if let prices = bounds.prices, !prices.contains(listing["price"]?.integer ?? -1) {
            return "'\(name)' costs \(listing["price"]?.text ?? "nothing")"
        }
        if bounds.isOpen, listing["available"]?.bool != true || listing["status"]?.string != "open" {
            return "'\(name)' cannot be had now"
        }
        return nil
    }

    /// Why an item of an outlet of ours is not what its owner made of it; nil where it is.
    private func problem(of listing: JSON, _ outlet: Outlet, _ flight: Flight) -> String? {
        guard let index = listing["item"]?.string.flatMap({ ItemPlan.index(of: $0) }),
            outlet.menu.everyItem.contains(index)
        else { return "is no item of ours" }
        let plan = outlet.menu.item(index)
        guard listing["name"]?.string == plan.name, listing["kind"]?.string == plan.kind,
            listing["tags"] == .array(plan.tags.map(JSON.string))
        else { return "is not the item that was put there" }
        let offers = outlet.possible(.item(index), sentAt: flight.sent)
        let (price, isAvailable) = (listing["price"]?.integer, listing["available"]?.bool)
        guard offers.contains(where: { $0.isListed && $0.price == price && $0.isAvailable == isAvailable }) else {
            return "is at \(price ?? -1), \(isAvailable == true ? "available" : "not available"); it should be "
                + offers.text
        }
        return problem(ofDoors: listing, outlet, flight)
    }

    private func problem(ofDoors listing: JSON, _ outlet: Outlet, _ flight: Flight) -> String? {
        let statuses = outlet.possible(.doors, sentAt: flight.sent).map { $0.isAvailable ? "open" : "closed" }
        let status = listing["status"]?.string ?? "nothing"
        return statuses.contains(status) ? nil : "is of an outlet that is \(status) and not \(statuses)"
    }

    /// How many of our outlets match.
    private func possibleOutlets(_ bounds: Call.Question.Bounds, _ flight: Flight) -> ClosedRange<Int> {
        guard bounds.isOpen else { return world.outlets.count...world.outlets.count }
        var (least, most) = (0, 0)
        for outlet in world.outlets {
            let doors = outlet.possible(.doors, sentAt: flight.sent)
            if doors.allSatisfy(\.isAvailable) { least += 1 }
            if doors.contains(where: \.isAvailable) { most += 1 }
        }
        return least...most
    }

    /// How many items of an outlet match: at least those that do whatever the server knew, at most those that may.
    private func possibleTotal(
        _ bounds: Call.Question.Bounds, _ outlet: Outlet, _ floor: Int
    ) -> ClosedRange<Int> {
        var (least, most) = (0, 0)
        for index in outlet.menu.everyItem {
            if let tag = bounds.tag, !outlet.menu.item(index).tags.contains(tag) { continue }
            let matches = outlet.possible(.item(index), since: floor).map { offer in
                offer.isListed && (bounds.prices?.contains(offer.price) ?? true)
                    && (!bounds.isOpen || offer.isAvailable)
            }
            if matches.allSatisfy(\.self), !bounds.isOpen || !outlet.mayBeClosed(since: floor) { least += 1 }
            if matches.contains(true), !bounds.isOpen || outlet.mayBeOpen(since: floor) { most += 1 }
        }
        return least...most
    }
}

/// What tells the listings of a page from one another.
private struct Listing: Hashable {
    var outlet: String?
    var item: String?

    init(_ listing: JSON) {
        outlet = listing["outlet"]?.string ?? listing["id"]?.string
        item = listing["item"]?.string
    }
}
