internal import Application
internal import Catalogue
internal import Domain
internal import HTTP
internal import TextFormats
internal import Users

/// A row of the table of routes: a method and a path, the command that they run, and what its words are made of.
final class Route: Sendable {
    /// Where a request has the value of a parameter.
    enum Place: String, Sendable {
        case path, query
        /// A member of the body, which is an object.
        case body
        /// The whole body, a document.
        case content
        /// The visitor's cart.
        case cart
        /// The visitor, as a customer.
        case customer
        /// Keys of the query, for filters.
        case filters
    }

    struct Parameter: Sendable {
        var name: String
        var place: Place
        /// The option's name, where the command takes an option.
        var token: String?
        /// Which part of the path it is, if it is one.
        var part: Int?
        var isRequired: Bool
        /// Whether it is a whole number.
        var isInteger = false
        /// The member of the body that it comes with; nil where it always does.
        var companion: String?
        /// Whether it is the visitor where the request does not say, and there is one.
        var isVisitor = false
    }

    /// How the command's answer is sent.
    enum Reply: Sendable {
        /// A document; where there is none, nothing is found.
        case document(Caching)
        /// The visitor's own document: null where there is none yet.
        case own
        /// A list of documents.
        case list
        /// `{"count":2}`: a number by that name.
        case number(String)
        /// `{"order":"…"}`, for what was made.
        case order
        /// A document about what was begun, and goes on.
        case begun
    }

    /// What others may do with a document.
    enum Caching: Sendable {
        /// Ask each time whether it is still the same.
        case tagged
        /// The same, and the server keeps the document for all.
        case shared
        /// Nothing: it is somebody's own.
        case never
    }

    /// What generated clients call it: a verb and a noun.
    let name: String
    let method: String
    let path: String
    let sites: Set<Site>
    let command: Command
    /// The words of the command's name.
    let commandName: [[UInt8]]
    let parameters: [Parameter]
    let reply: Reply

    init(
        _ name: String, _ method: String, _ path: String, _ sites: Set<Site>, _ command: String,
        _ parameters: [Parameter] = [], _ reply: Reply
    ) {
        guard let found = Route.commands.first(where: { $0.declaration.name == command }) else {
            preconditionFailure("no command \(command)")
        }
        self.name = name
        self.method = method
        self.path = path
        self.sites = sites
        self.command = found
        commandName = command.split(separator: " ").map { Array($0.utf8) }
        self.reply = reply
        let named = PathTable<Route>.parts(of: path).enumerated().filter { $1.hasPrefix("{") }.map {
            Parameter(name: String($1.dropFirst().dropLast()), place: .path, part: $0, isRequired: true)
        }
        // The visitor's cart comes first, as in the commands, then what the path names.
        let own = parameters.filter { $0.place == .cart }
        self.parameters = own + named + parameters.filter { $0.place != .cart }
    }

    /// Whether its caller is its only parameter: then it needs no right.
    var isAboutOneself: Bool { parameters.count == 1 && parameters[0].place == .customer }

    /// Whether its body is a picture, and no document.
    var takesPicture: Bool { command.declaration.name == "PICTURE.PUT" }

    /// Whether it changes a stream, and so can be repeated with a key and take a version.
    var isWrite: Bool { if case .write = command.declaration.effect { true } else { false } }
}

extension Route.Parameter {
    static let cart = Route.Parameter(name: "cart", place: .cart, isRequired: true)
    static let oneself = Route.Parameter(name: "customer", place: .customer, isRequired: true)
    /// `CUSTOMER`, so that what the visitor writes can be forgotten.
    ///
    /// - Parameter companion: the text that it comes with; nil for always.
    static func customer(with companion: String? = nil) -> Route.Parameter {
        Route.Parameter(
            name: "customer", place: .customer, token: "CUSTOMER", isRequired: false, companion: companion)
    }
    static let content = Route.Parameter(name: "body", place: .content, isRequired: true)
    static let filters = Route.Parameter(name: "filters", place: .filters, isRequired: false)

    static func query(
        _ name: String, _ token: String, integer: Bool = false, optional: Bool = true
    ) -> Route.Parameter {
        Route.Parameter(name: name, place: .query, token: token, isRequired: !optional, isInteger: integer)
    }

    /// As ``query(_:_:integer:)``, for who the visitor is where the request does not say.
    static func visitor(_ name: String, _ token: String) -> Route.Parameter {
        Route.Parameter(name: name, place: .query, token: token, isRequired: false, isVisitor: true)
    }

