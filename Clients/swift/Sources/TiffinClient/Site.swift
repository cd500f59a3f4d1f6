// What both sites have. Written by Scripts/clients from docs/openapi.json.

/// What the store and the console have in common.
public protocol Site: Sendable {
    /// Who calls.
    var connection: Connection { get }
}

// MARK: Searching

extension Site {
    /// Returns a page of the items that match every filter. (BROWSE)
    public func searchItems(
        _ filters: [String: Filter] = [:], text: String? = nil, cuisine: [String]? = nil, city: [String]? = nil,
        area: [String]? = nil, outlet: [String]? = nil, currency: [String]? = nil, kind: [String]? = nil,
        tag: [String]? = nil, price: String? = nil, rating: String? = nil, delivery: String? = nil, open: String? = nil,
        sort: String? = nil, limit: Int? = nil, after: String? = nil, facets: String? = nil, deadline: Duration? = nil
    ) async throws -> ItemPage {
        let query: Query = [
            ("text", text), ("cuisine", cuisine), ("city", city), ("area", area), ("outlet", outlet),
            ("currency", currency), ("kind", kind), ("tag", tag), ("price", price), ("rating", rating),
            ("delivery", delivery), ("open", open), ("sort", sort), ("limit", limit), ("after", after),
            ("facets", facets),
        ]
        return try await connection.call("GET", "/v1/browse", query: query, filters: filters, deadline: deadline)
    }

    /// Returns a page of the outlets that match every filter. (OUTLETS)
    public func searchOutlets(
        _ filters: [String: Filter] = [:], text: String? = nil, cuisine: [String]? = nil, city: [String]? = nil,
        area: [String]? = nil, outlet: [String]? = nil, currency: [String]? = nil, kind: [String]? = nil,
        tag: [String]? = nil, price: String? = nil, rating: String? = nil, delivery: String? = nil, open: String? = nil,
        sort: String? = nil, limit: Int? = nil, after: String? = nil, facets: String? = nil, deadline: Duration? = nil
    ) async throws -> OutletPage {
        let query: Query = [
            ("text", text), ("cuisine", cuisine), ("city", city), ("area", area), ("outlet", outlet),
            ("currency", currency), ("kind", kind), ("tag", tag), ("price", price), ("rating", rating),
            ("delivery", delivery), ("open", open), ("sort", sort), ("limit", limit), ("after", after),
            ("facets", facets),
        ]
        return try await connection.call("GET", "/v1/outlets", query: query, filters: filters, deadline: deadline)
    }

    /// Returns one of the items that match every filter, each equally likely. (SURPRISE)
    public func surpriseMe(
        _ filters: [String: Filter] = [:], text: String? = nil, cuisine: [String]? = nil, city: [String]? = nil,
        area: [String]? = nil, outlet: [String]? = nil, currency: [String]? = nil, kind: [String]? = nil,
        tag: [String]? = nil, price: String? = nil, rating: String? = nil, delivery: String? = nil, open: String? = nil,
        seed: Int? = nil, deadline: Duration? = nil
    ) async throws -> FoundItem {
        let query: Query = [
            ("text", text), ("cuisine", cuisine), ("city", city), ("area", area), ("outlet", outlet),
            ("currency", currency), ("kind", kind), ("tag", tag), ("price", price), ("rating", rating),
            ("delivery", delivery), ("open", open), ("seed", seed),
        ]
        return try await connection.call("GET", "/v1/surprise", query: query, filters: filters, deadline: deadline)
    }
}

// MARK: Orders

extension Site {
    /// Returns a page of orders, now or as of a moment, the newest first. (ORDERS)
    public func listOrders(
        outlet: String? = nil, customer: String? = nil, status: String? = nil, from: String? = nil,
        until: String? = nil, after: String? = nil, count: Int? = nil, at: String? = nil, deadline: Duration? = nil
    ) async throws -> OrderPage {
        let query: Query = [
            ("outlet", outlet), ("customer", customer), ("status", status), ("from", from), ("until", until),
            ("after", after), ("count", count), ("at", at),
        ]
        return try await connection.call("GET", "/v1/orders", query: query, deadline: deadline)
    }

    /// Returns an order, now or as of a moment. (ORDER.GET)
    public func getOrder(_ order: String, at: String? = nil, deadline: Duration? = nil) async throws -> Order {
        try await connection.call("GET", "/v1/orders/\(segment(order))", query: [("at", at)], deadline: deadline)
    }

