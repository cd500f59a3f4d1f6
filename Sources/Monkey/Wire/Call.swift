internal import EventLoop
internal import LineProtocol

/// What the monkey may send. A new command is a case here, its words below, and how its answer is judged in
/// `Oracle`.
enum Call: Equatable, Sendable {
    // What owners of outlets do.
    case putOutlet(Int)
    case putMenu(Int)
    case open(outlet: Int)
    case close(outlet: Int)
    case price(outlet: Int, item: Int, minor: Int64)
    case suspend(outlet: Int, item: Int)
    case resume(outlet: Int, item: Int)
    /// Puts an extra item on the menu, in front of another or last.
    case list(outlet: Int, item: Int, before: Int?)
    case unlist(outlet: Int, item: Int)

    // What customers do with a cart.
    case add(CartID, outlet: Int, item: Int, quantity: Int, note: String?)
    case set(CartID, line: String, quantity: Int)
    case remove(CartID, line: String)
    case clear(CartID)
    case checkOut(CartID, total: Int64)
    case count(CartID)
    case cart(CartID)
    case order(String)

    // What customers look at.
    case home(outlet: Int, since: Int64?, cart: CartID?)
    case tags(outlet: Int)
    case item(outlet: Int, item: Int)
    case browse(Question)
    case outlets(Question)
    case surprise(Question)
    case save(name: String, Question)
    case drop(name: String)

    /// Listens to a channel. Messages come beside the answers, so a PING is sent with it, whose answer tells that
    /// it is done.
    case subscribe(channel: String)
    case unsubscribe(channel: String)

    /// The filters of `BROWSE` and its like.
    struct Question: Equatable, Sendable {
        /// All of them, as they are sent.
        var words: [String]
        /// What the answer has to keep to, as far as the monkey can tell.
        var bounds: Bounds

        struct Bounds: Equatable, Sendable {
            /// Only the monkey's own outlets are asked for.
            var isOwn = false
            var outlet: Int?
            var tag: String?
            var prices: ClosedRange<Int64>?
            var isOpen = false
            var limit = 20
            var sort: String?
        }
    }
}

extension Call {
    /// The kinds of calls, as reports name them.
    enum Kind: Int, CaseIterable, Sendable {
        case outletPut, menuPut, outletOpen, outletClose, itemPrice, itemSuspend, itemResume, itemPut, itemRemove
        case cartAdd, cartSet, cartRemove, cartClear, cartCheckout, cartCount, cartGet, orderGet
        case outletHome, outletTags, itemGet, browse, outlets, surprise, browseSave, browseDrop
        case subscribe, unsubscribe

        /// The command, in small letters.
        var name: String {
            switch self {
            case .outletPut: "outlet.put"
            case .menuPut: "menu.put"
            case .outletOpen: "outlet.open"
            case .outletClose: "outlet.close"
            case .itemPrice: "menu.item.price"
            case .itemSuspend: "menu.item.suspend"
            case .itemResume: "menu.item.resume"
            case .itemPut: "menu.item.put"
            case .itemRemove: "menu.item.remove"
            case .cartAdd: "cart.add"
            case .cartSet: "cart.set"
            case .cartRemove: "cart.remove"
            case .cartClear: "cart.clear"
            case .cartCheckout: "cart.checkout"
            case .cartCount: "cart.count"
            case .cartGet: "cart.get"
            case .orderGet: "order.get"
            case .outletHome: "outlet.home"
            case .outletTags: "outlet.tags"
            case .itemGet: "item.get"
            case .browse: "browse"
            case .outlets: "outlets"
            case .surprise: "surprise"
            case .browseSave: "browse.save"
            case .browseDrop: "browse.drop"
            case .subscribe: "subscribe"
            case .unsubscribe: "unsubscribe"
            }
        }

        /// It changes a stream, and carries an `ID`.
        var isWrite: Bool { rawValue <= Kind.cartCheckout.rawValue }
    }

    var kind: Kind {
        switch self {
        case .putOutlet: .outletPut
        case .putMenu: .menuPut
        case .open: .outletOpen
        case .close: .outletClose
        case .price: .itemPrice
        case .suspend: .itemSuspend
        case .resume: .itemResume
        case .list: .itemPut
        case .unlist: .itemRemove
        case .add: .cartAdd
        case .set: .cartSet
        case .remove: .cartRemove
        case .clear: .cartClear
        case .checkOut: .cartCheckout
        case .count: .cartCount
        case .cart: .cartGet
        case .order: .orderGet
        case .home: .outletHome
        case .tags: .outletTags
        case .item: .itemGet
        case .browse: .browse
        case .outlets: .outlets
        case .surprise: .surprise
        case .save: .browseSave
        case .drop: .browseDrop
        case .subscribe: .subscribe
        case .unsubscribe: .unsubscribe
        }
    }

    /// The outlet whose offers its answer depends on.
    var outlet: Int? {
        switch self {
        case .putOutlet(let outlet), .putMenu(let outlet), .open(let outlet), .close(let outlet),
            .price(let outlet, _, _), .suspend(let outlet, _), .resume(let outlet, _), .list(let outlet, _, _),
            .unlist(let outlet, _), .add(_, let outlet, _, _, _), .home(let outlet, _, _), .tags(let outlet),
            .item(let outlet, _):
            outlet
        case .browse(let question), .outlets(let question), .surprise(let question), .save(_, let question):
            question.bounds.outlet
        case .set, .remove, .clear, .checkOut, .count, .cart, .order, .drop, .subscribe, .unsubscribe: nil
        }
    }

