// The console, for merchants, auditors and admins. Written by Scripts/clients from docs/openapi.json.

public import Foundation

/// The console: a user, who has a name and a token; nobody needs them as long as there are no users.
public struct Console: Site {
    public let connection: Connection

    /// The console at an address.
    ///
    /// - Parameter deadline: how long a call may take with all its attempts, unless the call has its own.
    /// - Throws: a ``TiffinError`` if there can be no console.
    public init(
        _ url: String = "http://127.0.0.1:7381", user: String? = nil, token: String? = nil,
        deadline: Duration = .seconds(30)
    ) throws {
        connection = try Connection(url, Login(user: user, token: token), deadline: deadline)
    }
}

// MARK: Orders

extension Console {
    /// Takes an order on, to be ready at a time; returns its version. (ORDER.ACCEPT)
    @discardableResult
    public func acceptOrder(
        _ order: String, ready: String? = nil, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/orders/\(segment(order))/accept", takes: "version", query: [("version", version)],
            body: ["ready": ready] as Members, hasKey: true, key: key, deadline: deadline)
    }

    /// Says that an order was handed over; returns its version. (ORDER.COMPLETE)
    @discardableResult
    public func completeOrder(
        _ order: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/orders/\(segment(order))/complete", takes: "version", query: [("version", version)],
            hasKey: true, key: key, deadline: deadline)
    }

    /// Says when an order will be ready instead, and why; returns its version. (ORDER.DELAY)
    @discardableResult
    public func delayOrder(
        _ order: String, ready: String, reason: String? = nil, version: Int? = nil, key: String? = nil,
        deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/orders/\(segment(order))/delay", takes: "version", query: [("version", version)],
            body: ["ready": ready, "reason": reason] as Members, hasKey: true, key: key, deadline: deadline)
    }

    /// Says that the kitchen has seen what was changed; returns the order's version. (ORDER.NOTED)
    @discardableResult
    public func noteChanges(
        _ order: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/orders/\(segment(order))/noted", takes: "version", query: [("version", version)], hasKey: true,
            key: key, deadline: deadline)
    }

    /// Records what a payment service reports of an order's money; returns the order's version. (ORDER.PAYMENT)
    @discardableResult
    public func reportPayment(
        _ order: String, ref: String, state: String, amount: Int, of: String? = nil, version: Int? = nil,
        key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/orders/\(segment(order))/payments", takes: "version", query: [("version", version)],
            body: ["ref": ref, "state": state, "amount": amount, "of": of] as Members, hasKey: true, key: key,
            deadline: deadline)
    }

    /// Says that an order is being cooked; returns its version. (ORDER.PREPARE)
    @discardableResult
    public func prepareOrder(
        _ order: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/orders/\(segment(order))/prepare", takes: "version", query: [("version", version)],
            hasKey: true, key: key, deadline: deadline)
    }

    /// Says that an order can be fetched; returns its version. (ORDER.READY)
    @discardableResult
    public func readyOrder(
        _ order: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/orders/\(segment(order))/ready", takes: "version", query: [("version", version)], hasKey: true,
            key: key, deadline: deadline)
    }

    /// Gives back some of a line, an amount, or all that is left; returns the order's version. (ORDER.REFUND)
    @discardableResult
    public func refundOrder(
        _ order: String, code: EndingCode, amount: Int? = nil, line: String? = nil, quantity: Int? = nil,
        version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/orders/\(segment(order))/refunds", takes: "version", query: [("version", version)],
            body: ["code": code, "amount": amount, "line": line, "quantity": quantity] as Members, hasKey: true,
            key: key, deadline: deadline)
    }

    /// Does not take an order on; returns its version. (ORDER.REJECT)
    @discardableResult
    public func rejectOrder(
        _ order: String, code: EndingCode, reason: String? = nil, version: Int? = nil, key: String? = nil,
        deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/orders/\(segment(order))/reject", takes: "version", query: [("version", version)],
            body: ["code": code, "reason": reason] as Members, hasKey: true, key: key, deadline: deadline)
    }
}

// MARK: Menus

extension Console {
    /// Returns what the source of a menu was last found to hold, in full. (MENU.FEED.GET)
    public func getFeed(_ outlet: String, deadline: Duration? = nil) async throws -> Feed {
        try await connection.call("GET", "/v1/outlets/\(segment(outlet))/feed", deadline: deadline)
    }

