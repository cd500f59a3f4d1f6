/// A command that the load generator may send. A new one needs a case here, its words in `Call+Words`, and the
/// judgement of its answer in `Oracle`.
package enum Call: Equatable, Sendable {
    // What owners of outlets do.
    case putOutlet(Int)
    case putMenu(Int)
    /// Adds the promotion of a kitchen that has one.
    case putPromotion(Int)
    /// Says how many of an item are left.
    case stock(outlet: Int, item: Int, count: Int)
    /// Adds to what is left of an item.
    case restock(outlet: Int, item: Int, more: Int)
    case open(outlet: Int)
    case close(outlet: Int)
    case hide(outlet: Int)
    case show(outlet: Int)
    case price(outlet: Int, item: Int, minor: Int64)
    case suspend(outlet: Int, item: Int)
    case resume(outlet: Int, item: Int)
    case priceOption(outlet: Int, option: String, minor: Int64)
    case suspendOption(outlet: Int, option: String)
    case resumeOption(outlet: Int, option: String)
    /// Puts an extra item on the menu, before another or last.
    case list(outlet: Int, item: Int, before: Int?)
    case unlist(outlet: Int, item: Int)

    // What customers do with a cart.
    /// Options are as they were tapped: `large,cheese,cheese`.
    case add(CartID, outlet: Int, item: Int, quantity: Int, options: String? = nil, note: String?)
    /// Gives a line other options, another note, or both.
    case edit(CartID, line: String, options: String?, note: String?)
    case set(CartID, line: String, quantity: Int)
    case remove(CartID, line: String)
    case clear(CartID)
    /// Sets what is given beside what is charged.
    case tip(CartID, minor: Int64)
    /// Says how the order is to be had, at a table if there is one, and when, if not as soon as it can be.
    case service(CartID, name: String, table: String?, time: String? = nil)
    case quote(CartID)
    case checkOut(CartID, total: Int64)
    /// - Parameter missing: what is to be done if something is missing.
    case checkOutQuote(CartID, quote: String, missing: String? = nil)
    case count(CartID)
    case cart(CartID)
    case order(String)

    // What customers and kitchens do with an order.
    case step(order: String, OrderStep)
    /// What a kitchen has to do with.
    case kitchen(outlet: Int)
    case orders(OrderList)

    // What customers look at.
    case home(outlet: Int, since: Int64?, cart: CartID?)
    case tags(outlet: Int)
    /// With `since`, what has changed since the document of that digest.
    case item(outlet: Int, item: Int, since: String? = nil)
    case browse(Question)
    case outlets(Question)
    case surprise(Question)
    case choose([String])
    case save(name: String, Question)
    case drop(name: String)

    /// Subscribes to a channel. It is answered with messages only, so a PING follows it, whose reply shows that it is
    /// done.
    case subscribe(channel: String)
    case unsubscribe(channel: String)

    /// What `ORDERS` is asked for.
    package struct OrderList: Equatable, Sendable {
        package var outlet: Int
        /// The statuses of orders that are listed; none for all.
        package var statuses: [String]
        /// The cursor of the page; nil for the first.
        package var after: String?
        /// The most orders of a page.
        package var count: Int

        package init(outlet: Int, statuses: [String] = [], after: String? = nil, count: Int = 20) {
            self.outlet = outlet
            self.statuses = statuses
            self.after = after
            self.count = count
        }

        /// Whether both are about pages of one list.
        func isSameList(as other: OrderList) -> Bool {
            outlet == other.outlet && statuses.elementsEqual(other.statuses, by: isSame)
        }
    }

    /// The filters of `BROWSE` and its like.
    package struct Question: Equatable, Sendable {
        /// All of them, as they are sent.
        var words: [String]
        /// What the oracle knows about the answer.
        var bounds: Bounds

        struct Bounds: Equatable, Sendable {
            /// Whether it asks only for outlets of this run.
            var isOwn = false
            var outlet: Int?
            var tag: String?
            /// A tag that no item in the answer may have.
            var excludedTag: String?
            var currency: String?
            /// What else it asks of each item.
            var conditions: [ItemCondition] = []
            /// Whether it asks for what can be ordered now, or for what cannot; nil if for both.
            var isOpen: Bool?
            var limit = 20
            var sort: String?
        }
    }
}