    /// The stream that a write changes.
    @LoopActor
    func stream(_ world: World) -> String? {
        switch self {
        case .putOutlet(let outlet), .open(let outlet), .close(let outlet): "outlet-\(world.outlets[outlet].id)"
        case .putMenu(let outlet), .price(let outlet, _, _), .suspend(let outlet, _), .resume(let outlet, _),
            .list(let outlet, _, _), .unlist(let outlet, _):
            "menu-\(world.outlets[outlet].id)"
        case .add(let cart, _, _, _, _), .set(let cart, _, _), .remove(let cart, _), .clear(let cart),
            .checkOut(let cart, _):
            "cart-\(world.cartName(cart))"
        default: nil
        }
    }

    /// Writes the request; `id` is that of a write.
    @LoopActor
    func write(to writer: inout RequestWriter, _ world: World, id: String) {
        var words = words(world)
        if kind.isWrite { words += ["ID", id] }
        writer.write(words)
        if isAnsweredBeside { writer.write(["PING"]) }
    }

    /// Its answer is a message; a PING is sent with it.
    var isAnsweredBeside: Bool { [.subscribe, .unsubscribe].contains(kind) }

    /// The command and its arguments, without an `ID`.
    @LoopActor
    func words(_ world: World) -> [String] {
        func outletID(_ outlet: Int) -> String { world.outlets[outlet].id }
        switch self {
        case .putOutlet(let outlet):
            return ["OUTLET.PUT", outletID(outlet), world.outlets[outlet].json(city: world.name)]
        case .putMenu(let outlet): return ["MENU.PUT", outletID(outlet), world.outlets[outlet].menu.json]
        case .open(let outlet): return ["OUTLET.OPEN", outletID(outlet)]
        case .close(let outlet): return ["OUTLET.CLOSE", outletID(outlet)]
        case .price(let outlet, let item, let minor):
            return ["MENU.ITEM.PRICE", outletID(outlet), ItemPlan.id(item), "\(minor)"]
        case .suspend(let outlet, let item): return ["MENU.ITEM.SUSPEND", outletID(outlet), ItemPlan.id(item)]
        case .resume(let outlet, let item): return ["MENU.ITEM.RESUME", outletID(outlet), ItemPlan.id(item)]
        case .list(let outlet, let item, let before):
            let plan = world.outlets[outlet].menu.item(item)
            let section = world.outlets[outlet].menu.sections[plan.section].id
            let place = before.map { ["BEFORE", ItemPlan.id($0)] } ?? []
            return ["MENU.ITEM.PUT", outletID(outlet), section, plan.id, plan.json] + place
        case .unlist(let outlet, let item): return ["MENU.ITEM.REMOVE", outletID(outlet), ItemPlan.id(item)]
        case .add(let cart, let outlet, let item, let quantity, let note):
            return ["CART.ADD", world.cartName(cart), outletID(outlet), ItemPlan.id(item), "\(quantity)"]
                + (note.map { ["NOTE", $0] } ?? [])
        case .set(let cart, let line, let quantity): return ["CART.SET", world.cartName(cart), line, "\(quantity)"]
        case .remove(let cart, let line): return ["CART.REMOVE", world.cartName(cart), line]
        case .clear(let cart): return ["CART.CLEAR", world.cartName(cart)]
        case .checkOut(let cart, let total): return ["CART.CHECKOUT", world.cartName(cart), "TOTAL", "\(total)"]
        case .count(let cart): return ["CART.COUNT", world.cartName(cart)]
        case .cart(let cart): return ["CART.GET", world.cartName(cart)]
        case .order(let order): return ["ORDER.GET", order]
        case .home(let outlet, let since, let cart):
            return ["OUTLET.HOME", outletID(outlet)] + (since.map { ["SINCE", "\($0)"] } ?? [])
                + (cart.map { ["CART", world.cartName($0)] } ?? [])
        case .tags(let outlet): return ["OUTLET.TAGS", outletID(outlet)]
        case .item(let outlet, let item): return ["ITEM.GET", outletID(outlet), ItemPlan.id(item)]
        case .browse(let question): return ["BROWSE"] + question.words
        case .outlets(let question): return ["OUTLETS"] + question.words
        case .surprise(let question): return ["SURPRISE"] + question.words
        case .save(let name, let question): return ["BROWSE.SAVE", name] + question.words
        case .drop(let name): return ["BROWSE.DROP", name]
        case .subscribe(let channel): return ["SUBSCRIBE", channel]
        case .unsubscribe(let channel): return ["UNSUBSCRIBE", channel]
        }
    }

    /// The call as a person would type it; long documents are shortened.
    @LoopActor
    func summary(_ world: World) -> String {
        words(world).map { word in
            let shown = word.count > 80 ? "\(word.prefix(60))… (\(word.utf8.count) bytes)" : word
            return shown.contains(" ") ? "'\(shown)'" : shown
        }.joined(separator: " ")
    }
}
