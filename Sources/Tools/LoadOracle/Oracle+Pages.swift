internal import LineProtocol

/// Pages of listings.
extension Oracle {
    func judgePage(
        _ exchange: Exchange, _ floor: Int, _ question: Call.Question
    ) throws(Violation) -> Verdict {
        let reply = exchange.reply
        count(.page)
        let bounds = question.bounds
        func wrong(_ what: String) -> Violation {
            Violation(.page, "\(exchange.call.summary(world)): \(what)")
        }
        if case .surprise = exchange.call {
            guard case .bulk(let bytes) = reply, let item = JSON(bytes) else {
                guard case .null = reply else { throw unexpected(exchange, "an item") }
                if let outlet = bounds.outlet, possibleTotal(bounds, world.outlets[outlet], floor).lowerBound > 0 {
                    throw wrong("it found nothing, and something matches")
                }
                return .accepted
            }
            if let problem = problem(of: item, bounds, exchange) { throw wrong(problem) }
            return .accepted
        }
        // A server keeps a limited number of queries for all its clients together.
        if case .save = exchange.call, case .error("LIMIT", _) = reply { return .refused(code: "LIMIT") }
        guard case .bulk(let bytes) = reply, let page = JSON(bytes), let total = page["total"]?.integer,
            let items = page["items"]?.array
        else { throw unexpected(exchange, "a page") }
        guard items.count == min(bounds.limit, Int(total)) else {
            throw wrong("\(items.count) of \(total) on a page of \(bounds.limit)")
        }
        guard Set(items.map(Listing.init)).count == items.count else { throw wrong("something is on it twice") }
        guard page["state"]?.text == (total == 0 ? "empty" : "ready") else {
            throw wrong("its state is not that of \(total) matches")
        }
        for item in items {
            if let problem = problem(of: item, bounds, exchange) { throw wrong(problem) }
        }
        if bounds.sort == "price" || bounds.sort == "-price" {
            let prices = items.map(Price.init)
            let areInOrder = zip(prices, prices.dropFirst()).allSatisfy { before, after in
                guard before.currency == after.currency else { return before.currency < after.currency }
                return bounds.sort == "price" ? before.minor <= after.minor : before.minor >= after.minor
            }
            guard areInOrder else { throw wrong("the prices are not in order: \(prices.map(\.minor))") }
        }
        var possible: ClosedRange<Int>?
        if let outlet = bounds.outlet { possible = possibleTotal(bounds, world.outlets[outlet], floor) }
        if case .outlets = exchange.call, bounds.isOwn { possible = possibleOutlets(bounds, exchange) }
        if let possible, !possible.contains(Int(total)) {
            throw wrong("\(total) match, and it must be \(possible.lowerBound) to \(possible.upperBound)")
        }
        if case .save(let name, _) = exchange.call { saved(name) }
        if case .save(let name, _) = exchange.call, let revision = page["revision"]?.integer {
            read("browse:\(name)", revision, exchange) { page }
        }
        return .accepted
    }

    /// Why a listing cannot be an answer; nil if it can.
    private func problem(of listing: JSON, _ bounds: Call.Question.Bounds, _ exchange: Exchange) -> String? {
        let name = listing["name"]?.string ?? "?"
        if bounds.isOwn, listing["city"]?.text != Text(world.name) { return "'\(name)' is of another city" }
        if let currency = bounds.currency, listing["currency"]?.text != Text(currency) {
            return "'\(name)' is not priced in \(currency)"
        }
        if case .outlets = exchange.call {
            if let isOpen = bounds.isOpen, (listing["status"]?.text == "open") != isOpen {
                return "'\(name)' is \(isOpen ? "not open" : "open")"
            }
            let outlet = listing["id"]?.string.flatMap({ world.outlet($0) })
            return outlet.flatMap { problem(ofDoors: listing, $0, exchange) }
        }
        if let outlet = listing["outlet"]?.string.flatMap({ world.outlet($0) }),
            let problem = problem(of: listing, outlet, exchange)
        {
            return "'\(name)' \(problem)"
        }
        if let outlet = bounds.outlet, listing["outlet"]?.text != Text(world.outlets[outlet].id) {
            return "'\(name)' is of another outlet"
        }
        if let tag = bounds.tag, listing["tags"]?.array?.contains(.string(Text(tag))) != true {
            return "'\(name)' is not tagged \(tag)"
        }
        if let tag = bounds.excludedTag, listing["tags"]?.array?.contains(.string(Text(tag))) == true {
            return "'\(name)' is tagged \(tag)"
        }
        for condition in bounds.conditions {
            if let problem = problem(of: listing, condition) { return "'\(name)' \(problem)" }
        }
        let isOrderable = listing["available"]?.bool == true && listing["status"]?.text == "open"
        if let isOpen = bounds.isOpen, isOrderable != isOpen {
            return "'\(name)' \(isOpen ? "cannot" : "can") be ordered now"
        }
        return nil
    }