    /// Agrees to what the other party proposed, by the digest of the bill after it; returns the order's version.
    /// (ORDER.AGREE)
    @discardableResult
    public func agreeToChange(
        _ order: String, digest: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/orders/\(segment(order))/agree", takes: "version", query: [("version", version)],
            body: ["digest": digest] as Members, hasKey: true, key: key, deadline: deadline)
    }

    /// Ends an order that was not handed over; returns its version. (ORDER.CANCEL)
    @discardableResult
    public func cancelOrder(
        _ order: String, by: CancelOrderBy, code: EndingCode, reason: String? = nil, version: Int? = nil,
        key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/orders/\(segment(order))/cancel", takes: "version", query: [("version", version)],
            body: ["by": by, "code": code, "reason": reason] as Members, hasKey: true, key: key, deadline: deadline)
    }

    /// Proposes to change what is ordered, or changes it if that was agreed beforehand; returns the order's version.
    /// (ORDER.CHANGE)
    @discardableResult
    public func changeOrder(
        _ order: String, document: OrderChangeInput, by: CancelOrderBy, within: Int? = nil, version: Int? = nil,
        key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/orders/\(segment(order))/change", takes: "version",
            query: [("by", by), ("within", within), ("version", version)], body: document, hasKey: true, key: key,
            deadline: deadline)
    }

    /// Declines a change that the other party proposed, or withdraws one's own; returns the order's version.
    /// (ORDER.DECLINE)
    @discardableResult
    public func declineChange(
        _ order: String, by: CancelOrderBy? = nil, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/orders/\(segment(order))/decline", takes: "version", query: [("version", version)],
            body: ["by": by] as Members, hasKey: true, key: key, deadline: deadline)
    }

    /// Returns a document that proves, without the log, what an order cost, and what was paid and given back.
    /// (ORDER.PROVE)
    public func proveOrder(_ order: String, deadline: Duration? = nil) async throws -> OrderProof {
        try await connection.call("GET", "/v1/orders/\(segment(order))/proof", deadline: deadline)
    }
}

// MARK: Menus

extension Site {
    /// Returns an item in full, with its large image. (ITEM.GET)
    public func getItem(outlet: String, item: String, deadline: Duration? = nil) async throws -> Item {
        try await connection.call("GET", "/v1/outlets/\(segment(outlet))/items/\(segment(item))", deadline: deadline)
    }

    /// Returns an outlet's menu. (MENU.GET)
    public func getMenu(_ outlet: String, deadline: Duration? = nil) async throws -> Menu {
        try await connection.call("GET", "/v1/outlets/\(segment(outlet))/menu", deadline: deadline)
    }
}

// MARK: Outlets

extension Site {
    /// Returns an outlet's details. (OUTLET.GET)
    public func getOutlet(_ outlet: String, deadline: Duration? = nil) async throws -> Outlet {
        try await connection.call("GET", "/v1/outlets/\(segment(outlet))", deadline: deadline)
    }

    /// Returns an outlet's home, now or as of a moment: sections, tag bar and carousels. (OUTLET.HOME)
    public func getHome(_ outlet: String, at: String? = nil, deadline: Duration? = nil) async throws -> Home {
        try await connection.call("GET", "/v1/outlets/\(segment(outlet))/home", query: [("at", at)], deadline: deadline)
    }

    /// Returns the times of a day that orders at an outlet can be placed ahead for. (SLOTS)
    public func listSlots(
        _ outlet: String, service: CartService? = nil, date: String? = nil, deadline: Duration? = nil
    ) async throws -> Slots {
        try await connection.call(
            "GET", "/v1/outlets/\(segment(outlet))/slots", query: [("service", service), ("date", date)],
            deadline: deadline)
    }
}

// MARK: The log

extension Site {
    /// Returns the newest signed head of a partition of the log, with what witnesses have signed of it. (LOG.SIGNED)
    public func getSignedHead(_ partition: String, deadline: Duration? = nil) async throws -> SignedHead {
        try await connection.call("GET", "/v1/log/signed/\(segment(partition))", deadline: deadline)
    }

    /// Returns a receipt that proves, without the log, that an event is in it. (LOG.PROVE)
    public func proveEvent(
        stream: String, version: String, head: Int? = nil, form: ProveEventForm? = nil, deadline: Duration? = nil
    ) async throws -> ProveEventAnswer {
        try await connection.call(
            "GET", "/v1/proof/\(segment(stream))/\(segment(version))", query: [("head", head), ("form", form)],
            deadline: deadline)
    }
}

// MARK: Documents that stay up to date

extension Site {
    /// An order. Each state of it from now on; an error ends it once it is away for longer than `patience`.
    public func followOrder(_ order: String, patience: Duration? = nil) -> Updates<Order> {
        connection.follow("order:\(order)", patience: patience)
    }

    /// An outlet's home. Each state of it from now on; an error ends it once it is away for longer than `patience`.
    public func followHome(_ outlet: String, patience: Duration? = nil) -> Updates<Home> {
        connection.follow("home:\(outlet)", patience: patience)
    }

    /// The first items that match every filter. Each state of it from now on; an error ends it once it is away for
    /// longer than `patience`.
    public func followItems(_ filters: [String: Filter], patience: Duration? = nil) -> Updates<SavedItems> {
        connection.follow(Connection.question("browse", filters), patience: patience)
    }

    /// The first outlets that match every filter. Each state of it from now on; an error ends it once it is away for
    /// longer than `patience`.
    public func followOutlets(_ filters: [String: Filter], patience: Duration? = nil) -> Updates<SavedOutlets> {
        connection.follow(Connection.question("outlets", filters), patience: patience)
    }
}
