internal import LineProtocol

extension Call {
    /// The outlet whose offers its answer depends on.
    package var outlet: Int? {
        switch self {
        case .putOutlet(let outlet), .putMenu(let outlet), .putPromotion(let outlet), .stock(let outlet, _, _),
            .restock(let outlet, _, _), .open(let outlet), .close(let outlet), .hide(let outlet), .show(let outlet),
            .price(let outlet, _, _), .suspend(let outlet, _),
            .resume(let outlet, _),
            .list(let outlet, _, _), .unlist(let outlet, _), .priceOption(let outlet, _, _),
            .suspendOption(let outlet, _), .resumeOption(let outlet, _), .add(_, let outlet, _, _, _, _),
            .home(let outlet, _, _),
            .tags(let outlet), .item(let outlet, _, _), .kitchen(let outlet):
            outlet
        case .browse(let question), .outlets(let question), .surprise(let question), .save(_, let question):
            question.bounds.outlet
        case .orders(let list): list.outlet
        case .edit, .set, .remove, .clear, .tip, .service, .quote, .checkOut, .checkOutQuote, .step, .count, .cart,
            .order,
            .choose, .drop, .subscribe, .unsubscribe:
            nil
        }
    }

    /// The stream that a write changes.
    func stream(_ world: World) -> String? {
        switch self {
        case .putOutlet(let outlet), .open(let outlet), .close(let outlet), .hide(let outlet), .show(let outlet):
            "outlet-\(world.outlets[outlet].id)"
        case .putMenu(let outlet), .price(let outlet, _, _), .suspend(let outlet, _), .resume(let outlet, _),
            .list(let outlet, _, _), .unlist(let outlet, _), .priceOption(let outlet, _, _),
            .suspendOption(let outlet, _), .resumeOption(let outlet, _):
            "menu-\(world.outlets[outlet].id)"
        case .putPromotion(let outlet): "promotions-\(world.outlets[outlet].id)"
        case .stock(let outlet, _, _), .restock(let outlet, _, _): "supply-\(world.outlets[outlet].id)"
        case .add(let cart, _, _, _, _, _), .edit(let cart, _, _, _), .set(let cart, _, _), .remove(let cart, _),
            .clear(let cart), .tip(let cart, _), .service(let cart, _, _, _), .checkOut(let cart, _),
            .checkOutQuote(let cart, _, _):
            "cart-\(world.cartName(cart))"
        default: nil
        }
    }

    /// Whether it is answered with messages only, so that a PING follows it.
    package var isAnsweredByMessage: Bool { [.subscribe, .unsubscribe].contains(kind) }