    /// Removes a group of options that nothing names. (MENU.GROUP.REMOVE)
    @discardableResult
    public func removeGroup(
        outlet: String, group: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "DELETE", "/v1/outlets/\(segment(outlet))/groups/\(segment(group))", takes: "version",
            query: [("version", version)], hasKey: true, key: key, deadline: deadline)
    }

    /// Adds or changes a group of options that items offer. (MENU.GROUP.PUT)
    @discardableResult
    public func putGroup(
        outlet: String, group: String, document: GroupInput, version: Int? = nil, key: String? = nil,
        deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "PUT", "/v1/outlets/\(segment(outlet))/groups/\(segment(group))", takes: "version",
            query: [("version", version)], body: document, hasKey: true, key: key, deadline: deadline)
    }

    /// Removes an item. (MENU.ITEM.REMOVE)
    @discardableResult
    public func removeItem(
        outlet: String, item: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "DELETE", "/v1/outlets/\(segment(outlet))/items/\(segment(item))", takes: "version",
            query: [("version", version)], hasKey: true, key: key, deadline: deadline)
    }

    /// Sets an item's price, in minor units. (MENU.ITEM.PRICE)
    @discardableResult
    public func setItemPrice(
        outlet: String, item: String, price: Int, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "PUT", "/v1/outlets/\(segment(outlet))/items/\(segment(item))/price", takes: "version",
            query: [("version", version)], body: ["price": price] as Members, hasKey: true, key: key,
            deadline: deadline)
    }

    /// Makes a sold-out item available again. (MENU.ITEM.RESUME)
    @discardableResult
    public func resumeItem(
        outlet: String, item: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/outlets/\(segment(outlet))/items/\(segment(item))/resume", takes: "version",
            query: [("version", version)], hasKey: true, key: key, deadline: deadline)
    }

    /// Says how many of an item can still be ordered, or adds some; without a number it is no longer counted.
    /// (MENU.ITEM.STOCK)
    @discardableResult
    public func setItemStock(
        outlet: String, item: String, add: Int? = nil, count: Int? = nil, version: Int? = nil, key: String? = nil,
        deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "PUT", "/v1/outlets/\(segment(outlet))/items/\(segment(item))/stock", takes: "version",
            query: [("version", version)], body: ["add": add, "count": count] as Members, hasKey: true, key: key,
            deadline: deadline)
    }

    /// Marks an item as sold out, until a time or until it is resumed. (MENU.ITEM.SUSPEND)
    @discardableResult
    public func suspendItem(
        outlet: String, item: String, until: String? = nil, version: Int? = nil, key: String? = nil,
        deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/outlets/\(segment(outlet))/items/\(segment(item))/suspend", takes: "version",
            query: [("version", version)], body: ["until": until] as Members, hasKey: true, key: key,
            deadline: deadline)
    }

    /// Replaces an outlet's menu, by as few changes as possible. (MENU.PUT)
    @discardableResult
    public func putMenu(
        _ outlet: String, document: MenuInput, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "PUT", "/v1/outlets/\(segment(outlet))/menu", takes: "version", query: [("version", version)],
            body: document, hasKey: true, key: key, deadline: deadline)
    }

    /// Sets an option's price, in minor units, or its price with a size. (MENU.OPTION.PRICE)
    @discardableResult
    public func setOptionPrice(
        outlet: String, option: String, price: Int, size: String? = nil, version: Int? = nil, key: String? = nil,
        deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "PUT", "/v1/outlets/\(segment(outlet))/options/\(segment(option))/price", takes: "version",
            query: [("version", version)], body: ["price": price, "size": size] as Members, hasKey: true, key: key,
            deadline: deadline)
    }

    /// Makes a sold-out option available again. (MENU.OPTION.RESUME)
    @discardableResult
    public func resumeOption(
        outlet: String, option: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/outlets/\(segment(outlet))/options/\(segment(option))/resume", takes: "version",
            query: [("version", version)], hasKey: true, key: key, deadline: deadline)
    }

    /// Says how many of an option can still be ordered, or adds some; without a number it is no longer counted.
    /// (MENU.OPTION.STOCK)
    @discardableResult
    public func setOptionStock(
        outlet: String, option: String, add: Int? = nil, count: Int? = nil, version: Int? = nil, key: String? = nil,
        deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "PUT", "/v1/outlets/\(segment(outlet))/options/\(segment(option))/stock", takes: "version",
            query: [("version", version)], body: ["add": add, "count": count] as Members, hasKey: true, key: key,
            deadline: deadline)
    }

    /// Marks an option as sold out, until a time or until it is resumed. (MENU.OPTION.SUSPEND)
    @discardableResult
    public func suspendOption(
        outlet: String, option: String, until: String? = nil, version: Int? = nil, key: String? = nil,
        deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/outlets/\(segment(outlet))/options/\(segment(option))/suspend", takes: "version",
            query: [("version", version)], body: ["until": until] as Members, hasKey: true, key: key,
            deadline: deadline)
    }

    /// Stores a picture for an outlet's menu; returns the path at which it is served. (PICTURE.PUT)
    public func putPicture(
        _ outlet: String, picture: Data, type: String, deadline: Duration? = nil
    ) async throws -> String {
        try await connection.call(
            "PUT", "/v1/outlets/\(segment(outlet))/pictures", takes: "path", picture: (type, picture),
            deadline: deadline)
    }

    /// Removes a section with its items. (MENU.SECTION.REMOVE)
    @discardableResult
    public func removeSection(
        outlet: String, section: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "DELETE", "/v1/outlets/\(segment(outlet))/sections/\(segment(section))", takes: "version",
            query: [("version", version)], hasKey: true, key: key, deadline: deadline)
    }

    /// Adds or changes a section of a menu. (MENU.SECTION.PUT)
    @discardableResult
    public func putSection(
        outlet: String, section: String, document: SectionInput, before: String? = nil, version: Int? = nil,
        key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "PUT", "/v1/outlets/\(segment(outlet))/sections/\(segment(section))", takes: "version",
            query: [("before", before), ("version", version)], body: document, hasKey: true, key: key,
            deadline: deadline)
    }

    /// Adds or changes an item of a menu. (MENU.ITEM.PUT)
    @discardableResult
    public func putItem(
        outlet: String, section: String, item: String, document: ItemInput, before: String? = nil, version: Int? = nil,
        key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "PUT", "/v1/outlets/\(segment(outlet))/sections/\(segment(section))/items/\(segment(item))",
            takes: "version", query: [("before", before), ("version", version)], body: document, hasKey: true, key: key,
            deadline: deadline)
    }
}

