// The store, for customers. Written by Scripts/clients from docs/openapi.json.

import { Connection, segment, Visitor, type Call, type Write } from "./connection.js";
import { follow, type Following, type Update } from "./stream.js";
import type { Cart, CartService, Forgetting, OrderMissing, Quote } from "./documents.js";
import { Site } from "./site.js";

/** The store: one customer, with a cart and orders of their own. */
export class Store extends Site {
    private readonly visitor: Visitor;

    /**
     * `session` is the secret of a customer who was here before, from the property of that name. `deadline` is how
     * many milliseconds a call may take with all its attempts, unless the call has its own.
     */
    constructor(url = "http://127.0.0.1:7380", options: { session?: string; deadline?: number } = {}) {
        const visitor = new Visitor(options.session);
        super(new Connection(url, visitor, options.deadline ?? 30_000));
        this.visitor = visitor;
    }

    /** The secret that makes this customer the same one the next time. It changes with every order. */
    get session(): string {
        return this.visitor.session;
    }

    // The cart

    /** Returns a cart with its lines and total, now or as of a moment, or null. (CART.GET) */
    getCart(call: Call = {}): Promise<Cart | null> {
        return this.connection.call("GET", "/v1/cart", { call });
    }

    /** Places an order for what is in a cart, if it still costs that; returns the order's id. (CART.CHECKOUT) */
    placeOrder(
        fields: {
            address?: string; missing?: OrderMissing; name?: string; phone?: string; quote?: string; total?: number;
        } = {},
        call: Write = {},
    ): Promise<string> {
        return this.connection.call("POST", "/v1/cart/checkout", { body: fields, takes: "order", write: call });
    }

    /** Says a code of a promotion of the cart's outlet; returns the cart's count. (CART.CODE) */
    sayCode(fields: { code: string }, call: Write = {}): Promise<number> {
        return this.connection.call("POST", "/v1/cart/codes", { body: fields, takes: "count", write: call });
    }

    /** Takes back a code; returns the cart's count. (CART.UNCODE) */
    takeBackCode(code: string, call: Write = {}): Promise<number> {
        return this.connection.call("DELETE", `/v1/cart/codes/${segment(code)}`, { takes: "count", write: call });
    }

    /** Returns how many items a cart holds: 0 if it is unknown or checked out. (CART.COUNT) */
    countCart(call: Call = {}): Promise<number> {
        return this.connection.call("GET", "/v1/cart/count", { takes: "count", call });
    }

    /** Removes every line; returns the cart's count, 0. (CART.CLEAR) */
    clearCart(call: Write = {}): Promise<number> {
        return this.connection.call("DELETE", "/v1/cart/lines", { takes: "count", write: call });
    }

    /** Adds some of an item to a cart; returns the cart's count. (CART.ADD) */
    addToCart(
        fields: {
            outlet: string; item: string; quantity: number; for?: string; note?: string; options?: string;
        },
        call: Write = {},
    ): Promise<number> {
        return this.connection.call("POST", "/v1/cart/lines", { body: fields, takes: "count", write: call });
    }

    /** Removes a line; returns the cart's count. (CART.REMOVE) */
    removeLine(line: string, call: Write = {}): Promise<number> {
        return this.connection.call("DELETE", `/v1/cart/lines/${segment(line)}`, { takes: "count", write: call });
    }

    /** Sets a line's quantity, and removes the line for 0; returns the cart's count. (CART.SET) */
    setQuantity(line: string, fields: { quantity: number }, call: Write = {}): Promise<number> {
        return this.connection.call(
            "PATCH", `/v1/cart/lines/${segment(line)}`, { body: fields, takes: "count", write: call },
        );
    }

    /** Changes a line's options or note, at today's price; returns the cart's count. (CART.EDIT) */
    editLine(line: string, fields: { note?: string; options?: string } = {}, call: Write = {}): Promise<number> {
        return this.connection.call(
            "PUT", `/v1/cart/lines/${segment(line)}`, { body: fields, takes: "count", write: call },
        );
    }

    /**
     * Returns what a cart costs now, with taxes, fees and tip, and a digest to check out with, or null. (CART.QUOTE)
     */
    getQuote(call: Call = {}): Promise<Quote | null> {
        return this.connection.call("GET", "/v1/cart/quote", { call });
    }

    /**
     * Says how a cart's order is to be had, as its outlet offers, and when; returns the cart's count. (CART.SERVICE)
     */
    chooseService(fields: { service: CartService; for?: string; table?: string }, call: Write = {}): Promise<number> {
        return this.connection.call("PUT", "/v1/cart/service", { body: fields, takes: "count", write: call });
    }

    /** Sets what the customer gives beside what is charged, 0 for nothing; returns the cart's count. (CART.TIP) */
    setTip(fields: { amount: number }, call: Write = {}): Promise<number> {
        return this.connection.call("PUT", "/v1/cart/tip", { body: fields, takes: "count", write: call });
    }

    // People

    /**
     * Destroys the keys of customers, so that nobody can read their texts any more; returns what it did.
     * (CUSTOMER.FORGET)
     */
    forgetMe(call: Call = {}): Promise<Forgetting> {
        return this.connection.call("DELETE", "/v1/me", { call });
    }

    // Documents that stay up to date

    /** The customer's cart; gone until something is in it. Each state of it from now on, as `Update` says. */
    followCart(following: Following = {}): AsyncGenerator<Update<Cart>, void, undefined> {
        return follow(this.connection, "cart", following);
    }

    /** How many items the customer's cart holds. Each state of it from now on, as `Update` says. */
    followCartCount(following: Following = {}): AsyncGenerator<Update<number>, void, undefined> {
        return follow(this.connection, "cart_count", following);
    }
}