    static func body(_ name: String, _ token: String? = nil, integer: Bool = false, optional: Bool = false)
        -> Route.Parameter
    {
        Route.Parameter(name: name, place: .body, token: token, isRequired: !optional, isInteger: integer)
    }
}

extension Route {
    private static let both: Set<Site> = [.store, .console]

    /// Every route.
    static let all: [Route] = browsing + carts + merchants + auditors + admins

    /// What routes can run.
    static let commands = Command.all + Command.ofFronts

    /// Every route by its path.
    static let table = PathTable(all.map { ($0.path, $0) })

    private static let browsing: [Route] = [
        Route(
            "getHome", "GET", "/v1/outlets/{outlet}/home", both, "OUTLET.HOME",
            [.query("since", "SINCE", integer: true), .query("at", "AT")], .document(.shared)),
        Route("getOutlet", "GET", "/v1/outlets/{outlet}", both, "OUTLET.GET", .document(.tagged)),
        Route(
            "getMenu", "GET", "/v1/outlets/{outlet}/menu", both, "MENU.GET", [.query("since", "SINCE")],
            .document(.tagged)),
        Route(
            "getItem", "GET", "/v1/outlets/{outlet}/items/{item}", both, "ITEM.GET", [.query("since", "SINCE")],
            .document(.tagged)),
        Route(
            "listSlots", "GET", "/v1/outlets/{outlet}/slots", both, "SLOTS",
            [.query("service", "SERVICE"), .query("date", "DATE")],
            .document(.never)),
        Route("searchItems", "GET", "/v1/browse", both, "BROWSE", [.filters], .document(.tagged)),
        Route("searchOutlets", "GET", "/v1/outlets", both, "OUTLETS", [.filters], .document(.tagged)),
        Route("surpriseMe", "GET", "/v1/surprise", both, "SURPRISE", [.filters], .document(.never)),
    ]

    private static let carts: [Route] = [
        Route(
            "getCart", "GET", "/v1/cart", [.store], "CART.GET", [.cart, .query("since", "SINCE", integer: true)], .own),
        Route("getQuote", "GET", "/v1/cart/quote", [.store], "CART.QUOTE", [.cart], .own),
        Route(
            "editLine", "PUT", "/v1/cart/lines/{line}", [.store], "CART.EDIT",
            [
                .cart, .customer(with: "note"), .body("options", "OPTIONS", optional: true),
                .body("note", "NOTE", optional: true),
            ],
            .number("count")),
        Route("countCart", "GET", "/v1/cart/count", [.store], "CART.COUNT", [.cart], .number("count")),
        Route(
            "addToCart", "POST", "/v1/cart/lines", [.store], "CART.ADD",
            [
                .cart, .body("outlet"), .body("item"), .body("quantity", integer: true),
                .customer(with: "note"), .body("options", "OPTIONS", optional: true),
                .body("note", "NOTE", optional: true), .body("for", "FOR", optional: true),
            ], .number("count")),
        Route(
            "setQuantity", "PATCH", "/v1/cart/lines/{line}", [.store], "CART.SET",
            [.cart, .body("quantity", integer: true)],
            .number("count")),
        Route("removeLine", "DELETE", "/v1/cart/lines/{line}", [.store], "CART.REMOVE", [.cart], .number("count")),
        Route("clearCart", "DELETE", "/v1/cart/lines", [.store], "CART.CLEAR", [.cart], .number("count")),
        Route(
            "setTip", "PUT", "/v1/cart/tip", [.store], "CART.TIP", [.cart, .body("amount", integer: true)],
            .number("count")),
        Route(
            "chooseService", "PUT", "/v1/cart/service", [.store], "CART.SERVICE",
            [
                .cart, .body("service"), .body("table", "TABLE", optional: true), .body("for", "FOR", optional: true),
            ], .number("count")),
        Route("sayCode", "POST", "/v1/cart/codes", [.store], "CART.CODE", [.cart, .body("code")], .number("count")),
        Route("takeBackCode", "DELETE", "/v1/cart/codes/{code}", [.store], "CART.UNCODE", [.cart], .number("count")),
        Route(
            "placeOrder", "POST", "/v1/cart/checkout", [.store], "CART.CHECKOUT",
            [
                .cart, .customer(), .body("total", "TOTAL", integer: true, optional: true),
                .body("quote", "QUOTE", optional: true), .body("name", "NAME", optional: true),
                .body("phone", "PHONE", optional: true), .body("address", "ADDRESS", optional: true),
                .body("missing", "MISSING", optional: true),
            ], .order),
        Route(
            "listOrders", "GET", "/v1/orders", both, "ORDERS",
            [
                .query("outlet", "OUTLET"), .visitor("customer", "CUSTOMER"), .query("status", "STATUS"),
                .query("from", "FROM"), .query("until", "UNTIL"), .query("after", "AFTER"),
                .query("count", "COUNT", integer: true), .query("at", "AT"),
            ], .document(.never)),
        Route("forgetMe", "DELETE", "/v1/me", [.store], "CUSTOMER.FORGET", [.oneself], .document(.never)),
        Route(
            "getOrder", "GET", "/v1/orders/{order}", both, "ORDER.GET",
            [.query("since", "SINCE", integer: true), .query("at", "AT")], .document(.never)),
        Route("proveOrder", "GET", "/v1/orders/{order}/proof", both, "ORDER.PROVE", .document(.never)),
        Route(
            "cancelOrder", "POST", "/v1/orders/{order}/cancel", both, "ORDER.CANCEL",
            [.body("by", "BY"), .body("code", "CODE"), .body("reason", "REASON", optional: true)], .number("version")),
        Route(
            "changeOrder", "POST", "/v1/orders/{order}/change", both, "ORDER.CHANGE",
            [.content, .query("by", "BY", optional: false), .query("within", "WITHIN", integer: true)],
            .number("version")),
        Route(
            "agreeToChange", "POST", "/v1/orders/{order}/agree", both, "ORDER.AGREE", [.body("digest")],
            .number("version")),
        Route(
            "declineChange", "POST", "/v1/orders/{order}/decline", both, "ORDER.DECLINE",
            [.body("by", "BY", optional: true)],
            .number("version")),
        Route(
            "proveEvent", "GET", "/v1/proof/{stream}/{version}", both, "LOG.PROVE",
            [.query("head", "HEAD", integer: true), .query("form", "FORM")], .document(.never)),
    ]