// MARK: Stock and promotions

extension Console {
    /// Returns an outlet's promotions. (PROMO.GET)
    public func listPromotions(_ outlet: String, deadline: Duration? = nil) async throws -> Promotions {
        try await connection.call("GET", "/v1/outlets/\(segment(outlet))/promotions", deadline: deadline)
    }

    /// Ends a promotion. (PROMO.END)
    @discardableResult
    public func endPromotion(
        outlet: String, promotion: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "DELETE", "/v1/outlets/\(segment(outlet))/promotions/\(segment(promotion))", takes: "version",
            query: [("version", version)], hasKey: true, key: key, deadline: deadline)
    }

    /// Adds or changes a promotion. (PROMO.PUT)
    @discardableResult
    public func putPromotion(
        outlet: String, promotion: String, document: PromotionInput, version: Int? = nil, key: String? = nil,
        deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "PUT", "/v1/outlets/\(segment(outlet))/promotions/\(segment(promotion))", takes: "version",
            query: [("version", version)], body: document, hasKey: true, key: key, deadline: deadline)
    }

    /// Returns how much is left of what an outlet has counted, and how much orders hold. (STOCK)
    public func getStock(_ outlet: String, deadline: Duration? = nil) async throws -> Stock {
        try await connection.call("GET", "/v1/outlets/\(segment(outlet))/stock", deadline: deadline)
    }
}

// MARK: Outlets

