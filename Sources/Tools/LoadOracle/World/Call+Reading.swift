extension Call {
    /// The words of the call for a record. Documents follow from the world and are left out.
    func recorded(_ world: World) -> [String] {
        let words = words(world)
        switch self {
        case .putOutlet, .putMenu, .putPromotion: return Array(words.prefix(2))
        case .list: return Array(words.prefix(4)) + words.dropFirst(5)
        default: return words
        }
    }

    /// The call that was recorded; nil if the words are not a call in this world.
    init?(recorded words: [String], _ world: World) {
        func outlet(_ place: Int) -> Int? { words.indices.contains(place) ? world.outlet(words[place])?.index : nil }
        func item(_ place: Int, _ outlet: Int) -> Int? {
            guard words.indices.contains(place), let index = ItemPlan.index(of: words[place]),
                world.outlets[outlet].menu.everyItem.contains(index)
            else { return nil }
            return index
        }
        func itemOf(_ make: (_ outlet: Int, _ item: Int) -> Call?) -> Call? {
            outlet(1).flatMap { outlet in item(2, outlet).flatMap { make(outlet, $0) } }
        }
        func cart(_ place: Int) -> CartID? { words.indices.contains(place) ? world.cart(named: words[place]) : nil }
        func ofCart(_ make: (CartID) -> Call?) -> Call? { cart(1).flatMap(make) }
        func number(_ place: Int) -> Int64? { words.indices.contains(place) ? Int64(words[place]) : nil }
        func word(_ place: Int) -> String? { words.indices.contains(place) ? words[place] : nil }
        func optionOf(_ make: (_ outlet: Int, _ option: String) -> Call?) -> Call? {
            outlet(1).flatMap { outlet in
                word(2).flatMap { world.outlets[outlet].menu.option($0) == nil ? nil : make(outlet, $0) }
            }
        }
        /// The word behind a name; of those from a place on, every other one is a name.
        func option(_ name: String, from place: Int) -> String? {
            stride(from: place, to: words.count - 1, by: 2).first { isSame(words[$0], name) }.map { words[$0 + 1] }
        }
        func question(from place: Int) -> Question? { Question(words.dropFirst(place), world) }

        let call: Call?
        switch words.first {
        case "OUTLET.PUT": call = outlet(1).map(Call.putOutlet)
        case "MENU.PUT": call = outlet(1).map(Call.putMenu)
        case "PROMO.PUT": call = outlet(1).map(Call.putPromotion)
        case "OUTLET.OPEN": call = outlet(1).map { .open(outlet: $0) }
        case "OUTLET.CLOSE": call = outlet(1).map { .close(outlet: $0) }
        case "OUTLET.HIDE": call = outlet(1).map { .hide(outlet: $0) }
        case "OUTLET.SHOW": call = outlet(1).map { .show(outlet: $0) }
        case "MENU.ITEM.PRICE":
            call = itemOf { outlet, item in number(3).map { .price(outlet: outlet, item: item, minor: $0) } }
        case "MENU.ITEM.SUSPEND": call = itemOf { .suspend(outlet: $0, item: $1) }
        case "MENU.ITEM.RESUME": call = itemOf { .resume(outlet: $0, item: $1) }
        case "MENU.ITEM.STOCK":
            call = itemOf { outlet, item in
                number(4).map {
                    word(3) == "ADD"
                        ? .restock(outlet: outlet, item: item, more: Int($0))
                        : .stock(outlet: outlet, item: item, count: Int($0))
                }
            }
        case "MENU.OPTION.PRICE":
            call = optionOf { outlet, option in
                number(3).map { .priceOption(outlet: outlet, option: option, minor: $0) }
            }
        case "MENU.OPTION.SUSPEND": call = optionOf { .suspendOption(outlet: $0, option: $1) }
        case "MENU.OPTION.RESUME": call = optionOf { .resumeOption(outlet: $0, option: $1) }
        case "MENU.ITEM.REMOVE": call = itemOf { .unlist(outlet: $0, item: $1) }
        case "MENU.ITEM.PUT":
            call = outlet(1).flatMap { outlet in
                item(3, outlet).map { .list(outlet: outlet, item: $0, before: item(5, outlet)) }
            }
        case "CART.ADD":
            call = ofCart { cart in
                guard let outlet = outlet(2), let item = item(3, outlet), let quantity = number(4) else { return nil }
                return .add(
                    cart, outlet: outlet, item: item, quantity: Int(quantity), options: option("OPTIONS", from: 5),
                    note: option("NOTE", from: 5))
            }
        case "CART.EDIT":
            call = ofCart { cart in
                word(2).map {
                    .edit(cart, line: $0, options: option("OPTIONS", from: 3), note: option("NOTE", from: 3))
                }
            }
        case "CART.SET":
            call = ofCart { cart in
                word(2).flatMap { line in number(3).map { .set(cart, line: line, quantity: Int($0)) } }
            }
        case "CART.REMOVE": call = ofCart { cart in word(2).map { .remove(cart, line: $0) } }
        case "CART.CLEAR": call = ofCart(Call.clear)
        case "CART.CHECKOUT":
            call = ofCart { cart in
                word(2) == "QUOTE"
                    ? word(3).map { .checkOutQuote(cart, quote: $0, missing: option("MISSING", from: 4)) }
                    : number(3).map { .checkOut(cart, total: $0) }
            }
        case "CART.TIP": call = ofCart { cart in number(2).map { .tip(cart, minor: $0) } }
        case "CART.SERVICE":
            call = ofCart { cart in
                word(2).map {
                    .service(cart, name: $0, table: option("TABLE", from: 3), time: option("FOR", from: 3))
                }
            }
        case "CART.QUOTE": call = ofCart(Call.quote)
        case "KITCHEN": call = outlet(1).map { .kitchen(outlet: $0) }
        case "ORDERS":
            call = outlet(2).flatMap { outlet in
                guard let count = option("COUNT", from: 3).flatMap({ Int($0) }) else { return nil }
                let statuses = option("STATUS", from: 3)?.split(separator: ",").map(String.init) ?? []
                return .orders(
                    OrderList(outlet: outlet, statuses: statuses, after: option("AFTER", from: 3), count: count))
            }
        case "CART.COUNT": call = ofCart(Call.count)
        case "CART.GET": call = ofCart(Call.cart)
        case "ORDER.GET": call = word(1).map(Call.order)
        case "OUTLET.HOME":
            call = outlet(1).map { outlet in
                let since = word(2) == "SINCE" ? number(3) : nil
                return .home(outlet: outlet, since: since, cart: cart(words.count - 1))
            }
        case "OUTLET.TAGS": call = outlet(1).map { .tags(outlet: $0) }
        case "ITEM.GET": call = itemOf { .item(outlet: $0, item: $1, since: word(4)) }
        case "BROWSE": call = question(from: 1).map(Call.browse)
        case "OUTLETS": call = question(from: 1).map(Call.outlets)
        case "SURPRISE": call = question(from: 1).map(Call.surprise)
        case "CHOOSE": call = words.count > 1 ? .choose(Array(words.dropFirst())) : nil
        case "BROWSE.SAVE": call = word(1).flatMap { name in question(from: 2).map { .save(name: name, $0) } }
        case "BROWSE.DROP": call = word(1).map { .drop(name: $0) }
        case "SUBSCRIBE": call = word(1).map { .subscribe(channel: $0) }
        case "UNSUBSCRIBE": call = word(1).map { .unsubscribe(channel: $0) }
        default: call = OrderStep.reading(words).map { .step(order: $0.order, $0.step) }
        }
        // Words that are left out or added do not make a call, either.
        guard let call, call.recorded(world).elementsEqual(words, by: isSame) else { return nil }
        self = call
    }
}