    private static let merchants: [Route] = [
        Route(
            "listOwnOutlets", "GET", "/v1/own-outlets", [.console], "OUTLETS.OWN",
            [.query("after", "AFTER"), .query("count", "COUNT", integer: true)], .document(.never)),
        Route("putOutlet", "PUT", "/v1/outlets/{outlet}", [.console], "OUTLET.PUT", [.content], .number("version")),
        Route("removeOutlet", "DELETE", "/v1/outlets/{outlet}", [.console], "OUTLET.REMOVE", .number("version")),
        Route("openOutlet", "POST", "/v1/outlets/{outlet}/open", [.console], "OUTLET.OPEN", .number("version")),
        Route("closeOutlet", "POST", "/v1/outlets/{outlet}/close", [.console], "OUTLET.CLOSE", .number("version")),
        Route(
            "pauseOutlet", "POST", "/v1/outlets/{outlet}/pause", [.console], "OUTLET.PAUSE",
            [.body("until", "UNTIL"), .body("reason", "REASON", optional: true)], .number("version")),
        Route(
            "slowOutlet", "POST", "/v1/outlets/{outlet}/busy", [.console], "OUTLET.BUSY",
            [.body("delay", "DELAY", integer: true), .body("until", "UNTIL", optional: true)], .number("version")),
        Route("hideOutlet", "POST", "/v1/outlets/{outlet}/hide", [.console], "OUTLET.HIDE", .number("version")),
        Route("showOutlet", "POST", "/v1/outlets/{outlet}/show", [.console], "OUTLET.SHOW", .number("version")),
        Route(
            "putPicture", "PUT", "/v1/outlets/{outlet}/pictures", [.console], "PICTURE.PUT", [.content],
            .document(.never)),
        Route("putMenu", "PUT", "/v1/outlets/{outlet}/menu", [.console], "MENU.PUT", [.content], .number("version")),
        Route(
            "putSection", "PUT", "/v1/outlets/{outlet}/sections/{section}", [.console], "MENU.SECTION.PUT",
            [.content, .query("before", "BEFORE")], .number("version")),
        Route(
            "removeSection", "DELETE", "/v1/outlets/{outlet}/sections/{section}", [.console], "MENU.SECTION.REMOVE",
            .number("version")),
        Route(
            "putItem", "PUT", "/v1/outlets/{outlet}/sections/{section}/items/{item}", [.console], "MENU.ITEM.PUT",
            [.content, .query("before", "BEFORE")], .number("version")),
        Route(
            "removeItem", "DELETE", "/v1/outlets/{outlet}/items/{item}", [.console], "MENU.ITEM.REMOVE",
            .number("version")),
        Route(
            "setItemPrice", "PUT", "/v1/outlets/{outlet}/items/{item}/price", [.console], "MENU.ITEM.PRICE",
            [.body("price", integer: true)], .number("version")),
        Route(
            "suspendItem", "POST", "/v1/outlets/{outlet}/items/{item}/suspend", [.console], "MENU.ITEM.SUSPEND",
            [.body("until", "UNTIL", optional: true)], .number("version")),
        Route(
            "resumeItem", "POST", "/v1/outlets/{outlet}/items/{item}/resume", [.console], "MENU.ITEM.RESUME",
            .number("version")),
        Route(
            "putGroup", "PUT", "/v1/outlets/{outlet}/groups/{group}", [.console], "MENU.GROUP.PUT", [.content],
            .number("version")),
        Route(
            "removeGroup", "DELETE", "/v1/outlets/{outlet}/groups/{group}", [.console], "MENU.GROUP.REMOVE",
            .number("version")),
        Route(
            "setOptionPrice", "PUT", "/v1/outlets/{outlet}/options/{option}/price", [.console], "MENU.OPTION.PRICE",
            [.body("price", integer: true), .body("size", "SIZE", optional: true)], .number("version")),
        Route(
            "suspendOption", "POST", "/v1/outlets/{outlet}/options/{option}/suspend", [.console], "MENU.OPTION.SUSPEND",
            [.body("until", "UNTIL", optional: true)], .number("version")),
        Route(
            "resumeOption", "POST", "/v1/outlets/{outlet}/options/{option}/resume", [.console], "MENU.OPTION.RESUME",
            .number("version")),
        Route(
            "setItemStock", "PUT", "/v1/outlets/{outlet}/items/{item}/stock", [.console], "MENU.ITEM.STOCK",
            [
                .body("count", "COUNT", integer: true, optional: true),
                .body("add", "ADD", integer: true, optional: true),
            ],
            .number("version")),
        Route(
            "setOptionStock", "PUT", "/v1/outlets/{outlet}/options/{option}/stock", [.console], "MENU.OPTION.STOCK",
            [
                .body("count", "COUNT", integer: true, optional: true),
                .body("add", "ADD", integer: true, optional: true),
            ],
            .number("version")),
        Route("listPromotions", "GET", "/v1/outlets/{outlet}/promotions", [.console], "PROMO.GET", .document(.never)),
        Route(
            "putPromotion", "PUT", "/v1/outlets/{outlet}/promotions/{promotion}", [.console], "PROMO.PUT", [.content],
            .number("version")),
        Route(
            "endPromotion", "DELETE", "/v1/outlets/{outlet}/promotions/{promotion}", [.console], "PROMO.END",
            .number("version")),
        Route("getStock", "GET", "/v1/outlets/{outlet}/stock", [.console], "STOCK", .document(.never)),
        Route(
            "getTakings", "GET", "/v1/outlets/{outlet}/takings", [.console], "TAKINGS",
            [.query("from", "FROM", optional: false), .query("until", "UNTIL"), .query("by", "BY")], .document(.never)),
        Route("getKitchen", "GET", "/v1/outlets/{outlet}/kitchen", [.console], "KITCHEN", .document(.never)),
        Route(
            "acceptOrder", "POST", "/v1/orders/{order}/accept", [.console], "ORDER.ACCEPT",
            [.body("ready", "READY", optional: true)],
            .number("version")),
        Route(
            "rejectOrder", "POST", "/v1/orders/{order}/reject", [.console], "ORDER.REJECT",
            [.body("code", "CODE"), .body("reason", "REASON", optional: true)], .number("version")),
        Route("prepareOrder", "POST", "/v1/orders/{order}/prepare", [.console], "ORDER.PREPARE", .number("version")),
        Route("readyOrder", "POST", "/v1/orders/{order}/ready", [.console], "ORDER.READY", .number("version")),
        Route("completeOrder", "POST", "/v1/orders/{order}/complete", [.console], "ORDER.COMPLETE", .number("version")),
        Route("noteChanges", "POST", "/v1/orders/{order}/noted", [.console], "ORDER.NOTED", .number("version")),
        Route(
            "delayOrder", "POST", "/v1/orders/{order}/delay", [.console], "ORDER.DELAY",
            [.body("ready", "READY"), .body("reason", "REASON", optional: true)], .number("version")),
        Route(
            "reportPayment", "POST", "/v1/orders/{order}/payments", [.console], "ORDER.PAYMENT",
            [
                .body("ref"), .body("state"), .body("amount", integer: true), .body("of", "OF", optional: true),
            ], .number("version")),
        Route(
            "refundOrder", "POST", "/v1/orders/{order}/refunds", [.console], "ORDER.REFUND",
            [
                .body("code", "CODE"), .body("line", "LINE", optional: true),
                .body("quantity", "QTY", integer: true, optional: true),
                .body("amount", "AMOUNT", integer: true, optional: true),
            ], .number("version")),
        Route("getFeed", "GET", "/v1/outlets/{outlet}/feed", [.console], "MENU.FEED.GET", .document(.tagged)),
    ]