extension Console {
    /// Removes an outlet for good. Its history stays. (OUTLET.REMOVE)
    @discardableResult
    public func removeOutlet(
        _ outlet: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "DELETE", "/v1/outlets/\(segment(outlet))", takes: "version", query: [("version", version)], hasKey: true,
            key: key, deadline: deadline)
    }

    /// Registers an outlet, or changes what differs. (OUTLET.PUT)
    @discardableResult
    public func putOutlet(
        _ outlet: String, document: OutletInput, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "PUT", "/v1/outlets/\(segment(outlet))", takes: "version", query: [("version", version)], body: document,
            hasKey: true, key: key, deadline: deadline)
    }

    /// Promises orders some minutes later than usual until a time, or as usual again. (OUTLET.BUSY)
    @discardableResult
    public func slowOutlet(
        _ outlet: String, delay: Int, until: String? = nil, version: Int? = nil, key: String? = nil,
        deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/outlets/\(segment(outlet))/busy", takes: "version", query: [("version", version)],
            body: ["delay": delay, "until": until] as Members, hasKey: true, key: key, deadline: deadline)
    }

    /// Stops an outlet from taking orders. (OUTLET.CLOSE)
    @discardableResult
    public func closeOutlet(
        _ outlet: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/outlets/\(segment(outlet))/close", takes: "version", query: [("version", version)],
            hasKey: true, key: key, deadline: deadline)
    }

    /// Keeps an outlet out of lists and searches. (OUTLET.HIDE)
    @discardableResult
    public func hideOutlet(
        _ outlet: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/outlets/\(segment(outlet))/hide", takes: "version", query: [("version", version)],
            hasKey: true, key: key, deadline: deadline)
    }

    /// Returns the orders that an outlet's kitchen has to do with, by the time they are promised for. (KITCHEN)
    public func getKitchen(_ outlet: String, deadline: Duration? = nil) async throws -> Kitchen {
        try await connection.call("GET", "/v1/outlets/\(segment(outlet))/kitchen", deadline: deadline)
    }

    /// Lets an outlet take orders, or open and close by its hours. (OUTLET.OPEN)
    @discardableResult
    public func openOutlet(
        _ outlet: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/outlets/\(segment(outlet))/open", takes: "version", query: [("version", version)],
            hasKey: true, key: key, deadline: deadline)
    }

    /// Stops an outlet from taking orders until a time. (OUTLET.PAUSE)
    @discardableResult
    public func pauseOutlet(
        _ outlet: String, until: String, reason: String? = nil, version: Int? = nil, key: String? = nil,
        deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/outlets/\(segment(outlet))/pause", takes: "version", query: [("version", version)],
            body: ["until": until, "reason": reason] as Members, hasKey: true, key: key, deadline: deadline)
    }

    /// Puts a hidden outlet back into lists and searches. (OUTLET.SHOW)
    @discardableResult
    public func showOutlet(
        _ outlet: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/outlets/\(segment(outlet))/show", takes: "version", query: [("version", version)],
            hasKey: true, key: key, deadline: deadline)
    }

    /// Returns what an outlet sold, took back, gave back and was paid, by days of the outlet. (TAKINGS)
    public func getTakings(
        _ outlet: String, from: String, until: String? = nil, by: String? = nil, deadline: Duration? = nil
    ) async throws -> Takings {
        try await connection.call(
            "GET", "/v1/outlets/\(segment(outlet))/takings", query: [("from", from), ("until", until), ("by", by)],
            deadline: deadline)
    }

    /// Returns a page of the outlets that the caller may change, with their orders and what today brought.
    /// (OUTLETS.OWN)
    public func listOwnOutlets(
        after: String? = nil, count: Int? = nil, deadline: Duration? = nil
    ) async throws -> OwnOutlets {
        try await connection.call(
            "GET", "/v1/own-outlets", query: [("after", after), ("count", count)], deadline: deadline)
    }
}

// MARK: People

extension Console {
    /// Destroys the keys of customers, so that nobody can read their texts any more; returns what it did.
    /// (CUSTOMER.FORGET)
    public func forgetCustomer(_ customer: String, deadline: Duration? = nil) async throws -> Forgetting {
        try await connection.call("DELETE", "/v1/customers/\(segment(customer))", deadline: deadline)
    }

    /// Returns every user, with the names of its tokens. (USER.LIST)
    public func listUsers(deadline: Duration? = nil) async throws -> Users {
        try await connection.call("GET", "/v1/users", deadline: deadline)
    }

    /// Adds a user, who can log in once it has a token; returns the user. (USER.ADD)
    public func addUser(
        user: String, role: UserRole, only: String? = nil, deadline: Duration? = nil
    ) async throws -> User {
        try await connection.call(
            "POST", "/v1/users", body: ["user": user, "role": role, "only": only] as Members, deadline: deadline)
    }

    /// Removes a user, and closes its connections; returns its name. (USER.REMOVE)
    public func removeUser(_ user: String, deadline: Duration? = nil) async throws -> RemovedUser {
        try await connection.call("DELETE", "/v1/users/\(segment(user))", deadline: deadline)
    }

    /// Says what a user is confined to; returns the user. (USER.CONFINE)
    public func confineUser(_ user: String, only: String, deadline: Duration? = nil) async throws -> User {
        try await connection.call(
            "PUT", "/v1/users/\(segment(user))/confinement", body: ["only": only] as Members, deadline: deadline)
    }

    /// Keeps a user from logging in, and closes its connections; returns the user. (USER.DISABLE)
    public func disableUser(_ user: String, deadline: Duration? = nil) async throws -> User {
        try await connection.call("POST", "/v1/users/\(segment(user))/disable", deadline: deadline)
    }