    /// The command and its arguments, without an `ID`.
    package func words(_ world: World) -> [String] {
        func outletID(_ outlet: Int) -> String { world.outlets[outlet].id }
        func option(_ name: String, _ value: String?) -> [String] { value.map { [name, $0] } ?? [] }
        switch self {
        case .putOutlet(let outlet):
            return ["OUTLET.PUT", outletID(outlet), world.outlets[outlet].json(city: world.name)]
        case .putMenu(let outlet): return ["MENU.PUT", outletID(outlet), world.outlets[outlet].menu.json]
        case .putPromotion(let outlet):
            let promotion = world.outlets[outlet].terms?.charges.promotion
            return ["PROMO.PUT", outletID(outlet)] + (promotion.map { [$0.id, $0.json] } ?? [])
        case .open(let outlet): return ["OUTLET.OPEN", outletID(outlet)]
        case .close(let outlet): return ["OUTLET.CLOSE", outletID(outlet)]
        case .hide(let outlet): return ["OUTLET.HIDE", outletID(outlet)]
        case .show(let outlet): return ["OUTLET.SHOW", outletID(outlet)]
        case .price(let outlet, let item, let minor):
            return ["MENU.ITEM.PRICE", outletID(outlet), ItemPlan.id(item), "\(minor)"]
        case .suspend(let outlet, let item): return ["MENU.ITEM.SUSPEND", outletID(outlet), ItemPlan.id(item)]
        case .resume(let outlet, let item): return ["MENU.ITEM.RESUME", outletID(outlet), ItemPlan.id(item)]
        case .priceOption(let outlet, let option, let minor):
            return ["MENU.OPTION.PRICE", outletID(outlet), option, "\(minor)"]
        case .suspendOption(let outlet, let option): return ["MENU.OPTION.SUSPEND", outletID(outlet), option]
        case .resumeOption(let outlet, let option): return ["MENU.OPTION.RESUME", outletID(outlet), option]
        case .stock(let outlet, let item, let count):
            return ["MENU.ITEM.STOCK", outletID(outlet), ItemPlan.id(item), "COUNT", "\(count)"]
        case .restock(let outlet, let item, let more):
            return ["MENU.ITEM.STOCK", outletID(outlet), ItemPlan.id(item), "ADD", "\(more)"]
        case .list(let outlet, let item, let before):
            let plan = world.outlets[outlet].menu.item(item)
            let section = world.outlets[outlet].menu.sections[plan.section].id
            let place = before.map { ["BEFORE", ItemPlan.id($0)] } ?? []
            return ["MENU.ITEM.PUT", outletID(outlet), section, plan.id, plan.json] + place
        case .unlist(let outlet, let item): return ["MENU.ITEM.REMOVE", outletID(outlet), ItemPlan.id(item)]
        case .add(let cart, let outlet, let item, let quantity, let options, let note):
            return ["CART.ADD", world.cartName(cart), outletID(outlet), ItemPlan.id(item), "\(quantity)"]
                + option("OPTIONS", options) + option("NOTE", note)
        case .edit(let cart, let line, let options, let note):
            return ["CART.EDIT", world.cartName(cart), line] + option("OPTIONS", options) + option("NOTE", note)
        case .set(let cart, let line, let quantity): return ["CART.SET", world.cartName(cart), line, "\(quantity)"]
        case .remove(let cart, let line): return ["CART.REMOVE", world.cartName(cart), line]
        case .clear(let cart): return ["CART.CLEAR", world.cartName(cart)]
        case .checkOut(let cart, let total): return ["CART.CHECKOUT", world.cartName(cart), "TOTAL", "\(total)"]
        case .checkOutQuote(let cart, let quote, let missing):
            return ["CART.CHECKOUT", world.cartName(cart), "QUOTE", quote] + option("MISSING", missing)
        case .tip(let cart, let minor): return ["CART.TIP", world.cartName(cart), "\(minor)"]
        case .service(let cart, let name, let table, let time):
            return ["CART.SERVICE", world.cartName(cart), name] + option("TABLE", table) + option("FOR", time)
        case .quote(let cart): return ["CART.QUOTE", world.cartName(cart)]
        case .step(let order, let step): return step.words(order)
        case .kitchen(let outlet): return ["KITCHEN", outletID(outlet)]
        case .orders(let list):
            let statuses = list.statuses.isEmpty ? nil : list.statuses.joined(separator: ",")
            return ["ORDERS", "OUTLET", outletID(list.outlet)] + option("STATUS", statuses)
                + option("AFTER", list.after) + ["COUNT", "\(list.count)"]
        case .count(let cart): return ["CART.COUNT", world.cartName(cart)]
        case .cart(let cart): return ["CART.GET", world.cartName(cart)]
        case .order(let order): return ["ORDER.GET", order]
        case .home(let outlet, let since, let cart):
            return ["OUTLET.HOME", outletID(outlet)] + (since.map { ["SINCE", "\($0)"] } ?? [])
                + (cart.map { ["CART", world.cartName($0)] } ?? [])
        case .tags(let outlet): return ["OUTLET.TAGS", outletID(outlet)]
        case .item(let outlet, let item, let since):
            return ["ITEM.GET", outletID(outlet), ItemPlan.id(item)] + (since.map { ["SINCE", $0] } ?? [])
        case .browse(let question): return ["BROWSE"] + question.words
        case .outlets(let question): return ["OUTLETS"] + question.words
        case .surprise(let question): return ["SURPRISE"] + question.words
        case .choose(let words): return ["CHOOSE"] + words
        case .save(let name, let question): return ["BROWSE.SAVE", name] + question.words
        case .drop(let name): return ["BROWSE.DROP", name]
        case .subscribe(let channel): return ["SUBSCRIBE", channel]
        case .unsubscribe(let channel): return ["UNSUBSCRIBE", channel]
        }
    }

    /// The call as a person would type it; long documents are shortened.
    package func summary(_ world: World) -> String {
        words(world).map { word in
            let shown = word.count > 80 ? "\(word.prefix(60))… (\(word.utf8.count) bytes)" : word
            return shown.contains(" ") ? "'\(shown)'" : shown
        }.joined(separator: " ")
    }
}