    private static let auditors: [Route] = [
        Route(
            "getCartById", "GET", "/v1/carts/{cart}", [.console], "CART.GET",
            [.query("since", "SINCE", integer: true), .query("at", "AT")], .document(.never)),
        Route("getLogHead", "GET", "/v1/log/head", [.console], "LOG.HEAD", .document(.never)),
        Route(
            "readLog", "GET", "/v1/log", [.console], "LOG.READ",
            [
                .query("partition", "PARTITION", integer: true), .query("from", "FROM", integer: true),
                .query("count", "COUNT", integer: true), .query("stream", "STREAM"), .query("kind", "KIND"),
                .query("since", "SINCE"), .query("until", "UNTIL"), .query("actor", "ACTOR"),
            ], .list),
        Route("getSignedHead", "GET", "/v1/log/signed/{partition}", both, "LOG.SIGNED", .document(.never)),
        Route(
            "getLogTree", "GET", "/v1/log/tree/{partition}", [.console], "LOG.TREE",
            [.query("since", "SINCE", integer: true), .query("head", "HEAD", integer: true)], .document(.never)),
    ]

    private static let admins: [Route] = [
        Route(
            "rebuildProjection", "POST", "/v1/projections/{projection}/rebuild", [.console], "PROJECTION.REBUILD",
            .begun),
        Route("forgetCustomer", "DELETE", "/v1/customers/{customer}", [.console], "CUSTOMER.FORGET", .document(.never)),
        Route("listRelays", "GET", "/v1/relays", [.console], "RELAY.LIST", .document(.never)),
        Route("listClients", "GET", "/v1/clients", [.console], "CLIENT LIST", .document(.never)),
        Route("closeClient", "DELETE", "/v1/clients/{id}", [.console], "CLIENT KILL", .document(.never)),
        Route("listSlowCommands", "GET", "/v1/slowlog", [.console], "SLOWLOG GET", .document(.never)),
        Route("listDelays", "GET", "/v1/latency", [.console], "LATENCY HISTORY", .document(.never)),
        Route("listUsers", "GET", "/v1/users", [.console], "USER.LIST", .document(.never)),
        Route(
            "addUser", "POST", "/v1/users", [.console], "USER.ADD",
            [.body("user"), .body("role", "ROLE"), .body("only", "ONLY", optional: true)], .document(.never)),
        Route(
            "confineUser", "PUT", "/v1/users/{user}/confinement", [.console], "USER.CONFINE", [.body("only")],
            .document(.never)),
        Route("disableUser", "POST", "/v1/users/{user}/disable", [.console], "USER.DISABLE", .document(.never)),
        Route("enableUser", "POST", "/v1/users/{user}/enable", [.console], "USER.ENABLE", .document(.never)),
        Route("addToken", "POST", "/v1/users/{user}/tokens", [.console], "USER.TOKEN", .document(.never)),
        Route("removeUser", "DELETE", "/v1/users/{user}", [.console], "USER.REMOVE", .document(.never)),
    ]
}

extension Route {
    convenience init(
        _ name: String, _ method: String, _ path: String, _ sites: Set<Site>, _ command: String, _ reply: Reply
    ) {
        self.init(name, method, path, sites, command, [], reply)
    }
}