    /// Lets a user log in again; returns the user. (USER.ENABLE)
    public func enableUser(_ user: String, deadline: Duration? = nil) async throws -> User {
        try await connection.call("POST", "/v1/users/\(segment(user))/enable", deadline: deadline)
    }

    /// Gives a user another token; returns it, this once. (USER.TOKEN)
    public func addToken(_ user: String, deadline: Duration? = nil) async throws -> NewToken {
        try await connection.call("POST", "/v1/users/\(segment(user))/tokens", deadline: deadline)
    }
}

// MARK: The log

extension Console {
    /// Returns a cart with its lines and total, now or as of a moment. (CART.GET)
    public func getCartById(_ cart: String, at: String? = nil, deadline: Duration? = nil) async throws -> Cart {
        try await connection.call("GET", "/v1/carts/\(segment(cart))", query: [("at", at)], deadline: deadline)
    }

    /// Returns events of the log, in order, all or those that match filters, or waits until there are some. (LOG.READ)
    public func readLog(
        partition: Int? = nil, from: Int? = nil, count: Int? = nil, stream: String? = nil, kind: String? = nil,
        since: String? = nil, until: String? = nil, actor: String? = nil, deadline: Duration? = nil
    ) async throws -> ReadLogAnswer {
        let query: Query = [
            ("partition", partition), ("from", from), ("count", count), ("stream", stream), ("kind", kind),
            ("since", since), ("until", until), ("actor", actor),
        ]
        return try await connection.call("GET", "/v1/log", query: query, deadline: deadline)
    }

    /// Returns the position and digest of every partition of the log. (LOG.HEAD)
    public func getLogHead(deadline: Duration? = nil) async throws -> [LogHead] {
        try await connection.call("GET", "/v1/log/head", deadline: deadline)
    }

    /// Returns what a partition of the log is, by a root over all of it, and proves that it goes on from what it was.
    /// (LOG.TREE)
    public func getLogTree(
        _ partition: String, since: Int? = nil, head: Int? = nil, deadline: Duration? = nil
    ) async throws -> LogTree? {
        try await connection.call(
            "GET", "/v1/log/tree/\(segment(partition))", query: [("since", since), ("head", head)], deadline: deadline)
    }
}

// MARK: The server

extension Console {
    /// Returns every connection of the line protocol. (CLIENT LIST)
    public func listClients(deadline: Duration? = nil) async throws -> Clients {
        try await connection.call("GET", "/v1/clients", deadline: deadline)
    }

    /// Closes a connection of the line protocol. (CLIENT KILL)
    public func closeClient(_ id: String, deadline: Duration? = nil) async throws -> Bool {
        try await connection.call("DELETE", "/v1/clients/\(segment(id))", takes: "closed", deadline: deadline)
    }

    /// Returns what INFO says.
    public func getInformation(deadline: Duration? = nil) async throws -> Information {
        try await connection.call("GET", "/v1/info", deadline: deadline)
    }

    /// Returns what held up the server, when, and for how many milliseconds. (LATENCY HISTORY)
    public func listDelays(deadline: Duration? = nil) async throws -> Delays {
        try await connection.call("GET", "/v1/latency", deadline: deadline)
    }

    /// Begins to rebuild a projection's stored rows from the log; INFO projections says how far it is.
    /// (PROJECTION.REBUILD)
    public func rebuildProjection(_ projection: String, deadline: Duration? = nil) async throws -> Rebuild {
        try await connection.call("POST", "/v1/projections/\(segment(projection))/rebuild", deadline: deadline)
    }

    /// Returns how far each relay is in each partition, and what last failed. (RELAY.LIST)
    public func listRelays(deadline: Duration? = nil) async throws -> Relays {
        try await connection.call("GET", "/v1/relays", deadline: deadline)
    }

    /// Says who the caller is.
    public func getSession(deadline: Duration? = nil) async throws -> Session {
        try await connection.call("GET", "/v1/session", deadline: deadline)
    }

    /// Returns the latest commands that took long to execute. (SLOWLOG GET)
    public func listSlowCommands(deadline: Duration? = nil) async throws -> SlowCommands {
        try await connection.call("GET", "/v1/slowlog", deadline: deadline)
    }
}

// MARK: Documents that stay up to date

extension Console {
    /// The orders that a kitchen has to cook. Each state of it from now on; an error ends it once it is away for longer
    /// than `patience`.
    public func followKitchen(_ outlet: String, patience: Duration? = nil) -> Updates<Kitchen> {
        connection.follow("kitchen:\(outlet)", patience: patience)
    }
}
