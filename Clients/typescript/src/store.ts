// The store, for customers. Written by Scripts/clients from docs/openapi.json.

import { Connection, Visitor, type Call, type Write } from "./connection.js";
import { follow, type Following, type Update } from "./stream.js";
import { Site } from "./site.js";

/** The store: one customer, with a cart and orders of their own. */
export class Store extends Site {
    private readonly visitor: Visitor;

    /**
     * `session` is the secret of a customer who was here before, from the property of that name. `deadline` is how many
     * milliseconds a call may take with all its attempts, unless the call has its own.
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

    /**
     * Returns a cart with its lines and total, now or as of a moment, or what has changed in it, or null. (CART.GET)
     */
    cartGet(call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", "/v1/cart", { call });
    }

    /** Places an order for what is in a cart, if it still costs that; returns the order's id. (CART.CHECKOUT) */
    cartCheckout(
        fields: { address?: string; missing?: string; name?: string; phone?: string; quote?: string; total?: number } = {},
        call: Write = {},
    ): Promise<Record<string, unknown>> {
        return this.connection.call("POST", "/v1/cart/checkout", { body: fields, write: call });
    }

    /** Says a code of a promotion of the cart's outlet; returns the cart's count. (CART.CODE) */
    cartCode(fields: { code: string }, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", "/v1/cart/codes", { body: fields, write: call });
    }

    /** Takes back a code; returns the cart's count. (CART.UNCODE) */
    cartUncode(code: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("DELETE", `/v1/cart/codes/${encodeURIComponent(code)}`, { write: call });
    }

    /** Returns how many items a cart holds: 0 if it is unknown or checked out. (CART.COUNT) */
    cartCount(call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", "/v1/cart/count", { call });
    }

    /** Removes every line; returns the cart's count, 0. (CART.CLEAR) */
    cartClear(call: Write = {}): Promise<unknown> {
        return this.connection.call("DELETE", "/v1/cart/lines", { write: call });
    }

    /** Adds some of an item to a cart; returns the cart's count. (CART.ADD) */
    cartAdd(
        fields: { outlet: string; item: string; quantity: number; for?: string; note?: string; options?: string },
        call: Write = {},
    ): Promise<unknown> {
        return this.connection.call("POST", "/v1/cart/lines", { body: fields, write: call });
    }

    /** Removes a line; returns the cart's count. (CART.REMOVE) */
    cartRemove(line: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("DELETE", `/v1/cart/lines/${encodeURIComponent(line)}`, { write: call });
    }

    /** Sets a line's quantity, and removes the line for 0; returns the cart's count. (CART.SET) */
    cartSet(line: string, fields: { quantity: number }, call: Write = {}): Promise<unknown> {
        return this.connection.call("PATCH", `/v1/cart/lines/${encodeURIComponent(line)}`, {
            body: fields, write: call,
        });
    }

    /** Changes a line's options or note, at today's price; returns the cart's count. (CART.EDIT) */
    cartEdit(line: string, fields: { note?: string; options?: string } = {}, call: Write = {}): Promise<unknown> {
        return this.connection.call("PUT", `/v1/cart/lines/${encodeURIComponent(line)}`, { body: fields, write: call });
    }

    /**
     * Returns what a cart costs now, with taxes, fees and tip, and a digest to check out with, or null. (CART.QUOTE)
     */
    cartQuote(call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", "/v1/cart/quote", { call });
    }

    /**
     * Says how a cart's order is to be had, as its outlet offers, and when; returns the cart's count. (CART.SERVICE)
     */
    cartService(fields: { service: string; for?: string; table?: string }, call: Write = {}): Promise<unknown> {
        return this.connection.call("PUT", "/v1/cart/service", { body: fields, write: call });
    }

    /** Sets what the customer gives beside what is charged, 0 for nothing; returns the cart's count. (CART.TIP) */
    cartTip(fields: { amount: number }, call: Write = {}): Promise<unknown> {
        return this.connection.call("PUT", "/v1/cart/tip", { body: fields, write: call });
    }

    // People

    /**
     * Destroys the keys of customers, so that nobody can read their texts any more; returns what it did.
     * (CUSTOMER.FORGET)
     */
    customerForget(call: Call = {}): Promise<unknown> {
        return this.connection.call("DELETE", "/v1/me", { call });
    }

    // Documents that stay up to date

    /** The customer's cart; gone until something is in it. Each state of it from now on, as `Update` says. */
    followCart(following: Following = {}): AsyncGenerator<Update<unknown>, void, undefined> {
        return follow(this.connection, "cart", following);
    }

    /** How many items the customer's cart holds. Each state of it from now on, as `Update` says. */
    followCartCount(following: Following = {}): AsyncGenerator<Update<unknown>, void, undefined> {
        return follow(this.connection, "cart_count", following);
    }
}
