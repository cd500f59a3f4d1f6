internal import Domain
internal import EventLog
internal import Foundation
package import LineProtocol
package import LoadOracle
internal import Projections

/// A server that answers as it should: carts as the domain decides, outlets as their owners made them, with the log
/// of all that.
package final class RightServer {
    private struct Kept {
        var state = Cart.initial
        var version = 0
        var updatedAt = ""
    }

    private struct Checkout {
        var cart: CartID
        var contents: Cart.Contents
    }

    let world: World
    /// The time, which mostly stands still.
    var now = Timestamp(millisecondsSinceEpoch: Int64(Date().timeIntervalSince1970 * 1_000))
    /// What the checkout that is decided says of what may be missing.
    private var missing = Order.Missing.ask
    var kitchenOrders: [String: KitchenOrder] = [:]
    var projection = Orders()
    private var offers: [Int: [Int: LoadOracle.Offer]] = [:]
    /// Extra items that are listed, in the order of their menu.
    private var extras: [Int: [Int]] = [:]
    private var closed: Set<Int> = []
    private var hidden: Set<Int> = []
    private var versions: [String: Int64] = [:]
    private var carts: [CartID: Kept] = [:]
    private var orders: [String: Checkout] = [:]
    private(set) var events: [[String: Any]] = []
    /// The events of partition 0, as `LOG.READ` shows them.
    package var log: [[UInt8]] { events.map(RightServer.bytes) }
    /// The position of the last event of each outlet and its menu.
    private var revisions: [Int: Int64] = [:]
    /// The `ID` of the command that is being answered.
    var id = ""
    /// The groups of each menu, without items.
    private var groups: [Int: MenuState] = [:]

    /// A server without any data.
    package init(_ world: World) {
        self.world = world
    }

    func append(_ stream: String, _ kind: String, _ payload: [String: Any] = [:]) {
        versions[stream, default: 0] += 1
        events.append(
            [
                "partition": 0, "position": events.count + 1, "stream": stream, "version": versions[stream] ?? 0,
                "kind": kind, "payload": payload, "metadata": id.isEmpty ? [:] : ["id": id],
                "recordedAt": stream.hasPrefix("order-")
                    ? now.rfc3339 : "2026-01-01T00:00:00.\(100 + events.count % 900)Z",
            ])
    }

    private func append(outlet: Int, _ kind: String, _ payload: [String: Any] = [:]) {
        let room = kind.hasPrefix("menu.") ? "menu" : "outlet"
        append("\(room)-\(world.outlets[outlet].id)", kind, payload)
        revisions[outlet] = Int64(events.count)
    }

    // MARK: Outlets

    private func offer(_ outlet: Int, _ item: Int) -> LoadOracle.Offer {
        if let offer = offers[outlet]?[item] { return offer }
        let plan = world.outlets[outlet].menu.item(item)
        return LoadOracle.Offer(price: plan.price, isAvailable: true, isListed: !plan.isExtra)
    }

    private func change(
        _ outlet: Int, _ item: Int, _ kind: String, _ body: (inout LoadOracle.Offer) -> Void
    ) -> Reply {
        let old = offer(outlet, item)
        var new = old
        body(&new)
        offers[outlet, default: [:]][item] = new
        if new.isListed != old.isListed {
            extras[outlet, default: []].removeAll { $0 == item }
            if new.isListed { extras[outlet]?.append(item) }
        }
        if new != old {
            let menu = world.outlets[outlet].menu
            append(
                outlet: outlet, kind,
                ["id": ItemPlan.id(item), "price": new.price, "section": menu.sections[menu.item(item).section].id])
        }
        return .integer(versions["menu-\(world.outlets[outlet].id)"] ?? 0)
    }

    /// Changes what the domain says of an option.
    private func change(_ outlet: Int, _ kind: String, _ event: Menu.Event, _ payload: [String: Any]) -> Reply {
        var menu = groups[outlet] ?? Self.groups(of: world.outlets[outlet].menu)
        let before = menu
        // swift-format-ignore: NeverUseForceTry
        try! Menu.evolve(&menu, event)
        groups[outlet] = menu
        if menu != before { append(outlet: outlet, kind, payload) }
        return .integer(versions["menu-\(world.outlets[outlet].id)"] ?? 0)
    }

    private func doors(_ outlet: Int, isOpen: Bool) -> Reply {
        let isChange = isOpen ? closed.remove(outlet) != nil : closed.insert(outlet).inserted
        if isChange { append(outlet: outlet, isOpen ? "outlet.opened" : "outlet.closed") }
        return .integer(versions["outlet-\(world.outlets[outlet].id)"] ?? 0)
    }

    private func listing(_ outlet: Int, isShown: Bool) -> Reply {
        let isChange = isShown ? hidden.remove(outlet) != nil : hidden.insert(outlet).inserted
        if isChange { append(outlet: outlet, isShown ? "outlet.shown" : "outlet.hidden") }
        return .integer(versions["outlet-\(world.outlets[outlet].id)"] ?? 0)
    }

    private func putMenu(_ outlet: Int) -> Reply {
        let menu = world.outlets[outlet].menu
        for section in menu.sections { append(outlet: outlet, "menu.sectionAdded", ["id": section.id]) }
        for section in menu.sections {
            for item in section.items {
                append(
                    outlet: outlet, "menu.itemAdded",
                    ["id": ItemPlan.id(item), "price": menu.item(item).price, "section": section.id])
            }
        }
        return .integer(versions["menu-\(world.outlets[outlet].id)"] ?? 0)
    }

    /// What the domain says of an item that can be ordered, with options.
    private func priced(_ outlet: Int, _ plan: ItemPlan, _ price: Int64, _ chosen: [Domain.ChosenOption])
        -> Domain.Offer
    {
        let now = Timestamp(millisecondsSinceEpoch: 0)
        var menu = groups[outlet] ?? Self.groups(of: world.outlets[outlet].menu)
        groups[outlet] = menu
        let item = MenuItem(
            id: Identifier(plan.id)!, kind: Text("menuItem"), name: Text(plan.name),
            price: plan.hasSizes ? nil : Amount(minorUnits: price), maxQuantity: plan.maximum,
            options: plan.groups.map { Identifier($0)! }, isCombo: plan.isCombo)
        // swift-format-ignore: NeverUseForceTry
        try! Menu.evolve(&menu, .itemAdded(item, section: Identifier("all")!, before: nil))
        return menu.offer(of: item.id, with: chosen, in: Currency("EUR")!, now: now)
    }

    private static func groups(of plan: MenuPlan) -> MenuState {
        var menu = Menu.initial
        let section = SectionHeader(
            id: Identifier("all")!, title: Text("All"), kind: Text("menuItems"), layout: Layout(style: Text("list")))
        let groups = plan.groups.map { group in
            OptionGroup(
                id: Identifier(group.id)!, title: Text(group.title), minimum: group.minimum, maximum: group.maximum,
                free: group.free, setsPrice: group.setsPrice,
                options: group.options.map { option in
                    MenuOption(
                        id: Identifier(option.id)!, name: Text(option.name), price: Amount(minorUnits: option.price),
                        sizePrices: option.prices.map { .init(Identifier($0.key)!, Amount(minorUnits: $0.value)) },
                        maximum: option.maximum, groups: option.opens.map { Identifier($0)! },
                        tax: option.tax.map { Identifier($0)! })
                })
        }
        for event in [.sectionAdded(section, before: nil)] + groups.map(Menu.Event.groupPut) {
            // swift-format-ignore: NeverUseForceTry
            try! Menu.evolve(&menu, event)
        }
        return menu
    }

    private func domainOffer(_ outlet: Int, _ item: Int, _ chosen: [Domain.ChosenOption]) -> Domain.Offer {
        let offer = offer(outlet, item)
        let plan = world.outlets[outlet].menu.item(item)
        if closed.contains(outlet) { return .outletClosed(.closed) }
        if !offer.isListed { return .noItem }
        if !offer.isAvailable { return .soldOut(until: nil) }
        return priced(outlet, plan, offer.price, chosen)
    }

    private static func chosen(_ text: String?) -> [Domain.ChosenOption]? {
        text?.split(separator: ",").map { word in
            let parts = word.split(separator: "*")
            return Domain.ChosenOption(Identifier(String(parts[0]))!, units: parts.count > 1 ? Int(parts[1])! : 1)
        }.normalized
    }

    private func domainOffer(of line: CartLine, at outlet: Identifier) -> Domain.Offer {
        guard let index = world.outlets.firstIndex(where: { $0.id == outlet.rawValue }),
            let item = ItemPlan.index(of: line.item.rawValue)
        else { return .noItem }
        return domainOffer(index, item, line.chosen)
    }

    /// What the domain says of the lines of a cart.
    func offers(for lines: [CartLine], at outlet: Identifier) -> [Domain.Offer] {
        lines.map { domainOffer(of: $0, at: outlet) }
    }

    // MARK: Answers

    /// Answers a call.
    ///
    /// - Parameter id: that of a write.
    package func answer(_ call: Call, id: String = "") -> Reply {
        self.id = id
        switch call {
        case .putOutlet(let outlet):
            closed.insert(outlet)
            append(outlet: outlet, "outlet.registered")
            return .integer(1)
        case .putMenu(let outlet): return putMenu(outlet)
        case .putPromotion(let outlet):
            append("promotions-\(world.outlets[outlet].id)", "promotions.put", [:])
            return .integer(1)
        case .price(let outlet, let item, let minor):
            return change(outlet, item, "menu.itemRepriced") { $0.price = minor }
        case .suspend(let outlet, let item):
            return change(outlet, item, "menu.itemSuspended") { $0.isAvailable = false }
        case .resume(let outlet, let item):
            return change(outlet, item, "menu.itemResumed") { $0.isAvailable = true }
        case .priceOption(let outlet, let option, let minor):
            return change(
                outlet, "menu.optionRepriced",
                .optionRepriced(Identifier(option)!, Amount(minorUnits: minor), size: nil),
                ["id": option, "price": minor])
        case .suspendOption(let outlet, let option):
            return change(
                outlet, "menu.optionSuspended", .optionSuspended(Identifier(option)!, until: nil), ["id": option])
        case .resumeOption(let outlet, let option):
            return change(outlet, "menu.optionResumed", .optionResumed(Identifier(option)!), ["id": option])
        case .unlist(let outlet, let item):
            return change(outlet, item, "menu.itemRemoved") { $0.isListed = false }
        case .list(let outlet, let item, _):
            let price = world.outlets[outlet].menu.item(item).price
            return change(outlet, item, "menu.itemAdded") {
                $0 = LoadOracle.Offer(price: price, isAvailable: true, isListed: true)
            }
        case .open(let outlet): return doors(outlet, isOpen: true)
        case .close(let outlet): return doors(outlet, isOpen: false)
        case .hide(let outlet): return listing(outlet, isShown: false)
        case .show(let outlet): return listing(outlet, isShown: true)
        case .edit(let cart, let line, let options, let note):
            return decide(cart) { state in
                var offer = Domain.Offer.noItem
                if var old = state.line(Text(line)), let outlet = state.contents?.outlet {
                    if let chosen = Self.chosen(options) {
                        old.options = chosen.map { LineOption($0.id, name: Text(""), units: $0.units) }
                    }
                    offer = domainOffer(of: old, at: outlet)
                }
                return .edit(Cart.Edit(line: Text(line), note: note.map { .some(.plain(Text($0))) }, offer: offer))
            }
        case .add(let cart, let outlet, let item, let quantity, let options, let note):
            return decide(cart) { _ in
                .add(
                    Cart.Addition(
                        outlet: Identifier(world.outlets[outlet].id)!, item: Identifier(ItemPlan.id(item))!,
                        quantity: quantity, note: note.map { .plain(Text($0)) },
                        offer: domainOffer(outlet, item, Self.chosen(options) ?? [])))
            }
        case .set(let cart, let line, let quantity):
            return decide(cart) { state in
                var maximum = MenuItem.quantityLimit
                if case .filled(let contents) = state, let old = contents.lines.first(where: { $0.id == Text(line) }),
                    case .available(let item) = domainOffer(of: old, at: contents.outlet)
                {
                    maximum = item.maxQuantity
                }
                return .set(line: Text(line), quantity: quantity, maximum: maximum)
            }
        case .remove(let cart, let line): return decide(cart) { _ in .remove(line: Text(line)) }
        case .clear(let cart): return decide(cart) { _ in .clear }
        case .tip(let cart, let minor): return decide(cart) { _ in .tip(Amount(minorUnits: minor)) }
        case .service(let cart, let name, let table, let time):
            // Every slot is full.
            if time != nil, carts[cart]?.state.contents != nil,
                carts[cart]?.state.contents.map({ details(at: $0.outlet)?.services.kinds.isEmpty ?? true }) == false
            {
                return .error(code: "NOSLOT", message: "")
            }
            return decide(cart) { state in
                let details = state.contents.flatMap { self.details(at: $0.outlet) }
                return .chooseService(
                    Cart.ServiceChoice(
                        ServiceKind(rawValue: name)!, table: table.map { Text($0) },
                        offered: details?.services.kinds ?? []))
            }
        case .quote(let cart):
            return carts[cart].map { .bulk(quote(of: cart, $0.state, version: $0.version)) } ?? .null
        case .checkOut(let cart, let total): return checkOut(cart, .total(Amount(minorUnits: total)))
        case .checkOutQuote(let cart, let quote, let missing): return checkOut(cart, .quote(Text(quote)), missing)
        case .step(let order, let step): return answer(step, of: order)
        case .kitchen(let outlet): return .bulk(kitchen(outlet))
        case .orders(let list): return .bulk(orders(list))
        case .count(let cart): return .integer(Int64(carts[cart]?.state.openCount ?? 0))
        case .cart(let cart): return document(of: cart).map { .bulk(Self.bytes($0)) } ?? .null
        case .order(let order):
            return (self.order(order) ?? document(ofOrder: order).map(Self.bytes)).map { .bulk($0) } ?? .null
        case .item(let outlet, let item, nil): return document(outlet, item).map { .bulk(Self.bytes($0)) } ?? .null
        case .home(let outlet, nil, nil): return .bulk(Self.bytes(home(outlet)))
        case .subscribe, .unsubscribe: return .simple("PONG")
        default: return .error(code: "ERR", message: "not here")
        }
    }

    private func checkOut(_ cart: CartID, _ agreement: Cart.Agreement, _ missing: String? = nil) -> Reply {
        self.missing = missing.flatMap { Order.Missing(rawValue: $0) } ?? .ask
        return decide(cart) { state in
            .checkOut(
                Cart.CheckOut(
                    order: Identifier("o\(cart.shopper).\(cart.number)")!, agreement: agreement, of: state,
                    offers: { self.offers(for: $0, at: $1.outlet) }, promotions: promotions(for:of:),
                    details: { self.details(at: $0.outlet) }, now: now)
            )
        }
    }

    private func decide(_ cart: CartID, _ command: (Cart.State) -> Cart.Command) -> Reply {
        var kept = carts[cart] ?? Kept()
        do {
            let before = kept.state
            let events = try Cart.decide(command(before), in: before)
            for event in events {
                try Cart.evolve(&kept.state, event)
                record(event, cart, before)
            }
            kept.version += events.count
            if !events.isEmpty { kept.updatedAt = "2026-01-01T00:00:00.\(100 + (self.events.count - 1) % 900)Z" }
            if kept.version > 0 { carts[cart] = kept }
            if case .checkedOut(let contents, let order) = kept.state {
                orders[order.rawValue] = Checkout(cart: cart, contents: contents)
                return .bulk(Array(order.rawValue.utf8))
            }
            return .integer(Int64(kept.state.count))
        } catch let rejection as Rejection {
            return .error(code: rejection.code.rawValue, message: rejection.message)
        } catch {
            return .error(code: "CORRUPT", message: "\(error)")
        }
    }

    private func record(_ event: Cart.Event, _ cart: CartID, _ before: Cart.State) {
        func fields(_ line: CartLine) -> [String: Any] {
            var fields: [String: Any] = [
                "line": line.id.string, "item": line.item.rawValue, "name": line.name.string, "quantity": line.quantity,
                "unitPrice": line.unitPrice.minorUnits,
            ]
            fields["note"] = line.plainNote
            if !line.options.isEmpty { fields["options"] = line.shownOptions }
            return fields
        }
        let stream = "cart-\(world.cartName(cart))"
        switch event {
        case .itemAdded(let line, let outlet, let currency, _):
            append(
                stream, "cart.itemAdded",
                fields(line).merging(["outlet": outlet.rawValue, "currency": currency.code]) { $1 })
        case .quantityChanged(let line, let from, let to):
            append(stream, "cart.quantityChanged", ["line": line.string, "from": from, "to": to])
        case .lineRemoved(let line, let quantity):
            append(stream, "cart.lineRemoved", ["line": line.string, "quantity": quantity])
        case .cleared(let count): append(stream, "cart.cleared", ["count": count])
        case .lineEdited(let edited, let line, _):
            append(stream, "cart.lineEdited", fields(line).merging(["from": edited.string]) { $1 })
        case .tipSet(let amount): append(stream, "cart.tipSet", ["tip": amount.minorUnits])
        case .serviceChosen(let service, let table, _):
            append(
                stream, "cart.serviceChosen",
                shown(service, table))
        // Nothing is counted, and nothing is taken off.
        case .checkoutBegun, .checkoutRefused, .codeAdded, .codeRemoved: break
        case .checkedOut(let order, let lines, let charges, let total, _, _, let handover):
            let outlet = before.contents.flatMap { contents in
                world.outlets.first { $0.id == contents.outlet.rawValue && $0.terms != nil }
            }
            if let outlet, let contents = before.contents {
                place(
                    order,
                    Order.Placement(
                        cart: Identifier(world.cartName(cart))!, outlet: contents.outlet, currency: contents.currency,
                        lines: lines, charges: charges, total: total,
                        terms: Order.Terms(of: details(of: outlet), for: handover.service, at: now),
                        handover: handover, missing: missing,
                        pricing: details(of: outlet).pricing(for: handover.service).settled))
            } else {
                append(
                    "order-\(order.rawValue)", "order.placed",
                    ["cart": world.cartName(cart), "total": total.minorUnits])
            }
            append(
                stream, "cart.checkedOut",
                [
                    "order": order.rawValue, "lines": lines.map(fields), "charges": charges.map(\.shown),
                    "total": total.minorUnits,
                ].merging(shown(handover.service, handover.table)) { $1 })
        }
    }

    private func shown(_ service: ServiceKind?, _ table: Domain.Text?) -> [String: Any] {
        var members: [String: Any] = [:]
        members["service"] = service?.rawValue
        members["table"] = table?.string
        return members
    }

    // MARK: Documents

    package static func bytes(_ document: [String: Any]) -> [UInt8] {
        // swift-format-ignore: NeverUseForceTry
        Array(try! JSONSerialization.data(withJSONObject: document, options: .sortedKeys))
    }

    /// The revision of an outlet's home.
    package func revision(_ outlet: Int) -> Int64 { revisions[outlet] ?? 0 }

    /// What `OUTLET.HOME` answers.
    package func home(_ outlet: Int) -> [String: Any] {
        let menu = world.outlets[outlet].menu
        let sections = menu.sections.map { section -> [String: Any] in
            var shown = Array(section.items)
            if section.index == menu.item(menu.itemCount).section {
                shown += extras[outlet] ?? []
            }
            let items = shown.map { index -> [String: Any] in
                let (item, offer) = (menu.item(index), offer(outlet, index))
                let model: [String: Any] = [
                    "name": item.name, "description": item.description, "price": offer.price,
                    "available": offer.isAvailable, "tags": item.tags, "imageSmall": item.imageSmall,
                ]
                return ["id": item.id, "kind": item.kind, "model": model]
            }
            return ["id": section.id, "items": items]
        }
        var shown: [String: Any] = [
            "id": world.outlets[outlet].id, "status": closed.contains(outlet) ? "closed" : "open",
        ]
        if hidden.contains(outlet) { shown["hidden"] = true }
        return [
            "outlet": shown, "revision": revision(outlet), "state": "ready",
            "tagBar": ["chips": menu.sections.map { ["id": "tag_\($0.id)"] }], "sections": sections,
        ]
    }

    /// What `ITEM.GET` answers; nil for null.
    package func document(_ outlet: Int, _ index: Int) -> [String: Any]? {
        let (own, offer) = (world.outlets[outlet], offer(outlet, index))
        let item = own.menu.item(index)
        guard offer.isListed else { return nil }
        return [
            "outlet": own.id, "section": own.menu.sections[item.section].id, "id": item.id, "kind": item.kind,
            "name": item.name, "description": item.description, "price": offer.price, "tags": item.tags,
            "imageSmall": item.imageSmall, "imageLarge": item.imageLarge, "maxQuantity": item.maximum,
            "currency": Outlet.currency, "available": offer.isAvailable,
            "attributes": Dictionary(
                uniqueKeysWithValues: item.attributes.map { attribute -> (String, Any) in
                    switch attribute.value {
                    case .halves(let halves): (attribute.name, Double(halves) / 2)
                    case .flag(let flag): (attribute.name, flag)
                    case .words(let words): (attribute.name, words)
                    }
                }),
        ]
    }

    /// What `CART.GET` answers; nil for null.
    package func document(of cart: CartID) -> [String: Any]? {
        guard let kept = carts[cart] else { return nil }
        var document: [String: Any] = [
            "cart": world.cartName(cart), "version": kept.version, "currency": NSNull(), "updatedAt": kept.updatedAt,
        ]
        document.merge(shown(kept.state.contents?.service, kept.state.contents?.table)) { $1 }
        switch kept.state {
        case .empty:
            document.merge(["status": "empty", "outlet": NSNull()]) { $1 }
            fill(&document, [], hasProblems: false, at: nil)
        case .filled(let contents):
            document["currency"] = contents.currency.code
            document.merge(["status": "open", "outlet": contents.outlet.rawValue]) { $1 }
            fill(&document, contents.lines, hasProblems: true, at: contents.outlet)
            if contents.tip > .zero { document["tip"] = contents.tip.minorUnits }
        // Nothing is counted.
        case .checkingOut: break
        case .checkedOut(let contents, let order):
            document["currency"] = contents.currency.code
            document.merge(
                ["status": "checkedOut", "outlet": contents.outlet.rawValue, "order": order.rawValue]) { $1 }
            fill(&document, contents.lines, hasProblems: false, at: contents.outlet)
            if contents.tip > .zero { document["tip"] = contents.tip.minorUnits }
            if !contents.charges.isEmpty {
                document["charges"] = contents.charges.map(\.shown)
                document["total"] = (try? contents.payable())?.minorUnits
            }
        }
        return document
    }

    package func document(ofOrder id: String) -> [String: Any]? {
        guard let order = orders[id] else { return nil }
        var document: [String: Any] = [
            "order": id, "cart": world.cartName(order.cart), "outlet": order.contents.outlet.rawValue, "version": 1,
            "status": "placed",
        ]
        fill(&document, order.contents.lines, hasProblems: false, at: order.contents.outlet)
        return document
    }

    private func fill(
        _ document: inout [String: Any], _ lines: [CartLine], hasProblems: Bool, at outlet: Identifier?
    ) {
        document["lines"] = lines.map { line -> [String: Any] in
            var shown: [String: Any] = [
                "line": line.id.string, "item": line.item.rawValue, "name": line.name.string, "quantity": line.quantity,
                "unitPrice": line.unitPrice.minorUnits, "options": line.shownOptions,
                "note": line.plainNote ?? NSNull(),
                "total": line.unitPrice.minorUnits * Int64(line.quantity), "problem": NSNull(),
            ]
            if hasProblems, let outlet { shown["problem"] = problem(line, domainOffer(of: line, at: outlet)) }
            return shown
        }
        document["count"] = lines.reduce(0) { $0 + $1.quantity }
        document["total"] = lines.reduce(0) { $0 + $1.unitPrice.minorUnits * Int64($1.quantity) }
        document["subtotal"] = document["total"]
    }

    private func problem(_ line: CartLine, _ offer: Domain.Offer) -> Any {
        switch offer {
        case .available(let item):
            item.unitPrice == line.unitPrice
                ? NSNull() : ["code": "PRICECHANGED", "unitPrice": item.unitPrice.minorUnits]
        case .soldOut: ["code": "SOLDOUT"]
        case .noItem, .notForSale, .noOutlet: ["code": "GONE"]
        case .outletClosed: ["code": "CLOSED"]
        case .wrongChoice(.soldOut(let option)): ["code": "OPTIONSOLDOUT", "option": option.rawValue]
        case .wrongChoice, .taxGone, .outOfDaypart: preconditionFailure("no load asks for it")
        }
    }
}

extension CartLine {
    fileprivate var shownOptions: [[String: Any]] {
        options.map {
            [
                "id": $0.id.rawValue, "name": $0.name.string, "units": $0.units, "price": $0.price.minorUnits,
                "free": $0.free,
            ]
        }
    }

    /// The note: the shoppers of a load are not customers, so nothing is sealed.
    fileprivate var plainNote: String? {
        if case .plain(let text) = note { text.string } else { nil }
    }
}

extension Charge {
    fileprivate var shown: [String: Any] {
        var shown: [String: Any] = [
            "kind": kind.rawValue, "amount": amount.minorUnits, "included": isIncluded,
            "shares": shares.map(\.minorUnits),
        ]
        shown["id"] = id?.rawValue
        shown["name"] = name?.string
        shown["by"] = payer?.rawValue
        shown["rate"] = rate?.thousandths
        shown["base"] = base?.minorUnits
        if !bases.isEmpty { shown["bases"] = bases.map(\.minorUnits) }
        return shown
    }
}