    /// Why an item does not match; nil if it does, or if its listing does not tell and it is not one of ours.
    private func problem(of listing: JSON, _ condition: ItemCondition) -> String? {
        let price = listing["price"]?.integer ?? -1
        switch condition.test {
        case .kind(let kinds):
            let isOfKind = kinds.contains { listing["kind"]?.text == Text($0) }
            return isOfKind != condition.isExcluded ? nil : "is a \(listing["kind"]?.summary ?? "nothing")"
        case .price(let range):
            return range.contains(price) != condition.isExcluded ? nil : "costs \(price)"
        case .number, .words:
            guard let outlet = listing["outlet"]?.string.flatMap({ world.outlet($0) }),
                let item = listing["item"]?.string.flatMap({ ItemPlan.index(of: $0) })
            else { return nil }
            let plan = outlet.menu.item(item)
            return condition.holds(of: plan, at: price)
                ? nil : "says \(plan.attributes.map(\.json).joined(separator: ", "))"
        }
    }

    /// Why an item of one of our outlets is not what its owner made of it; nil if it is.
    private func problem(of listing: JSON, _ outlet: Outlet, _ exchange: Exchange) -> String? {
        guard let index = listing["item"]?.string.flatMap({ ItemPlan.index(of: $0) }),
            outlet.menu.everyItem.contains(index)
        else { return "is not one of our items" }
        let plan = outlet.menu.item(index)
        guard listing["name"]?.text == Text(plan.name), listing["kind"]?.text == Text(plan.kind),
            listing["tags"] == .array(plan.tags.map { .string(Text($0)) })
        else { return "is not the item that was put there" }
        let offers = outlet.possible(.item(index), sentAt: exchange.sent)
        let (price, isAvailable) = (listing["price"]?.integer, listing["available"]?.bool)
        guard offers.contains(where: { $0.isListed && $0.price == price && $0.isAvailable == isAvailable }) else {
            return "costs \(price ?? -1), \(isAvailable == true ? "available" : "not available"); it should be "
                + offers.text
        }
        return problem(ofDoors: listing, outlet, exchange)
    }

    private func problem(ofDoors listing: JSON, _ outlet: Outlet, _ exchange: Exchange) -> String? {
        guard outlet.possible(.listing, sentAt: exchange.sent).contains(where: \.isListed) else {
            return "belongs to an outlet that is hidden"
        }
        let statuses = outlet.possible(.doors, sentAt: exchange.sent).map { $0.isAvailable ? "open" : "closed" }
        let status = listing["status"]?.string ?? "nothing"
        return statuses.contains(status) ? nil : "belongs to an outlet that is \(status) and not \(statuses)"
    }

    /// How many of our outlets match.
    private func possibleOutlets(_ bounds: Call.Question.Bounds, _ exchange: Exchange) -> ClosedRange<Int> {
        guard bounds.hasOurCurrency else { return 0...0 }
        var (least, most) = (0, 0)
        for outlet in world.outlets {
            let listing = outlet.possible(.listing, sentAt: exchange.sent)
            let matches = outlet.possible(.doors, sentAt: exchange.sent).map { doors in
                bounds.isOpen.map { $0 == doors.isAvailable } ?? true
            }
            if matches.allSatisfy(\.self), listing.allSatisfy(\.isListed) { least += 1 }
            if matches.contains(true), listing.contains(where: \.isListed) { most += 1 }
        }
        return least...most
    }

    /// How many items of an outlet match: at least those that certainly match, whatever the server knew; at most those
    /// that may match.
    private func possibleTotal(
        _ bounds: Call.Question.Bounds, _ outlet: Outlet, _ floor: Int
    ) -> ClosedRange<Int> {
        guard bounds.hasOurCurrency else { return 0...0 }
        let doors = outlet.possible(.doors, since: floor)
        let listing = outlet.possible(.listing, since: floor)
        guard listing.contains(where: \.isListed) else { return 0...0 }
        var (least, most) = (0, 0)
        for index in outlet.menu.everyItem {
            let item = outlet.menu.item(index)
            let tags = item.tags
            if let tag = bounds.tag, !tags.contains(tag) { continue }
            if let tag = bounds.excludedTag, tags.contains(tag) { continue }
            let matches = outlet.possible(.item(index), since: floor).flatMap { offer in
                let isFound =
                    offer.isListed && bounds.conditions.allSatisfy { $0.holds(of: item, at: offer.price) }
                guard let isOpen = bounds.isOpen else { return [isFound] }
                return doors.map { isFound && ($0.isAvailable && offer.isAvailable) == isOpen }
            }
            if matches.allSatisfy(\.self) { least += 1 }
            if matches.contains(true) { most += 1 }
        }
        return (listing.allSatisfy(\.isListed) ? least : 0)...most
    }
}

extension Call.Question.Bounds {
    /// Whether outlets of ours can match.
    fileprivate var hasOurCurrency: Bool { currency.map { isSame($0, Outlet.currency) } ?? true }
}

/// What listings are sorted by: first those of one currency, then of the next; in the end those without a price.
private struct Price {
    let currency: String
    let minor: Int64

    init(_ listing: JSON) {
        let price = listing["price"]?.integer
        // Codes have capital letters.
        currency = price == nil ? "~" : listing["currency"]?.string ?? ""
        minor = price ?? 0
    }
}

/// What tells the listings of a page apart.
private struct Listing: Hashable {
    var outlet: Text?
    var item: Text?

    init(_ listing: JSON) {
        outlet = listing["outlet"]?.text ?? listing["id"]?.text
        item = listing["item"]?.text
    }
}
