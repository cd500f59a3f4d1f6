import Domain
import EventLoop
import Foundation
import LineProtocol
import Testing

@testable import Monkey

/// A server that is right, as far as carts go: it answers what the domain decides. What is said of items and doors
/// is changed by hand.
@LoopActor
final class RightServer {
    private struct Kept {
        var state = Cart.initial
        var version = 0
    }

    private struct Order {
        var cart: CartID
        var contents: Cart.Contents
    }

    private let world: World
    private var offers: [Int: [Int: Monkey.Offer]] = [:]
    private var closed: Set<Int> = []
    private var versions: [String: Int64] = [:]
    private var carts: [CartID: Kept] = [:]
    private var orders: [String: Order] = [:]

    /// A server on which every outlet has been built, and is open.
    init(_ world: World) {
        self.world = world
        for outlet in world.outlets {
            versions["outlet-\(outlet.id)"] = 2
            versions["menu-\(outlet.id)"] = 9
        }
    }

    /// Lets the oracle see the building of every outlet.
    func build(_ oracle: Oracle, _ shopper: Shopper) throws {
        for outlet in world.outlets {
            for (call, version) in [
                (Call.putOutlet(outlet.index), Int64(1)), (.putMenu(outlet.index), 9), (.open(outlet: outlet.index), 2),
            ] {
                if let change = Oracle.change(call, world) { outlet.begin(change) }
                #expect(try oracle.judge(Flight(call), .integer(version), of: shopper) == .accepted)
            }
        }
    }

    // MARK: Outlets

    private func offer(_ outlet: Int, _ item: Int) -> Monkey.Offer {
        if let offer = offers[outlet]?[item] { return offer }
        let plan = world.outlets[outlet].menu.item(item)
        return Monkey.Offer(price: plan.price, isAvailable: true, isListed: !plan.isExtra)
    }

    private func change(_ outlet: Int, _ item: Int, _ body: (inout Monkey.Offer) -> Void) -> Reply {
        let old = offer(outlet, item)
        var new = old
        body(&new)
        offers[outlet, default: [:]][item] = new
        return step("menu-\(world.outlets[outlet].id)", isChange: new != old)
    }

    private func doors(_ outlet: Int, isOpen: Bool) -> Reply {
        let isChange = isOpen ? closed.remove(outlet) != nil : closed.insert(outlet).inserted
        return step("outlet-\(world.outlets[outlet].id)", isChange: isChange)
    }

    private func step(_ stream: String, isChange: Bool) -> Reply {
        versions[stream, default: 0] += isChange ? 1 : 0
        return .integer(versions[stream] ?? 0)
    }

    private func domainOffer(_ outlet: Int, _ item: Int) -> Domain.Offer {
        let offer = offer(outlet, item)
        let plan = world.outlets[outlet].menu.item(item)
        if closed.contains(outlet) { return .outletClosed(.closed) }
        if !offer.isListed { return .noItem }
        if !offer.isAvailable { return .soldOut(until: nil) }
        return .available(
            .init(
                name: Text(plan.name), unitPrice: Amount(minorUnits: offer.price), currency: Currency("EUR")!,
                maxQuantity: plan.maximum))
    }

    private func domainOffer(of line: CartLine, at outlet: Identifier) -> Domain.Offer {
        guard let index = world.outlets.firstIndex(where: { $0.id == outlet.rawValue }),
            let item = ItemPlan.index(of: line.item.rawValue)
        else { return .noItem }
        return domainOffer(index, item)
    }

    // MARK: Answers