extension Call.Question {
    /// A query in words; nil if one of them is not a filter that the load generator knows.
    package init?(_ words: some Sequence<String>, _ world: World) {
        self.words = Array(words)
        bounds = Bounds()
        var rest = self.words[...]
        while let first = rest.popFirst() {
            let isExcluded = first == "NOT"
            guard let filter = isExcluded ? rest.popFirst() : first else { return nil }
            switch filter {
            case "OPEN":
                guard bounds.isOpen == nil else { return nil }
                bounds.isOpen = !isExcluded
                continue
            case "TAG" where isExcluded:
                guard bounds.excludedTag == nil, let tag = rest.popFirst() else { return nil }
                bounds.excludedTag = tag
                continue
            case "PRICE", "KIND", "ATTR":
                guard let test = ItemCondition.Test(filter, &rest) else { return nil }
                bounds.conditions.append(ItemCondition(test: test, isExcluded: isExcluded))
                continue
            case _ where isExcluded: return nil
            default: break
            }
            guard let value = rest.popFirst() else { return nil }
            switch filter {
            case "TEXT": break
            case "CITY": bounds.isOwn = isSame(value, world.name)
            case "OUTLET":
                guard let outlet = world.outlet(value) else { return nil }
                bounds.outlet = outlet.index
                bounds.isOwn = true
            case "TAG": bounds.tag = value
            case "CURRENCY": bounds.currency = value
            case "SORT": bounds.sort = value
            case "LIMIT", "COUNT":
                guard let limit = Int(value), limit > 0 else { return nil }
                bounds.limit = limit
            default: return nil
            }
        }
    }
}

extension ItemCondition.Test {
    /// The words after which the values of a filter end.
    private static let names: Set<String> = [
        "NOT", "TEXT", "CITY", "OUTLET", "CURRENCY", "KIND", "TAG", "PRICE", "OPEN", "ATTR", "SORT", "LIMIT", "COUNT",
    ]

    /// What a filter asks for by the words behind its name; nil if they are not such values.
    fileprivate init?(_ filter: String, _ rest: inout ArraySlice<String>) {
        func values() -> [String] {
            let values = Array(rest.prefix { !Self.names.contains($0) })
            rest = rest.dropFirst(values.count)
            return values
        }
        func end(_ word: String?) -> Int?? {
            guard let word else { return nil }
            return word == "*" ? .some(nil) : AttributePlan.halves(word).map { .some($0) }
        }
        if filter == "KIND" {
            let kinds = values()
            guard !kinds.isEmpty else { return nil }
            self = .kind(kinds)
        } else if filter == "PRICE" {
            guard let least = rest.popFirst().flatMap(Int64.init), let most = rest.popFirst().flatMap(Int64.init),
                least <= most
            else { return nil }
            self = .price(least...most)
        } else {
            guard let name = rest.popFirst() else { return nil }
            if rest.first == "ANY" {
                rest.removeFirst()
                let words = values()
                guard !words.isEmpty else { return nil }
                self = .words(name, words)
            } else {
                guard let least = end(rest.popFirst()), let most = end(rest.popFirst()) else { return nil }
                if let least, let most, least > most { return nil }
                self = .number(name, least: least, most: most)
            }
        }
    }
}
