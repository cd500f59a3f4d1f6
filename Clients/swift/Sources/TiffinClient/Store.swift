// The store, for customers. Written by Scripts/clients from docs/openapi.json.

/// The store: one customer, with a cart and orders of their own.
public struct Store: Site {
    public let connection: Connection
    private let visitor: Visitor

    /// The store at an address.
    ///
    /// - Parameters:
    ///   - session: the secret of a customer who was here before, from the property of that name.
    ///   - deadline: how long a call may take with all its attempts, unless the call has its own.
    /// - Throws: a ``TiffinError`` if there can be no store.
    public init(
        _ url: String = "http://127.0.0.1:7380", session: String? = nil, deadline: Duration = .seconds(30)
    ) throws {
        visitor = Visitor(session: session)
        connection = try Connection(url, visitor, deadline: deadline)
    }

    /// The secret that makes this customer the same one the next time. It changes with every order.
    public var session: String { visitor.session }
}

// MARK: The cart

extension Store {
    /// Returns a cart with its lines and total, now or as of a moment, or null. (CART.GET)
    public func getCart(deadline: Duration? = nil) async throws -> Cart? {
        try await connection.call("GET", "/v1/cart", deadline: deadline)
    }

    /// Places an order for what is in a cart, if it still costs that; returns the order's id. (CART.CHECKOUT)
    public func placeOrder(
        address: String? = nil, missing: OrderMissing? = nil, name: String? = nil, phone: String? = nil,
        quote: String? = nil, total: Int? = nil, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> String {
        let body: Members = [
            "address": address, "missing": missing, "name": name, "phone": phone, "quote": quote, "total": total,
        ]
        return try await connection.call(
            "POST", "/v1/cart/checkout", takes: "order", query: [("version", version)], body: body, hasKey: true,
            key: key, deadline: deadline)
    }

    /// Says a code of a promotion of the cart's outlet; returns the cart's count. (CART.CODE)
    @discardableResult
    public func sayCode(
        code: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "POST", "/v1/cart/codes", takes: "count", query: [("version", version)], body: ["code": code] as Members,
            hasKey: true, key: key, deadline: deadline)
    }

    /// Takes back a code; returns the cart's count. (CART.UNCODE)
    @discardableResult
    public func takeBackCode(
        _ code: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "DELETE", "/v1/cart/codes/\(segment(code))", takes: "count", query: [("version", version)], hasKey: true,
            key: key, deadline: deadline)
    }

    /// Returns how many items a cart holds: 0 if it is unknown or checked out. (CART.COUNT)
    public func countCart(deadline: Duration? = nil) async throws -> Int {
        try await connection.call("GET", "/v1/cart/count", takes: "count", deadline: deadline)
    }

    /// Removes every line; returns the cart's count, 0. (CART.CLEAR)
    @discardableResult
    public func clearCart(version: Int? = nil, key: String? = nil, deadline: Duration? = nil) async throws -> Int {
        try await connection.call(
            "DELETE", "/v1/cart/lines", takes: "count", query: [("version", version)], hasKey: true, key: key,
            deadline: deadline)
    }

    /// Adds some of an item to a cart; returns the cart's count. (CART.ADD)
    @discardableResult
    public func addToCart(
        outlet: String, item: String, quantity: Int, `for`: String? = nil, note: String? = nil, options: String? = nil,
        version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        let body: Members = [
            "outlet": outlet, "item": item, "quantity": quantity, "for": `for`, "note": note, "options": options,
        ]
        return try await connection.call(
            "POST", "/v1/cart/lines", takes: "count", query: [("version", version)], body: body, hasKey: true, key: key,
            deadline: deadline)
    }

    /// Removes a line; returns the cart's count. (CART.REMOVE)
    @discardableResult
    public func removeLine(
        _ line: String, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "DELETE", "/v1/cart/lines/\(segment(line))", takes: "count", query: [("version", version)], hasKey: true,
            key: key, deadline: deadline)
    }

    /// Sets a line's quantity, and removes the line for 0; returns the cart's count. (CART.SET)
    @discardableResult
    public func setQuantity(
        _ line: String, quantity: Int, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "PATCH", "/v1/cart/lines/\(segment(line))", takes: "count", query: [("version", version)],
            body: ["quantity": quantity] as Members, hasKey: true, key: key, deadline: deadline)
    }

    /// Changes a line's options or note, at today's price; returns the cart's count. (CART.EDIT)
    @discardableResult
    public func editLine(
        _ line: String, note: String? = nil, options: String? = nil, version: Int? = nil, key: String? = nil,
        deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "PUT", "/v1/cart/lines/\(segment(line))", takes: "count", query: [("version", version)],
            body: ["note": note, "options": options] as Members, hasKey: true, key: key, deadline: deadline)
    }

    /// Returns what a cart costs now, with taxes, fees and tip, and a digest to check out with, or null. (CART.QUOTE)
    public func getQuote(deadline: Duration? = nil) async throws -> Quote? {
        try await connection.call("GET", "/v1/cart/quote", deadline: deadline)
    }

    /// Says how a cart's order is to be had, as its outlet offers, and when; returns the cart's count. (CART.SERVICE)
    @discardableResult
    public func chooseService(
        service: CartService, `for`: String? = nil, table: String? = nil, version: Int? = nil, key: String? = nil,
        deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "PUT", "/v1/cart/service", takes: "count", query: [("version", version)],
            body: ["service": service, "for": `for`, "table": table] as Members, hasKey: true, key: key,
            deadline: deadline)
    }

    /// Sets what the customer gives beside what is charged, 0 for nothing; returns the cart's count. (CART.TIP)
    @discardableResult
    public func setTip(
        amount: Int, version: Int? = nil, key: String? = nil, deadline: Duration? = nil
    ) async throws -> Int {
        try await connection.call(
            "PUT", "/v1/cart/tip", takes: "count", query: [("version", version)], body: ["amount": amount] as Members,
            hasKey: true, key: key, deadline: deadline)
    }
}

// MARK: People

extension Store {
    /// Destroys the keys of customers, so that nobody can read their texts any more; returns what it did.
    /// (CUSTOMER.FORGET)
    public func forgetMe(deadline: Duration? = nil) async throws -> Forgetting {
        try await connection.call("DELETE", "/v1/me", deadline: deadline)
    }
}

// MARK: Documents that stay up to date

extension Store {
    /// The customer's cart; gone until something is in it. Each state of it from now on; an error ends it once it is
    /// away for longer than `patience`.
    public func followCart(patience: Duration? = nil) -> Updates<Cart> {
        connection.follow("cart", patience: patience)
    }

    /// How many items the customer's cart holds. Each state of it from now on; an error ends it once it is away for
    /// longer than `patience`.
    public func followCartCount(patience: Duration? = nil) -> Updates<Int> {
        connection.follow("cart_count", patience: patience)
    }
}