    func answer(_ call: Call) -> Reply {
        switch call {
        case .price(let outlet, let item, let minor): return change(outlet, item) { $0.price = minor }
        case .suspend(let outlet, let item): return change(outlet, item) { $0.isAvailable = false }
        case .resume(let outlet, let item): return change(outlet, item) { $0.isAvailable = true }
        case .unlist(let outlet, let item): return change(outlet, item) { $0.isListed = false }
        case .list(let outlet, let item, _):
            let price = world.outlets[outlet].menu.item(item).price
            return change(outlet, item) { $0 = Monkey.Offer(price: price, isAvailable: true, isListed: true) }
        case .open(let outlet): return doors(outlet, isOpen: true)
        case .close(let outlet): return doors(outlet, isOpen: false)
        case .add(let cart, let outlet, let item, let quantity, let note):
            return decide(cart) { _ in
                .add(
                    Cart.Addition(
                        outlet: Identifier(world.outlets[outlet].id)!, item: Identifier(ItemPlan.id(item))!,
                        quantity: quantity, note: note.map { .plain(Text($0)) }, offer: domainOffer(outlet, item)))
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
        case .checkOut(let cart, let total):
            return decide(cart) { state in
                var checkOut = Cart.CheckOut(
                    order: Identifier("o\(cart.shopper).\(cart.number)")!, agreedTotal: Amount(minorUnits: total),
                    offers: [:])
                if case .filled(let contents) = state {
                    for line in contents.lines {
                        checkOut.offers[line.id] = domainOffer(of: line, at: contents.outlet)
                    }
                }
                return .checkOut(checkOut)
            }
        case .count(let cart): return .integer(Int64(carts[cart]?.state.openCount ?? 0))
        case .cart(let cart): return document(of: cart).map { .bulk(Self.bytes($0)) } ?? .null
        case .order(let order): return document(ofOrder: order).map { .bulk(Self.bytes($0)) } ?? .null
        default: return .error(code: "ERR", message: "not here")
        }
    }

    private func decide(_ cart: CartID, _ command: (Cart.State) -> Cart.Command) -> Reply {
        var kept = carts[cart] ?? Kept()
        do {
            let events = try Cart.decide(command(kept.state), in: kept.state)
            for event in events { try Cart.evolve(&kept.state, event) }
            kept.version += events.count
            if kept.version > 0 { carts[cart] = kept }
            if case .checkedOut(let contents, let order) = kept.state {
                orders[order.rawValue] = Order(cart: cart, contents: contents)
                return .bulk(Array(order.rawValue.utf8))
            }
            return .integer(Int64(kept.state.count))
        } catch let rejection as Rejection {
            return .error(code: rejection.code.rawValue, message: rejection.message)
        } catch {
            return .error(code: "CORRUPT", message: "\(error)")
        }
    }

    // MARK: Documents

    static func bytes(_ document: [String: Any]) -> [UInt8] {
        // swift-format-ignore: NeverUseForceTry
        Array(try! JSONSerialization.data(withJSONObject: document, options: .sortedKeys))
    }

    /// The revision of an outlet's home.
    func revision(_ outlet: Int) -> Int64 {
        let id = world.outlets[outlet].id
        return (versions["outlet-\(id)"] ?? 0) + (versions["menu-\(id)"] ?? 0)
    }

    /// What `OUTLET.HOME` answers.
    func home(_ outlet: Int) -> [String: Any] {
        let menu = world.outlets[outlet].menu
        let sections = menu.sections.map { section -> [String: Any] in
            var shown = Array(section.items)
            if section.index == menu.item(menu.itemCount).section {
                shown += menu.everyItem.suffix(MenuPlan.extras).filter { offer(outlet, $0).isListed }
            }
            let items = shown.map { index -> [String: Any] in
                let (item, offer) = (menu.item(index), offer(outlet, index))
                let model: [String: Any] = ["name": item.name, "price": offer.price, "available": offer.isAvailable]
                return ["id": item.id, "kind": item.kind, "model": model]
            }
            return ["id": section.id, "items": items]
        }
        return [
            "outlet": ["id": world.outlets[outlet].id, "status": closed.contains(outlet) ? "closed" : "open"],
            "revision": revision(outlet), "state": "ready",
            "tagBar": ["chips": menu.sections.map { ["id": "tag_\($0.id)"] }], "sections": sections,
        ]
    }

    /// What `CART.GET` answers; nil for null.
    func document(of cart: CartID) -> [String: Any]? {
        guard let kept = carts[cart] else { return nil }
        var document: [String: Any] = ["cart": world.cartName(cart), "version": kept.version]
        switch kept.state {
        case .empty:
            document.merge(["status": "empty", "outlet": NSNull()]) { $1 }
            fill(&document, [], hasProblems: false, at: nil)
        case .filled(let contents):
            document.merge(["status": "open", "outlet": contents.outlet.rawValue]) { $1 }
            fill(&document, contents.lines, hasProblems: true, at: contents.outlet)
        case .checkedOut(let contents, let order):
            document.merge(
                ["status": "checkedOut", "outlet": contents.outlet.rawValue, "order": order.rawValue]) { $1 }
            fill(&document, contents.lines, hasProblems: false, at: contents.outlet)
        }
        return document
    }

    func document(ofOrder id: String) -> [String: Any]? {
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
                "unitPrice": line.unitPrice.minorUnits, "options": [String](), "note": line.plainNote ?? NSNull(),
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
        }
    }
}

extension Flight {
    /// A call on its way, sent when so many changes of its outlet were settled.
    init(_ call: Call, floor: Int = 0, write: Int = 0) {
        self.init(call: call, write: write, planned: 0, sent: 0, floor: floor)
    }
}

extension Run {
    /// A run that is not connected to anything.
    @LoopActor
    static func unconnected(outlets: Int = 2, items: Int = 60, shoppers: Int = 2, seed: UInt64 = 1) -> Run {
        LoopActor.startInBackground()
        var options = RunOptions()
        options.size = World.Size(outlets: outlets, items: items, carts: 0)
        options.shoppers = shoppers
        options.connections = 1
        options.seed = seed
        options.mode = .open(stages: nil)
        return Run(options) { .standard }
    }
}

extension CartLine {
    /// The note: the shoppers of a load are no customers, so that nothing is sealed.
    fileprivate var plainNote: String? {
        if case .plain(let text) = note { text.string } else { nil }
    }
}