extension Call {
    /// The kinds of calls, as reports name them.
    package enum Kind: Int, CaseIterable, Sendable {
        case outletPut, menuPut, promoPut, itemStock, outletOpen, outletClose, outletHide, outletShow
        case itemPrice, itemSuspend, itemResume, itemPut, itemRemove, optionPrice, optionSuspend, optionResume
        case orderAccept, orderReject, orderPrepare, orderReady, orderComplete, orderDelay, orderCancel, orderPayment
        case orderRefund, orderChange, orderAgree, orderDecline, orderNoted
        case cartAdd, cartEdit, cartSet, cartRemove, cartClear, cartTip, cartService, cartCheckout
        case cartQuote, cartCount, cartGet, orderGet, kitchen, orders
        case outletHome, outletTags, itemGet, browse, outlets, surprise, choose, browseSave, browseDrop
        case subscribe, unsubscribe

        /// The command, in lower case.
        package var name: String {
            switch self {
            case .outletPut: "outlet.put"
            case .menuPut: "menu.put"
            case .promoPut: "promo.put"
            case .itemStock: "menu.item.stock"
            case .outletOpen: "outlet.open"
            case .outletClose: "outlet.close"
            case .outletHide: "outlet.hide"
            case .outletShow: "outlet.show"
            case .itemPrice: "menu.item.price"
            case .itemSuspend: "menu.item.suspend"
            case .itemResume: "menu.item.resume"
            case .itemPut: "menu.item.put"
            case .itemRemove: "menu.item.remove"
            case .optionPrice: "menu.option.price"
            case .optionSuspend: "menu.option.suspend"
            case .optionResume: "menu.option.resume"
            case .cartAdd: "cart.add"
            case .cartEdit: "cart.edit"
            case .cartSet: "cart.set"
            case .cartRemove: "cart.remove"
            case .cartClear: "cart.clear"
            case .cartTip: "cart.tip"
            case .cartService: "cart.service"
            case .cartQuote: "cart.quote"
            case .cartCheckout: "cart.checkout"
            case .orderAccept: "order.accept"
            case .orderReject: "order.reject"
            case .orderPrepare: "order.prepare"
            case .orderReady: "order.ready"
            case .orderComplete: "order.complete"
            case .orderDelay: "order.delay"
            case .orderCancel: "order.cancel"
            case .orderPayment: "order.payment"
            case .orderRefund: "order.refund"
            case .orderChange: "order.change"
            case .orderAgree: "order.agree"
            case .orderDecline: "order.decline"
            case .orderNoted: "order.noted"
            case .kitchen: "kitchen"
            case .orders: "orders"
            case .cartCount: "cart.count"
            case .cartGet: "cart.get"
            case .orderGet: "order.get"
            case .outletHome: "outlet.home"
            case .outletTags: "outlet.tags"
            case .itemGet: "item.get"
            case .browse: "browse"
            case .outlets: "outlets"
            case .surprise: "surprise"
            case .choose: "choose"
            case .browseSave: "browse.save"
            case .browseDrop: "browse.drop"
            case .subscribe: "subscribe"
            case .unsubscribe: "unsubscribe"
            }
        }

        /// Whether it changes a stream, and carries an `ID`.
        package var isWrite: Bool { rawValue <= Kind.cartCheckout.rawValue }
    }

    package var kind: Kind {
        switch self {
        case .putOutlet: .outletPut
        case .putMenu: .menuPut
        case .putPromotion: .promoPut
        case .stock, .restock: .itemStock
        case .open: .outletOpen
        case .close: .outletClose
        case .hide: .outletHide
        case .show: .outletShow
        case .price: .itemPrice
        case .suspend: .itemSuspend
        case .resume: .itemResume
        case .list: .itemPut
        case .unlist: .itemRemove
        case .priceOption: .optionPrice
        case .suspendOption: .optionSuspend
        case .resumeOption: .optionResume
        case .add: .cartAdd
        case .edit: .cartEdit
        case .set: .cartSet
        case .remove: .cartRemove
        case .clear: .cartClear
        case .tip: .cartTip
        case .service: .cartService
        case .quote: .cartQuote
        case .checkOut, .checkOutQuote: .cartCheckout
        case .step(_, let step): step.kind
        case .kitchen: .kitchen
        case .orders: .orders
        case .count: .cartCount
        case .cart: .cartGet
        case .order: .orderGet
        case .home: .outletHome
        case .tags: .outletTags
        case .item: .itemGet
        case .browse: .browse
        case .outlets: .outlets
        case .surprise: .surprise
        case .choose: .choose
        case .save: .browseSave
        case .drop: .browseDrop
        case .subscribe: .subscribe
        case .unsubscribe: .unsubscribe
        }
    }
}
